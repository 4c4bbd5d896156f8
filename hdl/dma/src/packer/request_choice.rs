//! Chooses the request that starts next: a read, a write or two writes.
//!
//! ```text
//!   write_tlp, is_stored ─► in-flight limit? ─┐
//!   second, second_ready ─────────────────────┼─► StartArbiter ─► tlp, sequence_number
//!   read_tlp ─► ReadFirst ────────────────────┘       └─► takes_second
//! ```
//! Timing: combinational from the inputs to `tlp`, `sequence_number` and the `ready` outputs. One
//! request per cycle, or two writes at once. `jobs_issued` and `writes_in_flight` are registers.
//!
//! Invariants:
//! 1. Writes keep their order. A write is chosen only with `is_stored` and while fewer than 32
//!    writes are in flight.
//! 2. A read that waits lets at most four writes go first, a write at most one read.
//! 3. Two writes go together only at dword 0 of a beat, if the first ends before dword 8 and the
//!    second is `second_ready`. The counters count the second one a cycle later.
//! 4. Bit 5 of the sequence number is set for reads.
//! 5. What is offered at `tlp` may change until it is taken.
//!
//! Source: docs/specification.md, Writes; PG213, requester request interface, sequence numbers.

use crate::messages::RequestTlp;
use crate::packer::ready_write::FittedTlp;
use crate::packer::start_count::StartCount;
use stream::prelude::*;

/// The bit that is set in the sequence number of a read.
const READ_BIT: u64 = 32;

/// Decides whether a read goes before a write that may start as well.
///
/// A read needs no more than the second half of a beat, so it goes first there; but while the
/// receive packet buffer is almost full, only after two writes. A write goes first at the beginning
/// of a beat, but a read waits for four writes at most.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct ReadFirst {
    /// A request that starts now starts at dword 8.
    pub straddles: Signal<In, Bit>,
    /// The packet buffer is almost full.
    pub rx_almost_full: Signal<In, Bit>,
    /// Number of writes that have started while the read waits, at most 4.
    pub patience: Signal<In, Bits<3>>,
    /// The read goes first.
    pub read_first: Signal<Out, Bit>,
}

impl Logic for ReadFirst {
    #[hdl_gen]
    fn update(&mut self) {
        self.read_first.next = (self.patience.val() == 4)
            | (self.straddles.val() & (!self.rx_almost_full.val() | (self.patience.val() >= 2)));
    }
}

/// Grants the start to a write or to a read. It is a block of its own, one look-up table for each
/// output, because many signals follow from it.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct StartArbiter {
    /// TLPs may start.
    pub run: Signal<In, Bit>,
    /// A write is offered.
    pub write_valid: Signal<In, Bit>,
    /// All payload of the write is stored.
    pub is_stored: Signal<In, Bit>,
    /// Fewer than the most allowed writes are in flight.
    pub in_window: Signal<In, Bit>,
    /// A read is offered.
    pub read_valid: Signal<In, Bit>,
    /// The read goes before a write that may start as well.
    pub read_first: Signal<In, Bit>,
    /// The write is granted.
    pub is_write: Signal<Out, Bit>,
    /// The read is granted.
    pub is_read: Signal<Out, Bit>,

    write_allowed: Signal<Local, Bit>,
    read_allowed: Signal<Local, Bit>,
}

impl Logic for StartArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        self.write_allowed.next =
            self.run.val() & self.write_valid.val() & self.is_stored.val() & self.in_window.val();
        self.read_allowed.next = self.run.val() & self.read_valid.val();
        self.is_read.next =
            self.read_allowed.val() & (!self.write_allowed.val() | self.read_first.val());
        self.is_write.next =
            self.write_allowed.val() & (!self.read_allowed.val() | !self.read_first.val());
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RequestChoice {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The PCIe hard block is in reset: no write is in flight.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: `jobs_issued` starts at 0.
    pub flush: Signal<In, Bit>,
    /// The hard block may have dropped what it took: no write is in flight. Not while one is taken.
    pub forget: Signal<In, Bit>,
    /// TLPs may start.
    pub run: Signal<In, Bit>,

    /// A request that starts now starts at dword 8.
    pub straddles: Signal<In, Bit>,
    /// The packet buffer is almost full: writes go before reads.
    pub rx_almost_full: Signal<In, Bit>,

    /// Writes, in job order.
    pub write_tlp: MessageSink<FittedTlp>,
    /// All payload of the write at `write_tlp` is stored.
    pub is_stored: Signal<In, Bit>,
    /// The write after the one at `write_tlp`.
    pub second: Signal<In, FittedTlp>,
    /// There is a second write, all of its payload is stored, and its payload begins at a half-beat
    /// boundary.
    pub second_ready: Signal<In, Bit>,
    /// A second write starts at dword 8 of the beat in which the chosen one starts.
    pub pairs: Signal<Out, Bit>,
    /// The second write is taken together with the chosen one.
    pub takes_second: Signal<Out, Bit>,
    /// Reads.
    pub read_tlp: MessageSink<RequestTlp>,
    /// The chosen request.
    pub tlp: MessageSource<FittedTlp>,
    /// Sequence number of the chosen request.
    pub sequence_number: Signal<Out, Bits<6>>,

    /// Number of writes whose sequence number returned in this cycle, 0 to 2.
    pub writes_returned: Signal<In, Bits<2>>,
    /// A write was taken. The second of two is reported one cycle later.
    pub write_taken: Signal<Out, Bit>,
    /// A read was taken.
    pub read_taken: Signal<Out, Bit>,
    /// Number of write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,
    /// A write waits because too many writes are in flight.
    pub window_stall: Signal<Out, Bit>,
    /// A write waits for its payload.
    pub data_stall: Signal<Out, Bit>,
    /// Number of writes whose sequence number has not returned.
    pub writes_in_flight: Signal<Out, Bits<6>>,

    order: ReadFirst,
    arbiter: StartArbiter,
    patience: DFF<Bits<3>>,
    count: StartCount,

    write: Signal<Local, RequestTlp>,
    second_tlp: Signal<Local, RequestTlp>,
    may_pair: Signal<Local, Bit>,
    takes_two: Signal<Local, Bit>,
    read: Signal<Local, FittedTlp>,
    is_read: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    took_write: Signal<Local, Bit>,
    took_read: Signal<Local, Bit>,
    #[value(FittedTlp {
        fits: true,
        leaves_half: true,
        fits_straddled: true,
        leaves_half_straddled: true,
        last_dword: 3u64.to_bits(),
        ..FittedTlp::default()
    })]
    no_payload: Constant<FittedTlp>,
    #[value(READ_BIT)]
    is_read_bit: Constant<Bits<6>>,
}

impl Logic for RequestChoice {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, patience);
        clock!(self, clock, count);
        self.count.link_reset.next = self.link_reset.val();
        self.count.flush.next = self.flush.val();
        self.count.forget.next = self.forget.val();
        self.count.writes_returned.next = self.writes_returned.val();
        self.window_stall.next = self.write_tlp.valid.val() & !self.count.in_window.val();
        self.data_stall.next = self.write_tlp.valid.val() & !self.is_stored.val();
        self.writes_in_flight.next = self.count.in_flight.val();
        self.jobs_issued.next = self.count.jobs_issued.val();
        self.order.straddles.next = self.straddles.val();
        self.order.rx_almost_full.next = self.rx_almost_full.val();
        self.order.patience.next = self.patience.q.val();
        self.arbiter.run.next = self.run.val();
        self.arbiter.write_valid.next = self.write_tlp.valid.val();
        self.arbiter.is_stored.next = self.is_stored.val();
        self.arbiter.in_window.next = self.count.in_window.val();
        self.arbiter.read_valid.next = self.read_tlp.valid.val();
        self.arbiter.read_first.next = self.order.read_first.val();
        self.is_read.next = self.arbiter.is_read.val();
        self.is_write.next = self.arbiter.is_write.val();

        // A read has no payload: it ends with its descriptor.
        self.read.next = self.no_payload.val();
        self.read.next.tlp = self.read_tlp.payload.val();
        self.tlp.valid.next = self.is_write.val() | self.is_read.val();
        self.tlp.payload.next = self.write_tlp.payload.val();
        self.sequence_number.next = bit_cast::<6, 5>(self.count.number.val());
        if self.is_read.val() {
            self.tlp.payload.next = self.read.val();
            self.sequence_number.next =
                bit_cast::<6, 5>(self.count.number.val()) | self.is_read_bit.val();
        }
        self.took_write.next = self.tlp.ready.val() & self.is_write.val();
        self.took_read.next = self.tlp.ready.val() & self.is_read.val();
        self.write_tlp.ready.next = self.took_write.val();
        self.read_tlp.ready.next = self.took_read.val();

        // Two at once: one that ends in the first half of the beat, and one whose payload begins at
        // a half-beat boundary, so that its first dwords can be read beside those of the other.
        self.may_pair.next = !self.straddles.val()
            & self.write_tlp.payload.val().fits_straddled
            & self.second_ready.val()
            & self.count.two_in_window.val();
        self.pairs.next = self.may_pair.val() & self.is_write.val();
        self.takes_two.next = self.may_pair.val() & self.took_write.val();
        self.takes_second.next = self.takes_two.val();

        self.write.next = self.write_tlp.payload.val().tlp;
        self.second_tlp.next = self.second.val().tlp;
        self.count.takes_write.next = self.took_write.val();
        self.count.is_last.next = self.write.val().last;
        self.count.takes_second.next = self.takes_two.val();
        self.count.second_is_last.next = self.second_tlp.val().last;
        self.count.takes_read.next = self.took_read.val();
        self.write_taken.next = self.count.write_counted.val();
        self.read_taken.next = self.took_read.val();
        if self.took_write.val() & self.read_tlp.valid.val() & (self.patience.q.val() != 4) {
            self.patience.d.next = self.patience.q.val() + 1;
        }
        if self.took_read.val() {
            self.patience.d.next = 0.into();
        }
    }
}
