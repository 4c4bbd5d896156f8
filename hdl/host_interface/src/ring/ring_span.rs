//! Finds the next fetch of a ring: where it lies, its length, and the index after it.
//!
//! ```text
//!                 (register)
//!  index, size ──► place, the ring's end, entries up to there ─┐
//!  index, producer ──► pending ────────────────────────────────┴─► the nearest ─► job, index_next
//!  index ──► entries_max after it ─────────────────────────────┘
//! ```
//! Timing: the outputs hold two cycles after the inputs came, while these stay.
//!
//! Invariants:
//! 1. `job` covers 1 to `entries_max` of the entries produced and does not cross the ring's end.
//! 2. `overrun` is high when more was produced than the ring holds.

use crate::ring::ring_state::RingKind;
use stream::prelude::*;

/// The computation. See the module's head.
///
/// For one kind of ring.
#[derive(LogicBlock, BlockDefault)]
#[new(kind: RingKind)]
pub struct RingSpan {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,

    /// Index of the next entry to fetch.
    pub index: Signal<In, Bits<32>>,
    /// Index after the last entry produced; it differs from `index`.
    pub producer: Signal<In, Bits<32>>,
    /// Bus address of the ring.
    pub base: Signal<In, Bits<64>>,
    /// log2 entries of the ring.
    pub size_bits: Signal<In, Bits<4>>,

    /// Read of the next fetch.
    pub job: Signal<Out, ReadJob>,
    /// Index after the last entry of `job`.
    pub index_next: Signal<Out, Bits<32>>,
    /// More was produced than the ring holds.
    pub overrun: Signal<Out, Bit>,

    at: DFF<Bits<32>>,
    to_end: DFF<Bits<32>>,
    ring_end: DFF<Bits<32>>,
    pending: DFF<Bits<32>>,
    farthest: DFF<Bits<32>>,

    beyond_mask: Signal<Local, Bits<32>>,
    last: Signal<Local, Bits<32>>,
    is_many: Signal<Local, Bit>,
    count: Signal<Local, Bits<32>>,

    #[value(kind.entry_bits as u64)]
    entry_bits: Constant<Bits<3>>,
    #[value(kind.entries_max as u64)]
    entries_max: Constant<Bits<32>>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(Bits::<32>::mask())]
    ones: Constant<Bits<32>>,
}

impl Logic for RingSpan {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, to_end, ring_end, pending, farthest);
        self.beyond_mask.next = self.ones.val() << self.size_bits.val();
        self.last.next = self.index.val() | !self.beyond_mask.val();
        self.at.d.next = self.index.val() & !self.beyond_mask.val();
        self.to_end.d.next = (self.last.val() ^ self.index.val()) + self.one.val();
        self.ring_end.d.next = self.last.val() + self.one.val();
        self.pending.d.next = self.producer.val() - self.index.val();
        self.farthest.d.next = self.index.val() + self.entries_max.val();

        // The nearest of the three: its index is known, whatever comparison chooses it.
        self.is_many.next = (self.pending.q.val() > self.entries_max.val())
            & (self.to_end.q.val() > self.entries_max.val());
        self.count.next = self.pending.q.val();
        self.index_next.next = self.producer.val();
        if self.is_many.val() {
            self.count.next = self.entries_max.val();
            self.index_next.next = self.farthest.q.val();
        } else if self.to_end.q.val() < self.pending.q.val() {
            self.count.next = self.to_end.q.val();
            self.index_next.next = self.ring_end.q.val();
        }
        self.job.next.address =
            self.base.val() + (bit_cast::<64, 32>(self.at.q.val()) << self.entry_bits.val());
        self.job.next.bytes = (self.count.val() << self.entry_bits.val()).get_bits::<16>(0);
        self.overrun.next = self.pending.q.val() > (self.one.val() << self.size_bits.val());
    }
}
