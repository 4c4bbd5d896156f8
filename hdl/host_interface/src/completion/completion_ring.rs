//! Finds where the next completion entry of an owner goes.
//!
//! ```text
//!  settings ──► base, size, enabled ─┐
//!  advance ───► entries written ─────┴─► of `owner`: enabled, address, pass_is_odd
//! ```
//! Timing: `enabled` is combinational from `owner`. `address` and `pass_is_odd` hold from the next
//! cycle on, while `owner` stays. Settings count two cycles after their pulse.
//!
//! Invariants:
//! 1. After `start`, `advance` moves the owner's index by one, unless its enable word was written
//!    in between. `owner` must stay from `start` to `advance`.
//!
//! Source: `docs/specification.md`, Rings.

use crate::owner::owner_index::OwnerIndex;
use crate::owner::owner_registers::{OwnerAddress, OwnerRegisters, OwnerWord};
use crate::owner::owner_set::OwnerSet;
use abi::registers;
use stream::prelude::*;

/// The rings. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(abi::config::COMPLETION_BYTES == 1 << 4)]
pub struct CompletionRing<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disables every owner; addresses, sizes and indices are kept until the owner is enabled
    /// again.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,

    /// Owner whose ring is requested.
    pub owner: Signal<In, Bits<OWNER_BITS>>,
    /// The owner is enabled.
    pub enabled: Signal<Out, Bit>,
    /// Bus address of the owner's next entry.
    pub address: Signal<Out, Bits<64>>,
    /// The next entry lies in an odd pass over the ring; the first pass is odd.
    pub pass_is_odd: Signal<Out, Bit>,

    /// An entry is begun.
    pub start: Signal<In, Bit>,
    /// The entry is written: move the owner's index.
    pub advance: Signal<In, Bit>,
    /// `advance` is accepted in this cycle.
    pub advance_ready: Signal<Out, Bit>,

    registers: OwnerRegisters<OWNER_BITS>,
    #[value(OwnerAddress::new(registers::CONTEXT_COMPLETION_BASE))]
    base: OwnerAddress<OWNER_BITS>,
    #[value(OwnerWord::new(registers::CONTEXT_SIZES))]
    sizes: OwnerWord<OWNER_BITS>,
    entries_written: OwnerIndex<OWNER_BITS>,
    owners: OwnerSet<OWNER_BITS, OWNERS>,
    is_stale: DFF<Bit>,
    place: DFF<Bits<32>>,
    is_odd: DFF<Bit>,

    enables: Signal<Local, Bit>,
    enabled_owner: Signal<Local, Bits<OWNER_BITS>>,
    index: Signal<Local, Bits<32>>,
    size_bits: Signal<Local, Bits<4>>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(Bits::<32>::mask())]
    ones: Constant<Bits<32>>,
    #[value(4)]
    entry_shift: Constant<Bits<3>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for CompletionRing<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, is_stale, place, is_odd);
        clock!(self, clock, registers, base, sizes, entries_written, owners);
        self.owners.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.registers.write);
        self.base.changed.valid.next = self.registers.changed.valid.val();
        self.base.changed.payload.next = self.registers.changed.payload.val();
        self.sizes.changed.valid.next = self.registers.changed.valid.val();
        self.sizes.changed.payload.next = self.registers.changed.payload.val();
        self.entries_written.changed.valid.next = self.registers.changed.valid.val();
        self.entries_written.changed.payload.next = self.registers.changed.payload.val();

        self.enables.next =
            self.registers.changed.valid.val() & self.registers.changed.payload.val().enable;
        self.enabled_owner.next =
            bit_cast::<OWNER_BITS, 8>(self.registers.changed.payload.val().owner);
        self.owners.add.next =
            self.enables.val() & self.registers.changed.payload.val().data.get_bit(0);
        self.owners.add_owner.next = self.enabled_owner.val();
        self.owners.remove.next = self.enables.val();
        self.owners.remove_owner.next = self.enabled_owner.val();
        self.enabled.next = self.owners.members.val().get_bit(self.owner.val().index());

        self.base.owner.next = self.owner.val();
        self.sizes.owner.next = self.owner.val();
        self.entries_written.owner.next = self.owner.val();
        self.index.next = self.entries_written.value.val();
        self.size_bits.next = self.sizes.value.val().get_bits::<4>(0);
        self.place.d.next = self.index.val() & !(self.ones.val() << self.size_bits.val());
        self.address.next = self.base.address.val()
            + (bit_cast::<64, 32>(self.place.q.val()) << self.entry_shift.val());
        self.is_odd.d.next = !(self.index.val() >> self.size_bits.val()).get_bit(0);
        self.pass_is_odd.next = self.is_odd.q.val();

        if self.start.val() {
            self.is_stale.d.next = false;
        }
        if self.enables.val() & (self.enabled_owner.val() == self.owner.val()) {
            self.is_stale.d.next = true;
        }
        self.entries_written.advance.next = self.advance.val() & !self.is_stale.q.val();
        self.entries_written.advance_to.next = self.index.val() + self.one.val();
        self.advance_ready.next = self.entries_written.advance_ready.val();
    }
}
