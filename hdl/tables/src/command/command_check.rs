//! Finds what is wrong with a command without looking at any table.
//!
//! | fault | commands |
//! |---|---|
//! | `index_bad`: flow id | all that name a flow (not `key_clear`) |
//! | `index_bad`: owner | `flow_install` |
//! | `index_bad`: bucket | `key_set`, `key_clear` |
//! | `index_bad`: region | `segment_post`, an appending `flow_advance`, `region_*` |
//! | `index_bad`: page entry, or the last one of a region | `page_set`, `region_install` |
//! | `range_bad`: list beyond all entries, or of more than 2^12 | `flow_install`, `list_move` |
//! | `range_bad`: segment beyond what an offset can name | `segment_post`, an appending one |
//! | `range_bad`: page size | `region_install` |
//! | `range_bad`: address not aligned to the smallest page | `page_set` |
//!
//! Timing: `kind` comes one cycle after `data` or later. `index_bad` and `range_bad` are valid at
//! most three cycles after `data`, and two after `kind`.
//!
//! Invariants:
//! 1. Only faults that this table gives for the kind of the command are reported.
//!
//! Source: `docs/specification.md`, Commands.

use crate::command::command_kind::CommandKind;
use crate::messages::beyond_mask;
use abi::config::{PAGE_BITS_MAX, PAGE_BITS_MIN, SEGMENTS_BORROWED_BITS_MAX};
use stream::prelude::*;

/// Checks whether a list lies among the entries.
#[derive(LogicBlock, BlockDefault)]
pub struct ListRange<const SEGMENT_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// First entry of the list.
    pub base: Signal<In, Bits<24>>,
    /// log2 entries of the list.
    pub list_bits: Signal<In, Bits<4>>,
    /// The list's last entry does not exist, or the list is longer than allowed; one cycle later.
    pub range_bad: Signal<Out, Bit>,

    bad: DFF<Bit>,
    list_end: Signal<Local, Bits<25>>,
    #[value(1)]
    one: Constant<Bits<25>>,
    #[value(1 << SEGMENT_BITS)]
    total: Constant<Bits<25>>,
    #[value(SEGMENTS_BORROWED_BITS_MAX as u64)]
    bits_max: Constant<Bits<4>>,
}

impl<const SEGMENT_BITS: usize> Logic for ListRange<SEGMENT_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, bad);
        self.list_end.next = bit_cast::<25, 24>(self.base.val())
            + (self.one.val() << bit_cast::<25, 4>(self.list_bits.val()));
        self.bad.d.next =
            (self.list_end.val() > self.total.val()) | (self.list_bits.val() > self.bits_max.val());
        self.range_bad.next = self.bad.q.val();
    }
}

/// Checks whether a region's page entries exist. The length is rounded up, counted in pages and
/// added to the first entry, with a register after each step.
#[derive(LogicBlock, BlockDefault)]
pub struct PageRange<const PAGE_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// First page entry of the region.
    pub first_page: Signal<In, Bits<16>>,
    /// Length of the region in bytes.
    pub bytes: Signal<In, Bits<48>>,
    /// log2 bytes of a page.
    pub page_bits: Signal<In, Bits<5>>,
    /// The region's last page entry does not exist; three cycles later.
    pub index_bad: Signal<Out, Bit>,
    /// The page size is not allowed.
    pub range_bad: Signal<Out, Bit>,

    round_up: Signal<Local, Bits<50>>,
    shift: Signal<Local, Bits<50>>,
    rounded: DFF<Bits<50>>,
    count: DFF<Bits<50>>,
    pages_end: DFF<Bits<50>>,
    #[value(1)]
    one: Constant<Bits<50>>,
    #[value(1 << PAGE_BITS)]
    total: Constant<Bits<50>>,
    #[value(PAGE_BITS_MIN as u64)]
    bits_min: Constant<Bits<5>>,
    #[value(PAGE_BITS_MAX as u64)]
    bits_max: Constant<Bits<5>>,
}

impl<const PAGE_BITS: usize> Logic for PageRange<PAGE_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rounded, count, pages_end);
        self.shift.next = bit_cast::<50, 5>(self.page_bits.val());
        self.round_up.next = (self.one.val() << self.shift.val()) - self.one.val();
        self.rounded.d.next = bit_cast::<50, 48>(self.bytes.val()) + self.round_up.val();
        self.count.d.next = self.rounded.q.val() >> self.shift.val();
        self.pages_end.d.next = self.count.q.val() + bit_cast::<50, 16>(self.first_page.val());
        self.index_bad.next = self.pages_end.q.val() > self.total.val();
        self.range_bad.next = (self.page_bits.val() < self.bits_min.val())
            | (self.page_bits.val() > self.bits_max.val());
    }
}

/// Finds the segment that a command posts, and checks whether it ends beyond the largest region.
#[derive(LogicBlock, BlockDefault)]
pub struct SegmentRange {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The 64 bytes of the command.
    pub data: Signal<In, Bits<512>>,
    /// Kind of the command.
    pub kind: Signal<In, CommandKind>,
    /// Region of the segment; 0 if there is none.
    pub region: Signal<Out, Bits<16>>,
    /// The segment ends beyond 2^48; two cycles later.
    pub range_bad: Signal<Out, Bit>,

    segment_end: DFF<Bits<49>>,
    bad: DFF<Bit>,

    is_none: Signal<Local, Bit>,
    segment: Signal<Local, Bits<144>>,
    #[value(1 << 48)]
    offsets: Constant<Bits<49>>,
}

impl Logic for SegmentRange {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, segment_end, bad);
        self.segment.next = self.data.val().get_bits::<144>(64);
        self.is_none.next = false;
        if self.kind.val() == CommandKind::FlowAdvance {
            self.segment.next = self.data.val().get_bits::<144>(256);
            self.is_none.next = !self.data.val().get_bit(176);
        }
        self.segment_end.d.next = bit_cast::<49, 48>(self.segment.val().get_bits::<48>(96))
            + bit_cast::<49, 31>(self.segment.val().get_bits::<31>(32));
        self.bad.d.next = !self.is_none.val() & (self.segment_end.q.val() > self.offsets.val());
        self.range_bad.next = self.bad.q.val();
        self.region.next = self.segment.val().get_bits::<16>(64);
        if self.is_none.val() {
            self.region.next = 0.into();
        }
    }
}

/// The check. See the module's head.
#[derive(LogicBlock)]
pub struct CommandCheck<
    const FLOW_BITS: usize,
    const BUCKET_BITS: usize,
    const SEGMENT_BITS: usize,
    const REGION_BITS: usize,
    const PAGE_BITS: usize,
    const OWNER_BITS: usize,
> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// The 64 bytes of the command.
    pub data: Signal<In, Bits<512>>,
    /// Kind of the command, one cycle after `data` or later.
    pub kind: Signal<In, CommandKind>,
    /// An index is beyond the configured size.
    pub index_bad: Signal<Out, Bit>,
    /// A size or an address is not allowed.
    pub range_bad: Signal<Out, Bit>,

    rx_list: ListRange<SEGMENT_BITS>,
    tx_list: ListRange<SEGMENT_BITS>,
    moved_list: ListRange<SEGMENT_BITS>,
    pages: PageRange<PAGE_BITS>,
    segment: SegmentRange,

    flow_bad: Signal<Local, Bit>,
    owner_bad: Signal<Local, Bit>,
    bucket_bad: Signal<Local, Bit>,
    region_bad: Signal<Local, Bit>,
    segment_region_bad: Signal<Local, Bit>,
    flow_beyond: Constant<Bits<16>>,
    owner_beyond: Constant<Bits<16>>,
    bucket_beyond: Constant<Bits<16>>,
    region_beyond: Constant<Bits<16>>,
    page_beyond: Constant<Bits<16>>,
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
    > Default
    for CommandCheck<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            data: Default::default(),
            kind: Default::default(),
            index_bad: Default::default(),
            range_bad: Default::default(),
            rx_list: Default::default(),
            tx_list: Default::default(),
            moved_list: Default::default(),
            pages: Default::default(),
            segment: Default::default(),
            flow_bad: Default::default(),
            owner_bad: Default::default(),
            bucket_bad: Default::default(),
            region_bad: Default::default(),
            segment_region_bad: Default::default(),
            flow_beyond: Constant::new(beyond_mask::<FLOW_BITS>().to_bits()),
            owner_beyond: Constant::new(beyond_mask::<OWNER_BITS>().to_bits()),
            bucket_beyond: Constant::new(beyond_mask::<BUCKET_BITS>().to_bits()),
            region_beyond: Constant::new(beyond_mask::<REGION_BITS>().to_bits()),
            page_beyond: Constant::new(beyond_mask::<PAGE_BITS>().to_bits()),
        }
    }
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const SEGMENT_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
        const OWNER_BITS: usize,
    > Logic
    for CommandCheck<FLOW_BITS, BUCKET_BITS, SEGMENT_BITS, REGION_BITS, PAGE_BITS, OWNER_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, rx_list, tx_list, moved_list, pages, segment);
        self.segment.data.next = self.data.val();
        self.segment.kind.next = self.kind.val();
        self.rx_list.base.next = self.data.val().get_bits::<24>(224);
        self.rx_list.list_bits.next = self.data.val().get_bits::<4>(248);
        self.tx_list.base.next = self.data.val().get_bits::<24>(256);
        self.tx_list.list_bits.next = self.data.val().get_bits::<4>(280);
        self.moved_list.base.next = self.data.val().get_bits::<24>(64);
        self.moved_list.list_bits.next = self.data.val().get_bits::<4>(88);
        self.pages.first_page.next = self.data.val().get_bits::<16>(96);
        self.pages.bytes.next = self.data.val().get_bits::<48>(128);
        self.pages.page_bits.next = self.data.val().get_bits::<5>(88);

        self.flow_bad.next =
            (self.data.val().get_bits::<16>(16) & self.flow_beyond.val()) != bits::<16>(0);
        self.owner_bad.next = (bit_cast::<16, 8>(self.data.val().get_bits::<8>(32))
            & self.owner_beyond.val())
            != bits::<16>(0);
        self.bucket_bad.next =
            (self.data.val().get_bits::<16>(32) & self.bucket_beyond.val()) != bits::<16>(0);
        self.region_bad.next =
            (self.data.val().get_bits::<16>(32) & self.region_beyond.val()) != bits::<16>(0);
        self.segment_region_bad.next =
            (self.segment.region.val() & self.region_beyond.val()) != bits::<16>(0);

        self.index_bad.next = false;
        self.range_bad.next = false;
        match self.kind.val() {
            CommandKind::Unknown => {}
            CommandKind::Nop => {}
            CommandKind::SegmentPost => {
                self.index_bad.next = self.flow_bad.val() | self.segment_region_bad.val();
                self.range_bad.next = self.segment.range_bad.val();
            }
            CommandKind::FlowAdvance => {
                self.index_bad.next = self.flow_bad.val() | self.segment_region_bad.val();
                self.range_bad.next = self.segment.range_bad.val();
            }
            CommandKind::KeySet => {
                self.index_bad.next = self.flow_bad.val() | self.bucket_bad.val();
            }
            CommandKind::KeyClear => {
                self.index_bad.next = self.bucket_bad.val();
            }
            CommandKind::FlowInstall => {
                self.index_bad.next = self.flow_bad.val() | self.owner_bad.val();
                self.range_bad.next = self.rx_list.range_bad.val() | self.tx_list.range_bad.val();
            }
            CommandKind::ListMove => {
                self.index_bad.next = self.flow_bad.val();
                self.range_bad.next = self.moved_list.range_bad.val();
            }
            CommandKind::RegionInstall => {
                self.index_bad.next = self.region_bad.val() | self.pages.index_bad.val();
                self.range_bad.next = self.pages.range_bad.val();
            }
            CommandKind::RegionRemove => {
                self.index_bad.next = self.region_bad.val();
            }
            CommandKind::PageSet => {
                self.index_bad.next =
                    (self.data.val().get_bits::<16>(32) & self.page_beyond.val()) != bits::<16>(0);
                self.range_bad.next = self.data.val().get_bits::<12>(64) != bits::<12>(0);
            }
            _ => {
                self.index_bad.next = self.flow_bad.val();
            }
        }
    }
}
