//! Messages between the parts of `runs`.

use stream::prelude::*;

/// What of a packet's headers decides whether it joins a run.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunFacts {
    /// Link addresses.
    pub addresses: Bits<96>,
    /// VLAN tags.
    pub tags: Bits<64>,
    /// Version, traffic class, DF or flow label.
    pub traffic: Bits<32>,
    /// By its headers the packet may be of a run.
    pub fits: Bit,
    /// PSH is set.
    pub push: Bit,
    /// There are timestamps.
    pub stamped: Bit,
    /// Acknowledgement number.
    pub ack: Bits<32>,
    /// Window.
    pub window: Bits<16>,
    /// TSval, or 0.
    pub timestamp: Bits<32>,
    /// TSecr, or 0.
    pub echo: Bits<32>,
}

/// What is kept of a run's first packet.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunFirst {
    /// Flow id.
    pub flow: Bits<16>,
    /// Owner of the flow.
    pub owner: Bits<8>,
    /// Generation of the flow.
    pub generation: Bits<8>,
    /// Link addresses.
    pub addresses: Bits<96>,
    /// VLAN tags.
    pub tags: Bits<64>,
    /// Version, traffic class, DF or flow label.
    pub traffic: Bits<32>,
    /// There are timestamps.
    pub stamped: Bit,
    /// Bytes before the payload.
    pub header_bytes: Bits<8>,
    /// Byte offset of the L4 header.
    pub l4_offset: Bits<8>,
    /// Frame length without FCS.
    pub frame_bytes: Bits<14>,
    /// Payload length.
    pub payload_bytes: Bits<14>,
    /// Stream position.
    pub position: Bits<32>,
    /// List index of the first segment.
    pub segment_index: Bits<16>,
    /// Number of pieces.
    pub pieces: Bits<5>,
    /// Memories that the payload lies in, one bit each.
    pub memories: Bits<4>,
}

/// What is kept of a run's last packet, and their number.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunLast {
    /// Packets so far.
    pub packets: Bits<7>,
    /// Acknowledgement number.
    pub ack: Bits<32>,
    /// Window.
    pub window: Bits<16>,
    /// TSval, or 0.
    pub timestamp: Bits<32>,
    /// TSecr, or 0.
    pub echo: Bits<32>,
    /// The flow's cursor after it.
    pub cursor: Bits<32>,
}

/// How a packet compares with the run that is open at its place.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunMatch {
    /// A run is open at the place.
    pub open: Bit,
    /// It is of the packet's flow.
    pub flow: Bit,
    /// It is of the item's owner, or that is owner 0.
    pub owner: Bit,
    /// Link addresses are equal.
    pub addresses: Bit,
    /// VLAN tags and traffic are equal.
    pub network: Bit,
    /// Owner, generation, header length, memory and timestamps' presence are equal.
    pub kind: Bit,
    /// The packet begins where the run ends.
    pub follows: Bit,
    /// The packet has less payload than the first.
    pub less: Bit,
    /// The packet has more payload than the first.
    pub more: Bit,
    /// The ACK number is less than the last.
    pub ack_before: Bit,
    /// TSval is less than the last.
    pub stamp_before: Bit,
    /// The item is of a flow.
    pub hit: Bit,
    /// The item, a confirmation, ends the run of its flow.
    pub ends_run: Bit,
    /// The item, the end of a run, comes for a command.
    pub sweeps: Bit,
    /// One packet is missing to the most.
    pub almost_full: Bit,
    /// If it is placed in order the packet may be of a run: nothing is trimmed, its pieces lie in
    /// one memory, its headers fit, and its owner has runs.
    pub may: Bit,
}

/// The end of a run that the arbiter is asked to let in.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RunEnd {
    /// Place of the run.
    pub place: Bits<5>,
    /// It ends for a command of this owner.
    pub owner: Bits<8>,
    /// It ends for a command, not by the timer.
    pub sweeps: Bit,
}
