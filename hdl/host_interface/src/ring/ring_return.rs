//! Takes the answers of a ring's reads and hands on what is good.
//!
//! ```text
//!  issued ──► [in_flight] ── oldest ──► check ──► keep
//!  read_data ─────────► [fetch_buffer] ◄───────────┘ ──► entries
//!                                  [fetches] ──────────► fetched
//! ```
//! Timing: `check` and `check_generation` name the oldest fetch; `check_runs` and `check_same` must
//! answer in the same cycle, and count in the next one. A fetch can leave four cycles after its
//! last beat came; in the cycle behind that beat none is taken.
//!
//! Invariants:
//! 1. `read_data` is always taken: `room` falls while 32 more beats might not fit.
//! 2. One message of `fetched` for each packet of `entries`, offered no later than its first beat.
//! 3. `failed` is high for one cycle when a fetch of a running ring is aborted. An answer that
//!    nobody asked for, or of a ring that no longer runs in its generation, is dropped.

use crate::ring::fetch_buffer::FetchBuffer;
use crate::ring::ring_plan::FetchInFlight;
use stream::prelude::*;

/// The return path. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RingReturn<const O: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets every fetch.
    pub reset: Signal<In, Bit>,

    /// A read was asked for.
    pub issued: PulseSink<FetchInFlight>,
    /// One more read may be asked for.
    pub room: Signal<Out, Bit>,
    /// The answers, in the order of `issued`.
    pub read_data: PacketSink,

    /// Ring of the oldest fetch in flight.
    pub check: Signal<Out, Bits<O>>,
    /// Its generation then.
    pub check_generation: Signal<Out, Bits<24>>,
    /// It runs.
    pub check_runs: Signal<In, Bit>,
    /// It is of that generation.
    pub check_same: Signal<In, Bit>,
    /// Whose ring is enabled anew in this cycle; `check_runs` and `check_same` know in the next.
    pub anew: PulseSink<Bits<O>>,
    /// The ring `check` must stop.
    pub failed: Signal<Out, Bit>,

    /// Whose entries follow.
    pub fetched: MessageSource<RingFetch>,
    /// The entries.
    pub entries: PacketSource,

    in_flight: Fifo<FetchInFlight, 4, 5>,
    fetch_buffer: FetchBuffer,
    fetches: Fifo<RingFetch, 6, 7>,

    has_room: DFF<Bit>,
    runs: DFF<Bit>,
    same: DFF<Bit>,

    owner: Signal<Local, Bits<O>>,
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

impl<const O: usize> Logic for RingReturn<O> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, has_room, runs, same);
        clock!(self, clock, in_flight, fetch_buffer, fetches);
        self.in_flight.reset.next = self.reset.val();
        self.fetch_buffer.reset.next = self.reset.val();
        self.fetches.reset.next = self.reset.val();

        // Every fetch in flight may bring 32 beats, of which 512 fit, and a message (64). One more
        // may go before this one counts.
        self.reserved.next = (bit_cast::<11, 5>(self.in_flight.level.val())
            << self.reserve_bits.val())
            + bit_cast::<11, 10>(self.fetch_buffer.held.val());
        self.has_room.d.next = (self.in_flight.level.val() < self.in_flight_max.val())
            & (self.fetches.level.val() < self.waiting_max.val())
            & (self.reserved.val() <= self.reserve_max.val());
        self.room.next = self.has_room.q.val();
        self.in_flight.sink.valid.next = self.issued.valid.val();
        self.in_flight.sink.payload.next = self.issued.payload.val();

        self.fetch_buffer.sink.valid.next = self.read_data.valid.val();
        self.fetch_buffer.sink.data.next = self.read_data.data.val();
        self.fetch_buffer.sink.byte_count.next = self.read_data.byte_count.val();
        self.fetch_buffer.sink.last.next = self.read_data.last.val();
        self.fetch_buffer.sink.abort.next = self.read_data.abort.val();
        self.read_data.ready.next = self.fetch_buffer.sink.ready.val();

        self.owner.next = bit_cast::<O, 8>(self.in_flight.source.payload.val().owner);
        self.check.next = self.owner.val();
        self.check_generation.next = self.in_flight.source.payload.val().generation;
        self.runs.d.next = self.in_flight.source.valid.val()
            & self.check_runs.val()
            & !(self.anew.valid.val() & (self.anew.payload.val() == self.owner.val()));
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

        self.fetched.valid.next = self.fetches.source.valid.val();
        self.fetched.payload.next = self.fetches.source.payload.val();
        self.fetches.source.ready.next = self.fetched.ready.val();
        self.entries.valid.next = self.fetch_buffer.source.valid.val();
        self.entries.data.next = self.fetch_buffer.source.data.val();
        self.entries.byte_count.next = self.fetch_buffer.source.byte_count.val();
        self.entries.last.next = self.fetch_buffer.source.last.val();
        self.entries.abort.next = self.fetch_buffer.source.abort.val();
        self.fetch_buffer.source.ready.next = self.entries.ready.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends a fetch of owner 1 in an abort, in whose last cycle the ring of `anew` is enabled, and
    /// returns whether the ring that runs now is to be stopped.
    fn stops(anew: u64) -> bool {
        let mut dut = RingReturn::<2>::default();
        dut.connect_all();
        check_all(&dut).unwrap();
        let mut stopped = false;
        for cycle in 0..12 {
            dut.clock.next = Clock { clk: false };
            dut.issued.valid.next = cycle == 4;
            dut.issued.payload.next.owner = 1u64.to_bits();
            dut.check_runs.next = true;
            dut.check_same.next = true;
            dut.read_data.valid.next = cycle == 8;
            dut.read_data.last.next = true;
            dut.read_data.abort.next = true;
            dut.anew.valid.next = cycle == 8;
            dut.anew.payload.next = anew.to_bits();
            assert!(simulate(&mut dut, 20));
            stopped |= dut.failed.val();
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
        }
        stopped
    }

    #[test]
    fn an_aborted_fetch_stops_its_ring_but_not_one_enabled_anew() {
        assert!(stops(2));
        assert!(!stops(1));
    }
}
