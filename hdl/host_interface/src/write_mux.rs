//! Puts completion entries and send-ring indices on one client of `dma.write`.
//!
//! ```text
//!  completion  ──►┐
//!                 ├─► [arbiter] ──► [writer] ──► write_job, write_data
//!  send_status ──►┘
//! ```
//! Timing: a write is offered one cycle after its message came and takes two handshakes.
//! `confirmed` and `reported` are combinational from the handshake of the job.
//!
//! Invariants: those of [`crate::small_write`].

use crate::small_write::{SmallWrite, SmallWriteArbiter, SmallWriter};
use stream::prelude::*;

/// Two senders on one write client. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct WriteMux {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the write in work; what a sender still offers is taken again.
    pub reset: Signal<In, Bit>,

    /// Writes of completion entries.
    pub completion: MessageSink<SmallWrite>,
    /// Writes of send-ring consumer indices.
    pub send_status: MessageSink<SmallWrite>,

    /// Write jobs, one for each message.
    pub write_job: MessageSource<WriteJob>,
    /// Data of the jobs: one packet of one beat each.
    pub write_data: PacketSource,
    /// Owner, and commands of it that are confirmed, after the entry's write job was accepted.
    pub confirmed: PulseSource<RingFetch>,
    /// Owner, and consumer index of its send ring, after the index's write job was accepted.
    pub reported: PulseSource<RingFetch>,

    arbiter: SmallWriteArbiter,
    writer: SmallWriter,
    is_status: DFF<Bit>,

    word: Signal<Local, Bits<32>>,
    owner: Signal<Local, Bits<8>>,
    #[value(1)]
    one: Constant<Bits<32>>,
}

impl Logic for WriteMux {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_status);
        clock!(self, clock, arbiter, writer);
        self.arbiter.reset.next = self.reset.val();
        self.writer.reset.next = self.reset.val();
        MessageSink::<SmallWrite>::link(&mut self.completion, &mut self.arbiter.first);
        MessageSink::<SmallWrite>::link(&mut self.send_status, &mut self.arbiter.second);
        MessageSource::<SmallWrite>::join(&mut self.arbiter.joined, &mut self.writer.write);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.writer.write_job);
        PacketSource::link(&mut self.write_data, &mut self.writer.write_data);

        // The writer has taken what is offered when it begins a job.
        if self.writer.write.ready.val() {
            self.is_status.d.next = self.arbiter.is_second.val();
        }
        self.owner.next = self.writer.accepted.payload.val().owner;
        self.word.next = self.writer.accepted.payload.val().index;
        self.confirmed.valid.next = self.writer.accepted.valid.val() & !self.is_status.q.val();
        self.confirmed.payload.next.owner = self.owner.val();
        self.confirmed.payload.next.index = self.word.val() + self.one.val();
        self.reported.valid.next = self.writer.accepted.valid.val() & self.is_status.q.val();
        self.reported.payload.next.owner = self.owner.val();
        self.reported.payload.next.index = self.word.val();
    }
}
