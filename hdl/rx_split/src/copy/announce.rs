//! Announces write jobs to `dma.write` while the bytes of earlier ones are still read.
//!
//! ```text
//!  jobs ─┬─► write_job
//!        └─► queue (2) ──► announced
//! ```
//! Timing: one job per cycle, latency one cycle.
//!
//! Invariants:
//! 1. A write is announced when its `write_job` was taken; other jobs, held slots among them, at
//!    once. The order is kept.
//! 2. At most one job more than the one at hand is announced: reads of other blocks wait for the
//!    bytes of every write job that was handed over.
//! 3. Payload is written with relaxed ordering, header entries, which have a head, are not.
//! 4. No write job is handed over after a confirmation that has no place to wait in.
//! 5. For a slot that begins in the beat before, only the header is announced: its metadata are in
//!    the job that shares that beat.
//!
//! Source: docs/specification.md, Writes and Delivery.

use crate::copy::feed_beat::FitsBeat;
use crate::messages::{CopyJob, CopyKind};
use abi::config::{BEAT_BYTES, METADATA_BYTES};
use stream::messages::SHARED_AT_BYTE;
use stream::prelude::*;

// The second half of a shared beat holds the metadata, no more and no less.
const _: () = assert!(BEAT_BYTES - SHARED_AT_BYTE == METADATA_BYTES);

// One bit says that a job is a confirmation: the handshake of the jobs has no level to spare.
const _: () = {
    assert!(CopyKind::Write as u8 & 2 == 0 && CopyKind::Release as u8 & 2 == 0);
    assert!(CopyKind::Confirm as u8 & 2 == 2);
};

/// The announcer. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Announce {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: jobs inside are forgotten.
    pub reset: Signal<In, Bit>,

    /// Jobs in order.
    pub jobs: MessageSink<CopyJob>,
    /// Jobs to `dma.write`.
    pub write_job: MessageSource<WriteJob>,
    /// Jobs whose bytes may follow, and jobs that write nothing.
    pub announced: MessageSource<CopyJob>,
    /// The fences have space for one confirmation more, besides those on their way to them.
    pub fence_has_space: Signal<In, Bit>,

    queue: Fifo<CopyJob, 1, 2>,
    single: FitsBeat,
    joins: DFF<Bit>,

    job: Signal<Local, CopyJob>,
    left: Signal<Local, CopyJob>,
    may_queue: Signal<Local, Bit>,
    kind_code: Signal<Local, Bits<2>>,
    is_confirmation: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    may: Signal<Local, Bit>,
    #[value(METADATA_BYTES as u64)]
    metadata_bytes: Constant<Bits<14>>,
}

impl Logic for Announce {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, joins);
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        MessageSource::<CopyJob>::link(&mut self.announced, &mut self.queue.source);
        self.job.next = self.jobs.payload.val();
        self.is_write.next = self.job.val().writes;
        self.kind_code.next = self.job.val().kind.into();
        self.is_confirmation.next = self.kind_code.val().get_bit(1);
        self.may_queue.next = self.queue.sink.ready.val()
            & (self.fence_has_space.val() | !self.is_confirmation.val());
        self.write_job.valid.next =
            self.jobs.valid.val() & self.is_write.val() & self.queue.sink.ready.val();
        self.write_job.payload.next.address = self.job.val().address;
        self.write_job.payload.next.bytes = bit_cast::<16, 14>(self.job.val().bytes);
        self.write_job.payload.next.relaxed = !self.job.val().head;
        self.write_job.payload.next.shares = self.job.val().shares;
        self.may.next = self.may_queue.val() & (!self.is_write.val() | self.write_job.ready.val());
        self.jobs.ready.next = self.may.val();
        self.queue.sink.valid.next = self.jobs.valid.val() & self.may.val();
        self.left.next = self.job.val();
        if self.joins.q.val() {
            self.left.next.head = false;
            self.left.next.shift = 0.into();
            self.left.next.bytes = self.job.val().bytes - self.metadata_bytes.val();
        }
        self.single.bytes.next = self.left.val().bytes;
        self.queue.sink.payload.next = self.left.val();
        self.queue.sink.payload.next.fits_beat = self.single.fits.val();
        if self.jobs.valid.val() & self.may.val() {
            self.joins.d.next = self.job.val().shares;
        }
        if self.reset.val() {
            self.joins.d.next = false;
        }
    }
}
