//! Where each owner's header queue and slow buffers are, and how full.
//!
//! ```text
//!  settings ─┬─► bases, sizes ───────────────► [place_owner] ──► rings
//!            └─► limits ──┐
//!  update ─► producers ───┴─► [room_owner] ──► room
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | settings | in | register writes: contexts and doorbells |
//! | room_owner, room | in, out | whose rings have room, in the same cycle |
//! | place_owner, rings | in, out | where an owner's rings lie, in the same cycle |
//! | update | in | new producer indices of an owner |
//!
//! Timing: an update shows in the next cycle, a register write after four.
//!
//! Invariants:
//! 1. Enabling an owner sets its indices to 0 and its limits to its sizes; `reset` disables every
//!    owner.
//! 2. An owner beyond the configuration is never enabled.
//! 3. Producers are not cleared but marked as unwritten: an unwritten index counts as 0.
//!
//! N must be 2^B.

use crate::admit::messages::{OwnerContext, OwnerRoom, OwnerUpdate};
use crate::admit::owner_decode::{OwnerDecode, OwnerWrite};
use crate::admit::owner_flags::OwnerFlags;
use crate::admit::owner_limits::{OwnerLimit, OwnerLimits};
use crate::admit::owner_places::OwnerPlaces;
use crate::admit::owner_producers::{OwnerProducers, Producers};
use stream::prelude::*;

/// Whether places are left in a ring: up to a limit, which lies at most 2^16 before the producer;
/// more is a limit behind it. Both answers are there before it is known which one counts.
#[derive(LogicBlock, Default)]
pub struct RingLeft {
    /// The limit, modulo 2^17.
    pub limit: Signal<In, Bits<17>>,
    /// The producer, modulo 2^17, if it was written.
    pub producer: Signal<In, Bits<17>>,
    /// It was: else it counts as 0.
    pub has_produced: Signal<In, Bit>,
    /// A place is left.
    pub has_one: Signal<Out, Bit>,
    /// Two are.
    pub has_two: Signal<Out, Bit>,

    left: Signal<Local, Bits<17>>,
    all_has_one: Signal<Local, Bit>,
    all_has_two: Signal<Local, Bit>,
}

impl Logic for RingLeft {
    #[hdl_gen]
    fn update(&mut self) {
        self.left.next = self.limit.val() - self.producer.val();
        self.all_has_one.next = !self.limit.val().get_bit(16) & self.limit.val().any();
        self.all_has_two.next =
            !self.limit.val().get_bit(16) & self.limit.val().get_bits::<15>(1).any();
        self.has_one.next = self.all_has_one.val();
        self.has_two.next = self.all_has_two.val();
        if self.has_produced.val() {
            self.has_one.next = !self.left.val().get_bit(16) & self.left.val().any();
            self.has_two.next =
                !self.left.val().get_bit(16) & self.left.val().get_bits::<15>(1).any();
        }
    }
}

/// The contexts. See the module's head.
#[derive(LogicBlock, BlockDefault)]
#[require(N == 1 << B, "one bit for each owner")]
pub struct Owners<const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Whose room to show.
    pub room_owner: Signal<In, Bits<8>>,
    /// That room.
    pub room: Signal<Out, OwnerRoom>,
    /// Whose context to show.
    pub place_owner: Signal<In, Bits<8>>,
    /// That context.
    pub rings: Signal<Out, OwnerContext>,
    /// New producer indices.
    pub update: PulseSink<OwnerUpdate>,

    decode: OwnerDecode<B>,
    places: OwnerPlaces<B>,
    producers: OwnerProducers<B>,
    header_limits: LutRam<Bits<17>, B>,
    slow_limits: LutRam<Bits<17>, B>,
    flags: OwnerFlags<B, N>,
    limit: OwnerLimit<B>,
    header_left: RingLeft,
    slow_left: RingLeft,

    write: Signal<Local, OwnerWrite>,
    limits: Signal<Local, OwnerLimits>,
    room_at: Signal<Local, Bits<B>>,
    update_at: Signal<Local, Bits<B>>,
    produced: Signal<Local, Producers>,
    stored: Signal<Local, Producers>,
    other: Signal<Local, Producers>,
    #[value(N as u64)]
    owners: Constant<Bits<9>>,
}

impl<const B: usize, const N: usize> Logic for Owners<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, flags, limit, header_limits, slow_limits);
        clock!(self, clock, places, producers);
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.decode.settings);
        self.flags.reset.next = self.reset.val();
        self.limit.reset.next = self.reset.val();
        self.write.next = self.decode.write.val();
        self.limits.next = self.limit.limits.val();
        self.room_at.next = bit_cast::<B, 8>(self.room_owner.val());
        self.update_at.next = bit_cast::<B, 8>(self.update.payload.val().owner);

        self.places.write.next = self.write.val();
        self.places.write_owner.next = self.decode.owner.val();
        self.places.owner.next = bit_cast::<B, 8>(self.place_owner.val());
        self.places.sizes_owner.next = self.limit.read_owner.val();
        self.rings.next = self.places.rings.val();
        self.limit.sizes.next = self.places.sizes.val();

        self.producers.update.valid.next = self.update.valid.val();
        self.producers.update.payload.next = self.update.payload.val();
        self.producers.room_owner.next = self.room_at.val();
        self.producers.room_written.next = self.flags.has_produced.val();
        self.producers.other_owner.next = self.limit.read_owner.val();
        self.producers.other_written.next = self.flags.other_has_produced.val();
        self.produced.next = self.producers.room.val();
        self.stored.next = self.producers.stored.val();
        self.other.next = self.producers.other.val();
        self.flags.write.next = self.limit.source_write.val();
        self.flags.write_owner.next = self.limit.source_owner.val();
        self.flags.update.next = self.update.valid.val();
        self.flags.update_owner.next = self.update_at.val();
        self.flags.owner.next = self.room_at.val();
        self.flags.other.next = self.limit.read_owner.val();

        // Limits.
        self.limit.write.next = self.write.val();
        self.limit.owner.next = self.decode.owner.val();
        self.limit.header_producer.next = self.other.val().header;
        self.limit.slow_producer.next = self.other.val().slow;
        self.header_limits.read_address.next = self.room_at.val();
        self.header_limits.write_address.next = self.limit.source_owner.val();
        self.header_limits.write_data.next = self.limits.val().header;
        self.header_limits.write_enable.next = self.limits.val().header_new;
        self.slow_limits.read_address.next = self.room_at.val();
        self.slow_limits.write_address.next = self.limit.source_owner.val();
        self.slow_limits.write_data.next = self.limits.val().slow;
        self.slow_limits.write_enable.next = self.limits.val().slow_new;

        // Room: what is left up to the limits, of which all is left to who has produced nothing.
        self.header_left.limit.next = self.header_limits.read_data.val();
        self.header_left.producer.next = bit_cast::<17, 32>(self.stored.val().header);
        self.header_left.has_produced.next = self.flags.has_produced.val();
        self.slow_left.limit.next = self.slow_limits.read_data.val();
        self.slow_left.producer.next = bit_cast::<17, 32>(self.stored.val().slow);
        self.slow_left.has_produced.next = self.flags.has_produced.val();
        self.room.next.enabled = self.flags.is_enabled.val()
            & (bit_cast::<9, 8>(self.room_owner.val()) < self.owners.val());
        self.room.next.one_slot = self.header_left.has_one.val();
        self.room.next.two_slots = self.header_left.has_two.val();
        self.room.next.slow = self.slow_left.has_one.val();
        self.room.next.header_producer = self.produced.val().header;
        self.room.next.slow_producer = self.produced.val().slow;
    }
}
