//! The link addresses of the machines on the wire: asked for by ARP and NDP, and told.
//!
//! ```text
//!   mac_of(ip) ── next hop ──► known? ─┬─ yes ─► its address
//!                                      └─ no ──► asked now, after 1 s and after 2 s
//!   arrive_frame ─┬─ an answer that was asked for ──► known
//!                 └─ a question for one of ours ────► answered, and who asks is known
//! ```
//! Invariants
//! 1. An answer that nobody asked for changes nothing; a question changes only who asks.
//! 2. At most [`KNOWN_MAX`] are known, and as many are asked for: what would be one more is not.
//! 3. At most [`FRAMES_MAX`] frames wait to be sent: one more is left out, and whoever it was for
//!    asks again.
//!
//! Sources: RFC 826 (ARP); RFC 4861, 4.3, 4.4 and 7.2 (NDP), with smoltcp's reading and writing.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol,
    EthernetRepr, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Packet, Ipv6Repr, NdiscNeighborFlags,
    NdiscRepr, RawHardwareAddress,
};

use crate::transport::{InterfaceAddress, LinkConfig};

/// Most neighbours that are known.
pub const KNOWN_MAX: usize = 1024;
/// Most questions and answers that wait for the send ring.
pub const FRAMES_MAX: usize = 64;
/// Between two questions for the same one.
const AGAIN_NS: u64 = 1_000_000_000;
const QUESTIONS_MAX: u32 = 3;
const ETHERNET_BYTES: usize = 14;
/// Shortest frame, without frame check sequence.
const FRAME_BYTES_MIN: usize = 60;
/// What NDP demands, so that nothing came by a router (RFC 4861, 7.1).
const NDP_HOPS: u8 = 255;

/// A question that is not answered.
#[derive(Clone, Copy, Debug)]
struct Question {
    again_ns: u64,
    asked: u32,
}

/// See the head of this file.
#[derive(Debug)]
pub(super) struct Neighbours {
    mac: [u8; 6],
    addresses: Vec<InterfaceAddress>,
    gateways: Vec<IpAddr>,
    known: HashMap<IpAddr, [u8; 6]>,
    questions: HashMap<IpAddr, Question>,
    frames: VecDeque<Vec<u8>>,
}

/// Whether two addresses begin with the same bits.
fn is_on_link(own: &InterfaceAddress, other: IpAddr) -> bool {
    match (own.address, other) {
        (IpAddr::V4(own_v4), IpAddr::V4(other)) => {
            let shift = 32 - u32::from(own.prefix_bits.min(32));
            u32::from(own_v4).checked_shr(shift) == u32::from(other).checked_shr(shift)
        }
        (IpAddr::V6(own_v6), IpAddr::V6(other)) => {
            let shift = 128 - u32::from(own.prefix_bits.min(128));
            u128::from(own_v6).checked_shr(shift) == u128::from(other).checked_shr(shift)
        }
        _ => false,
    }
}

impl Neighbours {
    pub fn new(link: &LinkConfig) -> Self {
        Self {
            mac: link.mac,
            addresses: link.addresses.clone(),
            gateways: link.gateways.clone(),
            known: HashMap::new(),
            questions: HashMap::new(),
            frames: VecDeque::new(),
        }
    }

    pub fn is_ours(&self, address: IpAddr) -> bool {
        self.addresses.iter().any(|own| own.address == address)
    }

    /// The own address from which another one is reached.
    pub fn local_for(&self, remote: IpAddr) -> Option<IpAddr> {
        let of_family = |own: &&InterfaceAddress| own.address.is_ipv4() == remote.is_ipv4();
        let on_link = self.addresses.iter().find(|own| is_on_link(own, remote));
        let by_gateway = || {
            let has_gateway = self.gateways.iter().any(|it| it.is_ipv4() == remote.is_ipv4());
            self.addresses.iter().find(of_family).filter(|_| has_gateway)
        };
        on_link.or_else(by_gateway).map(|own| own.address)
    }

    /// The machine to which a packet goes next.
    fn next_hop(&self, remote: IpAddr) -> Option<IpAddr> {
        match self.addresses.iter().any(|own| is_on_link(own, remote)) {
            true => Some(remote),
            false => self.gateways.iter().find(|it| it.is_ipv4() == remote.is_ipv4()).copied(),
        }
    }

    /// The link address for packets to an address; asks for it if it is not known.
    pub fn mac_of(&mut self, now_ns: u64, remote: IpAddr) -> Option<[u8; 6]> {
        let next = self.next_hop(remote)?;
        if let Some(mac) = self.known.get(&next) {
            return Some(*mac);
        }
        if !self.questions.contains_key(&next) && self.questions.len() < KNOWN_MAX {
            self.questions.insert(next, Question { again_ns: now_ns, asked: 0 });
            self.advance(now_ns);
        }
        None
    }

    /// Asks again where it is time, and gives up in the end: the next packet begins anew.
    pub fn advance(&mut self, now_ns: u64) {
        let mut asked = Vec::new();
        self.questions.retain(|address, question| {
            if question.again_ns > now_ns {
                return true;
            }
            question.again_ns = now_ns + AGAIN_NS;
            question.asked += 1;
            asked.extend((question.asked <= QUESTIONS_MAX).then_some(*address));
            question.asked <= QUESTIONS_MAX
        });
        for address in asked {
            self.ask(address);
        }
    }

    /// Whether the link address for packets to an address is known.
    pub fn is_known(&self, remote: IpAddr) -> bool {
        self.next_hop(remote).is_some_and(|next| self.known.contains_key(&next))
    }

    /// Whether somebody may still answer for an address.
    pub fn is_asked(&self, remote: IpAddr) -> bool {
        self.next_hop(remote).is_some_and(|next| self.questions.contains_key(&next))
    }

    pub fn deadline_ns(&self) -> Option<u64> {
        match self.frames.is_empty() {
            true => self.questions.values().map(|question| question.again_ns).min(),
            false => Some(0),
        }
    }

    /// The next frame to be sent.
    pub fn frame(&mut self) -> Option<Vec<u8>> {
        self.frames.pop_front()
    }

    fn learn(&mut self, address: IpAddr, mac: [u8; 6]) {
        let has_place = self.known.len() < KNOWN_MAX || self.known.contains_key(&address);
        let is_one = mac[0] & 1 == 0 && self.addresses.iter().any(|own| is_on_link(own, address));
        if has_place && is_one {
            self.questions.remove(&address);
            self.known.insert(address, mac);
        }
    }

    fn learn_answer(&mut self, address: IpAddr, mac: [u8; 6]) {
        if self.questions.contains_key(&address) {
            self.learn(address, mac);
        }
    }

    fn ask(&mut self, address: IpAddr) {
        let own = self.addresses.iter().find(|own| is_on_link(own, address)).map(|own| own.address);
        match (own, address) {
            (Some(IpAddr::V4(own)), IpAddr::V4(target)) => self.send_arp(
                ArpOperation::Request,
                (own, EthernetAddress(self.mac)),
                (target, EthernetAddress([0; 6])),
                EthernetAddress::BROADCAST,
            ),
            (Some(IpAddr::V6(own)), IpAddr::V6(target)) => {
                let group = solicited_node(target);
                let lladdr = Some(RawHardwareAddress::from(EthernetAddress(self.mac)));
                let solicit = NdiscRepr::NeighborSolicit { target_addr: target, lladdr };
                self.send_ndp(solicit, own, group, multicast_mac(group));
            }
            _ => {}
        }
    }

    fn send_arp(
        &mut self,
        operation: ArpOperation,
        source: (std::net::Ipv4Addr, EthernetAddress),
        target: (std::net::Ipv4Addr, EthernetAddress),
        to: EthernetAddress,
    ) {
        let arp = ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: source.1,
            source_protocol_addr: source.0,
            target_hardware_addr: target.1,
            target_protocol_addr: target.0,
        };
        let mut frame = self.ethernet(to, EthernetProtocol::Arp, arp.buffer_len());
        arp.emit(&mut ArpPacket::new_unchecked(&mut frame[ETHERNET_BYTES..]));
        self.push(frame);
    }

    fn send_ndp(&mut self, ndp: NdiscRepr<'_>, from: Ipv6Addr, to: Ipv6Addr, mac: [u8; 6]) {
        let message = Icmpv6Repr::Ndisc(ndp);
        let ip = Ipv6Repr {
            src_addr: from,
            dst_addr: to,
            next_header: IpProtocol::Icmpv6,
            payload_len: message.buffer_len(),
            hop_limit: NDP_HOPS,
        };
        let bytes = ip.buffer_len() + message.buffer_len();
        let mut frame = self.ethernet(EthernetAddress(mac), EthernetProtocol::Ipv6, bytes);
        let mut packet = Ipv6Packet::new_unchecked(&mut frame[ETHERNET_BYTES..]);
        ip.emit(&mut packet);
        let mut icmp = Icmpv6Packet::new_unchecked(packet.payload_mut());
        message.emit(&from, &to, &mut icmp, &ChecksumCapabilities::default());
        self.push(frame);
    }

    fn push(&mut self, frame: Vec<u8>) {
        if self.frames.len() < FRAMES_MAX {
            self.frames.push_back(frame);
        }
    }

    /// A frame of zeros behind its Ethernet header, as long as any must be.
    fn ethernet(&self, to: EthernetAddress, ethertype: EthernetProtocol, bytes: usize) -> Vec<u8> {
        let mut frame = vec![0; (ETHERNET_BYTES + bytes).max(FRAME_BYTES_MIN)];
        let header = EthernetRepr { src_addr: EthernetAddress(self.mac), dst_addr: to, ethertype };
        header.emit(&mut EthernetFrame::new_unchecked(&mut frame[..]));
        frame
    }

    /// A frame that is no packet of a connection.
    pub fn arrive_frame(&mut self, bytes: &[u8]) {
        let Ok(frame) = EthernetFrame::new_checked(bytes) else { return };
        match frame.ethertype() {
            EthernetProtocol::Arp => self.arrive_arp(frame.payload()),
            EthernetProtocol::Ipv6 => self.arrive_ndp(frame.payload()),
            _ => {}
        }
    }

    fn arrive_arp(&mut self, bytes: &[u8]) {
        let arp = ArpPacket::new_checked(bytes).and_then(|packet| ArpRepr::parse(&packet));
        let Ok(ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: mac,
            source_protocol_addr: source,
            target_protocol_addr: target,
            ..
        }) = arp
        else {
            return;
        };
        match operation {
            ArpOperation::Reply => self.learn_answer(source.into(), mac.0),
            ArpOperation::Request if self.is_ours(target.into()) => {
                self.learn(source.into(), mac.0);
                let own = (target, EthernetAddress(self.mac));
                self.send_arp(ArpOperation::Reply, own, (source, mac), mac);
            }
            _ => {}
        }
    }

    fn arrive_ndp(&mut self, bytes: &[u8]) {
        let Ok(packet) = Ipv6Packet::new_checked(bytes) else { return };
        if packet.next_header() != IpProtocol::Icmpv6 || packet.hop_limit() != NDP_HOPS {
            return;
        }
        let (from, to) = (packet.src_addr(), packet.dst_addr());
        let Ok(icmp) = Icmpv6Packet::new_checked(packet.payload()) else { return };
        let checked = ChecksumCapabilities::default();
        let Ok(Icmpv6Repr::Ndisc(ndp)) = Icmpv6Repr::parse(&from, &to, &icmp, &checked) else {
            return;
        };
        match ndp {
            NdiscRepr::NeighborAdvert { target_addr, lladdr: Some(mac), .. } => {
                if let Some(mac) = ethernet_of(&mac) {
                    self.learn_answer(target_addr.into(), mac);
                }
            }
            NdiscRepr::NeighborSolicit { target_addr, lladdr: Some(mac) }
                if self.is_ours(target_addr.into()) =>
            {
                let Some(mac) = ethernet_of(&mac) else { return };
                self.learn(from.into(), mac);
                let own = RawHardwareAddress::from(EthernetAddress(self.mac));
                let flags = NdiscNeighborFlags::SOLICITED | NdiscNeighborFlags::OVERRIDE;
                let advert = NdiscRepr::NeighborAdvert { flags, target_addr, lladdr: Some(own) };
                self.send_ndp(advert, target_addr, from, mac);
            }
            _ => {}
        }
    }
}

fn ethernet_of(address: &RawHardwareAddress) -> Option<[u8; 6]> {
    address.as_bytes().try_into().ok()
}

/// The group in which an address is asked for (RFC 4291, 2.7.1).
fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    let [.., a, b, c] = address.octets();
    let last = (u16::from(b) << 8) | u16::from(c);
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), last)
}

/// The link address of a group (RFC 2464, 7).
fn multicast_mac(group: Ipv6Addr) -> [u8; 6] {
    let [.., a, b, c, d] = group.octets();
    [0x33, 0x33, a, b, c, d]
}
