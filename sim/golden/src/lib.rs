//! The golden model: what the card must do, as plain functions on whole packets and tables. No
//! clock.
//!
//! ```text
//!   frame ─► packet::parse ─► rx::receive(tables) ─► drop, or entry + writes + deferred payload
//!   descriptor ─► tx::send(tables, memory) ─► frames, or an error
//!   command ─► tables::Tables::apply (commands) ─► status
//!   registers, rings ─► device::GoldenDevice (all of the above behind the card's contract)
//! ```
//! It imports `abi` and nothing else of the card, so it can judge the card.

#![forbid(unsafe_code)]

pub mod checksum;
pub mod commands;
pub mod device;
pub mod interrupts;
pub mod packet;
pub mod rings;
pub mod rx;
pub mod tables;
pub mod tx;
