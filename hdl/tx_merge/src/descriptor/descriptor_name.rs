//! Holds whose descriptor comes, from its message on until the descriptor is passed on.
//!
//! ```text
//!  descriptor_fetch ──► waits for the first beat, if that is later ──► taken ──► fetch
//! ```
//! Timing: a message serves a first beat of the same cycle; `fetch` follows `take` by one cycle.
//! `ready` is a function of registers, and what comes here decides nothing in the same cycle.
//!
//! Invariants:
//! 1. `take` comes no earlier than the message: the source of the beats answers for that.

use stream::prelude::*;

/// The holder. See the module's head.
#[derive(LogicBlock, Default)]
pub struct DescriptorName {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// Messages are taken.
    pub running: Signal<In, Bit>,
    /// Whose descriptor follows.
    pub descriptor_fetch: MessageSink<RingFetch>,
    /// The next descriptor's first beat is taken.
    pub take: Signal<In, Bit>,
    /// Owner and index of the descriptor whose first beat was taken last.
    pub fetch: Signal<Out, RingFetch>,

    early: DFF<RingFetch>,
    early_valid: DFF<Bit>,
    current: DFF<RingFetch>,
}

impl Logic for DescriptorName {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, early, early_valid, current);
        self.descriptor_fetch.ready.next = self.running.val() & !self.early_valid.q.val();
        self.fetch.next = self.current.q.val();
        if !self.early_valid.q.val() {
            self.early.d.next = self.descriptor_fetch.payload.val();
        }
        if self.take.val() {
            self.early_valid.d.next = false;
            self.current.d.next = self.descriptor_fetch.payload.val();
            if self.early_valid.q.val() {
                self.current.d.next = self.early.q.val();
            }
        } else if self.running.val() & self.descriptor_fetch.valid.val() {
            self.early_valid.d.next = true;
        }
        if self.reset.val() {
            self.early_valid.d.next = false;
        }
    }
}
