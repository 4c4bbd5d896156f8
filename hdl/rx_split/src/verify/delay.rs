//! Delays beats until the frame's sums are known.
//!
//! ```text
//!  sink ──► block RAM, written at a place and read six places later ──► source
//! ```
//! Timing: latency eight cycles, one beat per cycle, no back-pressure.

use crate::messages::RxBeat;
use stream::prelude::*;

/// Cycles from `sink` to `source`.
pub const DELAY_CYCLES: usize = 8;
/// Cycles from a write to the read of what was written: two less, for its latch and its register.
const WRITTEN_BEFORE: u64 = DELAY_CYCLES as u64 - 2;

/// The delay. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Delay {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// Beats to delay.
    pub sink: PulseSink<RxBeat>,
    /// Beats of `sink`, eight cycles later.
    pub source: PulseSource<RxBeat>,
    /// Bytes of the frame up to the end of the beat at `source`.
    pub frame_bytes: Signal<Out, Bits<14>>,

    memory: BlockRam<RxBeat, 4>,
    place: DFF<Bits<4>>,
    valid: [DFF<Bit>; DELAY_CYCLES],
    bytes: [DFF<Bits<14>>; DELAY_CYCLES],

    entering: Signal<Local, RxBeat>,
    #[value(1)]
    one: Constant<Bits<4>>,
    #[value(WRITTEN_BEFORE)]
    written_before: Constant<Bits<4>>,
}

impl Logic for Delay {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, place);
        clock!(self, clock, memory);
        self.place.d.next = self.place.q.val() + self.one.val();
        self.memory.write_address.next = self.place.q.val();
        self.memory.write_data.next = self.sink.payload.val();
        self.memory.write_enable.next = self.sink.valid.val();
        self.memory.read_address.next = self.place.q.val() - self.written_before.val();
        self.memory.read_enable.next = self.valid[5].q.val();
        self.memory.register_enable.next = self.valid[6].q.val();
        self.source.valid.next = self.valid[7].q.val();
        self.source.payload.next = self.memory.read_data.val();

        // Counted where the beat enters, so that the verdict finds the sum in a register.
        self.entering.next = self.sink.payload.val();
        self.valid[0].clock.next = self.clock.val();
        self.valid[0].d.next = self.sink.valid.val();
        self.bytes[0].clock.next = self.clock.val();
        self.bytes[0].d.next = (bit_cast::<14, 8>(self.entering.val().index) << 6)
            + bit_cast::<14, 7>(self.entering.val().byte_count);
        for i in 1..8 {
            self.valid[i].clock.next = self.clock.val();
            self.valid[i].d.next = self.valid[i - 1].q.val();
            self.bytes[i].clock.next = self.clock.val();
            self.bytes[i].d.next = self.bytes[i - 1].q.val();
        }
        self.frame_bytes.next = self.bytes[7].q.val();
    }
}
