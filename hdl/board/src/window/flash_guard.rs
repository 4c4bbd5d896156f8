//! Which operations reach a flash chip, and as what.
//!
//! ```text
//!   command, address ──► an operation? its chip? in the chip? not below the slot? ──► allowed
//!                    └─► opcode, address of its unit, words of data ───────────────► command
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. Only the opcodes of `abi::window::FlashOperation` leave the block, each with the whole
//!    address: no chip need be switched to another mode, and none can be.
//! 2. A program or erase is allowed only if all it changes lies in the user's slot: from
//!    `FLASH_SLOT` on, below `FLASH_SIZE`. A chip ignores address bits beyond its size, so what is
//!    beyond would come round to the golden image.
//! 3. There is no register that changes this.
//!
//! Source: `abi::window`; data sheet of the MT25QU01G.

use crate::description::FlashPlan;
use crate::window::flash_sequence::SerialCommand;
use abi::window::FlashOperation;
use stream::prelude::*;

/// The guard of chips of this plan.
///
/// See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[new(plan: FlashPlan)]
#[require(plan.slot_bytes.is_multiple_of(0x1000), "{plan:?}: a slot within a block of 4 KiB")]
#[require(plan.slot_bytes < plan.chip_bytes, "the slot of {plan:?} is beyond its chip")]
pub struct FlashGuard {
    /// Word written to `FLASH_COMMAND`.
    pub asked: Signal<In, Bits<32>>,
    /// Word of `FLASH_ADDRESS`.
    pub address: Signal<In, Bits<32>>,
    /// The operation may be carried out.
    pub allowed: Signal<Out, Bit>,
    /// What it is for the chip.
    pub command: Signal<Out, SerialCommand>,
    /// What it reads goes to the page.
    pub fills_page: Signal<Out, Bit>,

    operation: Signal<Local, Bits<3>>,
    is_known: Signal<Local, Bit>,
    is_chip: Signal<Local, Bit>,
    has_place: Signal<Local, Bit>,
    changes: Signal<Local, Bit>,
    opcode: Signal<Local, Bits<8>>,
    place: Signal<Local, Bits<32>>,
    words: Signal<Local, Bits<7>>,
    #[value(FlashOperation::Identify as u64)]
    identify: Constant<Bits<3>>,
    #[value(FlashOperation::Status as u64)]
    status: Constant<Bits<3>>,
    #[value(FlashOperation::Read as u64)]
    read: Constant<Bits<3>>,
    #[value(FlashOperation::Program as u64)]
    program_page: Constant<Bits<3>>,
    #[value(FlashOperation::EraseBlock as u64)]
    erase_block: Constant<Bits<3>>,
    #[value(FlashOperation::EraseSector as u64)]
    erase_sector: Constant<Bits<3>>,
    #[value(plan.chips == 2)]
    has_two: Constant<Bit>,
    #[value(u64::from(plan.slot_bytes))]
    slot: Constant<Bits<32>>,
    #[value(u64::from(plan.chip_bytes))]
    size: Constant<Bits<32>>,
}

impl Logic for FlashGuard {
    #[hdl_gen]
    fn update(&mut self) {
        self.operation.next = self.asked.val().get_bits::<3>(0);
        self.is_chip.next = !self.asked.val().get_bit(3) | self.has_two.val();
        self.is_known.next = self.asked.val().get_bits::<28>(4) == bits::<28>(0);
        self.has_place.next = true;
        self.changes.next = false;
        self.opcode.next = bits::<8>(0x9f);
        self.place.next = (self.address.val() >> 8) << 8;
        self.words.next = bits::<7>(1);
        if self.operation.val() == self.identify.val() {
            self.has_place.next = false;
        } else if self.operation.val() == self.status.val() {
            self.has_place.next = false;
            self.opcode.next = bits::<8>(0x05);
        } else if self.operation.val() == self.read.val() {
            self.opcode.next = bits::<8>(0x13);
            self.words.next = bits::<7>(64);
        } else if self.operation.val() == self.program_page.val() {
            self.changes.next = true;
            self.opcode.next = bits::<8>(0x12);
            self.words.next = bits::<7>(64);
        } else if self.operation.val() == self.erase_block.val() {
            self.changes.next = true;
            self.opcode.next = bits::<8>(0x21);
            self.place.next = (self.address.val() >> 12) << 12;
            self.words.next = bits::<7>(0);
        } else if self.operation.val() == self.erase_sector.val() {
            self.changes.next = true;
            self.opcode.next = bits::<8>(0xdc);
            self.place.next = (self.address.val() >> 16) << 16;
            self.words.next = bits::<7>(0);
        } else {
            self.is_known.next = false;
        }
        self.allowed.next = self.is_known.val()
            & self.is_chip.val()
            & (!self.has_place.val() | (self.place.val() < self.size.val()))
            & (!self.changes.val() | (self.place.val() >= self.slot.val()));
        self.command.next.chip = self.asked.val().get_bit(3);
        self.command.next.enables = self.changes.val();
        self.command.next.head =
            (bit_cast::<40, 8>(self.opcode.val()) << 32) | bit_cast::<40, 32>(self.place.val());
        self.command.next.has_address = self.has_place.val();
        self.command.next.words = self.words.val();
        self.command.next.writes = self.operation.val() == self.program_page.val();
        self.fills_page.next = (self.operation.val() == self.identify.val())
            | (self.operation.val() == self.read.val());
    }
}
