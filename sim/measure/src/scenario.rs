//! What is measured: directions, sizes, flows, order, acknowledgements, time.

use abi::config::{FRAME_BYTES_MIN, SEGMENTS_COMMITTED_BITS, SLOT_HEADER_BYTES};
use abi::registers::PAUSE_BEATS_START;
use lab::frame::FCS_BYTES;
use pcie_sim::PcieConfig;

use crate::packets::frames::{header_bytes, ETHERNET_BYTES};

/// Packets of a flow that are permuted among each other.
pub const ORDER_WINDOW: usize = 64;

/// How large packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Full TCP segments with timestamps in packets of that many bytes. Nothing may be lost, except
    /// where the link carries less than the wire.
    Mtu(u32),
    /// Frames of that many bytes, FCS included, without timestamps, at wire speed whether or not
    /// the card keeps up; 64-byte frames are pure ACKs. Frames that find the header queue full
    /// are lost.
    Frame(u32),
    /// Frames of every size from the first to the second, one after the other; only received.
    Sweep(u32, u32),
}

/// Order of a flow's packets on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By position.
    InOrder,
    /// Permuted in windows of [`ORDER_WINDOW`] packets.
    Random,
}

impl Order {
    /// Packets of a flow that are only sent together.
    pub fn together(self) -> u64 {
        match self {
            Order::InOrder => 1,
            Order::Random => ORDER_WINDOW as u64,
        }
    }
}

/// IP version of the flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// Every other flow IPv6.
    Mixed,
}

/// A second owner, whose frames share the wire. They must not affect the first owner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// Its header queue is never emptied.
    Undrained,
    /// Its queue is emptied as fast as the link fills it.
    Greedy,
}

/// Frames of a rival for each one of the first owner: all together are more than the link carries,
/// while the first owner's are less than the half of that which is its share.
pub const RIVAL_FRAMES: u32 = 3;

/// Where acknowledgements travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// In the data of the other direction; where there is none, they cost nothing and arrive
    /// [`ACK_DELAY_NS`] after the data, as do the windows that the card's host offers.
    InData,
    /// A frame of its own for every two segments, the window in it; one more where the window opens
    /// after the last of them.
    Pure,
}

/// Delay of an acknowledgement without a frame.
pub const ACK_DELAY_NS: u64 = 2_000;

impl Acks {
    /// The policy in one line.
    pub fn describe(self) -> &'static str {
        match self {
            Acks::InData => "ACKs ride in data; where nothing returns, they arrive 2 us later",
            Acks::Pure => "one pure ACK for every two segments, on the same wire and link",
        }
    }
}

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The card receives.
    pub receive: bool,
    /// The card sends.
    pub send: bool,
    /// Named configuration of the card.
    pub card: String,
    /// Configuration of the slot.
    pub pcie: PcieConfig,
    /// Size of the packets.
    pub size: Size,
    /// Flows, used round robin.
    pub flows: u16,
    /// Every other flow belongs to a second owner; figures are those of the first.
    pub rival: Option<Rival>,
    /// Order on the wire.
    pub order: Order,
    /// IP version.
    pub family: Family,
    /// Acknowledgements.
    pub acks: Acks,
    /// Packets of one flow in a row on the wire to the card.
    pub burst: u32,
    /// Packets in one send descriptor, if in order.
    pub send_burst: u32,
    /// Least time from one frame, or one descriptor, to the next, ps; 0: as fast as it goes.
    pub interval_ps: u64,
    /// Least simulated time that is measured, ns.
    pub time_ns: u64,
    /// Least packets of each flow.
    pub packets_min: u64,
    /// Least passes over each list of segments.
    pub wraps_min: u64,
    /// Length of every segment, where it is not the usual one.
    pub segment: Option<u32>,
    /// Descriptors that find their ring empty come with the doorbell.
    pub push_slots: bool,
    /// The card may ask the peer to pause, and the peer obeys after 2 us.
    pub pause: bool,
    /// Beats in the packet buffer from which on it asks.
    pub pause_beats: u16,
    /// The card sums received packets up: the peer sends segments, cut into packets, PSH on the
    /// last.
    pub coalesce: bool,
    /// Packets of such a segment; 0: as many as 64 KiB have.
    pub push_packets: u32,
    /// Seed of contents, positions and order.
    pub seed: u64,
}

/// A combination that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadScenario(pub String);

impl Scenario {
    /// The usual model: default card, PCIe 3.0 x16, one flow in order, a millisecond.
    pub fn new(size: Size) -> Self {
        Self {
            receive: false,
            send: false,
            card: "default".to_owned(),
            pcie: PcieConfig::default(),
            size,
            flows: 1,
            rival: None,
            order: Order::InOrder,
            family: Family::V4,
            acks: Acks::InData,
            burst: 1,
            send_burst: 1,
            interval_ps: 0,
            time_ns: 1_000_000,
            packets_min: 8,
            wraps_min: 2,
            segment: None,
            push_slots: true,
            pause: false,
            pause_beats: PAUSE_BEATS_START as u16,
            coalesce: false,
            push_packets: 0,
            seed: 1,
        }
    }

    /// Whether flow number `flow` is IPv6.
    pub fn is_ipv6(&self, flow: u16) -> bool {
        self.family == Family::Mixed && !flow.is_multiple_of(2)
    }

    /// Owner of flow number `flow`.
    pub fn owner(&self, flow: u16) -> u8 {
        match self.rival {
            Some(_) => u8::from(!flow.is_multiple_of(2)),
            None => 0,
        }
    }

    /// Turns of flow number `flow` for each turn of the others: more in proportion to the length of
    /// its list, so that all lists wrap in the same time.
    pub fn turns(&self, flow: u16) -> u32 {
        if self.owner(flow) > 0 {
            return RIVAL_FRAMES;
        }
        if self.flows == 1 || !self.has_long_list(flow) {
            return 1;
        }
        (self.list_bytes(flow) / self.list_bytes(1)).clamp(1, ORDER_WINDOW as u64) as u32
    }

    /// Packets of flow number `flow` in a row on the wire to the card.
    pub fn burst_of(&self, flow: u16) -> u32 {
        self.burst * self.turns(flow)
    }

    /// Whether packets carry the timestamp option.
    pub fn timestamps(&self) -> bool {
        matches!(self.size, Size::Mtu(_))
    }

    /// Whether the wire is filled whether or not the card keeps up.
    pub(crate) fn fills_wire(&self) -> bool {
        matches!(self.size, Size::Frame(_) | Size::Sweep(..))
    }

    /// Number of sizes used in turn: one, or those of a sweep.
    pub fn sizes(&self) -> u32 {
        match self.size {
            Size::Sweep(first, last) => last - first + 1,
            _ => 1,
        }
    }

    /// Payload of packet number `number` to the card.
    pub fn payload_of(&self, number: u64, is_ipv6: bool) -> usize {
        match self.size {
            Size::Sweep(first, _) => {
                let bytes = first + (number % u64::from(self.sizes())) as u32;
                let headers = header_bytes(is_ipv6, false) + FCS_BYTES as usize;
                (bytes as usize).saturating_sub(headers)
            }
            _ => self.payload_bytes(is_ipv6),
        }
    }

    /// Longest frame that is sent inline, from the send ring.
    pub fn inline_max(&self) -> usize {
        match self.size {
            Size::Frame(_) => SLOT_HEADER_BYTES,
            Size::Mtu(_) | Size::Sweep(..) => 0,
        }
    }

    /// Whether packets of an IP version are sent inline.
    pub fn is_inline(&self, is_ipv6: bool) -> bool {
        let headers = header_bytes(is_ipv6, self.timestamps());
        headers + self.payload_bytes(is_ipv6) <= self.inline_max()
    }

    /// Whether every packet is sent inline.
    pub fn all_inline(&self) -> bool {
        (0..self.flows).all(|flow| self.is_inline(self.is_ipv6(flow)))
    }

    /// Payload of a packet; of a sweep, the largest.
    pub fn payload_bytes(&self, is_ipv6: bool) -> usize {
        let headers = header_bytes(is_ipv6, self.timestamps());
        match self.size {
            Size::Mtu(bytes) => (bytes as usize + ETHERNET_BYTES).saturating_sub(headers),
            Size::Frame(64) => 0,
            Size::Frame(bytes) | Size::Sweep(_, bytes) => {
                (bytes as usize - FCS_BYTES as usize).saturating_sub(headers)
            }
        }
    }

    /// Frame of a packet, FCS included; of a sweep, the largest.
    pub fn frame_bytes(&self) -> usize {
        match self.size {
            Size::Mtu(bytes) => bytes as usize + ETHERNET_BYTES + FCS_BYTES as usize,
            Size::Frame(bytes) | Size::Sweep(_, bytes) => bytes as usize,
        }
    }

    /// Frame that only acknowledges, FCS included.
    pub fn ack_frame_bytes(&self, is_ipv6: bool) -> usize {
        let bytes = header_bytes(is_ipv6, self.timestamps());
        bytes.max(FRAME_BYTES_MIN) + FCS_BYTES as usize
    }

    /// Bytes of segment number `slot` of flow `flow`'s ring of buffers.
    ///
    /// In order: 64 KiB for few flows; for many 4 KiB with the guards, so that lists wrap in
    /// reasonable time, the first two of a length of the flow's own, so that the segments of
    /// different flows end at different times. Out of order: 4 and 64 KiB mixed.
    pub fn segment_bytes(&self, flow: u16, slot: usize) -> u32 {
        if let Some(bytes) = self.segment {
            return bytes;
        }
        match self.order {
            Order::Random if self.has_long_list(flow) => {
                [4 << 10, 64 << 10][usize::from(slot % 16 == 7)]
            }
            Order::Random => [4 << 10, 64 << 10][slot % 2],
            Order::InOrder if self.flows <= 64 => 64 << 10,
            Order::InOrder if slot < 2 => {
                let steps = 2 + u32::from(flow) * 53 % 125;
                64 * [steps / 2, steps.div_ceil(2)][slot]
            }
            Order::InOrder => (4 << 10) - 64,
        }
    }

    /// Bytes of each segment of a flow's list.
    pub fn slot_sizes(&self, flow: u16) -> Vec<u32> {
        let (count, _) = self.list(flow);
        (0..count).map(|slot| self.segment_bytes(flow, slot)).collect()
    }

    /// One in 65 flows has the longest list where the order is random: of both IP versions.
    pub fn has_long_list(&self, flow: u16) -> bool {
        self.order == Order::Random && flow.is_multiple_of(65)
    }

    /// Bytes of all segments of a flow's list.
    pub fn list_bytes(&self, flow: u16) -> u64 {
        let (count, _) = self.list(flow);
        let sizes = (0..count).map(|slot| u64::from(self.segment_bytes(flow, slot)));
        sizes.sum()
    }

    /// Buffers start at any alignment below that many bytes; 0: all at the same.
    pub fn shift_bytes(&self) -> usize {
        match self.order {
            Order::InOrder => 0,
            Order::Random => 64,
        }
    }

    /// Segments that flow `flow` keeps posted, and log2 entries of its list.
    pub fn list(&self, flow: u16) -> (usize, u8) {
        let committed = SEGMENTS_COMMITTED_BITS as u8;
        match self.order {
            Order::InOrder => (1 << committed, committed),
            Order::Random if self.has_long_list(flow) => (1000, 10),
            Order::Random => {
                // A window of packets, one long segment more, and some to be posted again.
                let window = ORDER_WINDOW * self.payload_bytes(false) + (64 << 10);
                let count = (window / (34 << 10) + 4).max(1 << committed);
                (count, count.next_power_of_two().trailing_zeros() as u8)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_is_what_headers_leave() {
        let mtu = Scenario::new(Size::Mtu(1500));
        assert_eq!((mtu.payload_bytes(false), mtu.payload_bytes(true)), (1448, 1428));
        assert_eq!(mtu.frame_bytes(), 1518);
        let small = Scenario::new(Size::Frame(64));
        assert_eq!(small.payload_bytes(false), 0);
        let frame = Scenario::new(Size::Frame(128));
        assert_eq!((frame.payload_bytes(false), frame.payload_bytes(true)), (70, 50));
    }

    /// The longest lists wrap as often as the others, and both IP versions have some.
    #[test]
    fn long_list_flows_have_more_turns() {
        let scenario = Scenario {
            flows: 256,
            order: Order::Random,
            family: Family::Mixed,
            ..Scenario::new(Size::Mtu(1500))
        };
        let long: Vec<u16> = (0..256).filter(|it| scenario.has_long_list(*it)).collect();
        assert!(long.iter().any(|it| scenario.is_ipv6(*it)));
        assert!(long.iter().any(|it| !scenario.is_ipv6(*it)));
        let passes = |flow| f64::from(scenario.turns(flow)) / scenario.list_bytes(flow) as f64;
        assert!(long.iter().all(|it| passes(*it) > 0.9 * passes(1)));
        assert_eq!(scenario.list(long[1]).0, 1000);
    }

    #[test]
    fn a_sweep_has_every_size_once() {
        let scenario = Scenario::new(Size::Sweep(64, 9216));
        assert_eq!(scenario.sizes(), 9153);
        let payloads: Vec<usize> = (0..9154).map(|it| scenario.payload_of(it, false)).collect();
        assert_eq!((payloads[0], payloads[9152], payloads[9153]), (6, 9158, 6));
        assert!(payloads[..9153].is_sorted_by(|one, next| one + 1 == *next));
    }
}
