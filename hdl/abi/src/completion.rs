//! A completion entry: the card's reply to commands, in an owner's completion ring.
//!
//! The ring has as many entries as the owner's command ring. An entry with status `ok` confirms
//! every command up to its index. A command that failed always has an entry of its own, which also
//! confirms the commands before it. The ring cannot overflow: no command makes two entries, and the
//! host reuses a command's slot only after its confirmation.
//!
//! Source: docs/specification.md, Rings.

use crate::field::Field;

/// Index of the command, counted from 0 since the ring was enabled, modulo 2^32.
pub const INDEX: Field =
    Field::new("index", 0, 32, "command index, counted since the ring was enabled");
/// CommandStatus.
pub const STATUS: Field = Field::new("status", 32, 8, "CommandStatus of that command");
/// Valid marker of this pass over the ring.
pub const PHASE: Field =
    Field::new("phase", 40, 1, "1 on odd passes over the ring, 0 on even ones");
/// Epoch of the card.
pub const EPOCH: Field = Field::new("epoch", 48, 16, "epoch in which the command took effect");

/// All fields, for the manual.
pub const FIELDS: &[Field] = &[INDEX, STATUS, PHASE, EPOCH];
