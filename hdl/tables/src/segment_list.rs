//! The segment lists of one direction: what the flows' owners posted, found by position or by
//! index.
//!
//! ```text
//!  request ──► front ──► loop ──► replies ──► reply
//!                ▲ list states  ▲ entries
//!  control ──► updater ─────────┘
//! ```
//! A flow's list is a ring of `mask + 1` entries from `base` on. List indices count modulo 2^16,
//! and [head, tail) is resident. Whether the flow exists is known to the flow table: only lists of
//! this epoch's flows are searched.
//!
//! Timing: a reply comes 8 cycles after its request at the earliest, and 4 more for each further
//! round of the search. n resident segments need at most floor(log2 n) + 1 rounds, the first half
//! of a full committed list at most 3. Four searches are in progress at a time, so n rounds for
//! each search are n cycles for each search, sustained. An update never keeps a request waiting. An
//! entry that it reads takes one round of the loop, at most every fourth free one while searches
//! wait.
//!
//! Invariants:
//! 1. `found` only for an entry in [head, tail) that holds the position, or that has the index (an
//!    index before the head counts as the head).
//! 2. `beyond`: the position lies at or after the end of the last entry, the index at or after the
//!    tail, or the list is empty.
//! 3. A request taken two cycles after `commit`, or after `busy` has fallen, sees the change.
//! 4. There is one reply for each request, in order; at most 8 are pending.
//!
//! Source: `docs/specification.md`, Lists.

pub mod die_hop;
pub mod entry_address;
pub mod list_control;
pub mod list_copy;
pub mod list_judge;
pub mod list_ports;
pub mod list_reach;
pub mod list_updater;
pub mod search_bisect;
pub mod search_compare;
pub mod search_front;
pub mod search_loop;
pub mod search_replies;

use crate::messages::{EntryWrite, ListState, SearchResult, SearchToken, SegmentEntry};
use crate::segment_list::list_control::ListControlSink;
use crate::segment_list::list_updater::ListUpdater;
use crate::segment_list::search_front::SearchFront;
use crate::segment_list::search_loop::SearchLoop;
use crate::segment_list::search_replies::SearchReplies;
use stream::prelude::*;

/// The lists. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SegmentList<const FLOW_BITS: usize, const SEGMENT_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the searches and the change in work.
    pub reset: Signal<In, Bit>,

    /// Positions or indices to find.
    pub request: MessageSink<SegmentRequest>,
    /// Segment found for each request.
    pub reply: MessageSource<SegmentReply>,

    /// Changes by commands; see [`crate::segment_list::list_control`].
    pub control: ListControlSink,

    states: BlockRam<ListState, FLOW_BITS>,
    front: SearchFront<FLOW_BITS>,
    search: SearchLoop<SEGMENT_BITS>,
    replies: SearchReplies,
    updater: ListUpdater<FLOW_BITS>,
}

impl<const FLOW_BITS: usize, const SEGMENT_BITS: usize> Logic
    for SegmentList<FLOW_BITS, SEGMENT_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, states, front, search, replies, updater);
        self.front.reset.next = self.reset.val();
        self.search.reset.next = self.reset.val();
        self.replies.reset.next = self.reset.val();
        self.updater.reset.next = self.reset.val();

        MessageSink::<SegmentRequest>::link(&mut self.request, &mut self.front.request);
        MessageSource::<SearchToken>::join(&mut self.front.tokens, &mut self.search.tokens);
        PulseSource::<SearchResult>::join(&mut self.search.result, &mut self.replies.result);
        MessageSource::<SegmentReply>::link(&mut self.reply, &mut self.replies.reply);
        self.front.slot_free.next = self.replies.slot_free.val();
        self.front.slot.next = self.replies.slot.val();
        self.replies.slot_take.next = self.front.slot_take.val();

        ListControlSink::link(&mut self.control, &mut self.updater.control);
        MessageSource::<SearchToken>::join(&mut self.updater.fetch, &mut self.search.fetch);
        PulseSource::<SegmentEntry>::join(&mut self.search.fetched, &mut self.updater.fetched);
        PulseSource::<EntryWrite>::join(&mut self.updater.entry_write, &mut self.search.write);

        self.states.read_enable.next = true;
        self.states.register_enable.next = true;
        self.states.read_address.next = bit_cast::<FLOW_BITS, 16>(self.front.state_flow.val());
        self.front.state.next = self.states.read_data.val();
        self.states.write_address.next =
            bit_cast::<FLOW_BITS, 16>(self.updater.state_write.payload.val().flow);
        self.states.write_data.next = self.updater.state_write.payload.val().state;
        self.states.write_enable.next = self.updater.state_write.valid.val();
    }
}
