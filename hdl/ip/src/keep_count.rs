//! Counts the bytes that an AXI4-Stream keep mask marks.
//!
//! The mask is contiguous from bit 0, so its last set bit is isolated and encoded. For any other
//! mask the result is undefined, from 0 to 127.
//!
//! Timing: combinational.

use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct KeepCount {
    /// Keep mask, contiguous from bit 0.
    pub keep: Signal<In, Bits<64>>,
    /// Number of bytes that the mask marks, 0 to 64.
    pub byte_count: Signal<Out, Bits<7>>,

    last: Signal<Local, Bits<64>>,
    hits: [Signal<Local, Bit>; 7],
    /// For each bit of the count, the positions of the last set bit that set it.
    #[value(|bit| {
        let of_place = |place: u64| (place + 1) >> bit & 1;
        (0..64).fold(0u64, |mask, place| mask | of_place(place) << place)
    })]
    sets: [Constant<Bits<64>>; 7],
}

impl Logic for KeepCount {
    #[hdl_gen]
    fn update(&mut self) {
        self.last.next = self.keep.val() & !(self.keep.val() >> 1);
        for i in 0..7 {
            self.hits[i].next = (self.last.val() & self.sets[i].val()).any();
        }
        self.byte_count.next = bit_cast::<7, 1>(self.hits[0].val().into())
            | (bit_cast::<7, 1>(self.hits[1].val().into()) << 1)
            | (bit_cast::<7, 1>(self.hits[2].val().into()) << 2)
            | (bit_cast::<7, 1>(self.hits[3].val().into()) << 3)
            | (bit_cast::<7, 1>(self.hits[4].val().into()) << 4)
            | (bit_cast::<7, 1>(self.hits[5].val().into()) << 5)
            | (bit_cast::<7, 1>(self.hits[6].val().into()) << 6);
    }
}
