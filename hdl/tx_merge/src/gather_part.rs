//! What of a range is still to be found, and the part of it that lies in one list entry.
//!
//! ```text
//!  range ─ load ──► position, rest, index ──► segment request
//!                        ▲ advance
//!  entry ─ keep ──► compare ──► holds / is_before, grant request, last
//! ```
//! Timing: the entry is compared from the cycle after `keep` on.
//!
//! Differences of positions are modulo 2^32, read as signed.

use crate::plan::{SendFields, SendRange, SendVerdict};
use stream::prelude::*;

/// The part. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GatherPart {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A range.
    pub range: Signal<In, SendRange>,
    /// Start with it.
    pub load: Signal<In, Bit>,
    /// A list entry.
    pub entry: Signal<In, SegmentReply>,
    /// Compare with it.
    pub keep: Signal<In, Bit>,
    /// Ask for the entry that holds the position, whatever its index.
    pub by_position: Signal<In, Bit>,
    /// Go to the next entry and behind the part.
    pub advance: Signal<In, Bit>,

    /// The entry to ask for.
    pub segment_request: Signal<Out, SegmentRequest>,
    /// The entry holds the first byte.
    pub holds: Signal<Out, Bit>,
    /// The entry ends at or before it.
    pub is_before: Signal<Out, Bit>,
    /// With `holds`: the access to ask for.
    pub region_request: Signal<Out, RegionRequest>,
    /// With `holds`: nothing remains behind the part.
    pub last: Signal<Out, Bit>,

    flow: DFF<Bits<16>>,
    domain: DFF<Bits<16>>,
    index: DFF<Bits<16>>,
    position: DFF<Bits<32>>,
    rest_bytes: DFF<Bits<18>>,
    held: DFF<SegmentReply>,

    verdict: Signal<Local, SendVerdict>,
    fields: Signal<Local, SendFields>,
    skip_bytes: Signal<Local, Bits<32>>,
    room_bytes: Signal<Local, Bits<32>>,
    part_bytes: Signal<Local, Bits<32>>,
    rest_next: Signal<Local, Bits<18>>,
    reached: Signal<Local, Bit>,
}

impl Logic for GatherPart {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flow, domain, index, position, rest_bytes, held);
        self.segment_request.next.flow = self.flow.q.val();
        self.segment_request.next.by_index = !self.by_position.val();
        self.segment_request.next.index = self.index.q.val();
        self.segment_request.next.position = self.position.q.val();

        self.skip_bytes.next = self.position.q.val() - self.held.q.val().position;
        self.room_bytes.next = self.held.q.val().bytes - self.skip_bytes.val();
        self.reached.next = self.held.q.val().found & !self.skip_bytes.val().get_bit(31);
        self.holds.next = self.reached.val() & (self.skip_bytes.val() < self.held.q.val().bytes);
        self.is_before.next =
            self.reached.val() & (self.skip_bytes.val() >= self.held.q.val().bytes);

        self.part_bytes.next = bit_cast::<32, 18>(self.rest_bytes.q.val());
        if self.room_bytes.val() < bit_cast::<32, 18>(self.rest_bytes.q.val()) {
            self.part_bytes.next = self.room_bytes.val();
        }
        self.rest_next.next = self.rest_bytes.q.val() - bit_cast::<18, 32>(self.part_bytes.val());
        self.last.next = !self.rest_next.val().any();
        self.region_request.next.region = self.held.q.val().region;
        self.region_request.next.region_key = self.held.q.val().region_key;
        self.region_request.next.domain = self.domain.q.val();
        self.region_request.next.write = false;
        self.region_request.next.offset =
            self.held.q.val().offset + bit_cast::<48, 32>(self.skip_bytes.val());
        self.region_request.next.bytes = self.part_bytes.val();

        self.verdict.next = self.range.val().verdict;
        self.fields.next = self.verdict.val().fields;
        if self.load.val() {
            self.flow.d.next = self.fields.val().flow;
            self.domain.d.next = self.range.val().domain;
            self.index.d.next = self.fields.val().segment_index;
            self.position.d.next = self.range.val().position;
            self.rest_bytes.d.next = self.verdict.val().payload_bytes;
        }
        if self.keep.val() {
            self.held.d.next = self.entry.val();
        }
        if self.advance.val() {
            self.index.d.next = self.held.q.val().index + 1;
            self.position.d.next = self.position.q.val() + self.part_bytes.val();
            self.rest_bytes.d.next = self.rest_next.val();
        }
    }
}
