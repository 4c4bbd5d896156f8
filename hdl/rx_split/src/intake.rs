//! The first part of the receive path: from frames to verified packets in the packet buffer.
//!
//! ```text
//!  mac_clock                                                      │ clock
//!  frames ─► ingress ─► parse ─┬─► window ─► transport ─┐         │
//!            ▲     ▲           └─► verify ◄─────────────┘         │
//!          gate    └─ free space ─ packet_buffer ◄─┘ ─────────────┼─► packets
//!            └────────────────────────────────────────────────────┼── running, reset
//! ```
//! Instances and joins, and a counter of the epochs that have begun. The ports are in the card's
//! clock, except `frames`.
//!
//! The part runs with the MAC's clock, since 64 bytes per cycle of 250 MHz are less than frames of
//! 69 to 79 bytes bring; the packet buffer is the crossing to the card's clock.
//!
//! Timing: one beat per cycle of `mac_clock`; nothing after the ingress gate ever waits. A change
//! of `running` or `reset` reaches the ingress gate after some ten cycles.
//!
//! Invariants:
//! 1. An epoch is counted with the first cycle of `reset`, when receive is stopped: the ingress
//!    gate sees the stop no later than the new number. Epochs that begin before it has seen the
//!    number count once, so that it finds a new one however many they are.
//!
//! Source: docs/specification.md, Clocks and Reset.

use crate::align::BeatPair;
use crate::ingress::Ingress;
use crate::messages::{Gate, ParsedPacket, Release, RxBeat, StoredPacket};
use crate::packet_buffer::PacketBuffer;
use crate::parse::link_step::LinkStep;
use crate::parse::window::{TransportHeader, Window};
use crate::parse::Parse;
use crate::transport::Transport;
use crate::verify::Verify;
use stream::prelude::*;

/// The first part, with a packet buffer of 2^BUFFER_BITS beats. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Intake<const BUFFER_BITS: usize> {
    /// MAC clock, 322 MHz: the clock of `frames`.
    pub mac_clock: Signal<In, Clock>,
    /// PCIe user clock, 250 MHz: the clock of all ports except `frames`.
    pub clock: Signal<In, Clock>,
    /// Start of an epoch: packets that were taken are forgotten and their beats freed; verified
    /// packets that still wait are kept, and so are the profiles. Frames that come in across it are
    /// refused.
    pub reset: Signal<In, Bit>,

    /// Register writes; those of the header profiles are kept.
    pub settings: PulseSink<RegisterWrite>,
    /// Receive runs.
    pub running: Signal<In, Bit>,
    /// Frames from the MAC without FCS, in `mac_clock`, never stalled.
    pub frames: PacketSink,
    /// With the last beat in `frames`: a reset of the MAC cut the frame off.
    pub frame_cut: Signal<In, Bit>,
    /// Verified packets in order of arrival.
    pub packets: MessageSource<StoredPacket>,
    /// A verified packet is taken in this cycle.
    pub packet_taken: Signal<Out, Bit>,
    /// A verified packet is offered in this cycle and not taken.
    pub packet_stalled: Signal<Out, Bit>,
    /// One pulse for each frame that came in.
    pub frame_done: Signal<Out, Bit>,
    /// One pulse for each frame that is dropped here, with its DropReason.
    pub drop_count: PulseSource<DropCode>,
    /// Beat of the packet buffer to read.
    pub read_address: Signal<In, Bits<BUFFER_BITS>>,
    /// Reads `read_address`; without it `read_data` keeps its value.
    pub read_enable: Signal<In, Bit>,
    /// Beat that was read and the one after it, one cycle after `read_enable`.
    pub read_data: Signal<Out, BeatPair>,
    /// Packets that were read for the last time: the beats before the pointer are free.
    pub release: PulseSink<Release>,
    /// Beats in use in the packet buffer: the highest of an interval.
    pub buffer_beats_peak: Signal<Out, Bits<16>>,
    /// The packet buffer is almost full: a quarter of it or more is in use.
    pub buffer_almost_full: Signal<Out, Bit>,

    gate: ValueCrossing<Gate>,
    gate_seen: ValueCrossing<Bits<4>>,
    was_reset: DFF<Bit>,
    epoch_begins: DFF<Bits<4>>,
    ingress: Ingress,
    parse: Parse,
    window: Window,
    link_step: LinkStep,
    transport: Transport,
    verify: Verify,
    packet_buffer: PacketBuffer<BUFFER_BITS>,
}

impl<const BUFFER_BITS: usize> Logic for Intake<BUFFER_BITS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, was_reset, epoch_begins);
        clock!(self, mac_clock, ingress, parse, window, link_step, verify);
        clock!(self, clock, transport, packet_buffer);
        self.gate.write_clock.next = self.clock.val();
        self.gate.read_clock.next = self.mac_clock.val();
        self.transport.mac_clock.next = self.mac_clock.val();
        self.packet_buffer.mac_clock.next = self.mac_clock.val();
        self.packet_buffer.reset.next = self.reset.val();

        // An epoch counts with its first cycle; receive has stopped by then. While the MAC's side
        // has not seen the last number, that one stands for this epoch as well: so none comes
        // again while the MAC's clock stands.
        self.gate_seen.write_clock.next = self.mac_clock.val();
        self.gate_seen.read_clock.next = self.clock.val();
        self.gate_seen.value.next = self.gate.latest.val().epoch_begins;
        self.was_reset.d.next = self.reset.val();
        if self.reset.val()
            & !self.was_reset.q.val()
            & (self.gate_seen.latest.val() == self.epoch_begins.q.val())
        {
            self.epoch_begins.d.next = self.epoch_begins.q.val() + 1;
        }
        self.gate.value.next.running = self.running.val() & !self.reset.val();
        self.gate.value.next.epoch_begins = self.epoch_begins.q.val();
        self.ingress.gate.next = self.gate.latest.val();

        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.transport.settings);
        self.ingress.has_space.next = self.packet_buffer.has_space.val();
        PacketSink::link(&mut self.frames, &mut self.ingress.frames);
        self.ingress.cut.next = self.frame_cut.val();
        PulseSource::<RxBeat>::join(&mut self.ingress.beats, &mut self.parse.sink);
        PulseSource::<RxBeat>::join(&mut self.parse.source, &mut self.window.beats);
        self.window.network.next = self.parse.network.val();
        PulseSource::<TransportHeader>::join(&mut self.window.header, &mut self.transport.header);
        PulseSource::<RxBeat>::join(&mut self.parse.source, &mut self.verify.beats);
        self.verify.network.next = self.parse.network.val();
        PulseSource::<ParsedPacket>::join(&mut self.transport.info, &mut self.verify.parsed);
        PulseSource::<RxBeat>::join(&mut self.verify.source, &mut self.packet_buffer.beats);
        self.packet_buffer.info.next = self.verify.info.val();
        PulseSource::<RxBeat>::join(&mut self.parse.source, &mut self.link_step.beats);
        self.link_step.network.next = self.parse.network.val();
        self.packet_buffer.link.next = self.link_step.facts.val();
        self.link_step.taken.next = self.packet_buffer.link_taken.val();
        MessageSource::<StoredPacket>::link(&mut self.packets, &mut self.packet_buffer.packets);
        PulseSource::<DropCode>::link(&mut self.drop_count, &mut self.packet_buffer.drop_count);
        self.frame_done.next = self.packet_buffer.frame_done.val();
        self.packet_taken.next = self.packet_buffer.packet_taken.val();
        self.packet_stalled.next = self.packet_buffer.packet_stalled.val();
        self.packet_buffer.read_address.next = self.read_address.val();
        self.packet_buffer.read_enable.next = self.read_enable.val();
        self.read_data.next = self.packet_buffer.read_data.val();
        PulseSink::<Release>::link(&mut self.release, &mut self.packet_buffer.release);
        self.buffer_beats_peak.next = self.packet_buffer.beats_peak.val();
        self.buffer_almost_full.next = self.packet_buffer.almost_full.val();
    }
}
