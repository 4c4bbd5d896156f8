//! The block under test: a send ring with its push window, as the card has it.

use host_interface::ring::pushed_slot::PushedSlot;
use host_interface::ring::ring_state::SEND_RING;
use host_interface::ring::Ring;
use stream::prelude::*;

/// log2 owners.
pub const OWNER_BITS: usize = 2;

/// A send ring with its push window, as the card has it.
#[derive(LogicBlock)]
pub struct PushedRing {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub settings: PulseSink<RegisterWrite>,
    pub pushed: PulseSink<PushedLine>,
    pub read_job: MessageSource<ReadJob>,
    pub read_data: PacketSink,
    pub fetched: MessageSource<RingFetch>,
    pub entries: PacketSource,
    pub served: Signal<Out, Bit>,
    pub stopped: Signal<Out, Bit>,
    ring: Ring<OWNER_BITS, 4>,
    slot: PushedSlot<OWNER_BITS>,
}

impl Default for PushedRing {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            settings: Default::default(),
            pushed: Default::default(),
            read_job: Default::default(),
            read_data: Default::default(),
            fetched: Default::default(),
            entries: Default::default(),
            served: Default::default(),
            stopped: Default::default(),
            ring: Ring::new(SEND_RING),
            slot: Default::default(),
        }
    }
}

impl Logic for PushedRing {
    #[hdl_gen]
    fn update(&mut self) {
        self.ring.clock.next = self.clock.val();
        self.ring.reset.next = self.reset.val();
        self.slot.clock.next = self.clock.val();
        self.slot.reset.next = self.reset.val();
        self.ring.settings.valid.next = self.settings.valid.val();
        self.ring.settings.payload.next = self.settings.payload.val();
        self.slot.settings.valid.next = self.settings.valid.val();
        self.slot.settings.payload.next = self.settings.payload.val();
        PulseSink::<PushedLine>::link(&mut self.pushed, &mut self.slot.pushed);
        MessageSource::<ReadJob>::join(&mut self.ring.read_job, &mut self.slot.ring_job);
        self.slot.ring_of.next = self.ring.read_of.val();
        PacketSource::join(&mut self.slot.ring_data, &mut self.ring.read_data);
        MessageSource::<ReadJob>::link(&mut self.read_job, &mut self.slot.read_job);
        PacketSink::link(&mut self.read_data, &mut self.slot.read_data);
        MessageSource::<RingFetch>::link(&mut self.fetched, &mut self.ring.fetched);
        PacketSource::link(&mut self.entries, &mut self.ring.entries);
        self.served.next = self.slot.served.val();
        self.stopped.next = self.ring.ring_failed.valid.val();
    }
}
