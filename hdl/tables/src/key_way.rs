//! One way of one bank: 2^BUCKET_BITS key slots and the exact comparison.
//!
//! ```text
//!  bucket ──►┌───────┐ slot ──► six 64-bit comparisons ──► DFF ──► & ──► hit, flow
//!            │ slots │
//!  write ───►└───────┘          key (one cycle after bucket)
//! ```
//! Timing: `key` is sampled one cycle after `bucket`; `hit` and `flow` answer two cycles after
//! `bucket`, one lookup a cycle. A write is seen by a `bucket` of the next cycle.
//!
//! Invariants:
//! 1. `hit` only for a slot whose stored epoch is the current one and whose whole key is equal.

use crate::epoch_ram::EpochRam;
use stream::prelude::*;

/// A key slot without its epoch.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct KeySlot {
    /// Flow id.
    pub flow: Bits<16>,
    /// The key.
    pub key: Bits<384>,
}

/// The way. See the module's head.
#[derive(LogicBlock, Default)]
pub struct KeyWay<const BUCKET_BITS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Current epoch.
    pub epoch: Signal<In, Bits<16>>,

    /// Look into `bucket`; without that the answer stays.
    pub look: Signal<In, Bit>,
    /// Bucket to look into.
    pub bucket: Signal<In, Bits<BUCKET_BITS>>,
    /// Key to find, one cycle later.
    pub key: Signal<In, Bits<384>>,
    /// The slot holds the key; two cycles after `bucket`.
    pub hit: Signal<Out, Bit>,
    /// Flow id of the slot.
    pub flow: Signal<Out, Bits<16>>,

    /// Bucket to write.
    pub write_bucket: Signal<In, Bits<BUCKET_BITS>>,
    /// Slot to write.
    pub write_slot: Signal<In, KeySlot>,
    /// Its epoch; 0 clears it.
    pub write_epoch: Signal<In, Bits<16>>,
    /// Write in this cycle.
    pub write_enable: Signal<In, Bit>,

    slots: EpochRam<KeySlot, BUCKET_BITS>,
    looked: DFF<Bit>,
    equal: [DFF<Bit>; 6],
    current: DFF<Bit>,
    flow_found: DFF<Bits<16>>,

    stored_key: Signal<Local, Bits<384>>,
}

impl<const BUCKET_BITS: usize> Logic for KeyWay<BUCKET_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, looked, current, flow_found);
        for i in 0..6 {
            self.equal[i].clock.next = self.clock.val();
            self.equal[i].d.next = self.equal[i].q.val();
        }
        self.slots.clock.next = self.clock.val();

        self.looked.d.next = self.look.val();
        self.slots.read_enable.next = self.look.val();
        self.slots.read_address.next = self.bucket.val();
        self.stored_key.next = self.slots.read_data.val().key;
        if self.looked.q.val() {
            self.equal[0].d.next =
                self.key.val().get_bits::<64>(0) == self.stored_key.val().get_bits::<64>(0);
            self.equal[1].d.next =
                self.key.val().get_bits::<64>(64) == self.stored_key.val().get_bits::<64>(64);
            self.equal[2].d.next =
                self.key.val().get_bits::<64>(128) == self.stored_key.val().get_bits::<64>(128);
            self.equal[3].d.next =
                self.key.val().get_bits::<64>(192) == self.stored_key.val().get_bits::<64>(192);
            self.equal[4].d.next =
                self.key.val().get_bits::<64>(256) == self.stored_key.val().get_bits::<64>(256);
            self.equal[5].d.next =
                self.key.val().get_bits::<64>(320) == self.stored_key.val().get_bits::<64>(320);
            self.current.d.next = self.slots.read_epoch.val() == self.epoch.val();
            self.flow_found.d.next = self.slots.read_data.val().flow;
        }
        self.hit.next = self.current.q.val()
            & self.equal[0].q.val()
            & self.equal[1].q.val()
            & self.equal[2].q.val()
            & self.equal[3].q.val()
            & self.equal[4].q.val()
            & self.equal[5].q.val();
        self.flow.next = self.flow_found.q.val();

        self.slots.write_address.next = self.write_bucket.val();
        self.slots.write_data.next = self.write_slot.val();
        self.slots.write_enable.next = self.write_enable.val();
        self.slots.write_epoch.next = self.write_epoch.val();
    }
}
