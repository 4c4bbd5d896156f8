//! Keeps 16 bytes of a frame, from any byte on, as the frame's beats pass.
//!
//! ```text
//!  data ──► block of `start`, and the block behind it ──► 16 lanes ──► turn ──► window
//! ```
//! A block is an aligned 16 bytes. Lane i holds the window's byte that lies at i modulo 16: in the
//! block of `start` for lanes from `start` modulo 16 on, in the next block for those before.
//!
//! Timing: the window is complete in the cycle after the beat of its last byte, and until the beat
//! after that.
//!
//! Invariants:
//! 1. `start` is the same for all beats of a frame. Bytes of beats that do not pass are undefined.

use stream::prelude::*;

/// The window. See the module's head.
#[derive(LogicBlock)]
pub struct WindowTake {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A beat passes.
    pub valid: Signal<In, Bit>,
    /// Its number in the frame.
    pub beat: Signal<In, Bits<3>>,
    /// The beat.
    pub data: Signal<In, Bits<512>>,
    /// First byte of the window.
    pub start: Signal<In, Bits<8>>,
    /// The bytes, first one low.
    pub window: Signal<Out, Bits<128>>,

    lanes: DFF<Bits<128>>,
    turn: DFF<Bits<4>>,

    block: Signal<Local, Bits<5>>,
    block_after: Signal<Local, Bits<5>>,
    place: Signal<Local, Bits<9>>,
    place_after: Signal<Local, Bits<9>>,
    bytes: Signal<Local, Bits<128>>,
    bytes_after: Signal<Local, Bits<128>>,
    shift: Signal<Local, Bits<7>>,
    from_start: Signal<Local, Bits<128>>,
    mask: Signal<Local, Bits<128>>,
    mask_after: Signal<Local, Bits<128>>,
    turn_shift: Signal<Local, Bits<7>>,
    turn_back: Signal<Local, Bits<8>>,
    ones: Constant<Bits<128>>,
}

impl Default for WindowTake {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            valid: Default::default(),
            beat: Default::default(),
            data: Default::default(),
            start: Default::default(),
            window: Default::default(),
            lanes: Default::default(),
            turn: Default::default(),
            block: Default::default(),
            block_after: Default::default(),
            place: Default::default(),
            place_after: Default::default(),
            bytes: Default::default(),
            bytes_after: Default::default(),
            shift: Default::default(),
            from_start: Default::default(),
            mask: Default::default(),
            mask_after: Default::default(),
            turn_shift: Default::default(),
            turn_back: Default::default(),
            ones: Constant::new(Bits::<128>::mask()),
        }
    }
}

impl Logic for WindowTake {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, lanes, turn);
        self.block.next = bit_cast::<5, 4>(self.start.val().get_bits::<4>(4));
        self.block_after.next = self.block.val() + 1;
        self.place.next = bit_cast::<9, 2>(self.block.val().get_bits::<2>(0)) << 7;
        self.place_after.next = bit_cast::<9, 2>(self.block_after.val().get_bits::<2>(0)) << 7;
        self.bytes.next = self.data.val().get_bits::<128>(self.place.val().index());
        self.bytes_after.next = self
            .data
            .val()
            .get_bits::<128>(self.place_after.val().index());

        self.shift.next = bit_cast::<7, 4>(self.start.val().get_bits::<4>(0)) << 3;
        self.from_start.next = self.ones.val() << self.shift.val();
        self.mask.next = 0.into();
        if self.valid.val() & (self.block.val().get_bits::<3>(2) == self.beat.val()) {
            self.mask.next = self.from_start.val();
        }
        self.mask_after.next = 0.into();
        if self.valid.val() & (self.block_after.val().get_bits::<3>(2) == self.beat.val()) {
            self.mask_after.next = !self.from_start.val();
        }
        self.lanes.d.next = (self.lanes.q.val() & !(self.mask.val() | self.mask_after.val()))
            | (self.bytes.val() & self.mask.val())
            | (self.bytes_after.val() & self.mask_after.val());
        if self.valid.val() {
            self.turn.d.next = self.start.val().get_bits::<4>(0);
        }

        self.turn_shift.next = bit_cast::<7, 4>(self.turn.q.val()) << 3;
        self.turn_back.next = 128 - bit_cast::<8, 7>(self.turn_shift.val());
        self.window.next = (self.lanes.q.val() >> self.turn_shift.val())
            | (self.lanes.q.val() << self.turn_back.val());
    }
}
