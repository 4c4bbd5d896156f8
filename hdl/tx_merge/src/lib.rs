//! Send: takes descriptors, finds their payload, reads it and makes frames of it.
//!
//! ```text
//!  descriptors ─► descriptor ─┬─ fields ─► resolve ─┬─ plan ─► assemble ──► frames
//!                             │             ▲ │     │           ▲    ▲ │
//!                 header, its numbers ──────│─│─────│───────────┘    │ │ ended
//!        flow, segment, region requests ◄───┴─┤     └─ record ─► report ─► send_event
//!                                        piece▼                      │
//!                       read_job ◄────────── jobs                    ▼
//!                       read_data ──────► payload ─ payload, facts ─► (assemble)
//!  confirmation_sink ─► fence (started in resolve, finished in report) ─► confirmation_source
//! ```
//! Timing: one beat per cycle at `frames`. Reads of later descriptors are issued while earlier ones
//! are sent, as far as the payload buffer (512 beats) has free space.
//!
//! Invariants:
//! 1. Each descriptor taken is finished once, in ring order: with its frames, or with one error and
//!    one event.
//! 2. `frames` carries complete good frames only.
//! 3. Nothing is read that the flow, its list and the regions did not allow when it was looked up.
//! 4. A confirmation leaves when every descriptor whose look-up began before it came is finished.
//!
//! On error: a descriptor that is refused, or whose payload could not be read, moves one counter at
//! `error_count` and makes one message at `send_event`.
//!
//! Source: docs/specification.md, Send; Fence.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod assemble;
pub mod checksum;
pub mod descriptor;
pub mod event_merge;
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
