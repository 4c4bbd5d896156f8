//! Where each byte lies that segmentation and checksum insertion change, one step for each.
//!
//! ```text
//!  step, layout, rewrite, ... ──► combinational ──► address, value, enable
//! ```
//! | Step | Byte | Changed when |
//! |---|---|---|
//! | 0, 1 | IPv4 total length, IPv6 payload length | rewrite |
//! | 2, 3 | IPv4 identification | rewrite, IPv4 |
//! | 4 to 7 | TCP sequence number | rewrite, TCP |
//! | 8 | TCP flags | rewrite, TCP |
//! | 9, 10 | UDP length | rewrite, UDP |
//! | 11, 12 | TCP or UDP checksum: 0 | L4 insertion |
//! | 13, 14 | IPv4 header checksum: 0 | IP insertion |
//!
//! Steps 2 to 8 also say where the template's values are read.

use crate::plan::HeaderLayout;
use stream::prelude::*;

/// The values that one frame of a descriptor has of its own.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameValues {
    /// TCP flags.
    pub flags: Bits<8>,
    /// TCP sequence number.
    pub sequence: Bits<32>,
    /// IPv4 identification.
    pub identification: Bits<16>,
}

/// New bytes in the order of the steps, as far as they are not zero.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct StepBytes {
    l3_length_high: Bits<8>,
    l3_length_low: Bits<8>,
    identification_high: Bits<8>,
    identification_low: Bits<8>,
    sequence_3: Bits<8>,
    sequence_2: Bits<8>,
    sequence_1: Bits<8>,
    sequence_0: Bits<8>,
    flags: Bits<8>,
    udp_length_high: Bits<8>,
    udp_length_low: Bits<8>,
    zero: Bits<40>,
}

/// Distance of each step's byte from the start of its layer: IPv4 and TCP.
const DISTANCES: [u8; 16] = [2, 3, 4, 5, 4, 5, 6, 7, 13, 4, 5, 16, 17, 10, 11, 0];
/// The same where the layer is IPv6 or UDP.
const DISTANCES_OTHER: [u8; 16] = [4, 5, 4, 5, 4, 5, 6, 7, 13, 4, 5, 6, 7, 10, 11, 0];

/// The table. See the module's head.
#[derive(LogicBlock)]
pub struct HeaderField {
    /// Step, 0 to 14.
    pub step: Signal<In, Bits<4>>,
    /// Layers and insertions.
    pub layout: Signal<In, HeaderLayout>,
    /// Lengths, numbers and flags are set.
    pub rewrite: Signal<In, Bit>,
    /// Their values.
    pub values: Signal<In, FrameValues>,
    /// Bytes of this frame.
    pub frame_bytes: Signal<In, Bits<16>>,
    /// Byte of the header.
    pub address: Signal<Out, Bits<8>>,
    /// Its new value.
    pub value: Signal<Out, Bits<8>>,
    /// Change it.
    pub enable: Signal<Out, Bit>,

    sequence_number: Signal<Local, Bits<32>>,
    identification: Signal<Local, Bits<16>>,
    l3_length: Signal<Local, Bits<16>>,
    l4_length: Signal<Local, Bits<16>>,
    bytes: Signal<Local, StepBytes>,
    bytes_flat: Signal<Local, Bits<128>>,
    shift: Signal<Local, Bits<7>>,
    base: Signal<Local, Bits<8>>,
    distance: Signal<Local, Bits<8>>,
    in_l3: Signal<Local, Bit>,
    distances: Constant<Bits<128>>,
    distances_other: Constant<Bits<128>>,
}

impl Default for HeaderField {
    fn default() -> Self {
        Self {
            step: Default::default(),
            layout: Default::default(),
            rewrite: Default::default(),
            values: Default::default(),
            frame_bytes: Default::default(),
            address: Default::default(),
            value: Default::default(),
            enable: Default::default(),
            sequence_number: Default::default(),
            identification: Default::default(),
            l3_length: Default::default(),
            l4_length: Default::default(),
            bytes: Default::default(),
            bytes_flat: Default::default(),
            shift: Default::default(),
            base: Default::default(),
            distance: Default::default(),
            in_l3: Default::default(),
            distances: Constant::new(u128::from_le_bytes(DISTANCES).to_bits()),
            distances_other: Constant::new(u128::from_le_bytes(DISTANCES_OTHER).to_bits()),
        }
    }
}

impl Logic for HeaderField {
    #[hdl_gen]
    fn update(&mut self) {
        self.sequence_number.next = self.values.val().sequence;
        self.identification.next = self.values.val().identification;
        self.l4_length.next =
            self.frame_bytes.val() - bit_cast::<16, 8>(self.layout.val().l4_offset);
        self.l3_length.next =
            self.frame_bytes.val() - bit_cast::<16, 8>(self.layout.val().l3_offset);
        if self.layout.val().ipv6 {
            self.l3_length.next =
                self.frame_bytes.val() - bit_cast::<16, 8>(self.layout.val().l3_offset) - 40;
        }

        self.bytes.next.l3_length_high = self.l3_length.val().get_bits::<8>(8);
        self.bytes.next.l3_length_low = self.l3_length.val().get_bits::<8>(0);
        self.bytes.next.identification_high = self.identification.val().get_bits::<8>(8);
        self.bytes.next.identification_low = self.identification.val().get_bits::<8>(0);
        self.bytes.next.sequence_3 = self.sequence_number.val().get_bits::<8>(24);
        self.bytes.next.sequence_2 = self.sequence_number.val().get_bits::<8>(16);
        self.bytes.next.sequence_1 = self.sequence_number.val().get_bits::<8>(8);
        self.bytes.next.sequence_0 = self.sequence_number.val().get_bits::<8>(0);
        self.bytes.next.flags = self.values.val().flags;
        self.bytes.next.udp_length_high = self.l4_length.val().get_bits::<8>(8);
        self.bytes.next.udp_length_low = self.l4_length.val().get_bits::<8>(0);
        self.bytes.next.zero = 0.into();
        self.bytes_flat.next = self.bytes.val().into();
        self.shift.next = bit_cast::<7, 4>(self.step.val()) << 3;
        self.value.next = self
            .bytes_flat
            .val()
            .get_bits::<8>(self.shift.val().index());

        self.in_l3.next = (self.step.val() < 4) | (self.step.val() > 12);
        self.base.next = self.layout.val().l4_offset;
        if self.in_l3.val() {
            self.base.next = self.layout.val().l3_offset;
        }
        self.distance.next = self.distances.val().get_bits::<8>(self.shift.val().index());
        if (self.in_l3.val() & self.layout.val().ipv6) | (!self.in_l3.val() & self.layout.val().udp)
        {
            self.distance.next = self
                .distances_other
                .val()
                .get_bits::<8>(self.shift.val().index());
        }
        self.address.next = self.base.val() + self.distance.val();

        self.enable.next = self.rewrite.val();
        if (self.step.val() > 1) & (self.step.val() < 4) {
            self.enable.next = self.rewrite.val() & !self.layout.val().ipv6;
        } else if (self.step.val() > 3) & (self.step.val() < 9) {
            self.enable.next = self.rewrite.val() & !self.layout.val().udp;
        } else if (self.step.val() > 8) & (self.step.val() < 11) {
            self.enable.next = self.rewrite.val() & self.layout.val().udp;
        } else if (self.step.val() > 10) & (self.step.val() < 13) {
            self.enable.next = self.layout.val().l4_checksum;
        } else if self.step.val() > 12 {
            self.enable.next = self.layout.val().ip_checksum;
        }
    }
}
