//! The key of the configuration port: two words, directly before the command that they are for.
//!
//! ```text
//!   key 0 ─► key 1 ─► is_complete ─► any write
//!     any other write: none
//! ```
//! Timing: `is_complete` one cycle after the second word.
//!
//! Invariants:
//! 1. High only between the second word and the next write of the block, and only if the write
//!    before the second word was the first one. Reads change nothing.
//!
//! Source: `abi::window`.

use abi::window::PORT_KEY_WORDS;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct PortKey {
    /// Clock of the block.
    pub clock: Signal<In, Clock>,
    /// A word of the configuration port is written (one cycle).
    pub writes: Signal<In, Bit>,
    /// It is written to the key.
    pub is_key: Signal<In, Bit>,
    /// The word.
    pub written: Signal<In, Bits<32>>,
    /// Both words have come, and no write since.
    pub is_complete: Signal<Out, Bit>,

    /// Words that have come one after the other.
    keyed: DFF<Bits<2>>,
    #[value(u64::from(PORT_KEY_WORDS[0]))]
    key_first: Constant<Bits<32>>,
    #[value(u64::from(PORT_KEY_WORDS[1]))]
    key_second: Constant<Bits<32>>,
}

impl Logic for PortKey {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, keyed);
        if self.writes.val() {
            self.keyed.d.next = bits::<2>(0);
            if self.is_key.val() & (self.written.val() == self.key_first.val()) {
                self.keyed.d.next = bits::<2>(1);
            } else if self.is_key.val()
                & (self.written.val() == self.key_second.val())
                & (self.keyed.q.val() == bits::<2>(1))
            {
                self.keyed.d.next = bits::<2>(2);
            }
        }
        self.is_complete.next = self.keyed.q.val() == bits::<2>(2);
    }
}
