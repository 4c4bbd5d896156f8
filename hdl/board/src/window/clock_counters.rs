//! The clocks of the board, measured by the PCIe user clock.
//!
//! ```text
//!   1 ms of clock ──► tick ─┬─► meter of the MAC's clock
//!                           ├─► meter of the 100 MHz           ──► words in kHz
//!                           └─► meter of the free clock
//! ```
//! Timing: a reply one cycle after its access. A word is that of the last full interval.
//!
//! Invariants:
//! 1. Words past the last one read as 0.
//!
//! On error: a write is answered with SLVERR.
//!
//! Source: `abi::window`.

use crate::window::access::{WindowAccess, WindowReply, SLAVE_ERROR};
use crate::window::clock_meter::ClockMeter;
use stream::prelude::*;

/// The user clock, kHz: cycles of an interval.
pub const USER_CLOCK_KHZ: u64 = 250_000;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ClockCounters {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// The MAC's clock.
    pub mac_clock: Signal<In, Clock>,
    /// The 100 MHz made of the free clock.
    pub base_clock: Signal<In, Clock>,
    /// The board's free-running clock.
    pub free_clock: Signal<In, Clock>,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    cycle: DFF<Bits<18>>,
    mac: ClockMeter,
    base: ClockMeter,
    free: ClockMeter,

    word: Signal<Local, Bits<10>>,
    tick: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<18>>,
    #[value(USER_CLOCK_KHZ - 1)]
    last_cycle: Constant<Bits<18>>,
    #[value(USER_CLOCK_KHZ)]
    user_khz: Constant<Bits<32>>,
    #[value(SLAVE_ERROR)]
    refused: Constant<Bits<2>>,
}

impl Logic for ClockCounters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer, cycle);
        clock!(self, clock, mac, base, free);
        self.mac.measured.next = self.mac_clock.val();
        self.base.measured.next = self.base_clock.val();
        self.free.measured.next = self.free_clock.val();
        self.tick.next = self.cycle.q.val() == self.last_cycle.val();
        self.cycle.d.next = self.cycle.q.val() + self.one.val();
        if self.tick.val() {
            self.cycle.d.next = 0.into();
        }
        self.mac.tick.next = self.tick.val();
        self.base.tick.next = self.tick.val();
        self.free.tick.next = self.tick.val();

        self.word.next = self.access.payload.val().address.get_bits::<10>(2);
        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.response = bits::<2>(0);
        self.answer.d.next.data = bits::<32>(0);
        if self.access.payload.val().write {
            self.answer.d.next.response = self.refused.val();
        } else if self.word.val() == bits::<10>(0) {
            self.answer.d.next.data = self.user_khz.val();
        } else if self.word.val() == bits::<10>(1) {
            self.answer.d.next.data = self.mac.kilohertz.val();
        } else if self.word.val() == bits::<10>(2) {
            self.answer.d.next.data = self.base.kilohertz.val();
        } else if self.word.val() == bits::<10>(3) {
            self.answer.d.next.data = self.free.kilohertz.val();
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
