//! The producer and consumer index of every owner's ring.
//!
//! ```text
//!  changed: doorbell ──► producer ─┐
//!  advance, advance_to ► consumer ─┴─► of `owner`
//! ```
//! Timing: `producer` and `consumer` are combinational from `owner`. A doorbell counts one cycle
//! after its pulse.
//!
//! Invariants:
//! 1. Writing a context's enable word sets both indices to 0.
//! 2. `advance` has an effect only while `advance_ready` is high.
//!
//! Source: `docs/specification.md`, Rings.

use crate::owner::owner_index::OwnerIndex;
use crate::owner::owner_registers::OwnerWrite;
use stream::prelude::*;

/// The indices. See the module's head.
///
/// The indices of the rings with this doorbell.
#[derive(LogicBlock, BlockDefault)]
#[new(doorbell: u32)]
pub struct RingIndices<const OWNER_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Register writes that concern an owner.
    pub changed: PulseSink<OwnerWrite>,

    /// Owner whose doorbell is written in this cycle.
    pub rung: PulseSource<Bits<OWNER_BITS>>,
    /// Owner whose indices are requested.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// Index after the last entry that the host produced.
    pub producer: Signal<Out, Bits<32>>,
    /// Index of the next entry to fetch.
    pub consumer: Signal<Out, Bits<32>>,

    /// Set the consumer index of `owner`.
    pub advance: Signal<In, Bit>,
    /// New consumer index.
    pub advance_to: Signal<In, Bits<32>>,
    /// The consumer index can be set in this cycle.
    pub advance_ready: Signal<Out, Bit>,

    produced: LutRam<Bits<32>, OWNER_BITS>,
    consumed: OwnerIndex<OWNER_BITS>,

    changed_owner: Signal<Local, Bits<OWNER_BITS>>,
    enables: Signal<Local, Bit>,
    rings: Signal<Local, Bit>,
    #[value(u64::from(doorbell))]
    doorbell_field: Constant<Bits<12>>,
}

impl<const OWNER_BITS: usize> Logic for RingIndices<OWNER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, produced, consumed);
        self.changed_owner.next = bit_cast::<OWNER_BITS, 8>(self.changed.payload.val().owner);
        self.enables.next = self.changed.valid.val() & self.changed.payload.val().enable;
        self.rings.next = self.changed.valid.val()
            & self.changed.payload.val().doorbell
            & (self.changed.payload.val().field == self.doorbell_field.val());

        self.rung.valid.next = self.rings.val();
        self.rung.payload.next = self.changed_owner.val();
        self.produced.write_address.next = self.changed_owner.val();
        self.produced.write_data.next = self.changed.payload.val().data;
        self.produced.write_enable.next = self.enables.val() | self.rings.val();
        if self.enables.val() {
            self.produced.write_data.next = 0.into();
        }
        self.consumed.changed.valid.next = self.changed.valid.val();
        self.consumed.changed.payload.next = self.changed.payload.val();
        self.consumed.owner.next = self.owner.val();
        self.consumed.advance.next = self.advance.val();
        self.consumed.advance_to.next = self.advance_to.val();
        self.advance_ready.next = self.consumed.advance_ready.val();

        self.produced.read_address.next = self.owner.val();
        self.producer.next = self.produced.read_data.val();
        self.consumer.next = self.consumed.value.val();
    }
}
