//! Third part of the parser: TCP, UDP and profile fields, and the flow key.
//!
//! ```text
//!  header ──► fields, profile ──► lengths ──► position, message key ──► flow key ──► info
//! ```
//! Timing: one packet per cycle, latency four cycles, no back-pressure.
//!
//! Invariants:
//! 1. One `info` for each `header`, in order.
//! 2. Without transport, `payload_bytes` is left 0: `verify` knows the frame's end.
//! 3. A profile header that does not fit the UDP payload makes the packet plain UDP.
//!
//! Source: docs/specification.md, Parsing; `abi::profile`, `abi::flow_key`; RFC 9293, RFC 768.

pub mod key_fields;
pub mod key_step;
pub mod layout_step;
pub mod messages;
pub mod profile_fields;
pub mod profile_registers;
pub mod profiles;

use crate::messages::{NetworkInfo, ParsedPacket, Word16};
use crate::parse::window::TransportHeader;
use crate::transport::key_step::KeyStep;
use crate::transport::layout_step::LayoutStep;
use crate::transport::messages::LayoutDraft;
use crate::transport::messages::TransportDraft;
use crate::transport::profile_registers::ProfileRegisters;
use crate::transport::profiles::Profiles;
use abi::config::PROFILE_BITS;
use stream::prelude::*;

/// The third part of the parser. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Transport {
    /// PCIe user clock, 250 MHz: the clock of `settings`.
    pub clock: Signal<In, Clock>,
    /// MAC clock, 322 MHz: the clock of all other ports.
    pub mac_clock: Signal<In, Clock>,

    /// Register writes; those of the header profiles are kept.
    pub settings: PulseSink<RegisterWrite>,
    /// L4 header and what the headers before it hold, one pulse for each frame.
    pub header: PulseSink<TransportHeader>,
    /// Everything about the packet except `frame_bytes`, one pulse for each frame.
    pub info: PulseSource<ParsedPacket>,

    registers: ProfileRegisters,
    profiles: Profiles,
    fields: TransportFields,
    layout: LayoutStep,
    key: KeyStep,
}

impl Logic for Transport {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, registers, profiles);
        clock!(self, mac_clock, fields, layout, key);
        self.profiles.mac_clock.next = self.mac_clock.val();
        PulseSink::<RegisterWrite>::link(&mut self.settings, &mut self.registers.settings);
        self.profiles.kept.next = self.registers.kept.val();
        PulseSink::<TransportHeader>::link(&mut self.header, &mut self.fields.header);
        self.profiles.port.next = self.fields.port.val();
        self.fields.profile.next = self.profiles.profile.val();
        self.fields.layout.next = self.profiles.layout.val();
        PulseSource::<TransportDraft>::join(&mut self.fields.draft, &mut self.layout.sink);
        PulseSource::<LayoutDraft>::join(&mut self.layout.source, &mut self.key.sink);
        PulseSource::<ParsedPacket>::link(&mut self.info, &mut self.key.info);
    }
}

/// First step of the transport parser: the lengths in the L4 header, and the profile of its port.
#[derive(LogicBlock, Default)]
pub struct TransportFields {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// L4 header and what the headers before it hold.
    pub header: PulseSink<TransportHeader>,
    /// Header with its profile, one cycle later.
    pub draft: PulseSource<TransportDraft>,

    /// Destination port, to the profiles.
    pub port: Signal<Out, Bits<16>>,
    /// Profile of `port`, in the same cycle.
    pub profile: Signal<In, Bits<PROFILE_BITS>>,
    /// Layout of that profile.
    pub layout: Signal<In, Bits<32>>,

    valid: DFF<Bit>,
    held: DFF<TransportDraft>,
    bytes: Signal<Local, Bits<576>>,
    network: Signal<Local, NetworkInfo>,
    port_word: Signal<Local, Word16>,
    udp_word: Signal<Local, Word16>,
}

impl Logic for TransportFields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, held);
        self.draft.valid.next = self.valid.q.val();
        self.draft.payload.next = self.held.q.val();
        self.valid.d.next = self.header.valid.val();

        self.bytes.next = self.header.payload.val().bytes;
        self.network.next = self.header.payload.val().network;
        self.port_word.next.high = self.bytes.val().get_bits::<8>(16);
        self.port_word.next.low = self.bytes.val().get_bits::<8>(24);
        self.udp_word.next.high = self.bytes.val().get_bits::<8>(32);
        self.udp_word.next.low = self.bytes.val().get_bits::<8>(40);
        self.port.next = self.port_word.val().into();

        if self.header.valid.val() {
            self.held.d.next.bytes = self.bytes.val();
            self.held.d.next.network = self.network.val();
            self.held.d.next.profile = self.profile.val();
            self.held.d.next.layout = self.layout.val();
            self.held.d.next.tcp_bytes =
                bit_cast::<16, 4>(self.bytes.val().get_bits::<4>(100)) << 2;
            self.held.d.next.udp_bytes = self.udp_word.val().into();
            self.held.d.next.udp_payload_bytes =
                bit_cast::<17, 16>(self.network.val().l4_bytes) - 8;
        }
    }
}
