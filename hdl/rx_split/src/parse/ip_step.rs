//! Second step of the parser: picks the fields of the IPv4 or IPv6 header.
//!
//! ```text
//!  header ──► version, lengths, protocol, fragment, addresses
//! ```
//! Timing: latency one cycle; `fields` holds until the next header.
//!
//! Source: docs/specification.md, Parsing; RFC 791, RFC 8200.

use crate::messages::{NetworkInfo, Word16};
use crate::parse::ethernet::NetworkHeader;
use stream::prelude::*;

/// The fields of an IP header, before lengths are added up.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct IpFields {
    /// Everything that needs no sum; `malformed` for a wrong version or header length.
    pub info: NetworkInfo,
    /// Length field: total length (IPv4) or payload length (IPv6).
    pub length: Bits<16>,
    /// Bytes of the IP header.
    pub header_bytes: Bits<8>,
}

/// The step. See the module's head.
#[derive(LogicBlock, Default)]
pub struct IpStep {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// There is a header.
    pub valid: Signal<In, Bit>,
    /// IP header of the frame.
    pub header: Signal<In, NetworkHeader>,
    /// Fields of the header, one cycle after `valid`.
    pub fields: Signal<Out, IpFields>,

    held: DFF<IpFields>,
    bytes: Signal<Local, Bits<320>>,
    ethertype: Signal<Local, Bits<16>>,
    is_ipv4: Signal<Local, Bit>,
    is_ipv6: Signal<Local, Bit>,
    version: Signal<Local, Bits<4>>,
    ihl: Signal<Local, Bits<4>>,
    protocol: Signal<Local, Bits<8>>,
    fragment: Signal<Local, Bit>,
    length_v4: Signal<Local, Word16>,
    length_v6: Signal<Local, Word16>,
    info: Signal<Local, NetworkInfo>,
}

impl Logic for IpStep {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.fields.next = self.held.q.val();
        self.bytes.next = self.header.val().bytes;
        self.ethertype.next = self.header.val().ethertype;
        self.is_ipv4.next = self.ethertype.val() == 0x0008;
        self.is_ipv6.next = self.ethertype.val() == 0xdd86;
        self.ihl.next = self.bytes.val().get_bits::<4>(0);
        self.version.next = self.bytes.val().get_bits::<4>(4);
        self.length_v4.next.high = self.bytes.val().get_bits::<8>(16);
        self.length_v4.next.low = self.bytes.val().get_bits::<8>(24);
        self.length_v6.next.high = self.bytes.val().get_bits::<8>(32);
        self.length_v6.next.low = self.bytes.val().get_bits::<8>(40);
        self.protocol.next = self.bytes.val().get_bits::<8>(72);
        self.fragment.next = self.is_ipv4.val()
            & (self.bytes.val().get_bits::<6>(48).any() | self.bytes.val().get_bits::<8>(56).any());
        self.info.next.malformed =
            self.is_ipv4.val() & ((self.version.val() != 4) | (self.ihl.val() < 5));
        self.info.next.remote = bit_cast::<128, 32>(self.bytes.val().get_bits::<32>(96));
        self.info.next.local = bit_cast::<128, 32>(self.bytes.val().get_bits::<32>(128));
        if self.is_ipv6.val() {
            self.protocol.next = self.bytes.val().get_bits::<8>(48);
            self.fragment.next = self.protocol.val() == 44;
            self.info.next.malformed = self.version.val() != 6;
            self.info.next.remote = self.bytes.val().get_bits::<128>(64);
            self.info.next.local = self.bytes.val().get_bits::<128>(192);
        }
        self.info.next.l3_offset = self.header.val().l3_offset;
        self.info.next.ipv4 = self.is_ipv4.val();
        self.info.next.ipv6 = self.is_ipv6.val();
        self.info.next.fragment = self.fragment.val();
        self.info.next.tcp = (self.is_ipv4.val() | self.is_ipv6.val())
            & !self.fragment.val()
            & (self.protocol.val() == 6);
        self.info.next.udp = (self.is_ipv4.val() | self.is_ipv6.val())
            & !self.fragment.val()
            & (self.protocol.val() == 17);
        self.info.next.l4_offset = 0.into();
        self.info.next.l4_bytes = 0.into();
        self.info.next.ip_end = 0.into();
        if self.valid.val() {
            self.held.d.next.info = self.info.val();
            self.held.d.next.length = self.length_v4.val().into();
            self.held.d.next.header_bytes = bit_cast::<8, 4>(self.ihl.val()) << 2;
            if self.is_ipv6.val() {
                self.held.d.next.length = self.length_v6.val().into();
                self.held.d.next.header_bytes = bits::<8>(40);
            }
        }
    }
}
