//! Slots of each owner's header queue that are spoken for by an entry, and slots that joined
//! packets gave back.
//!
//! ```text
//!  plan ─► slots that it takes ─┐
//!  [written] ──────────────────┴─► first, after
//!  given_back ─► [given] ─► given
//! ```
//! Slots are reserved as packets are admitted ([`crate::admit::owners`]) and get their place here,
//! as entries come: a run's when it ends.
//!
//! Timing: `taken` follows the plan in the same cycle; what is counted shows in the next. `given`
//! follows its owners in the same cycle.
//!
//! Invariants:
//! 1. Enabling an owner sets both to 0, as it sets what is reserved to 0.
//! 2. reserved = written + given + slots of open runs + what is between admission and here.

use crate::admit::owner_flags::OwnerFlags;
use crate::admit::reserve::Taken;
use crate::messages::{Plan, Reservation, RunPart, RxItem, RxItemKind};
use crate::owner_decode::OwnerWrite;
use stream::prelude::*;

/// Slots that a plan takes. Combinational.
#[derive(LogicBlock, Default)]
pub struct SlotsOf {
    /// The plan.
    pub plan: Signal<In, Plan>,
    /// It takes slots.
    pub takes: Signal<Out, Bit>,
    /// It takes two.
    pub takes_two: Signal<Out, Bit>,

    item: Signal<Local, RxItem>,
    part: Signal<Local, RunPart>,
    has_entry: Signal<Local, Bit>,
}

impl Logic for SlotsOf {
    #[hdl_gen]
    fn update(&mut self) {
        self.item.next = self.plan.val().packet;
        self.part.next = self.plan.val().run;
        self.has_entry.next = (self.item.val().kind == RxItemKind::Packet)
            | (self.item.val().kind == RxItemKind::Event)
            | (self.item.val().kind == RxItemKind::Run);
        self.takes.next = self.has_entry.val()
            & !self.part.val().keeps
            & (!self.part.val().joins | self.part.val().ends);
        self.takes_two.next = self.plan.val().two_slots;
    }
}

/// The counts, for 2^OWNER_BITS owners; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct OwnerWritten<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: no owner is enabled.
    pub reset: Signal<In, Bit>,

    /// A decoded register write, as it takes effect.
    pub write: Signal<In, OwnerWrite>,
    /// Owner that the write addresses.
    pub write_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Plans in the order of their entries.
    pub plans: PulseSink<Plan>,
    /// Owner of the plan.
    pub owner: Signal<In, Bits<8>>,
    /// No owner has runs: what is reserved is written.
    pub bypasses: Signal<In, Bit>,
    /// With `bypasses`: slots that `owner` has reserved before the plan.
    pub reserved: Signal<In, Bits<32>>,
    /// Index of the plan's slot, and those after it.
    pub taken: Signal<Out, Taken>,
    /// Owner of a packet that joined a run.
    pub given_back: PulseSink<Bits<8>>,
    /// Owner whose free space is computed.
    pub space_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Slots that packets of `space_owner` gave back, modulo 2^17.
    pub space_given: Signal<Out, Bits<17>>,
    /// Owner whose limit is computed.
    pub limit_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Slots that packets of `limit_owner` gave back, modulo 2^17.
    pub limit_given: Signal<Out, Bits<17>>,

    slots: SlotsOf,
    flags: OwnerFlags<OWNER_BITS, OWNERS>,
    written: LutRam<Bits<32>, OWNER_BITS>,
    /// For the next packet, the space and the limits.
    given: [LutRam<Bits<17>, OWNER_BITS>; 3],
    clears: DFF<Bit>,
    cleared: DFF<Bits<OWNER_BITS>>,

    plan: Signal<Local, Plan>,
    place: Signal<Local, Reservation>,
    at: Signal<Local, Bits<OWNER_BITS>>,
    giver: Signal<Local, Bits<OWNER_BITS>>,
    count: Signal<Local, Bits<32>>,
    count_after: Signal<Local, Bits<32>>,
    given_address: Signal<Local, Bits<OWNER_BITS>>,
    given_after: Signal<Local, Bits<17>>,
    enables: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(2)]
    two: Constant<Bits<32>>,
    #[value(1)]
    one_given: Constant<Bits<17>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for OwnerWritten<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, clears, cleared);
        clock!(self, clock, flags, written);
        self.flags.reset.next = self.reset.val();
        self.flags.write.next = self.write.val();
        self.flags.write_owner.next = self.write_owner.val();
        self.plan.next = self.plans.payload.val();
        self.slots.plan.next = self.plan.val();
        self.at.next = bit_cast::<OWNER_BITS, 8>(self.owner.val());
        self.flags.owner.next = self.at.val();
        self.flags.other.next = self.at.val();
        self.flags.update_owner.next = self.at.val();
        self.flags.update.next = self.plans.valid.val() & self.slots.takes.val();

        self.written.read_address.next = self.at.val();
        self.count.next = 0.into();
        if self.bypasses.val() {
            self.count.next = self.reserved.val();
        } else if self.flags.has_produced.val() {
            self.count.next = self.written.read_data.val();
        }
        self.count_after.next = self.count.val() + self.one.val();
        if self.slots.takes_two.val() {
            self.count_after.next = self.count.val() + self.two.val();
        }
        self.written.write_address.next = self.at.val();
        self.written.write_data.next = self.count_after.val();
        self.written.write_enable.next = self.plans.valid.val() & self.slots.takes.val();
        self.taken.next.header = self.count.val();
        self.taken.next.header_after = self.count_after.val();
        self.place.next = self.plan.val().place;
        self.taken.next.slow = self.place.val().slow_index;

        // An owner's count is cleared in the first cycle in which no packet gives a slot back.
        self.giver.next = bit_cast::<OWNER_BITS, 8>(self.given_back.payload.val());
        self.enables.next = self.write.val().enable & self.write.val().switch;
        if self.enables.val() {
            self.clears.d.next = true;
            self.cleared.d.next = self.write_owner.val();
        } else if !self.given_back.valid.val() {
            self.clears.d.next = false;
        }
        self.given_address.next = self.cleared.q.val();
        self.given_after.next = 0.into();
        if self.given_back.valid.val() {
            self.given_address.next = self.giver.val();
            self.given_after.next = self.given[0].read_data.val() + self.one_given.val();
        }
        for i in 0..3 {
            self.given[i].clock.next = self.clock.val();
            self.given[i].write_address.next = self.given_address.val();
            self.given[i].write_data.next = self.given_after.val();
            self.given[i].write_enable.next = self.given_back.valid.val() | self.clears.q.val();
        }
        self.given[0].read_address.next = self.giver.val();
        self.given[1].read_address.next = self.space_owner.val();
        self.given[2].read_address.next = self.limit_owner.val();
        self.space_given.next = self.given[1].read_data.val();
        self.limit_given.next = self.given[2].read_data.val();
    }
}
