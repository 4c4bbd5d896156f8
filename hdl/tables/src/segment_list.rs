//! The segment lists of one direction: what the flows' owners posted, found by position or by
//! index.
//!
//! ```text
//!  request ──► front ──► loop ──► replies ──► reply
//!                ▲ list states     ▲ entries
//!  change ──► updater ─────────────┘ ──► result
//! ```
//!
//! | Port | Direction | Meaning and duty |
//! |---|---|---|
//! | `request`, `reply` | in, out | one reply for each request, in order; at most 8 unanswered |
//! | `change`, `result` | in, out | commands; one CommandStatus for each, a pulse |
//!
//! A flow's list is a ring of `mask + 1` entries from `base` on; list indices count modulo 2^16,
//! and [head, tail) is resident. Whether the flow exists is the flow table's business: only flows
//! of this epoch are asked for.
//!
//! Timing: a reply comes 8 cycles after its request at the earliest, and 5 more for each further
//! round of the search: at most ceil(log2(tail - head)) rounds more. Five searches are under way at
//! a time. An update keeps requests waiting for single cycles only.
//!
//! Invariants:
//! 1. `found` only for an entry in [head, tail) that holds the position, or that has the index (an
//!    index before the head counts as the head).
//! 2. `beyond`: the position lies at or behind the end of the last entry, the index at or behind
//!    the tail, or the list is empty.
//! 3. A request taken after `result` sees the change.

use crate::list_updater::ListUpdater;
use crate::search_front::SearchFront;
use crate::search_loop::SearchLoop;
use crate::search_replies::SearchReplies;
use crate::updates::{EntryWrite, ListState, ListUpdate, SearchToken};
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
    pub change: MessageSink<ListUpdate>,
    /// Their results.
    pub result: PulseSource<Bits<8>>,

    states: BlockRam<ListState, FLOW_BITS>,
    front: SearchFront<FLOW_BITS>,
    search: SearchLoop<SEGMENT_BITS>,
    replies: SearchReplies,
    updater: ListUpdater,

    state_flow: Signal<Local, Bits<16>>,
}

impl<const FLOW_BITS: usize, const SEGMENT_BITS: usize> Logic
    for SegmentList<FLOW_BITS, SEGMENT_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.states.clock.next = self.clock.val();
        self.front.clock.next = self.clock.val();
        self.front.reset.next = self.reset.val();
        self.search.clock.next = self.clock.val();
        self.search.reset.next = self.reset.val();
        self.replies.clock.next = self.clock.val();
        self.replies.reset.next = self.reset.val();
        self.updater.clock.next = self.clock.val();
        self.updater.reset.next = self.reset.val();

        MessageSink::<SegmentRequest>::link(&mut self.request, &mut self.front.request);
        MessageSource::<SearchToken>::join(&mut self.front.tokens, &mut self.search.tokens);
        self.replies.result.valid.next = self.search.result.valid.val();
        self.replies.result.payload.next = self.search.result.payload.val();
        MessageSource::<SegmentReply>::link(&mut self.reply, &mut self.replies.reply);
        self.front.slot_free.next = self.replies.slot_free.val();
        self.front.slot.next = self.replies.slot.val();
        self.replies.slot_take.next = self.front.slot_take.val();

        MessageSink::<ListUpdate>::link(&mut self.change, &mut self.updater.change);
        PulseSource::<Bits<8>>::link(&mut self.result, &mut self.updater.result);
        MessageSource::<SearchToken>::join(&mut self.updater.fetch, &mut self.search.fetch);
        self.updater.fetched.valid.next = self.search.fetched.valid.val();
        self.updater.fetched.payload.next = self.search.fetched.payload.val();
        PulseSource::<EntryWrite>::join(&mut self.updater.entry_write, &mut self.search.write);

        self.front.state_busy.next = self.updater.state_read.val();
        self.state_flow.next = self.front.state_flow.val();
        if self.updater.state_read.val() {
            self.state_flow.next = self.updater.state_flow.val();
        }
        self.states.read_address.next = bit_cast::<FLOW_BITS, 16>(self.state_flow.val());
        self.front.state.next = self.states.read_data.val();
        self.updater.state.next = self.states.read_data.val();
        self.states.write_address.next =
            bit_cast::<FLOW_BITS, 16>(self.updater.state_write.payload.val().flow);
        self.states.write_data.next = self.updater.state_write.payload.val().state;
        self.states.write_enable.next = self.updater.state_write.valid.val();
    }
}
