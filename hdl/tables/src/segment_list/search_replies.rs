//! Puts the answers of searches back into request order.
//!
//! ```text
//!  slot ◄── next        result ──► 8 slots ──► oldest, when answered ──► reply
//! ```
//! Timing: an answer is offered one cycle after its `result` when it is the oldest. `reply.payload`
//! is read from distributed RAM in the same cycle; `reply.valid` and `slot_free` are functions of
//! registers.
//!
//! Invariants:
//! 1. Replies leave in the order in which slots were taken, one for each.
//! 2. A slot is free again after its reply has left.

use crate::messages::SearchResult;
use crate::unanswered::Unanswered;
use stream::prelude::*;

/// The slots. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SearchReplies {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// A slot is free.
    pub slot_free: Signal<Out, Bit>,
    /// It is this one.
    pub slot: Signal<Out, Bits<3>>,
    /// It is taken in this cycle.
    pub slot_take: Signal<In, Bit>,

    /// Answers in any order.
    pub result: PulseSink<SearchResult>,
    /// Answers in order.
    pub reply: MessageSource<SegmentReply>,

    answers: LutRam<SearchResult, 3>,
    answered: DFF<Bits<8>>,
    next_slot: DFF<Bits<3>>,
    oldest: DFF<Bits<3>>,

    #[value(Unanswered::new(8))]
    taken: Unanswered,

    offered: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    arrived: Signal<Local, Bits<8>>,
    left: Signal<Local, Bits<8>>,
    entry: Signal<Local, crate::messages::SegmentEntry>,
    #[value(1)]
    first: Constant<Bits<8>>,
    #[value(0)]
    none: Constant<Bits<8>>,
    #[value(1)]
    step: Constant<Bits<3>>,
}

impl Logic for SearchReplies {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, answered, next_slot, oldest);
        clock!(self, clock, answers, taken);

        self.answers.write_address.next = self.result.payload.val().slot;
        self.answers.write_data.next = self.result.payload.val();
        self.answers.write_enable.next = self.result.valid.val();
        self.answers.read_address.next = self.oldest.q.val();

        self.offered.next = self.answered.q.val().get_bit(self.oldest.q.val().index());
        self.leaves.next = self.offered.val() & self.reply.ready.val();
        self.reply.valid.next = self.offered.val();
        self.entry.next = self.answers.read_data.val().entry;
        self.reply.payload.next.found = self.answers.read_data.val().found;
        self.reply.payload.next.beyond = self.answers.read_data.val().beyond;
        self.reply.payload.next.index = self.answers.read_data.val().index;
        self.reply.payload.next.position = self.entry.val().position;
        self.reply.payload.next.bytes = self.entry.val().bytes;
        self.reply.payload.next.region = self.entry.val().region;
        self.reply.payload.next.region_key = self.entry.val().region_key;
        self.reply.payload.next.offset = self.entry.val().offset;

        self.arrived.next = self.none.val();
        if self.result.valid.val() {
            self.arrived.next =
                self.first.val() << bit_cast::<8, 3>(self.result.payload.val().slot);
        }
        self.left.next = self.none.val();
        if self.leaves.val() {
            self.left.next = self.first.val() << bit_cast::<8, 3>(self.oldest.q.val());
        }
        self.answered.d.next = (self.answered.q.val() | self.arrived.val()) ^ self.left.val();

        self.slot_free.next = self.taken.free.val();
        self.slot.next = self.next_slot.q.val();
        if self.slot_take.val() {
            self.next_slot.d.next = self.next_slot.q.val() + self.step.val();
        }
        if self.leaves.val() {
            self.oldest.d.next = self.oldest.q.val() + self.step.val();
        }
        self.taken.reset.next = self.reset.val();
        self.taken.accept.next = self.slot_take.val();
        self.taken.answer.next = self.leaves.val();
        if self.reset.val() {
            self.answered.d.next = self.none.val();
            self.next_slot.d.next = 0.into();
            self.oldest.d.next = 0.into();
        }
    }
}
