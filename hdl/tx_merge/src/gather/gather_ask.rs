//! Asks for list entries, ahead or on, and takes their answers, of which some are void.
//!
//! ```text
//!  ahead, on ──► register ──► segment_request
//!  segment_reply ──► used, or void (asked for before the last `forget`)
//! ```
//! Timing: a request is offered in the cycle after `ask_ahead` or `ask_on`; `used` follows the
//! answer in the same cycle.
//!
//! Invariants:
//! 1. Answers come in the order of the requests. After `forget`, those of all requests before it
//!    are taken and not used.

use crate::gather::range_queue::RangeAsk;
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct GatherAsk {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is asked for.
    pub reset: Signal<In, Bit>,

    /// First entry of a later range.
    pub ahead: Signal<In, RangeAsk>,
    /// Ask for it.
    pub ask_ahead: Signal<In, Bit>,
    /// Another entry of the range being judged.
    pub on: Signal<In, SegmentRequest>,
    /// Ask for it.
    pub ask_on: Signal<In, Bit>,
    /// A request would be taken.
    pub ready: Signal<Out, Bit>,
    /// Requests.
    pub segment_request: MessageSource<SegmentRequest>,

    /// Answers.
    pub segment_reply: MessageSink<SegmentReply>,
    /// An answer would be used.
    pub wants: Signal<In, Bit>,
    /// It is.
    pub used: Signal<Out, Bit>,
    /// All answers that are open are void; nothing is asked for or used in this cycle.
    pub forget: Signal<In, Bit>,

    request: DFF<SegmentRequest>,
    request_valid: DFF<Bit>,
    open: DFF<Bits<4>>,
    unused: DFF<Bits<4>>,

    free: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    is_void: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
}

impl Logic for GatherAsk {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, request, request_valid, open, unused);
        self.free.next = !self.request_valid.q.val() | self.segment_request.ready.val();
        self.ready.next = self.free.val();
        self.asks.next = self.ask_ahead.val() | self.ask_on.val();
        self.segment_request.valid.next = self.request_valid.q.val();
        self.segment_request.payload.next = self.request.q.val();
        if self.free.val() {
            self.request_valid.d.next = self.asks.val();
            self.request.d.next = self.on.val();
            if self.ask_ahead.val() {
                self.request.d.next.flow = self.ahead.val().flow;
                self.request.d.next.by_index = true;
                self.request.d.next.index = self.ahead.val().index;
            }
        }

        self.is_void.next = self.unused.q.val().any();
        self.used.next = self.wants.val() & !self.is_void.val() & self.segment_reply.valid.val();
        self.segment_reply.ready.next = self.is_void.val() | self.wants.val();
        self.takes.next = self.segment_reply.valid.val() & (self.is_void.val() | self.wants.val());
        if self.asks.val() & !self.takes.val() {
            self.open.d.next = self.open.q.val() + 1;
        } else if !self.asks.val() & self.takes.val() {
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
