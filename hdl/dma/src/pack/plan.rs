//! Decides, beat by beat, which requests the RQ port carries.
//!
//! ```text
//!   write_tlp ─► ReadyWrite: payload stored? ─► in-flight limit? ─┐
//!   read_tlp ─────────────────────────────────────────────────────┴─► step: tail of one, head of
//!                                                                     the next, or two writes
//! ```
//! Timing: `step` is registered; one step a cycle.
//!
//! Invariants:
//! 1. Writes keep their order. A read goes first where the second half of a beat is free (it needs
//!    no more), but, while what is received piles up (`rx_crowded`), only after two writes: what
//!    is received cannot wait, what is sent can. A write goes first where a beat begins. A read
//!    waits for four writes at most, a write for one read.
//! 2. A write is taken when `written` has passed its last beat and fewer than 32 have not
//!    returned their sequence number. A short one at the start of a beat takes the next one with
//!    it, if that may go, too, and begins with a half of a stored beat; what counts writes counts
//!    that one a cycle later, when no other is taken. Bit 5 of the number tells reads from writes.
//! 3. Steps of one TLP follow each other without a step of another between them.

use crate::messages::RequestTlp;
use crate::pack::ready_write::{PlannedTlp, ReadyWrite};
use crate::pack::start_count::StartCount;
use crate::pack::step::{BeatPlan, Step};
use stream::prelude::*;

/// Set in the sequence number of a read.
const READ_BIT: u64 = 32;

/// Whether a read goes before a write that may start as well.
#[derive(LogicBlock, Default)]
pub struct ReadFirst {
    /// What starts now starts at dword 8.
    pub straddles: Signal<In, Bit>,
    /// What is received piles up.
    pub rx_crowded: Signal<In, Bit>,
    /// Writes that a waiting read has let go before it.
    pub patience: Signal<In, Bits<3>>,
    /// It does.
    pub read_first: Signal<Out, Bit>,
}

impl Logic for ReadFirst {
    #[hdl_gen]
    fn update(&mut self) {
        self.read_first.next = (self.patience.val() == 4)
            | (self.straddles.val() & (!self.rx_crowded.val() | (self.patience.val() >= 2)));
    }
}

/// Whether a write or a read starts: in a block of its own, a look-up table each, since much
/// follows from it.
#[derive(LogicBlock, Default)]
pub struct StartTurn {
    /// TLPs may start.
    pub run: Signal<In, Bit>,
    /// A write is offered.
    pub write_valid: Signal<In, Bit>,
    /// Its payload is stored.
    pub is_stored: Signal<In, Bit>,
    /// Its sequence number can be waited for.
    pub in_window: Signal<In, Bit>,
    /// A read is offered.
    pub read_valid: Signal<In, Bit>,
    /// It goes before a write that may start as well.
    pub read_first: Signal<In, Bit>,
    /// The write starts.
    pub is_write: Signal<Out, Bit>,
    /// The read starts.
    pub is_read: Signal<Out, Bit>,

    write_allowed: Signal<Local, Bit>,
    read_allowed: Signal<Local, Bit>,
}

impl Logic for StartTurn {
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

/// Chooses the request that may start next.
#[derive(LogicBlock, BlockDefault)]
pub struct RequestChoice {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset: nothing is in flight.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: their count starts at 0.
    pub flush: Signal<In, Bit>,
    /// TLPs may start.
    pub run: Signal<In, Bit>,

    /// What starts now starts at dword 8.
    pub straddles: Signal<In, Bit>,
    /// What is received piles up: writes go before reads.
    pub rx_crowded: Signal<In, Bit>,

    /// Writes in.
    pub write_tlp: MessageSink<PlannedTlp>,
    /// The payload of the one offered is stored.
    pub is_stored: Signal<In, Bit>,
    /// The write behind it.
    pub second: Signal<In, PlannedTlp>,
    /// There is one, its payload is stored and begins with a half of a beat.
    pub second_goes: Signal<In, Bit>,
    /// It starts at dword 8, where the chosen one starts.
    pub pairs: Signal<Out, Bit>,
    /// It is taken with the chosen one.
    pub takes_second: Signal<Out, Bit>,
    /// Reads in.
    pub read_tlp: MessageSink<RequestTlp>,
    /// The chosen one.
    pub tlp: MessageSource<PlannedTlp>,
    /// Its sequence number.
    pub sequence_number: Signal<Out, Bits<6>>,

    /// Writes whose sequence number came back in this cycle.
    pub writes_returned: Signal<In, Bits<2>>,
    /// A write was taken.
    pub write_taken: Signal<Out, Bit>,
    /// A read was taken.
    pub read_taken: Signal<Out, Bit>,
    /// Write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,
    /// A write waits: too many are on their way.
    pub window_stall: Signal<Out, Bit>,
    /// A write waits for its bytes.
    pub data_stall: Signal<Out, Bit>,
    /// Writes that have not returned their sequence number.
    pub writes_in_flight: Signal<Out, Bits<6>>,

    order: ReadFirst,
    turn: StartTurn,
    patience: DFF<Bits<3>>,
    taken: StartCount,

    write: Signal<Local, RequestTlp>,
    second_tlp: Signal<Local, RequestTlp>,
    may_pair: Signal<Local, Bit>,
    takes_two: Signal<Local, Bit>,
    read: Signal<Local, PlannedTlp>,
    is_read: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    took_write: Signal<Local, Bit>,
    took_read: Signal<Local, Bit>,
    #[value(PlannedTlp {
        fits: true,
        leaves_half: true,
        fits_straddled: true,
        leaves_half_straddled: true,
        last_dword: 3u64.to_bits(),
        ..PlannedTlp::default()
    })]
    no_payload: Constant<PlannedTlp>,
    #[value(READ_BIT)]
    is_read_bit: Constant<Bits<6>>,
}

impl Logic for RequestChoice {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, patience);
        clock!(self, clock, taken);
        self.taken.link_reset.next = self.link_reset.val();
        self.taken.flush.next = self.flush.val();
        self.taken.writes_returned.next = self.writes_returned.val();
        self.window_stall.next = self.write_tlp.valid.val() & !self.taken.in_window.val();
        self.data_stall.next = self.write_tlp.valid.val() & !self.is_stored.val();
        self.writes_in_flight.next = self.taken.in_flight.val();
        self.jobs_issued.next = self.taken.jobs_issued.val();
        self.order.straddles.next = self.straddles.val();
        self.order.rx_crowded.next = self.rx_crowded.val();
        self.order.patience.next = self.patience.q.val();
        self.turn.run.next = self.run.val();
        self.turn.write_valid.next = self.write_tlp.valid.val();
        self.turn.is_stored.next = self.is_stored.val();
        self.turn.in_window.next = self.taken.in_window.val();
        self.turn.read_valid.next = self.read_tlp.valid.val();
        self.turn.read_first.next = self.order.read_first.val();
        self.is_read.next = self.turn.is_read.val();
        self.is_write.next = self.turn.is_write.val();

        // A read has no payload: it ends where its header does.
        self.read.next = self.no_payload.val();
        self.read.next.tlp = self.read_tlp.payload.val();
        self.tlp.valid.next = self.is_write.val() | self.is_read.val();
        self.tlp.payload.next = self.write_tlp.payload.val();
        self.sequence_number.next = bit_cast::<6, 5>(self.taken.number.val());
        if self.is_read.val() {
            self.tlp.payload.next = self.read.val();
            self.sequence_number.next =
                bit_cast::<6, 5>(self.taken.number.val()) | self.is_read_bit.val();
        }
        self.took_write.next = self.tlp.ready.val() & self.is_write.val();
        self.took_read.next = self.tlp.ready.val() & self.is_read.val();
        self.write_tlp.ready.next = self.took_write.val();
        self.read_tlp.ready.next = self.took_read.val();

        // Two at once: one that ends in the first half of the beat, and one that begins with a half
        // of a stored beat, whose first dwords can be read beside those of the other.
        self.may_pair.next = !self.straddles.val()
            & self.write_tlp.payload.val().fits_straddled
            & self.second_goes.val()
            & self.taken.two_in_window.val();
        self.pairs.next = self.may_pair.val() & self.is_write.val();
        self.takes_two.next = self.may_pair.val() & self.took_write.val();
        self.takes_second.next = self.takes_two.val();

        self.write.next = self.write_tlp.payload.val().tlp;
        self.second_tlp.next = self.second.val().tlp;
        self.taken.takes_write.next = self.took_write.val();
        self.taken.is_last.next = self.write.val().last;
        self.taken.takes_second.next = self.takes_two.val();
        self.taken.second_is_last.next = self.second_tlp.val().last;
        self.taken.takes_read.next = self.took_read.val();
        self.write_taken.next = self.taken.counts_write.val();
        self.read_taken.next = self.took_read.val();
        if self.took_write.val() & self.read_tlp.valid.val() & (self.patience.q.val() != 4) {
            self.patience.d.next = self.patience.q.val() + 1;
        }
        if self.took_read.val() {
            self.patience.d.next = 0.into();
        }
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct RequestPlan {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset: drop the TLP at hand.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: their count starts at 0.
    pub flush: Signal<In, Bit>,
    /// TLPs may start.
    pub run: Signal<In, Bit>,

    /// Writes in.
    pub write_tlp: MessageSink<RequestTlp>,
    /// Reads in.
    pub read_tlp: MessageSink<RequestTlp>,
    /// Beats out.
    pub step: MessageSource<Step>,

    /// Beats of payload stored so far.
    pub written: Signal<In, Bits<12>>,
    /// One more is stored in this cycle.
    pub stores: Signal<In, Bit>,
    /// What is received piles up: writes go before reads.
    pub rx_crowded: Signal<In, Bit>,
    /// Writes whose sequence number came back in this cycle.
    pub writes_returned: Signal<In, Bits<2>>,
    /// No TLP is at hand.
    pub idle: Signal<Out, Bit>,
    /// A write was taken.
    pub write_taken: Signal<Out, Bit>,
    /// A read was taken.
    pub read_taken: Signal<Out, Bit>,
    /// Write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,
    /// A write waits: too many are on their way.
    pub window_stall: Signal<Out, Bit>,
    /// A write waits for its bytes.
    pub data_stall: Signal<Out, Bit>,
    /// Writes that have not returned their sequence number.
    pub writes_in_flight: Signal<Out, Bits<6>>,

    ready_write: ReadyWrite,
    choice: RequestChoice,
    beat: BeatPlan,
    rest: DFF<Bits<9>>,
    is_open: DFF<Bit>,
    is_long: DFF<Bit>,
    position: DFF<Bits<16>>,
    full: DFF<Bit>,
    stage: DFF<Step>,
    crowded: DFF<Bit>,

    advance: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
}

impl Logic for RequestPlan {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rest, is_open, is_long, position, full, stage, crowded);
        clock!(self, clock, choice, ready_write);
        self.choice.link_reset.next = self.link_reset.val();
        self.choice.flush.next = self.flush.val();
        self.choice.run.next = self.run.val();
        self.choice.straddles.next = self.is_open.q.val();
        self.crowded.d.next = self.rx_crowded.val();
        self.choice.rx_crowded.next = self.crowded.q.val();
        self.choice.writes_returned.next = self.writes_returned.val();
        self.ready_write.flush.next = self.flush.val();
        self.ready_write.written.next = self.written.val();
        self.ready_write.stores.next = self.stores.val();
        MessageSink::<RequestTlp>::link(&mut self.write_tlp, &mut self.ready_write.sink);
        MessageSource::<PlannedTlp>::join(&mut self.ready_write.source, &mut self.choice.write_tlp);
        self.choice.is_stored.next = self.ready_write.is_stored.val();
        self.choice.second.next = self.ready_write.second.val();
        self.choice.second_goes.next = self.ready_write.second_goes.val();
        self.ready_write.takes_second.next = self.choice.takes_second.val();
        self.beat.pairs.next = self.choice.pairs.val();
        self.beat.second.next = self.ready_write.second.val();
        MessageSink::<RequestTlp>::link(&mut self.read_tlp, &mut self.choice.read_tlp);
        self.write_taken.next = self.choice.write_taken.val();
        self.read_taken.next = self.choice.read_taken.val();
        self.jobs_issued.next = self.choice.jobs_issued.val();
        self.window_stall.next = self.choice.window_stall.val();
        self.data_stall.next = self.choice.data_stall.val();
        self.writes_in_flight.next = self.choice.writes_in_flight.val();
        self.idle.next = !self.is_open.q.val() & !self.full.q.val();

        self.advance.next = !self.full.q.val() | self.step.ready.val();
        self.choice.tlp.ready.next = self.advance.val() & !self.is_long.q.val();
        self.beat.rest.next = self.rest.q.val();
        self.beat.is_open.next = self.is_open.q.val();
        self.beat.position.next = self.position.q.val();
        self.starts.next = self.choice.tlp.valid.val() & !self.is_long.q.val();
        self.beat.starts.next = self.starts.val();
        self.beat.planned.next = self.choice.tlp.payload.val();
        self.beat.number.next = self.choice.sequence_number.val();
        if self.advance.val() {
            self.full.d.next = self.is_open.q.val() | self.starts.val();
            self.stage.d.next = self.beat.step.val();
            self.rest.d.next = self.beat.rest_after.val();
            self.is_open.d.next = self.beat.is_open_after.val();
            self.is_long.d.next = self.beat.is_long_after.val();
            self.position.d.next = self.beat.position_after.val();
        }
        if self.link_reset.val() {
            self.rest.d.next = 0.into();
            self.is_open.d.next = false;
            self.is_long.d.next = false;
            self.full.d.next = false;
        }
        self.step.valid.next = self.full.q.val();
        self.step.payload.next = self.stage.q.val();
    }
}
