//! The path from completions to the read data of the jobs.
//!
//! ```text
//!   rc_* ──► RcSplit ──► RcCheck ──► ReorderMemory ──► ReorderRead ──► Realign ──► packet, client
//!                           └──► events                     ▲
//!   order ──► 256 requests ──► DataWait ────────────────────┘
//! ```
//! Timing and invariants: see the blocks.

use crate::read::data_wait::{CompleteOrder, DataWait};
use crate::read::messages::{ReadOrder, ReadRecord};
use crate::read::rc_check::{Placed, RcCheck};
use crate::read::rc_split::{RcSplit, Slice};
use crate::read::realign::Realign;
use crate::read::reorder_memory::ReorderMemory;
use crate::read::reorder_read::{NaturalBeat, ReorderRead};
use crate::read::tag::{Tag, TagEvent, TAG_BITS};
use stream::prelude::*;

/// The block. See the module's head.
#[derive(LogicBlock, Default)]
pub struct ReadReturn {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets all requests. Completions that arrive later are checked against their tags as usual.
    pub reset: Signal<In, Bit>,
    /// The PCIe hard block is in reset: the RC beats that are held are forgotten.
    pub link_reset: Signal<In, Bit>,

    /// Data of the RC port.
    pub rc_tdata: Signal<In, Bits<512>>,
    /// Side band of the RC port, straddle of four TLPs.
    pub rc_tuser: Signal<In, Bits<161>>,
    /// A beat is offered on the RC port.
    pub rc_tvalid: Signal<In, Bit>,
    /// The beat is taken.
    pub rc_tready: Signal<Out, Bit>,
    /// Requests in job order.
    pub order: MessageSink<ReadOrder>,
    /// Read data: one packet for each job, in job order.
    pub packet: PacketSource,
    /// Client that the packet is for.
    pub client: Signal<Out, Bits<2>>,

    /// A request is sent.
    pub issue: Signal<In, Bit>,
    /// Tag of the request that is sent.
    pub issue_tag: Signal<In, Tag>,
    /// What the request that is sent expects.
    pub record: Signal<In, ReadRecord>,
    /// Tag of the completion that begins.
    pub start_tag: Signal<Out, Tag>,
    /// The tag of the completion that begins is outstanding; combinational reply.
    pub start_outstanding: Signal<In, Bit>,
    /// Tag of the completion that continues.
    pub tail_tag: Signal<Out, Tag>,
    /// The tag of the completion that continues is outstanding; combinational reply.
    pub tail_outstanding: Signal<In, Bit>,
    /// Tag of the oldest request.
    pub oldest_tag: Signal<Out, Tag>,
    /// The read data of the oldest request are complete; combinational reply to `oldest_tag`.
    pub done: Signal<In, Bit>,
    /// The read data of the oldest request are wrong or missing in part.
    pub failed: Signal<In, Bit>,
    /// A completion ends; of two in one cycle the older.
    pub event_0: PulseSource<TagEvent>,
    /// A completion ends; of two in one cycle the younger.
    pub event_1: PulseSource<TagEvent>,
    /// A completion came whose tag is not outstanding.
    pub unexpected: Signal<Out, Bit>,
    /// The read data of this request have been read from the reorder memory.
    pub retire: PulseSource<ReadOrder>,

    split: RcSplit,
    check: RcCheck,
    memory: ReorderMemory,
    queue: BlockFifo<ReadOrder, { TAG_BITS }, { TAG_BITS + 1 }>,
    data_wait: DataWait,
    reorder_read: ReorderRead,
    realign: Realign,
}

impl Logic for ReadReturn {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, split, check, memory, queue, data_wait);
        clock!(self, clock, reorder_read, realign);
        self.split.link_reset.next = self.link_reset.val();
        self.queue.reset.next = self.reset.val();
        self.data_wait.reset.next = self.reset.val();
        self.reorder_read.reset.next = self.reset.val();
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
        MessageSource::<ReadOrder>::join(&mut self.queue.source, &mut self.data_wait.order);
        self.oldest_tag.next = self.data_wait.tag.val();
        self.data_wait.done.next = self.done.val();
        self.data_wait.failed.next = self.failed.val();
        MessageSource::<CompleteOrder>::join(
            &mut self.data_wait.complete,
            &mut self.reorder_read.complete,
        );
        self.memory.read_address.next = self.reorder_read.read_address.val();
        self.reorder_read.read_data.next = self.memory.read_data.val();
        PulseSource::<ReadOrder>::link(&mut self.retire, &mut self.reorder_read.retire);
        MessageSource::<NaturalBeat>::join(&mut self.reorder_read.beat, &mut self.realign.beat);
        PacketSource::link(&mut self.packet, &mut self.realign.packet);
        self.client.next = self.realign.client.val();
    }
}
