//! Reports which owner's context or doorbell register was written, and keeps such registers.
//!
//! ```text
//!  write ──► [OwnerRegisters: two ranges] ──► changed ──┬──► [OwnerWord]    ──► value
//!                                                       └──► [OwnerAddress] ──► address
//! ```
//! Timing: `changed` is a register, one cycle after `write`; a kept word follows one cycle later.
//! `value` and `address` are combinational from `owner`.
//!
//! Invariants:
//! 1. `changed.valid` is high only for an owner that the card has: there are 2^`OWNER_BITS`.
//! 2. At most one of `context` and `doorbell` is high; `enable` implies `context`.
//! 3. A word reads 0 until it is first written; nothing else clears it.
//!
//! Source: `abi::registers`.

use abi::registers;
use stream::prelude::*;

/// A write to a register of an owner.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerWrite {
    /// The register is a word of the owner's context.
    pub context: Bit,
    /// The register is the context's enable word: the owner starts again.
    pub enable: Bit,
    /// The register is a doorbell of the owner.
    pub doorbell: Bit,
    /// Byte offset in the context or in the doorbell page.
    pub field: Bits<12>,
    /// Owner of the register.
    pub owner: Bits<8>,
    /// Value written.
    pub data: Bits<32>,
}

/// The decoder. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(OWNER_BITS <= 8, "owner ids have 8 bits")]
#[require(registers::CONTEXT_STRIDE == 1 << 6)]
#[require(registers::DOORBELL_STRIDE == 1 << 12)]
pub struct OwnerRegisters<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Register writes of the host.
    pub write: PulseSink<RegisterWrite>,

    /// Register writes that concern an owner.
    pub changed: PulseSource<OwnerWrite>,

    seen: DFF<Bit>,
    seen_write: DFF<OwnerWrite>,

    context_offset: Signal<Local, Bits<24>>,
    doorbell_offset: Signal<Local, Bits<24>>,
    context_field: Signal<Local, Bits<12>>,
    is_context: Signal<Local, Bit>,
    is_doorbell: Signal<Local, Bit>,

    #[value(u64::from(registers::CONTEXTS))]
    contexts: Constant<Bits<24>>,
    #[value(u64::from(registers::CONTEXT_STRIDE << OWNER_BITS))]
    contexts_bytes: Constant<Bits<24>>,
    #[value(u64::from(registers::DOORBELLS))]
    doorbells: Constant<Bits<24>>,
    #[value(u64::from(registers::DOORBELL_STRIDE << OWNER_BITS))]
    doorbells_bytes: Constant<Bits<24>>,
    #[value(u64::from(registers::CONTEXT_ENABLE))]
    enable_field: Constant<Bits<12>>,
}

impl<const OWNER_BITS: usize> Logic for OwnerRegisters<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, seen, seen_write);

        self.context_offset.next = self.write.payload.val().address - self.contexts.val();
        self.doorbell_offset.next = self.write.payload.val().address - self.doorbells.val();
        self.is_context.next = self.context_offset.val() < self.contexts_bytes.val();
        self.is_doorbell.next = self.doorbell_offset.val() < self.doorbells_bytes.val();
        self.context_field.next = bit_cast::<12, 6>(self.context_offset.val().get_bits::<6>(0));

        self.seen.d.next =
            self.write.valid.val() & (self.is_context.val() | self.is_doorbell.val());
        self.seen_write.d.next.context = self.is_context.val();
        self.seen_write.d.next.enable =
            self.is_context.val() & (self.context_field.val() == self.enable_field.val());
        self.seen_write.d.next.doorbell = self.is_doorbell.val();
        self.seen_write.d.next.field = self.doorbell_offset.val().get_bits::<12>(0);
        self.seen_write.d.next.owner = self.doorbell_offset.val().get_bits::<8>(12);
        self.seen_write.d.next.data = self.write.payload.val().data;
        if self.is_context.val() {
            self.seen_write.d.next.field = self.context_field.val();
            self.seen_write.d.next.owner = self.context_offset.val().get_bits::<8>(6);
        }

        self.changed.valid.next = self.seen.q.val();
        self.changed.payload.next = self.seen_write.q.val();
    }
}

/// One context word of every owner.
///
/// The word at byte `field` of the context.
#[derive(LogicBlock, BlockDefault)]
#[new(field: u32)]
pub struct OwnerWord<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Register writes that concern an owner.
    pub changed: PulseSink<OwnerWrite>,
    /// Owner whose word is requested.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Word of `owner`.
    pub value: Signal<Out, Bits<32>>,

    words: LutRam<Bits<32>, OWNER_BITS>,
    #[value(u64::from(field))]
    field: Constant<Bits<12>>,
}

impl<const OWNER_BITS: usize> Logic for OwnerWord<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, words);
        self.words.write_address.next = bit_cast::<OWNER_BITS, 8>(self.changed.payload.val().owner);
        self.words.write_data.next = self.changed.payload.val().data;
        self.words.write_enable.next = self.changed.valid.val()
            & self.changed.payload.val().context
            & (self.changed.payload.val().field == self.field.val());
        self.words.read_address.next = self.owner.val();
        self.value.next = self.words.read_data.val();
    }
}

/// One bus address of every owner: two context words, low word first.
///
/// The address at byte `field` of the context.
#[derive(LogicBlock, BlockDefault)]
#[new(field: u32)]
pub struct OwnerAddress<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Register writes that concern an owner.
    pub changed: PulseSink<OwnerWrite>,
    /// Owner whose address is requested.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Address of `owner`.
    pub address: Signal<Out, Bits<64>>,

    #[value(OwnerWord::new(field))]
    low: OwnerWord<OWNER_BITS>,
    #[value(OwnerWord::new(field + 4))]
    high: OwnerWord<OWNER_BITS>,
}

impl<const OWNER_BITS: usize> Logic for OwnerAddress<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, low, high);
        self.low.changed.valid.next = self.changed.valid.val();
        self.low.changed.payload.next = self.changed.payload.val();
        self.low.owner.next = self.owner.val();
        self.high.changed.valid.next = self.changed.valid.val();
        self.high.changed.payload.next = self.changed.payload.val();
        self.high.owner.next = self.owner.val();
        self.address.next = (bit_cast::<64, 32>(self.high.value.val()) << 32)
            | bit_cast::<64, 32>(self.low.value.val());
    }
}
