//! Reports which armed owners have a ring that has grown beyond what they have seen: the header
//! queue, the confirmations, or the send status.
//!
//! ```text
//!  grew ─────────────► producer ─┐
//!  doorbell ─────────► seen ─────┼──► of `scan`: entries unseen, armed
//!  context enable ───► 0, unarmed┘
//! ```
//! Timing: `armed` is combinational from `scan`. `raises` and `unseen` hold one cycle after `scan`
//! came, while it stays. An arming counts two cycles after its pulse, a produced entry one cycle
//! after its pulse.
//!
//! Invariants:
//! 1. Writing a context's enable word sets the producer index to 0 and disarms.
//! 2. An owner that is armed and disarmed in the same cycle stays armed.
//!
//! Source: `abi::registers::DOORBELL_ARM` and its like; `docs/specification.md`, Interrupts.

use crate::owner::owner_registers::OwnerRegisters;
use crate::owner::owner_set::OwnerSet;
use stream::prelude::*;

/// The state. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct InterruptArm<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disarms every owner and sets every producer index to 0.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,
    /// Byte offset of the ring's doorbell in a doorbell page; a constant.
    pub doorbell: Signal<In, Bits<12>>,
    /// Owner and producer index of a ring that grew.
    pub grew: PulseSink<RingFetch>,

    /// Owner whose state is requested.
    pub scan: Signal<In, Bits<OWNER_BITS>>,
    /// The owner of `scan` is armed.
    pub armed: Signal<Out, Bit>,
    /// The owner of `scan` was armed a cycle ago, and its queue had grown beyond what it has seen.
    pub raises: Signal<Out, Bit>,
    /// Entries that the owner of `scan` has not seen.
    pub unseen: Signal<Out, Bits<32>>,
    /// Disarm the owner of `scan`; accepted while `ready` is high.
    pub disarm: Signal<In, Bit>,
    /// No owner is enabled in this cycle.
    pub ready: Signal<Out, Bit>,

    registers: OwnerRegisters<OWNER_BITS>,
    produced: LutRam<Bits<32>, OWNER_BITS>,
    seen: LutRam<Bits<32>, OWNER_BITS>,
    has_produced: OwnerSet<OWNER_BITS, OWNERS>,
    waiting: OwnerSet<OWNER_BITS, OWNERS>,
    ahead: DFF<Bits<32>>,
    was_armed: DFF<Bit>,

    changed: Signal<Local, Bit>,
    changed_owner: Signal<Local, Bits<OWNER_BITS>>,
    enables: Signal<Local, Bit>,
    arms: Signal<Local, Bit>,
    same: Signal<Local, Bit>,
    grown_owner: Signal<Local, Bits<OWNER_BITS>>,
    waiters: Signal<Local, Bits<OWNERS>>,
    producer: Signal<Local, Bits<32>>,
    #[value(0x8000_0000)]
    farthest: Constant<Bits<32>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for InterruptArm<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ahead, was_armed);
        clock!(self, clock, registers, produced, seen, has_produced);
        clock!(self, clock, waiting);
        self.has_produced.reset.next = self.reset.val();
        self.waiting.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.registers.write);

        self.changed.next = self.registers.changed.valid.val();
        self.changed_owner.next =
            bit_cast::<OWNER_BITS, 8>(self.registers.changed.payload.val().owner);
        self.enables.next = self.changed.val() & self.registers.changed.payload.val().enable;
        self.arms.next = self.changed.val()
            & self.registers.changed.payload.val().doorbell
            & (self.registers.changed.payload.val().field == self.doorbell.val());

        // A producer index counts only if it came after the enable word.
        self.grown_owner.next = bit_cast::<OWNER_BITS, 8>(self.grew.payload.val().owner);
        self.same.next = self.enables.val() & (self.grown_owner.val() == self.changed_owner.val());
        self.produced.write_address.next = self.grown_owner.val();
        self.produced.write_data.next = self.grew.payload.val().index;
        self.produced.write_enable.next = self.grew.valid.val();
        self.has_produced.add.next = self.grew.valid.val() & !self.same.val();
        self.has_produced.add_owner.next = self.grown_owner.val();
        self.has_produced.remove.next = self.enables.val();
        self.has_produced.remove_owner.next = self.changed_owner.val();

        self.seen.write_address.next = self.changed_owner.val();
        self.seen.write_data.next = self.registers.changed.payload.val().data;
        self.seen.write_enable.next = self.arms.val();
        self.waiting.add.next = self.arms.val();
        self.waiting.add_owner.next = self.changed_owner.val();
        self.waiting.remove.next = self.enables.val() | self.disarm.val();
        self.waiting.remove_owner.next = self.scan.val();
        if self.enables.val() {
            self.waiting.remove_owner.next = self.changed_owner.val();
        }
        self.ready.next = !self.enables.val();

        self.produced.read_address.next = self.scan.val();
        self.seen.read_address.next = self.scan.val();
        self.waiters.next = self.waiting.members.val();
        self.producer.next = 0.into();
        if self.has_produced.members.val().get_bit(self.scan.val().index()) {
            self.producer.next = self.produced.read_data.val();
        }
        self.armed.next = self.waiters.val().get_bit(self.scan.val().index());
        self.ahead.d.next = self.producer.val() - self.seen.read_data.val();
        self.unseen.next = self.ahead.q.val();
        self.was_armed.d.next = self.waiters.val().get_bit(self.scan.val().index());
        self.raises.next = self.was_armed.q.val()
            & (self.ahead.q.val() != bits::<32>(0))
            & (self.ahead.q.val() < self.farthest.val());
    }
}
