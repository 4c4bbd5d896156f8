//! State of every owner's ring of one kind: settings, indices, generation, and whether it runs.
//!
//! ```text
//!  settings ──► base, size, producer ─┐
//!  advance  ──► consumer ─────────────┼──► of `scan`
//!  fail     ──► runs ─────────────────┘
//! ```
//! Timing: `view` is combinational from `scan`, `check_runs` and `check_same` from `check`. A
//! setting counts two cycles after its pulse.
//!
//! Invariants:
//! 1. Writing a context's enable word sets producer and consumer to 0, gives the ring a new
//!    generation and forgets a failure. The ring runs when bit 0 of that word was 1.
//! 2. `advance` has an effect only while `ready` is high. An enable word that comes with `fail` for
//!    the same ring takes precedence.
//! 3. A generation number comes again after 2^24 enable writes. No fetch is in flight that long.
//!
//! Source: `docs/specification.md`, Rings and Stopped rings; `abi::registers`.

use crate::owner::owner_registers::{OwnerAddress, OwnerRegisters, OwnerWord};
use crate::owner::owner_set::OwnerSet;
use crate::ring::ring_indices::RingIndices;
use abi::registers;
use stream::prelude::*;

/// What distinguishes one kind of ring from another.
#[derive(Clone, Copy, Debug)]
pub struct RingKind {
    /// Context field of the ring's base.
    pub base: u32,
    /// First bit of the ring's log2 size in `CONTEXT_SIZES`.
    pub size_bit: u32,
    /// Doorbell field of the producer index.
    pub doorbell: u32,
    /// log2 bytes of an entry.
    pub entry_bits: u32,
    /// Most entries of one fetch.
    pub entries_max: u32,
}

/// Command rings: an entry is one beat.
pub const COMMAND_RING: RingKind = RingKind {
    base: registers::CONTEXT_COMMAND_BASE,
    size_bit: 0,
    doorbell: registers::DOORBELL_COMMAND,
    entry_bits: 6,
    entries_max: 16,
};

/// Send rings: a slot is two beats.
pub const SEND_RING: RingKind = RingKind {
    base: registers::CONTEXT_SEND_BASE,
    size_bit: 8,
    doorbell: registers::DOORBELL_SEND,
    entry_bits: 7,
    entries_max: 16,
};

/// State of one ring, as the planner needs it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RingView {
    /// The ring is enabled and has not failed.
    pub runs: Bit,
    /// Bus address of the ring.
    pub base: Bits<64>,
    /// log2 entries of the ring.
    pub size_bits: Bits<4>,
    /// Index after the last entry that the host produced.
    pub producer: Bits<32>,
    /// Index of the next entry to fetch.
    pub consumer: Bits<32>,
    /// Generation of the ring: a number that changes with every enable word.
    pub generation: Bits<24>,
}

/// The state. See the module's head.
///
/// The state of all rings of one kind.
#[derive(LogicBlock, BlockDefault)]
#[new(kind: RingKind)]
pub struct RingState<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Disables every ring; addresses, sizes and indices are kept until the rings are enabled
    /// again.
    pub reset: Signal<In, Bit>,
    /// Register writes of the host.
    pub settings: PulseSink<RegisterWrite>,

    /// Owner of the ring whose state is requested.
    pub scan: Signal<In, Bits<OWNER_BITS>>,
    /// State of the ring of `scan`.
    pub view: Signal<Out, RingView>,

    /// Owner whose doorbell is written; its producer index counts from the next cycle on.
    pub rung: PulseSource<Bits<OWNER_BITS>>,
    /// Owner whose ring is enabled again; `view`, `check_runs` and `check_same` follow in the next
    /// cycle.
    pub reenabled: PulseSource<Bits<OWNER_BITS>>,

    /// `advance` is accepted in this cycle.
    pub ready: Signal<Out, Bit>,
    /// Set the consumer index of the ring of `scan`.
    pub advance: Signal<In, Bit>,
    /// New consumer index.
    pub advance_to: Signal<In, Bits<32>>,
    /// Stop the ring of `fail_owner`.
    pub fail: Signal<In, Bit>,
    /// Owner of the ring to stop.
    pub fail_owner: Signal<In, Bits<OWNER_BITS>>,
    /// Enabled rings that have failed; bit n is owner n.
    pub stopped: Signal<Out, Bits<OWNERS>>,

    /// Owner of the ring that a finished fetch belongs to.
    pub check: Signal<In, Bits<OWNER_BITS>>,
    /// Generation of the ring of `check` when the fetch was planned.
    pub check_generation: Signal<In, Bits<24>>,
    /// The ring of `check` runs.
    pub check_runs: Signal<Out, Bit>,
    /// The ring of `check` is of generation `check_generation`.
    pub check_same: Signal<Out, Bit>,

    registers: OwnerRegisters<OWNER_BITS>,
    #[value(OwnerAddress::new(kind.base))]
    base_words: OwnerAddress<OWNER_BITS>,
    #[value(OwnerWord::new(registers::CONTEXT_SIZES))]
    size_words: OwnerWord<OWNER_BITS>,
    #[value(RingIndices::new(kind.doorbell))]
    indices: RingIndices<OWNER_BITS>,
    scan_generation: LutRam<Bits<24>, OWNER_BITS>,
    check_copy: LutRam<Bits<24>, OWNER_BITS>,
    enabled: OwnerSet<OWNER_BITS, OWNERS>,
    sound: OwnerSet<OWNER_BITS, OWNERS>,
    generation_next: DFF<Bits<24>>,

    owner: Signal<Local, Bits<OWNER_BITS>>,
    enables: Signal<Local, Bit>,
    running: Signal<Local, Bits<OWNERS>>,
    #[value(kind.size_bit as u64)]
    size_bit: Constant<Bits<5>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for RingState<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, generation_next);
        clock!(self, clock, registers, base_words, size_words, indices);
        clock!(self, clock, scan_generation, check_copy, enabled, sound);
        self.enabled.reset.next = self.reset.val();
        self.sound.reset.next = self.reset.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.registers.write);
        self.base_words.changed.valid.next = self.registers.changed.valid.val();
        self.base_words.changed.payload.next = self.registers.changed.payload.val();
        self.size_words.changed.valid.next = self.registers.changed.valid.val();
        self.size_words.changed.payload.next = self.registers.changed.payload.val();
        self.indices.changed.valid.next = self.registers.changed.valid.val();
        self.indices.changed.payload.next = self.registers.changed.payload.val();

        self.base_words.owner.next = self.scan.val();
        self.view.next.base = self.base_words.address.val();
        self.size_words.owner.next = self.scan.val();
        self.view.next.size_bits =
            self.size_words.value.val().get_bits::<4>(self.size_bit.val().index());
        self.indices.owner.next = self.scan.val();
        self.view.next.producer = self.indices.producer.val();
        self.view.next.consumer = self.indices.consumer.val();
        self.indices.advance.next = self.advance.val();
        self.indices.advance_to.next = self.advance_to.val();
        self.ready.next = self.indices.advance_ready.val();
        PulseSource::<Bits<OWNER_BITS>>::link(&mut self.rung, &mut self.indices.rung);

        self.owner.next = bit_cast::<OWNER_BITS, 8>(self.registers.changed.payload.val().owner);
        self.enables.next =
            self.registers.changed.valid.val() & self.registers.changed.payload.val().enable;
        self.reenabled.valid.next = self.enables.val();
        self.reenabled.payload.next = self.owner.val();
        self.scan_generation.write_address.next = self.owner.val();
        self.scan_generation.write_data.next = self.generation_next.q.val();
        self.scan_generation.write_enable.next = self.enables.val();
        self.scan_generation.read_address.next = self.scan.val();
        self.view.next.generation = self.scan_generation.read_data.val();
        self.check_copy.write_address.next = self.owner.val();
        self.check_copy.write_data.next = self.generation_next.q.val();
        self.check_copy.write_enable.next = self.enables.val();
        self.check_copy.read_address.next = self.check.val();

        // An enable word forgets a failure, even one of the same cycle.
        self.enabled.add.next =
            self.enables.val() & self.registers.changed.payload.val().data.get_bit(0);
        self.enabled.add_owner.next = self.owner.val();
        self.enabled.remove.next = self.enables.val();
        self.enabled.remove_owner.next = self.owner.val();
        self.sound.add.next = self.enables.val();
        self.sound.add_owner.next = self.owner.val();
        self.sound.remove.next = self.fail.val();
        self.sound.remove_owner.next = self.fail_owner.val();
        self.stopped.next = self.enabled.members.val() & !self.sound.members.val();
        self.running.next = self.enabled.members.val() & self.sound.members.val();
        self.view.next.runs = self.running.val().get_bit(self.scan.val().index());
        self.check_runs.next = self.running.val().get_bit(self.check.val().index());
        self.check_same.next = self.check_copy.read_data.val() == self.check_generation.val();
        self.generation_next.d.next =
            self.generation_next.q.val() + bit_cast::<24, 1>(self.enables.val().into());
    }
}
