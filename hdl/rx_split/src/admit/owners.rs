//! Where each owner's header queue and slow buffers are, and how much of them is free.
//!
//! ```text
//!  settings ─┬─► bases, sizes ───────────────► [place_owner] ──► rings
//!            └─► limits ──┐
//!  update ─► producers ───┴─► [space_owner] ──► space
//! ```
//! Timing: `space` and `rings` follow their owners in the same cycle. An update shows in the next
//! cycle, a register write after four.
//!
//! Invariants:
//! 1. Enabling an owner sets its indices to 0 and its limits to its sizes; `reset` disables every
//!    owner.
//! 2. An owner beyond the configuration is never enabled.
//! 3. Producers are not cleared but marked as unwritten: an unwritten index counts as 0.
//!
//! Source: docs/specification.md, Settings and Rings.

use crate::admit::messages::{OwnerContext, OwnerSpace, OwnerUpdate};
use crate::admit::owner_flags::OwnerFlags;
use crate::admit::owner_limit::{OwnerLimit, OwnerLimits};
use crate::admit::owner_places::OwnerPlaces;
use crate::admit::owner_producers::{OwnerProducers, Producers};
use crate::owner_decode::{OwnerDecode, OwnerWrite};
use stream::prelude::*;

/// Whether entries are left in a ring: up to a limit, which lies at most 2^16 past the producer; a
/// larger difference is a limit before it. Both cases are computed before it is known which one
/// counts.
#[derive(LogicBlock, Default)]
pub struct RingSpaceLeft {
    /// The limit, modulo 2^17.
    pub limit: Signal<In, Bits<17>>,
    /// The producer index as stored, modulo 2^17.
    pub producer: Signal<In, Bits<17>>,
    /// The producer index was written: otherwise it counts as 0.
    pub has_produced: Signal<In, Bit>,
    /// One entry is left.
    pub has_one: Signal<Out, Bit>,
    /// Two entries are left.
    pub has_two: Signal<Out, Bit>,

    left: Signal<Local, Bits<17>>,
}

impl Logic for RingSpaceLeft {
    #[hdl_gen]
    fn update(&mut self) {
        self.left.next = self.limit.val() - self.producer.val();
        self.has_one.next = !self.limit.val().get_bit(16) & self.limit.val().any();
        self.has_two.next =
            !self.limit.val().get_bit(16) & self.limit.val().get_bits::<15>(1).any();
        if self.has_produced.val() {
            self.has_one.next = !self.left.val().get_bit(16) & self.left.val().any();
            self.has_two.next =
                !self.left.val().get_bit(16) & self.left.val().get_bits::<15>(1).any();
        }
    }
}

/// The contexts of 2^OWNER_BITS owners; OWNERS must be 2^OWNER_BITS. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(OWNERS == 1 << OWNER_BITS, "one bit for each owner")]
pub struct Owners<const OWNER_BITS: usize, const OWNERS: usize> {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: every owner is disabled; base addresses and sizes are kept.
    pub reset: Signal<In, Bit>,

    /// Register writes: contexts and doorbells of owners.
    pub settings: PulseSink<RegisterWrite>,
    /// Owner whose free space is shown: `early_owner` of the cycle before.
    pub space_owner: Signal<In, Bits<8>>,
    /// Free space in the rings of `space_owner`, in the same cycle.
    pub space: Signal<Out, OwnerSpace>,
    /// Owner whose context is shown.
    pub place_owner: Signal<In, Bits<8>>,
    /// Context of `place_owner`, in the same cycle.
    pub rings: Signal<Out, OwnerContext>,
    /// New producer indices of an owner.
    pub update: PulseSink<OwnerUpdate>,
    /// Owner whose free space is shown in the next cycle.
    pub early_owner: Signal<In, Bits<8>>,
    /// Slots that joined packets of `early_owner` gave back, in the same cycle, modulo 2^17.
    pub early_given: Signal<In, Bits<17>>,
    /// Owner whose limits are computed.
    pub limit_owner: Signal<Out, Bits<OWNER_BITS>>,
    /// Slots that joined packets of `limit_owner` gave back, in the same cycle.
    pub limit_given: Signal<In, Bits<32>>,
    /// A write as it takes effect.
    pub passed_write: Signal<Out, OwnerWrite>,
    /// Owner that it addresses.
    pub passed_owner: Signal<Out, Bits<OWNER_BITS>>,

    decode: OwnerDecode<OWNER_BITS>,
    places: OwnerPlaces<OWNER_BITS>,
    producers: OwnerProducers<OWNER_BITS>,
    header_limits: LutRam<Bits<17>, OWNER_BITS>,
    slow_limits: LutRam<Bits<17>, OWNER_BITS>,
    flags: OwnerFlags<OWNER_BITS, OWNERS>,
    limit: OwnerLimit<OWNER_BITS>,
    header_left: RingSpaceLeft,
    slow_left: RingSpaceLeft,

    write: Signal<Local, OwnerWrite>,
    limits: Signal<Local, OwnerLimits>,
    space_at: Signal<Local, Bits<OWNER_BITS>>,
    header_limit: DFF<Bits<17>>,
    produced: Signal<Local, Producers>,
    stored: Signal<Local, Producers>,
    other: Signal<Local, Producers>,
    #[value(OWNERS as u64)]
    owners: Constant<Bits<9>>,
}

impl<const OWNER_BITS: usize, const OWNERS: usize> Logic for Owners<OWNER_BITS, OWNERS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, header_limit);
        clock!(self, clock, flags, limit, header_limits, slow_limits);
        clock!(self, clock, places, producers);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.decode.settings);
        self.flags.reset.next = self.reset.val();
        self.limit.reset.next = self.reset.val();
        self.write.next = self.decode.write.val();
        self.limits.next = self.limit.limits.val();
        self.space_at.next = bit_cast::<OWNER_BITS, 8>(self.space_owner.val());

        self.places.write.next = self.write.val();
        self.places.write_owner.next = self.decode.owner.val();
        self.places.owner.next = bit_cast::<OWNER_BITS, 8>(self.place_owner.val());
        self.places.sizes_owner.next = self.limit.read_owner.val();
        self.rings.next = self.places.rings.val();
        self.limit.sizes.next = self.places.sizes.val();

        self.producers.update.valid.next = self.update.valid.val();
        self.producers.update.payload.next = self.update.payload.val();
        self.producers.owner.next = self.space_at.val();
        self.producers.is_written.next = self.flags.has_produced.val();
        self.producers.other_owner.next = self.limit.read_owner.val();
        self.producers.other_written.next = self.flags.other_has_produced.val();
        self.produced.next = self.producers.producers.val();
        self.stored.next = self.producers.stored.val();
        self.other.next = self.producers.other.val();
        self.flags.write.next = self.limit.source_write.val();
        self.flags.write_owner.next = self.limit.source_owner.val();
        self.flags.update.next = self.update.valid.val();
        self.flags.update_owner.next = bit_cast::<OWNER_BITS, 8>(self.update.payload.val().owner);
        self.flags.owner.next = self.space_at.val();
        self.flags.other.next = self.limit.read_owner.val();

        // Limits.
        self.limit.write.next = self.write.val();
        self.limit.owner.next = self.decode.owner.val();
        self.limit_owner.next = self.limit.read_owner.val();
        self.limit.header_producer.next = self.other.val().header - self.limit_given.val();
        self.passed_write.next = self.limit.source_write.val();
        self.passed_owner.next = self.limit.source_owner.val();
        self.limit.slow_producer.next = self.other.val().slow;
        self.header_limits.read_address.next = bit_cast::<OWNER_BITS, 8>(self.early_owner.val());
        self.header_limit.d.next = self.header_limits.read_data.val() + self.early_given.val();
        self.header_limits.write_address.next = self.limit.source_owner.val();
        self.header_limits.write_data.next = self.limits.val().header;
        self.header_limits.write_enable.next = self.limits.val().header_new;
        self.slow_limits.read_address.next = self.space_at.val();
        self.slow_limits.write_address.next = self.limit.source_owner.val();
        self.slow_limits.write_data.next = self.limits.val().slow;
        self.slow_limits.write_enable.next = self.limits.val().slow_new;

        // Free space is what is left up to the limits: all of it for an owner that has produced
        // nothing.
        self.header_left.limit.next = self.header_limit.q.val();
        self.header_left.producer.next = bit_cast::<17, 32>(self.stored.val().header);
        self.header_left.has_produced.next = self.flags.has_produced.val();
        self.slow_left.limit.next = self.slow_limits.read_data.val();
        self.slow_left.producer.next = bit_cast::<17, 32>(self.stored.val().slow);
        self.slow_left.has_produced.next = self.flags.has_produced.val();
        self.space.next.enabled = self.flags.is_enabled.val()
            & (bit_cast::<9, 8>(self.space_owner.val()) < self.owners.val());
        self.space.next.one_slot = self.header_left.has_one.val();
        self.space.next.two_slots = self.header_left.has_two.val();
        self.space.next.slow = self.slow_left.has_one.val();
        self.space.next.header_producer = self.produced.val().header;
        self.space.next.slow_producer = self.produced.val().slow;
    }
}
