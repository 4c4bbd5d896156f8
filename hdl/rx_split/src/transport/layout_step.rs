//! Second step of the transport parser: lengths, and the coarse shift towards position and message
//! key.
//!
//! ```text
//!  draft ──► does the profile header fit? ──► header and payload bytes, malformed
//!        └─► profile header >> 8 bytes x (offset / 8) ──► 11 bytes, 15 bytes ──► draft
//! ```
//! Timing: one packet per cycle, latency one cycle, no back-pressure.
//!
//! Invariants:
//! 1. The profile of the draft is 0 when the packet is TCP, has no checksum, or its payload is
//!    shorter than the profile's header.

use crate::messages::NetworkInfo;
use crate::transport::messages::LayoutDraft;
use crate::transport::messages::TransportDraft;
use stream::prelude::*;

/// The second step. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct LayoutStep {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Packet with its profile chosen.
    pub sink: PulseSink<TransportDraft>,
    /// Packet with its lengths.
    pub source: PulseSource<LayoutDraft>,

    valid: DFF<Bit>,
    held: DFF<LayoutDraft>,

    bytes: Signal<Local, Bits<576>>,
    network: Signal<Local, NetworkInfo>,
    layout: Signal<Local, Bits<32>>,
    tcp_bytes: Signal<Local, Bits<16>>,
    l4_bytes: Signal<Local, Bits<16>>,
    profile_bytes: Signal<Local, Bits<8>>,
    udp_payload_bytes: Signal<Local, Bits<17>>,
    fits: Signal<Local, Bit>,
    tcp_bad: Signal<Local, Bit>,
    udp_bad: Signal<Local, Bit>,
    transport_header: Signal<Local, Bits<512>>,
    position_shift: Signal<Local, Bits<9>>,
    key_shift: Signal<Local, Bits<9>>,
    #[value(20)]
    tcp_bytes_min: Constant<Bits<16>>,
    #[value(8)]
    udp_bytes_min: Constant<Bits<16>>,
}

impl Logic for LayoutStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid, held);
        self.source.valid.next = self.valid.q.val();
        self.source.payload.next = self.held.q.val();
        self.valid.d.next = self.sink.valid.val();

        self.bytes.next = self.sink.payload.val().bytes;
        self.network.next = self.sink.payload.val().network;
        self.layout.next = self.sink.payload.val().layout;
        self.tcp_bytes.next = self.sink.payload.val().tcp_bytes;
        self.l4_bytes.next = self.network.val().l4_bytes;
        self.profile_bytes.next = bit_cast::<8, 7>(self.layout.val().get_bits::<7>(0)) + 8;
        self.udp_payload_bytes.next = self.sink.payload.val().udp_payload_bytes;
        self.fits.next = self.network.val().udp
            & !self.udp_payload_bytes.val().get_bit(16)
            & (bit_cast::<16, 7>(self.layout.val().get_bits::<7>(0))
                <= self.udp_payload_bytes.val().get_bits::<16>(0))
            & !(self.network.val().ipv4 & !self.bytes.val().get_bits::<16>(48).any());
        self.tcp_bad.next = self.network.val().tcp
            & ((self.tcp_bytes.val() < self.tcp_bytes_min.val())
                | (self.l4_bytes.val() < self.tcp_bytes.val()));
        self.udp_bad.next = self.network.val().udp
            & ((self.l4_bytes.val() < self.udp_bytes_min.val())
                | (self.sink.payload.val().udp_bytes != self.l4_bytes.val()));

        self.transport_header.next = self.bytes.val().get_bits::<512>(64);
        self.position_shift.next = bit_cast::<9, 3>(self.layout.val().get_bits::<3>(11)) << 6;
        self.key_shift.next = bit_cast::<9, 3>(self.layout.val().get_bits::<3>(23)) << 6;

        if self.sink.valid.val() {
            self.held.d.next.bytes = self.bytes.val().get_bits::<480>(0);
            self.held.d.next.network = self.network.val();
            self.held.d.next.layout = self.layout.val();
            self.held.d.next.malformed = self.tcp_bad.val() | self.udp_bad.val();
            self.held.d.next.profile = 0.into();
            self.held.d.next.l4_header_bytes = bits::<8>(8);
            if self.network.val().tcp {
                self.held.d.next.l4_header_bytes = bit_cast::<8, 16>(self.tcp_bytes.val());
            } else if self.fits.val() & self.sink.payload.val().profile.any() {
                self.held.d.next.profile = self.sink.payload.val().profile;
                self.held.d.next.l4_header_bytes = self.profile_bytes.val();
            }
            self.held.d.next.position_bytes =
                (self.transport_header.val() >> self.position_shift.val()).get_bits::<88>(0);
            self.held.d.next.key_bytes =
                (self.transport_header.val() >> self.key_shift.val()).get_bits::<120>(0);
        }
    }
}
