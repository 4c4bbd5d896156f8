//! Turns segment requests into searches: reads the list's state, clamps the index, assigns the
//! reply slot.
//!
//! ```text
//!  request ──► state_flow ──► state (two cycles later) ──► token ──► tokens
//!     ▲ slot, slot_free                                    (FIFO of 8)
//! ```
//! Timing: one request per cycle while a slot is free; `request.ready` depends on that. Its token
//! is offered three cycles later.
//!
//! Invariants:
//! 1. `slot_take` is high exactly when a request is taken; so at most 8 tokens exist and the FIFO
//!    cannot overflow.
//! 2. A token with `count` 0 names nothing that the list holds.

use crate::messages::{beyond_mask, ListState, SearchToken};
use stream::prelude::*;

/// The front. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SearchFront<const FLOW_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the requests in work.
    pub reset: Signal<In, Bit>,

    /// Positions or indices to find.
    pub request: MessageSink<SegmentRequest>,
    /// Searches, one for each request, in order.
    pub tokens: MessageSource<SearchToken>,

    /// Flow whose list state is read.
    pub state_flow: Signal<Out, Bits<16>>,
    /// State of the list of `state_flow`, two cycles later.
    pub state: Signal<In, ListState>,

    /// A reply slot is free.
    pub slot_free: Signal<In, Bit>,
    /// Number of the next free slot.
    pub slot: Signal<In, Bits<3>>,
    /// The slot `slot` is taken in this cycle.
    pub slot_take: Signal<Out, Bit>,

    queue: Fifo<SearchToken, 3, 4>,
    reading: DFF<Bit>,
    valid: DFF<Bit>,
    read: DFF<SegmentRequest>,
    read_slot: DFF<Bits<3>>,
    requested: DFF<SegmentRequest>,
    requested_slot: DFF<Bits<3>>,

    accept: Signal<Local, Bit>,
    extent: Signal<Local, Bits<16>>,
    middle: Signal<Local, Bits<16>>,
    offset: Signal<Local, Bits<16>>,
    #[value(beyond_mask::<FLOW_BITS>())]
    flow_beyond: Constant<Bits<16>>,
    #[value(1)]
    one: Constant<Bits<16>>,
}

impl<const FLOW_BITS: usize> Logic for SearchFront<FLOW_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, reading, valid, read, read_slot, requested, requested_slot);
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        MessageSource::<SearchToken>::link(&mut self.tokens, &mut self.queue.source);

        self.accept.next = self.request.valid.val() & self.slot_free.val();
        self.request.ready.next = self.slot_free.val();
        self.slot_take.next = self.accept.val();
        self.state_flow.next = self.request.payload.val().flow;
        self.reading.d.next = self.accept.val() & !self.reset.val();
        self.read.d.next = self.request.payload.val();
        self.read_slot.d.next = self.slot.val();
        self.valid.d.next = self.reading.q.val() & !self.reset.val();
        self.requested.d.next = self.read.q.val();
        self.requested_slot.d.next = self.read_slot.q.val();

        self.extent.next = self.state.val().tail - self.state.val().head;
        self.middle.next = (self.state.val().tail + !self.state.val().head) >> 1;
        self.offset.next = self.requested.q.val().index - self.state.val().head;
        self.queue.sink.valid.next = self.valid.q.val();
        self.queue.sink.payload.next.slot = self.requested_slot.q.val();
        self.queue.sink.payload.next.fetch = false;
        self.queue.sink.payload.next.by_index = self.requested.q.val().by_index;
        self.queue.sink.payload.next.base = self.state.val().base;
        self.queue.sink.payload.next.mask = self.state.val().mask;
        self.queue.sink.payload.next.count = self.extent.val();
        self.queue.sink.payload.next.index = self.state.val().head + self.middle.val();
        self.queue.sink.payload.next.tail = self.state.val().tail;
        self.queue.sink.payload.next.position = self.requested.q.val().position;
        if self.requested.q.val().by_index & (self.extent.val() != bits::<16>(0)) {
            self.queue.sink.payload.next.count = self.one.val();
            self.queue.sink.payload.next.index = self.state.val().head;
            if !self.offset.val().get_bit(15) {
                self.queue.sink.payload.next.index = self.requested.q.val().index;
                if self.offset.val() >= self.extent.val() {
                    self.queue.sink.payload.next.count = 0.into();
                }
            }
        }
        if (self.requested.q.val().flow & self.flow_beyond.val()) != bits::<16>(0) {
            self.queue.sink.payload.next.count = 0.into();
        }
    }
}
