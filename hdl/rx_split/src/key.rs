//! Third step of the transport parser: position, message key, flow key.
//!
//! ```text
//!  draft ──► >> bytes (offset mod 8), mask ──► position, message key ──► assemble ──► info
//! ```
//! Timing: one packet a cycle, latency two cycles, no back-pressure.
//!
//! Invariants:
//! 1. The key has the layout of `abi::flow_key`: what the profile does not use is zero.
//! 2. Plain UDP has position 0.

use crate::layout::LayoutDraft;
use crate::messages::{FlowKey, NetworkInfo, PacketInfo, ParsedPacket, Word32};
use stream::prelude::*;

/// The third step. See the module's head.
#[derive(LogicBlock)]
pub struct KeyStep {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// A packet with its lengths.
    pub sink: PulseSink<LayoutDraft>,
    /// Everything about it.
    pub info: PulseSource<ParsedPacket>,

    valid_1: DFF<Bit>,
    valid_2: DFF<Bit>,
    held: DFF<LayoutDraft>,
    position: DFF<Bits<32>>,
    message_key: DFF<Bits<64>>,
    parsed: DFF<ParsedPacket>,

    layout: Signal<Local, Bits<32>>,
    position_shift: Signal<Local, Bits<7>>,
    position_fine: Signal<Local, Bits<88>>,
    position_word: Signal<Local, Word32>,
    position_wide: Signal<Local, Bits<32>>,
    position_unused: Signal<Local, Bits<6>>,
    key_shift: Signal<Local, Bits<7>>,
    key_fine: Signal<Local, Bits<120>>,
    key_bits: Signal<Local, Bits<7>>,
    key_mask_inverse: Signal<Local, Bits<64>>,
    key_mask: Signal<Local, Bits<64>>,

    bytes: Signal<Local, Bits<480>>,
    network: Signal<Local, NetworkInfo>,
    sequence_word: Signal<Local, Word32>,
    acknowledgement: Signal<Local, Word32>,
    l4_header_bytes: Signal<Local, Bits<8>>,
    l4_offset: Signal<Local, Bits<8>>,
    payload_bytes: Signal<Local, Bits<16>>,
    flags: Signal<Local, Bits<8>>,
    profile: Signal<Local, Bits<2>>,
    key: Signal<Local, FlowKey>,
    checksum_zero: Signal<Local, Bit>,
    unchecked: Signal<Local, Bit>,
    result: Signal<Local, PacketInfo>,
    ones: Constant<Bits<64>>,
}

impl Default for KeyStep {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            sink: Default::default(),
            info: Default::default(),
            valid_1: Default::default(),
            valid_2: Default::default(),
            held: Default::default(),
            position: Default::default(),
            message_key: Default::default(),
            parsed: Default::default(),
            layout: Default::default(),
            position_shift: Default::default(),
            position_fine: Default::default(),
            position_word: Default::default(),
            position_wide: Default::default(),
            position_unused: Default::default(),
            key_shift: Default::default(),
            key_fine: Default::default(),
            key_bits: Default::default(),
            key_mask_inverse: Default::default(),
            key_mask: Default::default(),
            bytes: Default::default(),
            network: Default::default(),
            sequence_word: Default::default(),
            acknowledgement: Default::default(),
            l4_header_bytes: Default::default(),
            l4_offset: Default::default(),
            payload_bytes: Default::default(),
            flags: Default::default(),
            profile: Default::default(),
            key: Default::default(),
            checksum_zero: Default::default(),
            unchecked: Default::default(),
            result: Default::default(),
            ones: Constant::new(u64::MAX.to_bits()),
        }
    }
}

impl Logic for KeyStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            valid_1,
            valid_2,
            held,
            position,
            message_key,
            parsed
        );
        self.info.valid.next = self.valid_2.q.val();
        self.info.payload.next = self.parsed.q.val();
        self.valid_1.d.next = self.sink.valid.val();
        self.valid_2.d.next = self.valid_1.q.val();
        self.held.d.next = self.sink.payload.val();

        // The fields of the profile header, cut to their length.
        self.layout.next = self.sink.payload.val().layout;
        self.position_shift.next = bit_cast::<7, 3>(self.layout.val().get_bits::<3>(8)) << 3;
        self.position_fine.next =
            self.sink.payload.val().position_bytes >> self.position_shift.val();
        self.position_word.next.byte0 = self.position_fine.val().get_bits::<8>(0);
        self.position_word.next.byte1 = self.position_fine.val().get_bits::<8>(8);
        self.position_word.next.byte2 = self.position_fine.val().get_bits::<8>(16);
        self.position_word.next.byte3 = self.position_fine.val().get_bits::<8>(24);
        self.position_wide.next = self.position_word.val().into();
        self.position_unused.next =
            bits::<6>(32) - (bit_cast::<6, 3>(self.layout.val().get_bits::<3>(16)) << 3);
        self.position.d.next = self.position_wide.val() >> self.position_unused.val();
        self.key_shift.next = bit_cast::<7, 3>(self.layout.val().get_bits::<3>(20)) << 3;
        self.key_fine.next = self.sink.payload.val().key_bytes >> self.key_shift.val();
        self.key_bits.next = bit_cast::<7, 4>(self.layout.val().get_bits::<4>(26)) << 3;
        self.key_mask_inverse.next = self.ones.val() << self.key_bits.val();
        self.key_mask.next = !self.key_mask_inverse.val();
        self.message_key.d.next = self.key_fine.val().get_bits::<64>(0) & self.key_mask.val();

        // Assemble.
        self.bytes.next = self.held.q.val().bytes;
        self.network.next = self.held.q.val().network;
        self.profile.next = self.held.q.val().profile;
        self.l4_header_bytes.next = self.held.q.val().l4_header_bytes;
        self.l4_offset.next = self.network.val().l4_offset;
        self.payload_bytes.next =
            self.network.val().l4_bytes - bit_cast::<16, 8>(self.l4_header_bytes.val());
        self.flags.next = self.bytes.val().get_bits::<8>(104);
        self.sequence_word.next.byte0 = self.bytes.val().get_bits::<8>(32);
        self.sequence_word.next.byte1 = self.bytes.val().get_bits::<8>(40);
        self.sequence_word.next.byte2 = self.bytes.val().get_bits::<8>(48);
        self.sequence_word.next.byte3 = self.bytes.val().get_bits::<8>(56);
        self.acknowledgement.next.byte0 = self.bytes.val().get_bits::<8>(64);
        self.acknowledgement.next.byte1 = self.bytes.val().get_bits::<8>(72);
        self.acknowledgement.next.byte2 = self.bytes.val().get_bits::<8>(80);
        self.acknowledgement.next.byte3 = self.bytes.val().get_bits::<8>(88);

        self.key.next.remote = self.network.val().remote;
        self.key.next.local = self.network.val().local;
        self.key.next.ports = self.bytes.val().get_bits::<32>(0);
        self.key.next.protocol = bits::<8>(17);
        self.key.next.version = bits::<4>(4);
        self.key.next.profile = bit_cast::<4, 2>(self.profile.val());
        self.key.next.message_key = bits::<64>(0);
        self.key.next.padding = bits::<16>(0);
        if self.network.val().tcp {
            self.key.next.protocol = bits::<8>(6);
        }
        if self.network.val().ipv6 {
            self.key.next.version = bits::<4>(6);
        }
        if self.profile.val().any() {
            self.key.next.message_key = self.message_key.q.val();
        }

        self.checksum_zero.next =
            self.network.val().udp & !self.bytes.val().get_bits::<16>(48).any();
        self.result.next.key = self.key.val().into();
        self.result.next.transport = self.network.val().tcp | self.network.val().udp;
        self.result.next.tcp = self.network.val().tcp;
        self.unchecked.next = self.network.val().ipv4 & self.checksum_zero.val();
        self.result.next.unverified = self.network.val().fragment | self.unchecked.val();
        self.result.next.malformed = self.held.q.val().malformed;
        self.result.next.profile = self.profile.val();
        self.result.next.frame_bytes = bits::<14>(0);
        self.result.next.header_bytes = self.network.val().l3_offset;
        self.result.next.payload_bytes = bits::<14>(0);
        self.result.next.l4_offset = bits::<8>(0);
        self.result.next.position = bits::<32>(0);
        self.result.next.ack = self.acknowledgement.val().into();
        self.result.next.flags = self.flags.val();
        self.result.next.options = self.bytes.val().get_bits::<320>(160);
        self.result.next.option_bytes = bit_cast::<6, 8>(self.l4_header_bytes.val()) - 20;
        if self.network.val().tcp | self.network.val().udp {
            self.result.next.header_bytes = self.l4_offset.val() + self.l4_header_bytes.val();
            self.result.next.payload_bytes = bit_cast::<14, 16>(self.payload_bytes.val());
        }
        if (self.network.val().tcp | self.network.val().udp) & !self.unchecked.val() {
            self.result.next.l4_offset = self.l4_offset.val();
        }
        if self.network.val().tcp {
            self.result.next.position = self.sequence_word.val().into();
        } else if self.profile.val().any() {
            self.result.next.position = self.position.q.val();
        }
        self.parsed.d.next.info = self.result.val();
        self.parsed.d.next.ip = self.network.val().ipv4 | self.network.val().ipv6;
        self.parsed.d.next.ipv4 = self.network.val().ipv4;
        self.parsed.d.next.malformed_ip = self.network.val().malformed;
        self.parsed.d.next.checksum_missing = self.network.val().ipv6 & self.checksum_zero.val();
        self.parsed.d.next.ip_end = self.network.val().ip_end;
    }
}
