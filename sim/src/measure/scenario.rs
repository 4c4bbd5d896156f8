//! What is measured: directions, sizes, flows, order, acknowledgements, time.

use abi::config::{
    DEFAULT, FRAME_BYTES_MAX, FRAME_BYTES_MIN, SEGMENTS_COMMITTED_BITS, SLOT_HEADER_BYTES, SMALL,
};
use abi::send_descriptor::PAYLOAD_BYTES;
use ip::board::CompletionBuffer;
use pcie_sim::PcieConfig;

use super::frames::{header_bytes, ETHERNET_BYTES};
use super::load::{link_is_short, link_over_wire, PURE_ACKS_RESERVE};
use crate::mac::FCS_BYTES;

/// Packets of a flow that are permuted among each other.
pub const ORDER_WINDOW: usize = 64;

/// How large packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Full TCP segments with timestamps in packets of that many bytes. Nothing may be lost, but
    /// where the link carries less than the wire.
    Mtu(u32),
    /// Frames of that many bytes, FCS included, without timestamps, at wire speed whether or not
    /// the card keeps up; 64-byte frames are pure ACKs. What the header queue has no room for is
    /// lost.
    Frame(u32),
    /// The same of every size from the first to the second, one after the other; only received.
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
    /// Packets of a flow that are sent only together.
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

/// A second owner, whose frames share the wire. What becomes of them must not touch the first's.
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
    /// behind the last of them.
    Pure,
}

/// Until an acknowledgement without a frame arrives.
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
    /// Slot.
    pub pcie: PcieConfig,
    /// Packets.
    pub size: Size,
    /// Flows, used round robin.
    pub flows: u16,
    /// Every other flow belongs to a second owner; figures are the first's.
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
    /// Seed of contents, positions and order.
    pub seed: u64,
}

/// A combination that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadScenario(pub String);

impl Scenario {
    /// The stated model: default card, PCIe 3.0 x16, one flow in order, a millisecond.
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
            seed: 1,
        }
    }

    /// Whether flow number `flow` is IPv6.
    pub fn is_ipv6(&self, flow: u16) -> bool {
        self.family == Family::Mixed && !flow.is_multiple_of(2)
    }

    /// Whose flow number `flow` is.
    pub fn owner(&self, flow: u16) -> u8 {
        match self.rival {
            Some(_) => u8::from(!flow.is_multiple_of(2)),
            None => 0,
        }
    }

    /// Turns of flow number `flow` for each one of the others: as many more as its list is longer,
    /// so that all wrap in the same time.
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

    /// Whether frames may be lost where the header queue is full.
    pub fn may_lose(&self) -> bool {
        self.fills_wire() || link_is_short(self)
    }

    /// Whether the wire is filled whether or not the card keeps up.
    pub(super) fn fills_wire(&self) -> bool {
        matches!(self.size, Size::Frame(_) | Size::Sweep(..))
    }

    /// Sizes that take turns: one, or those of a sweep.
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

    /// Longest frame that goes out of the send ring whole.
    pub fn inline_max(&self) -> usize {
        match self.size {
            Size::Frame(_) => SLOT_HEADER_BYTES,
            Size::Mtu(_) | Size::Sweep(..) => 0,
        }
    }

    /// Whether packets of an IP version lie in the send ring whole.
    pub fn is_inline(&self, is_ipv6: bool) -> bool {
        let headers = header_bytes(is_ipv6, self.timestamps());
        headers + self.payload_bytes(is_ipv6) <= self.inline_max()
    }

    /// Whether every packet does.
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
                // A window of packets, one long segment more, and some to be posted anew.
                let window = ORDER_WINDOW * self.payload_bytes(false) + (64 << 10);
                let count = (window / (34 << 10) + 4).max(1 << committed);
                (count, count.next_power_of_two().trailing_zeros() as u8)
            }
        }
    }

    /// Checks that sizes lie inside what the card and the wire can have.
    pub fn check(&self) -> Result<(), BadScenario> {
        let refuse = |text: String| Err(BadScenario(text));
        if !self.receive && !self.send {
            return refuse("neither direction is measured".to_owned());
        }
        match self.size {
            Size::Mtu(bytes) if !(576..=9000).contains(&bytes) => {
                return refuse(format!("an MTU of {bytes} is not in 576 to 9000"));
            }
            Size::Frame(bytes) if !(64..=FRAME_BYTES_MAX as u32).contains(&bytes) => {
                return refuse(format!("frames of {bytes} bytes are not in 64 to 9216"));
            }
            Size::Sweep(first, last) => {
                if first < 64 || last > FRAME_BYTES_MAX as u32 || first > last {
                    return refuse(format!("frames of {first}-{last} bytes are not in 64-9216"));
                }
                if self.send {
                    return refuse("several sizes in turn are only received".to_owned());
                }
            }
            _ => {}
        }
        if self.flows == 0 || self.flows > 16_384 {
            return refuse(format!("{} flows are not in 1 to 16384", self.flows));
        }
        self.check_tables()?;
        if self.order == Order::Random && self.flows > 256 {
            return refuse(format!(
                "{} flows are too many for lists beyond 8",
                self.flows
            ));
        }
        if self.order == Order::Random && self.fills_wire() {
            return refuse("frames that may be lost are measured in order".to_owned());
        }
        if self.rival.is_some() {
            // Frames without payload: no window stands still with what its owner does not take.
            if self.send || self.size != Size::Frame(64) {
                return refuse("owners compete for received frames of 64 bytes".to_owned());
            }
            if !self.flows.is_multiple_of(2) {
                return refuse(format!("{} flows do not make two owners", self.flows));
            }
        }
        let buffer = CompletionBuffer {
            headers: self.pcie.completion_headers,
            data: self.pcie.completion_data,
        };
        if !buffer.is_supported() {
            return refuse(format!(
                "no card is built for a completion buffer of {} headers and {} times 16 bytes",
                buffer.headers, buffer.data
            ));
        }
        for burst in [self.burst, self.send_burst] {
            if burst == 0 || burst > 64 {
                return refuse(format!("bursts of {burst} packets are not in 1 to 64"));
            }
        }
        self.check_payload()?;
        let is_pure = self.receive && self.send && self.acks == Acks::Pure;
        if is_pure && link_over_wire(self) < PURE_ACKS_RESERVE {
            let bytes = self.frame_bytes();
            return refuse(format!(
                "frames of {bytes} bytes both ways are as much as the link carries or more, and \
                 pure ACKs would be lost with them: no limit can be stated; let ACKs ride in data"
            ));
        }
        Ok(())
    }

    /// Checks that the card's tables take the flows, each with a region for each direction.
    fn check_tables(&self) -> Result<(), BadScenario> {
        let Some(sizes) = [DEFAULT, SMALL].into_iter().find(|it| it.name == self.card) else {
            return Ok(());
        };
        let (flows, name) = (u32::from(self.flows), &self.card);
        let regions = flows * (u32::from(self.receive) + u32::from(self.send));
        for (what, needed, bits) in [
            ("flows", flows, sizes.flow_bits),
            (
                "regions, one for each flow and direction,",
                regions,
                sizes.region_bits,
            ),
        ] {
            let limit = 1 << bits;
            if needed > limit {
                let text = format!("{needed} {what} are too many: the {name} card has {limit}");
                return Err(BadScenario(text));
            }
        }
        Ok(())
    }

    /// Checks what packets carry: a descriptor's sum, and that none is to carry less than nothing.
    fn check_payload(&self) -> Result<(), BadScenario> {
        let together = u64::from(self.send_burst) * self.payload_bytes(false) as u64;
        let most = PAYLOAD_BYTES.max();
        if self.send && self.order == Order::InOrder && together > most {
            let burst = self.send_burst;
            return Err(BadScenario(format!(
                "a descriptor of {burst} packets has {together} bytes of payload; at most {most}"
            )));
        }
        let least = (header_bytes(true, self.timestamps()) + 1) as u64 + FCS_BYTES;
        let bytes = match self.size {
            Size::Sweep(first, _) => u64::from(first),
            _ => self.frame_bytes() as u64,
        };
        if bytes < least && (0..self.flows).any(|flow| self.is_ipv6(flow)) {
            return Err(BadScenario(format!(
                "an IPv6 frame with payload has at least {least} bytes, not {bytes}"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_is_what_headers_leave() {
        let mtu = Scenario::new(Size::Mtu(1500));
        assert_eq!(
            (mtu.payload_bytes(false), mtu.payload_bytes(true)),
            (1448, 1428)
        );
        assert_eq!(mtu.frame_bytes(), 1518);
        let small = Scenario::new(Size::Frame(64));
        assert_eq!(small.payload_bytes(false), 0);
        let frame = Scenario::new(Size::Frame(128));
        assert_eq!(
            (frame.payload_bytes(false), frame.payload_bytes(true)),
            (70, 50)
        );
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let mut scenario = Scenario::new(Size::Mtu(1500));
        assert!(scenario.check().is_err());
        scenario.receive = true;
        assert_eq!(scenario.check(), Ok(()));
        scenario.size = Size::Mtu(9001);
        assert!(scenario.check().is_err());
        scenario.size = Size::Frame(63);
        assert!(scenario.check().is_err());
        scenario.size = Size::Frame(64);
        assert_eq!(scenario.check(), Ok(()));
        scenario.pcie.completion_headers = 128;
        assert_eq!(scenario.check(), Ok(()));
        // Not even the largest read would fit, or more than the card can count.
        for headers in [7, 257] {
            scenario.pcie.completion_headers = headers;
            assert!(scenario.check().is_err());
        }
        scenario.pcie.completion_headers = 256;
        scenario.order = Order::Random;
        assert!(scenario.check().is_err());
        scenario.order = Order::InOrder;
        // One flow cannot belong to two owners.
        scenario.rival = Some(Rival::Greedy);
        assert!(scenario.check().is_err());
        scenario.flows = 2;
        assert_eq!(scenario.check(), Ok(()));
        assert_eq!([0, 1].map(|flow| scenario.burst_of(flow)), [1, 3]);
        scenario.size = Size::Frame(128);
        assert!(scenario.check().is_err());
    }

    #[test]
    fn a_descriptor_holds_no_more_than_its_field_says() {
        let mut scenario = Scenario::new(Size::Mtu(9000));
        scenario.send = true;
        scenario.send_burst = 29;
        assert_eq!(scenario.check(), Ok(()));
        scenario.send_burst = 30;
        let bad = scenario.check().expect_err("268440 bytes").to_string();
        assert!(bad.contains("268440") && bad.contains("262143"), "{bad}");
        // Each packet has a descriptor of its own.
        scenario.order = Order::Random;
        assert_eq!(scenario.check(), Ok(()));
    }

    #[test]
    fn acks_that_would_be_lost_have_no_limit() {
        for (size, is_right) in [
            (Size::Frame(128), false),
            (Size::Frame(1518), true),
            (Size::Mtu(576), false),
            // Measured: some are lost.
            (Size::Mtu(640), false),
            (Size::Mtu(850), true),
            (Size::Mtu(1500), true),
            (Size::Mtu(9000), true),
        ] {
            let scenario = Scenario {
                receive: true,
                send: true,
                send_burst: 7,
                acks: Acks::Pure,
                ..Scenario::new(size)
            };
            assert_eq!(scenario.check().is_ok(), is_right, "{size:?}");
        }
    }

    #[test]
    fn a_card_takes_as_many_flows_as_it_has_entries_for() {
        let mut scenario = Scenario::new(Size::Mtu(1500));
        (scenario.receive, scenario.flows) = (true, 16_384);
        assert_eq!(scenario.check(), Ok(()));
        scenario.send = true;
        assert_eq!(scenario.check(), Ok(()));
        (scenario.card, scenario.flows) = ("small".to_owned(), 65);
        let bad = scenario.check().expect_err("65 flows").to_string();
        assert!(bad.contains("65 flows") && bad.contains("64"), "{bad}");
        scenario.flows = 33;
        let bad = scenario.check().expect_err("66 regions").to_string();
        assert!(bad.contains("66 regions") && bad.contains("64"), "{bad}");
        scenario.flows = 32;
        assert_eq!(scenario.check(), Ok(()));
    }

    #[test]
    fn frames_too_short_for_ipv6_are_refused() {
        let mut scenario = Scenario::new(Size::Frame(78));
        scenario.receive = true;
        scenario.family = Family::Mixed;
        // The first flow is IPv4.
        assert_eq!(scenario.check(), Ok(()));
        scenario.flows = 2;
        let bad = scenario.check().expect_err("no payload").to_string();
        assert!(bad.contains("78") && bad.contains("79"), "{bad}");
        scenario.size = Size::Frame(79);
        assert_eq!(scenario.check(), Ok(()));
        assert_eq!(scenario.payload_bytes(true), 1);
    }

    /// The longest lists wrap as often as the others, and both IP versions have some.
    #[test]
    fn flows_with_long_lists_have_more_turns() {
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
