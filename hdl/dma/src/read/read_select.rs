//! Accepts read jobs from four clients in turn; a flush waits for the writes before it.
//!
//! ```text
//!   client 0 ──►┌────────┐
//!   client 1 ──►│ Read   │──► cut  (address, length, client)
//!   client 2 ──►│ Select │
//!   client 3 ─?►└────────┘   ? until every write job accepted before has its TLPs on the RQ port
//! ```
//! Timing: combinational from the jobs to `cut`, and from `cut.ready` to the jobs' `ready`. A flush
//! takes at least three cycles.
//!
//! Invariants:
//! 1. A waiting client (a flush: whose writes are issued) is served before any other is served
//!    twice.
//! 2. When a job of client 3 is accepted, all write jobs whose handshake came before its `valid`
//!    rose are on the RQ port. A read never passes a write on the bus, so its read data prove that
//!    those writes have arrived.
//! 3. The job at `cut` may change until it is taken: one that comes may go first.
//! 4. It relies on fewer than 2^14 write jobs in flight, and on fewer than 2^14 that are issued
//!    while a flush waits.
//!
//! Source: docs/specification.md, Reads; PCI Express Base 3.0, 2.4.1 (a read does not pass a posted
//! write).

use crate::messages::CutJob;
use stream::prelude::*;

/// Holds a flush until the writes before it are on the RQ port.
///
/// Timing: `open` is a register, high at the earliest three cycles after `offered`.
#[derive(LogicBlock, Default)]
pub struct FlushGate {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the current flush.
    pub reset: Signal<In, Bit>,

    /// A flush is offered. It stays offered until it is taken.
    pub offered: Signal<In, Bit>,
    /// The flush was taken.
    pub taken: Signal<In, Bit>,
    /// The flush may be taken.
    pub open: Signal<Out, Bit>,

    /// Number of write jobs accepted, modulo 2^16. A handshake is counted one cycle later.
    pub writes_accepted: Signal<In, Bits<16>>,
    /// Number of write jobs whose last TLP was taken for the RQ port, modulo 2^16.
    pub writes_issued: Signal<In, Bits<16>>,

    seen: DFF<Bit>,
    armed: DFF<Bit>,
    target: DFF<Bits<16>>,
    passed: DFF<Bit>,

    missing: Signal<Local, Bits<16>>,
}

impl Logic for FlushGate {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, seen, armed, target, passed);

        // `writes_accepted` counts a handshake one cycle late, so the target is sampled one cycle
        // late.
        self.missing.next = self.target.q.val() - self.writes_issued.val();
        self.passed.d.next =
            self.armed.q.val() & ((self.missing.val() == 0) | self.missing.val().get_bit(15));
        self.open.next = self.passed.q.val();
        if self.offered.val() {
            self.seen.d.next = true;
        }
        if self.seen.q.val() & !self.armed.q.val() {
            self.armed.d.next = true;
            self.target.d.next = self.writes_accepted.val();
        }
        if self.taken.val() | self.reset.val() {
            self.seen.d.next = false;
            self.armed.d.next = false;
            self.passed.d.next = false;
        }
    }
}

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadSelect {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Accepts nothing while high.
    pub reset: Signal<In, Bit>,

    /// Read jobs of client 0.
    pub client_0_job: MessageSink<ReadJob>,
    /// Read jobs of client 1.
    pub client_1_job: MessageSink<ReadJob>,
    /// Read jobs of client 2.
    pub client_2_job: MessageSink<ReadJob>,
    /// Flush reads of client 3.
    pub client_3_job: MessageSink<ReadJob>,
    /// Accepted jobs for the cutter.
    pub cut: MessageSource<CutJob>,
    /// A job was accepted.
    pub job_taken: Signal<Out, Bit>,
    /// A flush waits for the writes before it.
    pub flush_wait: Signal<Out, Bit>,

    /// Number of write jobs accepted, modulo 2^16. A handshake is counted one cycle later.
    pub writes_accepted: Signal<In, Bits<16>>,
    /// Number of write jobs whose last TLP was taken for the RQ port, modulo 2^16.
    pub writes_issued: Signal<In, Bits<16>>,

    gate: FlushGate,
    granted: DFF<Bits<2>>,

    second: Signal<Local, Bits<2>>,
    third: Signal<Local, Bits<2>>,
    fourth: Signal<Local, Bits<2>>,
    waiting: Signal<Local, Bits<4>>,
    chosen: Signal<Local, Bits<2>>,
    offered: Signal<Local, Bit>,
    taken: Signal<Local, Bits<4>>,
    job: Signal<Local, ReadJob>,
    result: Signal<Local, CutJob>,
}

impl Logic for ReadSelect {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, granted);
        clock!(self, clock, gate);
        self.gate.reset.next = self.reset.val();
        self.gate.offered.next = self.client_3_job.valid.val();
        self.gate.writes_accepted.next = self.writes_accepted.val();
        self.gate.writes_issued.next = self.writes_issued.val();

        // The client after the one served last has priority.
        self.waiting.next = bit_cast::<4, 1>(self.client_0_job.valid.val().into())
            | (bit_cast::<4, 1>(self.client_1_job.valid.val().into()) << 1)
            | (bit_cast::<4, 1>(self.client_2_job.valid.val().into()) << 2);
        if self.client_3_job.valid.val() & self.gate.open.val() {
            self.waiting.next = bit_cast::<4, 1>(self.client_0_job.valid.val().into())
                | (bit_cast::<4, 1>(self.client_1_job.valid.val().into()) << 1)
                | (bit_cast::<4, 1>(self.client_2_job.valid.val().into()) << 2)
                | 8;
        }
        self.second.next = self.granted.q.val() + 1;
        self.third.next = self.granted.q.val() + 2;
        self.fourth.next = self.granted.q.val() + 3;
        self.chosen.next = self.granted.q.val();
        if self.waiting.val().get_bit(self.second.val().index()) {
            self.chosen.next = self.second.val();
        } else if self.waiting.val().get_bit(self.third.val().index()) {
            self.chosen.next = self.third.val();
        } else if self.waiting.val().get_bit(self.fourth.val().index()) {
            self.chosen.next = self.fourth.val();
        }
        self.offered.next = self.waiting.val().any() & !self.reset.val();

        self.job.next = self.client_3_job.payload.val();
        if self.chosen.val() == 0 {
            self.job.next = self.client_0_job.payload.val();
        } else if self.chosen.val() == 1 {
            self.job.next = self.client_1_job.payload.val();
        } else if self.chosen.val() == 2 {
            self.job.next = self.client_2_job.payload.val();
        }
        self.result.next.address = self.job.val().address;
        self.result.next.bytes = self.job.val().bytes;
        self.result.next.relaxed = false;
        self.result.next.shares = false;
        self.result.next.client = self.chosen.val();
        self.cut.payload.next = self.result.val();
        self.cut.valid.next = self.offered.val();

        self.taken.next = 0.into();
        if self.offered.val() & self.cut.ready.val() {
            self.taken.next = bits::<4>(1) << self.chosen.val();
            self.granted.d.next = self.chosen.val();
        }
        self.client_0_job.ready.next = self.taken.val().get_bit(0);
        self.client_1_job.ready.next = self.taken.val().get_bit(1);
        self.client_2_job.ready.next = self.taken.val().get_bit(2);
        self.client_3_job.ready.next = self.taken.val().get_bit(3);
        self.gate.taken.next = self.taken.val().get_bit(3);
        self.job_taken.next = self.taken.val().any();
        self.flush_wait.next = self.client_3_job.valid.val() & !self.gate.open.val();
    }
}
