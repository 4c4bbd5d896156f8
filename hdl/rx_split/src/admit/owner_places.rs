//! Where each owner's header queue and slow buffers lie.
//!
//! Timing: `rings` and `sizes` follow their owner in the same cycle; a write shows in the next.

use crate::admit::messages::OwnerContext;
use crate::owner_decode::OwnerWrite;
use stream::prelude::*;

/// The places. See the module's head.
#[derive(LogicBlock, Default)]
pub struct OwnerPlaces<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// A decoded register write.
    pub write: Signal<In, OwnerWrite>,
    /// Owner that the write addresses.
    pub write_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Owner whose context is shown.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Context of `owner`.
    pub rings: Signal<Out, OwnerContext>,
    /// Owner whose sizes are shown.
    pub sizes_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Sizes of the rings of `sizes_owner`.
    pub sizes: Signal<Out, Bits<32>>,

    /// Header base low and high, slow base low and high, sizes; sizes once more.
    words: [LutRam<Bits<32>, OWNER_BITS>; 6],
}

impl<const OWNER_BITS: usize> Logic for OwnerPlaces<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..6 {
            self.words[i].clock.next = self.clock.val();
            self.words[i].read_address.next = self.owner.val();
            self.words[i].write_address.next = self.write_owner.val();
            self.words[i].write_data.next = self.write.val().data;
        }
        self.words[5].read_address.next = self.sizes_owner.val();
        self.words[0].write_enable.next = self.write.val().header_base_low;
        self.words[1].write_enable.next = self.write.val().header_base_high;
        self.words[2].write_enable.next = self.write.val().slow_base_low;
        self.words[3].write_enable.next = self.write.val().slow_base_high;
        self.words[4].write_enable.next = self.write.val().sizes;
        self.words[5].write_enable.next = self.write.val().sizes;
        self.rings.next.header_base = bit_cast::<64, 32>(self.words[0].read_data.val())
            | (bit_cast::<64, 32>(self.words[1].read_data.val()) << 32);
        self.rings.next.slow_base = bit_cast::<64, 32>(self.words[2].read_data.val())
            | (bit_cast::<64, 32>(self.words[3].read_data.val()) << 32);
        self.rings.next.header_bits = self.words[4].read_data.val().get_bits::<4>(16);
        self.rings.next.slow_bits = self.words[4].read_data.val().get_bits::<4>(24);
        self.sizes.next = self.words[5].read_data.val();
    }
}
