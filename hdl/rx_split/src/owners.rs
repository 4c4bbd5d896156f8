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
    header_consumer: LutRam<Bits<32>, B>,
    slow_consumer: LutRam<Bits<32>, B>,
    header_producer: LutRam<Bits<32>, B>,
    slow_producer: LutRam<Bits<32>, B>,
    enabled: DFF<Bits<N>>,
    header_returned: DFF<Bits<N>>,
    slow_returned: DFF<Bits<N>>,
    produced: DFF<Bits<N>>,

    write: Signal<Local, OwnerWrite>,
    at: Signal<Local, Bits<B>>,
    update_at: Signal<Local, Bits<B>>,
    written: Signal<Local, Bits<N>>,
    unwritten: Signal<Local, Bits<N>>,
    updated: Signal<Local, Bits<N>>,
    header_base: Signal<Local, Bits<64>>,
    slow_base: Signal<Local, Bits<64>>,
    sizes: Signal<Local, Bits<32>>,
    one: Constant<Bits<N>>,
    zero: Constant<Bits<N>>,
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
            header_consumer: Default::default(),
            slow_consumer: Default::default(),
            header_producer: Default::default(),
            slow_producer: Default::default(),
            enabled: Default::default(),
            header_returned: Default::default(),
            slow_returned: Default::default(),
            produced: Default::default(),
            write: Default::default(),
            at: Default::default(),
            update_at: Default::default(),
            written: Default::default(),
            unwritten: Default::default(),
            updated: Default::default(),
            header_base: Default::default(),
            slow_base: Default::default(),
            sizes: Default::default(),
            one: Constant::new(1u64.to_bits()),
            zero: Constant::new(0u64.to_bits()),
            owners: Constant::new((N as u64).to_bits()),
        }
    }
}

impl<const B: usize, const N: usize> Logic for Owners<B, N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            enabled,
            header_returned,
            slow_returned,
            produced
        );
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
        self.header_consumer.clock.next = self.clock.val();
        self.header_consumer.read_address.next = self.at.val();
        self.header_consumer.write_address.next = self.decode.owner.val();
        self.header_consumer.write_data.next = self.write.val().data;
        self.header_consumer.write_enable.next = self.write.val().header_doorbell;
        self.slow_consumer.clock.next = self.clock.val();
        self.slow_consumer.read_address.next = self.at.val();
        self.slow_consumer.write_address.next = self.decode.owner.val();
        self.slow_consumer.write_data.next = self.write.val().data;
        self.slow_consumer.write_enable.next = self.write.val().slow_doorbell;
        self.header_producer.clock.next = self.clock.val();
        self.header_producer.read_address.next = self.at.val();
        self.header_producer.write_address.next = self.update_at.val();
        self.header_producer.write_data.next = self.update.payload.val().header_producer;
        self.header_producer.write_enable.next = self.update.valid.val();
        self.slow_producer.clock.next = self.clock.val();
        self.slow_producer.read_address.next = self.at.val();
        self.slow_producer.write_address.next = self.update_at.val();
        self.slow_producer.write_data.next = self.update.payload.val().slow_producer;
        self.slow_producer.write_enable.next = self.update.valid.val();

        // The context that is asked for.
        self.header_base.next = bit_cast::<64, 32>(self.words[0].read_data.val())
            | (bit_cast::<64, 32>(self.words[1].read_data.val()) << 32);
        self.slow_base.next = bit_cast::<64, 32>(self.words[2].read_data.val())
            | (bit_cast::<64, 32>(self.words[3].read_data.val()) << 32);
        self.sizes.next = self.words[4].read_data.val();
        self.shown.next.enabled = self.enabled.q.val().get_bit(self.at.val().index())
            & (bit_cast::<9, 8>(self.owner.val()) < self.owners.val());
        self.shown.next.header_base = self.header_base.val();
        self.shown.next.slow_base = self.slow_base.val();
        self.shown.next.header_bits = self.sizes.val().get_bits::<4>(16);
        self.shown.next.slow_bits = self.sizes.val().get_bits::<4>(24);
        self.shown.next.header_producer = bits::<32>(0);
        self.shown.next.slow_producer = bits::<32>(0);
        self.shown.next.header_consumer = bits::<32>(0);
        self.shown.next.slow_consumer = bits::<32>(0);
        if self.produced.q.val().get_bit(self.at.val().index()) {
            self.shown.next.header_producer = self.header_producer.read_data.val();
            self.shown.next.slow_producer = self.slow_producer.read_data.val();
        }
        if self.header_returned.q.val().get_bit(self.at.val().index()) {
            self.shown.next.header_consumer = self.header_consumer.read_data.val();
        }
        if self.slow_returned.q.val().get_bit(self.at.val().index()) {
            self.shown.next.slow_consumer = self.slow_consumer.read_data.val();
        }

        // Which indices count.
        self.written.next = self.one.val() << self.decode.owner.val();
        self.unwritten.next = !self.written.val();
        self.updated.next = self.one.val() << self.update_at.val();
        if self.update.valid.val() {
            self.produced.d.next = self.produced.q.val() | self.updated.val();
        }
        if self.write.val().header_doorbell {
            self.header_returned.d.next = self.header_returned.q.val() | self.written.val();
        }
        if self.write.val().slow_doorbell {
            self.slow_returned.d.next = self.slow_returned.q.val() | self.written.val();
        }
        if self.write.val().enable {
            self.enabled.d.next = self.enabled.q.val() & self.unwritten.val();
            if self.write.val().switch {
                self.enabled.d.next = self.enabled.q.val() | self.written.val();
                self.produced.d.next = self.produced.q.val() & self.unwritten.val();
                self.header_returned.d.next = self.header_returned.q.val() & self.unwritten.val();
                self.slow_returned.d.next = self.slow_returned.q.val() & self.unwritten.val();
            }
        }
        if self.reset.val() {
            self.enabled.d.next = self.zero.val();
        }
    }
}
