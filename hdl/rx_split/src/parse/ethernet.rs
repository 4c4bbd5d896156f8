//! First step of the parser: skips the VLAN tags.
//!
//! ```text
//!  first beat ──► bytes 14, 18 or 22 on ──► IP header, its offset, EtherType
//! ```
//! Timing: latency one cycle; outputs hold until the next first beat. Types stay in wire order
//! (little endian).
//!
//! Source: docs/specification.md, Parsing; IEEE 802.1Q.

use crate::messages::RxBeat;
use stream::prelude::*;

/// An IP header before its fields are picked.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct NetworkHeader {
    /// 40 bytes after the EtherType.
    pub bytes: Bits<320>,
    /// Byte offset of the header in the frame.
    pub l3_offset: Bits<8>,
    /// EtherType in the byte order of the beat.
    pub ethertype: Bits<16>,
}

/// The step. See the module's head.
#[derive(LogicBlock, Default)]
pub struct Ethernet {
    /// MAC clock, 322 MHz.
    pub clock: Signal<In, Clock>,
    /// There is a beat, and it is the first of a frame.
    pub first: Signal<In, Bit>,
    /// Beat of the frame; only first beats are used.
    pub beat: Signal<In, RxBeat>,
    /// IP header of the frame, one cycle after `first`.
    pub header: Signal<Out, NetworkHeader>,

    held: DFF<NetworkHeader>,
    data: Signal<Local, Bits<512>>,
    type_0: Signal<Local, Bits<16>>,
    type_1: Signal<Local, Bits<16>>,
    type_2: Signal<Local, Bits<16>>,
    has_tag: Signal<Local, Bit>,
    has_two_tags: Signal<Local, Bit>,
}

impl Logic for Ethernet {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        self.header.next = self.held.q.val();
        self.data.next = self.beat.val().data;
        self.type_0.next = self.data.val().get_bits::<16>(96);
        self.type_1.next = self.data.val().get_bits::<16>(128);
        self.type_2.next = self.data.val().get_bits::<16>(160);
        self.has_tag.next = (self.type_0.val() == 0x0081) | (self.type_0.val() == 0xa888);
        self.has_two_tags.next =
            self.has_tag.val() & ((self.type_1.val() == 0x0081) | (self.type_1.val() == 0xa888));
        if self.first.val() {
            self.held.d.next.bytes = self.data.val().get_bits::<320>(112);
            self.held.d.next.l3_offset = bits::<8>(14);
            self.held.d.next.ethertype = self.type_0.val();
            if self.has_two_tags.val() {
                self.held.d.next.bytes = self.data.val().get_bits::<320>(176);
                self.held.d.next.l3_offset = bits::<8>(22);
                self.held.d.next.ethertype = self.type_2.val();
            } else if self.has_tag.val() {
                self.held.d.next.bytes = self.data.val().get_bits::<320>(144);
                self.held.d.next.l3_offset = bits::<8>(18);
                self.held.d.next.ethertype = self.type_1.val();
            }
        }
    }
}
