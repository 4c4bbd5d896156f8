//! The look-up pipeline: from a packet's key to the state of its flow.
//!
//! ```text
//!  flow_lookup ──► keys (5 cycles) ──► flow id ──► copy (2 cycles) ──► replies ──► flow_reply
//! ```
//! Timing: one look-up per cycle, never stalled. A reply is offered eight cycles after its request
//! at the earliest. Requests are accepted while fewer than 16 replies are pending; `ready` depends
//! on registers only.
//!
//! Invariants:
//! 1. There is one reply for each request, in order.
//! 2. A hit is a slot and a flow entry of the current epoch.
//! 3. `reset` forgets what is in flight.

use crate::flow_table::flow_copies::FlowLookupCopy;
use crate::flow_table::key_table::KeyTable;
use crate::messages::{FlowUpdate, KeyUpdate};
use crate::pending_replies::PendingReplies;
use stream::prelude::*;

/// The pipeline. See the module's head.
#[derive(LogicBlock)]
pub struct FlowLookupPipe<const FLOW_BITS: usize, const BUCKET_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the look-ups in flight.
    pub reset: Signal<In, Bit>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Register writes of the host; the hash secrets are taken from them.
    pub settings: PulseSink<RegisterWrite>,
    /// Keys of received packets.
    pub flow_lookup: MessageSink<FlowLookup>,
    /// State of the flow found for each key.
    pub flow_reply: MessageSource<FlowReply>,

    /// Key slots to write.
    pub key_update: PulseSink<KeyUpdate>,
    /// Flow state to write.
    pub change: PulseSink<FlowUpdate>,
    /// Cursors to write.
    pub cursor_write: PulseSink<CursorWrite>,
    /// Flow id whose cursor is read.
    pub cursor_flow: Signal<In, Bits<16>>,
    /// Cursor of `cursor_flow` as last written, two cycles later.
    pub cursor: Signal<Out, Bits<32>>,
    /// The hash tables are being rewritten; see [`crate::flow_table::key_table`].
    pub busy: Signal<Out, Bit>,

    keys: KeyTable<BUCKET_BITS>,
    copy: FlowLookupCopy<FLOW_BITS>,
    replies: Fifo<FlowReply, 4, 5>,
    pending: PendingReplies,

    epoch_kept: DFF<Bits<16>>,
    stages: DFF<Bits<7>>,
    hit_read: DFF<Bit>,
    hit_state: DFF<Bit>,
    flow_read: DFF<Bits<16>>,
    flow_state: DFF<Bits<16>>,

    accept: Signal<Local, Bit>,
    replied: Signal<Local, Bit>,
}

impl<const FLOW_BITS: usize, const BUCKET_BITS: usize> Default
    for FlowLookupPipe<FLOW_BITS, BUCKET_BITS>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            epoch: Default::default(),
            settings: Default::default(),
            flow_lookup: Default::default(),
            flow_reply: Default::default(),
            key_update: Default::default(),
            change: Default::default(),
            cursor_write: Default::default(),
            cursor_flow: Default::default(),
            cursor: Default::default(),
            busy: Default::default(),
            keys: Default::default(),
            copy: Default::default(),
            replies: Default::default(),
            epoch_kept: Default::default(),
            stages: Default::default(),
            pending: PendingReplies::new(16),
            hit_read: Default::default(),
            hit_state: Default::default(),
            flow_read: Default::default(),
            flow_state: Default::default(),
            accept: Default::default(),
            replied: Default::default(),
        }
    }
}

impl<const FLOW_BITS: usize, const BUCKET_BITS: usize> Logic
    for FlowLookupPipe<FLOW_BITS, BUCKET_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, epoch_kept, stages, hit_read, hit_state, flow_read, flow_state);
        clock!(self, clock, keys, copy, replies, pending);
        // What enters with a new epoch is compared four cycles later at the earliest.
        self.epoch_kept.d.next = self.epoch.val();
        self.keys.epoch.next = self.epoch_kept.q.val();
        self.busy.next = self.keys.busy.val();
        self.copy.epoch.next = self.epoch_kept.q.val();
        self.replies.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.keys.settings);
        PulseSink::<KeyUpdate>::link(&mut self.key_update, &mut self.keys.update_slot);
        PulseSink::<FlowUpdate>::link(&mut self.change, &mut self.copy.change);
        PulseSink::<CursorWrite>::link(&mut self.cursor_write, &mut self.copy.cursor_write);
        self.flow_reply.valid.next = self.replies.source.valid.val();
        self.flow_reply.payload.next = self.replies.source.payload.val();
        self.replies.source.ready.next = self.flow_reply.ready.val();

        self.flow_lookup.ready.next = self.pending.free.val();
        self.accept.next = self.flow_lookup.valid.val() & self.pending.free.val();
        self.replied.next = self.replies.source.valid.val() & self.flow_reply.ready.val();
        self.pending.reset.next = self.reset.val();
        self.pending.accept.next = self.accept.val();
        self.pending.reply.next = self.replied.val();
        self.stages.d.next =
            (self.stages.q.val() << 1) | bit_cast::<7, 1>(self.accept.val().into());

        self.copy.cursor_flow.next = self.cursor_flow.val();
        self.cursor.next = self.copy.cursor.val();
        self.keys.lookup.next = self.accept.val();
        self.keys.lookup_key.next = self.flow_lookup.payload.val().key;
        self.copy.read.next = self.stages.q.val().get_bit(4);
        self.copy.flow.next = bit_cast::<FLOW_BITS, 16>(self.keys.flow.val());
        self.hit_read.d.next = self.keys.hit.val();
        self.hit_state.d.next = self.hit_read.q.val();
        self.flow_read.d.next = self.keys.flow.val();
        self.flow_state.d.next = self.flow_read.q.val();

        self.replies.sink.valid.next = self.stages.q.val().get_bit(6);
        self.replies.sink.payload.next.hit = self.hit_state.q.val() & self.copy.valid.val();
        self.replies.sink.payload.next.flow = self.flow_state.q.val();
        self.replies.sink.payload.next.generation = self.copy.installed.val().generation;
        self.replies.sink.payload.next.owner = self.copy.installed.val().owner;
        self.replies.sink.payload.next.profile = self.copy.installed.val().profile;
        self.replies.sink.payload.next.timestamp_check = self.copy.installed.val().timestamp_check;
        self.replies.sink.payload.next.domain = self.copy.installed.val().domain;
        self.replies.sink.payload.next.floor = self.copy.floor.val().floor;
        self.replies.sink.payload.next.ack_low = self.copy.floor.val().ack_low;
        self.replies.sink.payload.next.ack_high = self.copy.floor.val().ack_high;
        self.replies.sink.payload.next.timestamp_floor = self.copy.floor.val().timestamp_floor;

        if self.reset.val() {
            self.stages.d.next = 0.into();
        }
    }
}
