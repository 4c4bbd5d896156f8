//! Confirmations that wait until the bytes of every write before them were taken, while later
//! writes go on; and those that were held, on their way out.
//!
//! ```text
//!  passes ─► queue (8), each with the writes fed before it ─► all landed? ─┬─► confirmation
//!  fed, landed ─► counts ─────────────────────────────────────────┘        │
//!  released ───────────────────────────────────────────────────────────────┘
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | job, passes | in | a confirmation, in its place among the writes |
//! | room | out | one more may be let into that order |
//! | fed | in | a write, of two in one packet the second, went to the packet store's reader |
//! | landed | in | the last beat of a packet was taken |
//! | released | in | confirmations that were held until flush reads were answered |
//! | confirmation | out | all of them |
//!
//! Timing: two cycles from a confirmation to its offer, when nothing is to be waited for; a
//! released one passes in the same cycle.
//!
//! Invariants:
//! 1. `room` falls while two more still fit: those that the announcer has let pass already. So what
//!    is behind a confirmation never waits for its taker, which itself may wait for those bytes.
//! 2. An owner's order is kept: of an owner of whom something is held all are held, so what waits
//!    here is older than what is released, and goes first.
//! 3. `reset` forgets all of them.

use crate::messages::CopyJob;
use stream::prelude::*;

/// A confirmation and its place.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Fence {
    /// The confirmation.
    pub confirmation: Confirmation,
    /// Writes fed before it, modulo 2^8.
    pub behind: Bits<8>,
}

/// The queue. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Fences {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// The job at hand.
    pub job: Signal<In, CopyJob>,
    /// It is a confirmation, and comes in.
    pub passes: Signal<In, Bit>,
    /// One more may come.
    pub room: Signal<Out, Bit>,
    /// A write was fed.
    pub fed: Signal<In, Bit>,
    /// A write's last beat was taken.
    pub landed: Signal<In, Bit>,
    /// Confirmations that were held.
    pub released: MessageSink<Confirmation>,
    /// Confirmations behind their writes.
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
    /// Of the places left two are for those that were let pass.
    #[value(5)]
    level_max: Constant<Bits<4>>,
    #[value(0)]
    none: Constant<Bits<8>>,
}

impl Logic for Fences {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fed_count, landed_count, insists);
        clock!(self, clock, waiting);
        self.waiting.reset.next = self.reset.val();
        self.room.next = self.waiting.level.val() <= self.level_max.val();
        self.at_hand.next = self.job.val();
        self.comes.next.owner = self.at_hand.val().owner;
        self.comes.next.index = self.at_hand.val().index;
        self.comes.next.status = self.at_hand.val().status;
        self.waiting.sink.valid.next = self.passes.val();
        self.waiting.sink.payload.next.confirmation = self.comes.val();
        self.waiting.sink.payload.next.behind = self.fed_count.q.val();
        if self.fed.val() {
            self.fed_count.d.next = self.fed_count.q.val() + 1;
        }
        if self.landed.val() {
            self.landed_count.d.next = self.landed_count.q.val() + 1;
        }

        // Fewer than 2^7 writes are fed and not landed.
        self.oldest.next = self.waiting.source.payload.val();
        self.ahead.next = self.landed_count.q.val() - self.oldest.val().behind;
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
            self.fed_count.d.next = self.none.val();
            self.landed_count.d.next = self.none.val();
            self.insists.d.next = false;
        }
    }
}
