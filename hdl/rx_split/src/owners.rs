//! Where each owner's header queue and slow buffers are, and how full.
//!
//! ```text
//!  settings ──► bases, sizes, consumer indices ─┐
//!  update ────► producer indices ───────────────┴─► [owner] ──► context
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | settings | in | register writes: contexts and doorbells |
//! | owner | in | whose context to show |
//! | shown | out | that context |
//! | update | in | new producer indices of an owner |
//!
//! Timing: `shown` is combinational from `owner`; a write shows in the next cycle.
//!
//! Invariants:
//! 1. Enabling an owner sets its indices to 0; `reset` disables every owner.
//! 2. An owner beyond the configuration is never enabled.
//! 3. Indices are not cleared but marked as unwritten: an unwritten index counts as 0.
//!
//! N must be 2^B.

use crate::owner_decode::{OwnerDecode, OwnerWrite};
use crate::owner_flags::OwnerFlags;
use crate::owner_view::OwnerView;
use stream::prelude::*;

/// What is kept of an owner.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerContext {
    /// The owner is enabled.
    pub enabled: Bit,
    /// Bus address of the header queue.
    pub header_base: Bits<64>,
    /// Bus address of the slow buffers.
    pub slow_base: Bits<64>,
    /// log2 slots of the header queue.
    pub header_bits: Bits<4>,
    /// log2 slow buffers.
    pub slow_bits: Bits<4>,
    /// Slots produced.
    pub header_producer: Bits<32>,
    /// Slots consumed.
    pub header_consumer: Bits<32>,
    /// Slow buffers handed out.
    pub slow_producer: Bits<32>,
    /// Slow buffers given back.
    pub slow_consumer: Bits<32>,
}

/// New producer indices.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OwnerUpdate {
    /// Whose.
    pub owner: Bits<8>,
    /// Slots produced.
    pub header_producer: Bits<32>,
    /// Slow buffers handed out.
    pub slow_producer: Bits<32>,
}

/// The contexts. See the module's head.
#[derive(LogicBlock)]
pub struct Owners<const B: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Whose context to show.
    pub owner: Signal<In, Bits<8>>,
    /// That context.
    pub shown: Signal<Out, OwnerContext>,
    /// New producer indices.
    pub update: PulseSink<OwnerUpdate>,

    decode: OwnerDecode<B>,
    /// Words of the contexts: header base low and high, slow base low and high, sizes.
    words: [LutRam<Bits<32>, B>; 5],
    /// Header and slow consumer, header and slow producer.
    indices: [LutRam<Bits<32>, B>; 4],
    flags: OwnerFlags<B, N>,
    view: OwnerView,

    write: Signal<Local, OwnerWrite>,
    at: Signal<Local, Bits<B>>,
    update_at: Signal<Local, Bits<B>>,
    owners: Constant<Bits<9>>,
}

impl<const B: usize, const N: usize> Default for Owners<B, N> {
    fn default() -> Self {
        assert_eq!(N, 1 << B, "one bit for each owner");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            settings: Default::default(),
            owner: Default::default(),
            shown: Default::default(),
            update: Default::default(),
            decode: Default::default(),
            words: Default::default(),
            indices: Default::default(),
            flags: Default::default(),
            view: Default::default(),
            write: Default::default(),
            at: Default::default(),
            update_at: Default::default(),
            owners: Constant::new((N as u64).to_bits()),
        }
    }
}

impl<const B: usize, const N: usize> Logic for Owners<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.decode.settings);
        self.write.next = self.decode.write.val();
        self.at.next = bit_cast::<B, 8>(self.owner.val());

        self.update_at.next = bit_cast::<B, 8>(self.update.payload.val().owner);

        for i in 0..5 {
            self.words[i].clock.next = self.clock.val();
            self.words[i].read_address.next = self.at.val();
            self.words[i].write_address.next = self.decode.owner.val();
            self.words[i].write_data.next = self.write.val().data;
        }
        self.words[0].write_enable.next = self.write.val().header_base_low;
        self.words[1].write_enable.next = self.write.val().header_base_high;
        self.words[2].write_enable.next = self.write.val().slow_base_low;
        self.words[3].write_enable.next = self.write.val().slow_base_high;
        self.words[4].write_enable.next = self.write.val().sizes;
        for i in 0..4 {
            self.indices[i].clock.next = self.clock.val();
            self.indices[i].read_address.next = self.at.val();
        }
        self.indices[0].write_address.next = self.decode.owner.val();
        self.indices[0].write_data.next = self.write.val().data;
        self.indices[0].write_enable.next = self.write.val().header_doorbell;
        self.indices[1].write_address.next = self.decode.owner.val();
        self.indices[1].write_data.next = self.write.val().data;
        self.indices[1].write_enable.next = self.write.val().slow_doorbell;
        self.indices[2].write_address.next = self.update_at.val();
        self.indices[2].write_data.next = self.update.payload.val().header_producer;
        self.indices[2].write_enable.next = self.update.valid.val();
        self.indices[3].write_address.next = self.update_at.val();
        self.indices[3].write_data.next = self.update.payload.val().slow_producer;
        self.indices[3].write_enable.next = self.update.valid.val();
        self.flags.clock.next = self.clock.val();
        self.flags.reset.next = self.reset.val();
        self.flags.write.next = self.write.val();
        self.flags.write_owner.next = self.decode.owner.val();
        self.flags.update.next = self.update.valid.val();
        self.flags.update_owner.next = self.update_at.val();
        self.flags.owner.next = self.at.val();

        // The context that is asked for.
        self.view.word_0.next = self.words[0].read_data.val();
        self.view.word_1.next = self.words[1].read_data.val();
        self.view.word_2.next = self.words[2].read_data.val();
        self.view.word_3.next = self.words[3].read_data.val();
        self.view.word_4.next = self.words[4].read_data.val();
        self.view.header_consumer.next = self.indices[0].read_data.val();
        self.view.slow_consumer.next = self.indices[1].read_data.val();
        self.view.header_producer.next = self.indices[2].read_data.val();
        self.view.slow_producer.next = self.indices[3].read_data.val();
        self.view.enabled.next =
            self.flags.is_enabled.val() & (bit_cast::<9, 8>(self.owner.val()) < self.owners.val());
        self.view.has_produced.next = self.flags.has_produced.val();
        self.view.has_returned_header.next = self.flags.has_returned_header.val();
        self.view.has_returned_slow.next = self.flags.has_returned_slow.val();
        self.shown.next = self.view.shown.val();
    }
}
