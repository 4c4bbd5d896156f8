//! Joins the events of the wire and those of failed sends into one stream.
//!
//! ```text
//!  link_event ──┐
//!  failed ──────┴─► send_event      (the wire first)
//! ```
//! Timing: combinational.
//!
//! Invariants:
//! 1. An event offered stays offered until it is taken, although one of the wire may come
//!    meanwhile: the choice is kept while it waits. One of the wire tells the state of the moment
//!    in which it is taken.
//!
//! Source: docs/specification.md, Wire; Failed sends.

use stream::prelude::*;

/// The merge. See the module's head.
#[derive(LogicBlock, Default)]
pub struct EventMerge {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets which event waits.
    pub reset: Signal<In, Bit>,
    /// Events of the wire, for owner 0.
    pub link_event: MessageSink<SendEvent>,
    /// Events of failed sends.
    pub failed: MessageSink<SendEvent>,
    /// All events.
    pub send_event: MessageSource<SendEvent>,

    failed_waits: DFF<Bit>,

    picks_link: Signal<Local, Bit>,
}

impl Logic for EventMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, failed_waits);
        self.picks_link.next = self.link_event.valid.val() & !self.failed_waits.q.val();
        self.send_event.valid.next = self.link_event.valid.val() | self.failed.valid.val();
        self.send_event.payload.next = self.failed.payload.val();
        if self.picks_link.val() {
            self.send_event.payload.next = self.link_event.payload.val();
        }
        self.link_event.ready.next = self.picks_link.val() & self.send_event.ready.val();
        self.failed.ready.next = !self.picks_link.val() & self.send_event.ready.val();
        self.failed_waits.d.next = self.failed.valid.val()
            & !self.picks_link.val()
            & !self.send_event.ready.val()
            & !self.reset.val();
    }
}
