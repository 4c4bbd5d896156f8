//! What the host's calls cost: time, allocations, or instructions that Valgrind counts.
//!
//! ```text
//!   Meter::around ─► provider_calls ─► the calls      everything else is the card's, and free
//! ```
//! The global allocator of the program counts, in the thread that allocates. While time is taken
//! or Valgrind counts it only passes on, which costs about a nanosecond for each allocation.

use std::time::{Duration, Instant};

/// The function whose instructions Valgrind counts.
pub const COUNTED: &str = "*provider_calls*";

/// What only the program has: its allocator, and a command line that does nothing but work.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Makes a call and counts its allocations, reallocations among them.
    pub count_allocations: fn(&mut dyn FnMut()) -> u64,
    /// Makes a call whose allocations are not counted.
    pub leave_uncounted: fn(&mut dyn FnMut()),
    /// The arguments with which it prints what [`super::count`] returns for a workload of that
    /// name on so many flows.
    pub count_arguments: fn(&'static str, usize) -> Vec<String>,
}

/// What is measured.
#[derive(Debug)]
pub enum Meter {
    /// Time of the calls, and of those that found nothing.
    Time {
        /// Whose allocator is not to count.
        program: Program,
        /// Time of calls that found something, since it was taken last.
        spent: Duration,
        /// Time of those that found nothing.
        empty: Duration,
        /// Calls that found nothing.
        empty_calls: u64,
    },
    /// Allocations that this program has counted.
    Allocations(Program, u64),
    /// Nothing here: Valgrind counts from outside.
    Instructions(Program),
    /// Nothing at all: a warm-up.
    Off,
}

/// Everything that is measured is called from here. It must stay a function of its own.
#[inline(never)]
fn provider_calls(call: &mut dyn FnMut() -> bool) -> bool {
    std::hint::black_box(call())
}

impl Meter {
    /// A meter of time.
    pub fn time(program: Program) -> Self {
        Self::Time { program, spent: Duration::ZERO, empty: Duration::ZERO, empty_calls: 0 }
    }

    /// Time of calls that found something, of those that found nothing, and how many these were.
    pub fn times(&self) -> (Duration, Duration, u64) {
        match *self {
            Self::Time { spent, empty, empty_calls, .. } => (spent, empty, empty_calls),
            _ => (Duration::ZERO, Duration::ZERO, 0),
        }
    }

    /// Measures a call, which returns whether it found anything.
    pub fn around(&mut self, call: &mut dyn FnMut() -> bool) {
        match self {
            Self::Time { program, spent, empty, empty_calls } => {
                let mut found = false;
                let mut taken = Duration::ZERO;
                (program.leave_uncounted)(&mut || {
                    let started = Instant::now();
                    found = provider_calls(call);
                    taken = started.elapsed();
                });
                match found {
                    true => *spent += taken,
                    false => (*empty, *empty_calls) = (*empty + taken, *empty_calls + 1),
                }
            }
            Self::Allocations(program, count) => {
                *count += (program.count_allocations)(&mut || {
                    provider_calls(call);
                });
            }
            Self::Instructions(program) => (program.leave_uncounted)(&mut || {
                provider_calls(call);
            }),
            Self::Off => {
                call();
            }
        }
    }
}
