//! Where a walk over segments and pages stands.
//!
//! ```text
//!  start ──► position, rest      segment ──► offset in it, bytes left      grant ──► piece, step
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | start, packet | in | begin with this packet |
//! | segment_taken, segment | in | the list answered |
//! | cut | in | cut the wanted part out of the segment, or step over it if it is empty |
//! | region_taken, grant | in | the region table answered |
//! | step | in | go on behind the piece |
//! | segment_request, region_request | out | what to ask next |
//! | missing, empty | out | with `cut`: nothing holds the position; the segment is empty |
//! | refused | out | with `region_taken`: no grant, or one piece too many |
//! | complete, next_segment | out | with `step`: all is placed; the next segment is needed |
//! | placement | out | the packet, with what the walk found |
//!
//! Timing: each strobe takes one cycle; outputs follow from registers and the strobe's inputs.

use crate::messages::Placement;
use crate::walk_failure::WalkFailure;
use crate::walk_requests::WalkRequests;
use stream::prelude::*;

/// The walk. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Walk {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Begin.
    pub start: Signal<In, Bit>,
    /// The packet.
    pub packet: Signal<In, Placement>,
    /// The list answered.
    pub segment_taken: Signal<In, Bit>,
    /// Its answer.
    pub segment: Signal<In, SegmentReply>,
    /// Cut.
    pub cut: Signal<In, Bit>,
    /// The region table answered.
    pub region_taken: Signal<In, Bit>,
    /// Its answer.
    pub grant: Signal<In, RegionReply>,
    /// Go on.
    pub step: Signal<In, Bit>,

    /// To the list.
    pub segment_request: Signal<Out, SegmentRequest>,
    /// To the region table.
    pub region_request: Signal<Out, RegionRequest>,
    /// No segment holds the position.
    pub missing: Signal<Out, Bit>,
    /// The segment holds no byte.
    pub empty: Signal<Out, Bit>,
    /// The region refused, or this were one piece too many.
    pub refused: Signal<Out, Bit>,
    /// The piece is the last.
    pub complete: Signal<Out, Bit>,
    /// The piece ends its segment.
    pub next_segment: Signal<Out, Bit>,
    /// The packet.
    pub placement: Signal<Out, Placement>,

    requests: WalkRequests,
    failure: WalkFailure,
    work: DFF<Placement>,
    held: DFF<SegmentReply>,
    by_index: DFF<Bit>,
    position: DFF<Bits<32>>,
    rest: DFF<Bits<32>>,
    segment_offset: DFF<Bits<32>>,
    left: DFF<Bits<32>>,
    wanted: DFF<Bits<32>>,
    granted: DFF<Bits<32>>,
    count: DFF<Bits<5>>,

    is_empty: Signal<Local, Bit>,
    is_complete: Signal<Local, Bit>,
    ends_segment: Signal<Local, Bit>,
    distance: Signal<Local, Bits<32>>,
}

impl Logic for Walk {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, work, held, by_index, position, rest);
        dff_setup!(self, clock, segment_offset, left, wanted, granted, count);
        self.is_empty.next = !self.left.q.val().any();
        self.is_complete.next = self.granted.q.val() == self.rest.q.val();
        self.ends_segment.next = self.granted.q.val() == self.left.q.val();
        self.missing.next = self.failure.missing.val();
        self.empty.next = self.is_empty.val();
        self.refused.next = self.failure.refused.val();
        self.complete.next = self.is_complete.val();
        self.next_segment.next = self.ends_segment.val();
        self.placement.next = self.work.q.val();

        self.requests.work.next = self.work.q.val();
        self.requests.segment.next = self.held.q.val();
        self.requests.by_index.next = self.by_index.q.val();
        self.requests.position.next = self.position.q.val();
        self.requests.segment_offset.next = self.segment_offset.q.val();
        self.requests.wanted.next = self.wanted.q.val();
        self.segment_request.next = self.requests.segment_request.val();
        self.region_request.next = self.requests.region_request.val();

        self.failure.work.next = self.work.q.val();
        self.failure.cut.next = self.cut.val();
        self.failure.by_index.next = self.by_index.q.val();
        self.failure.segment_offset.next = self.segment_offset.q.val();
        self.failure.segment.next = self.held.q.val();
        self.failure.region_taken.next = self.region_taken.val();
        self.failure.grant.next = self.grant.val();
        self.failure.count.next = self.count.q.val();

        if self.start.val() {
            self.work.d.next = self.packet.val();
            self.position.d.next = self.packet.val().place_position;
            self.rest.d.next = bit_cast::<32, 14>(self.packet.val().place_bytes);
            self.by_index.d.next = false;
            self.count.d.next = bits::<5>(0);
        }
        self.distance.next = self.position.q.val() - self.segment.val().position;
        if self.segment_taken.val() {
            self.held.d.next = self.segment.val();
            self.segment_offset.d.next = self.distance.val();
            self.left.d.next = self.segment.val().bytes - self.distance.val();
        }
        if self.cut.val() {
            self.by_index.d.next = self.is_empty.val();
            self.wanted.d.next = self.rest.q.val();
            if self.left.q.val() < self.rest.q.val() {
                self.wanted.d.next = self.left.q.val();
            }
            if self.count.q.val() == 0 {
                self.work.d.next.segment_index = self.held.q.val().index;
            }
        }
        if self.region_taken.val() {
            self.granted.d.next = self.grant.val().bytes;
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.step.val() {
            self.position.d.next = self.position.q.val() + self.granted.q.val();
            self.rest.d.next = self.rest.q.val() - self.granted.q.val();
            self.segment_offset.d.next = self.segment_offset.q.val() + self.granted.q.val();
            self.left.d.next = self.left.q.val() - self.granted.q.val();
            self.by_index.d.next = self.ends_segment.val();
            self.work.d.next.pieces = self.count.q.val();
        }
        if self.failure.failed.val() {
            self.work.d.next = self.failure.deferred.val();
        }
    }
}
