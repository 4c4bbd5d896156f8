//! One way of one bank, as in a set-associative cache: one key slot in each of 2^`BUCKET_BITS`
//! buckets, and the exact comparison.
//!
//! ```text
//!  bucket ──►┌───────┐ slot ──► comparison with key ──► hit, flow
//!            │ slots │
//!  write ───►└───────┘
//! ```
//! Timing: `hit` and `flow` follow `bucket` by two cycles, from the slot's register and from `key`,
//! which belongs to the same look-up; one look-up per cycle. A write is seen by a `bucket` of the
//! next cycle.
//!
//! Invariants:
//! 1. `hit` only for a slot whose stored epoch is the current one and whose whole key is equal.

use crate::epoch_ram::EpochRam;
use stream::prelude::*;

/// A key slot without its epoch.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct KeySlot {
    /// Flow id that the key leads to.
    pub flow: Bits<16>,
    /// Key of the slot, byte 0 in bits 7:0.
    pub key: Bits<384>,
}

/// The way. See the module's head.
#[derive(LogicBlock, Default)]
pub struct KeyWay<const BUCKET_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Read the slot of `bucket`; without it the slot read last stays.
    pub look: Signal<In, Bit>,
    /// Bucket to read.
    pub bucket: Signal<In, Bits<BUCKET_BITS>>,
    /// Key to find; presented two cycles after its `bucket`.
    pub key: Signal<In, Bits<384>>,
    /// The slot holds the key; two cycles after `bucket`.
    pub hit: Signal<Out, Bit>,
    /// Flow id of the slot; two cycles after `bucket`.
    pub flow: Signal<Out, Bits<16>>,

    /// Bucket to write.
    pub write_bucket: Signal<In, Bits<BUCKET_BITS>>,
    /// New content of the slot.
    pub write_slot: Signal<In, KeySlot>,
    /// New epoch of the slot; 0 clears it.
    pub write_epoch: Signal<In, Bits<16>>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,

    slots: EpochRam<KeySlot, BUCKET_BITS>,
    compare: SameBits<400>,
    looked: DFF<Bit>,

    stored: Signal<Local, KeySlot>,
}

impl<const BUCKET_BITS: usize> Logic for KeyWay<BUCKET_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, looked);
        clock!(self, clock, slots);

        self.looked.d.next = self.look.val();
        self.slots.read_enable.next = self.look.val();
        self.slots.read_address.next = self.bucket.val();
        self.slots.register_enable.next = self.looked.q.val();
        self.stored.next = self.slots.read_data.val();
        self.compare.one.next = (bit_cast::<400, 384>(self.stored.val().key) << 16)
            | bit_cast::<400, 16>(self.slots.read_epoch.val());
        self.compare.other.next =
            (bit_cast::<400, 384>(self.key.val()) << 16) | bit_cast::<400, 16>(self.epoch.val());
        self.hit.next = self.compare.same.val();
        self.flow.next = self.stored.val().flow;

        self.slots.write_address.next = self.write_bucket.val();
        self.slots.write_data.next = self.write_slot.val();
        self.slots.write_enable.next = self.write_enable.val();
        self.slots.write_epoch.next = self.write_epoch.val();
    }
}
