//! The provider's calls, good and bad, on the golden card and on the Verilated one.
//!
//! ```text
//!   test ─ Provider ─ Bus ─ card (golden or RTL) ── frames, some held back ── smoltcp peer
//!             └ smoltcp on headers only
//! ```
//! Proven: every wrong call is an error with its number; listen and accept; a partial receive gives
//! its buffer back behind a fence and moves what had landed beyond; owners and domains are kept
//! apart by the card; long lists are borrowed and returned; no interrupt is lost; a connection ends
//! as it did on the wire, and what nobody but a stranger sent reaches no application; no header is
//! read by half where the machine shows a slot line by line; a repetition that the send floor
//! overtakes on the card costs nothing; requests, held bytes and turns are limited; a broken card
//! is named; the card fills memory that a program already has, and sends from it; a card that is
//! closed reaches nothing; an application whose rings stop, or stay full, holds up no other, and
//! its rings start again; a thread sleeps on interrupts and the transport at once; connections
//! beyond the flow table exchange every byte.

mod asked;
mod beyond;
mod borrow;
mod broken;
mod calls;
mod closing;
mod endings;
mod existing;
mod foreign;
mod interrupts;
mod kernel;
mod late;
mod limits;
mod listeners;
mod open;
mod overtaken;
mod owners;
mod partial;
mod refused;
mod regions;
mod rekey;
mod rig;
mod strangers;
mod torn;
mod wrap;
