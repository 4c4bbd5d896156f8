//! Replaces one byte of a beat.
//!
//! ```text
//!  beat_in ──►┌───────────┐──► beat_out
//!  lane    ──►│ combina-  │
//!  value   ──►│ tional    │
//!  enable  ──►└───────────┘
//! ```

use stream::prelude::*;

/// The patch. See the module's head.
#[derive(LogicBlock, Default)]
pub struct BytePatch {
    /// The beat.
    pub beat_in: Signal<In, Bits<512>>,
    /// Byte to replace.
    pub lane: Signal<In, Bits<6>>,
    /// Its new value.
    pub value: Signal<In, Bits<8>>,
    /// Replace it; else the beat passes unchanged.
    pub enable: Signal<In, Bit>,
    /// The beat afterwards.
    pub beat_out: Signal<Out, Bits<512>>,

    shift: Signal<Local, Bits<9>>,
    mask: Signal<Local, Bits<512>>,
    placed: Signal<Local, Bits<512>>,
    byte_mask: Signal<Local, Bits<512>>,
}

impl Logic for BytePatch {
    #[hdl_gen]
    fn update(&mut self) {
        self.shift.next = bit_cast::<9, 6>(self.lane.val()) << 3;
        self.byte_mask.next = 0xff.into();
        self.mask.next = self.byte_mask.val() << self.shift.val();
        self.placed.next = bit_cast::<512, 8>(self.value.val()) << self.shift.val();
        self.beat_out.next = self.beat_in.val();
        if self.enable.val() {
            self.beat_out.next = (self.beat_in.val() & !self.mask.val()) | self.placed.val();
        }
    }
}
