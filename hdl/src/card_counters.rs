//! Every counter of the card, and what a read of one returns.
//!
//! ```text
//!  drop, disposition, send error, stage pulses ──►┌──────────────┐──► value
//!                              address, reading ─►│ CardCounters │
//!                                                 └──────────────┘
//! ```
//! Timing: `value` is combinational from `address`; a pulse shows one cycle later.
//!
//! Invariants:
//! 1. Each pulse is counted once; counters are never reset.
//! 2. Reading a low word latches the high word; reading a high word returns what is latched.
//!
//! Source: `abi::registers`, counters.

use crate::event_counters::EventCounters;
use stream::prelude::*;

/// The counters. See the module's head.
#[derive(LogicBlock)]
pub struct CardCounters {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Frames that the MAC side dropped for want of room.
    pub mac_dropped: Signal<In, Bit>,
    /// DropReason of other dropped frames.
    pub drop_count: PulseSink<Bits<4>>,
    /// Disposition of packets.
    pub disposition_count: PulseSink<Bits<4>>,
    /// SendError of failed sends.
    pub send_error_count: PulseSink<Bits<3>>,
    /// Stage counters in the order of `STAGE_COUNTERS`.
    pub stage_events: Signal<In, Bits<8>>,

    /// Byte offset in BAR 0 of the word that is read.
    pub address: Signal<In, Bits<24>>,
    /// A read takes place in this cycle.
    pub reading: Signal<In, Bit>,
    /// The word.
    pub value: Signal<Out, Bits<32>>,

    drops: CounterBank<4>,
    dispositions: CounterBank<4>,
    send_errors: CounterBank<3>,
    stages: EventCounters,
    mac_drops: DFF<Bits<64>>,
    latched_high: DFF<Bits<32>>,

    counter: Signal<Local, Bits<64>>,
    one: Constant<Bits<64>>,
}

impl Default for CardCounters {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            mac_dropped: Default::default(),
            drop_count: Default::default(),
            disposition_count: Default::default(),
            send_error_count: Default::default(),
            stage_events: Default::default(),
            address: Default::default(),
            reading: Default::default(),
            value: Default::default(),
            drops: Default::default(),
            dispositions: Default::default(),
            send_errors: Default::default(),
            stages: Default::default(),
            mac_drops: Default::default(),
            latched_high: Default::default(),
            counter: Default::default(),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for CardCounters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, mac_drops, latched_high);
        self.drops.clock.next = self.clock.val();
        self.dispositions.clock.next = self.clock.val();
        self.send_errors.clock.next = self.clock.val();
        self.stages.clock.next = self.clock.val();
        PulseSink::<Bits<4>>::link(&mut self.drop_count, &mut self.drops.count);
        PulseSink::<Bits<4>>::link(&mut self.disposition_count, &mut self.dispositions.count);
        PulseSink::<Bits<3>>::link(&mut self.send_error_count, &mut self.send_errors.count);
        self.stages.events.next = self.stage_events.val();
        if self.mac_dropped.val() {
            self.mac_drops.d.next = self.mac_drops.q.val() + self.one.val();
        }

        self.drops.read_index.next = self.address.val().get_bits::<4>(3);
        self.dispositions.read_index.next = self.address.val().get_bits::<4>(3);
        self.send_errors.read_index.next = self.address.val().get_bits::<3>(3);
        self.stages.index.next = self.address.val().get_bits::<3>(3);
        self.counter.next = self.stages.value.val();
        if self.address.val().get_bits::<2>(8) == bits::<2>(0) {
            self.counter.next = self.drops.read_value.val();
            // rx_fifo_full is counted on the MAC side alone.
            if self.address.val().get_bits::<4>(3) == bits::<4>(0) {
                self.counter.next = self.mac_drops.q.val();
            }
        } else if self.address.val().get_bits::<2>(8) == bits::<2>(1) {
            self.counter.next = self.dispositions.read_value.val();
        } else if self.address.val().get_bits::<2>(8) == bits::<2>(2) {
            self.counter.next = self.send_errors.read_value.val();
        }

        self.value.next = self.counter.val().get_bits::<32>(0);
        if self.address.val().get_bit(2) {
            self.value.next = self.latched_high.q.val();
        }
        if self.reading.val() & !self.address.val().get_bit(2) {
            self.latched_high.d.next = self.counter.val().get_bits::<32>(32);
        }
    }
}
