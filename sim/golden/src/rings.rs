//! Where the entries of an owner's rings lie, and which phase each has: the card's side.
//!
//! ```text
//!   running index ─┬─ low bits ──► place: base of the ring + place × length of an entry
//!                  └─ bit above ─► phase: 1 in the first pass, 0 in the second, ...
//! ```
//! For every model of a card: the golden device, and those that only keep a host busy.

use abi::config::{COMMAND_BYTES, COMPLETION_BYTES, SLOT_BYTES, SLOW_BUFFER_BYTES};
use abi::registers as r;

/// The registers of an owner's context, by word.
pub type Context = [u32; r::CONTEXT_STRIDE as usize / 4];

/// A ring of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Commands.
    Command,
    /// Their completions, of which there are as many places.
    Completion,
    /// Slots of send descriptors.
    Send,
    /// Slots of header entries.
    Header,
    /// Buffers of deferred payload.
    Slow,
}

impl Ring {
    /// The register with its base, the byte of the register with its size, bytes of an entry.
    const fn layout(self) -> (u32, u32, usize) {
        match self {
            Ring::Command => (r::CONTEXT_COMMAND_BASE, 0, COMMAND_BYTES),
            Ring::Completion => (r::CONTEXT_COMPLETION_BASE, 0, COMPLETION_BYTES),
            Ring::Send => (r::CONTEXT_SEND_BASE, 1, SLOT_BYTES),
            Ring::Header => (r::CONTEXT_HEADER_BASE, 2, SLOT_BYTES),
            Ring::Slow => (r::CONTEXT_SLOW_BASE, 3, SLOW_BUFFER_BYTES),
        }
    }

    /// log2 of its places.
    #[inline]
    pub fn bits(self, context: &Context) -> u32 {
        let (_, byte, _) = self.layout();
        (context[r::CONTEXT_SIZES as usize / 4] >> (8 * byte)) & 0xff
    }

    /// The place of a running index.
    #[inline]
    pub fn place(self, context: &Context, index: u32) -> u32 {
        index & ((1 << self.bits(context)) - 1)
    }

    /// Bus address of the entry of a running index.
    #[inline]
    pub fn address(self, context: &Context, index: u32) -> u64 {
        let (base, _, bytes) = self.layout();
        address_in(context, base) + u64::from(self.place(context, index)) * bytes as u64
    }

    /// The phase bit that an entry of a running index has.
    #[inline]
    pub fn phase(self, context: &Context, index: u32) -> u64 {
        u64::from((index >> self.bits(context)) & 1 == 0)
    }
}

/// The address in two registers of a context, low half first.
pub fn address_in(context: &Context, register: u32) -> u64 {
    let at = register as usize / 4;
    u64::from(context[at + 1]) << 32 | u64::from(context[at])
}

/// Whether the owner's rings are in use.
pub fn is_enabled(context: &Context) -> bool {
    context[r::CONTEXT_ENABLE as usize / 4] & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_wrap_and_phase_turns() {
        let mut context = Context::default();
        context[r::CONTEXT_SIZES as usize / 4] = 2 << 16 | 3 << 8 | 4;
        context[r::CONTEXT_HEADER_BASE as usize / 4] = 0x1000;
        context[r::CONTEXT_HEADER_BASE as usize / 4 + 1] = 0x20;
        let at =
            |index| (Ring::Header.address(&context, index), Ring::Header.phase(&context, index));
        assert_eq!(at(0), (0x20_0000_1000, 1));
        assert_eq!(at(3), (0x20_0000_1000 + 3 * SLOT_BYTES as u64, 1));
        assert_eq!(at(4), (0x20_0000_1000, 0));
        assert_eq!(at(8), (0x20_0000_1000, 1));
        // The running index wraps between two passes.
        assert_eq!(at(u32::MAX), (0x20_0000_1000 + 3 * SLOT_BYTES as u64, 0));
        let bits = [Ring::Command, Ring::Completion, Ring::Send].map(|ring| ring.bits(&context));
        assert_eq!(bits, [4, 4, 3]);
    }

    #[test]
    fn context_is_used_once_enabled() {
        let mut context = Context::default();
        assert!(!is_enabled(&context));
        context[r::CONTEXT_ENABLE as usize / 4] = 1;
        assert!(is_enabled(&context));
    }
}
