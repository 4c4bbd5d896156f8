//! Keeps a window of 16 bytes of a frame, from any byte on, as the frame's beats pass.
//!
//! ```text
//!  data ──► block of `start`, and the block after it ──► 16 lanes ──► rotate ──► window
//! ```
//! A block is an aligned 16 bytes. Lane i holds the window's byte whose offset in the frame is i
//! modulo 16: of the block of `start` for lanes from `start` modulo 16 on, of the next block for
//! the lanes below.
//!
//! Timing: the window is complete in the cycle after the beat of its last byte, and stays until the
//! next beat.
//!
//! Invariants:
//! 1. `start` is the same for all beats of a frame.
//! 2. Bytes of beats that did not pass are undefined; consumers ignore them.

use stream::prelude::*;

/// The window. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct WindowTake {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// A beat passes.
    pub valid: Signal<In, Bit>,
    /// Number of the beat in its frame.
    pub beat: Signal<In, Bits<3>>,
    /// Bytes of the beat.
    pub data: Signal<In, Bits<512>>,
    /// Byte offset of the window in the frame.
    pub start: Signal<In, Bits<8>>,
    /// Bytes of the window, first one low.
    pub window: Signal<Out, Bits<128>>,

    rotate: RotateBlock,
    lanes: [DFF<Bits<8>>; 16],
    rotation: DFF<Bits<4>>,

    block: Signal<Local, Bits<5>>,
    block_after: Signal<Local, Bits<5>>,
    passes: Signal<Local, Bit>,
    passes_after: Signal<Local, Bit>,
    from_start: Signal<Local, Bits<16>>,
    places: [Signal<Local, Bits<9>>; 16],
    low_lanes: Signal<Local, Bits<128>>,
    high_lanes: Signal<Local, Bits<128>>,
    #[value(Bits::<16>::mask())]
    ones: Constant<Bits<16>>,
    #[value(|lane| 8 * lane as u64)]
    offsets: [Constant<Bits<9>>; 16],
}

impl Logic for WindowTake {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rotation);
        self.block.next = bit_cast::<5, 4>(self.start.val().get_bits::<4>(4));
        self.block_after.next = self.block.val() + 1;
        self.passes.next =
            self.valid.val() & (self.block.val().get_bits::<3>(2) == self.beat.val());
        self.passes_after.next =
            self.valid.val() & (self.block_after.val().get_bits::<3>(2) == self.beat.val());
        self.from_start.next = self.ones.val() << self.start.val().get_bits::<4>(0);
        for i in 0..16 {
            self.lanes[i].clock.next = self.clock.val();
            self.lanes[i].d.next = self.lanes[i].q.val();
            self.places[i].next = self.offsets[i].val()
                | (bit_cast::<9, 2>(self.block_after.val().get_bits::<2>(0)) << 7);
            if self.from_start.val().get_bit(i) {
                self.places[i].next = self.offsets[i].val()
                    | (bit_cast::<9, 2>(self.block.val().get_bits::<2>(0)) << 7);
            }
            if (self.passes.val() & self.from_start.val().get_bit(i))
                | (self.passes_after.val() & !self.from_start.val().get_bit(i))
            {
                self.lanes[i].d.next = self.data.val().get_bits::<8>(self.places[i].val().index());
            }
        }
        if self.valid.val() {
            self.rotation.d.next = self.start.val().get_bits::<4>(0);
        }

        self.low_lanes.next = bit_cast::<128, 8>(self.lanes[0].q.val())
            | (bit_cast::<128, 8>(self.lanes[1].q.val()) << 8)
            | (bit_cast::<128, 8>(self.lanes[2].q.val()) << 16)
            | (bit_cast::<128, 8>(self.lanes[3].q.val()) << 24)
            | (bit_cast::<128, 8>(self.lanes[4].q.val()) << 32)
            | (bit_cast::<128, 8>(self.lanes[5].q.val()) << 40)
            | (bit_cast::<128, 8>(self.lanes[6].q.val()) << 48)
            | (bit_cast::<128, 8>(self.lanes[7].q.val()) << 56);
        self.high_lanes.next = (bit_cast::<128, 8>(self.lanes[8].q.val()) << 64)
            | (bit_cast::<128, 8>(self.lanes[9].q.val()) << 72)
            | (bit_cast::<128, 8>(self.lanes[10].q.val()) << 80)
            | (bit_cast::<128, 8>(self.lanes[11].q.val()) << 88)
            | (bit_cast::<128, 8>(self.lanes[12].q.val()) << 96)
            | (bit_cast::<128, 8>(self.lanes[13].q.val()) << 104)
            | (bit_cast::<128, 8>(self.lanes[14].q.val()) << 112)
            | (bit_cast::<128, 8>(self.lanes[15].q.val()) << 120);
        self.rotate.data.next = self.low_lanes.val() | self.high_lanes.val();
        self.rotate.bytes.next = self.rotation.q.val();
        self.window.next = self.rotate.result.val();
    }
}
