//! The first half of the receive path: from frames to verified packets in the packet store.
//!
//! ```text
//!  mac_clock                                              │ clock
//!  frames ─► ingress ─► parse ─┬─► window ─► transport ─┐ │
//!            ▲      ▲          └─► verify ◄─────────────┘ │
//!          gate     └── room ───────── store ◄─┘ ─────────┼─► packets
//!            └────────────────────────────────────────────┼── running, reset
//! ```
//! | port | clock | direction | meaning |
//! |---|---|---|---|
//! | settings | clock | in | register writes: profiles |
//! | running, reset | clock | in | receive runs; start of an epoch |
//! | frames | mac_clock | in | whole frames, never held back |
//! | packets | clock | out | verified packets in order |
//! | frame_done, drop_count | clock | out | frames that came in; those that were dropped |
//! | read_address, read_enable, read_data, release | clock | in, in, out, in | the packet store |
//!
//! It runs with the MAC's clock, since 64 bytes a cycle of 250 MHz are less than frames of 69 to 79
//! bytes bring; the store takes them to the card's.
//!
//! Timing: one beat a cycle of `mac_clock`; nothing behind the door ever waits. What `running` and
//! `reset` say reaches the door after some ten cycles.

use crate::align::BeatPair;
use crate::ingress::Ingress;
use crate::messages::{Gate, ParsedPacket, Release, RxBeat, StoredPacket};
use crate::parse::window::{TransportHeader, Window};
use crate::parse::Parse;
use crate::store::Store;
use crate::transport::Transport;
use crate::verify::Verify;
use stream::prelude::*;

/// The first half. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Front<const A: usize> {
    /// Clock of the MAC.
    pub mac_clock: Signal<In, Clock>,
    /// Clock of the card.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch.
    pub reset: Signal<In, Bit>,

    /// Register writes.
    pub settings: PulseSink<RegisterWrite>,
    /// Receive runs.
    pub running: Signal<In, Bit>,
    /// Frames from the MAC.
    pub frames: PacketSink,
    /// Verified packets.
    pub packets: MessageSource<StoredPacket>,
    /// A frame came in.
    pub frame_done: Signal<Out, Bit>,
    /// Frames dropped.
    pub drop_count: PulseSource<DropCode>,
    /// Beat to read.
    pub read_address: Signal<In, Bits<A>>,
    /// It is read; without it the beat read last stays.
    pub read_enable: Signal<In, Bit>,
    /// That beat and the next, one cycle later.
    pub read_data: Signal<Out, BeatPair>,
    /// What the packet store may forget.
    pub release: PulseSink<Release>,
    /// Beats in use in the packet store, the highest of an interval.
    pub store_beats_peak: Signal<Out, Bits<16>>,
    /// The packet store fills.
    pub store_crowded: Signal<Out, Bit>,

    gate: ValueCrossing<Gate>,
    was_reset: DFF<Bit>,
    epoch_begins: DFF<Bits<4>>,
    ingress: Ingress,
    parse: Parse,
    window: Window,
    transport: Transport,
    verify: Verify,
    store: Store<A>,
}

impl<const A: usize> Logic for Front<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, was_reset, epoch_begins);
        clock!(self, mac_clock, ingress, parse, window, verify);
        clock!(self, clock, transport, store);
        self.gate.write_clock.next = self.clock.val();
        self.gate.read_clock.next = self.mac_clock.val();
        self.transport.mac_clock.next = self.mac_clock.val();
        self.store.mac_clock.next = self.mac_clock.val();
        self.store.reset.next = self.reset.val();

        // An epoch counts with its first cycle; receive has stopped by then.
        self.was_reset.d.next = self.reset.val();
        if self.reset.val() & !self.was_reset.q.val() {
            self.epoch_begins.d.next = self.epoch_begins.q.val() + 1;
        }
        self.gate.value.next.running = self.running.val() & !self.reset.val();
        self.gate.value.next.epoch_begins = self.epoch_begins.q.val();
        self.ingress.gate.next = self.gate.latest.val();

        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.transport.settings);
        self.ingress.room.next = self.store.room.val();
        PacketSink::link(&mut self.frames, &mut self.ingress.frames);
        PulseSource::<RxBeat>::join(&mut self.ingress.beats, &mut self.parse.sink);
        PulseSource::<RxBeat>::join(&mut self.parse.source, &mut self.window.beats);
        self.window.network.next = self.parse.network.val();
        PulseSource::<TransportHeader>::join(&mut self.window.header, &mut self.transport.header);
        PulseSource::<RxBeat>::join(&mut self.parse.source, &mut self.verify.beats);
        self.verify.network.next = self.parse.network.val();
        PulseSource::<ParsedPacket>::join(&mut self.transport.info, &mut self.verify.parsed);
        PulseSource::<RxBeat>::join(&mut self.verify.source, &mut self.store.beats);
        self.store.info.next = self.verify.info.val();
        MessageSource::<StoredPacket>::link(&mut self.packets, &mut self.store.packets);
        PulseSource::<DropCode>::link(&mut self.drop_count, &mut self.store.drop_count);
        self.frame_done.next = self.store.frame_done.val();
        self.store.read_address.next = self.read_address.val();
        self.store.read_enable.next = self.read_enable.val();
        self.read_data.next = self.store.read_data.val();
        PulseSink::<Release>::link(&mut self.release, &mut self.store.release);
        self.store_beats_peak.next = self.store.beats_peak.val();
        self.store_crowded.next = self.store.crowded.val();
    }
}
