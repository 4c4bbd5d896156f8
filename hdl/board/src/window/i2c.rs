//! The I2C bus of the QSFP module, as registers.
//!
//! ```text
//!   COMMAND ──► accepted device? ──► transfer ══ SCL, SDA
//!   STATUS ◄── busy, no answer, refused, value
//! ```
//! Timing: a reply one cycle after its access; a transfer takes up to 0.4 ms.
//!
//! Invariants:
//! 1. Only the module and the multiplexers before it are talked to: on some boards the regulators
//!    of the device's own supply hang on the same bus.
//! 2. A command while a transfer runs does nothing.
//!
//! On error: STATUS says that there was no answer, or that the device is not accepted.
//!
//! Source: `abi::window`; SFF-8636.

use crate::window::access::{WindowAccess, WindowReply};
use crate::window::i2c_bit::I2cLines;
use crate::window::i2c_transfer::I2cTransfer;
use abi::window as w;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct I2c {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// The lines.
    pub lines: I2cLines,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    begins: DFF<Bit>,
    command: DFF<Bits<25>>,
    refused: DFF<Bit>,
    missed: DFF<Bit>,
    value: DFF<Bits<8>>,
    transfer: I2cTransfer,

    word: Signal<Local, Bits<10>>,
    written: Signal<Local, Bits<32>>,
    device: Signal<Local, Bits<7>>,
    is_accepted: Signal<Local, Bit>,
    is_busy: Signal<Local, Bit>,
    status: Signal<Local, Bits<32>>,
    /// The QSFP module.
    #[value(u64::from(w::I2C_ALLOWED[0]))]
    qsfp_module: Constant<Bits<7>>,
    /// What the addresses of all multiplexers begin with.
    #[value(u64::from(w::I2C_ALLOWED[1] >> 3))]
    multiplexers: Constant<Bits<4>>,
}

impl Logic for I2c {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer, begins, command, refused, missed, value);
        clock!(self, clock, transfer);
        I2cLines::link(&mut self.lines, &mut self.transfer.lines);
        self.transfer.begins.next = self.begins.q.val();
        self.transfer.device.next = self.command.q.val().get_bits::<7>(0);
        self.transfer.reads.next = self.command.q.val().get_bit(7);
        self.transfer.place.next = self.command.q.val().get_bits::<8>(8);
        self.transfer.data.next = self.command.q.val().get_bits::<8>(16);
        self.transfer.is_short.next = self.command.q.val().get_bit(24);
        if self.transfer.ends.val() {
            self.missed.d.next = self.transfer.no_answer.val();
            self.value.d.next = self.transfer.value.val();
        }

        self.word.next = self.access.payload.val().address.get_bits::<10>(2);
        self.written.next = self.access.payload.val().data;
        self.device.next = self.written.val().get_bits::<7>(0);
        self.is_accepted.next = (self.device.val() == self.qsfp_module.val())
            | (self.device.val().get_bits::<4>(3) == self.multiplexers.val());
        self.is_busy.next = self.transfer.busy.val() | self.begins.q.val();
        self.status.next = bit_cast::<32, 1>(self.is_busy.val().into())
            | (bit_cast::<32, 1>(self.missed.q.val().into()) << 1)
            | (bit_cast::<32, 1>(self.refused.q.val().into()) << 2)
            | (bit_cast::<32, 8>(self.value.q.val()) << 8);
        self.begins.d.next = false;
        if self.access.valid.val()
            & self.access.payload.val().write
            & (self.word.val() == bits::<10>(0))
            & !self.is_busy.val()
        {
            self.command.d.next = self.written.val().get_bits::<25>(0);
            self.begins.d.next = self.is_accepted.val();
            self.refused.d.next = !self.is_accepted.val();
            self.missed.d.next = false;
        }

        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.response = bits::<2>(0);
        self.answer.d.next.data = bits::<32>(0);
        if self.word.val() == bits::<10>(0) {
            self.answer.d.next.data = bit_cast::<32, 25>(self.command.q.val());
        } else if self.word.val() == bits::<10>(1) {
            self.answer.d.next.data = self.status.val();
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
