//! Takes the read data of a ring and hands on what is good.
//!
//! ```text
//!  issued ──► [in_flight] ── oldest ──► check ──► keep
//!  read_data ─────────► [fetch_buffer] ◄───────────┘ ──► entries
//!                                  [fetches] ──────────► fetched
//! ```
//! Timing: `check` and `check_generation` name the oldest fetch in flight. `check_runs` and
//! `check_same` must follow them in the same cycle, and count in the next one. A fetch can leave
//! four cycles after its last beat came; in the cycle after that beat none is taken.
//!
//! Invariants:
//! 1. `read_data` is always taken: `has_space` falls while 32 more beats might not fit.
//! 2. There is one message of `fetched` for each packet of `entries`, offered no later than its
//!    first beat.
//! 3. `failed` is high for one cycle when a fetch of a running ring is aborted. Read data that were
//!    not requested, or of a ring that no longer runs in the same generation, are dropped.

use crate::ring::fetch_buffer::FetchBuffer;
use crate::ring::ring_plan::FetchInFlight;
use stream::prelude::*;

/// The return path. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RingReturn<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets every fetch.
    pub reset: Signal<In, Bit>,

    /// Fetch whose read is taken by `dma.read` in this cycle.
    pub issued: PulseSink<FetchInFlight>,
    /// One more read may be requested.
    pub has_space: Signal<Out, Bit>,
    /// Read data in the order of `issued`.
    pub read_data: PacketSink,

    /// Owner of the oldest fetch in flight.
    pub check: Signal<Out, Bits<OWNER_BITS>>,
    /// Generation of the ring of `check` when the oldest fetch was planned.
    pub check_generation: Signal<Out, Bits<24>>,
    /// The ring of `check` runs.
    pub check_runs: Signal<In, Bit>,
    /// The ring of `check` is of generation `check_generation`.
    pub check_same: Signal<In, Bit>,
    /// Owner whose ring is enabled again in this cycle; `check_runs` and `check_same` follow in the
    /// next one.
    pub reenabled: PulseSink<Bits<OWNER_BITS>>,
    /// Stop the ring of `check`.
    pub failed: Signal<Out, Bit>,

    /// Owner and first index of each packet of `entries`.
    pub fetched: MessageSource<RingFetch>,
    /// Entries of good fetches, one packet for each fetch.
    pub entries: PacketSource,

    in_flight: Fifo<FetchInFlight, 4, 5>,
    fetch_buffer: FetchBuffer,
    fetches: Fifo<RingFetch, 6, 7>,

    space: DFF<Bit>,
    runs: DFF<Bit>,
    same: DFF<Bit>,

    owner: Signal<Local, Bits<OWNER_BITS>>,
    keep: Signal<Local, Bit>,
    reserved: Signal<Local, Bits<11>>,
    #[value(5)]
    reserve_bits: Constant<Bits<3>>,
    #[value(448)]
    reserve_max: Constant<Bits<11>>,
    #[value(15)]
    in_flight_max: Constant<Bits<5>>,
    #[value(47)]
    waiting_max: Constant<Bits<7>>,
}

impl<const OWNER_BITS: usize> Logic for RingReturn<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, space, runs, same);
        clock!(self, clock, in_flight, fetch_buffer, fetches);
        self.in_flight.reset.next = self.reset.val();
        self.fetch_buffer.reset.next = self.reset.val();
        self.fetches.reset.next = self.reset.val();

        // Every fetch in flight may bring 32 beats, of which 512 fit, and a message (64). One more
        // may go before this one counts.
        self.reserved.next = (bit_cast::<11, 5>(self.in_flight.level.val())
            << self.reserve_bits.val())
            + bit_cast::<11, 10>(self.fetch_buffer.held.val());
        self.space.d.next = (self.in_flight.level.val() < self.in_flight_max.val())
            & (self.fetches.level.val() < self.waiting_max.val())
            & (self.reserved.val() <= self.reserve_max.val());
        self.has_space.next = self.space.q.val();
        self.in_flight.sink.valid.next = self.issued.valid.val();
        self.in_flight.sink.payload.next = self.issued.payload.val();

        PacketSink::link(&mut self.read_data, &mut self.fetch_buffer.sink);

        self.owner.next = bit_cast::<OWNER_BITS, 8>(self.in_flight.source.payload.val().owner);
        self.check.next = self.owner.val();
        self.check_generation.next = self.in_flight.source.payload.val().generation;
        self.runs.d.next = self.in_flight.source.valid.val()
            & self.check_runs.val()
            & !(self.reenabled.valid.val() & (self.reenabled.payload.val() == self.owner.val()));
        self.same.d.next = self.check_same.val();
        self.keep.next = self.runs.q.val() & self.same.q.val();
        self.fetch_buffer.keep.next = self.keep.val();
        self.in_flight.source.ready.next = self.fetch_buffer.finished.val();
        self.failed.next =
            self.fetch_buffer.finished.val() & self.keep.val() & self.fetch_buffer.aborted.val();
        self.fetches.sink.valid.next =
            self.fetch_buffer.finished.val() & self.keep.val() & !self.fetch_buffer.aborted.val();
        self.fetches.sink.payload.next.owner = self.in_flight.source.payload.val().owner;
        self.fetches.sink.payload.next.index = self.in_flight.source.payload.val().index;

        MessageSource::<RingFetch>::link(&mut self.fetched, &mut self.fetches.source);
        PacketSource::link(&mut self.entries, &mut self.fetch_buffer.source);
    }
}
