//! Clears all entries before an epoch's number comes again; otherwise updates pass through it.
//!
//! ```text
//!  key_in, change_in, region_in, page_in ──►┌───────┐──► key_out, change_out, region_out
//!  epoch, reset ───────────────────────────►│ scrub │──► page_out, table_epoch, busy
//!                                           └───────┘
//! ```
//! Epochs are numbered from 1 to 0xfffe and then from 1 again. An entry of the old epoch 1 that was
//! never overwritten would be valid in the new one. So when a `reset` comes with a smaller epoch
//! than the last, a scrub clears all stamps, one entry of each table per cycle.
//!
//! Timing: combinational while no scrub runs. A scrub takes as many cycles as the largest table has
//! entries (65,536 in the default sizes), once in 65,534 epochs. Look-ups are never stalled: they
//! find nothing.
//!
//! Invariants:
//! 1. While `busy`, `table_epoch` is 0xffff, which no entry ever carries, and nothing may be
//!    updated.
//! 2. When `busy` falls no entry carries an epoch.
//! 3. A `reset` during a scrub does not end it.
//! 4. It relies on changes that set no cursor to be taken at once: a scrub does not wait.
//!
//! Source: `docs/specification.md`, Epochs; decision 12.

use crate::messages::{FlowUpdate, KeyUpdate, PageUpdate, RegionUpdate};
use stream::prelude::*;

/// log2 cycles of one scrub: the largest table, all key slots together being one.
const fn scrub_bits(tables: [usize; 4]) -> usize {
    let [flow_bits, bucket_bits, region_bits, page_bits] = tables;
    let sizes = [flow_bits, bucket_bits + 3, region_bits, page_bits];
    let mut largest = 0;
    let mut at = 0;
    while at < sizes.len() {
        if sizes[at] > largest {
            largest = sizes[at];
        }
        at += 1;
    }
    assert!(largest <= 16, "a scrub counts in 16 bits");
    largest
}

/// The scrubber. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Scrubber<
    const FLOW_BITS: usize,
    const BUCKET_BITS: usize,
    const REGION_BITS: usize,
    const PAGE_BITS: usize,
> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch; a scrub begins when the epoch's number is smaller than the last one.
    pub reset: Signal<In, Bit>,
    /// Current epoch of the card.
    pub epoch: Signal<In, Bits<16>>,
    /// Epoch that the tables compare with.
    pub table_epoch: Signal<Out, Bits<16>>,
    /// A scrub runs: nothing may be updated.
    pub busy: Signal<Out, Bit>,

    /// Key slots to write.
    pub key_in: PulseSink<KeyUpdate>,
    /// Key slots to write, those that a scrub clears included.
    pub key_out: PulseSource<KeyUpdate>,
    /// Flow state to write.
    pub change_in: MessageSink<FlowUpdate>,
    /// Flow state to write, what a scrub clears included.
    pub change_out: MessageSource<FlowUpdate>,
    /// Regions to write.
    pub region_in: PulseSink<RegionUpdate>,
    /// Regions to write, those that a scrub clears included.
    pub region_out: PulseSource<RegionUpdate>,
    /// Page entries to write.
    pub page_in: PulseSink<PageUpdate>,
    /// Page entries to write, those that a scrub clears included.
    pub page_out: PulseSource<PageUpdate>,

    last: DFF<Bits<16>>,
    scrubbing: DFF<Bit>,
    at: DFF<Bits<16>>,

    #[value(0xffff)]
    unused: Constant<Bits<16>>,
    #[value(1)]
    one: Constant<Bits<16>>,
    #[value((1u64 << scrub_bits([FLOW_BITS, BUCKET_BITS, REGION_BITS, PAGE_BITS])) - 1)]
    last_place: Constant<Bits<16>>,
}

impl<
        const FLOW_BITS: usize,
        const BUCKET_BITS: usize,
        const REGION_BITS: usize,
        const PAGE_BITS: usize,
    > Logic for Scrubber<FLOW_BITS, BUCKET_BITS, REGION_BITS, PAGE_BITS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, last, scrubbing, at);
        self.busy.next = self.scrubbing.q.val();
        self.table_epoch.next = self.epoch.val();
        self.key_out.valid.next = self.key_in.valid.val();
        self.key_out.payload.next = self.key_in.payload.val();
        self.change_out.valid.next = self.change_in.valid.val();
        self.change_out.payload.next = self.change_in.payload.val();
        self.change_in.ready.next = self.change_out.ready.val();
        self.region_out.valid.next = self.region_in.valid.val();
        self.region_out.payload.next = self.region_in.payload.val();
        self.page_out.valid.next = self.page_in.valid.val();
        self.page_out.payload.next = self.page_in.payload.val();

        // The scrub: a smaller table is cleared several times.
        if self.scrubbing.q.val() {
            self.table_epoch.next = self.unused.val();
            self.key_out.valid.next = true;
            self.key_out.payload.next.slot = self.at.q.val().get_bits::<3>(0);
            self.key_out.payload.next.bucket = self.at.q.val() >> 3;
            self.key_out.payload.next.epoch = 0.into();
            self.change_out.valid.next = true;
            self.change_out.payload.next.flow = self.at.q.val();
            self.change_out.payload.next.write_installed = true;
            self.change_out.payload.next.write_cursor = false;
            self.change_out.payload.next.epoch = 0.into();
            self.region_out.valid.next = true;
            self.region_out.payload.next.region = self.at.q.val();
            self.region_out.payload.next.by_key = false;
            self.region_out.payload.next.epoch = 0.into();
            self.page_out.valid.next = true;
            self.page_out.payload.next.page = self.at.q.val();
            self.page_out.payload.next.epoch = 0.into();
            self.at.d.next = self.at.q.val() + self.one.val();
            if self.at.q.val() == self.last_place.val() {
                self.scrubbing.d.next = false;
                self.at.d.next = 0.into();
            }
        }
        if self.reset.val() {
            self.last.d.next = self.epoch.val();
            if self.epoch.val() < self.last.q.val() {
                self.scrubbing.d.next = true;
            }
        }
    }
}
