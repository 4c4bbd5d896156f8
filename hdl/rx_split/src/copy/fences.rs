//! Confirmations that wait until the bytes of every write before them were taken, while later
//! writes go on; and confirmations that were held, on their way out.
//!
//! ```text
//!  passes ─► queue (8), each with the writes fed before it ─► all landed? ─┬─► confirmation
//!  fed, landed ─► counts ─────────────────────────────────────────┘        │
//!  released ───────────────────────────────────────────────────────────────┘
//! ```
//! Timing: latency two cycles from a confirmation to its offer when nothing is to be waited for; a
//! released one passes in the same cycle.
//!
//! Invariants:
//! 1. `has_space` falls while two more still fit: those that the announcer has let pass already. So
//!    the jobs after a confirmation never wait for its consumer, which itself may wait for those
//!    bytes.
//! 2. An owner's order is kept. While something of an owner is held, all its later items are held;
//!    so what waits here is older than what is released, and leaves first.
//! 3. `reset` forgets all of them.
//! 4. It relies on a confirmation that waits for fewer than 2^6 writes, and leaves before 2^6 more
//!    have landed.
//!
//! Source: docs/specification.md, Fence.

use crate::messages::CopyJob;
use stream::prelude::*;

/// A confirmation and its place among the writes.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Fence {
    /// The confirmation that waits.
    pub confirmation: Confirmation,
    /// Writes fed before the confirmation, modulo 2^8.
    pub fed_before: Bits<8>,
}

/// The queue. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Fences {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: all confirmations inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Job at hand.
    pub job: Signal<In, CopyJob>,
    /// The job at hand is a confirmation, and enters in its place among the writes.
    pub passes: Signal<In, Bit>,
    /// One confirmation more may be let into the order of the jobs.
    pub has_space: Signal<Out, Bit>,
    /// A write was given to the reader of the packet buffer; for two writes in one packet the
    /// second one.
    pub fed: Signal<In, Bit>,
    /// The last beat of a packet was taken.
    pub landed: Signal<In, Bit>,
    /// Confirmations that were held until flush reads returned.
    pub released: MessageSink<Confirmation>,
    /// Confirmations whose writes were taken, or that were released.
    pub confirmation: MessageSource<Confirmation>,

    waiting: Fifo<Fence, 3, 4>,
    fed_count: DFF<Bits<8>>,
    landed_count: DFF<Bits<8>>,
    insists: DFF<Bit>,

    at_hand: Signal<Local, CopyJob>,
    comes: Signal<Local, Confirmation>,
    oldest: Signal<Local, Fence>,
    ahead: Signal<Local, Bits<8>>,
    direct: Signal<Local, Bit>,
    held: Signal<Local, Bit>,
    /// Two of the places left are for those that were let pass.
    #[value(5)]
    level_max: Constant<Bits<4>>,
}

impl Logic for Fences {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fed_count, landed_count, insists);
        clock!(self, clock, waiting);
        self.waiting.reset.next = self.reset.val();
        self.has_space.next = self.waiting.level.val() <= self.level_max.val();
        self.at_hand.next = self.job.val();
        self.comes.next.owner = self.at_hand.val().owner;
        self.comes.next.index = self.at_hand.val().index;
        self.comes.next.status = self.at_hand.val().status;
        self.waiting.sink.valid.next = self.passes.val();
        self.waiting.sink.payload.next.confirmation = self.comes.val();
        self.waiting.sink.payload.next.fed_before = self.fed_count.q.val();
        if self.fed.val() {
            self.fed_count.d.next = self.fed_count.q.val() + 1;
        }
        if self.landed.val() {
            self.landed_count.d.next = self.landed_count.q.val() + 1;
        }

        // Fewer than 2^7 writes are fed and not landed.
        self.oldest.next = self.waiting.source.payload.val();
        self.ahead.next = self.landed_count.q.val() - self.oldest.val().fed_before;
        self.direct.next = self.waiting.source.valid.val() & !self.ahead.val().get_bit(7);

        // What was offered stays.
        self.held.next = self.released.valid.val() & (self.insists.q.val() | !self.direct.val());
        self.confirmation.valid.next = self.held.val() | self.direct.val();
        self.confirmation.payload.next = self.oldest.val().confirmation;
        if self.held.val() {
            self.confirmation.payload.next = self.released.payload.val();
        }
        self.released.ready.next = self.held.val() & self.confirmation.ready.val();
        self.waiting.source.ready.next =
            self.direct.val() & !self.held.val() & self.confirmation.ready.val();
        self.insists.d.next = self.held.val() & !self.confirmation.ready.val();
        if self.reset.val() {
            self.fed_count.d.next = 0.into();
            self.landed_count.d.next = 0.into();
            self.insists.d.next = false;
        }
    }
}
