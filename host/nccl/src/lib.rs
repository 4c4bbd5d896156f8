//! Network plugin for NCCL: collectives over the card, received in place, without an unpack kernel.
//!
//! ```text
//!   NCCL ── ncclNetPlugin_v8 .. v12 ─► versions ─► plugin ─► engine: one thread for a card
//!                                                              └─ host::message::Endpoint ─ card
//!   irecv ─► buffers expected, confirmed by the card ── Posted ─► isend ─► data, by position
//! ```
//! NCCL takes `libnccl-net-zeronic.so` by `NCCL_NET_PLUGIN`; `ZERONIC_CARD` names the cards
//! ([`cards`]). A message goes to the buffer that its receiver has posted: nothing is sent before
//! the card has confirmed the place, so without loss the CPU copies nothing.
//!
//! Invariants
//! 1. No call but those that register memory, deregister it or close waits for another thread.
//! 2. A request is done when its buffer is the application's again: received bytes are visible,
//!    sent ones acknowledged, and the card is behind its fence.
//! 3. No panic crosses into C, and every failure is one line in NCCL's log.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "a name is a pointer to a constant")]
pub mod abi;
pub mod cards;
mod comm;
mod control;
pub mod datagrams;
mod engine;
mod error;
mod handle;
pub mod line;
#[allow(unsafe_code, reason = "NCCL's logger is a function of C")]
mod log;
mod plugin;
mod request;
#[allow(unsafe_code, reason = "the interface is one of C")]
pub mod versions;

pub use engine::{bring, Opening};
