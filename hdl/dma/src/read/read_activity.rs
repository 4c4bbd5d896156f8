//! Events and levels of the read engine: stalls, latency, reads and tags in use.
//!
//! Timing: `in_flight` and `quarantined` are registers, `latency` comes one cycle late. The other
//! outputs are combinational.
//!
//! Invariants:
//! 1. `in_flight` is the number of requests sent and not retired since `reset`, `quarantined` the
//!    number of timeouts since then.
//!
//! Source: `abi::counters`, group "reads".

use crate::read::read_latency::ReadLatency;
use crate::read::tag::Tag;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadActivity {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all reads: levels start at 0, the sampled read is not counted.
    pub reset: Signal<In, Bit>,

    /// A beat is offered on the RC port.
    pub rc_valid: Signal<In, Bit>,
    /// The beat on the RC port is taken.
    pub rc_ready: Signal<In, Bit>,
    /// A read waits for a free tag.
    pub tag_stall: Signal<In, Bit>,
    /// A read waits for completion credit, or for beats of the reorder memory.
    pub credit_stall: Signal<In, Bit>,
    /// A read job was accepted.
    pub job_taken: Signal<In, Bit>,
    /// A read job for payload to send waits.
    pub job_stall: Signal<In, Bit>,
    /// A flush waits for the writes before it.
    pub flush_wait: Signal<In, Bit>,
    /// A beat of read data is offered to a client.
    pub data_valid: Signal<In, Bit>,
    /// The client takes the beat.
    pub data_ready: Signal<In, Bit>,
    /// The beat is the last one of a read that failed.
    pub data_failed: Signal<In, Bit>,
    /// Client that the beat is for.
    pub client: Signal<In, Bits<2>>,

    /// A request is sent.
    pub issue: Signal<In, Bit>,
    /// Tag of the request that is sent.
    pub issue_tag: Signal<In, Tag>,
    /// Tag of the read whose latency is measured.
    pub sampled_tag: Signal<Out, Tag>,
    /// The tag of the sampled read is outstanding.
    pub outstanding: Signal<In, Bit>,
    /// The read data of a request have been delivered.
    pub retire: Signal<In, Bit>,
    /// A read timed out.
    pub timed_out: Signal<In, Bit>,

    /// Events of reads, for counters.
    pub events: Signal<Out, ReadEvents>,
    /// Bucket of the latency of a sampled read.
    pub latency: Signal<Out, LatencyEvents>,
    /// A read of client 2, payload to send, failed.
    pub payload_failed: Signal<Out, Bit>,
    /// A read of client 3, a flush, failed.
    pub flush_failed: Signal<Out, Bit>,
    /// Number of requests that were sent and whose read data have not been delivered.
    pub in_flight: Signal<Out, Bits<16>>,
    /// Number of tags that are out of use until reset.
    pub quarantined: Signal<Out, Bits<16>>,

    sampler: ReadLatency,
    begins: DFF<Bit>,
    ends: DFF<Bit>,
    reads: DFF<Bits<9>>,
    tags: DFF<Bits<9>>,

    failed: Signal<Local, Bit>,
    moved: Signal<Local, ReadEvents>,
}

impl Logic for ReadActivity {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, begins, ends, reads, tags);
        clock!(self, clock, sampler);
        self.sampler.reset.next = self.reset.val();
        self.sampler.issue.next = self.issue.val();
        self.sampler.issue_tag.next = self.issue_tag.val();
        self.sampled_tag.next = self.sampler.sampled_tag.val();
        self.sampler.outstanding.next = self.outstanding.val();
        self.latency.next = self.sampler.bucket.val();

        self.moved.next.rc_beats = self.rc_valid.val() & self.rc_ready.val();
        self.moved.next.rc_stall_cycles = self.rc_valid.val() & !self.rc_ready.val();
        self.moved.next.tag_stall_cycles = self.tag_stall.val();
        self.moved.next.completion_room_stall_cycles = self.credit_stall.val();
        self.moved.next.read_jobs = self.job_taken.val();
        self.moved.next.read_job_stall_cycles = self.job_stall.val();
        self.moved.next.flush_wait_cycles = self.flush_wait.val();
        self.moved.next.answer_stall_cycles = self.data_valid.val() & !self.data_ready.val();
        self.events.next = self.moved.val();

        self.failed.next = self.data_valid.val() & self.data_ready.val() & self.data_failed.val();
        self.payload_failed.next = self.failed.val() & (self.client.val() == 2);
        self.flush_failed.next = self.failed.val() & (self.client.val() == 3);

        self.begins.d.next = self.issue.val();
        self.ends.d.next = self.retire.val();
        if self.begins.q.val() & !self.ends.q.val() {
            self.reads.d.next = self.reads.q.val() + 1;
        } else if self.ends.q.val() & !self.begins.q.val() {
            self.reads.d.next = self.reads.q.val() - 1;
        }
        if self.timed_out.val() {
            self.tags.d.next = self.tags.q.val() + 1;
        }
        if self.reset.val() {
            self.begins.d.next = false;
            self.ends.d.next = false;
            self.reads.d.next = 0.into();
            self.tags.d.next = 0.into();
        }
        self.in_flight.next = bit_cast::<16, 9>(self.reads.q.val());
        self.quarantined.next = bit_cast::<16, 9>(self.tags.q.val());
    }
}
