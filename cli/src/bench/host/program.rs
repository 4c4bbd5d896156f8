//! What only this program has: the allocator that counts, and a command line that only works.

use allocation_counter::{measure, opt_out};
use measure::host::Program;

/// This program.
pub const PROGRAM: Program = Program { count_allocations, leave_uncounted, count_arguments };

fn count_allocations(call: &mut dyn FnMut()) -> u64 {
    measure(call).count_total
}

fn leave_uncounted(call: &mut dyn FnMut()) {
    opt_out(call);
}

fn count_arguments(work: &'static str, flows: usize) -> Vec<String> {
    let flows = flows.to_string();
    ["bench", "host", "--count", work, "--flows", &flows].map(str::to_owned).into()
}
