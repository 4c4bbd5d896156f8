//! The command of the flash: kept when it is written, judged in the next cycle, then sent.
//!
//! ```text
//!   written ──► COMMAND, ADDRESS ──► guard ──┬─► allowed ──► command of the chip
//!                                            └─► refused
//! ```
//! Timing: `command` one cycle after the write.
//!
//! Invariants:
//! 1. What the guard does not allow is not sent.
//! 2. A command while one runs is refused, and changes nothing.
//! 3. While `is_held`, no program or erase is sent.

use crate::description::FlashPlan;
use crate::window::flash_guard::FlashGuard;
use crate::window::flash_sequence::SerialCommand;
use stream::prelude::*;

/// The command of chips of this plan.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: FlashPlan)]
pub struct FlashCommand {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Word written.
    pub written: Signal<In, Bits<32>>,
    /// It is written to COMMAND.
    pub writes_command: Signal<In, Bit>,
    /// It is written to ADDRESS.
    pub writes_place: Signal<In, Bit>,
    /// A command of the chip is under way.
    pub is_sending: Signal<In, Bit>,
    /// No chip may be changed.
    pub is_held: Signal<In, Bit>,
    /// Value of COMMAND.
    pub asked: Signal<Out, Bits<32>>,
    /// Value of ADDRESS.
    pub place: Signal<Out, Bits<32>>,
    /// A command is judged or under way.
    pub busy: Signal<Out, Bit>,
    /// The last command was refused.
    pub refused: Signal<Out, Bit>,
    /// What the command under way reads goes to the page; otherwise it is the chip's status.
    pub fills_page: Signal<Out, Bit>,
    /// Commands to send.
    pub command: PulseSource<SerialCommand>,

    kept: DFF<Bits<32>>,
    at: DFF<Bits<32>>,
    asks: DFF<Bit>,
    refuses: DFF<Bit>,
    fills: DFF<Bit>,
    #[value(FlashGuard::new(plan))]
    guard: FlashGuard,

    change: Signal<Local, SerialCommand>,
    is_allowed: Signal<Local, Bit>,
}

impl Logic for FlashCommand {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, kept, at, asks, refuses, fills);
        self.asked.next = self.kept.q.val();
        self.place.next = self.at.q.val();
        self.busy.next = self.is_sending.val() | self.asks.q.val();
        self.refused.next = self.refuses.q.val();
        self.fills_page.next = self.fills.q.val();
        if self.writes_place.val() {
            self.at.d.next = self.written.val();
        }
        self.guard.asked.next = self.kept.q.val();
        self.guard.address.next = self.at.q.val();
        self.change.next = self.guard.command.val();
        self.is_allowed.next =
            self.guard.allowed.val() & !(self.is_held.val() & self.change.val().enables);
        self.command.valid.next = self.asks.q.val() & self.is_allowed.val();
        self.command.payload.next = self.change.val();
        if self.asks.q.val() {
            self.refuses.d.next = !self.is_allowed.val();
            self.fills.d.next = self.guard.fills_page.val();
        }
        self.asks.d.next = self.writes_command.val() & !self.busy.val();
        if self.writes_command.val() {
            self.refuses.d.next = self.busy.val();
            if !self.busy.val() {
                self.kept.d.next = self.written.val();
            }
        }
    }
}
