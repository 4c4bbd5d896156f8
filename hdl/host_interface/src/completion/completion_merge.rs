//! Holds confirmations back while the writer is busy, and joins those that one entry can tell.
//!
//! ```text
//!  confirmation ──► [16 deep] ──► held ──► merged
//!                        └─ same owner, held one ok: takes its place
//! ```
//! Timing: two cycles from `confirmation` to `merged`.
//!
//! Invariants:
//! 1. Order is kept. A confirmation is replaced only by its successor, of the same owner, and only
//!    if its status is ok.

use stream::prelude::*;

/// The store. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompletionMerge {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Commands whose fence has passed.
    pub confirmation: MessageSink<Confirmation>,
    /// There is a confirmation to write an entry for.
    pub has_merged: Signal<Out, Bit>,
    /// It; as long as it is not taken, a later one may take its place.
    pub merged: Signal<Out, Confirmation>,
    /// Nothing waited a cycle ago that could not take its place.
    pub may_grow: Signal<Out, Bit>,
    /// It is taken.
    pub take_merged: Signal<In, Bit>,

    waiting: Fifo<Confirmation, 4, 5>,
    held: DFF<Confirmation>,
    is_held: DFF<Bit>,
    grows: DFF<Bit>,

    successor: Signal<Local, Confirmation>,
    replaces: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    #[value(abi::reason::CommandStatus::Ok as u64)]
    ok: Constant<Bits<8>>,
}

impl Logic for CompletionMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, is_held, grows);
        clock!(self, clock, waiting);
        self.waiting.reset.next = self.reset.val();
        self.waiting.sink.valid.next = self.confirmation.valid.val();
        self.waiting.sink.payload.next = self.confirmation.payload.val();
        self.confirmation.ready.next = self.waiting.sink.ready.val();

        self.successor.next = self.waiting.source.payload.val();
        self.replaces.next = (self.held.q.val().status == self.ok.val())
            & (self.held.q.val().owner == self.successor.val().owner);
        self.take.next = !self.is_held.q.val() | self.replaces.val() | self.take_merged.val();
        self.waiting.source.ready.next = self.take.val();
        self.has_merged.next = self.is_held.q.val();
        self.merged.next = self.held.q.val();
        self.may_grow.next = self.grows.q.val();
        self.grows.d.next = (self.held.q.val().status == self.ok.val())
            & (!self.waiting.source.valid.val() | self.replaces.val());
        if self.is_held.q.val() & self.take_merged.val() {
            self.is_held.d.next = false;
        }
        if self.waiting.source.valid.val() & self.take.val() {
            self.held.d.next = self.successor.val();
            self.is_held.d.next = true;
        }
        if self.reset.val() {
            self.is_held.d.next = false;
        }
    }
}
