//! Flows: from a packet's key, or from a flow id, to the flow's state.
//!
//! ```text
//!  flow_lookup ──► lookup ──► flow_reply           settings, key_update ──► lookup
//!  send_flow_request, query ──► by_id ──► send_flow_reply, queried
//!  cursor_write, change ──► writer ──► lookup, by_id
//! ```
//! Timing: see [`flow_lookup_pipe`] (8 cycles, one look-up per cycle) and [`flow_query_port`] (3
//! cycles). Look-ups are never stalled by updates. A cursor write is visible to a read of the
//! cursor one cycle later, another update to every look-up requested after it.
//!
//! Invariants:
//! 1. A hit is a slot and a flow entry written by commands of the current epoch.
//! 2. There is one reply for each request, in order.
//!
//! Source: `docs/specification.md`, Keys, Hash secrets and Epochs.

pub mod flow_copies;
pub mod flow_lookup_pipe;
pub mod flow_query_port;
pub mod flow_state_writer;
pub mod key_table;
pub mod key_way;
pub mod toeplitz_fill;
pub mod toeplitz_hash;

use crate::flow_table::flow_lookup_pipe::FlowLookupPipe;
use crate::flow_table::flow_query_port::FlowQueryPort;
use crate::flow_table::flow_state_writer::FlowStateWriter;
use crate::messages::{FlowControl, FlowUpdate, KeyUpdate};
use stream::prelude::*;

/// The table. See the module's head.
#[derive(LogicBlock, Default)]
pub struct FlowTable<const FLOW_BITS: usize, const BUCKET_BITS: usize> {
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
    /// Moves of a flow's cursor.
    pub cursor_write: PulseSink<CursorWrite>,
    /// Flow id whose cursor is read.
    pub cursor_flow: Signal<In, Bits<16>>,
    /// Cursor of `cursor_flow` as last written, two cycles later.
    pub cursor: Signal<Out, Bits<32>>,
    /// The hash secrets have changed and the hash tables do not follow yet: look-ups find nothing.
    pub busy: Signal<Out, Bit>,
    /// Flow ids of sends.
    pub send_flow_request: MessageSink<Bits<16>>,
    /// State of the flow for each of the `send_flow_request`.
    pub send_flow_reply: MessageSource<SendFlowReply>,

    /// Flow id that a command names.
    pub query: PulseSink<Bits<16>>,
    /// State of the flow of `query`, two cycles later.
    pub queried: PulseSource<FlowControl>,
    /// Key slots to write.
    pub key_update: PulseSink<KeyUpdate>,
    /// Flow state to write.
    pub change: MessageSink<FlowUpdate>,

    lookup: FlowLookupPipe<FLOW_BITS, BUCKET_BITS>,
    by_id: FlowQueryPort<FLOW_BITS>,
    writer: FlowStateWriter,
}

impl<const FLOW_BITS: usize, const BUCKET_BITS: usize> Logic for FlowTable<FLOW_BITS, BUCKET_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, lookup, by_id, writer);
        self.lookup.reset.next = self.reset.val();
        self.lookup.epoch.next = self.epoch.val();
        self.by_id.reset.next = self.reset.val();
        self.by_id.epoch.next = self.epoch.val();

        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.lookup.settings);
        MessageSink::<FlowLookup>::link(&mut self.flow_lookup, &mut self.lookup.flow_lookup);
        MessageSource::<FlowReply>::link(&mut self.flow_reply, &mut self.lookup.flow_reply);
        PulseSink::<KeyUpdate>::link(&mut self.key_update, &mut self.lookup.key_update);
        self.lookup.cursor_flow.next = self.cursor_flow.val();
        self.cursor.next = self.lookup.cursor.val();
        self.busy.next = self.lookup.busy.val();

        self.by_id.query.valid.next = self.query.valid.val();
        self.by_id.query.payload.next = self.query.payload.val();
        PulseSource::<FlowControl>::link(&mut self.queried, &mut self.by_id.queried);
        MessageSink::<Bits<16>>::link(
            &mut self.send_flow_request,
            &mut self.by_id.send_flow_request,
        );
        MessageSource::<SendFlowReply>::link(
            &mut self.send_flow_reply,
            &mut self.by_id.send_flow_reply,
        );

        PulseSink::<CursorWrite>::link(&mut self.cursor_write, &mut self.writer.cursor_write);
        MessageSink::<FlowUpdate>::link(&mut self.change, &mut self.writer.change);
        self.writer.watch.next = self.query.valid.val();
        self.writer.watch_flow.next = self.query.payload.val();
        self.lookup.change.valid.next = self.writer.change_out.valid.val();
        self.lookup.change.payload.next = self.writer.change_out.payload.val();
        self.by_id.change.valid.next = self.writer.change_out.valid.val();
        self.by_id.change.payload.next = self.writer.change_out.payload.val();
        self.lookup.cursor_write.valid.next = self.writer.cursor_out.valid.val();
        self.lookup.cursor_write.payload.next = self.writer.cursor_out.payload.val();
        self.by_id.cursor_write.valid.next = self.writer.cursor_out.valid.val();
        self.by_id.cursor_write.payload.next = self.writer.cursor_out.payload.val();
    }
}
