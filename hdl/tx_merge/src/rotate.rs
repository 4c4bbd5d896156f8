//! Rotates a beat by bytes: byte i goes to byte (i + `amount`) modulo 64.
//!
//! ```text
//!  beat_in ──► 1 ──► 2 ──► 4 ──► 8 ──► 16 ──► 32 ──► beat_out
//!                          six two-way choices, combinational
//! ```

use stream::prelude::*;

/// The rotator. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Rotate {
    /// The beat.
    pub beat_in: Signal<In, Bits<512>>,
    /// Bytes to move up.
    pub amount: Signal<In, Bits<6>>,
    /// The beat, rotated.
    pub beat_out: Signal<Out, Bits<512>>,

    by_1: Signal<Local, Bits<512>>,
    by_2: Signal<Local, Bits<512>>,
    by_4: Signal<Local, Bits<512>>,
    by_8: Signal<Local, Bits<512>>,
    by_16: Signal<Local, Bits<512>>,
}

impl Logic for Rotate {
    #[hdl_gen]
    fn update(&mut self) {
        self.by_1.next = self.beat_in.val();
        if self.amount.val().get_bit(0) {
            self.by_1.next = (self.beat_in.val() << 8) | (self.beat_in.val() >> 504);
        }
        self.by_2.next = self.by_1.val();
        if self.amount.val().get_bit(1) {
            self.by_2.next = (self.by_1.val() << 16) | (self.by_1.val() >> 496);
        }
        self.by_4.next = self.by_2.val();
        if self.amount.val().get_bit(2) {
            self.by_4.next = (self.by_2.val() << 32) | (self.by_2.val() >> 480);
        }
        self.by_8.next = self.by_4.val();
        if self.amount.val().get_bit(3) {
            self.by_8.next = (self.by_4.val() << 64) | (self.by_4.val() >> 448);
        }
        self.by_16.next = self.by_8.val();
        if self.amount.val().get_bit(4) {
            self.by_16.next = (self.by_8.val() << 128) | (self.by_8.val() >> 384);
        }
        self.beat_out.next = self.by_16.val();
        if self.amount.val().get_bit(5) {
            self.beat_out.next = (self.by_16.val() << 256) | (self.by_16.val() >> 256);
        }
    }
}
