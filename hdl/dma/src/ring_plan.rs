//! Looks for rings with work and plans their fetches.
//!
//! ```text
//!  Scan ──work──► Locate ──► Limit ──► Offer ──taken──► Advance ──► Scan of the next owner
//!                               └─producer beyond the ring─► Refuse ──┘
//! ```
//! Timing: one owner a cycle while scanning; five cycles a fetch when `read_job` is taken at once.
//!
//! Invariants:
//! 1. A fetch has 1 to `entries_max` entries, lies in what the host produced and does not cross the ring's
//!    end.
//! 2. `issued` is high in the cycle in which `read_job` is taken.
//! 3. A ring that was enabled anew since it was scanned is neither advanced nor refused.

use crate::ring_state::RingKind;
use stream::prelude::*;

/// A fetch that `dma.read` has accepted.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FetchInFlight {
    /// Owner of the ring.
    pub owner: Bits<8>,
    /// Index of the first entry.
    pub index: Bits<32>,
    /// Generation of the ring.
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
#[derive(LogicBlock)]
pub struct RingPlan<const O: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the plan.
    pub reset: Signal<In, Bit>,

    /// There is room for one more fetch.
    pub room: Signal<In, Bit>,
    /// Ring looked at.
    pub owner: Signal<Out, Bits<O>>,
    /// It runs.
    pub runs: Signal<In, Bit>,
    /// Its bus address.
    pub base: Signal<In, Bits<64>>,
    /// Its log2 entries.
    pub size_bits: Signal<In, Bits<4>>,
    /// Its producer index.
    pub producer: Signal<In, Bits<32>>,
    /// Its consumer index.
    pub consumer: Signal<In, Bits<32>>,
    /// Its generation.
    pub generation: Signal<In, Bits<24>>,

    /// `advance` is heard.
    pub advance_ready: Signal<In, Bit>,
    /// Move the consumer index of `owner`.
    pub advance: Signal<Out, Bit>,
    /// New consumer index.
    pub advance_to: Signal<Out, Bits<32>>,
    /// Stop the ring of `owner`.
    pub refuse: Signal<Out, Bit>,
    /// `refuse` is heard.
    pub refuse_ready: Signal<In, Bit>,

    /// Reads.
    pub read_job: MessageSource<ReadJob>,
    /// What was read for, one for each read.
    pub issued: PulseSource<FetchInFlight>,

    phase: DFF<RingPhase>,
    current: DFF<Bits<O>>,
    index: DFF<Bits<32>>,
    pending: DFF<Bits<32>>,
    ring_base: DFF<Bits<64>>,
    ring_size: DFF<Bits<4>>,
    ring_generation: DFF<Bits<24>>,
    at: DFF<Bits<32>>,
    to_end: DFF<Bits<32>>,
    overrun: DFF<Bit>,
    index_next: DFF<Bits<32>>,
    job: DFF<ReadJob>,

    work: Signal<Local, Bits<32>>,
    entries: Signal<Local, Bits<32>>,
    mask: Signal<Local, Bits<32>>,
    place: Signal<Local, Bits<32>>,
    available: Signal<Local, Bits<32>>,
    count: Signal<Local, Bits<32>>,
    offset: Signal<Local, Bits<64>>,
    bytes: Signal<Local, Bits<32>>,
    same: Signal<Local, Bit>,

    entry_bits: Constant<Bits<3>>,
    entries_max: Constant<Bits<32>>,
    owner_one: Constant<Bits<O>>,
    one: Constant<Bits<32>>,
    zero: Constant<Bits<32>>,
}

impl<const O: usize> RingPlan<O> {
    /// Plans for one kind of ring.
    pub fn new(kind: RingKind) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            room: Default::default(),
            owner: Default::default(),
            runs: Default::default(),
            base: Default::default(),
            size_bits: Default::default(),
            producer: Default::default(),
            consumer: Default::default(),
            generation: Default::default(),
            advance_ready: Default::default(),
            advance: Default::default(),
            advance_to: Default::default(),
            refuse: Default::default(),
            refuse_ready: Default::default(),
            read_job: Default::default(),
            issued: Default::default(),
            phase: Default::default(),
            current: Default::default(),
            index: Default::default(),
            pending: Default::default(),
            ring_base: Default::default(),
            ring_size: Default::default(),
            ring_generation: Default::default(),
            at: Default::default(),
            to_end: Default::default(),
            overrun: Default::default(),
            index_next: Default::default(),
            job: Default::default(),
            work: Default::default(),
            entries: Default::default(),
            mask: Default::default(),
            place: Default::default(),
            available: Default::default(),
            count: Default::default(),
            offset: Default::default(),
            bytes: Default::default(),
            same: Default::default(),
            entry_bits: Constant::new(kind.entry_bits.to_bits()),
            entries_max: Constant::new(kind.entries_max.to_bits()),
            owner_one: Constant::new(1u32.to_bits()),
            one: Constant::new(1u32.to_bits()),
            zero: Constant::new(0u32.to_bits()),
        }
    }
}

impl<const O: usize> Logic for RingPlan<O> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            phase,
            current,
            index,
            pending,
            ring_base,
            ring_size,
            ring_generation,
            at,
            to_end,
            overrun,
            index_next,
            job
        );
        self.owner.next = self.current.q.val();
        self.work.next = self.producer.val() - self.consumer.val();
        self.same.next = self.generation.val() == self.ring_generation.q.val();
        self.entries.next = self.one.val() << self.ring_size.q.val();
        self.mask.next = self.entries.val() - self.one.val();
        self.place.next = self.index.q.val() & self.mask.val();
        self.available.next = self.to_end.q.val();
        if self.pending.q.val() < self.to_end.q.val() {
            self.available.next = self.pending.q.val();
        }
        self.count.next = self.available.val();
        if self.available.val() > self.entries_max.val() {
            self.count.next = self.entries_max.val();
        }
        self.offset.next = bit_cast::<64, 32>(self.at.q.val()) << self.entry_bits.val();
        self.bytes.next = self.count.val() << self.entry_bits.val();

        self.read_job.valid.next = self.phase.q.val() == RingPhase::Offer;
        self.read_job.payload.next = self.job.q.val();
        self.issued.valid.next =
            (self.phase.q.val() == RingPhase::Offer) & self.read_job.ready.val();
        self.issued.payload.next.owner = bit_cast::<8, O>(self.current.q.val());
        self.issued.payload.next.index = self.index.q.val();
        self.issued.payload.next.generation = self.ring_generation.q.val();
        self.advance.next = (self.phase.q.val() == RingPhase::Advance) & self.same.val();
        self.advance_to.next = self.index_next.q.val();
        self.refuse.next = (self.phase.q.val() == RingPhase::Refuse) & self.same.val();

        match self.phase.q.val() {
            RingPhase::Scan => {
                self.index.d.next = self.consumer.val();
                self.pending.d.next = self.work.val();
                self.ring_base.d.next = self.base.val();
                self.ring_size.d.next = self.size_bits.val();
                self.ring_generation.d.next = self.generation.val();
                if self.runs.val() & (self.work.val() != self.zero.val()) {
                    if self.room.val() {
                        self.phase.d.next = RingPhase::Locate;
                    }
                } else {
                    self.current.d.next = self.current.q.val() + self.owner_one.val();
                }
            }
            RingPhase::Locate => {
                self.at.d.next = self.place.val();
                self.to_end.d.next = self.entries.val() - self.place.val();
                self.overrun.d.next = self.pending.q.val() > self.entries.val();
                self.phase.d.next = RingPhase::Limit;
            }
            RingPhase::Limit => {
                self.index_next.d.next = self.index.q.val() + self.count.val();
                self.job.d.next.address = self.ring_base.q.val() + self.offset.val();
                self.job.d.next.bytes = self.bytes.val().get_bits::<16>(0);
                self.phase.d.next = RingPhase::Offer;
                if self.overrun.q.val() {
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
                    self.current.d.next = self.current.q.val() + self.owner_one.val();
                    self.phase.d.next = RingPhase::Scan;
                }
            }
            RingPhase::Refuse => {
                if self.refuse_ready.val() {
                    self.current.d.next = self.current.q.val() + self.owner_one.val();
                    self.phase.d.next = RingPhase::Scan;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = RingPhase::Scan;
        }
    }
}
