//! Receive: from frames of the MAC to payload in application memory and headers in an owner's
//! queue.
//!
//! ```text
//!  mac_clock                                         │ clock
//!  frames ─► ingress ─► parse, window, ─► verify ─► packet ─► classify ─► share check ─┐
//!               ▲       transport                   buffer     flow table              │
//!               └──────────── free space ◄────────────┘                                │
//!  dma.write ◄── copy ◄── split ◄── admit ◄── walks ◄── backlog ◄──────────────────────┘
//!                 └── release, confirmation     └── lists, regions
//! ```
//! The stages: [`ingress`] admits frames, [`parse`], [`parse::window`] and [`transport`] read the
//! headers, [`verify`] judges lengths and checksums, [`packet_buffer`] keeps what is good (together
//! [`intake`]). [`classify`] finds the flow, [`share_check`] bounds what an owner may keep there,
//! [`walks`] finds the memory, [`admit`] reserves ring space ([`placement`]). [`split`] makes copy
//! jobs, [`copy`] carries them out, [`hold`] keeps header entries until their payload is visible
//! ([`delivery`]). [`RxSplit`] joins all of it.
//!
//! Timing: frames enter at one beat per cycle of the MAC's clock; frames that find no free space
//! are dropped and counted. From the packet buffer on everything runs with the card's clock: one
//! packet per cycle is classified, one every other cycle admitted. Packets beyond their owner's
//! share of the packet buffer are dropped in between. Writes leave at one beat per cycle.
//!
//! Invariants:
//! 1. Not one byte of a frame is written before all its checks are known to be good.
//! 2. A packet is placed completely or deferred completely; what it needs is reserved before its
//!    first write.
//! 3. Frames in = dispositions + drops, across resets too.
//! 4. A confirmation leaves after the last write of every packet whose look-up was requested before
//!    it came.
//! 5. Entries of one owner are in order of arrival.
//! 6. Entries whose payload lies in a memory other than 0 wait for a flush read that follows it;
//!    entries of other owners pass them.
//! 7. A `send_event` waits until it is granted among the packets, never for free space in a header
//!    queue.
//!
//! On error: a frame or packet that fails a check, or finds no space, is dropped and counted with
//! its reason.
//!
//! Source: docs/specification.md, Receive, Fence and Hold; decisions 1 to 7 and 12.

// The derive macros of rust-hdl generate methods without documentation.
#![allow(missing_docs)]
#![forbid(unsafe_code)]

pub mod admit;
pub mod align;
pub mod classify;
pub mod control;
pub mod copy;
pub mod delivery;
pub mod drop_select;
pub mod hold;
pub mod ingress;
pub mod intake;
pub mod messages;
pub mod owner_decode;
pub mod packet_buffer;
pub mod parse;
pub mod placement;
pub mod plans;
pub mod reset_drops;
pub mod runs;
pub mod share_check;
pub mod split;
pub mod transport;
pub mod verify;
pub mod walks;

mod rx_split;
pub use crate::rx_split::RxSplit;
