//! Host, slot and the whole card together: the decisions, what fails, random and racing traffic.

mod bad_input;
mod card;
mod decisions;
mod epoch;
mod faults;
mod flush;
mod golden;
mod interrupts;
mod push;
mod racing;
mod random;
mod wire;
mod wire_support;
