//! Writes of up to 16 bytes: the message, an arbiter between two senders, and the way to
//! `dma.write`.
//!
//! ```text
//!  first  ──►┐
//!            ├─► [SmallWriteArbiter] ──► [SmallWriter] ──► write_job, then one beat of write_data
//!  second ──►┘
//! ```
//! Timing: the arbiter is combinational. The writer offers a job one cycle after it took a message,
//! then its beat: two handshakes for each write.
//!
//! Invariants:
//! 1. Writes leave in the order in which their messages were taken. While both senders wait, they
//!    are granted alternately.
//! 2. Relaxed ordering is off: whatever was written before is visible first.

use stream::prelude::*;

/// A write of the first `bytes` bytes of `data`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SmallWrite {
    /// Bus address of the first byte.
    pub address: Bits<64>,
    /// Length, 1 to 16.
    pub bytes: Bits<5>,
    /// Bytes to write, byte 0 in bits 7:0.
    pub data: Bits<128>,
    /// Owner in whose memory it is, or whose vector.
    pub owner: Bits<8>,
}

/// Merges two senders of small writes into one. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SmallWriteArbiter {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets which sender is offered; which one was granted last is kept.
    pub reset: Signal<In, Bit>,
    /// Writes of the first sender.
    pub first: MessageSink<SmallWrite>,
    /// Writes of the second sender.
    pub second: MessageSink<SmallWrite>,
    /// Writes of both senders.
    pub joined: MessageSource<SmallWrite>,
    /// The write at `joined` is the second sender's.
    pub is_second: Signal<Out, Bit>,

    holds_second: DFF<Bit>,
    is_held: DFF<Bit>,
    served_first: DFF<Bit>,
    take_second: Signal<Local, Bit>,
    offers: Signal<Local, Bit>,
}

impl Logic for SmallWriteArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, holds_second, is_held, served_first);
        // Who is offered stays until taken.
        self.take_second.next =
            self.second.valid.val() & (self.served_first.q.val() | !self.first.valid.val());
        if self.is_held.q.val() {
            self.take_second.next = self.holds_second.q.val();
        }
        self.offers.next = self.first.valid.val() | self.second.valid.val();
        self.is_second.next = self.take_second.val();
        self.joined.valid.next = self.offers.val();
        self.joined.payload.next = self.first.payload.val();
        if self.take_second.val() {
            self.joined.payload.next = self.second.payload.val();
        }
        self.first.ready.next = self.joined.ready.val() & !self.take_second.val();
        self.second.ready.next = self.joined.ready.val() & self.take_second.val();
        self.holds_second.d.next = self.take_second.val();
        self.is_held.d.next = self.offers.val() & !self.joined.ready.val();
        if self.offers.val() & self.joined.ready.val() {
            self.served_first.d.next = !self.take_second.val();
        }
        if self.reset.val() {
            self.is_held.d.next = false;
        }
    }
}

/// What the writer does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SmallWritePhase {
    /// Waits for a message.
    Idle,
    /// Waits until the job is taken.
    Job,
    /// Waits until the data is taken.
    Data,
}

/// Turns small writes into write jobs. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SmallWriter {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the write in work.
    pub reset: Signal<In, Bit>,
    /// Writes to carry out.
    pub write: MessageSink<SmallWrite>,
    /// Write jobs, one for each message.
    pub write_job: MessageSource<WriteJob>,
    /// Data of the jobs: one packet of one beat each.
    pub write_data: PacketSource,
    /// Owner and first word of a write whose job was accepted: what is written later is visible
    /// later.
    pub accepted: PulseSource<RingFetch>,

    phase: DFF<SmallWritePhase>,
    held: DFF<SmallWrite>,
    data: Signal<Local, Bits<128>>,
    bytes: Signal<Local, Bits<5>>,
}

impl Logic for SmallWriter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, held);
        self.data.next = self.held.q.val().data;
        self.bytes.next = self.held.q.val().bytes;
        self.accepted.valid.next =
            (self.phase.q.val() == SmallWritePhase::Job) & self.write_job.ready.val();
        self.accepted.payload.next.owner = self.held.q.val().owner;
        self.accepted.payload.next.index = self.data.val().get_bits::<32>(0);
        self.write.ready.next = self.phase.q.val() == SmallWritePhase::Idle;
        self.write_job.valid.next = self.phase.q.val() == SmallWritePhase::Job;
        self.write_job.payload.next.address = self.held.q.val().address;
        self.write_job.payload.next.bytes = bit_cast::<16, 5>(self.bytes.val());
        self.write_job.payload.next.relaxed = false;
        self.write_job.payload.next.shares = false;
        self.write_data.valid.next = self.phase.q.val() == SmallWritePhase::Data;
        self.write_data.data.next = bit_cast::<512, 128>(self.data.val());
        self.write_data.byte_count.next = bit_cast::<7, 5>(self.bytes.val());
        self.write_data.last.next = true;
        self.write_data.abort.next = false;
        match self.phase.q.val() {
            SmallWritePhase::Idle => {
                self.held.d.next = self.write.payload.val();
                if self.write.valid.val() {
                    self.phase.d.next = SmallWritePhase::Job;
                }
            }
            SmallWritePhase::Job => {
                if self.write_job.ready.val() {
                    self.phase.d.next = SmallWritePhase::Data;
                }
            }
            SmallWritePhase::Data => {
                if self.write_data.ready.val() {
                    self.phase.d.next = SmallWritePhase::Idle;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = SmallWritePhase::Idle;
        }
    }
}
