//! A completion entry: the card's answer in an owner's completion ring.
//!
//! The ring has as many entries as the owner's command ring. An entry with status `ok` confirms
//! every command up to its index (coalesced); a command that failed always has an entry of its own,
//! and the commands before it are confirmed by it too. It cannot overflow: no command yields two
//! entries, and the host frees a command's slot only when it has seen its confirmation.

use crate::field::Field;

/// Index of the command, counted from 0 since the ring was enabled, modulo 2^32.
pub const INDEX: Field = Field::new(
    "index",
    0,
    32,
    "command index, counted since the ring was enabled",
);
/// CommandStatus.
pub const STATUS: Field = Field::new("status", 32, 8, "CommandStatus of that command");
/// Valid marker of this pass over the ring.
pub const PHASE: Field = Field::new(
    "phase",
    40,
    1,
    "1 on odd passes over the ring, 0 on even ones",
);
/// Epoch of the card.
pub const EPOCH: Field = Field::new("epoch", 48, 16, "epoch in which the command took effect");

/// All fields, for the manual.
pub const FIELDS: &[Field] = &[INDEX, STATUS, PHASE, EPOCH];
