//! Decodes which owner and which of its words a register write addresses.
//!
//! Timing: combinational.
//!
//! Source: `abi::registers`, CONTEXTS and DOORBELLS.

use abi::registers::{
    CONTEXTS, CONTEXT_ENABLE, CONTEXT_HEADER_BASE, CONTEXT_SIZES, CONTEXT_SLOW_BASE,
    CONTEXT_STRIDE, DOORBELLS, DOORBELL_HEADER, DOORBELL_SLOW, DOORBELL_STRIDE,
};
use stream::prelude::*;

/// One decoded write: at most one of the bits before `switch` is set.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerWrite {
    /// The write is the low word of the header queue's address.
    pub header_base_low: Bit,
    /// The write is the high word of the header queue's address.
    pub header_base_high: Bit,
    /// The write is the low word of the slow buffers' address.
    pub slow_base_low: Bit,
    /// The write is the high word of the slow buffers' address.
    pub slow_base_high: Bit,
    /// The write is the sizes of the rings.
    pub sizes: Bit,
    /// The write enables or disables the owner.
    pub enable: Bit,
    /// The write is the consumer index of the header queue.
    pub header_doorbell: Bit,
    /// The write is the consumer index of the slow buffers.
    pub slow_doorbell: Bit,
    /// Bit 0 of the value that is written.
    pub switch: Bit,
    /// Value that is written.
    pub data: Bits<32>,
}

/// The decoder, for 2^OWNER_BITS owners. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct OwnerDecode<const OWNER_BITS: usize> {
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Owner that the write addresses.
    pub owner: Signal<Out, Bits<OWNER_BITS>>,
    /// The decoded write.
    pub write: Signal<Out, OwnerWrite>,

    address: Signal<Local, Bits<24>>,
    value: Signal<Local, Bits<32>>,
    context_word: Signal<Local, Bits<6>>,
    doorbell_word: Signal<Local, Bits<12>>,
    in_context: Signal<Local, Bit>,
    in_doorbell: Signal<Local, Bit>,

    #[value(u64::from(CONTEXT_SHIFT + OWNER_BITS as u32))]
    context_shift: Constant<Bits<5>>,
    #[value(u64::from(CONTEXTS >> (CONTEXT_SHIFT + OWNER_BITS as u32)))]
    context_tag: Constant<Bits<24>>,
    #[value(u64::from(DOORBELL_SHIFT + OWNER_BITS as u32))]
    doorbell_shift: Constant<Bits<5>>,
    #[value(u64::from(DOORBELLS >> (DOORBELL_SHIFT + OWNER_BITS as u32)))]
    doorbell_tag: Constant<Bits<24>>,
    #[value(u64::from(CONTEXT_HEADER_BASE))]
    header_base: Constant<Bits<6>>,
    #[value(u64::from(CONTEXT_HEADER_BASE + 4))]
    header_base_high: Constant<Bits<6>>,
    #[value(u64::from(CONTEXT_SLOW_BASE))]
    slow_base: Constant<Bits<6>>,
    #[value(u64::from(CONTEXT_SLOW_BASE + 4))]
    slow_base_high: Constant<Bits<6>>,
    #[value(u64::from(CONTEXT_SIZES))]
    sizes: Constant<Bits<6>>,
    #[value(u64::from(CONTEXT_ENABLE))]
    enable: Constant<Bits<6>>,
    #[value(u64::from(DOORBELL_HEADER))]
    header_doorbell: Constant<Bits<12>>,
    #[value(u64::from(DOORBELL_SLOW))]
    slow_doorbell: Constant<Bits<12>>,
}

const CONTEXT_SHIFT: u32 = CONTEXT_STRIDE.trailing_zeros();
const DOORBELL_SHIFT: u32 = DOORBELL_STRIDE.trailing_zeros();

impl<const OWNER_BITS: usize> Logic for OwnerDecode<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        self.address.next = self.settings.payload.val().address;
        self.value.next = self.settings.payload.val().data;
        self.in_context.next = self.settings.valid.val()
            & ((self.address.val() >> self.context_shift.val()) == self.context_tag.val());
        self.in_doorbell.next = self.settings.valid.val()
            & ((self.address.val() >> self.doorbell_shift.val()) == self.doorbell_tag.val());
        self.context_word.next = self.address.val().get_bits::<6>(0);
        self.doorbell_word.next = self.address.val().get_bits::<12>(0);

        self.owner.next = bit_cast::<OWNER_BITS, 24>(self.address.val() >> 6);
        if self.in_doorbell.val() {
            self.owner.next = bit_cast::<OWNER_BITS, 24>(self.address.val() >> 12);
        }
        self.write.next.header_base_low =
            self.in_context.val() & (self.context_word.val() == self.header_base.val());
        self.write.next.header_base_high =
            self.in_context.val() & (self.context_word.val() == self.header_base_high.val());
        self.write.next.slow_base_low =
            self.in_context.val() & (self.context_word.val() == self.slow_base.val());
        self.write.next.slow_base_high =
            self.in_context.val() & (self.context_word.val() == self.slow_base_high.val());
        self.write.next.sizes =
            self.in_context.val() & (self.context_word.val() == self.sizes.val());
        self.write.next.enable =
            self.in_context.val() & (self.context_word.val() == self.enable.val());
        self.write.next.header_doorbell =
            self.in_doorbell.val() & (self.doorbell_word.val() == self.header_doorbell.val());
        self.write.next.slow_doorbell =
            self.in_doorbell.val() & (self.doorbell_word.val() == self.slow_doorbell.val());
        self.write.next.switch = self.value.val().get_bit(0);
        self.write.next.data = self.value.val();
    }
}
