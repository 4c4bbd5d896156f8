//! Plans: what is left of an item once it is decided, and what is reserved for it.

use abi::config::PROFILE_BITS;
use stream::prelude::*;

/// What an item on its way through the placement stages is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum RxItemKind {
    /// A verified packet.
    Packet,
    /// A release for packets that the share check or `admit` dropped: it frees their beats of the
    /// packet buffer.
    Release,
    /// The event of a failed send, for its owner's header queue.
    Event,
    /// A confirmation on its way through the fence.
    Confirmation,
    /// The run at a place ends. Behind the runs: its entry.
    Run,
}

/// What is left of an [`crate::messages::RxItem`] once it is decided.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PlanItem {
    /// What the item is.
    pub kind: RxItemKind,
    /// Pointer of the packet's first beat in the packet buffer.
    pub start: Bits<16>,
    /// Pointer past the packet's last beat.
    pub stop: Bits<16>,
    /// Beats that the packet takes of its owner's share of the packet buffer until its release.
    pub charge: Bits<8>,
    /// Bytes before the payload.
    pub header_bytes: Bits<8>,
    /// Frame length without FCS.
    pub frame_bytes: Bits<14>,
    /// Payload length.
    pub payload_bytes: Bits<14>,
    /// Byte offset of the L4 header.
    pub l4_offset: Bits<8>,
    /// Header profile.
    pub profile: Bits<PROFILE_BITS>,
    /// All checksums of the packet were verified.
    pub verified: Bit,
    /// Stream position of the first payload byte. Event: its value. Confirmation: index of the
    /// command.
    pub position: Bits<32>,
    /// Flow id; 0xffff without a flow.
    pub flow: Bits<16>,
    /// Generation of the flow. Confirmation: its status.
    pub generation: Bits<8>,
    /// Owner of the header queue, or of the command.
    pub owner: Bits<8>,
    /// The payload is placed.
    pub walk: Bit,
    /// The packet has the walk slot `slot`.
    pub slotted: Bit,
    /// Walk slot of the packet, with `slotted`.
    pub slot: Bits<4>,
    /// Disposition of the packet. Event: its SendError.
    pub disposition: DispositionCode,
    /// Bytes of the payload below the floor.
    pub trimmed_bytes: Bits<14>,
    /// List index of the first segment.
    pub segment_index: Bits<16>,
    /// Number of pieces.
    pub pieces: Bits<5>,
    /// Memories that the payload lies in, one bit each.
    pub memories: Bits<4>,
}

/// A packet, an event, a confirmation or a release, with everything that is reserved for it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Plan {
    /// The packet, event, confirmation or release.
    pub packet: PlanItem,
    /// The entry takes two slots.
    pub two_slots: Bit,
    /// The payload goes to the slow buffer.
    pub needs_slow: Bit,
    /// The flow's cursor after the packet.
    pub cursor: Bits<32>,
    /// Addresses in the owner's rings that are reserved.
    pub place: Reservation,
    /// What it has to do with a run.
    pub run: RunPart,
}

/// A packet, an event, a confirmation or a release as it is decided: its plan, but for addresses.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Decided {
    /// The packet, event, confirmation or release.
    pub packet: PlanItem,
    /// The entry takes two slots.
    pub two_slots: Bit,
    /// The payload goes to the slow buffer.
    pub needs_slow: Bit,
    /// Number of that slow buffer, modulo 2^16.
    pub slow: Bits<16>,
    /// The flow's cursor after the packet.
    pub cursor: Bits<32>,
    /// What it has to do with a run.
    pub run: RunPart,
}

/// What a plan has to do with a run: nothing, or it opens, joins or ends one.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunPart {
    /// The packet opens a run: its header is kept, and it has no entry now.
    pub keeps: Bit,
    /// The packet joins a run: it has no entry of its own.
    pub joins: Bit,
    /// The run ends here: its entry is written, with the header that was kept.
    pub ends: Bit,
    /// With `ends`: the entry stands for several packets, and a [`RunSummary`] comes with it.
    pub sums: Bit,
}

/// What the entry of several packets says of them: one for each plan that `sums`, in order.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunSummary {
    /// Number of packets.
    pub packets: Bits<7>,
    /// The last packet has PSH.
    pub push: Bit,
    /// Acknowledgement number of the last packet.
    pub ack: Bits<32>,
    /// Window of the last packet.
    pub window: Bits<16>,
    /// TSval of the last packet, or 0.
    pub timestamp: Bits<32>,
    /// TSecr of the last packet, or 0.
    pub echo: Bits<32>,
    /// Payload of the first packet.
    pub payload_bytes: Bits<14>,
    /// List index of the first packet's first segment.
    pub segment_index: Bits<16>,
}

/// The addresses in its owner's rings that a packet gets.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Reservation {
    /// Bus address of the entry's first slot.
    pub slot_address: Bits<64>,
    /// Bus address of the entry's second slot, if it takes two.
    pub second_address: Bits<64>,
    /// Bus address of the slow buffer.
    pub slow_address: Bits<64>,
    /// Index of the slow buffer.
    pub slow_index: Bits<16>,
    /// Phase bit of the entry.
    pub phase: Bit,
    /// Slots produced after the entry.
    pub header_producer: Bits<32>,
}
