//! Takes write jobs from three clients in turn and tells cutter and aligner about each.
//!
//! ```text
//!   client 0 ──►┌────────┐──► cut    (address, length)
//!   client 1 ──►│ Write  │
//!   client 2 ──►│ Select │──► align  (client, shift, beats)
//!               └────────┘
//! ```
//! Timing: a job is accepted in the cycle in which it is offered, if it is its client's turn and
//! both queues behind have room. Whose turn it is was decided a cycle before, so that `ready` waits
//! for no `valid`; while nobody waits it is client 0's.
//!
//! Invariants:
//! 1. Both outputs get every job, in the same order.
//! 2. A client that waits is served before any other is served twice; a job that shares its last
//!    beat and the one behind it count as one.

use crate::messages::CutJob;
use crate::write::align::AlignJob;
use stream::prelude::*;

/// What the aligner needs to know of a job.
#[derive(LogicBlock, Default)]
pub struct AlignShape {
    /// The job.
    pub job: Signal<In, WriteJob>,
    /// Its client.
    pub client: Signal<In, Bits<2>>,
    /// It begins in the last beat of the job before.
    pub joins: Signal<In, Bit>,
    /// The shape.
    pub align: Signal<Out, AlignJob>,

    offset: Signal<Local, Bits<2>>,
    bytes: Signal<Local, Bits<16>>,
    tail: Signal<Local, Bits<6>>,
    whole: Signal<Local, Bits<8>>,
    goes_on: Signal<Local, Bit>,
}

impl Logic for AlignShape {
    #[hdl_gen]
    fn update(&mut self) {
        self.offset.next = bit_cast::<2, 64>(self.job.val().address);
        self.bytes.next = self.job.val().bytes;
        self.tail.next = self.bytes.val().get_bits::<6>(0);
        self.whole.next = self.bytes.val().get_bits::<8>(6);
        // Beats that begin with bytes of the job; half a beat of one that joins lies in the beat of
        // the job before.
        self.goes_on.next = self.tail.val().any();
        if self.joins.val() {
            self.goes_on.next = self.tail.val().get_bit(5) & self.tail.val().get_bits::<5>(0).any();
        }
        self.align.next.client = self.client.val();
        self.align.next.offset = self.offset.val();
        self.align.next.shares = self.job.val().shares;
        self.align.next.last = self.whole.val() - 1;
        if self.goes_on.val() {
            self.align.next.last = self.whole.val();
        }
        // Shifted by the address modulo 4, a last beat that is full but for fewer bytes reaches
        // into one more.
        self.align.next.spills = (self.offset.val().any() & !self.tail.val().any())
            | (self.offset.val().get_bit(1) & (self.tail.val() == 63))
            | (self.offset.val().all() & (self.tail.val() == 62));
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WriteSelect {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Takes nothing while high and counts from 0.
    pub reset: Signal<In, Bit>,

    /// Jobs of client 0.
    pub client_0_job: MessageSink<WriteJob>,
    /// Jobs of client 1.
    pub client_1_job: MessageSink<WriteJob>,
    /// Jobs of client 2.
    pub client_2_job: MessageSink<WriteJob>,

    /// What the cutter needs to know.
    pub cut: MessageSource<CutJob>,
    /// What the aligner needs to know.
    pub align: MessageSource<AlignJob>,
    /// Jobs accepted since reset, modulo 2^16.
    pub jobs_accepted: Signal<Out, Bits<16>>,
    /// A job was taken.
    pub job_taken: Signal<Out, Bit>,

    turn: DFF<Bits<2>>,
    joins: DFF<Bit>,
    shape: AlignShape,
    accepted: DFF<Bits<16>>,

    offered: Signal<Local, Bit>,
    turn_next: Signal<Local, Bits<2>>,
    has_room: Signal<Local, Bit>,
    advance: Signal<Local, Bit>,
    job: Signal<Local, WriteJob>,
    cut_job: Signal<Local, CutJob>,
}

impl Logic for WriteSelect {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turn, joins, accepted);

        self.has_room.next = self.cut.ready.val() & self.align.ready.val() & !self.reset.val();
        self.client_0_job.ready.next = self.has_room.val() & (self.turn.q.val() == 0);
        self.client_1_job.ready.next = self.has_room.val() & (self.turn.q.val() == 1);
        self.client_2_job.ready.next = self.has_room.val() & (self.turn.q.val() == 2);

        // The next turn is that of the next client that waits.
        self.offered.next = self.client_0_job.valid.val();
        self.job.next = self.client_0_job.payload.val();
        self.turn_next.next = bits::<2>(0);
        if self.turn.q.val() == 0 {
            if self.client_1_job.valid.val() {
                self.turn_next.next = bits::<2>(1);
            } else if self.client_2_job.valid.val() {
                self.turn_next.next = bits::<2>(2);
            }
        } else if self.turn.q.val() == 1 {
            self.offered.next = self.client_1_job.valid.val();
            self.job.next = self.client_1_job.payload.val();
            if self.client_2_job.valid.val() {
                self.turn_next.next = bits::<2>(2);
            }
        } else {
            self.offered.next = self.client_2_job.valid.val();
            self.job.next = self.client_2_job.payload.val();
            if !self.client_0_job.valid.val() & self.client_1_job.valid.val() {
                self.turn_next.next = bits::<2>(1);
            }
        }
        self.advance.next = self.offered.val() & self.has_room.val();
        // Behind a job that shares its last beat it stays.
        if self.advance.val() {
            self.joins.d.next = self.job.val().shares;
        }
        if (self.advance.val() & !self.job.val().shares)
            | (!self.offered.val() & !self.joins.q.val())
        {
            self.turn.d.next = self.turn_next.val();
        }

        self.cut_job.next.address = self.job.val().address;
        self.cut_job.next.bytes = self.job.val().bytes;
        self.cut_job.next.relaxed = self.job.val().relaxed;
        self.cut_job.next.shares = self.job.val().shares;
        self.cut_job.next.client = self.turn.q.val();
        self.cut.payload.next = self.cut_job.val();
        self.cut.valid.next = self.advance.val();
        self.shape.job.next = self.job.val();
        self.shape.client.next = self.turn.q.val();
        self.shape.joins.next = self.joins.q.val();
        self.align.payload.next = self.shape.align.val();
        self.align.valid.next = self.advance.val();

        self.jobs_accepted.next = self.accepted.q.val();
        self.job_taken.next = self.advance.val();
        if self.reset.val() {
            self.accepted.d.next = 0.into();
            self.joins.d.next = false;
        } else if self.advance.val() {
            self.accepted.d.next = self.accepted.q.val() + 1;
        }
    }
}
