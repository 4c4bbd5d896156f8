//! The metadata of a header entry, in the layout of `abi::header_entry`.
//!
//! Timing: combinational.
//!
//! Source: `abi::header_entry`; docs/specification.md, Delivery.

use crate::messages::{PlanItem, Reservation, RunSummary, RxItemKind};
use abi::config::PROFILE_BITS;
use abi::header_entry::{KIND_EVENT, KIND_PACKET, KIND_RUN, SLOW_BUFFER_NONE};
use stream::prelude::*;

/// 32 bytes of metadata; see `abi::header_entry` for the fields.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EntryMetadata {
    /// Kind of the entry: packet or event.
    pub kind: Bits<8>,
    /// Disposition of the packet, or SendError of the event.
    pub disposition: Bits<8>,
    /// Phase bit that marks the entry as valid.
    pub phase: Bit,
    /// The entry takes two slots.
    pub two_slots: Bit,
    /// Header profile.
    pub profile: Bits<PROFILE_BITS>,
    /// All checksums of the packet were verified.
    pub verified: Bit,
    /// The payload is not known to be visible; set by [`crate::hold::hold_release`] alone.
    pub unflushed: Bit,
    /// Run: its last packet has PSH.
    pub run_push: Bit,
    /// Always zero.
    pub padding: Bit,
    /// Generation of the flow.
    pub generation: Bits<8>,
    /// Flow id.
    pub flow: Bits<16>,
    /// Bytes before the payload.
    pub header_bytes: Bits<16>,
    /// Frame length without FCS.
    pub frame_bytes: Bits<16>,
    /// Payload length.
    pub payload_bytes: Bits<16>,
    /// Stream position.
    pub position: Bits<32>,
    /// Bytes of the payload below the floor.
    pub trimmed_bytes: Bits<16>,
    /// Index of the slow buffer, or that of none.
    pub slow_buffer: Bits<16>,
    /// The flow's cursor after the packet.
    pub cursor: Bits<32>,
    /// List index of the first segment.
    pub segment_index: Bits<16>,
    /// Number of pieces.
    pub pieces: Bits<8>,
    /// Byte offset of the L4 header.
    pub l4_offset: Bits<8>,
    /// Value of an event.
    pub event_value: Bits<32>,
}

/// Assembles the metadata. See the module's head.
#[derive(LogicBlock, BlockDefault)]
pub struct Entry {
    /// The packet; for an event `disposition` is the error and `position` the value.
    pub packet: Signal<In, PlanItem>,
    /// The flow's cursor after the packet.
    pub cursor: Signal<In, Bits<32>>,
    /// Addresses and phase that are reserved for the packet.
    pub reservation: Signal<In, Reservation>,
    /// The header goes on in the next slot.
    pub two_slots: Signal<In, Bit>,
    /// The payload is in the reserved slow buffer.
    pub needs_slow: Signal<In, Bit>,
    /// The entry stands for several packets.
    pub sums: Signal<In, Bit>,
    /// With `sums`: what it says of them.
    pub summary: Signal<In, RunSummary>,
    /// The 32 bytes of metadata.
    pub metadata: Signal<Out, Bits<256>>,

    entry: Signal<Local, EntryMetadata>,
    #[value(u64::from(SLOW_BUFFER_NONE))]
    slow_buffer_none: Constant<Bits<16>>,
    #[value(u64::from(KIND_PACKET))]
    kind_packet: Constant<Bits<8>>,
    #[value(u64::from(KIND_EVENT))]
    kind_event: Constant<Bits<8>>,
    #[value(u64::from(KIND_RUN))]
    kind_run: Constant<Bits<8>>,
}

impl Logic for Entry {
    #[hdl_gen]
    fn update(&mut self) {
        self.entry.next.kind = self.kind_packet.val();
        self.entry.next.disposition = bit_cast::<8, 4>(self.packet.val().disposition);
        self.entry.next.phase = self.reservation.val().phase;
        self.entry.next.two_slots = self.two_slots.val();
        self.entry.next.profile = self.packet.val().profile;
        self.entry.next.verified = self.packet.val().verified;
        self.entry.next.unflushed = false;
        self.entry.next.run_push = false;
        self.entry.next.padding = false;
        self.entry.next.generation = self.packet.val().generation;
        self.entry.next.flow = self.packet.val().flow;
        self.entry.next.header_bytes = bit_cast::<16, 8>(self.packet.val().header_bytes);
        self.entry.next.frame_bytes = bit_cast::<16, 14>(self.packet.val().frame_bytes);
        self.entry.next.payload_bytes = bit_cast::<16, 14>(self.packet.val().payload_bytes);
        self.entry.next.position = self.packet.val().position;
        self.entry.next.trimmed_bytes = bit_cast::<16, 14>(self.packet.val().trimmed_bytes);
        self.entry.next.slow_buffer = self.slow_buffer_none.val();
        self.entry.next.cursor = self.cursor.val();
        self.entry.next.segment_index = self.packet.val().segment_index;
        self.entry.next.pieces = bit_cast::<8, 5>(self.packet.val().pieces);
        self.entry.next.l4_offset = self.packet.val().l4_offset;
        self.entry.next.event_value = 0.into();
        if self.needs_slow.val() {
            self.entry.next.slow_buffer = self.reservation.val().slow_index;
        }
        if self.packet.val().kind == RxItemKind::Event {
            self.entry.next.kind = self.kind_event.val();
            self.entry.next.position = 0.into();
            self.entry.next.event_value = self.packet.val().position;
        }
        if self.sums.val() {
            self.entry.next.kind = self.kind_run.val();
            self.entry.next.run_push = self.summary.val().push;
            self.entry.next.frame_bytes = self.summary.val().window;
            self.entry.next.payload_bytes = bit_cast::<16, 14>(self.summary.val().payload_bytes);
            self.entry.next.position = self.summary.val().timestamp;
            self.entry.next.trimmed_bytes = self.summary.val().echo.get_bits::<16>(0);
            self.entry.next.slow_buffer = self.summary.val().echo.get_bits::<16>(16);
            self.entry.next.segment_index = self.summary.val().segment_index;
            self.entry.next.pieces = bit_cast::<8, 7>(self.summary.val().packets);
            self.entry.next.event_value = self.summary.val().ack;
        }
        self.metadata.next = self.entry.val().into();
    }
}
