//! Messages from one die of the device to its neighbour: registers alone cross the border.
//!
//! ```text
//!   sink ──► [first] ─┆─► [second] ──► FIFO of 16 ──► source
//!   ready ◄─ [seen] ◄─┆── [room] ◄──── fewer than 8
//! ```
//! Not [`DieHop::far`], it is wires: `sink` and `source` are one.
//!
//! Timing: far, a message passes in two cycles, one each cycle; `sink.ready` is a register.
//!
//! Invariants:
//! 1. Messages leave in the order they came; none is lost or repeated.
//! 2. Far, the FIFO never overflows: room is there for what is on its way when it is told of.
//! 3. Both resets come together or two cycles apart: nothing from before them passes.
//!
//! Source: UG872 and UG949, paths between dies (SLR).

use stream::prelude::*;

/// The hop. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct DieHop<T: Synth> {
    /// Clock of both sides.
    pub clock: Signal<In, Clock>,
    /// Reset on the side of `sink`.
    pub sink_reset: Signal<In, Bit>,
    /// Reset on the side of `source`.
    pub source_reset: Signal<In, Bit>,

    /// Messages in.
    pub sink: MessageSink<T>,
    /// Messages out.
    pub source: MessageSource<T>,

    first: DFF<T>,
    first_valid: DFF<Bit>,
    second: DFF<T>,
    second_valid: DFF<Bit>,
    arrived: ThroughFifo<T, 4, 5>,
    room: DFF<Bit>,
    seen: DFF<Bit>,

    #[value(false)]
    is_far: Constant<Bit>,
    #[value(8)]
    enough: Constant<Bits<5>>,
}

impl<T: Synth> DieHop<T> {
    /// A hop that crosses a border.
    pub fn far() -> Self {
        Self { is_far: Constant::new(true), ..Self::default() }
    }
}

impl<T: Synth> Logic for DieHop<T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, first, first_valid, second, second_valid, room, seen);
        clock!(self, clock, arrived);
        self.arrived.reset.next = self.source_reset.val();
        self.first.d.next = self.sink.payload.val();
        self.first_valid.d.next =
            self.sink.valid.val() & self.seen.q.val() & !self.sink_reset.val();
        self.second.d.next = self.first.q.val();
        self.second_valid.d.next = self.first_valid.q.val() & !self.source_reset.val();
        self.arrived.sink.valid.next = self.second_valid.q.val();
        self.arrived.sink.payload.next = self.second.q.val();
        self.room.d.next = (self.arrived.level.val() < self.enough.val())
            & self.arrived.sink.ready.val()
            & !self.source_reset.val();
        self.seen.d.next = self.room.q.val() & !self.sink_reset.val();

        self.sink.ready.next = self.source.ready.val();
        self.source.valid.next = self.sink.valid.val();
        self.source.payload.next = self.sink.payload.val();
        self.arrived.source.ready.next = self.source.ready.val();
        if self.is_far.val() {
            self.sink.ready.next = self.seen.q.val();
            self.source.valid.next = self.arrived.source.valid.val();
            self.source.payload.next = self.arrived.source.payload.val();
        }
    }
}
