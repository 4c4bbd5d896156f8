//! First part of the parser: Ethernet, VLAN tags and the IP header, all from the first beat.
//!
//! ```text
//!  beats ──► VLAN: shift by 0, 4 or 8 bytes ──► IP fields ──► offsets, lengths ──► beats, network
//! ```
//! | port | direction | meaning |
//! |---|---|---|
//! | sink | in | numbered beats from the door |
//! | source | out | the same beats, three cycles later |
//! | network | out | what the first beat told; valid from the first to the last beat of a frame |
//!
//! Timing: one beat a cycle, latency three cycles, no back-pressure.
//!
//! Invariants:
//! 1. `network` belongs to the frame of the beat that `source` shows, and holds until the next first beat.
//! 2. Lengths beyond the frame are not seen here: `ip_end` is compared with the frame's end by `verify`.
//!
//! Source: RFC 791, RFC 8200, IEEE 802.1Q.

use crate::messages::{NetworkInfo, RxBeat, Word16};
use stream::prelude::*;

/// The first part of the parser. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Parse {
    /// Clock.
    pub clock: Signal<In, Clock>,

    /// Beats from the door.
    pub sink: PulseSink<RxBeat>,
    /// The same beats.
    pub source: PulseSource<RxBeat>,
    /// What the frame's first beat told.
    pub network: Signal<Out, NetworkInfo>,

    valid_1: DFF<Bit>,
    valid_2: DFF<Bit>,
    valid_3: DFF<Bit>,
    beat_1: DFF<RxBeat>,
    beat_2: DFF<RxBeat>,
    beat_3: DFF<RxBeat>,
    header_1: DFF<Bits<320>>,
    l3_offset_1: DFF<Bits<8>>,
    ethertype_1: DFF<Bits<16>>,
    info_2: DFF<NetworkInfo>,
    length_2: DFF<Bits<16>>,
    header_bytes_2: DFF<Bits<8>>,
    version_bad_2: DFF<Bit>,
    info_3: DFF<NetworkInfo>,

    data: Signal<Local, Bits<512>>,
    type_0: Signal<Local, Bits<16>>,
    type_1: Signal<Local, Bits<16>>,
    type_2: Signal<Local, Bits<16>>,
    has_tag: Signal<Local, Bit>,
    has_two_tags: Signal<Local, Bit>,
    is_ipv4: Signal<Local, Bit>,
    is_ipv6: Signal<Local, Bit>,
    version: Signal<Local, Bits<4>>,
    ihl: Signal<Local, Bits<4>>,
    protocol: Signal<Local, Bits<8>>,
    fragment: Signal<Local, Bit>,
    length_v4: Signal<Local, Word16>,
    length_v6: Signal<Local, Word16>,
    remote_v4: Signal<Local, Bits<32>>,
    local_v4: Signal<Local, Bits<32>>,
    below: Signal<Local, Bit>,
    header_bytes: Signal<Local, Bits<16>>,
    l3_offset: Signal<Local, Bits<8>>,
    base: Signal<Local, Bits<8>>,
    ip_end: Signal<Local, Bits<17>>,
}

impl Logic for Parse {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, valid_1, valid_2, valid_3, beat_1, beat_2, beat_3);
        dff_setup!(
            self,
            clock,
            header_1,
            l3_offset_1,
            ethertype_1,
            info_2,
            length_2
        );
        dff_setup!(self, clock, header_bytes_2, version_bad_2, info_3);
        self.valid_1.d.next = self.sink.valid.val();
        self.valid_2.d.next = self.valid_1.q.val();
        self.valid_3.d.next = self.valid_2.q.val();
        self.beat_1.d.next = self.sink.payload.val();
        self.beat_2.d.next = self.beat_1.q.val();
        self.beat_3.d.next = self.beat_2.q.val();
        self.source.valid.next = self.valid_3.q.val();
        self.source.payload.next = self.beat_3.q.val();
        self.network.next = self.info_3.q.val();

        // Step 1: step over the VLAN tags. Types are compared in wire order.
        self.data.next = self.sink.payload.val().data;
        self.type_0.next = self.data.val().get_bits::<16>(96);
        self.type_1.next = self.data.val().get_bits::<16>(128);
        self.type_2.next = self.data.val().get_bits::<16>(160);
        self.has_tag.next = (self.type_0.val() == 0x0081) | (self.type_0.val() == 0xa888);
        self.has_two_tags.next =
            self.has_tag.val() & ((self.type_1.val() == 0x0081) | (self.type_1.val() == 0xa888));
        self.header_1.d.next = self.data.val().get_bits::<320>(112);
        self.l3_offset_1.d.next = bits::<8>(14);
        self.ethertype_1.d.next = self.type_0.val();
        if self.has_two_tags.val() {
            self.header_1.d.next = self.data.val().get_bits::<320>(176);
            self.l3_offset_1.d.next = bits::<8>(22);
            self.ethertype_1.d.next = self.type_2.val();
        } else if self.has_tag.val() {
            self.header_1.d.next = self.data.val().get_bits::<320>(144);
            self.l3_offset_1.d.next = bits::<8>(18);
            self.ethertype_1.d.next = self.type_1.val();
        }

        // Step 2: pick the fields of the IP header.
        self.is_ipv4.next = self.ethertype_1.q.val() == 0x0008;
        self.is_ipv6.next = self.ethertype_1.q.val() == 0xdd86;
        self.ihl.next = self.header_1.q.val().get_bits::<4>(0);
        self.version.next = self.header_1.q.val().get_bits::<4>(4);
        self.length_v4.next.high = self.header_1.q.val().get_bits::<8>(16);
        self.length_v4.next.low = self.header_1.q.val().get_bits::<8>(24);
        self.length_v6.next.high = self.header_1.q.val().get_bits::<8>(32);
        self.length_v6.next.low = self.header_1.q.val().get_bits::<8>(40);
        self.remote_v4.next = self.header_1.q.val().get_bits::<32>(96);
        self.local_v4.next = self.header_1.q.val().get_bits::<32>(128);
        self.protocol.next = self.header_1.q.val().get_bits::<8>(72);
        self.fragment.next = self.is_ipv4.val()
            & (self.header_1.q.val().get_bits::<6>(48).any()
                | self.header_1.q.val().get_bits::<8>(56).any());
        self.length_2.d.next = self.length_v4.val().into();
        self.header_bytes_2.d.next = bit_cast::<8, 4>(self.ihl.val()) << 2;
        self.version_bad_2.d.next =
            self.is_ipv4.val() & ((self.version.val() != 4) | (self.ihl.val() < 5));
        self.info_2.d.next.remote = bit_cast::<128, 32>(self.remote_v4.val());
        self.info_2.d.next.local = bit_cast::<128, 32>(self.local_v4.val());
        if self.is_ipv6.val() {
            self.protocol.next = self.header_1.q.val().get_bits::<8>(48);
            self.fragment.next = self.protocol.val() == 44;
            self.length_2.d.next = self.length_v6.val().into();
            self.header_bytes_2.d.next = bits::<8>(40);
            self.version_bad_2.d.next = self.version.val() != 6;
            self.info_2.d.next.remote = self.header_1.q.val().get_bits::<128>(64);
            self.info_2.d.next.local = self.header_1.q.val().get_bits::<128>(192);
        }
        self.info_2.d.next.l3_offset = self.l3_offset_1.q.val();
        self.info_2.d.next.ipv4 = self.is_ipv4.val();
        self.info_2.d.next.ipv6 = self.is_ipv6.val();
        self.info_2.d.next.fragment = self.fragment.val();
        self.info_2.d.next.tcp = (self.is_ipv4.val() | self.is_ipv6.val())
            & !self.fragment.val()
            & (self.protocol.val() == 6);
        self.info_2.d.next.udp = (self.is_ipv4.val() | self.is_ipv6.val())
            & !self.fragment.val()
            & (self.protocol.val() == 17);

        // Step 3: offsets and lengths, kept for the whole frame.
        self.header_bytes.next = bit_cast::<16, 8>(self.header_bytes_2.q.val());
        self.l3_offset.next = self.info_2.q.val().l3_offset;
        self.base.next = self.l3_offset.val();
        self.below.next =
            self.info_2.q.val().ipv4 & (self.length_2.q.val() < self.header_bytes.val());
        if self.info_2.q.val().ipv6 {
            self.base.next = self.l3_offset.val() + 40;
            self.below.next = false;
        }
        self.ip_end.next =
            bit_cast::<17, 8>(self.base.val()) + bit_cast::<17, 16>(self.length_2.q.val());
        if self.valid_2.q.val() & self.beat_2.q.val().first {
            self.info_3.d.next = self.info_2.q.val();
            self.info_3.d.next.malformed = self.version_bad_2.q.val() | self.below.val();
            self.info_3.d.next.l4_offset = self.l3_offset.val() + self.header_bytes_2.q.val();
            self.info_3.d.next.ip_end = self.ip_end.val();
            self.info_3.d.next.l4_bytes = self.length_2.q.val() - self.header_bytes.val();
            if self.info_2.q.val().ipv6 {
                self.info_3.d.next.l4_bytes = self.length_2.q.val();
            }
        }
    }
}
