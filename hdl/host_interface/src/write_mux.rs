//! Puts completion entries and send-ring indices on one client of `dma.write`.
//!
//! ```text
//!  completion  ──►┐
//!                 ├─► [arbiter] ──► [writer] ──► write_job, write_data
//!  send_status ──►┘
//! ```
//! Timing: a write is offered one cycle after its message came and takes two handshakes.
//!
//! Invariants: those of [`crate::small_write`].

use crate::small_write::{SmallWrite, SmallWriteArbiter, SmallWriter};
use stream::prelude::*;

/// Two senders on one write client. See the module's head.
#[derive(LogicBlock, Default)]
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

    arbiter: SmallWriteArbiter,
    writer: SmallWriter,
}

impl Logic for WriteMux {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, arbiter, writer);
        self.arbiter.reset.next = self.reset.val();
        self.writer.reset.next = self.reset.val();
        MessageSink::<SmallWrite>::link(&mut self.completion, &mut self.arbiter.first);
        MessageSink::<SmallWrite>::link(&mut self.send_status, &mut self.arbiter.second);
        MessageSource::<SmallWrite>::join(&mut self.arbiter.joined, &mut self.writer.write);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.writer.write_job);
        PacketSource::link(&mut self.write_data, &mut self.writer.write_data);
    }
}
