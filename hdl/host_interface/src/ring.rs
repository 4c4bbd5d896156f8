//! Fetches the entries of every owner's ring of one kind: command rings or send rings.
//!
//! ```text
//!  settings ──► [state] ◄── scan, one owner per cycle
//!                  │ work found
//!                  ▼
//!        scan ► locate ► offer ──► read_job          ┌──► fetched
//!                           │                        │
//!                           └──► in flight ──► [fetch_buffer] ──► entries
//!                                read_data ──────────┘
//! ```
//! Timing: while no ring has work, the doorbell of an owner is found at once, else within one scan
//! of all owners. Its read leaves 4 cycles later. Up to 16 fetches of up to 2 KiB are in flight.
//! Read data are always taken: their space is reserved before the read is requested. `stopped` is a
//! register.
//!
//! Invariants:
//! 1. Entries of one ring leave in index order, each once. A fetch never crosses the ring's end.
//! 2. Owners with work are served round robin, one fetch each.
//! 3. Nothing of an aborted fetch is handed on. It stops its ring, with whatever of that ring is in
//!    flight, until the context's enable word is written; other rings go on. A producer index more
//!    than the ring's size ahead stops the ring as well.
//! 4. What returns after its ring's enable word was written again is dropped. What was already
//!    handed to `entries` still leaves.
//!
//! On error: `ring_failed` names the owner of a ring that stopped.
//!
//! Source: `docs/specification.md`, Rings and Stopped rings.

pub mod fetch_buffer;
pub mod first_slots;
pub mod held_beat;
pub mod pushed_data_mux;
pub mod pushed_hold;
pub mod pushed_slot;
pub mod ring_arbiter;
pub mod ring_indices;
pub mod ring_plan;
pub mod ring_return;
pub mod ring_span;
pub mod ring_state;
pub mod send_status;
pub mod slot_control;
pub mod slot_failure;
pub mod slot_splitter;

use crate::ring::ring_plan::{FetchInFlight, RingPlan};
use crate::ring::ring_return::RingReturn;
use crate::ring::ring_state::{RingKind, RingState};
use stream::prelude::*;

/// The fetcher of one kind of ring. `OWNERS` is 2^`OWNER_BITS`. See the module's head.
///
/// The fetcher of one kind of ring.
#[derive(LogicBlock, BlockDefault)]
#[new(kind: RingKind)]
#[require(kind.entries_max << kind.entry_bits <= 2048, "a fetch takes up to 32 beats")]
pub struct Ring<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets every ring and fetch: no ring is enabled.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,

    /// Reads of ring entries: one client of `dma.read`.
    pub read_job: MessageSource<ReadJob>,
    /// Owner, first index and generation of the entries that `read_job` reads.
    pub read_of: Signal<Out, FetchInFlight>,
    /// Read data, one packet for each `read_job`, in order; always taken.
    pub read_data: PacketSink,

    /// Owner and first index of each packet of `entries`, offered no later than its first beat.
    pub fetched: MessageSource<RingFetch>,
    /// Entries of one fetch, 64 bytes in each beat; never aborted.
    pub entries: PacketSource,
    /// Owner of a ring that stops in this cycle.
    pub ring_failed: PulseSource<Bits<8>>,
    /// Rings that have stopped; bit n is owner n.
    pub stopped: Signal<Out, Bits<OWNERS>>,

    #[value(RingState::new(kind))]
    state: RingState<OWNER_BITS, OWNERS>,
    #[value(RingPlan::new(kind))]
    plan: RingPlan<OWNER_BITS>,
    returns: RingReturn<OWNER_BITS>,

    aborted: Signal<Local, Bit>,
    failed_owner: Signal<Local, Bits<OWNER_BITS>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for Ring<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, state, plan, returns);
        self.state.reset.next = self.reset.val();
        self.plan.reset.next = self.reset.val();
        self.returns.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.state.settings);

        // The planner looks at one ring after the other.
        self.state.scan.next = self.plan.owner.val();
        self.plan.view.next = self.state.view.val();
        PulseSource::<Bits<OWNER_BITS>>::join(&mut self.state.rung, &mut self.plan.rung);
        self.plan.reenabled.valid.next = self.state.reenabled.valid.val();
        self.plan.reenabled.payload.next = self.state.reenabled.payload.val();
        self.returns.reenabled.valid.next = self.state.reenabled.valid.val();
        self.returns.reenabled.payload.next = self.state.reenabled.payload.val();
        self.plan.advance_ready.next = self.state.ready.val();
        self.state.advance.next = self.plan.advance.val();
        self.state.advance_to.next = self.plan.advance_to.val();

        // Reads leave.
        self.plan.has_space.next = self.returns.has_space.val();
        MessageSource::<ReadJob>::link(&mut self.read_job, &mut self.plan.read_job);
        self.read_of.next = self.plan.issued.payload.val();
        self.returns.issued.valid.next = self.plan.issued.valid.val();
        self.returns.issued.payload.next = self.plan.issued.payload.val();

        // Read data return.
        PacketSink::link(&mut self.read_data, &mut self.returns.read_data);
        self.state.check.next = self.returns.check.val();
        self.state.check_generation.next = self.returns.check_generation.val();
        self.returns.check_runs.next = self.state.check_runs.val();
        self.returns.check_same.next = self.state.check_same.val();
        MessageSource::<RingFetch>::link(&mut self.fetched, &mut self.returns.fetched);
        PacketSource::link(&mut self.entries, &mut self.returns.entries);

        // An aborted fetch stops its ring, and so does a refused plan in a cycle without one.
        self.aborted.next = self.returns.failed.val();
        self.failed_owner.next = self.plan.owner.val();
        if self.aborted.val() {
            self.failed_owner.next = self.returns.check.val();
        }
        self.plan.refuse_ready.next = !self.aborted.val();
        self.state.fail.next = self.aborted.val() | self.plan.refuse.val();
        self.state.fail_owner.next = self.failed_owner.val();
        self.stopped.next = self.state.stopped.val();
        self.ring_failed.valid.next = self.aborted.val() | self.plan.refuse.val();
        self.ring_failed.payload.next = bit_cast::<8, OWNER_BITS>(self.failed_owner.val());
    }
}
