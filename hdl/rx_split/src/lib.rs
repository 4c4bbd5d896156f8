//! Receive: from frames of the MAC to payload in application memory and headers in an owner's
//! queue.
//!
//! ```text
//!  mac_clock                                                │ clock
//!  frames ─► ingress ─► parse, window, transport, verify ─► store ─► classify ─► share check ─┐
//!               └───────◄────────── room ──────────◄──────────┘   flow table                  │
//!  dma.write ◄── copy ◄── split ◄── admit ◄── walks ◄── backlog ◄─────────────────────────────┘
//!                 └── release, confirmation     └── lists, regions
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | epoch, reset | in | start of an epoch: nothing is in flight behind it; counters stay |
//! | settings | in | register writes |
//! | frames | in | whole frames without FCS, in `mac_clock`, never held back; `abort`: bad FCS |
//! | flow_lookup, flow_reply | out, in | the flow table |
//! | cursor_flow, cursor, cursor_write | out, in, out | cursors: shown two cycles later; written |
//! | segment_request, segment_reply | out, in | the receive lists |
//! | region_request, region_reply | out, in | the region table |
//! | write_job, write_data | out | to `dma.write` |
//! | flush_job, flush_data | out, in | to `dma.read`: flush reads of memories other than 0 |
//! | confirmation_sink, confirmation_source | in, out | the fence |
//! | send_event | in | failed sends, for the owner's header queue |
//! | drop_count, disposition_count, frame_done | out | one pulse for each frame: in = out + drops |
//! | send_event_lost | out | a failed send found no room in its owner's header queue |
//! | store_beats_peak | out | beats in use in the packet store, the highest of an interval |
//! | store_crowded | out | a quarter of the packet store or more is in use |
//! | packet_taken, packet_stalled | out | a verified packet is taken to be classified; one waits |
//! | header_produced | out | an entry was handed over: owner and slots produced |
//!
//! Timing: frames come in at one beat a cycle of the MAC's clock; what finds no room is dropped and
//! counted. From the packet store on it is the card's clock; one packet a cycle is
//! classified, one every other cycle admitted; what an owner's share of the packet store does not
//! hold is dropped in between. Writes leave at one beat a cycle.
//!
//! Invariants:
//! 1. Not one byte of a frame is written before all its checks are known to be good.
//! 2. A packet is placed completely or deferred completely; what it needs is reserved before its
//!    first write.
//! 3. Frames in = dispositions + drops, across resets too.
//! 4. A confirmation leaves behind the last write of every packet whose lookup was requested before
//!    it came.
//! 5. Entries of one owner are in order of arrival.
//! 6. Entries whose payload lies in a memory other than 0 wait for a flush read behind it; entries
//!    of other owners pass them.
//! 7. A `send_event` waits for its turn among the packets, never for room in a header queue.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod admit;
pub mod align;
pub mod back;
pub mod classify;
pub mod control;
pub mod copy;
pub mod front;
pub mod hold;
pub mod ingress;
pub mod lost;
pub mod messages;
pub mod middle;
pub mod parse;
pub mod share_check;
pub mod split;
pub mod store;
pub mod transport;
pub mod verify;
pub mod walks;

mod rx_split;
pub use crate::rx_split::RxSplit;
