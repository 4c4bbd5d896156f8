//! The first half of the receive path: from frames to verified packets in the packet store.
//!
//! ```text
//!  frames ─► ingress ─► parse ─┬─► window ─► transport ─┐
//!               ▲              └─► verify ◄─────────────┘
//!               └──── room ──────── store ◄─┘ ──► packets
//! ```
//! Timing: one beat a cycle while there is room; nothing behind the door ever waits.

use crate::ingress::Ingress;
use crate::messages::{ParsedPacket, Release, RxBeat, StoredPacket};
use crate::parse::Parse;
use crate::store::Store;
use crate::transport::Transport;
use crate::verify::Verify;
use crate::window::{TransportHeader, Window};
use stream::prelude::*;

/// The first half. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Front<const A: usize> {
    /// Clock.
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
    pub drop_count: PulseSource<Bits<4>>,
    /// Beat to read.
    pub read_address: Signal<In, Bits<A>>,
    /// That beat, one cycle later.
    pub read_data: Signal<Out, Bits<512>>,
    /// What the packet store may forget.
    pub release: PulseSink<Release>,

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
        self.ingress.clock.next = self.clock.val();
        self.parse.clock.next = self.clock.val();
        self.window.clock.next = self.clock.val();
        self.transport.clock.next = self.clock.val();
        self.verify.clock.next = self.clock.val();
        self.store.clock.next = self.clock.val();
        self.ingress.reset.next = self.reset.val();
        self.store.reset.next = self.reset.val();

        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.transport.settings);
        self.ingress.running.next = self.running.val();
        self.ingress.room.next = self.store.room.val();
        PacketSink::link(&mut self.frames, &mut self.ingress.frames);
        self.frame_done.next = self.ingress.frame_done.val();
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
        PulseSource::<Bits<4>>::link(&mut self.drop_count, &mut self.store.drop_count);
        self.store.read_address.next = self.read_address.val();
        self.read_data.next = self.store.read_data.val();
        PulseSink::<Release>::link(&mut self.release, &mut self.store.release);
    }
}
