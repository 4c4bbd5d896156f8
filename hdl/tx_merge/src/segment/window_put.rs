//! Places a window of up to 16 bytes into the beats of a frame, at any byte.
//!
//! ```text
//!  window, mask ──► rotate by `start` modulo 16 ──► four times ──► placed
//!                                      └──► those in the block of `start` and the next ──► lanes
//! ```
//! A block is an aligned 16 bytes.
//!
//! Timing: combinational.
//!
//! Invariants:
//! 1. `lanes` has ones exactly where a byte of the window with a one in `mask` lies in this beat.

use stream::prelude::*;

/// The placement. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct WindowPut {
    /// Number of the beat in the frame; 4 stands for all after the fourth beat.
    pub beat: Signal<In, Bits<3>>,
    /// Byte offset of the window in the frame.
    pub start: Signal<In, Bits<8>>,
    /// Bytes of the window, first one low.
    pub window: Signal<In, Bits<128>>,
    /// Bytes of the window to place, one bit each.
    pub mask: Signal<In, Bits<16>>,
    /// The bytes at their place in the beat; undefined where `lanes` is zero.
    pub placed: Signal<Out, Bits<512>>,
    /// Ones in the bits of the beat that the window replaces.
    pub lanes: Signal<Out, Bits<512>>,

    rotate: RotateBlock,

    reaches_next: StepMeets<3>,

    block: Signal<Local, Bits<2>>,
    block_after: Signal<Local, Bits<2>>,
    first_beat: Signal<Local, Bits<3>>,
    is_first_beat: Signal<Local, Bit>,
    is_beat_after: Signal<Local, Bit>,
    shift: Signal<Local, Bits<7>>,
    rotated: Signal<Local, Bits<128>>,
    bytes: [Signal<Local, Bits<128>>; 16],
    low_bytes: Signal<Local, Bits<128>>,
    high_bytes: Signal<Local, Bits<128>>,
    wide_mask: Signal<Local, Bits<256>>,
    rotated_mask: Signal<Local, Bits<128>>,
    from_start: Signal<Local, Bits<128>>,
    here: Signal<Local, Bits<512>>,
    after: Signal<Local, Bits<512>>,
    place: Signal<Local, Bits<9>>,
    place_after: Signal<Local, Bits<9>>,
    #[value(Bits::<128>::mask())]
    ones: Constant<Bits<128>>,
    #[value(|byte| (0xffu128 << (8 * byte)).to_bits::<128>())]
    byte_ones: [Constant<Bits<128>>; 16],
}

impl Logic for WindowPut {
    #[hdl_gen]
    fn update(&mut self) {
        self.shift.next = bit_cast::<7, 4>(self.start.val().get_bits::<4>(0)) << 3;
        self.rotate.data.next = self.window.val();
        self.rotate.bytes.next = bits::<4>(0) - self.start.val().get_bits::<4>(0);
        self.rotated.next = self.rotate.result.val();
        // Eight equal bits a byte: tools find them equal, as the port has one.
        for i in 0..16 {
            self.bytes[i].next = 0.into();
            if self.mask.val().get_bit(i) {
                self.bytes[i].next = self.byte_ones[i].val();
            }
        }
        self.low_bytes.next = self.bytes[0].val()
            | self.bytes[1].val()
            | self.bytes[2].val()
            | self.bytes[3].val()
            | self.bytes[4].val()
            | self.bytes[5].val()
            | self.bytes[6].val()
            | self.bytes[7].val();
        self.high_bytes.next = self.bytes[8].val()
            | self.bytes[9].val()
            | self.bytes[10].val()
            | self.bytes[11].val()
            | self.bytes[12].val()
            | self.bytes[13].val()
            | self.bytes[14].val()
            | self.bytes[15].val();
        self.wide_mask.next =
            bit_cast::<256, 128>(self.low_bytes.val() | self.high_bytes.val()) << self.shift.val();
        self.rotated_mask.next =
            self.wide_mask.val().get_bits::<128>(0) | self.wide_mask.val().get_bits::<128>(128);
        self.from_start.next = self.ones.val() << self.shift.val();
        self.placed.next = bit_cast::<512, 128>(self.rotated.val())
            | (bit_cast::<512, 128>(self.rotated.val()) << 128)
            | (bit_cast::<512, 128>(self.rotated.val()) << 256)
            | (bit_cast::<512, 128>(self.rotated.val()) << 384);

        self.block.next = self.start.val().get_bits::<2>(4);
        self.block_after.next = self.block.val() + 1;
        self.place.next = bit_cast::<9, 2>(self.block.val()) << 7;
        self.place_after.next = bit_cast::<9, 2>(self.block_after.val()) << 7;
        // The block after is one of the next beat when that of `start` is its beat's last.
        self.first_beat.next = bit_cast::<3, 2>(self.start.val().get_bits::<2>(6));
        self.reaches_next.from.next = self.first_beat.val();
        self.reaches_next.to.next = self.beat.val();
        self.is_first_beat.next = self.first_beat.val() == self.beat.val();
        self.is_beat_after.next = self.is_first_beat.val();
        if self.block.val() == 3 {
            self.is_beat_after.next = self.reaches_next.meets.val();
        }
        self.here.next = 0.into();
        if self.is_first_beat.val() {
            self.here.next = bit_cast::<512, 128>(self.rotated_mask.val() & self.from_start.val());
        }
        self.after.next = 0.into();
        if self.is_beat_after.val() {
            self.after.next =
                bit_cast::<512, 128>(self.rotated_mask.val() & !self.from_start.val());
        }
        self.lanes.next =
            (self.here.val() << self.place.val()) | (self.after.val() << self.place_after.val());
    }
}
