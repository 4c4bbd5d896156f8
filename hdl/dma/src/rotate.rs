//! Turns a beat by a number of bytes: byte i of the result is byte (i + bytes) modulo 64 of the
//! data.
//!
//! ```text
//!   data ──► by 32 ──► by 16 ──► by 8 ──► by 4 ──► by 2 ──► by 1 ──► result
//! ```
//! Timing: combinational. Two stages fit one level of six-input look-up tables.

use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Rotate {
    /// The beat.
    pub data: Signal<In, Bits<512>>,
    /// Bytes to turn by.
    pub bytes: Signal<In, Bits<6>>,
    /// The turned beat.
    pub result: Signal<Out, Bits<512>>,

    by_32: Signal<Local, Bits<512>>,
    by_16: Signal<Local, Bits<512>>,
    by_8: Signal<Local, Bits<512>>,
    by_4: Signal<Local, Bits<512>>,
    by_2: Signal<Local, Bits<512>>,
}

impl Logic for Rotate {
    #[hdl_gen]
    fn update(&mut self) {
        self.by_32.next = self.data.val();
        if self.bytes.val().get_bit(5) {
            self.by_32.next = (self.data.val() >> 256) | (self.data.val() << 256);
        }
        self.by_16.next = self.by_32.val();
        if self.bytes.val().get_bit(4) {
            self.by_16.next = (self.by_32.val() >> 128) | (self.by_32.val() << 384);
        }
        self.by_8.next = self.by_16.val();
        if self.bytes.val().get_bit(3) {
            self.by_8.next = (self.by_16.val() >> 64) | (self.by_16.val() << 448);
        }
        self.by_4.next = self.by_8.val();
        if self.bytes.val().get_bit(2) {
            self.by_4.next = (self.by_8.val() >> 32) | (self.by_8.val() << 480);
        }
        self.by_2.next = self.by_4.val();
        if self.bytes.val().get_bit(1) {
            self.by_2.next = (self.by_4.val() >> 16) | (self.by_4.val() << 496);
        }
        self.result.next = self.by_2.val();
        if self.bytes.val().get_bit(0) {
            self.result.next = (self.by_2.val() >> 8) | (self.by_2.val() << 504);
        }
    }
}
