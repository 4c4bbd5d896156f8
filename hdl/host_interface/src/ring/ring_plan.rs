//! Looks for rings with work and plans their fetches.
//!
//! ```text
//!  Scan ──work──► Locate ──► Limit ──► Offer ──taken──► Advance ──► Scan of the next owner
//!                               └─producer beyond the ring─► Refuse ──┘
//! ```
//! Timing: one owner per cycle while scanning; five cycles for a fetch when `read_job` is taken at
//! once. When a scan of all owners has found no work, the owner of the next doorbell is looked at
//! next. `advance`, `refuse` and `issued` follow the state in the same cycle.
//!
//! Invariants:
//! 1. A fetch has 1 to `entries_max` entries, lies within what the host produced and does not cross
//!    the ring's end.
//! 2. `issued` is high in the cycle in which `read_job` is taken.
//! 3. A ring that was enabled again since it was scanned is neither advanced nor refused.
//!
//! On error: a producer index more than the ring's size ahead is refused: `refuse` stops the ring.
//!
//! Source: `docs/specification.md`, Rings and Stopped rings.

use crate::ring::ring_arbiter::RingArbiter;
use crate::ring::ring_span::RingSpan;
use crate::ring::ring_state::{RingKind, RingView};
use stream::prelude::*;

/// A fetch that `dma.read` has accepted.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FetchInFlight {
    /// Owner of the ring.
    pub owner: Bits<8>,
    /// Index of the first entry.
    pub index: Bits<32>,
    /// Generation of the ring when the fetch was planned.
    pub generation: Bits<24>,
}

/// What the planner does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum RingPhase {
    /// Waits for a ring with work.
    Scan,
    /// Finds the place in the ring.
    Locate,
    /// Finds the number of entries.
    Limit,
    /// Waits until the read is taken.
    Offer,
    /// Waits until the consumer index can move.
    Advance,
    /// Waits until the ring can be stopped.
    Refuse,
}

/// The planner. See the module's head.
///
/// Plans for one kind of ring.
#[derive(LogicBlock, BlockDefault)]
#[new(kind: RingKind)]
pub struct RingPlan<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the plan.
    pub reset: Signal<In, Bit>,

    /// There is free space for the entries of one more fetch.
    pub has_space: Signal<In, Bit>,
    /// Owner of the ring that is looked at.
    pub owner: Signal<Out, Bits<OWNER_BITS>>,
    /// State of the ring of `owner`, in the same cycle.
    pub view: Signal<In, RingView>,

    /// Owner whose ring is enabled again in this cycle; `view` shows it from the next cycle on.
    pub reenabled: PulseSink<Bits<OWNER_BITS>>,
    /// Owner whose doorbell is written; its producer index counts from the next cycle on.
    pub rung: PulseSink<Bits<OWNER_BITS>>,

    /// `advance` is accepted in this cycle.
    pub advance_ready: Signal<In, Bit>,
    /// Move the consumer index of `owner`.
    pub advance: Signal<Out, Bit>,
    /// New consumer index.
    pub advance_to: Signal<Out, Bits<32>>,
    /// Stop the ring of `owner`.
    pub refuse: Signal<Out, Bit>,
    /// `refuse` is accepted in this cycle.
    pub refuse_ready: Signal<In, Bit>,

    /// Reads of ring entries.
    pub read_job: MessageSource<ReadJob>,
    /// Fetch that `read_job` reads, one pulse for each read taken.
    pub issued: PulseSource<FetchInFlight>,

    #[value(RingSpan::new(kind))]
    span: RingSpan,
    phase: DFF<RingPhase>,
    seen: DFF<RingView>,
    index_next: DFF<Bits<32>>,
    job: DFF<ReadJob>,
    same: DFF<Bit>,
    arbiter: RingArbiter<OWNER_BITS>,

    has_work: Signal<Local, Bit>,
}

impl<const OWNER_BITS: usize> Logic for RingPlan<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, seen, index_next, job, same);
        clock!(self, clock, span, arbiter);
        self.span.index.next = self.seen.q.val().consumer;
        self.span.producer.next = self.seen.q.val().producer;
        self.span.base.next = self.seen.q.val().base;
        self.span.size_bits.next = self.seen.q.val().size_bits;
        self.owner.next = self.arbiter.owner.val();
        // Whether the ring of the next cycle is still the one that was scanned.
        self.same.d.next = (self.view.val().generation == self.seen.q.val().generation)
            & !(self.reenabled.valid.val()
                & (self.reenabled.payload.val() == self.arbiter.owner.val()));

        self.read_job.valid.next = self.phase.q.val() == RingPhase::Offer;
        self.read_job.payload.next = self.job.q.val();
        self.issued.valid.next =
            (self.phase.q.val() == RingPhase::Offer) & self.read_job.ready.val();
        self.issued.payload.next.owner = bit_cast::<8, OWNER_BITS>(self.arbiter.owner.val());
        self.issued.payload.next.index = self.seen.q.val().consumer;
        self.issued.payload.next.generation = self.seen.q.val().generation;
        self.advance.next = (self.phase.q.val() == RingPhase::Advance) & self.same.q.val();
        self.advance_to.next = self.index_next.q.val();
        self.refuse.next = (self.phase.q.val() == RingPhase::Refuse) & self.same.q.val();

        self.has_work.next =
            self.view.val().runs & (self.view.val().producer != self.view.val().consumer);
        self.arbiter.reset.next = self.reset.val();
        PulseSink::<Bits<OWNER_BITS>>::link(&mut self.rung, &mut self.arbiter.rung);
        self.arbiter.found.next = (self.phase.q.val() == RingPhase::Scan) & self.has_work.val();
        self.arbiter.idle.next = (self.phase.q.val() == RingPhase::Scan) & !self.has_work.val();
        self.arbiter.done.next = false;
        match self.phase.q.val() {
            RingPhase::Scan => {
                self.seen.d.next = self.view.val();
                if self.has_work.val() & self.has_space.val() {
                    self.phase.d.next = RingPhase::Locate;
                }
            }
            RingPhase::Locate => self.phase.d.next = RingPhase::Limit,
            RingPhase::Limit => {
                self.index_next.d.next = self.span.index_next.val();
                self.job.d.next = self.span.job.val();
                self.phase.d.next = RingPhase::Offer;
                if self.span.overrun.val() {
                    self.phase.d.next = RingPhase::Refuse;
                }
            }
            RingPhase::Offer => {
                if self.read_job.ready.val() {
                    self.phase.d.next = RingPhase::Advance;
                }
            }
            RingPhase::Advance => {
                if self.advance_ready.val() {
                    self.arbiter.done.next = true;
                    self.phase.d.next = RingPhase::Scan;
                }
            }
            RingPhase::Refuse => {
                if self.refuse_ready.val() {
                    self.arbiter.done.next = true;
                    self.phase.d.next = RingPhase::Scan;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = RingPhase::Scan;
        }
    }
}
