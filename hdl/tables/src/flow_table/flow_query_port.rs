//! State by flow id, for commands and for sends.
//!
//! ```text
//!  query (command) ───┐
//!  send_flow_request ─┴─► copy (2 cycles) ──► queried, send_flow_reply
//! ```
//! Timing: a query is taken at once and its state comes two cycles later. It goes before a send
//! request, whose `ready` depends on `query.valid`. A send reply is offered three cycles after its
//! request at the earliest; at most 4 are pending.
//!
//! Invariants:
//! 1. There is one reply for each request, in order.
//! 2. A flow id that does not exist is no hit.
//! 3. `reset` forgets what is in flight.

use crate::flow_table::flow_copies::FlowQueryCopy;
use crate::messages::{beyond_mask, FlowControl, FlowInstalled, FlowUpdate};
use crate::pending_replies::PendingReplies;
use stream::prelude::*;

/// The port. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct FlowQueryPort<const FLOW_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the requests in flight.
    pub reset: Signal<In, Bit>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Flow id that a command names.
    pub query: PulseSink<Bits<16>>,
    /// State of the flow of `query`, two cycles later.
    pub queried: PulseSource<FlowControl>,
    /// Flow ids of sends.
    pub send_flow_request: MessageSink<Bits<16>>,
    /// State of the flow for each of the `send_flow_request`.
    pub send_flow_reply: MessageSource<SendFlowReply>,

    /// Flow state to write.
    pub change: PulseSink<FlowUpdate>,
    /// Cursors to write.
    pub cursor_write: PulseSink<CursorWrite>,

    copy: FlowQueryCopy<FLOW_BITS>,
    replies: Fifo<SendFlowReply, 2, 3>,
    #[value(PendingReplies::new(4))]
    pending: PendingReplies,

    query_stages: DFF<Bits<2>>,
    send_stages: DFF<Bits<2>>,
    range_read: DFF<Bit>,
    range_state: DFF<Bit>,

    flow: Signal<Local, Bits<16>>,
    installed: Signal<Local, FlowInstalled>,
    free: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
    #[value(beyond_mask::<FLOW_BITS>())]
    flow_beyond: Constant<Bits<16>>,
}

impl<const FLOW_BITS: usize> Logic for FlowQueryPort<FLOW_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, query_stages, send_stages, range_read, range_state);
        clock!(self, clock, copy, replies, pending);
        self.copy.epoch.next = self.epoch.val();
        self.replies.reset.next = self.reset.val();
        PulseSink::<FlowUpdate>::link(&mut self.change, &mut self.copy.change);
        PulseSink::<CursorWrite>::link(&mut self.cursor_write, &mut self.copy.cursor_write);
        self.send_flow_reply.valid.next = self.replies.source.valid.val();
        self.send_flow_reply.payload.next = self.replies.source.payload.val();
        self.replies.source.ready.next = self.send_flow_reply.ready.val();

        self.free.next = self.pending.free.val() & !self.query.valid.val();
        self.send_flow_request.ready.next = self.free.val();
        self.accept.next = self.send_flow_request.valid.val() & self.free.val();
        self.pending.reset.next = self.reset.val();
        self.pending.accept.next = self.accept.val();
        self.pending.reply.next =
            self.replies.source.valid.val() & self.send_flow_reply.ready.val();

        self.flow.next = self.send_flow_request.payload.val();
        if self.query.valid.val() {
            self.flow.next = self.query.payload.val();
        }
        self.copy.read.next = self.query.valid.val() | self.accept.val();
        self.copy.flow.next = bit_cast::<FLOW_BITS, 16>(self.flow.val());
        self.range_read.d.next = (self.flow.val() & self.flow_beyond.val()) == bits::<16>(0);
        self.range_state.d.next = self.range_read.q.val();
        self.query_stages.d.next =
            (self.query_stages.q.val() << 1) | bit_cast::<2, 1>(self.query.valid.val().into());
        self.send_stages.d.next =
            (self.send_stages.q.val() << 1) | bit_cast::<2, 1>(self.accept.val().into());

        self.installed.next = self.copy.state.val().installed;
        self.queried.valid.next = self.query_stages.q.val().get_bit(1);
        self.queried.payload.next = self.copy.state.val();
        self.replies.sink.valid.next = self.send_stages.q.val().get_bit(1);
        self.replies.sink.payload.next.hit = self.copy.state.val().hit & self.range_state.q.val();
        self.replies.sink.payload.next.generation = self.installed.val().generation;
        self.replies.sink.payload.next.owner = self.installed.val().owner;
        self.replies.sink.payload.next.domain = self.installed.val().domain;
        self.replies.sink.payload.next.floor = self.copy.state.val().send_floor;

        if self.reset.val() {
            self.query_stages.d.next = 0.into();
            self.send_stages.d.next = 0.into();
        }
    }
}
