//! The configuration flash, as registers: a card's own image can be replaced over PCIe.
//!
//! ```text
//!   COMMAND, ADDRESS ──► command ──► serial ══ pins of the chips
//!   STATUS ◄── busy, refused          ║
//!   page of 256 bytes ════════════════╝
//! ```
//! Timing: a reply one cycle after its access. A page is read or sent in 134 us, an erase begins
//! 4 us after its command.
//!
//! Invariants:
//! 1. What the guard does not allow is not sent.
//! 2. While an operation runs, no command is taken, and the page is nobody else's: an access of it
//!    is answered with SLVERR.
//! 3. No reset ends an operation.
//! 4. `is_changing` is high from the acceptance of a program or erase on, until the chip has said
//!    in a status read after it that it has ended. While `is_loading`, none is accepted.
//!
//! On error: STATUS says that the last command was refused.
//!
//! Source: `abi::window`.

use crate::description::FlashPlan;
use crate::window::access::{WindowAccess, WindowReply, SLAVE_ERROR};
use crate::window::flash_changes::FlashChanges;
use crate::window::flash_command::FlashCommand;
use crate::window::flash_serial::{FlashLines, FlashSerial};
use abi::window::FLASH_PAGE;
use stream::prelude::*;

/// The flash of chips of this plan.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: FlashPlan)]
pub struct Flash {
    /// Clock of the block, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accesses.
    pub access: PulseSink<WindowAccess>,
    /// Their ends.
    pub reply: PulseSource<WindowReply>,
    /// The device is about to load an image: no chip may begin to erase or program.
    pub is_loading: Signal<In, Bit>,
    /// A chip erases or programs, or was told to and has not said since that it has ended.
    pub is_changing: Signal<Out, Bit>,
    /// Pins of the chips.
    pub lines: FlashLines,

    valid: DFF<Bit>,
    answer: DFF<WindowReply>,
    chip_status: DFF<Bits<8>>,
    #[value(FlashCommand::new(plan))]
    command: FlashCommand,
    serial: FlashSerial,
    changes: FlashChanges,
    page: LutRam<Bits<32>, 6>,

    word: Signal<Local, Bits<10>>,
    written: Signal<Local, Bits<32>>,
    writes: Signal<Local, Bit>,
    is_page: Signal<Local, Bit>,
    is_busy: Signal<Local, Bit>,
    status: Signal<Local, Bits<32>>,
    #[value(u64::from(FLASH_PAGE) >> 6)]
    page_part: Constant<Bits<4>>,
    #[value(u64::from(plan.slot_bytes))]
    slot: Constant<Bits<32>>,
    #[value(u64::from(plan.chip_bytes))]
    size: Constant<Bits<32>>,
    #[value(u64::from(plan.chips))]
    chips: Constant<Bits<32>>,
    #[value(SLAVE_ERROR)]
    no_access: Constant<Bits<2>>,
}

impl Logic for Flash {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, answer, chip_status);
        clock!(self, clock, command, serial, changes, page);
        FlashLines::link(&mut self.lines, &mut self.serial.lines);
        self.serial.command.valid.next = self.command.command.valid.val();
        self.serial.command.payload.next = self.command.command.payload.val();
        self.command.is_held.next = self.is_loading.val();
        self.changes.begins.next = self.command.command.valid.val();
        self.changes.command.next = self.command.command.payload.val();
        self.changes.asked.next = self.command.asked.val();
        self.changes.has_status.next = self.serial.arrives.val() & !self.command.fills_page.val();
        self.changes.is_chip_busy.next = self.serial.gathered.val().get_bit(24);
        self.is_changing.next = self.command.busy.val() | self.changes.any.val();
        self.word.next = self.access.payload.val().address.get_bits::<10>(2);
        self.written.next = self.access.payload.val().data;
        self.writes.next = self.access.valid.val() & self.access.payload.val().write;
        self.is_page.next = self.word.val().get_bits::<4>(6) == self.page_part.val();
        self.command.written.next = self.written.val();
        self.command.writes_command.next = self.writes.val() & (self.word.val() == bits::<10>(0));
        self.command.writes_place.next = self.writes.val() & (self.word.val() == bits::<10>(1));
        self.command.is_sending.next = self.serial.busy.val();
        self.is_busy.next = self.command.busy.val();

        self.page.read_address.next = self.word.val().get_bits::<6>(0);
        self.page.write_data.next = self.written.val();
        self.page.write_enable.next = self.writes.val() & self.is_page.val();
        if self.is_busy.val() {
            self.page.read_address.next = self.serial.word.val();
            self.page.write_data.next = self.serial.gathered.val();
            self.page.write_enable.next = self.serial.arrives.val() & self.command.fills_page.val();
        }
        self.page.write_address.next = self.page.read_address.val();
        self.serial.page_word.next = self.page.read_data.val();
        if self.serial.arrives.val() & !self.command.fills_page.val() {
            self.chip_status.d.next = self.serial.gathered.val().get_bits::<8>(24);
        }

        self.status.next = bit_cast::<32, 1>(self.is_busy.val().into())
            | (bit_cast::<32, 1>(self.command.refused.val().into()) << 1)
            | (bit_cast::<32, 8>(self.chip_status.q.val()) << 8);
        self.valid.d.next = self.access.valid.val();
        self.answer.d.next.response = bits::<2>(0);
        self.answer.d.next.data = bits::<32>(0);
        if self.is_page.val() & self.is_busy.val() {
            self.answer.d.next.response = self.no_access.val();
        } else if self.is_page.val() {
            self.answer.d.next.data = self.page.read_data.val();
        } else if self.word.val() == bits::<10>(0) {
            self.answer.d.next.data = self.command.asked.val();
        } else if self.word.val() == bits::<10>(1) {
            self.answer.d.next.data = self.command.place.val();
        } else if self.word.val() == bits::<10>(2) {
            self.answer.d.next.data = self.status.val();
        } else if self.word.val() == bits::<10>(3) {
            self.answer.d.next.data = self.slot.val();
        } else if self.word.val() == bits::<10>(4) {
            self.answer.d.next.data = self.size.val();
        } else if self.word.val() == bits::<10>(5) {
            self.answer.d.next.data = self.chips.val();
        }
        self.reply.valid.next = self.valid.q.val();
        self.reply.payload.next = self.answer.q.val();
    }
}
