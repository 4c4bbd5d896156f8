//! Cuts fetched send slots into descriptors of one or two slots.
//!
//! ```text
//!  fetched ──► owner, index ──────────────────────────► descriptor_fetch
//!  entries ──► first beat ──► one slot: 2 beats ──────► descriptor
//!                        └──► two slots: 4 beats ─────►
//!                        └──► second slot missing ──► [first_slots] ──► the owner's next fetch
//! ```
//! Timing: one beat per cycle, without a pause between fetches. The latency is one cycle after the
//! first cycle of `fetched`. A kept slot that goes on takes two cycles; keeping one takes one.
//!
//! Invariants:
//! 1. The descriptors of an owner leave in slot order, each whole.
//! 2. A descriptor whose second slot was not in the same fetch (end of a batch or of the ring)
//!    waits in a place of its owner's, and goes on with that owner's next fetch. Other owners do
//!    not wait for it.
//! 3. A first slot is forgotten when its ring starts again: the next fetch has another index.
//! 4. It relies on fetches of whole slots, two beats each.
//!
//! Source: `abi::send_descriptor`; `docs/specification.md`, Descriptors.

use crate::ring::first_slots::FirstSlots;
use crate::ring::slot_control::SlotControl;
use stream::prelude::*;

/// The splitter. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct SlotSplitter<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Forgets the fetch in work and every kept slot.
    pub reset: Signal<In, Bit>,

    /// Owner and first index of the slots that follow, from the send [`crate::ring::Ring`].
    pub fetched: MessageSink<RingFetch>,
    /// Slots, two beats each.
    pub entries: PacketSink,

    /// Owner and first slot index of the descriptor, offered no later than its first beat.
    pub descriptor_fetch: MessageSource<RingFetch>,
    /// Descriptors: 2 beats, or 4 with `TWO_SLOTS`; never aborted.
    pub descriptor: PacketSource,

    control: SlotControl,
    first_slots: FirstSlots<OWNER_BITS, OWNERS>,
    beat: DFF<Bits<512>>,

    #[value(abi::send_descriptor::TWO_SLOTS.offset as u64)]
    two_slots_bit: Constant<Bits<4>>,
    #[value(abi::config::BEAT_BYTES as u64)]
    beat_bytes: Constant<Bits<7>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for SlotSplitter<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, beat);
        clock!(self, clock, control, first_slots);
        self.control.reset.next = self.reset.val();
        self.first_slots.reset.next = self.reset.val();

        self.control.fetched.valid.next = self.fetched.valid.val();
        self.control.fetched.payload.next = self.fetched.payload.val();
        self.fetched.ready.next = self.control.fetched.ready.val();
        MessageSource::<RingFetch>::link(
            &mut self.descriptor_fetch,
            &mut self.control.descriptor_fetch,
        );

        self.control.entry_valid.next = self.entries.valid.val();
        self.control.entry_last.next = self.entries.last.val();
        self.control.entry_two_slots.next =
            self.entries.data.val().get_bit(self.two_slots_bit.val().index());
        self.entries.ready.next = self.control.entry_ready.val();
        if self.control.load.val() {
            self.beat.d.next = self.entries.data.val();
        }

        self.first_slots.next_owner.next =
            bit_cast::<OWNER_BITS, 8>(self.fetched.payload.val().owner);
        self.first_slots.next_index.next = self.fetched.payload.val().index;
        self.first_slots.owner.next = bit_cast::<OWNER_BITS, 8>(self.control.owner.val());
        self.first_slots.index.next = self.control.index.val();
        self.control.joins.next = self.first_slots.joins.val();
        self.first_slots.save.next = self.control.save.val();
        self.first_slots.save_first.next = self.beat.q.val();
        self.first_slots.save_second.next = self.entries.data.val();
        self.first_slots.drop.next = self.control.drop.val();

        self.descriptor.valid.next = self.control.beat_valid.val();
        self.control.beat_ready.next = self.descriptor.ready.val();
        self.descriptor.last.next = self.control.beat_last.val();
        self.descriptor.byte_count.next = self.beat_bytes.val();
        self.descriptor.abort.next = false;
        self.descriptor.data.next = self.beat.q.val();
        if self.control.kept_first.val() {
            self.descriptor.data.next = self.first_slots.first.val();
        } else if self.control.kept_second.val() {
            self.descriptor.data.next = self.first_slots.second.val();
        }
    }
}
