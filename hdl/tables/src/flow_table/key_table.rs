//! From a key to a flow id: two banks of four ways, each bank with its own keyed hash.
//!
//! ```text
//!  lookup_key ─► hashes ─┬─ 0 ─► bucket ─► way 0..3 ─┐
//!                        └─ 1 ─► bucket ─► way 4..7 ─┴─► last hit ─► DFF ─► hit, flow
//! ```
//! Timing: `hit` and `flow` follow `lookup_key` by five cycles, one look-up per cycle, never
//! stalled. An update is in the memories two cycles after its pulse; a look-up presented with or
//! after the pulse sees it.
//!
//! Invariants:
//! 1. The result depends on slots of the current epoch only. While `busy`, keys may not be found.
//! 2. Of several slots with the same key the one with the highest (bank, way) is the hit.
//!
//! Source: `docs/specification.md`, Keys.

use crate::flow_table::key_way::{KeySlot, KeyWay};
use crate::flow_table::toeplitz_hash::ToeplitzHash;
use crate::messages::KeyUpdate;
use stream::prelude::*;

/// The last of the ways that hit, found in groups, which takes fewer levels than one by one.
#[derive(LogicBlock, Default)]
pub struct LastHit {
    /// Ways that hit.
    pub hits: [Signal<In, Bit>; 8],
    /// Flow id in the slot of each way.
    pub flows: [Signal<In, Bits<16>>; 8],
    /// At least one way hits.
    pub hit: Signal<Out, Bit>,
    /// Flow id of the last way that hits.
    pub flow: Signal<Out, Bits<16>>,

    low: Signal<Local, Bits<16>>,
    middle: Signal<Local, Bits<16>>,
    middle_hits: Signal<Local, Bit>,
    high: Signal<Local, Bits<16>>,
    high_hits: Signal<Local, Bit>,
}

impl Logic for LastHit {
    #[hdl_gen]
    fn update(&mut self) {
        self.low.next = self.flows[0].val();
        if self.hits[1].val() {
            self.low.next = self.flows[1].val();
        }
        if self.hits[2].val() {
            self.low.next = self.flows[2].val();
        }
        self.middle_hits.next = self.hits[3].val() | self.hits[4].val() | self.hits[5].val();
        self.middle.next = self.flows[3].val();
        if self.hits[4].val() {
            self.middle.next = self.flows[4].val();
        }
        if self.hits[5].val() {
            self.middle.next = self.flows[5].val();
        }
        self.high_hits.next = self.hits[6].val() | self.hits[7].val();
        self.high.next = self.flows[6].val();
        if self.hits[7].val() {
            self.high.next = self.flows[7].val();
        }
        self.hit.next = self.hits[0].val()
            | self.hits[1].val()
            | self.hits[2].val()
            | self.middle_hits.val()
            | self.high_hits.val();
        self.flow.next = self.low.val();
        if self.middle_hits.val() {
            self.flow.next = self.middle.val();
        }
        if self.high_hits.val() {
            self.flow.next = self.high.val();
        }
    }
}

/// The table. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct KeyTable<const BUCKET_BITS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Epoch that entries are compared with.
    pub epoch: Signal<In, Bits<16>>,

    /// Register writes of the host; the hash secrets are taken from them.
    pub settings: PulseSink<RegisterWrite>,
    /// A key is looked up in this cycle.
    pub lookup: Signal<In, Bit>,
    /// Key to look up, byte 0 in bits 7:0.
    pub lookup_key: Signal<In, Bits<384>>,
    /// Key slots to write.
    pub update_slot: PulseSink<KeyUpdate>,

    /// The key was found; five cycles after `lookup_key`.
    pub hit: Signal<Out, Bit>,
    /// Flow id of the key found; five cycles after `lookup_key`.
    pub flow: Signal<Out, Bits<16>>,
    /// The secrets have changed and the hashes do not follow yet.
    pub busy: Signal<Out, Bit>,

    stages: DFF<Bits<3>>,
    key_requested: DFF<Bits<384>>,
    key_hashed: DFF<Bits<384>>,
    key_read: DFF<Bits<384>>,
    key_compared: DFF<Bits<384>>,
    hit_found: DFF<Bit>,
    flow_found: DFF<Bits<16>>,
    pending: DFF<KeyUpdate>,
    pending_valid: DFF<Bit>,

    hashes: ToeplitzHash,
    ways: [KeyWay<BUCKET_BITS>; 8],
    last: LastHit,

    slot: Signal<Local, KeySlot>,
    #[value(|slot| slot as u64)]
    slot_index: [Constant<Bits<3>>; 8],
}

impl<const BUCKET_BITS: usize> Logic for KeyTable<BUCKET_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stages, key_requested, key_hashed, key_read, key_compared);
        dff_setup!(self, clock, hit_found, flow_found, pending, pending_valid);
        clock!(self, clock, hashes);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.hashes.settings);
        self.busy.next = self.hashes.busy.val();

        self.hashes.key.next = self.lookup_key.val();
        self.hashes.key_valid.next = self.lookup.val();
        self.stages.d.next =
            (self.stages.q.val() << 1) | bit_cast::<3, 1>(self.lookup.val().into());
        if self.lookup.val() {
            self.key_requested.d.next = self.lookup_key.val();
        }
        if self.stages.q.val().get_bit(0) {
            self.key_hashed.d.next = self.key_requested.q.val();
        }
        if self.stages.q.val().get_bit(1) {
            self.key_read.d.next = self.key_hashed.q.val();
        }
        if self.stages.q.val().get_bit(2) {
            self.key_compared.d.next = self.key_read.q.val();
        }

        self.pending_valid.d.next = self.update_slot.valid.val();
        if self.update_slot.valid.val() {
            self.pending.d.next = self.update_slot.payload.val();
        }
        self.slot.next.flow = self.pending.q.val().flow;
        self.slot.next.key = self.pending.q.val().key;

        for i in 0..8 {
            self.ways[i].clock.next = self.clock.val();
            self.ways[i].epoch.next = self.epoch.val();
            self.ways[i].look.next = self.stages.q.val().get_bit(1);
            self.ways[i].key.next = self.key_compared.q.val();
            self.ways[i].write_bucket.next =
                bit_cast::<BUCKET_BITS, 16>(self.pending.q.val().bucket);
            self.ways[i].write_slot.next = self.slot.val();
            self.ways[i].write_epoch.next = self.pending.q.val().epoch;
            self.ways[i].write_enable.next = self.pending_valid.q.val()
                & (self.pending.q.val().slot == self.slot_index[i].val());
        }
        for i in 0..4 {
            self.ways[i].bucket.next = bit_cast::<BUCKET_BITS, 16>(self.hashes.hash_low.val());
        }
        for i in 4..8 {
            self.ways[i].bucket.next = bit_cast::<BUCKET_BITS, 16>(self.hashes.hash_high.val());
        }

        for i in 0..8 {
            self.last.hits[i].next = self.ways[i].hit.val();
            self.last.flows[i].next = self.ways[i].flow.val();
        }
        self.hit_found.d.next = self.last.hit.val();
        self.flow_found.d.next = self.last.flow.val();
        self.hit.next = self.hit_found.q.val();
        self.flow.next = self.flow_found.q.val();
    }
}
