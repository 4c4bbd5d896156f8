//! Says what is appended next to the frame under construction, and counts what was.
//!
//! ```text
//!  cut, header, answer ──► next item: up to a beat of the header,
//!                          ▲          then what this answer beat has for the frame
//!                          └─ counts ◄── take
//! ```
//! Timing: the item is combinational from the beats offered; `take` moves the counts in the next
//! cycle.
//!
//! Invariants:
//! 1. `last` marks the item that completes the frame, `answer_done` the one that uses an answer
//!    beat up.

use crate::plan::{FrameCut, HeaderLayout, SendItem};
use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock, Default)]
pub struct MergeItem {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets everything.
    pub reset: Signal<In, Bit>,

    /// The frame.
    pub cut: Signal<In, FrameCut>,
    /// Header beat offered.
    pub header_data: Signal<In, Bits<512>>,
    /// Answer beat offered.
    pub answer: Signal<In, PacketBeat>,
    /// The item is taken.
    pub take: Signal<In, Bit>,

    /// The item.
    pub item: Signal<Out, SendItem>,
    /// It comes from the header.
    pub in_header: Signal<Out, Bit>,
    /// It is the first of its frame.
    pub first: Signal<Out, Bit>,
    /// It uses the answer beat up.
    pub answer_done: Signal<Out, Bit>,

    header_sent: DFF<Bits<8>>,
    payload_sent: DFF<Bits<14>>,
    answer_start: DFF<Bits<7>>,
    failed: DFF<Bit>,

    layout: Signal<Local, HeaderLayout>,
    header_rest: Signal<Local, Bits<8>>,
    payload_rest: Signal<Local, Bits<14>>,
    answer_rest: Signal<Local, Bits<7>>,
    is_header: Signal<Local, Bit>,
    uses_up: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    abort: Signal<Local, Bit>,
    count: Signal<Local, Bits<7>>,
}

impl Logic for MergeItem {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, header_sent, payload_sent, answer_start, failed);
        self.layout.next = self.cut.val().layout;
        self.header_rest.next = self.layout.val().header_bytes - self.header_sent.q.val();
        self.payload_rest.next = self.cut.val().payload_bytes - self.payload_sent.q.val();
        self.answer_rest.next = self.answer.val().byte_count - self.answer_start.q.val();
        self.is_header.next = self.header_rest.val().any();
        self.first.next = !self.header_sent.q.val().any();
        self.in_header.next = self.is_header.val();

        self.item.next.data = self.answer.val().data;
        self.item.next.start = bit_cast::<6, 7>(self.answer_start.q.val());
        self.count.next = self.answer_rest.val();
        self.last.next = false;
        if self.is_header.val() {
            self.item.next.data = self.header_data.val();
            self.item.next.start = 0.into();
            self.count.next = 64.into();
            if self.header_rest.val() <= 64 {
                self.count.next = bit_cast::<7, 8>(self.header_rest.val());
                self.last.next = !self.cut.val().payload_bytes.any();
            }
        } else if self.payload_rest.val() <= bit_cast::<14, 7>(self.answer_rest.val()) {
            self.count.next = bit_cast::<7, 14>(self.payload_rest.val());
            self.last.next = true;
        }
        self.uses_up.next = !self.is_header.val() & (self.count.val() == self.answer_rest.val());
        self.answer_done.next = self.uses_up.val();
        self.abort.next = self.failed.q.val() | (!self.is_header.val() & self.answer.val().abort);
        self.item.next.byte_count = self.count.val();
        self.item.next.last = self.last.val();
        self.item.next.abort = self.abort.val();

        if self.take.val() {
            self.failed.d.next = self.abort.val() & !self.last.val();
            if self.is_header.val() {
                self.header_sent.d.next =
                    self.header_sent.q.val() + bit_cast::<8, 7>(self.count.val());
            } else {
                self.payload_sent.d.next =
                    self.payload_sent.q.val() + bit_cast::<14, 7>(self.count.val());
                self.answer_start.d.next = self.answer_start.q.val() + self.count.val();
            }
        }
        if self.reset.val() | (self.take.val() & self.uses_up.val()) {
            self.answer_start.d.next = 0.into();
        }
        if self.reset.val() | (self.take.val() & self.last.val()) {
            self.header_sent.d.next = 0.into();
            self.payload_sent.d.next = 0.into();
            self.failed.d.next = false;
        }
    }
}
