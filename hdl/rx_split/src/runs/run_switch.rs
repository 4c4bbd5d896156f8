//! Which owners have runs, and for how long one may be open.
//!
//! Timing: a write shows in the next cycle, in `may_open` one later; `has_runs` follows `owner` in
//! the same cycle. `active`
//! falls when no run is open and nothing is inside.
//!
//! Invariants:
//! 1. `reset` takes runs away from every owner, and sets the time to that of power-up.
//! 2. While an owner has runs `active` is high.
//!
//! Source: `abi::registers`, CONTEXT_ENABLE and COALESCE_CYCLES.

use crate::owner_decode::OwnerWrite;
use abi::registers::{COALESCE_CYCLES, COALESCE_CYCLES_START};
use stream::prelude::*;

/// The switch, for 2^OWNER_BITS owners; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct RunSwitch<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: no owner has runs.
    pub reset: Signal<In, Bit>,

    /// Register writes: `COALESCE_CYCLES`.
    pub settings: PulseSink<RegisterWrite>,
    /// A decoded write to an owner's context.
    pub write: Signal<In, OwnerWrite>,
    /// Owner that it addresses.
    pub write_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Owner that is asked for.
    pub owner: Signal<In, Bits<8>>,
    /// Items are inside, or runs open.
    pub busy: Signal<In, Bit>,
    /// `owner` has runs.
    pub has_runs: Signal<Out, Bit>,
    /// Runs may open.
    pub may_open: Signal<Out, Bit>,
    /// Longest time that a run is open, cycles.
    pub cycles: Signal<Out, Bits<16>>,
    /// Items go through the stage.
    pub active: Signal<Out, Bit>,

    owners: DFF<Bits<OWNERS>>,
    limit: DFF<Bits<16>>,
    opening: DFF<Bit>,
    is_active: DFF<Bit>,

    at: Signal<Local, Bits<OWNER_BITS>>,
    value: Signal<Local, Bits<32>>,
    mark: Signal<Local, Bits<OWNERS>>,
    #[value(1)]
    one: Constant<Bits<OWNERS>>,
    #[value(u64::from(COALESCE_CYCLES))]
    coalesce_cycles: Constant<Bits<24>>,
    #[value(u64::from(COALESCE_CYCLES_START))]
    start: Constant<Bits<16>>,
    #[value(0xffff)]
    longest: Constant<Bits<16>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for RunSwitch<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, owners, limit, opening, is_active);
        self.at.next = bit_cast::<OWNER_BITS, 8>(self.owner.val());
        self.has_runs.next = self.owners.q.val().get_bit(self.at.val().index());
        self.opening.d.next = self.limit.q.val().any();
        self.may_open.next = self.opening.q.val();
        self.cycles.next = self.limit.q.val();
        self.active.next = self.is_active.q.val();
        self.is_active.d.next =
            self.owners.q.val().any() | (self.is_active.q.val() & self.busy.val());

        self.value.next = self.settings.payload.val().data;
        if self.settings.valid.val()
            & (self.settings.payload.val().address == self.coalesce_cycles.val())
        {
            self.limit.d.next = self.value.val().get_bits::<16>(0);
            if self.value.val().get_bits::<16>(16).any() {
                self.limit.d.next = self.longest.val();
            }
        }
        self.mark.next = self.one.val() << self.write_owner.val();
        if self.write.val().enable {
            self.owners.d.next = self.owners.q.val() & !self.mark.val();
            if self.write.val().data.get_bit(1) {
                self.owners.d.next = self.owners.q.val() | self.mark.val();
            }
        }
        if self.reset.val() {
            self.owners.d.next = 0.into();
            self.limit.d.next = self.start.val();
        }
    }
}
