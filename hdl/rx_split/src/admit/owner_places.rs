//! Where each owner's header queue and slow buffers lie.
//!
//! Timing: `rings` and `sizes` follow their owner in the same cycle; a write shows in the next.

use crate::admit::messages::OwnerContext;
use crate::admit::owner_decode::OwnerWrite;
use stream::prelude::*;

/// The places. See the module's head.
#[derive(LogicBlock, Default)]
pub struct OwnerPlaces<const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A decoded register write.
    pub write: Signal<In, OwnerWrite>,
    /// Whose.
    pub write_owner: Signal<In, Bits<B>>,
    /// Whose context to show.
    pub owner: Signal<In, Bits<B>>,
    /// That context.
    pub rings: Signal<Out, OwnerContext>,
    /// Whose sizes to show.
    pub sizes_owner: Signal<In, Bits<B>>,
    /// Those sizes.
    pub sizes: Signal<Out, Bits<32>>,

    /// Header base low and high, slow base low and high, sizes; sizes once more.
    words: [LutRam<Bits<32>, B>; 6],
}

impl<const B: usize> Logic for OwnerPlaces<B> {
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
