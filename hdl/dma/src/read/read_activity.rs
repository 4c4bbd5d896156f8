//! What the read engine reports of itself: events, latency, reads and tags in use.
//!
//! Timing: combinational but for the counts, which are registers, and the latency pulses, one cycle
//! late.
//!
//! Invariants:
//! 1. `in_flight` is the number of requests issued and not retired since `reset`, `quarantined`
//!    that of timeouts.
//!
//! Source: `abi::counters`, group "reads".

use crate::read::read_latency::ReadLatency;
use crate::read::tag::Tag;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadActivity {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Every job is forgotten.
    pub reset: Signal<In, Bit>,

    /// A beat is offered on RC.
    pub rc_valid: Signal<In, Bit>,
    /// It is taken.
    pub rc_ready: Signal<In, Bit>,
    /// A read waits for a free tag.
    pub tag_stall: Signal<In, Bit>,
    /// A read waits for room in the completion buffer or for beats to reorder in.
    pub room_stall: Signal<In, Bit>,
    /// A job was taken.
    pub job_taken: Signal<In, Bit>,
    /// A job for payload is not taken.
    pub job_stall: Signal<In, Bit>,
    /// A flush waits for writes.
    pub flush_wait: Signal<In, Bit>,
    /// An answer is offered.
    pub answer_valid: Signal<In, Bit>,
    /// It is taken.
    pub answer_ready: Signal<In, Bit>,
    /// It is the last beat of one that failed.
    pub answer_failed: Signal<In, Bit>,
    /// Client that it is for.
    pub client: Signal<In, Bits<2>>,

    /// A request goes out.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// Tag whose time is taken.
    pub sampled_tag: Signal<Out, Tag>,
    /// It is outstanding.
    pub outstanding: Signal<In, Bit>,
    /// An answer has been read.
    pub retire: Signal<In, Bit>,
    /// A read timed out.
    pub timed_out: Signal<In, Bit>,

    /// Events of reads.
    pub events: Signal<Out, ReadEvents>,
    /// Latency of the sampled read.
    pub latency: Signal<Out, LatencyEvents>,
    /// A read of payload to send failed.
    pub payload_failed: Signal<Out, Bit>,
    /// A flush failed.
    pub flush_failed: Signal<Out, Bit>,
    /// Requests in flight.
    pub in_flight: Signal<Out, Bits<16>>,
    /// Tags out of use.
    pub quarantined: Signal<Out, Bits<16>>,

    sampler: ReadLatency,
    begins: DFF<Bit>,
    ends: DFF<Bit>,
    reads: DFF<Bits<9>>,
    tags: DFF<Bits<9>>,

    rc_taken: Signal<Local, Bit>,
    rc_stall: Signal<Local, Bit>,
    answer_stall: Signal<Local, Bit>,
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

        self.rc_taken.next = self.rc_valid.val() & self.rc_ready.val();
        self.rc_stall.next = self.rc_valid.val() & !self.rc_ready.val();
        self.answer_stall.next = self.answer_valid.val() & !self.answer_ready.val();
        self.moved.next.rc_beats = self.rc_taken.val();
        self.moved.next.rc_stall_cycles = self.rc_stall.val();
        self.moved.next.tag_stall_cycles = self.tag_stall.val();
        self.moved.next.completion_room_stall_cycles = self.room_stall.val();
        self.moved.next.read_jobs = self.job_taken.val();
        self.moved.next.read_job_stall_cycles = self.job_stall.val();
        self.moved.next.flush_wait_cycles = self.flush_wait.val();
        self.moved.next.answer_stall_cycles = self.answer_stall.val();
        self.events.next = self.moved.val();

        self.failed.next =
            self.answer_valid.val() & self.answer_ready.val() & self.answer_failed.val();
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
