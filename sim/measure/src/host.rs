//! What the host's control stack costs a packet.
//!
//! ```text
//!   null card ── header entries ─►┌──────────┐── headers ─► null transport
//!             ◄── descriptors ────│ Provider │◄─ headers ──
//!                                 └──────────┘
//!                        measured: its calls, and nothing else
//! ```
//! The card (`null_card.rs`) does its part between the measured calls and touches no payload.
//! It judges all that it takes after each run, and has its packets ready before: its tables would
//! empty the caches. The transport (`null_protocol.rs`) costs a few stores.
//! So this is wall-clock time of the control stack alone, in one thread, with the rings in its
//! caches: a real card's writes come from farther away. Where asked for, packets also come from a
//! card that runs beside the host, on another core; [`measure_far`] has the card in another process
//! (`host/far.rs`).
//!
//! Each batch is measured between two passes of a loop of known work, and divided by their time:
//! what slows the core down slows both. So ns are those of a core that takes the median of the
//! run for that loop, which is told with its range (`timing/reference.rs`). The thread stays on
//! one core where it may.
//!
//! A figure is the median of several runs, its spread the middle half of them over the median; a
//! row whose runs spread too far is measured again, at most five times. Numbers of flows are
//! measured in turn, and compared run by run (`host/flows.rs`). Polls that find nothing, and
//! batches that the machine has interrupted, are left out and shown.

pub mod counts;
pub mod error;
pub mod far;
pub mod figures;
mod flows;
mod meter;
mod plan;
mod report;
mod valgrind;
mod work;

use self::error::{Result, StackError};
use self::far::FarReport;
pub use self::figures::FLOWS_GOAL;
use self::flows::FLOWS;
pub use self::meter::Program;
pub use self::plan::Plan;
pub use self::report::{Goal, Report, Row};
pub use self::valgrind::count;
pub use self::work::{Workload, BATCH};
use crate::doorbell::Ring;
use crate::null_card::rig::CardSide;

/// Most flows in a quick run.
const QUICK_FLOWS_MAX: usize = 256;
/// Attempts of a row whose runs spread too far.
const ATTEMPTS_MAX: u32 = 5;

impl Plan {
    /// A few packets on few connections, no instructions. With `thread`, packets also come from a
    /// card in a thread of its own.
    pub fn quick(program: Program, thread: bool) -> Self {
        Self {
            runs: 3,
            batches: 4,
            attempts: 1,
            flows_max: QUICK_FLOWS_MAX,
            instructions: false,
            thread,
            program,
        }
    }

    /// So many runs of so many packets on as many connections as the card has flows.
    pub fn full(program: Program, (runs, packets): (usize, usize), thread: bool) -> Self {
        Self {
            runs,
            batches: packets.div_ceil(BATCH),
            attempts: ATTEMPTS_MAX,
            flows_max: FLOWS[FLOWS.len() - 1],
            instructions: valgrind::is_there(),
            thread,
            program,
        }
    }
}

/// Measures everything on a card in this process. The report is right only where spreads are below
/// 5 %, if they are `judged`.
pub fn measure(plan: &Plan, judged: bool) -> Result<Report> {
    plan.measure(judged)
}

/// Measures packets and descriptors on a card in another process beside one in this. `open` opens
/// it anew for each row, to be rung in one way.
pub fn measure_far<C: CardSide, E: From<StackError>>(
    plan: &Plan,
    open: &mut dyn FnMut(Ring) -> Result<(C, C::Bus), E>,
) -> Result<FarReport, E> {
    plan.measure_far(open)
}
