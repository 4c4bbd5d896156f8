//! Send: fetch, gather, segment, merge, checksum.
//!
//! ```text
//!  descriptors ─► descriptor ─┬─ fields ─► resolve ─┬─ plan ─► assemble ─► frames
//!                             │             ▲ │     │           ▲    ▲ │
//!                 header, its numbers ──────│─│─────│───────────┘    │ │ ended
//!        flow, segment, region requests ◄───┴─┤     └─ record ─► report ─► send_event
//!                                        piece▼                      │
//!                       read_job ◄────────── jobs                    ▼
//!                       read_data ──────► payload ─ answers, facts ─► (assemble)
//!  confirmation_sink ─► fence (started in resolve, finished in report) ─► confirmation_source
//! ```
//! Timing: one beat a cycle at `frames`; reads of later descriptors are issued while earlier ones
//! are sent, as far as the payload buffer (512 beats) has room.
//!
//! Invariants:
//! 1. Each descriptor taken is finished once, in ring order: its frames, or one error with one
//!    event.
//! 2. `frames` carries complete good frames only.
//! 3. Nothing is read that the flow, its list and the regions did not allow when it was looked up.
//! 4. A confirmation leaves when every descriptor whose look-up began before it came is finished.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod assemble;
pub mod checksum;
pub mod descriptor;
pub mod fence;
pub mod flow;
pub mod gather;
pub mod jobs;
pub mod merge;
pub mod messages;
pub mod payload;
pub mod planner;
pub mod report;
pub mod resolve;
pub mod segment;

mod tx_merge;
pub use crate::tx_merge::TxMerge;
