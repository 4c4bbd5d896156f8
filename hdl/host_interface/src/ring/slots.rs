//! Cuts fetched send slots into descriptors of one or two slots.
//!
//! ```text
//!  fetched ──► owner, index ──────────────────────────► descriptor_fetch
//!  entries ──► first beat ──► one slot: 2 beats ──────► descriptor
//!                        └──► two slots: 4 beats ─────►
//!                        └──► second slot missing ──► [carry] ──► the owner's next fetch
//! ```
//! | port | what it carries |
//! |---|---|
//! | `fetched`, `entries` | from the send [`crate::ring::Ring`] |
//! | `descriptor_fetch` | owner and first index of a descriptor, no later than its first beat |
//! | `descriptor` | 2 beats, or 4 with `TWO_SLOTS`; never aborted |
//!
//! Timing: one beat a cycle, without a pause between fetches; latency one cycle, behind the first
//! cycle of `fetched`. A kept slot that goes on costs its two cycles, keeping one costs one.
//!
//! Invariants:
//! 1. The descriptors of an owner leave in slot order, each whole.
//! 2. A descriptor whose second slot was not in the same fetch (end of a batch or of the ring)
//!    waits in a store of its own for every owner, and goes on with the owner's next fetch; other
//!    owners do not wait for it.
//! 3. A first slot is forgotten when its ring starts afresh (the next fetch has another index).
//!
//! Source: `abi::send_descriptor`; `docs/specification.md`, Send.

use crate::ring::slot_carry::SlotCarry;
use crate::ring::slot_control::SlotControl;
use stream::prelude::*;

/// The splitter. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SlotSplitter<const O: usize, const OWNERS: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Forgets the fetch in work and every slot kept.
    pub reset: Signal<In, Bit>,

    /// Whose slots follow.
    pub fetched: MessageSink<RingFetch>,
    /// The slots.
    pub entries: PacketSink,

    /// Whose descriptor follows.
    pub descriptor_fetch: MessageSource<RingFetch>,
    /// The descriptor.
    pub descriptor: PacketSource,

    control: SlotControl,
    carry: SlotCarry<O, OWNERS>,
    beat: DFF<Bits<512>>,

    #[value(abi::send_descriptor::TWO_SLOTS.offset as u64)]
    two_slots_bit: Constant<Bits<4>>,
    #[value(abi::config::BEAT_BYTES as u64)]
    beat_bytes: Constant<Bits<7>>,
}

impl<const O: usize, const OWNERS: usize> Logic for SlotSplitter<O, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat);
        clock!(self, clock, control, carry);
        self.control.reset.next = self.reset.val();
        self.carry.reset.next = self.reset.val();

        self.control.fetched.valid.next = self.fetched.valid.val();
        self.control.fetched.payload.next = self.fetched.payload.val();
        self.fetched.ready.next = self.control.fetched.ready.val();
        self.descriptor_fetch.valid.next = self.control.descriptor_fetch.valid.val();
        self.descriptor_fetch.payload.next = self.control.descriptor_fetch.payload.val();
        self.control.descriptor_fetch.ready.next = self.descriptor_fetch.ready.val();

        self.control.entry_valid.next = self.entries.valid.val();
        self.control.entry_last.next = self.entries.last.val();
        self.control.entry_two_slots.next = self
            .entries
            .data
            .val()
            .get_bit(self.two_slots_bit.val().index());
        self.entries.ready.next = self.control.entry_ready.val();
        if self.control.load.val() {
            self.beat.d.next = self.entries.data.val();
        }

        self.carry.next_owner.next = bit_cast::<O, 8>(self.fetched.payload.val().owner);
        self.carry.next_index.next = self.fetched.payload.val().index;
        self.carry.owner.next = bit_cast::<O, 8>(self.control.owner.val());
        self.carry.index.next = self.control.index.val();
        self.control.joins.next = self.carry.joins.val();
        self.carry.save.next = self.control.save.val();
        self.carry.save_first.next = self.beat.q.val();
        self.carry.save_second.next = self.entries.data.val();
        self.carry.drop.next = self.control.drop.val();

        self.descriptor.valid.next = self.control.beat_valid.val();
        self.control.beat_ready.next = self.descriptor.ready.val();
        self.descriptor.last.next = self.control.beat_last.val();
        self.descriptor.byte_count.next = self.beat_bytes.val();
        self.descriptor.abort.next = false;
        self.descriptor.data.next = self.beat.q.val();
        if self.control.kept_first.val() {
            self.descriptor.data.next = self.carry.first.val();
        } else if self.control.kept_second.val() {
            self.descriptor.data.next = self.carry.second.val();
        }
    }
}
