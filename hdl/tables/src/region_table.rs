//! Regions: which domain may access which memory, and where that memory lies on the bus.
//!
//! ```text
//!  rx_request ─┐                      ┌─► rx_replies ──► rx_reply
//!  tx_request ─┴─► arbiter ──► pipe ──┴─► tx_replies ──► tx_reply
//!               region, page ──► pipe
//! ```
//! Timing: one access per cycle for both ports together. A reply is offered eight cycles after its
//! request at the earliest. While both ports request, they are granted alternately. `ready` depends
//! on the other port's `valid`.
//!
//! Invariants: those of [`crate::region_table::region_pipe`], and
//! 1. Replies of a port come in request order; at most 16 are pending. A port that does not take
//!    its replies does not hinder the other.
//! 2. An update is taken at once and is visible to requests taken later.
//!
//! Source: `docs/specification.md`, Commands; decision 07.

pub mod region_check;
pub mod region_pipe;

use crate::messages::{PageUpdate, RegionEntry, RegionUpdate};
use crate::pending_replies::PendingReplies;
use crate::region_table::region_pipe::RegionPipe;
use stream::prelude::*;

/// The table. See the module's head.
#[derive(LogicBlock)]
pub struct RegionTable<const REGION_BITS: usize, const PAGE_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the accesses in flight and a removal.
    pub reset: Signal<In, Bit>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Accesses for received payload.
    pub rx_request: MessageSink<RegionRequest>,
    /// Grant and bus address of each `rx_request`.
    pub rx_reply: MessageSource<RegionReply>,
    /// Accesses for sends.
    pub tx_request: MessageSink<RegionRequest>,
    /// Grant and bus address of each `tx_request`.
    pub tx_reply: MessageSource<RegionReply>,

    /// Regions to write. The payload of a removal by key stays until `busy` is low.
    pub region: PulseSink<RegionUpdate>,
    /// Page entries to write.
    pub page: PulseSink<PageUpdate>,
    /// A removal is in progress.
    pub busy: Signal<Out, Bit>,

    pipe: RegionPipe<REGION_BITS, PAGE_BITS>,
    rx_replies: Fifo<RegionReply, 4, 5>,
    tx_replies: Fifo<RegionReply, 4, 5>,
    rx_pending: PendingReplies,
    tx_pending: PendingReplies,
    remove: DFF<Bit>,
    tx_first: DFF<Bit>,

    removal: Signal<Local, RegionRequest>,
    updated: Signal<Local, RegionEntry>,
    removes: Signal<Local, Bit>,
    rx_wants: Signal<Local, Bit>,
    tx_wants: Signal<Local, Bit>,
    rx_accept: Signal<Local, Bit>,
    tx_accept: Signal<Local, Bit>,
}

impl<const REGION_BITS: usize, const PAGE_BITS: usize> Default
    for RegionTable<REGION_BITS, PAGE_BITS>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            epoch: Default::default(),
            rx_request: Default::default(),
            rx_reply: Default::default(),
            tx_request: Default::default(),
            tx_reply: Default::default(),
            region: Default::default(),
            page: Default::default(),
            busy: Default::default(),
            pipe: Default::default(),
            rx_replies: Default::default(),
            tx_replies: Default::default(),
            rx_pending: PendingReplies::new(16),
            tx_pending: PendingReplies::new(16),
            remove: Default::default(),
            tx_first: Default::default(),
            removal: Default::default(),
            updated: Default::default(),
            removes: Default::default(),
            rx_wants: Default::default(),
            tx_wants: Default::default(),
            rx_accept: Default::default(),
            tx_accept: Default::default(),
        }
    }
}

impl<const REGION_BITS: usize, const PAGE_BITS: usize> Logic
    for RegionTable<REGION_BITS, PAGE_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, tx_first, remove);
        clock!(self, clock, rx_pending, tx_pending, pipe, rx_replies, tx_replies);
        self.rx_pending.reset.next = self.reset.val();
        self.tx_pending.reset.next = self.reset.val();
        self.pipe.reset.next = self.reset.val();
        self.pipe.epoch.next = self.epoch.val();
        self.rx_replies.reset.next = self.reset.val();
        self.tx_replies.reset.next = self.reset.val();

        // A removal by key passes through the pipe, which compares the key; all else is written.
        self.updated.next = self.region.payload.val().entry;
        self.removes.next = self.region.valid.val() & self.region.payload.val().by_key;
        self.pipe.region_write.valid.next = self.region.valid.val() & !self.removes.val();
        self.pipe.region_write.payload.next = self.region.payload.val();
        self.remove.d.next = self.removes.val() & !self.reset.val();
        self.removal.next = self.rx_request.payload.val();
        self.removal.next.region = self.region.payload.val().region;
        self.removal.next.region_key = self.updated.val().key;
        self.busy.next = self.remove.q.val() | self.pipe.busy.val();
        PulseSink::<PageUpdate>::link(&mut self.page, &mut self.pipe.page_write);

        // When both ports request, the one that was granted last waits.
        self.rx_wants.next =
            self.rx_request.valid.val() & self.rx_pending.free.val() & !self.remove.q.val();
        self.tx_wants.next =
            self.tx_request.valid.val() & self.tx_pending.free.val() & !self.remove.q.val();
        self.rx_accept.next = self.rx_wants.val() & !(self.tx_wants.val() & self.tx_first.q.val());
        self.tx_accept.next = self.tx_wants.val() & !(self.rx_wants.val() & !self.tx_first.q.val());
        self.rx_request.ready.next = self.rx_accept.val();
        self.tx_request.ready.next = self.tx_accept.val();
        if self.rx_accept.val() {
            self.tx_first.d.next = true;
        }
        if self.tx_accept.val() {
            self.tx_first.d.next = false;
        }
        self.pipe.request.valid.next = self.rx_accept.val() | self.tx_accept.val();
        self.pipe.remove.next = self.remove.q.val();
        self.pipe.request.payload.next.port = self.tx_accept.val();
        self.pipe.request.payload.next.request = self.rx_request.payload.val();
        if self.tx_accept.val() {
            self.pipe.request.payload.next.request = self.tx_request.payload.val();
        }
        if self.remove.q.val() {
            self.pipe.request.payload.next.request = self.removal.val();
        }

        self.rx_replies.sink.valid.next = self.pipe.reply.valid.val() & !self.pipe.reply_port.val();
        self.rx_replies.sink.payload.next = self.pipe.reply.payload.val();
        self.tx_replies.sink.valid.next = self.pipe.reply.valid.val() & self.pipe.reply_port.val();
        self.tx_replies.sink.payload.next = self.pipe.reply.payload.val();
        self.rx_reply.valid.next = self.rx_replies.source.valid.val();
        self.rx_reply.payload.next = self.rx_replies.source.payload.val();
        self.rx_replies.source.ready.next = self.rx_reply.ready.val();
        self.tx_reply.valid.next = self.tx_replies.source.valid.val();
        self.tx_reply.payload.next = self.tx_replies.source.payload.val();
        self.tx_replies.source.ready.next = self.tx_reply.ready.val();

        self.rx_pending.accept.next = self.rx_accept.val();
        self.rx_pending.reply.next = self.rx_replies.source.valid.val() & self.rx_reply.ready.val();
        self.tx_pending.accept.next = self.tx_accept.val();
        self.tx_pending.reply.next = self.tx_replies.source.valid.val() & self.tx_reply.ready.val();
    }
}
