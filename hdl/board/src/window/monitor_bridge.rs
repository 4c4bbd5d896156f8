//! From the board window to the registers of the system monitor.
//!
//! ```text
//!   access ──► address, enable ──► monitor ──► data, done ──► reply
//! ```
//! Timing: the reply follows `done` by one cycle; after 1,023 cycles (4.1 us) without `done` there
//! is an error instead.
//!
//! Invariants:
//! 1. The monitor gets one access at a time: while it owes an answer, accesses are refused.
//! 2. Nothing is written to the monitor.
//!
//! On error: a write, a word past the last register, and an access without an answer (JTAG may
//! hold the monitor) are answered with SLVERR. A late answer is dropped.
//!
//! Source: UG580.

use crate::window::access::{WindowAccess, WindowReply, SLAVE_ERROR};
use stream::prelude::*;

/// The bridge. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct MonitorBridge {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// Register of the monitor.
    pub address: Signal<Out, Bits<8>>,
    /// Reads it, for one cycle.
    pub enable: Signal<Out, Bit>,
    /// Its value, with `done`.
    pub data: Signal<In, Bits<16>>,
    /// The read is done.
    pub done: Signal<In, Bit>,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    starts: DFF<Bit>,
    register: DFF<Bits<8>>,
    owed: DFF<Bit>,
    waits: DFF<Bit>,
    cycles: DFF<Bits<10>>,

    place: Signal<Local, Bits<20>>,
    is_refused: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<10>>,
    #[value(1023)]
    last_cycle: Constant<Bits<10>>,
    #[value(SLAVE_ERROR)]
    refused: Constant<Bits<2>>,
}

impl Logic for MonitorBridge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer, starts, register, owed, waits, cycles);
        self.place.next = self.access.payload.val().address;
        self.is_refused.next = self.access.payload.val().write
            | self.place.val().get_bits::<2>(10).any()
            | self.owed.q.val();
        self.valid.d.next = false;
        self.starts.d.next = false;
        self.cycles.d.next = self.cycles.q.val() + self.one.val();
        if self.done.val() {
            self.owed.d.next = false;
        }
        if self.access.valid.val() {
            if self.is_refused.val() {
                self.valid.d.next = true;
                self.answer.d.next.data = bits::<32>(0);
                self.answer.d.next.response = self.refused.val();
            } else {
                self.register.d.next = self.place.val().get_bits::<8>(2);
                self.starts.d.next = true;
                self.owed.d.next = true;
                self.waits.d.next = true;
                self.cycles.d.next = 0.into();
            }
        } else if self.waits.q.val() {
            if self.done.val() {
                self.waits.d.next = false;
                self.valid.d.next = true;
                self.answer.d.next.data = bit_cast::<32, 16>(self.data.val());
                self.answer.d.next.response = bits::<2>(0);
            } else if self.cycles.q.val() == self.last_cycle.val() {
                self.waits.d.next = false;
                self.valid.d.next = true;
                self.answer.d.next.data = bits::<32>(0);
                self.answer.d.next.response = self.refused.val();
            }
        }
        self.address.next = self.register.q.val();
        self.enable.next = self.starts.q.val();
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
