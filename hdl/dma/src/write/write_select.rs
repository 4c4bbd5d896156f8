//! Accepts write jobs from three clients in turn and passes each to the cutter and to the aligner.
//!
//! ```text
//!   client 0 ──►┌────────┐──► cut    (address, length)
//!   client 1 ──►│ Write  │
//!   client 2 ──►│ Select │──► align  (client, shift, beats)
//!               └────────┘
//! ```
//! Timing: a job is accepted in the cycle in which it is offered if its client is granted and both
//! outputs are ready. The grant is a register, decided one cycle before, so that `ready` does not
//! wait for `valid`. If no client waits, client 0 is granted. `cut` and `align` are combinational
//! from the job.
//!
//! Invariants:
//! 1. Both outputs get every job, in the same order.
//! 2. A waiting client is served before any other is served twice. A job that shares its last beat
//!    and the job after it count as one.

use crate::messages::CutJob;
use crate::write::dword_aligner::AlignJob;
use stream::prelude::*;

/// Computes shift and number of beats of a job for the aligner.
///
/// Timing: combinational.
#[derive(LogicBlock, Default)]
pub struct AlignShape {
    /// The job.
    pub job: Signal<In, WriteJob>,
    /// Client that gave the job.
    pub client: Signal<In, Bits<2>>,
    /// The job begins in the last beat of the job before it.
    pub joins: Signal<In, Bit>,
    /// Shift and length for the aligner.
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
        // Beats that begin with bytes of the job. The first 32 bytes of a job that joins lie in the
        // beat of the job before it.
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
        // The shift moves a full or nearly full last beat into one more.
        self.align.next.spills = (self.offset.val().any() & !self.tail.val().any())
            | (self.offset.val().get_bit(1) & (self.tail.val() == 63))
            | (self.offset.val().all() & (self.tail.val() == 62));
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WriteSelect {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accepts nothing while high; `jobs_accepted` starts at 0.
    pub reset: Signal<In, Bit>,

    /// Write jobs of client 0.
    pub client_0_job: MessageSink<WriteJob>,
    /// Write jobs of client 1.
    pub client_1_job: MessageSink<WriteJob>,
    /// Write jobs of client 2.
    pub client_2_job: MessageSink<WriteJob>,

    /// Each job for the cutter.
    pub cut: MessageSource<CutJob>,
    /// Each job for the aligner.
    pub align: MessageSource<AlignJob>,
    /// Number of jobs accepted since reset, modulo 2^16.
    pub jobs_accepted: Signal<Out, Bits<16>>,
    /// A job was accepted.
    pub job_taken: Signal<Out, Bit>,

    granted: DFF<Bits<2>>,
    joins: DFF<Bit>,
    shape: AlignShape,
    accepted: DFF<Bits<16>>,

    offered: Signal<Local, Bit>,
    granted_next: Signal<Local, Bits<2>>,
    has_space: Signal<Local, Bit>,
    advance: Signal<Local, Bit>,
    job: Signal<Local, WriteJob>,
    cut_job: Signal<Local, CutJob>,
}

impl Logic for WriteSelect {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, granted, joins, accepted);

        self.has_space.next = self.cut.ready.val() & self.align.ready.val() & !self.reset.val();
        self.client_0_job.ready.next = self.has_space.val() & (self.granted.q.val() == 0);
        self.client_1_job.ready.next = self.has_space.val() & (self.granted.q.val() == 1);
        self.client_2_job.ready.next = self.has_space.val() & (self.granted.q.val() == 2);

        // The next client that waits is granted next.
        self.offered.next = self.client_0_job.valid.val();
        self.job.next = self.client_0_job.payload.val();
        self.granted_next.next = 0.into();
        if self.granted.q.val() == 0 {
            if self.client_1_job.valid.val() {
                self.granted_next.next = bits::<2>(1);
            } else if self.client_2_job.valid.val() {
                self.granted_next.next = bits::<2>(2);
            }
        } else if self.granted.q.val() == 1 {
            self.offered.next = self.client_1_job.valid.val();
            self.job.next = self.client_1_job.payload.val();
            if self.client_2_job.valid.val() {
                self.granted_next.next = bits::<2>(2);
            }
        } else {
            self.offered.next = self.client_2_job.valid.val();
            self.job.next = self.client_2_job.payload.val();
            if !self.client_0_job.valid.val() & self.client_1_job.valid.val() {
                self.granted_next.next = bits::<2>(1);
            }
        }
        self.advance.next = self.offered.val() & self.has_space.val();
        // After a job that shares its last beat the grant stays.
        if self.advance.val() {
            self.joins.d.next = self.job.val().shares;
        }
        if (self.advance.val() & !self.job.val().shares)
            | (!self.offered.val() & !self.joins.q.val())
        {
            self.granted.d.next = self.granted_next.val();
        }

        self.cut_job.next.address = self.job.val().address;
        self.cut_job.next.bytes = self.job.val().bytes;
        self.cut_job.next.relaxed = self.job.val().relaxed;
        self.cut_job.next.shares = self.job.val().shares;
        self.cut_job.next.client = self.granted.q.val();
        self.cut.payload.next = self.cut_job.val();
        self.cut.valid.next = self.advance.val();
        self.shape.job.next = self.job.val();
        self.shape.client.next = self.granted.q.val();
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
