//! One test for each decision of the design, by its number: its rule holds on the card, and the
//! same check fails when the rule is broken.
//!
//! ```text
//!   check ──► card, no fault switched on: must hold
//!        └──► the same card with the fault that breaks the rule: must be refuted
//! ```
//! Rules of the card are broken where two stages meet, in the emitted Verilog ([`sim::faults`]);
//! rules of the host by a bus that does not do what the host asked for ([`wrapped`]).

#[macro_use]
mod rig;
mod wrapped;

mod decision_01;
mod decision_02;
mod decision_03;
mod decision_04;
mod decision_05;
mod decision_06;
mod decision_07;
mod decision_08;
mod decision_09;
mod decision_10;
mod decision_11;
mod decision_12;
mod decision_13;
mod decision_14;
