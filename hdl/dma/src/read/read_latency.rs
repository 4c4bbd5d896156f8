//! Samples the latency of reads: one read at a time, from its request to its last completion.
//!
//! ```text
//!   issue ──► idle? follow this tag ──► no longer outstanding: pulse in the bucket of its time
//! ```
//! Timing: the pulse comes two cycles after the tag's end. The limits of the buckets double: below
//! 64 cycles (256 ns), below 128, ..., from 4,096 on.
//!
//! Invariants:
//! 1. At most one bit of `bucket` is high in a cycle.
//! 2. The choice of the read does not depend on its latency: it is the first one that starts while
//!    no other is followed. A read that `reset` cuts off is not counted.

use crate::read::tag::Tag;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct ReadLatency {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the read that is followed.
    pub reset: Signal<In, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Tag of the read that starts.
    pub issue_tag: Signal<In, Tag>,
    /// Tag of the read that is followed.
    pub sampled_tag: Signal<Out, Tag>,
    /// The tag of the read that is followed is outstanding, from one cycle after `issue` on.
    pub outstanding: Signal<In, Bit>,

    /// Bucket of the latency of a sampled read: one field is high for one cycle.
    pub bucket: Signal<Out, LatencyEvents>,

    follows: DFF<Bit>,
    begun: DFF<Bit>,
    looked: DFF<Bit>,
    waits: DFF<Bit>,
    tag: DFF<Tag>,
    cycles: DFF<Bits<13>>,
    pulse: DFF<LatencyEvents>,

    ended: Signal<Local, Bit>,
    reached: Signal<Local, LatencyEvents>,

    #[value(LatencyEvents::default())]
    none: Constant<LatencyEvents>,
}

impl Logic for ReadLatency {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, follows, begun, looked, waits, tag, cycles, pulse);
        self.sampled_tag.next = self.tag.q.val();
        self.waits.d.next = self.outstanding.val();
        self.ended.next = self.looked.q.val() & !self.waits.q.val();
        self.looked.d.next = self.begun.q.val() & !self.ended.val();
        self.begun.d.next = self.follows.q.val() & !self.ended.val();
        // The count stops in the last bucket.
        if !self.cycles.q.val().get_bit(12) {
            self.cycles.d.next = self.cycles.q.val() + 1;
        }
        if !self.follows.q.val() {
            self.follows.d.next = self.issue.val();
            self.tag.d.next = self.issue_tag.val();
            self.cycles.d.next = 0.into();
        } else if self.ended.val() {
            self.follows.d.next = false;
        }

        self.reached.next = self.none.val();
        if self.cycles.q.val().get_bit(12) {
            self.reached.next.read_latency_from_16384_ns = true;
        } else if self.cycles.q.val().get_bit(11) {
            self.reached.next.read_latency_below_16384_ns = true;
        } else if self.cycles.q.val().get_bit(10) {
            self.reached.next.read_latency_below_8192_ns = true;
        } else if self.cycles.q.val().get_bit(9) {
            self.reached.next.read_latency_below_4096_ns = true;
        } else if self.cycles.q.val().get_bit(8) {
            self.reached.next.read_latency_below_2048_ns = true;
        } else if self.cycles.q.val().get_bit(7) {
            self.reached.next.read_latency_below_1024_ns = true;
        } else if self.cycles.q.val().get_bit(6) {
            self.reached.next.read_latency_below_512_ns = true;
        } else {
            self.reached.next.read_latency_below_256_ns = true;
        }
        self.pulse.d.next = self.none.val();
        if self.ended.val() {
            self.pulse.d.next = self.reached.val();
        }
        self.bucket.next = self.pulse.q.val();
        if self.reset.val() {
            self.follows.d.next = false;
            self.begun.d.next = false;
            self.looked.d.next = false;
            self.pulse.d.next = self.none.val();
        }
    }
}
