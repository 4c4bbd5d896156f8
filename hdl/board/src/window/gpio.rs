//! Pins beside the QSFP module, and LEDs.
//!
//! ```text
//!   access ──► OUT ──► modsell, resetl, lpmode     LED | state ──► led
//!   modprsl, intl ──► synchronizers ──► IN
//! ```
//! LED 0: the MAC is aligned; 1: the PCIe link is up; 2: blinks about once a second.
//!
//! Timing: a reply one cycle after its access.
//!
//! Invariants:
//! 1. Words past the last one read as 0; writes to them, and to IN, do nothing.
//!
//! Source: `abi::window`; SFF-8679 (QSFP side pins).

use crate::window::access::{WindowAccess, WindowReply};
use abi::window::GPIO_OUT_INITIAL;
use stream::prelude::*;

/// The block; `wired`: the board brings the module's pins to the device.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(wired: bool)]
pub struct Gpio {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// Level of the pin `modprsl`, in no clock.
    pub modprsl: Signal<In, Bit>,
    /// Level of the pin `intl`, in no clock.
    pub intl: Signal<In, Bit>,
    /// The MAC is aligned, in the MAC's clock.
    pub aligned: Signal<In, Bit>,
    /// The PCIe link is up.
    pub link_up: Signal<In, Bit>,
    /// Level for the pin `modsell`.
    pub modsell: Signal<Out, Bit>,
    /// Level for the pin `resetl`.
    pub resetl: Signal<Out, Bit>,
    /// Level for the pin `lpmode`.
    pub lpmode: Signal<Out, Bit>,
    /// LEDs, lit when 1.
    pub led: Signal<Out, Bits<8>>,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    /// How OUT differs from its value at power-up: registers begin with 0.
    changed: DFF<Bits<3>>,
    lit: DFF<Bits<8>>,
    beat: DFF<Bits<28>>,
    modprsl_seen: Synchronizer<Bits<1>>,
    intl_seen: Synchronizer<Bits<1>>,
    aligned_seen: Synchronizer<Bits<1>>,

    word: Signal<Local, Bits<10>>,
    written: Signal<Local, Bits<32>>,
    levels: Signal<Local, Bits<3>>,
    seen: Signal<Local, Bits<3>>,
    state: Signal<Local, Bits<8>>,
    #[value(u64::from(GPIO_OUT_INITIAL))]
    out_initial: Constant<Bits<3>>,
    #[value(1)]
    one: Constant<Bits<28>>,
    #[value(wired)]
    is_wired: Constant<Bit>,
}

impl Logic for Gpio {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer, changed, lit, beat);
        clock!(self, clock, modprsl_seen, intl_seen, aligned_seen);
        self.modprsl_seen.d.next = bit_cast::<1, 1>(self.modprsl.val().into());
        self.intl_seen.d.next = bit_cast::<1, 1>(self.intl.val().into());
        self.aligned_seen.d.next = bit_cast::<1, 1>(self.aligned.val().into());
        self.levels.next = self.changed.q.val() ^ self.out_initial.val();
        self.modsell.next = self.levels.val().get_bit(0);
        self.resetl.next = self.levels.val().get_bit(1);
        self.lpmode.next = self.levels.val().get_bit(2);
        self.seen.next = bit_cast::<3, 1>(self.modprsl_seen.q.val())
            | (bit_cast::<3, 1>(self.intl_seen.q.val()) << 1)
            | (bit_cast::<3, 1>(self.is_wired.val().into()) << 2);
        self.beat.d.next = self.beat.q.val() + self.one.val();
        self.state.next = bit_cast::<8, 1>(self.aligned_seen.q.val())
            | (bit_cast::<8, 1>(self.link_up.val().into()) << 1)
            | (bit_cast::<8, 1>(self.beat.q.val().get_bits::<1>(27)) << 2);
        self.led.next = self.lit.q.val() | self.state.val();

        self.word.next = self.access.payload.val().address.get_bits::<10>(2);
        self.written.next = self.access.payload.val().data;
        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.response = bits::<2>(0);
        self.answer.d.next.data = bits::<32>(0);
        if self.word.val() == bits::<10>(0) {
            self.answer.d.next.data = bit_cast::<32, 3>(self.levels.val());
        } else if self.word.val() == bits::<10>(1) {
            self.answer.d.next.data = bit_cast::<32, 3>(self.seen.val());
        } else if self.word.val() == bits::<10>(2) {
            self.answer.d.next.data = bit_cast::<32, 8>(self.lit.q.val());
        }
        if self.access.valid.val() & self.access.payload.val().write {
            if self.word.val() == bits::<10>(0) {
                self.changed.d.next = self.written.val().get_bits::<3>(0) ^ self.out_initial.val();
            } else if self.word.val() == bits::<10>(2) {
                self.lit.d.next = self.written.val().get_bits::<8>(0);
            }
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
