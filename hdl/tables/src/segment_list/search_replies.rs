//! Puts the results of searches back into request order.
//!
//! ```text
//!  slot ◄── next        result ──► 8 slots ──► oldest, when it has its result ──► reply
//! ```
//! Timing: a reply is offered one cycle after its `result` when it is the oldest. `reply.payload`
//! is read from distributed RAM in the same cycle; `reply.valid` and `slot_free` are functions of
//! registers.
//!
//! Invariants:
//! 1. Replies leave in the order in which slots were taken, one for each.
//! 2. A slot is free again after its reply has left.
//! 3. It relies on `slot_take` to come while a slot is free, and on one result for each slot taken.

use crate::messages::SearchResult;
use crate::pending_replies::PendingReplies;
use stream::prelude::*;

/// The reply slots. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SearchReplies {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: every slot is free.
    pub reset: Signal<In, Bit>,

    /// A slot is free.
    pub slot_free: Signal<Out, Bit>,
    /// Number of the next free slot.
    pub slot: Signal<Out, Bits<3>>,
    /// The slot `slot` is taken in this cycle.
    pub slot_take: Signal<In, Bit>,

    /// Results in any order.
    pub result: PulseSink<SearchResult>,
    /// Segments found, in request order.
    pub reply: MessageSource<SegmentReply>,

    results: LutRam<SearchResult, 3>,
    has_result: DFF<Bits<8>>,
    next_slot: DFF<Bits<3>>,
    oldest: DFF<Bits<3>>,

    #[value(PendingReplies::new(8))]
    pending: PendingReplies,

    offered: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    arrived: Signal<Local, Bits<8>>,
    left: Signal<Local, Bits<8>>,
    entry: Signal<Local, crate::messages::SegmentEntry>,
    #[value(1)]
    first: Constant<Bits<8>>,
    #[value(1)]
    step: Constant<Bits<3>>,
}

impl Logic for SearchReplies {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_result, next_slot, oldest);
        clock!(self, clock, results, pending);

        self.results.write_address.next = self.result.payload.val().slot;
        self.results.write_data.next = self.result.payload.val();
        self.results.write_enable.next = self.result.valid.val();
        self.results.read_address.next = self.oldest.q.val();

        self.offered.next = self.has_result.q.val().get_bit(self.oldest.q.val().index());
        self.leaves.next = self.offered.val() & self.reply.ready.val();
        self.reply.valid.next = self.offered.val();
        self.entry.next = self.results.read_data.val().entry;
        self.reply.payload.next.found = self.results.read_data.val().found;
        self.reply.payload.next.beyond = self.results.read_data.val().beyond;
        self.reply.payload.next.index = self.results.read_data.val().index;
        self.reply.payload.next.position = self.entry.val().position;
        self.reply.payload.next.bytes = self.entry.val().bytes;
        self.reply.payload.next.region = self.entry.val().region;
        self.reply.payload.next.region_key = self.entry.val().region_key;
        self.reply.payload.next.offset = self.entry.val().offset;

        self.arrived.next = 0.into();
        if self.result.valid.val() {
            self.arrived.next =
                self.first.val() << bit_cast::<8, 3>(self.result.payload.val().slot);
        }
        self.left.next = 0.into();
        if self.leaves.val() {
            self.left.next = self.first.val() << bit_cast::<8, 3>(self.oldest.q.val());
        }
        self.has_result.d.next = (self.has_result.q.val() | self.arrived.val()) ^ self.left.val();

        self.slot_free.next = self.pending.free.val();
        self.slot.next = self.next_slot.q.val();
        if self.slot_take.val() {
            self.next_slot.d.next = self.next_slot.q.val() + self.step.val();
        }
        if self.leaves.val() {
            self.oldest.d.next = self.oldest.q.val() + self.step.val();
        }
        self.pending.reset.next = self.reset.val();
        self.pending.accept.next = self.slot_take.val();
        self.pending.reply.next = self.leaves.val();
        if self.reset.val() {
            self.has_result.d.next = 0.into();
            self.next_slot.d.next = 0.into();
            self.oldest.d.next = 0.into();
        }
    }
}
