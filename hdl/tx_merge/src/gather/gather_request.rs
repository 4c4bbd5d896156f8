//! Requests list entries and takes the replies, some of which are void.
//!
//! ```text
//!  ahead, entry ──► register ──► segment_request
//!  segment_reply ──► used, or void (requested before the last `forget`)
//! ```
//! Timing: a request is offered in the cycle after `request_ahead` or `request_entry`. `used`
//! follows the reply, and `ready` follows `segment_request.ready`, in the same cycle.
//!
//! Invariants:
//! 1. Replies come in the order of the requests. After `forget`, those of all requests before it
//!    are taken and not used.
//! 2. `request_ahead` and `request_entry` come only while `ready` is high, never both.

use crate::gather::range_queue::RangeLookup;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GatherRequest {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Drops the request that is offered, and expects no replies any more.
    pub reset: Signal<In, Bit>,

    /// First entry of a later range.
    pub ahead: Signal<In, RangeLookup>,
    /// Request `ahead`.
    pub request_ahead: Signal<In, Bit>,
    /// Another entry of the range being judged.
    pub entry: Signal<In, SegmentRequest>,
    /// Request `entry`.
    pub request_entry: Signal<In, Bit>,
    /// A request would be taken.
    pub ready: Signal<Out, Bit>,
    /// Requests, by index or by position.
    pub segment_request: MessageSource<SegmentRequest>,

    /// Replies, in the order of the requests.
    pub segment_reply: MessageSink<SegmentReply>,
    /// A reply would be used.
    pub wants: Signal<In, Bit>,
    /// A reply is used in this cycle.
    pub used: Signal<Out, Bit>,
    /// The replies to all requests so far are void; nothing is requested or used in this cycle.
    pub forget: Signal<In, Bit>,

    request: DFF<SegmentRequest>,
    request_valid: DFF<Bit>,
    open: DFF<Bits<4>>,
    unused: DFF<Bits<4>>,

    free: Signal<Local, Bit>,
    requests: Signal<Local, Bit>,
    is_void: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
}

impl Logic for GatherRequest {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, request, request_valid, open, unused);
        self.free.next = !self.request_valid.q.val() | self.segment_request.ready.val();
        self.ready.next = self.free.val();
        self.requests.next = self.request_ahead.val() | self.request_entry.val();
        self.segment_request.valid.next = self.request_valid.q.val();
        self.segment_request.payload.next = self.request.q.val();
        if self.free.val() {
            self.request_valid.d.next = self.requests.val();
            self.request.d.next = self.entry.val();
            if self.request_ahead.val() {
                self.request.d.next.flow = self.ahead.val().flow;
                self.request.d.next.by_index = true;
                self.request.d.next.index = self.ahead.val().index;
            }
        }

        self.is_void.next = self.unused.q.val().any();
        self.used.next = self.wants.val() & !self.is_void.val() & self.segment_reply.valid.val();
        self.segment_reply.ready.next = self.is_void.val() | self.wants.val();
        self.takes.next = self.segment_reply.valid.val() & (self.is_void.val() | self.wants.val());
        if self.requests.val() & !self.takes.val() {
            self.open.d.next = self.open.q.val() + 1;
        } else if !self.requests.val() & self.takes.val() {
            self.open.d.next = self.open.q.val() - 1;
        }
        if self.is_void.val() & self.segment_reply.valid.val() {
            self.unused.d.next = self.unused.q.val() - 1;
        }
        if self.forget.val() {
            self.unused.d.next = self.open.q.val();
        }
        if self.reset.val() {
            self.request_valid.d.next = false;
            self.open.d.next = 0.into();
            self.unused.d.next = 0.into();
        }
    }
}
