//! Fetches the entries of every owner's ring of one kind: command rings or send rings.
//!
//! ```text
//!  settings ──► [state] ◄── scan, one owner a cycle
//!                  │ work found
//!                  ▼
//!        scan ► locate ► offer ──► read_job          ┌──► fetched
//!                           │                         │
//!                           └──► in flight ──► [fetch_buffer] ──► entries
//!                                read_data ───────────┘
//! ```
//! | port | what it carries |
//! |---|---|
//! | `read_job`, `read_data` | one client of `dma.read` |
//! | `read_of` | owner and first index of the entries that `read_job` reads |
//! | `fetched` | owner and first index of each packet of `entries`, no later than its first beat |
//! | `entries` | the entries of one fetch, 64 bytes a beat; never aborted |
//! | `ring_failed` | owner of a ring that stopped |
//!
//! Timing: the doorbell of an owner is found at once while no ring has work, else within a turn of
//! all owners; its read leaves 4 cycles later. Up to 16 fetches of up to 2 KiB are in flight.
//! Answers are always taken: their room is reserved before the read is asked for.
//!
//! Invariants:
//! 1. Entries of one ring leave in index order, each once. A fetch never crosses the ring's end.
//! 2. Owners with work are served in turn, one fetch each.
//! 3. Nothing of an aborted fetch is handed on. It stops its ring, with whatever of that ring is in
//!    flight, until the context's enable word is written; other rings go on. So does a producer
//!    index more than a ring's size ahead.
//! 4. What returns after its ring's enable word was written again is dropped. What was already
//!    handed to `entries` still leaves.
//!
//! Source: `docs/specification.md`, Rings.

pub mod fetch_buffer;
pub mod pushed_answer;
pub mod pushed_hold;
pub mod pushed_slot;
pub mod ring_indices;
pub mod ring_plan;
pub mod ring_return;
pub mod ring_span;
pub mod ring_state;
pub mod ring_turn;
pub mod send_status;
pub mod slot_carry;
pub mod slot_control;
pub mod slot_failure;
pub mod slot_track;
pub mod slots;

use crate::ring::ring_plan::{FetchInFlight, RingPlan};
use crate::ring::ring_return::RingReturn;
use crate::ring::ring_state::{RingKind, RingState};
use stream::prelude::*;

/// The fetcher. See the module's head.
///
/// The fetcher of one kind of ring.
#[derive(LogicBlock, BlockDefault)]
#[new(kind: RingKind)]
#[require(kind.entries_max << kind.entry_bits <= 2048, "a fetch takes up to 32 beats")]
pub struct Ring<const O: usize, const OWNERS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets every ring and fetch.
    pub reset: Signal<In, Bit>,
    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,

    /// Reads.
    pub read_job: MessageSource<ReadJob>,
    /// Which entries `read_job` reads.
    pub read_of: Signal<Out, FetchInFlight>,
    /// Their answers.
    pub read_data: PacketSink,

    /// Whose entries follow.
    pub fetched: MessageSource<RingFetch>,
    /// The entries.
    pub entries: PacketSource,
    /// A ring stopped.
    pub ring_failed: PulseSource<Bits<8>>,
    /// Rings that have stopped; bit n is owner n.
    pub stopped: Signal<Out, Bits<OWNERS>>,

    #[value(RingState::new(kind))]
    state: RingState<O, OWNERS>,
    #[value(RingPlan::new(kind))]
    plan: RingPlan<O>,
    answers: RingReturn<O>,

    aborted: Signal<Local, Bit>,
    failed_owner: Signal<Local, Bits<O>>,
}

impl<const O: usize, const OWNERS: usize> Logic for Ring<O, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, state, plan, answers);
        self.state.reset.next = self.reset.val();
        self.plan.reset.next = self.reset.val();
        self.answers.reset.next = self.reset.val();
        self.state.settings.valid.next = self.settings.valid.val();
        self.state.settings.payload.next = self.settings.payload.val();

        // The plan looks at one ring after the other.
        self.state.scan.next = self.plan.owner.val();
        self.plan.view.next = self.state.view.val();
        PulseSource::<Bits<O>>::join(&mut self.state.rung, &mut self.plan.rung);
        self.plan.anew.valid.next = self.state.anew.valid.val();
        self.plan.anew.payload.next = self.state.anew.payload.val();
        self.answers.anew.valid.next = self.state.anew.valid.val();
        self.answers.anew.payload.next = self.state.anew.payload.val();
        self.plan.advance_ready.next = self.state.ready.val();
        self.state.advance.next = self.plan.advance.val();
        self.state.advance_to.next = self.plan.advance_to.val();

        // Out.
        self.plan.room.next = self.answers.room.val();
        self.read_job.valid.next = self.plan.read_job.valid.val();
        self.read_job.payload.next = self.plan.read_job.payload.val();
        self.plan.read_job.ready.next = self.read_job.ready.val();
        self.read_of.next = self.plan.issued.payload.val();
        self.answers.issued.valid.next = self.plan.issued.valid.val();
        self.answers.issued.payload.next = self.plan.issued.payload.val();

        // Back.
        self.answers.read_data.valid.next = self.read_data.valid.val();
        self.answers.read_data.data.next = self.read_data.data.val();
        self.answers.read_data.byte_count.next = self.read_data.byte_count.val();
        self.answers.read_data.last.next = self.read_data.last.val();
        self.answers.read_data.abort.next = self.read_data.abort.val();
        self.read_data.ready.next = self.answers.read_data.ready.val();
        self.state.check.next = self.answers.check.val();
        self.state.check_generation.next = self.answers.check_generation.val();
        self.answers.check_runs.next = self.state.check_runs.val();
        self.answers.check_same.next = self.state.check_same.val();
        self.fetched.valid.next = self.answers.fetched.valid.val();
        self.fetched.payload.next = self.answers.fetched.payload.val();
        self.answers.fetched.ready.next = self.fetched.ready.val();
        self.entries.valid.next = self.answers.entries.valid.val();
        self.entries.data.next = self.answers.entries.data.val();
        self.entries.byte_count.next = self.answers.entries.byte_count.val();
        self.entries.last.next = self.answers.entries.last.val();
        self.entries.abort.next = self.answers.entries.abort.val();
        self.answers.entries.ready.next = self.entries.ready.val();

        // An aborted fetch stops its ring, and so does a refused plan in a cycle without one.
        self.aborted.next = self.answers.failed.val();
        self.failed_owner.next = self.plan.owner.val();
        if self.aborted.val() {
            self.failed_owner.next = self.answers.check.val();
        }
        self.plan.refuse_ready.next = !self.aborted.val();
        self.state.fail.next = self.aborted.val() | self.plan.refuse.val();
        self.state.fail_owner.next = self.failed_owner.val();
        self.stopped.next = self.state.stopped.val();
        self.ring_failed.valid.next = self.aborted.val() | self.plan.refuse.val();
        self.ring_failed.payload.next = bit_cast::<8, O>(self.failed_owner.val());
    }
}
