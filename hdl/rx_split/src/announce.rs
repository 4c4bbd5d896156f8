//! Hands write jobs over while the bytes of earlier ones are still read.
//!
//! ```text
//!  jobs ─┬─► write_job
//!        └─► queue (2) ──► announced
//! ```
//! Timing: one job a cycle, latency one cycle; two cycles behind a confirmation.
//!
//! Invariants:
//! 1. A write is announced when its `write_job` was taken; other jobs, held slots among them, at
//!    once. The order stays.
//! 2. At most one job more than the one at hand is announced: reads of other blocks wait for the
//!    bytes of every write job that was handed over.
//! 3. No write job behind a confirmation is handed over before that has left.

use crate::messages::CopyJob;
use stream::prelude::*;

/// The announcer. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Announce {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Jobs.
    pub jobs: MessageSink<CopyJob>,
    /// Write jobs.
    pub write_job: MessageSource<WriteJob>,
    /// Jobs whose bytes may follow.
    pub announced: MessageSource<CopyJob>,

    queue: Fifo<CopyJob, 1, 2>,
    barred: DFF<Bit>,

    job: Signal<Local, CopyJob>,
    oldest: Signal<Local, CopyJob>,
    room: Signal<Local, Bit>,
    is_barrier: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
}

impl Logic for Announce {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, barred);
        self.queue.clock.next = self.clock.val();
        self.queue.reset.next = self.reset.val();
        MessageSource::<CopyJob>::link(&mut self.announced, &mut self.queue.source);
        self.job.next = self.jobs.payload.val();
        self.is_write.next = (self.job.val().kind == 0) & !self.job.val().held;
        self.is_barrier.next = self.job.val().kind == 2;
        self.room.next = self.queue.sink.ready.val() & !self.barred.q.val();
        self.write_job.valid.next = self.jobs.valid.val() & self.is_write.val() & self.room.val();
        self.write_job.payload.next.address = self.job.val().address;
        self.write_job.payload.next.bytes = bit_cast::<16, 14>(self.job.val().bytes);
        self.write_job.payload.next.relaxed = self.job.val().relaxed;
        self.passes.next = self.jobs.valid.val()
            & self.room.val()
            & (!self.is_write.val() | self.write_job.ready.val());
        self.jobs.ready.next = self.passes.val();
        self.queue.sink.valid.next = self.passes.val();
        self.queue.sink.payload.next = self.job.val();

        self.oldest.next = self.queue.source.payload.val();
        if self.queue.source.valid.val()
            & self.announced.ready.val()
            & (self.oldest.val().kind == 2)
        {
            self.barred.d.next = false;
        }
        if self.passes.val() & self.is_barrier.val() {
            self.barred.d.next = true;
        }
        if self.reset.val() {
            self.barred.d.next = false;
        }
    }
}
