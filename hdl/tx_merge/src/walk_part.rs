//! The part of a range that lies in one list entry.
//!
//! ```text
//!  range, entry ──► combinational ──► holds / is_before / below_head, grant request, what remains
//! ```
//! Differences of positions are modulo 2^32, read as signed.

use crate::plan::WalkRequest;
use stream::prelude::*;

/// The comparison. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WalkPart {
    /// What is still to be found.
    pub range: Signal<In, WalkRequest>,
    /// A list entry.
    pub entry: Signal<In, SegmentReply>,
    /// The entry holds the range's first byte.
    pub holds: Signal<Out, Bit>,
    /// The entry ends at or before it.
    pub is_before: Signal<Out, Bit>,
    /// There is no such entry any more.
    pub below_head: Signal<Out, Bit>,
    /// With `holds`: the access to ask for.
    pub request: Signal<Out, RegionRequest>,
    /// Index of the entry behind.
    pub index_next: Signal<Out, Bits<16>>,
    /// First position behind the part.
    pub position_next: Signal<Out, Bits<32>>,
    /// Bytes behind the part.
    pub rest_next: Signal<Out, Bits<18>>,

    skip_bytes: Signal<Local, Bits<32>>,
    room_bytes: Signal<Local, Bits<32>>,
    part_bytes: Signal<Local, Bits<32>>,
    reached: Signal<Local, Bit>,
}

impl Logic for WalkPart {
    #[hdl_gen]
    fn update(&mut self) {
        self.skip_bytes.next = self.range.val().position - self.entry.val().position;
        self.room_bytes.next = self.entry.val().bytes - self.skip_bytes.val();
        self.reached.next = self.entry.val().found & !self.skip_bytes.val().get_bit(31);
        self.holds.next = self.reached.val() & (self.skip_bytes.val() < self.entry.val().bytes);
        self.is_before.next =
            self.reached.val() & (self.skip_bytes.val() >= self.entry.val().bytes);
        self.below_head.next = !self.entry.val().found & !self.entry.val().beyond;

        self.part_bytes.next = bit_cast::<32, 18>(self.range.val().bytes);
        if self.room_bytes.val() < bit_cast::<32, 18>(self.range.val().bytes) {
            self.part_bytes.next = self.room_bytes.val();
        }
        self.request.next.region = self.entry.val().region;
        self.request.next.region_key = self.entry.val().region_key;
        self.request.next.domain = self.range.val().domain;
        self.request.next.write = false;
        self.request.next.offset =
            self.entry.val().offset + bit_cast::<48, 32>(self.skip_bytes.val());
        self.request.next.bytes = self.part_bytes.val();

        self.index_next.next = self.entry.val().index + 1;
        self.position_next.next = self.range.val().position + self.part_bytes.val();
        self.rest_next.next = self.range.val().bytes - bit_cast::<18, 32>(self.part_bytes.val());
    }
}
