//! Completion entries and send-ring indices on one client of `dma.write`.
//!
//! ```text
//!  completion  ──►┐
//!                 ├─► [join] ──► [writer] ──► write_job, write_data
//!  send_status ──►┘
//! ```
//! Timing and invariants: those of [`crate::small_write`].

use crate::small_write::{SmallWrite, SmallWriteJoin, SmallWriter};
use stream::prelude::*;

/// The joined client. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WriteMux {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the write in work.
    pub reset: Signal<In, Bit>,

    /// Completion entries.
    pub completion: MessageSink<SmallWrite>,
    /// Indices of send rings.
    pub send_status: MessageSink<SmallWrite>,

    /// Jobs.
    pub write_job: MessageSource<WriteJob>,
    /// Their data, one beat each.
    pub write_data: PacketSource,

    senders: SmallWriteJoin,
    writer: SmallWriter,
}

impl Logic for WriteMux {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, senders, writer);
        self.senders.reset.next = self.reset.val();
        self.writer.reset.next = self.reset.val();
        MessageSink::<SmallWrite>::link(&mut self.completion, &mut self.senders.first);
        MessageSink::<SmallWrite>::link(&mut self.send_status, &mut self.senders.second);
        MessageSource::<SmallWrite>::join(&mut self.senders.joined, &mut self.writer.write);
        MessageSource::<WriteJob>::link(&mut self.write_job, &mut self.writer.write_job);
        PacketSource::link(&mut self.write_data, &mut self.writer.write_data);
    }
}
