//! Third step of the transport parser: position, flow key, and everything put together.
//!
//! ```text
//!  draft ──► profile fields ──► assemble ──► info
//! ```
//! Timing: one packet per cycle, latency two cycles, no back-pressure.
//!
//! Invariants:
//! 1. Plain UDP has position 0.
//! 2. Without TCP or UDP the header ends before the IP header, and no L4 header is named.

use crate::messages::{NetworkInfo, PacketInfo, ParsedPacket};
use crate::transport::key_fields::KeyFields;
use crate::transport::messages::LayoutDraft;
use crate::transport::profile_fields::ProfileFields;
use abi::config::PROFILE_BITS;
use stream::prelude::*;

/// The third step. See the module's head.
#[derive(LogicBlock, Default)]
pub struct KeyStep {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,

    /// Packet with its lengths.
    pub sink: PulseSink<LayoutDraft>,
    /// Everything about the packet except `frame_bytes`.
    pub info: PulseSource<ParsedPacket>,

    profile_fields: ProfileFields,
    fields: KeyFields,
    valid_1: DFF<Bit>,
    valid_2: DFF<Bit>,
    held: DFF<LayoutDraft>,
    parsed: DFF<ParsedPacket>,

    bytes: Signal<Local, Bits<480>>,
    network: Signal<Local, NetworkInfo>,
    l4_header_bytes: Signal<Local, Bits<8>>,
    l4_offset: Signal<Local, Bits<8>>,
    profile: Signal<Local, Bits<PROFILE_BITS>>,
    checksum_zero: Signal<Local, Bit>,
    unchecked: Signal<Local, Bit>,
    result: Signal<Local, PacketInfo>,
}

impl Logic for KeyStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid_1, valid_2, held, parsed);
        clock!(self, clock, profile_fields);
        self.info.valid.next = self.valid_2.q.val();
        self.info.payload.next = self.parsed.q.val();
        self.valid_1.d.next = self.sink.valid.val();
        self.valid_2.d.next = self.valid_1.q.val();
        if self.sink.valid.val() {
            self.held.d.next = self.sink.payload.val();
        }
        self.profile_fields.valid.next = self.sink.valid.val();
        self.profile_fields.draft.next = self.sink.payload.val();
        self.fields.draft.next = self.held.q.val();
        self.fields.message_key.next = self.profile_fields.message_key.val();

        self.bytes.next = self.held.q.val().bytes;
        self.network.next = self.held.q.val().network;
        self.profile.next = self.held.q.val().profile;
        self.l4_header_bytes.next = self.held.q.val().l4_header_bytes;
        self.l4_offset.next = self.network.val().l4_offset;
        self.checksum_zero.next =
            self.network.val().udp & !self.bytes.val().get_bits::<16>(48).any();
        self.result.next.key = self.fields.key.val();
        self.result.next.transport = self.network.val().tcp | self.network.val().udp;
        self.result.next.tcp = self.network.val().tcp;
        self.unchecked.next = self.network.val().ipv4 & self.checksum_zero.val();
        self.result.next.unverified = self.network.val().fragment | self.unchecked.val();
        self.result.next.malformed = self.held.q.val().malformed;
        self.result.next.profile = self.profile.val();
        self.result.next.frame_bytes = 0.into();
        self.result.next.header_bytes = self.network.val().l3_offset;
        self.result.next.payload_bytes = 0.into();
        self.result.next.l4_offset = 0.into();
        self.result.next.position = 0.into();
        self.result.next.ack = self.fields.ack.val();
        self.result.next.flags = self.fields.flags.val();
        self.result.next.window = self.fields.window.val();
        self.result.next.tcp_plain = self.fields.tcp_plain.val();
        self.result.next.options = self.bytes.val().get_bits::<320>(160);
        self.result.next.option_bytes = bit_cast::<6, 8>(self.l4_header_bytes.val()) - 20;
        if self.network.val().tcp | self.network.val().udp {
            self.result.next.header_bytes = self.l4_offset.val() + self.l4_header_bytes.val();
            self.result.next.payload_bytes = bit_cast::<14, 16>(
                self.network.val().l4_bytes - bit_cast::<16, 8>(self.l4_header_bytes.val()),
            );
        }
        if (self.network.val().tcp | self.network.val().udp) & !self.unchecked.val() {
            self.result.next.l4_offset = self.l4_offset.val();
        }
        if self.network.val().tcp {
            self.result.next.position = self.fields.sequence_number.val();
        } else if self.profile.val().any() {
            self.result.next.position = self.profile_fields.position.val();
        }
        if self.valid_1.q.val() {
            self.parsed.d.next.info = self.result.val();
            self.parsed.d.next.ip = self.network.val().ipv4 | self.network.val().ipv6;
            self.parsed.d.next.ipv4 = self.network.val().ipv4;
            self.parsed.d.next.malformed_ip = self.network.val().malformed;
            self.parsed.d.next.checksum_missing =
                self.network.val().ipv6 & self.checksum_zero.val();
            self.parsed.d.next.ip_end = self.network.val().ip_end;
        }
    }
}
