//! Finds the next fetch of a ring: place, length, and where it ends.
//!
//! ```text
//!  index, size ──► place, entries to the ring's end ─┐ (register)
//!  pending ──────────────────────────────────────────┴─► min with entries_max ──► job, index_next
//! ```
//! Timing: the outputs hold two cycles after the inputs came, while these stay.
//!
//! Invariants:
//! 1. `job` covers 1 to `entries_max` of the `pending` entries and does not cross the ring's end.
//! 2. `overrun` says that more is pending than the ring holds.

use crate::ring_state::RingKind;
use stream::prelude::*;

/// The computation. See the module's head.
#[derive(LogicBlock)]
pub struct RingSpan {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Index of the next entry.
    pub index: Signal<In, Bits<32>>,
    /// Entries produced from there on, at least 1.
    pub pending: Signal<In, Bits<32>>,
    /// Bus address of the ring.
    pub base: Signal<In, Bits<64>>,
    /// log2 entries of the ring.
    pub size_bits: Signal<In, Bits<4>>,

    /// The read.
    pub job: Signal<Out, ReadJob>,
    /// Index behind its last entry.
    pub index_next: Signal<Out, Bits<32>>,
    /// More is pending than the ring holds.
    pub overrun: Signal<Out, Bit>,

    at: DFF<Bits<32>>,
    to_end: DFF<Bits<32>>,
    beyond: DFF<Bit>,

    entries: Signal<Local, Bits<32>>,
    mask: Signal<Local, Bits<32>>,
    place: Signal<Local, Bits<32>>,
    available: Signal<Local, Bits<32>>,
    count: Signal<Local, Bits<32>>,
    offset: Signal<Local, Bits<64>>,
    bytes: Signal<Local, Bits<32>>,

    entry_bits: Constant<Bits<3>>,
    entries_max: Constant<Bits<32>>,
    one: Constant<Bits<32>>,
}

impl RingSpan {
    /// For one kind of ring.
    pub fn new(kind: RingKind) -> Self {
        Self {
            clock: Default::default(),
            index: Default::default(),
            pending: Default::default(),
            base: Default::default(),
            size_bits: Default::default(),
            job: Default::default(),
            index_next: Default::default(),
            overrun: Default::default(),
            at: Default::default(),
            to_end: Default::default(),
            beyond: Default::default(),
            entries: Default::default(),
            mask: Default::default(),
            place: Default::default(),
            available: Default::default(),
            count: Default::default(),
            offset: Default::default(),
            bytes: Default::default(),
            entry_bits: Constant::new(kind.entry_bits.to_bits()),
            entries_max: Constant::new(kind.entries_max.to_bits()),
            one: Constant::new(1u32.to_bits()),
        }
    }
}

impl Logic for RingSpan {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, at, to_end, beyond);
        self.entries.next = self.one.val() << self.size_bits.val();
        self.mask.next = self.entries.val() - self.one.val();
        self.place.next = self.index.val() & self.mask.val();
        self.at.d.next = self.place.val();
        self.to_end.d.next = self.entries.val() - self.place.val();
        self.beyond.d.next = self.pending.val() > self.entries.val();

        self.available.next = self.to_end.q.val();
        if self.pending.val() < self.to_end.q.val() {
            self.available.next = self.pending.val();
        }
        self.count.next = self.available.val();
        if self.available.val() > self.entries_max.val() {
            self.count.next = self.entries_max.val();
        }
        self.offset.next = bit_cast::<64, 32>(self.at.q.val()) << self.entry_bits.val();
        self.bytes.next = self.count.val() << self.entry_bits.val();
        self.job.next.address = self.base.val() + self.offset.val();
        self.job.next.bytes = self.bytes.val().get_bits::<16>(0);
        self.index_next.next = self.index.val() + self.count.val();
        self.overrun.next = self.beyond.q.val();
    }
}
