//! The arithmetic of a region access, in two combinational steps with a register between them, and
//! the pipeline stages beside it.
//!
//! ```text
//!  request, region ──► RegionCheck ──► checked ──► RegionLocate ──► located
//! ```
//! A page number and a page entry's index have 16 bits. The limit that makes this right is
//! `abi::config::INDEX_BITS_MAX`: no table has more than 2^16 page entries, and `region_install`
//! refuses a region whose last page entry does not exist. So the page number of an access inside
//! the region is below 2^16. The higher bits are cut off only where the access ends outside the
//! region, which is refused.
//!
//! Timing: `RegionCheck` and `RegionLocate` are combinational; `RegionRemoval` and `RegionStages`
//! shift once per cycle, as their ports say.
//!
//! Invariants:
//! 1. `granted` is high only if key, domain and right match and the access ends inside the region.
//! 2. The bytes granted never reach past the end of the page.

use crate::messages::{RegionChecked, RegionEntry, RegionLocated};
use abi::config::INDEX_BITS_MAX;
use stream::prelude::*;

/// First step: compares key, domain and right, and splits the offset at the page size.
#[derive(LogicBlock, BlockDefault)]
pub struct RegionCheck {
    /// The access.
    pub request: Signal<In, RegionRequest>,
    /// Entry of the region that the access names.
    pub region: Signal<In, RegionEntry>,
    /// Result of this step; `granted` holds only if the region is one of this epoch.
    pub checked: Signal<Out, RegionChecked>,

    right: Signal<Local, Bit>,
    page_bits: Signal<Local, Bits<48>>,
    page_number: Signal<Local, Bits<48>>,
    page_bytes: Signal<Local, Bits<31>>,
    page_mask: Signal<Local, Bits<31>>,
    #[value(1)]
    one: Constant<Bits<31>>,
    #[value(!Bits::<31>::default())]
    all: Constant<Bits<31>>,
}

impl Logic for RegionCheck {
    #[hdl_gen]
    fn update(&mut self) {
        self.right.next = self.region.val().read;
        if self.request.val().write {
            self.right.next = self.region.val().write;
        }
        self.page_bits.next = bit_cast::<48, 5>(self.region.val().page_bits);
        self.page_number.next = self.request.val().offset >> self.page_bits.val();
        self.page_bytes.next = self.one.val() << bit_cast::<31, 5>(self.region.val().page_bits);
        self.page_mask.next = !(self.all.val() << bit_cast::<31, 5>(self.region.val().page_bits));

        self.checked.next.granted = self.right.val()
            & (self.region.val().key == self.request.val().region_key)
            & (self.region.val().domain == self.request.val().domain);
        self.checked.next.end = bit_cast::<49, 48>(self.request.val().offset)
            + bit_cast::<49, 32>(self.request.val().bytes);
        self.checked.next.length = self.region.val().bytes;
        self.checked.next.page_number = bit_cast::<INDEX_BITS_MAX, 48>(self.page_number.val());
        self.checked.next.first_page = self.region.val().first_page;
        self.checked.next.page_bytes = self.page_bytes.val();
        self.checked.next.page_offset =
            bit_cast::<31, 48>(self.request.val().offset) & self.page_mask.val();
        self.checked.next.bytes = self.request.val().bytes;
        self.checked.next.memory = self.region.val().memory;
    }
}

/// Second step: compares with the bounds, and finds the page entry and the bytes up to the page's
/// end.
#[derive(LogicBlock, Default)]
pub struct RegionLocate {
    /// Result of the first step.
    pub checked: Signal<In, RegionChecked>,
    /// Page entry, offset and bytes of the access.
    pub located: Signal<Out, RegionLocated>,

    page_rest: Signal<Local, Bits<31>>,
}

impl Logic for RegionLocate {
    #[hdl_gen]
    fn update(&mut self) {
        self.page_rest.next = self.checked.val().page_bytes - self.checked.val().page_offset;
        self.located.next.granted = self.checked.val().granted
            & (self.checked.val().end <= bit_cast::<49, 48>(self.checked.val().length));
        self.located.next.page = self.checked.val().first_page + self.checked.val().page_number;
        self.located.next.page_offset = self.checked.val().page_offset;
        self.located.next.bytes = self.checked.val().bytes;
        if bit_cast::<32, 31>(self.page_rest.val()) < self.checked.val().bytes {
            self.located.next.bytes = bit_cast::<32, 31>(self.page_rest.val());
        }
        self.located.next.memory = self.checked.val().memory;
    }
}

/// A removal in progress: it comes with its key, and removes the stamp when the region has that
/// key.
#[derive(LogicBlock, Default)]
pub struct RegionRemoval {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: forgets the removal.
    pub reset: Signal<In, Bit>,
    /// The request of this cycle is a removal.
    pub remove: Signal<In, Bit>,
    /// The region read two cycles after its request is valid and has the request's key.
    pub key_equal: Signal<In, Bit>,
    /// Remove the stamp in this cycle.
    pub removes: Signal<Out, Bit>,
    /// A removal is in progress.
    pub busy: Signal<Out, Bit>,

    stages: DFF<Bits<3>>,
    found: DFF<Bit>,
}

impl Logic for RegionRemoval {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stages, found);
        self.stages.d.next =
            (self.stages.q.val() << 1) | bit_cast::<3, 1>(self.remove.val().into());
        self.busy.next = self.stages.q.val().any();
        self.found.d.next = self.stages.q.val().get_bit(1) & self.key_equal.val();
        self.removes.next = self.found.q.val();
        if self.reset.val() {
            self.stages.d.next = 0.into();
            self.found.d.next = false;
        }
    }
}

/// The stages of the pipeline that hold an access, each with its port.
#[derive(LogicBlock, Default)]
pub struct RegionStages {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: no stage holds an access.
    pub reset: Signal<In, Bit>,
    /// An access enters.
    pub enter: Signal<In, Bit>,
    /// Port of the access that enters.
    pub enter_port: Signal<In, Bit>,
    /// An access is located, four cycles after it entered: its page is read.
    pub locates: Signal<Out, Bit>,
    /// Page entry, offset and bytes of the access that is located.
    pub located: Signal<In, RegionLocated>,
    /// `located` of two cycles before, beside its page.
    pub page_located: Signal<Out, RegionLocated>,
    /// An access leaves, seven cycles after it entered.
    pub leave: Signal<Out, Bit>,
    /// Port of the access that leaves.
    pub leave_port: Signal<Out, Bit>,

    valid: DFF<Bits<7>>,
    port: DFF<Bits<7>>,
    paged: DFF<RegionLocated>,
    beside: DFF<RegionLocated>,
}

impl Logic for RegionStages {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, port, paged, beside);
        self.valid.d.next = (self.valid.q.val() << 1) | bit_cast::<7, 1>(self.enter.val().into());
        self.port.d.next =
            (self.port.q.val() << 1) | bit_cast::<7, 1>(self.enter_port.val().into());
        self.locates.next = self.valid.q.val().get_bit(3);
        if self.valid.q.val().get_bit(3) {
            self.paged.d.next = self.located.val();
        }
        if self.valid.q.val().get_bit(4) {
            self.beside.d.next = self.paged.q.val();
        }
        self.page_located.next = self.beside.q.val();
        self.leave.next = self.valid.q.val().get_bit(6);
        self.leave_port.next = self.port.q.val().get_bit(6);
        if self.reset.val() {
            self.valid.d.next = 0.into();
        }
    }
}
