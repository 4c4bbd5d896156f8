//! Marks the bytes of a beat that lie at or after a byte of the frame.
//!
//! ```text
//!  beat number, byte offset ──► mask
//! ```
//! Timing: combinational.

use stream::prelude::*;

/// The mask. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ChecksumMask {
    /// Number of the beat in its frame; 4 stands for all after the fourth beat.
    pub beat: Signal<In, Bits<3>>,
    /// Byte offset in the frame.
    pub offset: Signal<In, Bits<8>>,
    /// Ones from the byte at `offset` on, one bit for each byte of the beat.
    pub mask: Signal<Out, Bits<64>>,

    beat_of_offset: Signal<Local, Bits<3>>,
    #[value(Bits::<64>::mask())]
    ones: Constant<Bits<64>>,
}

impl Logic for ChecksumMask {
    #[hdl_gen]
    fn update(&mut self) {
        self.beat_of_offset.next = bit_cast::<3, 2>(self.offset.val().get_bits::<2>(6));
        self.mask.next = 0.into();
        if self.beat.val() > self.beat_of_offset.val() {
            self.mask.next = self.ones.val();
        } else if self.beat.val() == self.beat_of_offset.val() {
            self.mask.next = self.ones.val() << self.offset.val().get_bits::<6>(0);
        }
    }
}
