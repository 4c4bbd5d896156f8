//! What a walk asks of the segment list and of the region table.
//!
//! Timing: combinational.

use crate::messages::Placement;
use stream::prelude::*;

/// The messages of a walk. See the module's head.
#[derive(LogicBlock, Default)]
pub struct WalkRequests {
    /// The packet.
    pub work: Signal<In, Placement>,
    /// The segment at hand.
    pub segment: Signal<In, SegmentReply>,
    /// Ask for the segment behind it.
    pub by_index: Signal<In, Bit>,
    /// Stream position reached.
    pub position: Signal<In, Bits<32>>,
    /// That position in the segment.
    pub segment_offset: Signal<In, Bits<32>>,
    /// Bytes wanted of the segment.
    pub wanted: Signal<In, Bits<32>>,
    /// To the list.
    pub segment_request: Signal<Out, SegmentRequest>,
    /// To the region table.
    pub region_request: Signal<Out, RegionRequest>,

    index_next: Signal<Local, Bits<16>>,
}

impl Logic for WalkRequests {
    #[hdl_gen]
    fn update(&mut self) {
        self.index_next.next = self.segment.val().index + 1;
        self.segment_request.next.flow = self.work.val().flow;
        self.segment_request.next.by_index = self.by_index.val();
        self.segment_request.next.index = self.index_next.val();
        self.segment_request.next.position = self.position.val();
        self.region_request.next.region = self.segment.val().region;
        self.region_request.next.region_key = self.segment.val().region_key;
        self.region_request.next.domain = self.work.val().domain;
        self.region_request.next.write = true;
        self.region_request.next.offset =
            self.segment.val().offset + bit_cast::<48, 32>(self.segment_offset.val());
        self.region_request.next.bytes = self.wanted.val();
    }
}
