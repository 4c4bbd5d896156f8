//! Gives the completion credit of a read back when its last completion has been taken from the hard
//! block.
//!
//! ```text
//!   issue ──► credit by tag ──┐
//!   event_0, event_1 ─────────┴──► sum of those that finish ──► headers, data
//! ```
//! Timing: one cycle after the event, which is seven cycles after the beat was taken from the hard
//! block.
//!
//! Invariants:
//! 1. The credit of a read is given back once: when its last completion ends while its tag is
//!    outstanding. That of a timed-out read is never given back: its completions may still come.
//!    Of two events of a read in one cycle the older ends it, whichever it is.
//! 2. Nothing is given back for reads from before a reset: `draining` lasts until they have ended.
//!
//! Source: PG213, receive buffer: what the user side has taken is free.

use crate::read::completion_credit::ReadCredit;
use crate::read::tag::{Tag, TagEvent, TAG_BITS};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct CreditReturn {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Reads are forgotten: nothing is given back for them.
    pub reset: Signal<In, Bit>,
    /// Reads from before the reset have not all ended.
    pub draining: Signal<In, Bit>,

    /// A read starts.
    pub issue: Signal<In, Bit>,
    /// Tag of the read that starts.
    pub issue_tag: Signal<In, Tag>,
    /// Credit of the read that starts.
    pub issue_credit: Signal<In, ReadCredit>,
    /// A completion ends; of two in one cycle the older.
    pub event_0: PulseSink<TagEvent>,
    /// A completion ends; of two in one cycle the younger.
    pub event_1: PulseSink<TagEvent>,
    /// The tags of event 0 and of event 1 are outstanding.
    pub event_known: [Signal<In, Bit>; 2],

    /// Completion headers that are given back in this cycle.
    pub headers: Signal<Out, Bits<5>>,
    /// Completion data that is given back in this cycle, in units of 16 bytes.
    pub data: Signal<Out, Bits<7>>,

    credits_0: LutRam<ReadCredit, TAG_BITS>,
    credits_1: LutRam<ReadCredit, TAG_BITS>,
    credit_0: DFF<ReadCredit>,
    credit_1: DFF<ReadCredit>,
    is_due_0: DFF<Bit>,
    is_due_1: DFF<Bit>,

    tag_0: Signal<Local, Tag>,
    tag_1: Signal<Local, Tag>,
    over_0: Signal<Local, Bit>,
    due_0: Signal<Local, Bit>,
    due_1: Signal<Local, Bit>,
    headers_0: Signal<Local, Bits<5>>,
    headers_1: Signal<Local, Bits<5>>,
    data_0: Signal<Local, Bits<7>>,
    data_1: Signal<Local, Bits<7>>,
    counts: Signal<Local, Bit>,
}

impl Logic for CreditReturn {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, credit_0, credit_1, is_due_0, is_due_1);
        clock!(self, clock, credits_0, credits_1);
        self.credits_0.write_address.next = self.issue_tag.val();
        self.credits_1.write_address.next = self.issue_tag.val();
        self.credits_0.write_data.next = self.issue_credit.val();
        self.credits_1.write_data.next = self.issue_credit.val();
        self.credits_0.write_enable.next = self.issue.val();
        self.credits_1.write_enable.next = self.issue.val();

        self.tag_0.next = self.event_0.payload.val().tag;
        self.tag_1.next = self.event_1.payload.val().tag;
        self.credits_0.read_address.next = self.tag_0.val();
        self.credits_1.read_address.next = self.tag_1.val();
        self.counts.next = !self.reset.val() & !self.draining.val();
        self.due_0.next = self.event_0.valid.val()
            & self.event_0.payload.val().finished
            & !self.event_0.payload.val().timed_out
            & self.event_known[0].val();
        // What the older event ends or gives up, the younger one finds no more.
        self.over_0.next = self.event_0.valid.val()
            & (self.event_0.payload.val().finished | self.event_0.payload.val().timed_out)
            & self.event_known[0].val();
        self.due_1.next = self.event_1.valid.val()
            & self.event_1.payload.val().finished
            & !self.event_1.payload.val().timed_out
            & self.event_known[1].val()
            & !(self.over_0.val() & (self.tag_0.val() == self.tag_1.val()));
        self.is_due_0.d.next = self.due_0.val() & self.counts.val();
        self.is_due_1.d.next = self.due_1.val() & self.counts.val();
        self.credit_0.d.next = self.credits_0.read_data.val();
        self.credit_1.d.next = self.credits_1.read_data.val();

        self.headers_0.next = 0.into();
        self.data_0.next = 0.into();
        if self.is_due_0.q.val() {
            self.headers_0.next = bit_cast::<5, 4>(self.credit_0.q.val().headers);
            self.data_0.next = bit_cast::<7, 6>(self.credit_0.q.val().data);
        }
        self.headers_1.next = 0.into();
        self.data_1.next = 0.into();
        if self.is_due_1.q.val() {
            self.headers_1.next = bit_cast::<5, 4>(self.credit_1.q.val().headers);
            self.data_1.next = bit_cast::<7, 6>(self.credit_1.q.val().data);
        }
        self.headers.next = self.headers_0.val() + self.headers_1.val();
        self.data.next = self.data_0.val() + self.data_1.val();
    }
}
