//! The segment lists of one direction: what the flows' owners posted, found by position or by
//! index.
//!
//! ```text
//!  request ──► front ──► loop ──► replies ──► reply
//!                ▲ list states  ▲ entries
//!  control ──► updater ─────────┘
//! ```
//!
//! | Port | Direction | Meaning and duty |
//! |---|---|---|
//! | `request`, `reply` | in, out | one reply for each request, in order; at most 8 unanswered |
//! | `control` | in, out | changes by commands; see [`crate::segment_list::list_control`] |
//!
//! A flow's list is a ring of `mask + 1` entries from `base` on; list indices count modulo 2^16,
//! and [head, tail) is resident. Whether the flow exists is the flow table's business: only flows
//! of this epoch are asked for.
//!
//! Timing: a reply comes 8 cycles after its request at the earliest, and 4 more for each further
//! round of the search. n resident segments need at most floor(log2 n) + 1 rounds, the first half
//! of a full committed list at most 3. Four searches are under way at a time, so n rounds a search
//! are n cycles a search, sustained. An update never keeps a request waiting; an entry that it
//! reads takes one round of the loop, every fourth free one at most while searches wait.
//!
//! Invariants:
//! 1. `found` only for an entry in [head, tail) that holds the position, or that has the index (an
//!    index before the head counts as the head).
//! 2. `beyond`: the position lies at or behind the end of the last entry, the index at or behind
//!    the tail, or the list is empty.
//! 3. A request taken two cycles after `commit`, or after `busy` has fallen, sees the change.

pub mod list_control;
pub mod list_copy;
pub mod list_judge;
pub mod list_ports;
pub mod list_updater;
pub mod search_compare;
pub mod search_front;
pub mod search_halves;
pub mod search_loop;
pub mod search_place;
pub mod search_replies;

use crate::messages::{EntryWrite, ListState, SearchToken};
use crate::segment_list::list_control::ListControlSink;
use crate::segment_list::list_updater::ListUpdater;
use crate::segment_list::search_front::SearchFront;
use crate::segment_list::search_loop::SearchLoop;
use crate::segment_list::search_replies::SearchReplies;
use stream::prelude::*;

/// The lists. See the module's head.
#[derive(LogicBlock, Default)]
pub struct SegmentList<const FLOW_BITS: usize, const SEGMENT_BITS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Requests.
    pub request: MessageSink<SegmentRequest>,
    /// Their replies.
    pub reply: MessageSource<SegmentReply>,

    /// Changes by commands.
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
        self.replies.result.valid.next = self.search.result.valid.val();
        self.replies.result.payload.next = self.search.result.payload.val();
        MessageSource::<SegmentReply>::link(&mut self.reply, &mut self.replies.reply);
        self.front.slot_free.next = self.replies.slot_free.val();
        self.front.slot.next = self.replies.slot.val();
        self.replies.slot_take.next = self.front.slot_take.val();

        ListControlSink::link(&mut self.control, &mut self.updater.control);
        MessageSource::<SearchToken>::join(&mut self.updater.fetch, &mut self.search.fetch);
        self.updater.fetched.valid.next = self.search.fetched.valid.val();
        self.updater.fetched.payload.next = self.search.fetched.payload.val();
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
