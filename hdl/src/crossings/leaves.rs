//! The blocks in which two clocks may meet, known by name.

/// The blocks in which clocks may meet, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// Two flip-flops: `d` may be of any clock.
    Synchronizer,
    /// Read without a clock, and only what word has crossed of: the entry belongs to its reader.
    CrossingRam,
    /// Written with one clock and read with another, and only what word has crossed of.
    PairRam,
}

/// The leaf that a block is, by its module's name without prefix.
pub(crate) fn leaf(block: &str) -> Option<Leaf> {
    let stem = |stem: &str| block.strip_prefix(stem).is_some_and(is_sizes);
    match () {
        () if stem("synchronizer") => Some(Leaf::Synchronizer),
        () if stem("crossing_ram") => Some(Leaf::CrossingRam),
        () if stem("pair_ram") => Some(Leaf::PairRam),
        () => None,
    }
}

/// What stands behind a block's name where it comes in several sizes.
pub(crate) fn is_sizes(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('_')
}

/// Blocks that cross, by the begin of their module's name without its prefix, as `docs/hardware.md`
/// calls them. What stands inside of one is a part of it.
pub(crate) const CROSSINGS: [(&str, &str); 5] = [
    ("async_fifo", "AsyncFifo"),
    ("peak_crossing", "PeakCrossing"),
    ("value_crossing", "ValueCrossing"),
    ("pair_ram", "PairRam"),
    ("synchronizer", "Synchronizer"),
];

/// The register that stands still while it is read with the other clock.
pub(crate) const HELD: (&str, &str) = ("value_crossing", "held");
