//! Beats, some cycles later.
//!
//! Timing: latency eight cycles, one beat a cycle, no back-pressure.

use crate::messages::RxBeat;
use stream::prelude::*;

/// Cycles from `sink` to `source`.
pub const DELAY_CYCLES: usize = 8;

/// The delay. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Delay {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Beats in.
    pub sink: PulseSink<RxBeat>,
    /// The same beats.
    pub source: PulseSource<RxBeat>,
    /// Bytes of the frame up to the end of the beat at `source`.
    pub frame_bytes: Signal<Out, Bits<14>>,

    valid: [DFF<Bit>; DELAY_CYCLES],
    beat: [DFF<RxBeat>; DELAY_CYCLES],
    bytes: DFF<Bits<14>>,

    late: Signal<Local, RxBeat>,
}

impl Logic for Delay {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, bytes);
        self.valid[0].clock.next = self.clock.val();
        self.beat[0].clock.next = self.clock.val();
        self.valid[0].d.next = self.sink.valid.val();
        self.beat[0].d.next = self.sink.payload.val();
        for i in 1..8 {
            self.valid[i].clock.next = self.clock.val();
            self.beat[i].clock.next = self.clock.val();
            self.valid[i].d.next = self.valid[i - 1].q.val();
            self.beat[i].d.next = self.beat[i - 1].q.val();
        }
        self.source.valid.next = self.valid[7].q.val();
        self.source.payload.next = self.beat[7].q.val();

        // Counted one beat early, so that whoever judges the beat has the sum in a register.
        self.late.next = self.beat[6].q.val();
        self.bytes.d.next = (bit_cast::<14, 8>(self.late.val().index) << 6)
            + bit_cast::<14, 7>(self.late.val().byte_count);
        self.frame_bytes.next = self.bytes.q.val();
    }
}
