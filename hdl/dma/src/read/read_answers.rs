//! The way of completions to the answers of read jobs.
//!
//! ```text
//!   rc_* ──► RcSplit ──► RcCheck ──► ReorderMemory ──► Gather ──► Realign ──► packet, client
//!                           └──► events                  ▲
//!   order ──► 256 requests ──► AnswerWait ───────────────┘
//! ```
//! Timing and invariants: those of the blocks.

use crate::read::answer_wait::{AnswerWait, CompleteOrder};
use crate::read::deliver::{Gather, NaturalBeat, Realign};
use crate::read::messages::{ReadOrder, ReadRecord};
use crate::read::rc_check::{Placed, RcCheck};
use crate::read::rc_split::{RcSplit, Slice};
use crate::read::reorder::ReorderMemory;
use crate::read::tag::{Tag, TagEvent, TAG_BITS};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadAnswers {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets all requests.
    pub reset: Signal<In, Bit>,
    /// The hard block is in reset: forgets its beats.
    pub link_reset: Signal<In, Bit>,

    /// RC data.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// RC side band.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// RC beat is offered.
    pub rc_tvalid: Signal<In, Bit>,
    /// RC beat is taken.
    pub rc_tready: Signal<Out, Bit>,
    /// Requests in job order.
    pub order: MessageSink<ReadOrder>,
    /// Answers out.
    pub packet: PacketSource,
    /// Client that the packet is for.
    pub client: Signal<Out, Bits<2>>,

    /// A request goes out.
    pub issue: Signal<In, Bit>,
    /// Its tag.
    pub issue_tag: Signal<In, Tag>,
    /// What it expects.
    pub record: Signal<In, ReadRecord>,
    /// Tag of the completion that begins.
    pub start_tag: Signal<Out, Tag>,
    /// It is outstanding.
    pub start_outstanding: Signal<In, Bit>,
    /// Tag of the completion that goes on.
    pub tail_tag: Signal<Out, Tag>,
    /// It is outstanding.
    pub tail_outstanding: Signal<In, Bit>,
    /// Tag of the oldest request.
    pub answer_tag: Signal<Out, Tag>,
    /// Its answer is complete.
    pub done: Signal<In, Bit>,
    /// Its answer is wrong.
    pub failed: Signal<In, Bit>,
    /// A completion ends; of two in one cycle the older.
    pub event_0: PulseSource<TagEvent>,
    /// A completion ends.
    pub event_1: PulseSource<TagEvent>,
    /// A completion without a request.
    pub unexpected: Signal<Out, Bit>,
    /// The answer to this request has been read.
    pub retire: PulseSource<ReadOrder>,

    split: RcSplit,
    check: RcCheck,
    memory: ReorderMemory,
    queue: BlockFifo<ReadOrder, { TAG_BITS }, { TAG_BITS + 1 }>,
    answer_wait: AnswerWait,
    gather: Gather,
    realign: Realign,
}

impl Logic for ReadAnswers {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, split, check, memory, queue, answer_wait);
        clock!(self, clock, gather, realign);
        self.split.link_reset.next = self.link_reset.val();
        self.queue.reset.next = self.reset.val();
        self.answer_wait.reset.next = self.reset.val();
        self.gather.reset.next = self.reset.val();
        self.realign.reset.next = self.reset.val();

        // Completions are taken apart, judged and stored.
        self.split.rc_tdata.next = self.rc_tdata.val();
        self.split.rc_tuser.next = self.rc_tuser.val();
        self.split.rc_tvalid.next = self.rc_tvalid.val();
        self.rc_tready.next = self.split.rc_tready.val();
        PulseSource::<Slice>::join(&mut self.split.slice, &mut self.check.slice);
        self.check.issue.next = self.issue.val();
        self.check.issue_tag.next = self.issue_tag.val();
        self.check.record.next = self.record.val();
        self.start_tag.next = self.check.start_tag.val();
        self.check.start_outstanding.next = self.start_outstanding.val();
        self.tail_tag.next = self.check.tail_tag.val();
        self.check.tail_outstanding.next = self.tail_outstanding.val();
        PulseSource::<TagEvent>::link(&mut self.event_0, &mut self.check.event_0);
        PulseSource::<TagEvent>::link(&mut self.event_1, &mut self.check.event_1);
        self.unexpected.next = self.check.unexpected.val();
        PulseSource::<Placed>::join(&mut self.check.placed, &mut self.memory.placed);

        // Complete requests are read in job order.
        MessageSink::<ReadOrder>::link(&mut self.order, &mut self.queue.sink);
        MessageSource::<ReadOrder>::join(&mut self.queue.source, &mut self.answer_wait.order);
        self.answer_tag.next = self.answer_wait.tag.val();
        self.answer_wait.done.next = self.done.val();
        self.answer_wait.failed.next = self.failed.val();
        MessageSource::<CompleteOrder>::join(
            &mut self.answer_wait.complete,
            &mut self.gather.complete,
        );
        self.memory.read_address.next = self.gather.read_address.val();
        self.gather.read_data.next = self.memory.read_data.val();
        PulseSource::<ReadOrder>::link(&mut self.retire, &mut self.gather.retire);
        MessageSource::<NaturalBeat>::join(&mut self.gather.beat, &mut self.realign.beat);
        PacketSource::link(&mut self.packet, &mut self.realign.packet);
        self.client.next = self.realign.client.val();
    }
}
