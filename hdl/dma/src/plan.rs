//! Decides, beat by beat, which requests the RQ port carries.
//!
//! ```text
//!   write_tlp (payload stored? in-flight limit?) ─┐ take turns
//!   read_tlp ─────────────────────────────────────┴──► start ──► step: tail of one, head of the next
//! ```
//! Timing: `step` is registered; one step a cycle.
//!
//! Invariants:
//! 1. Writes keep their order. Reads and writes that wait take turns.
//! 2. A write is taken when `written` has passed its last beat and fewer than 32 have not
//!    returned their sequence number. Bit 5 of the number tells reads from writes.
//! 3. Steps of one TLP follow each other without a step of another between them.

use crate::request::RequestTlp;
use stream::prelude::*;

/// What one beat holds.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Step {
    /// The beat carries payload.
    pub loads: Bit,
    /// Position of the first payload dword of the beat.
    pub window: Bits<16>,
    /// Dwords of the TLP that ends before a start at dword 8.
    pub tail: Bits<4>,
    /// A TLP starts in this beat.
    pub starts: Bit,
    /// It starts at dword 8.
    pub straddles: Bit,
    /// Its payload begins with a stored beat instead of behind the tail.
    pub fresh: Bit,
    /// That beat.
    pub fresh_beat: Bits<6>,
    /// RQ descriptor.
    pub header: Bits<128>,
    /// Byte enables of its first dword.
    pub first_be: Bits<4>,
    /// Byte enables of its last dword.
    pub last_be: Bits<4>,
    /// Sequence number.
    pub sequence: Bits<6>,
    /// TLPs that end in this beat: one bit each.
    pub ends: Bits<2>,
    /// Last dword of the first one.
    pub end_0: Bits<4>,
    /// Last dword of the second one.
    pub end_1: Bits<4>,
}

/// Chooses the request that may start next.
#[derive(LogicBlock, Default)]
pub struct RequestChoice {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The hard block is in reset: nothing is in flight.
    pub link_reset: Signal<In, Bit>,
    /// Jobs are forgotten: their count starts at 0.
    pub flush: Signal<In, Bit>,
    /// TLPs may start.
    pub run: Signal<In, Bit>,

    /// Writes in.
    pub write_tlp: MessageSink<RequestTlp>,
    /// Reads in.
    pub read_tlp: MessageSink<RequestTlp>,
    /// The chosen one.
    pub tlp: MessageSource<RequestTlp>,
    /// Its sequence number.
    pub sequence_number: Signal<Out, Bits<6>>,

    /// Beats of payload stored so far.
    pub written: Signal<In, Bits<12>>,
    /// Writes whose sequence number came back in this cycle.
    pub writes_returned: Signal<In, Bits<2>>,
    /// A write was taken.
    pub write_taken: Signal<Out, Bit>,
    /// A read was taken.
    pub read_taken: Signal<Out, Bit>,
    /// Write jobs since `flush` whose last TLP was taken, modulo 2^16.
    pub jobs_issued: Signal<Out, Bits<16>>,

    prefer_read: DFF<Bit>,
    in_flight: DFF<Bits<6>>,
    count: DFF<Bits<5>>,
    issued: DFF<Bits<16>>,

    ahead: Signal<Local, Bits<12>>,
    write_allowed: Signal<Local, Bit>,
    read_allowed: Signal<Local, Bit>,
    is_read: Signal<Local, Bit>,
    took_write: Signal<Local, Bit>,
    took_read: Signal<Local, Bit>,
    after_take: Signal<Local, Bits<6>>,
}

impl Logic for RequestChoice {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, prefer_read, in_flight, count, issued);

        self.ahead.next = self.written.val() - self.write_tlp.payload.val().end_beat;
        self.write_allowed.next = self.run.val()
            & self.write_tlp.valid.val()
            & (self.ahead.val() != 0)
            & !self.ahead.val().get_bit(11)
            & (self.in_flight.q.val() < 32);
        self.read_allowed.next = self.run.val() & self.read_tlp.valid.val();
        self.is_read.next =
            self.read_allowed.val() & (self.prefer_read.q.val() | !self.write_allowed.val());

        self.tlp.valid.next = self.write_allowed.val() | self.read_allowed.val();
        self.tlp.payload.next = self.write_tlp.payload.val();
        self.sequence_number.next = bit_cast::<6, 5>(self.count.q.val());
        if self.is_read.val() {
            self.tlp.payload.next = self.read_tlp.payload.val();
            self.sequence_number.next = bit_cast::<6, 5>(self.count.q.val()) | 32;
        }
        self.took_write.next =
            self.tlp.ready.val() & self.write_allowed.val() & !self.is_read.val();
        self.took_read.next = self.tlp.ready.val() & self.is_read.val();
        self.write_tlp.ready.next = self.took_write.val();
        self.read_tlp.ready.next = self.took_read.val();
        self.write_taken.next = self.took_write.val();
        self.read_taken.next = self.took_read.val();
        self.jobs_issued.next = self.issued.q.val();

        self.after_take.next = self.in_flight.q.val();
        if self.took_write.val() {
            self.after_take.next = self.in_flight.q.val() + 1;
            self.prefer_read.d.next = true;
            if self.write_tlp.payload.val().last {
                self.issued.d.next = self.issued.q.val() + 1;
            }
        }
        if self.took_read.val() {
            self.prefer_read.d.next = false;
        }
        if self.took_write.val() | self.took_read.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        self.in_flight.d.next =
            self.after_take.val() - bit_cast::<6, 2>(self.writes_returned.val());
        if self.flush.val() {
            self.issued.d.next = 0.into();
        }
        if self.link_reset.val() {
            self.in_flight.d.next = 0.into();
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

    choice: RequestChoice,
    rest: DFF<Bits<9>>,
    position: DFF<Bits<16>>,
    full: DFF<Bit>,
    stage: DFF<Step>,

    advance: Signal<Local, Bit>,
    is_tail: Signal<Local, Bit>,
    can_start: Signal<Local, Bit>,
    starts: Signal<Local, Bit>,
    straddles: Signal<Local, Bit>,
    tail_end: Signal<Local, Bits<9>>,
    start_position: Signal<Local, Bits<16>>,
    loads_start: Signal<Local, Bit>,
    dwords: Signal<Local, Bits<9>>,
    head: Signal<Local, Bits<9>>,
    start_end: Signal<Local, Bits<9>>,
    start_done: Signal<Local, Bit>,
    tlp: Signal<Local, RequestTlp>,
    next_step: Signal<Local, Step>,
}

impl Logic for RequestPlan {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rest, position, full, stage);
        self.choice.clock.next = self.clock.val();
        self.choice.link_reset.next = self.link_reset.val();
        self.choice.flush.next = self.flush.val();
        self.choice.run.next = self.run.val();
        self.choice.written.next = self.written.val();
        self.choice.writes_returned.next = self.writes_returned.val();
        MessageSink::<RequestTlp>::link(&mut self.write_tlp, &mut self.choice.write_tlp);
        MessageSink::<RequestTlp>::link(&mut self.read_tlp, &mut self.choice.read_tlp);
        self.write_taken.next = self.choice.write_taken.val();
        self.read_taken.next = self.choice.read_taken.val();
        self.jobs_issued.next = self.choice.jobs_issued.val();
        self.idle.next = (self.rest.q.val() == 0) & !self.full.q.val();

        // What the TLP at hand leaves free in this beat, and what starts there.
        self.tlp.next = self.choice.tlp.payload.val();
        self.advance.next = !self.full.q.val() | self.step.ready.val();
        self.is_tail.next = (self.rest.q.val() != 0) & (self.rest.q.val() <= 16);
        self.can_start.next = self.rest.q.val() <= 8;
        self.choice.tlp.ready.next = self.advance.val() & self.can_start.val();
        self.starts.next = self.can_start.val() & self.choice.tlp.valid.val();
        self.straddles.next = self.starts.val() & (self.rest.q.val() != 0);
        self.tail_end.next = self.rest.q.val() - 1;
        self.dwords.next = self.tlp.val().dwords;
        self.head.next = self.dwords.val();
        self.start_end.next = self.dwords.val() + 3;
        if self.straddles.val() {
            self.start_end.next = self.dwords.val() + 11;
        }
        self.start_done.next = self.start_end.val() < 16;
        if !self.start_done.val() {
            self.head.next = 12.into();
            if self.straddles.val() {
                self.head.next = 4.into();
            }
        }

        // The dwords that this beat takes from the payload memory.
        self.loads_start.next = self.starts.val() & (self.dwords.val() != 0);
        self.next_step.next.loads = (self.rest.q.val() != 0) | self.loads_start.val();
        self.next_step.next.window = self.position.q.val();
        if self.rest.q.val() == 0 {
            self.next_step.next.window = self.tlp.val().start;
        }
        self.next_step.next.tail = bit_cast::<4, 9>(self.rest.q.val());
        self.next_step.next.starts = self.starts.val();
        self.next_step.next.straddles = self.straddles.val();
        self.start_position.next = self.tlp.val().start;
        self.next_step.next.fresh = self.start_position.val().get_bits::<4>(0) == 0;
        self.next_step.next.fresh_beat = self.start_position.val().get_bits::<6>(4);
        self.next_step.next.header = self.tlp.val().header;
        self.next_step.next.first_be = self.tlp.val().first_be;
        self.next_step.next.last_be = self.tlp.val().last_be;
        self.next_step.next.sequence = self.choice.sequence_number.val();
        self.next_step.next.ends = 0.into();
        self.next_step.next.end_0 = bit_cast::<4, 9>(self.start_end.val());
        self.next_step.next.end_1 = bit_cast::<4, 9>(self.start_end.val());
        if self.is_tail.val() {
            self.next_step.next.ends = 1.into();
            self.next_step.next.end_0 = bit_cast::<4, 9>(self.tail_end.val());
            if self.starts.val() & self.start_done.val() {
                self.next_step.next.ends = 3.into();
            }
        } else if self.starts.val() & self.start_done.val() {
            self.next_step.next.ends = 1.into();
        }

        if self.advance.val() {
            self.stage.d.next = self.next_step.val();
            self.full.d.next = (self.rest.q.val() != 0) | self.starts.val();
            if self.starts.val() {
                self.rest.d.next = self.dwords.val() - self.head.val();
            } else if self.rest.q.val() <= 16 {
                self.rest.d.next = 0.into();
            } else {
                self.rest.d.next = self.rest.q.val() - 16;
            }
            if self.loads_start.val() {
                self.position.d.next =
                    self.start_position.val() + bit_cast::<16, 9>(self.head.val());
            } else if self.is_tail.val() {
                self.position.d.next = self.position.q.val() + bit_cast::<16, 9>(self.rest.q.val());
            } else if self.rest.q.val() != 0 {
                self.position.d.next = self.position.q.val() + 16;
            }
        }
        if self.link_reset.val() {
            self.rest.d.next = 0.into();
            self.full.d.next = false;
        }
        self.step.valid.next = self.full.q.val();
        self.step.payload.next = self.stage.q.val();
    }
}
