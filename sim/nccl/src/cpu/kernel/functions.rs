//! What a kernel may be told to do.

/// Each rank gets the parts of all; the numbers are those of `ncclFunc_t`.
pub const ALL_GATHER: u32 = 2;
/// Each rank gets the sum of its part.
pub const REDUCE_SCATTER: u32 = 3;
/// Each rank gets the sum of all.
pub const ALL_REDUCE: u32 = 4;

/// The function of a kernel, by the name of its symbol.
pub fn function_of(symbol: &str) -> Option<u32> {
    let kernel = symbol.split_once("ncclDevKernel_")?.1;
    let is = |name: &str| kernel.starts_with(name);
    [("AllGather_", ALL_GATHER), ("ReduceScatter_", REDUCE_SCATTER), ("AllReduce_", ALL_REDUCE)]
        .into_iter()
        .find_map(|(name, function)| is(name).then_some(function))
}
