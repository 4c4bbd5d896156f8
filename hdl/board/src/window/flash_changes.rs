//! Which flash chips erase or program: told to, and not known to have ended.
//!
//! ```text
//!   a program or erase begins ──► [chip 0] [chip 1] ──► any
//!   a status says "not busy"  ──►    clears
//! ```
//! Timing: `any` one cycle after what changes it.
//!
//! Invariants:
//! 1. A chip counts from the cycle after its command was sent on, until a status of this chip that
//!    was read later has its busy bit clear. Who begins an erase and asks no more keeps it so.
//!
//! Source: `abi::window`; data sheet of the MT25QU01G (status register, bit 0).

use crate::window::flash_sequence::SerialCommand;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FlashChanges {
    /// Clock of the block.
    pub clock: Signal<In, Clock>,
    /// A command is sent (one cycle).
    pub begins: Signal<In, Bit>,
    /// It.
    pub command: Signal<In, SerialCommand>,
    /// The command under way, as it was written.
    pub asked: Signal<In, Bits<32>>,
    /// Its chip's status has come (one cycle).
    pub has_status: Signal<In, Bit>,
    /// The status says that the chip erases or programs.
    pub is_chip_busy: Signal<In, Bit>,
    /// A chip may still erase or program.
    pub any: Signal<Out, Bit>,

    first: DFF<Bit>,
    second: DFF<Bit>,
}

impl Logic for FlashChanges {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, first, second);
        if self.has_status.val() & !self.is_chip_busy.val() {
            if self.asked.val().get_bit(3) {
                self.second.d.next = false;
            } else {
                self.first.d.next = false;
            }
        }
        if self.begins.val() & self.command.val().enables {
            if self.command.val().chip {
                self.second.d.next = true;
            } else {
                self.first.d.next = true;
            }
        }
        self.any.next = self.first.q.val() | self.second.q.val();
    }
}
