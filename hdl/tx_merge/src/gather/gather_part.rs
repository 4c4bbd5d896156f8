//! Keeps what of a range is still to be found, and finds the part of it that lies in a list entry.
//!
//! ```text
//!  range ─ load ──► position, rest, index ──► segment request
//!                        ▲ advance
//!  entry ─ keep ──► distance ──► register ──► entry rest ──► register ──► holds, is_before, part
//! ```
//! Differences of positions are modulo 2^32, read as signed.
//!
//! Timing: two cycles from `keep` on: first the distance of the position from the entry's start,
//! then the bytes of the entry from the position on.
//!
//! Invariants:
//! 1. `holds` and `is_before` are never both high; neither is high for an entry that does not exist
//!    or starts after the position.

use crate::messages::{SendFields, SendPart, SendRange, SendVerdict};
use stream::prelude::*;

/// The part. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GatherPart {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// The range to judge.
    pub range: Signal<In, SendRange>,
    /// Start with the range.
    pub load: Signal<In, Bit>,
    /// A list entry.
    pub entry: Signal<In, SegmentReply>,
    /// Compare the position with the entry.
    pub keep: Signal<In, Bit>,
    /// Request the entry that holds the position, whatever its index.
    pub by_position: Signal<In, Bit>,
    /// The range ends without a part.
    pub nothing: Signal<In, Bit>,
    /// Go to the next entry, and to the position after the part.
    pub advance: Signal<In, Bit>,

    /// The entry to request next.
    pub segment_request: Signal<Out, SegmentRequest>,
    /// The entry holds the position.
    pub holds: Signal<Out, Bit>,
    /// The entry ends at or before the position.
    pub is_before: Signal<Out, Bit>,
    /// With `holds`: nothing remains after the part.
    pub ends: Signal<Out, Bit>,
    /// With `holds`: the part; with `nothing`: one without bytes.
    pub part: Signal<Out, SendPart>,

    flow: DFF<Bits<16>>,
    domain: DFF<Bits<16>>,
    index: DFF<Bits<16>>,
    position: DFF<Bits<32>>,
    rest_bytes: DFF<Bits<18>>,
    held: DFF<SegmentReply>,
    skip_bytes: DFF<Bits<32>>,
    entry_rest_bytes: DFF<Bits<32>>,
    fits: DFF<Bit>,
    reached: DFF<Bit>,

    verdict: Signal<Local, SendVerdict>,
    fields: Signal<Local, SendFields>,
    position_now: Signal<Local, Bits<32>>,
    last: Signal<Local, Bit>,
}

impl Logic for GatherPart {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, flow, domain, index, position, rest_bytes, held, skip_bytes);
        dff_setup!(self, clock, entry_rest_bytes, fits, reached);
        self.segment_request.next.flow = self.flow.q.val();
        self.segment_request.next.by_index = !self.by_position.val();
        self.segment_request.next.index = self.index.q.val();
        self.segment_request.next.position = self.position.q.val();

        self.verdict.next = self.range.val().verdict;
        self.fields.next = self.verdict.val().fields;
        self.position_now.next = self.position.q.val();
        if self.load.val() {
            self.position_now.next = self.range.val().position;
            self.flow.d.next = self.fields.val().flow;
            self.domain.d.next = self.range.val().domain;
            self.index.d.next = self.fields.val().segment_index;
            self.position.d.next = self.range.val().position;
            self.rest_bytes.d.next = self.verdict.val().payload_bytes;
        }
        if self.keep.val() {
            self.held.d.next = self.entry.val();
            self.skip_bytes.d.next = self.position_now.val() - self.entry.val().position;
        }

        self.entry_rest_bytes.d.next = self.held.q.val().bytes - self.skip_bytes.q.val();
        self.fits.d.next = self.skip_bytes.q.val() < self.held.q.val().bytes;
        self.reached.d.next = self.held.q.val().found & !self.skip_bytes.q.val().get_bit(31);
        self.holds.next = self.reached.q.val() & self.fits.q.val();
        self.is_before.next = self.reached.q.val() & !self.fits.q.val();
        self.last.next =
            self.entry_rest_bytes.q.val() >= bit_cast::<32, 18>(self.rest_bytes.q.val());
        self.ends.next = self.last.val();
        self.part.next.wanted = !self.nothing.val();
        self.part.next.last = self.last.val() | self.nothing.val();
        self.part.next.region = self.held.q.val().region;
        self.part.next.region_key = self.held.q.val().region_key;
        self.part.next.domain = self.domain.q.val();
        self.part.next.offset =
            self.held.q.val().offset + bit_cast::<48, 32>(self.skip_bytes.q.val());
        self.part.next.bytes = bit_cast::<18, 32>(self.entry_rest_bytes.q.val());
        if self.last.val() {
            self.part.next.bytes = self.rest_bytes.q.val();
        }
        if self.advance.val() {
            self.index.d.next = self.held.q.val().index + 1;
            self.position.d.next = self.position.q.val() + self.entry_rest_bytes.q.val();
            self.rest_bytes.d.next =
                self.rest_bytes.q.val() - bit_cast::<18, 32>(self.entry_rest_bytes.q.val());
        }
    }
}
