//! Holds confirmations back while the writer is busy, and merges those that one entry can confirm.
//!
//! ```text
//!  confirmation ──► [16 deep] ──► held ──► merged
//!                        └─ same owner, held one ok: replaces it
//! ```
//! Timing: two cycles from `confirmation` to `merged`.
//!
//! Invariants:
//! 1. Order is kept. A confirmation is replaced only by its successor, of the same owner, and only
//!    if its own status is ok.
//!
//! Source: `docs/specification.md`, Rings.

use stream::prelude::*;

/// The merge. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct CompletionMerge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets every confirmation.
    pub reset: Signal<In, Bit>,

    /// Confirmations whose fence has passed.
    pub confirmation: MessageSink<Confirmation>,
    /// There is a confirmation to write an entry for.
    pub has_merged: Signal<Out, Bit>,
    /// Confirmation to write an entry for. Until it is taken, a later one may replace it.
    pub merged: Signal<Out, Confirmation>,
    /// No confirmation waited in the cycle before that could not replace `merged`.
    pub may_grow: Signal<Out, Bit>,
    /// `merged` is taken.
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
        MessageSink::<Confirmation>::link(&mut self.confirmation, &mut self.waiting.sink);

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
