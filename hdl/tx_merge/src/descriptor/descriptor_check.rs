//! Decodes the 32 metadata bytes of a send descriptor and checks them.
//!
//! ```text
//!  metadata ──► sums and lengths ──► register ──► compare ──► fields (with `malformed`)
//! ```
//! Timing: `fields` holds from the second cycle on in which `metadata` is unchanged; `two_slots`
//! and `header` are combinational.
//!
//! A descriptor is malformed if one of these holds:
//! 1. The kind is neither 1 nor 2; `header_bytes` is outside 14..=224, or beyond the one slot that
//!    came.
//! 2. Kind 1: a layer's offset is not inside the header; there is payload, and `mss_bytes` is
//!    outside 1..=9,162 or the longest frame has more than 9,216 bytes.
//! 3. There is a checksum flag or payload, and the layers do not fit ([`super::layers_check`]).
//!
//! A descriptor that is well formed is refused as well while `sends_fail` is high: it is marked as
//! malformed, with `link_down`.
//!
//! Source: docs/specification.md, Descriptor checks.

use crate::descriptor::layers_check::LayersCheck;
use crate::messages::{HeaderLayout, SendFields};
use abi::config::{
    FRAME_BYTES_MAX, FRAME_PAYLOAD_BYTES_MAX, METADATA_BYTES, SLOT_BYTES, SLOT_HEADER_BYTES,
};
use abi::send_descriptor as at;
use stream::prelude::*;

// The kernel language knows no named constants in slices: its literals are checked here.
const _: () = {
    assert!(at::KIND.offset == 0 && at::KIND.bits == 8);
    assert!(
        at::TWO_SLOTS.offset == 8 && at::IP_CHECKSUM.offset == 9 && at::L4_CHECKSUM.offset == 10
    );
    assert!(at::IPV6.offset == 11 && at::UDP.offset == 12);
    assert!(at::FLOW.offset == 16 && at::FLOW.bits == 16);
    assert!(at::HEADER_BYTES.offset == 32 && at::HEADER_BYTES.bits == 8);
    assert!(at::L3_OFFSET.offset == 40 && at::L4_OFFSET.offset == 48);
    assert!(at::GENERATION.offset == 56 && at::GENERATION.bits == 8);
    assert!(at::PAYLOAD_BYTES.offset == 64 && at::PAYLOAD_BYTES.bits == 18);
    assert!(at::MSS_BYTES.offset == 82 && at::MSS_BYTES.bits == 14);
    assert!(at::POSITION.offset == 96 && at::POSITION.bits == 32);
    assert!(at::SEGMENT_INDEX.offset == 128 && at::SEGMENT_INDEX.bits == 16);
    assert!(at::KIND_SEND == 1 && at::KIND_RAW == 2);
    assert!(SLOT_HEADER_BYTES == 96 && 2 * SLOT_BYTES - METADATA_BYTES == 224);
};

/// The check. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct DescriptorCheck {
    /// Clock of the block: the PCIe user clock, 250 MHz.
    pub clock: Signal<In, Clock>,
    /// Bytes 0 to 31 of the descriptor.
    pub metadata: Signal<In, Bits<256>>,
    /// Owner of the ring that the descriptor came from.
    pub owner: Signal<In, Bits<8>>,
    /// The descriptor was not read completely.
    pub unread: Signal<In, Bit>,
    /// The wire is down, and software asked for sends to fail then.
    pub sends_fail: Signal<In, Bit>,
    /// Beats of the descriptor's header in the header buffer.
    pub template_beats: Signal<In, Bits<3>>,
    /// Fields of the descriptor, with the result of the checks.
    pub fields: Signal<Out, SendFields>,
    /// The descriptor takes two slots.
    pub two_slots: Signal<Out, Bit>,
    /// Where the layers of the header lie.
    pub header: Signal<Out, HeaderLayout>,

    layers: LayersCheck,
    frame_bytes: DFF<Bits<18>>,
    length_bad: DFF<Bit>,
    offset_bad: DFF<Bit>,

    layout: Signal<Local, HeaderLayout>,
    kind: Signal<Local, Bits<8>>,
    is_raw: Signal<Local, Bit>,
    is_send: Signal<Local, Bit>,
    payload_bytes: Signal<Local, Bits<18>>,
    mss_bytes: Signal<Local, Bits<14>>,
    frame_payload_bytes: Signal<Local, Bits<18>>,
    layers_needed: Signal<Local, Bit>,
    payload_bad: Signal<Local, Bit>,
    malformed: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,

    #[value(FRAME_PAYLOAD_BYTES_MAX as u64)]
    mss_bytes_max: Constant<Bits<14>>,
    #[value(FRAME_BYTES_MAX as u64)]
    frame_bytes_max: Constant<Bits<18>>,
}

impl Logic for DescriptorCheck {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, frame_bytes, length_bad, offset_bad);
        clock!(self, clock, layers);
        self.kind.next = self.metadata.val().get_bits::<8>(0);
        self.two_slots.next = self.metadata.val().get_bit(8);
        self.layout.next.ip_checksum =
            self.metadata.val().get_bit(9) & !self.metadata.val().get_bit(11);
        self.layout.next.l4_checksum = self.metadata.val().get_bit(10);
        self.layout.next.ipv6 = self.metadata.val().get_bit(11);
        self.layout.next.udp = self.metadata.val().get_bit(12);
        self.layout.next.header_bytes = self.metadata.val().get_bits::<8>(32);
        self.layout.next.l3_offset = self.metadata.val().get_bits::<8>(40);
        self.layout.next.l4_offset = self.metadata.val().get_bits::<8>(48);
        self.payload_bytes.next = self.metadata.val().get_bits::<18>(64);
        self.mss_bytes.next = self.metadata.val().get_bits::<14>(82);
        self.is_raw.next = self.kind.val() == 2;
        self.is_send.next = self.kind.val() == 1;
        self.header.next = self.layout.val();
        self.length_bad.d.next = (self.layout.val().header_bytes < 14)
            | (self.layout.val().header_bytes > 224)
            | (!self.metadata.val().get_bit(8) & (self.layout.val().header_bytes > 96));
        self.offset_bad.d.next = (self.layout.val().l3_offset >= self.layout.val().header_bytes)
            | (self.layout.val().l4_offset >= self.layout.val().header_bytes);

        self.frame_payload_bytes.next = self.payload_bytes.val();
        if self.payload_bytes.val() > bit_cast::<18, 14>(self.mss_bytes.val()) {
            self.frame_payload_bytes.next = bit_cast::<18, 14>(self.mss_bytes.val());
        }
        self.frame_bytes.d.next =
            self.frame_payload_bytes.val() + bit_cast::<18, 8>(self.layout.val().header_bytes);
        self.payload_bad.next = self.payload_bytes.val().any()
            & (!self.mss_bytes.val().any()
                | (self.mss_bytes.val() > self.mss_bytes_max.val())
                | (self.frame_bytes.q.val() > self.frame_bytes_max.val()));

        self.layers.layout.next = self.layout.val();
        self.layers_needed.next = self.metadata.val().get_bit(9)
            | self.metadata.val().get_bit(10)
            | (self.is_send.val() & self.payload_bytes.val().any());

        self.fields.next.owner = self.owner.val();
        self.fields.next.raw = self.is_raw.val();
        self.fields.next.unread = self.unread.val();
        self.malformed.next = self.length_bad.q.val()
            | !(self.is_raw.val() | self.is_send.val())
            | (self.is_send.val() & (self.offset_bad.q.val() | self.payload_bad.val()))
            | (self.layers_needed.val() & !self.layers.fits.val());
        self.refused.next = self.malformed.val() | self.sends_fail.val();
        self.fields.next.malformed = self.refused.val();
        self.fields.next.link_down = self.sends_fail.val() & !self.malformed.val();
        self.fields.next.layout = self.layout.val();
        self.fields.next.flow = self.metadata.val().get_bits::<16>(16);
        self.fields.next.generation = self.metadata.val().get_bits::<8>(56);
        self.fields.next.template_beats = self.template_beats.val();
        self.fields.next.payload_bytes = self.payload_bytes.val();
        if self.refused.val() | self.unread.val() | self.is_raw.val() {
            self.fields.next.payload_bytes = 0.into();
        }
        self.fields.next.mss_bytes = self.mss_bytes.val();
        self.fields.next.position = self.metadata.val().get_bits::<32>(96);
        self.fields.next.segment_index = self.metadata.val().get_bits::<16>(128);
    }
}
