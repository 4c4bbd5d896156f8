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

    valid: [DFF<Bit>; DELAY_CYCLES],
    beat: [DFF<RxBeat>; DELAY_CYCLES],
}

impl Logic for Delay {
    #[hdl_gen]
    fn update(&mut self) {
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
    }
}
