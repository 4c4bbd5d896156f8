//! Holds owner and index of a descriptor, from their message until the descriptor is passed on.
//!
//! ```text
//!  descriptor_fetch ──► waits for the first beat, if that is later ──► taken ──► fetch
//! ```
//! Timing: a message serves a first beat of the same cycle; `fetch` follows `take` by one cycle.
//! `descriptor_fetch.ready` is a function of registers and `running`. No input decides an output of
//! the same cycle, except `running`.
//!
//! Invariants:
//! 1. `take` comes no earlier than the message: the source of the beats ensures that.

use stream::prelude::*;

/// The holder. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FetchHolder {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the message that waits.
    pub reset: Signal<In, Bit>,

    /// The send direction runs: messages are taken.
    pub running: Signal<In, Bit>,
    /// Owner and index of the next descriptor.
    pub descriptor_fetch: MessageSink<RingFetch>,
    /// The first beat of the next descriptor is taken.
    pub take: Signal<In, Bit>,
    /// Owner and index of the descriptor whose first beat was taken last.
    pub fetch: Signal<Out, RingFetch>,

    early: DFF<RingFetch>,
    early_valid: DFF<Bit>,
    current: DFF<RingFetch>,
}

impl Logic for FetchHolder {
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
