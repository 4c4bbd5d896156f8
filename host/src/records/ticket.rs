//! Names of commands until the card has confirmed or refused them.

use abi::reason::CommandStatus;

/// Names a command until it is confirmed: owner in the top 8 bits, number of the command in the
/// bits below, counted from 0 for each owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

impl Ticket {
    const OWNER_SHIFT: u32 = 56;

    pub(crate) fn new(owner: u8, number: u64) -> Self {
        Self(u64::from(owner) << Self::OWNER_SHIFT | number)
    }

    /// The owner whose ring the command went through.
    pub fn owner(self) -> u8 {
        (self.0 >> Self::OWNER_SHIFT) as u8
    }

    /// Number of the command among its owner's.
    pub fn number(self) -> u64 {
        self.0 & ((1 << Self::OWNER_SHIFT) - 1)
    }
}

/// A command that the card refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedCommand {
    /// Ticket of the command.
    pub ticket: Ticket,
    /// Opcode of the command.
    pub opcode: u8,
    /// Flow id in the command.
    pub flow: u16,
    /// Generation in the command.
    pub generation: u8,
    /// Reason of the refusal.
    pub status: CommandStatus,
}
