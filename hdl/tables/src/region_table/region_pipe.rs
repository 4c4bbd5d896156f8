//! Checks accesses to regions and translates them, one per cycle.
//!
//! ```text
//!  request ─► region ─► check ─► bounds ─► page ─► address ─► reply
//!             memory    key ...  page entry  memory
//! ```
//! Timing: a pulse in, a pulse out seven cycles later with its `port`; never stalled. A write is
//! seen by a request of the next cycle.
//!
//! Invariants:
//! 1. `granted` only when region and page entry were written in this epoch, key, domain and right
//!    match, and offset + bytes does not exceed the region's length.
//! 2. Address and bytes stay inside one page: the low bits of the offset are appended to the page's
//!    address.
//! 3. A removal with another key changes nothing. It is complete when `busy` is low.

use crate::epoch_ram::EpochRam;
use crate::messages::{
    beyond_mask, PageUpdate, RegionAccess, RegionChecked, RegionEntry, RegionLocated, RegionUpdate,
};
use crate::region_table::region_check::{RegionCheck, RegionLocate, RegionRemoval, RegionStages};
use stream::prelude::*;

/// The pipeline. See the module's head.
#[derive(LogicBlock)]
pub struct RegionPipe<const REGION_BITS: usize, const PAGE_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the accesses in flight and a removal.
    pub reset: Signal<In, Bit>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Accesses, each with its port.
    pub request: PulseSink<RegionAccess>,
    /// The request is a removal: it gets no reply, and the region is removed if it has the key.
    pub remove: Signal<In, Bit>,
    /// Grant and bus address of each access.
    pub reply: PulseSource<RegionReply>,
    /// Port of the reply.
    pub reply_port: Signal<Out, Bit>,
    /// Regions to write. The payload of a removal by key stays until `busy` is low.
    pub region_write: PulseSink<RegionUpdate>,
    /// Page entries to write.
    pub page_write: PulseSink<PageUpdate>,
    /// A removal is in progress.
    pub busy: Signal<Out, Bit>,

    regions: EpochRam<RegionEntry, REGION_BITS>,
    pages: EpochRam<Bits<64>, PAGE_BITS>,

    read: DFF<RegionRequest>,
    registered: DFF<RegionRequest>,
    in_range: DFF<Bit>,
    in_range_read: DFF<Bit>,
    region_requested: DFF<Bit>,
    epoch_kept: DFF<Bits<16>>,
    checked: DFF<RegionChecked>,
    located: DFF<RegionLocated>,
    page_requested: DFF<Bit>,
    translated: DFF<RegionReply>,

    check: RegionCheck,
    locate: RegionLocate,
    removal: RegionRemoval,
    stages: RegionStages,

    region: Signal<Local, RegionEntry>,
    region_reads: Signal<Local, Bit>,
    page_located: Signal<Local, RegionLocated>,
    current: Signal<Local, Bit>,
    access: Signal<Local, RegionRequest>,
    region_beyond: Constant<Bits<16>>,
}

impl<const REGION_BITS: usize, const PAGE_BITS: usize> Default
    for RegionPipe<REGION_BITS, PAGE_BITS>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            epoch: Default::default(),
            request: Default::default(),
            remove: Default::default(),
            reply: Default::default(),
            reply_port: Default::default(),
            region_write: Default::default(),
            page_write: Default::default(),
            busy: Default::default(),
            regions: Default::default(),
            pages: Default::default(),
            read: Default::default(),
            registered: Default::default(),
            in_range: Default::default(),
            in_range_read: Default::default(),
            region_requested: Default::default(),
            epoch_kept: Default::default(),
            checked: Default::default(),
            located: Default::default(),
            page_requested: Default::default(),
            translated: Default::default(),
            check: Default::default(),
            locate: Default::default(),
            removal: Default::default(),
            stages: Default::default(),
            region: Default::default(),
            region_reads: Default::default(),
            page_located: Default::default(),
            current: Default::default(),
            access: Default::default(),
            region_beyond: Constant::new(beyond_mask::<REGION_BITS>().to_bits()),
        }
    }
}

impl<const REGION_BITS: usize, const PAGE_BITS: usize> Logic
    for RegionPipe<REGION_BITS, PAGE_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, epoch_kept, read, registered, in_range);
        dff_setup!(self, clock, in_range_read, region_requested, checked, located);
        dff_setup!(self, clock, page_requested, translated);
        clock!(self, clock, regions, pages, stages, removal);

        // Region: latch, then register. What enters with a new epoch is compared two cycles later.
        self.epoch_kept.d.next = self.epoch.val();
        self.access.next = self.request.payload.val().request;
        self.region_reads.next = self.request.valid.val() | self.remove.val();
        self.region_requested.d.next = self.region_reads.val();
        self.regions.read_enable.next = self.region_reads.val();
        self.regions.register_enable.next = self.region_requested.q.val();
        self.regions.read_address.next = bit_cast::<REGION_BITS, 16>(self.access.val().region);
        self.read.d.next = self.access.val();
        self.in_range.d.next =
            (self.access.val().region & self.region_beyond.val()) == bits::<16>(0);
        self.registered.d.next = self.read.q.val();
        self.region.next = self.regions.read_data.val();
        self.in_range_read.d.next = self.in_range.q.val();

        // Check, bounds.
        self.current.next =
            self.in_range_read.q.val() & (self.regions.read_epoch.val() == self.epoch_kept.q.val());
        self.check.request.next = self.registered.q.val();
        self.check.region.next = self.region.val();
        self.checked.d.next = self.check.checked.val();
        self.checked.d.next.granted = self.check.checked.val().granted & self.current.val();
        self.locate.checked.next = self.checked.q.val();
        self.located.d.next = self.locate.located.val();

        // Page: latch, register, then address.
        self.page_requested.d.next = self.stages.locates.val();
        self.pages.read_enable.next = self.stages.locates.val();
        self.pages.register_enable.next = self.page_requested.q.val();
        self.pages.read_address.next = bit_cast::<PAGE_BITS, 16>(self.located.q.val().page);
        self.stages.located.next = self.located.q.val();
        self.page_located.next = self.stages.page_located.val();
        self.translated.d.next.granted = self.page_located.val().granted
            & (self.pages.read_epoch.val() == self.epoch_kept.q.val());
        self.translated.d.next.address =
            self.pages.read_data.val() | bit_cast::<64, 31>(self.page_located.val().page_offset);
        self.translated.d.next.bytes = self.page_located.val().bytes;
        self.translated.d.next.memory = self.page_located.val().memory;

        self.stages.reset.next = self.reset.val();
        self.stages.enter.next = self.request.valid.val();
        self.stages.enter_port.next = self.request.payload.val().port;
        self.reply.valid.next = self.stages.leave.val();
        self.reply_port.next = self.stages.leave_port.val();
        self.reply.payload.next = self.translated.q.val();

        self.removal.reset.next = self.reset.val();
        self.removal.remove.next = self.remove.val();
        self.removal.key_equal.next =
            self.current.val() & (self.region.val().key == self.registered.q.val().region_key);
        self.busy.next = self.removal.busy.val();
        self.regions.write_address.next =
            bit_cast::<REGION_BITS, 16>(self.region_write.payload.val().region);
        self.regions.write_data.next = self.region_write.payload.val().entry;
        self.regions.write_epoch.next = self.region_write.payload.val().epoch;
        self.regions.write_enable.next = self.region_write.valid.val() | self.removal.removes.val();
        self.pages.write_address.next =
            bit_cast::<PAGE_BITS, 16>(self.page_write.payload.val().page);
        self.pages.write_data.next = self.page_write.payload.val().address;
        self.pages.write_epoch.next = self.page_write.payload.val().epoch;
        self.pages.write_enable.next = self.page_write.valid.val();
    }
}
