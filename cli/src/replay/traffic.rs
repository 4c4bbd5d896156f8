//! The capture, sorted: what goes into the card, what comes out of it, where each stream begins.
//!
//! ```text
//!   capture ─► Frames ─ setup ─► Traffic: incoming, outgoing
//!                └─────────────► learn: a setup
//! ```
//! A packet of a flow goes the way that its addresses say. Any other frame from the card's Ethernet
//! address is outgoing. Where that address tells nothing (a header that was made, or both ends have
//! one address), the IP address decides. All else is incoming.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use abi::config::{FRAME_BYTES_MAX, FRAME_BYTES_MIN};
use host::headers::layout::SYN;
use serde::Serialize;
use sim::harness::capture::{read_capture, Captured};

use super::address::CardAddress;
use super::cut::{complete_checksums, cut, mss};
use super::packet::{ip_addresses, Packet};
use super::setup::{FlowSetup, Positions, ReplaySetup};
use super::wire::{
    complete_left, has_wrong_header, restore_length, tcp_checksum_of, Checksum, Restored,
};
use crate::shared::options::UsageError;

/// Ethernet address of the card in headers that are made, if the setup names none.
pub const CARD_ETHERNET: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Ethernet address of all others in headers that are made.
const PEER_ETHERNET: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// A frame and its number in the capture, counted from 1 as Wireshark does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// Number.
    pub number: usize,
    /// The frame without FCS, padded to the shortest length as its sender's MAC does.
    pub bytes: Vec<u8>,
}

/// A frame of the capture that is not replayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its number in the capture, counted from 1 as Wireshark does.
    pub frame: usize,
    /// Why.
    pub reason: String,
}

/// Whole frames of a capture, with the IP length that they had on the wire.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    /// In file order.
    pub frames: Vec<Captured>,
    /// Those that are left out.
    pub skipped: Vec<Skipped>,
    /// What there is to say about the file.
    pub notes: Vec<String>,
    /// Numbers of packets whose IP length was 0, or that had a jumbo option.
    pub restored: HashSet<usize>,
}

/// Sequence number, and largest segment, of SYNs, by source and destination.
type Syns = HashMap<(SocketAddr, SocketAddr), (u32, Option<u16>)>;

/// A capture, sorted.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Frames to the card.
    pub incoming: Vec<Numbered>,
    /// Frames from the card.
    pub outgoing: Vec<Numbered>,
    /// Incoming packets that the capturing host had merged, which are cut again.
    pub packets_cut: usize,
    /// Incoming packets whose checksum was left to a card.
    pub checksums_completed: usize,
    /// Numbers of incoming packets that are cut or completed though their checksum is wrong.
    pub wrong_but_cut: Vec<usize>,
    /// Numbers of incoming frames that are longer than any, and cannot be cut.
    pub too_long: Vec<usize>,
    /// Sequence number, and largest segment, of the first SYNs, by source and destination.
    syns: Syns,
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the card.
    In,
    /// From the card.
    Out,
}

impl Way {
    /// What the card does with what goes this way.
    pub fn verb(self) -> &'static str {
        match self {
            Way::In => "receives",
            Way::Out => "sends",
        }
    }
}

/// Finds the flow that a packet belongs to.
#[derive(Clone, Debug)]
pub struct FlowIndex(HashMap<(SocketAddr, SocketAddr), (usize, Way)>);

impl FlowIndex {
    /// The flows of a setup, by source and destination of their packets.
    pub fn new(setup: &ReplaySetup) -> Self {
        let mut index = HashMap::new();
        for (number, flow) in setup.flows.iter().enumerate() {
            index.insert((flow.local, flow.remote), (number, Way::Out));
        }
        for (number, flow) in setup.flows.iter().enumerate() {
            index.insert((flow.remote, flow.local), (number, Way::In));
        }
        Self(index)
    }

    /// The flow of a packet, and its way.
    pub fn of(&self, packet: &Packet) -> Option<(usize, Way)> {
        let ends = (packet.header.source, packet.header.destination);
        self.0.get(&ends).copied()
    }
}

impl Frames {
    /// Reads a capture of which at least one frame can be replayed.
    pub fn read(path: &Path) -> Result<Frames, UsageError> {
        let at = path.display();
        let capture = read_capture(path).map_err(|error| UsageError(format!("{at}: {error}")))?;
        let skipped = capture
            .skipped
            .into_iter()
            .map(|skipped| Skipped { frame: skipped.number, reason: skipped.reason });
        let mut frames = Frames {
            frames: capture.frames,
            skipped: skipped.collect(),
            notes: capture.notes,
            restored: HashSet::new(),
        };
        if frames.frames.is_empty() {
            let why = "the capture has no frames to replay";
            return Err(nothing(path, why, &frames.skipped));
        }
        frames.restore();
        if frames.frames.is_empty() {
            let why = "the capture has no frames to replay";
            return Err(nothing(path, why, &frames.skipped));
        }
        Ok(frames)
    }

    /// Gives all packets the lengths that they have; those that have none are left out.
    fn restore(&mut self) {
        let (mut of_length, mut of_jumbo) = (0, 0);
        let (restored, skipped) = (&mut self.restored, &mut self.skipped);
        self.frames.retain_mut(|frame| {
            match restore_length(&mut frame.bytes) {
                Ok(Restored::Nothing) => return true,
                Ok(Restored::Length) => of_length += 1,
                Ok(Restored::Jumbo) => of_jumbo += 1,
                Err(reason) => {
                    skipped.push(Skipped { frame: frame.number, reason });
                    return false;
                }
            }
            restored.insert(frame.number);
            true
        });
        self.skipped.sort_by_key(|skipped| skipped.frame);
        if of_length > 0 {
            self.notes.push(format!(
                "Packets with IP length 0, as in front of a card that cuts them: {of_length}. \
                 Their length is that of their frame."
            ));
        }
        if of_jumbo > 0 {
            self.notes.push(format!(
                "Packets with a jumbo option, as in a host with BIG TCP: {of_jumbo}. It is not on \
                 the wire."
            ));
        }
    }
}

/// That nothing of a capture can be replayed, and why.
pub fn nothing(path: &Path, why: &str, skipped: &[Skipped]) -> UsageError {
    let at = path.display();
    UsageError(match skipped {
        [] => format!("{at}: {why}"),
        [first, ..] => format!(
            "{at}: {why}; frames left out: {}, the first one is frame {}: {}",
            skipped.len(),
            first.frame,
            first.reason
        ),
    })
}

impl Traffic {
    /// Sorts the frames of a capture.
    pub fn sort(frames: &Frames, setup: &ReplaySetup) -> Result<Traffic, UsageError> {
        let index = FlowIndex::new(setup);
        let all = &frames.frames;
        let packets: Vec<_> = all.iter().map(|it| Packet::read(&it.bytes)).collect();
        let flows = packets.iter().map(|it| index.of(it.as_ref()?));
        let flows: Vec<_> = flows.collect();
        let card = Card::learn(all, &flows, setup)?;
        let mut traffic = Traffic {
            incoming: Vec::new(),
            outgoing: Vec::new(),
            packets_cut: 0,
            checksums_completed: 0,
            wrong_but_cut: Vec::new(),
            too_long: Vec::new(),
            syns: first_syns(all, &packets),
        };
        for ((frame, packet), flow) in all.iter().zip(&packets).zip(&flows) {
            let way = flow.map_or_else(|| card.way(frame), |(_, way)| way);
            let numbered = card.number_frame(frame, way);
            match way {
                Way::In => {
                    let is_restored = frames.restored.contains(&frame.number);
                    traffic.receive(numbered, packet.as_ref(), is_restored);
                }
                Way::Out => traffic.outgoing.push(numbered),
            }
        }
        Ok(traffic)
    }

    /// Adds an incoming frame as it was on the wire: a host captures packets that its card has
    /// merged, or that another host's card should have cut and completed.
    fn receive(&mut self, mut frame: Numbered, packet: Option<&Packet>, is_restored: bool) {
        let whole = packet.filter(|packet| packet.payload.end <= frame.bytes.len());
        let is_long = frame.bytes.len() > FRAME_BYTES_MAX;
        if let Some(packet) = whole {
            let checksum = tcp_checksum_of(&frame.bytes, packet);
            let is_cut = !packet.payload.is_empty() && (is_long || is_restored);
            let is_wrong = checksum == Checksum::Wrong
                || (is_cut && !is_restored && has_wrong_header(&frame.bytes));
            if is_wrong && (is_cut || is_restored) {
                self.wrong_but_cut.push(frame.number);
            }
            if is_cut {
                let ends = (packet.header.destination, packet.header.source);
                let syn_mss = self.syns.get(&ends).and_then(|syn| syn.1);
                let frames = cut(&frame.bytes, packet, 0, mss(packet, None, syn_mss));
                self.packets_cut += usize::from(frames.len() > 1);
                let number = frame.number;
                let frames = frames.into_iter().map(|bytes| Numbered { number, bytes });
                return self.incoming.extend(frames);
            }
            let is_left = checksum == Checksum::Left && !has_wrong_header(&frame.bytes);
            if is_restored || is_left {
                let completed = complete_checksums(&mut frame.bytes);
                self.checksums_completed += usize::from(completed);
                return self.incoming.push(frame);
            }
        }
        if is_long {
            self.too_long.push(frame.number);
        }
        self.checksums_completed += usize::from(complete_left(&mut frame.bytes));
        self.incoming.push(frame);
    }

    /// What there is to say about the incoming frames, in whole sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let [first, ..] = self.wrong_but_cut[..] {
            let count = self.wrong_but_cut.len();
            notes.push(format!(
                "Packets for a card to cut, or merged by one, whose checksum is wrong: {count}, \
                 the first one is frame {first}. Their frames get right ones: what they had on the \
                 wire is not in the capture."
            ));
        }
        if let [first, ..] = self.too_long[..] {
            let count = self.too_long.len();
            notes.push(format!(
                "Frames of more than {FRAME_BYTES_MAX} bytes that are no TCP packets, so that \
                 nothing says how they were cut: {count}, the first one is frame {first}. The card \
                 drops them."
            ));
        }
        notes
    }

    /// The sequence number of position 0 of a flow, in one direction.
    pub fn base(&self, flow: &FlowSetup, way: Way) -> Result<u32, UsageError> {
        if flow.positions == Positions::Absolute {
            return Ok(0);
        }
        let ends = match way {
            Way::In => (flow.remote, flow.local),
            Way::Out => (flow.local, flow.remote),
        };
        let syn = self.syns.get(&ends).map(|(syn, _)| syn.wrapping_add(1));
        syn.ok_or_else(|| {
            let (name, source) = (&flow.name, ends.0);
            UsageError(format!(
                "flow '{name}': no SYN from {source} in the capture; give absolute positions"
            ))
        })
    }

    /// Sees that the stream of every flow has a beginning.
    pub fn check_bases(&self, setup: &ReplaySetup, way: Way) -> Result<(), UsageError> {
        for flow in &setup.flows {
            self.base(flow, way)?;
            if way == Way::In && flow.acks.is_some() {
                self.base(flow, Way::Out)?;
            }
        }
        Ok(())
    }

    /// The largest segment that the other side of a flow takes, as its SYN says.
    pub fn mss(&self, flow: &FlowSetup) -> Option<u16> {
        self.syns.get(&(flow.remote, flow.local))?.1
    }
}

/// Sequence number, and largest segment, of the first SYN of each direction.
fn first_syns(frames: &[Captured], packets: &[Option<Packet>]) -> Syns {
    let mut syns = HashMap::new();
    for (frame, packet) in frames.iter().zip(packets) {
        if let Some(packet) = packet.as_ref().filter(|it| it.header.flags & SYN != 0) {
            let ends = (packet.header.source, packet.header.destination);
            let syn = (packet.header.sequence, packet.mss(&frame.bytes));
            syns.entry(ends).or_insert(syn);
        }
    }
    syns
}

/// Which frames come from the card.
struct Card<'a> {
    /// Its Ethernet addresses, which no other end of a flow has.
    ethernet: BTreeSet<[u8; 6]>,
    setup: &'a ReplaySetup,
}

impl<'a> Card<'a> {
    /// Takes the addresses of the setup; without any, those in the packets of its flows.
    fn learn(
        frames: &[Captured],
        flows: &[Option<(usize, Way)>],
        setup: &'a ReplaySetup,
    ) -> Result<Self, UsageError> {
        let named = setup.cards.iter().filter_map(|address| match address {
            CardAddress::Ethernet(ethernet) => Some(*ethernet),
            _ => None,
        });
        let mut ethernet: BTreeSet<_> = named.collect();
        if !ethernet.is_empty() {
            return Ok(Self { ethernet, setup });
        }
        if setup.cards.is_empty() && flows.iter().all(Option::is_none) {
            let message = "no packet of any flow in the capture, and no address of the card: give \
                           --card ADDRESS, or other flows";
            return Err(UsageError(message.to_owned()));
        }
        let mut others = BTreeSet::new();
        for (frame, flow) in frames.iter().zip(flows) {
            let Some((_, way)) = flow else { continue };
            let [to, from] = [ethernet_at(frame, 0), ethernet_at(frame, 6)];
            let (own, other) = match way {
                Way::Out => (from, to),
                Way::In => (to, from),
            };
            ethernet.insert(own);
            others.insert(other);
        }
        ethernet.retain(|address| !others.contains(address));
        Ok(Self { ethernet, setup })
    }

    /// The way of a frame that belongs to no flow.
    fn way(&self, frame: &Captured) -> Way {
        let [to, from] = [0, 6].map(|at| self.ethernet.contains(&ethernet_at(frame, at)));
        let is_out = match (from, to) {
            (true, false) => true,
            (false, _) if !frame.is_made && !self.ethernet.is_empty() => false,
            _ => {
                let addresses = ip_addresses(&frame.bytes);
                addresses.is_some_and(|(from, to)| self.has_ip(from) && !self.has_ip(to))
            }
        };
        match is_out {
            true => Way::Out,
            false => Way::In,
        }
    }

    /// The frame as it is on the wire, with the addresses that a header that was made lacks.
    fn number_frame(&self, frame: &Captured, way: Way) -> Numbered {
        let mut bytes = frame.bytes.clone();
        if frame.is_made {
            let own = self.ethernet.first().copied().unwrap_or(CARD_ETHERNET);
            let (to, from) = match way {
                Way::In => (own, PEER_ETHERNET),
                Way::Out => (PEER_ETHERNET, own),
            };
            bytes[..6].copy_from_slice(&to);
            bytes[6..12].copy_from_slice(&from);
        }
        bytes.resize(bytes.len().max(FRAME_BYTES_MIN), 0);
        Numbered { number: frame.number, bytes }
    }

    /// Whether an IP address is the card's.
    fn has_ip(&self, ip: IpAddr) -> bool {
        let named = self.setup.cards.iter().any(|card| card.has_ip(ip));
        named || self.setup.flows.iter().any(|flow| flow.local.ip() == ip)
    }
}

/// The Ethernet address at a byte of a frame: 0 its receiver's, 6 its sender's.
pub fn ethernet_at(frame: &Captured, at: usize) -> [u8; 6] {
    let mut address = [0; 6];
    address.copy_from_slice(&frame.bytes[at..at + 6]);
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Ethernet address tells more than the IP address, which a router keeps.
    #[test]
    fn other_port_is_incoming_unless_header_made() {
        let (own, other) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        let setup = ReplaySetup {
            cards: vec![CardAddress::Ethernet(CARD_ETHERNET), CardAddress::Ip(own.into())],
            regions: Vec::new(),
            flows: Vec::new(),
        };
        let card = Card::learn(&[], &[], &setup).expect("it has addresses");
        let way = |is_made| {
            let mut bytes = vec![4; 12];
            bytes.extend([8, 0, 0x45]);
            bytes.extend([0; 11]);
            bytes.extend(own.iter().chain(&other));
            card.way(&Captured {
                number: 1,
                interface: 0,
                time_ns: 0,
                bytes,
                is_made,
                is_sent: None,
            })
        };
        assert_eq!((way(false), way(true)), (Way::In, Way::Out));
    }
}
