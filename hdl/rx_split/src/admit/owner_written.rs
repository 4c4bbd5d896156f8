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
use crate::messages::{Decided, PlanItem, RxItemKind};
use crate::owner_decode::OwnerWrite;
use stream::prelude::*;

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
    /// Runs can be open. Else what is reserved is written, and a plan is counted one cycle later.
    pub active: Signal<In, Bit>,
    /// Owner of the plan, with `active`.
    pub owner: Signal<In, Bits<8>>,
    /// The plan takes slots, with `active`.
    pub takes: Signal<In, Bit>,
    /// If it does, it takes two.
    pub takes_two: Signal<In, Bit>,
    /// Number of the slow buffer that it takes, if one.
    pub slow: Signal<In, Bits<16>>,
    /// Slots that its owner has reserved before it, without `active`.
    pub reserved: Signal<In, Bits<32>>,
    /// The plan of the cycle before.
    pub late_plan: Signal<In, Decided>,
    /// There was one.
    pub late_valid: Signal<In, Bit>,
    /// Its owner's slots after it.
    pub late_after: Signal<In, Bits<32>>,
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
    /// Slots that packets of `limit_owner` gave back.
    pub limit_given: Signal<Out, Bits<32>>,

    is_late: DFF<Bit>,
    flags: OwnerFlags<OWNER_BITS, OWNERS>,
    written: LutRam<Bits<32>, OWNER_BITS>,
    /// For the next packet, the space and the limits.
    given: [LutRam<Bits<32>, OWNER_BITS>; 3],
    clears: DFF<Bit>,
    cleared: DFF<Bits<OWNER_BITS>>,

    late_item: Signal<Local, PlanItem>,
    late_takes: Signal<Local, Bit>,
    counts: Signal<Local, Bit>,
    counted: Signal<Local, Bits<OWNER_BITS>>,
    at: Signal<Local, Bits<OWNER_BITS>>,
    giver: Signal<Local, Bits<OWNER_BITS>>,
    count: Signal<Local, Bits<32>>,
    count_after: Signal<Local, Bits<32>>,
    given_address: Signal<Local, Bits<OWNER_BITS>>,
    given_after: Signal<Local, Bits<32>>,
    enables: Signal<Local, Bit>,
    #[value(1)]
    one: Constant<Bits<32>>,
    #[value(2)]
    two: Constant<Bits<32>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for OwnerWritten<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, clears, cleared, is_late);
        clock!(self, clock, flags, written);
        self.flags.reset.next = self.reset.val();
        self.flags.write.next = self.write.val();
        self.flags.write_owner.next = self.write_owner.val();
        self.at.next = bit_cast::<OWNER_BITS, 8>(self.owner.val());
        self.flags.owner.next = self.at.val();
        self.flags.other.next = self.at.val();

        self.written.read_address.next = self.at.val();
        self.count.next = 0.into();
        if !self.active.val() {
            self.count.next = self.reserved.val();
        } else if self.flags.has_produced.val() {
            self.count.next = self.written.read_data.val();
        }
        self.count_after.next = self.count.val() + self.one.val();
        if self.takes_two.val() {
            self.count_after.next = self.count.val() + self.two.val();
        }
        self.is_late.d.next = !self.active.val();
        self.late_item.next = self.late_plan.val().packet;
        self.late_takes.next = self.late_valid.val()
            & ((self.late_item.val().kind == RxItemKind::Packet)
                | (self.late_item.val().kind == RxItemKind::Event));
        self.counts.next = self.takes.val();
        self.counted.next = self.at.val();
        self.written.write_data.next = self.count_after.val();
        if self.is_late.q.val() {
            self.counts.next = self.late_takes.val();
            self.counted.next = bit_cast::<OWNER_BITS, 8>(self.late_item.val().owner);
            self.written.write_data.next = self.late_after.val();
        }
        self.written.write_address.next = self.counted.val();
        self.written.write_enable.next = self.counts.val();
        self.flags.update_owner.next = self.counted.val();
        self.flags.update.next = self.counts.val();
        self.taken.next.header = self.count.val();
        self.taken.next.header_after = self.count_after.val();
        self.taken.next.slow = self.slow.val();

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
            self.given_after.next = self.given[0].read_data.val() + self.one.val();
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
        self.space_given.next = bit_cast::<17, 32>(self.given[1].read_data.val());
        self.limit_given.next = self.given[2].read_data.val();
    }
}
