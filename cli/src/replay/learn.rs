//! A setup from the capture alone: its connections, which side is the card, memory for their bytes.
//!
//! ```text
//!   frames ─► connections, a stream each way ─► the card's side ─► the largest ─► flows, segments
//! ```
//! The card is, in this order: an address of `--card`; the host that the capture says has sent the
//! packets, and not received and passed them on; the address that receives most payload (when
//! sending: sends most); the one that answers the SYN; the receiver of the first packet. A side of
//! which nothing goes the wanted way is not taken: the others are. Without a connection it is the
//! Ethernet address that receives (sends) most.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};

use abi::config::FLOW_REACH_BYTES;
use host::driver::bus::MemoryKind;
use host::headers::layout::{ACK, SYN};
use serde::Serialize;
use sim::harness::capture::Captured;

use super::address::CardAddress;
use super::packet::{ip_addresses, Packet};
use super::setup::{
    Accept, FlowSetup, Positions, RegionSetup, ReplaySetup, SegmentSetup, GUARD, REGION_BYTES_MAX,
};
use super::traffic::{ethernet_at, Way, CARD_ETHERNET};
use crate::shared::options::UsageError;

/// A packet that lies farther ahead of its stream than any window, bytes, has a damaged number.
const AHEAD_BYTES_MAX: i64 = 64 << 20;
/// Bytes between two segments, which keep their guard.
const BETWEEN_BYTES: u64 = 64;
/// The name of the region.
const REGION: &str = "memory";

/// The connections of a capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Connections {
    /// All.
    pub found: usize,
    /// Those that became flows.
    pub taken: usize,
    /// Those beyond the flow table of the card.
    pub beyond_the_table: usize,
    /// Those without an address of `--card`.
    pub of_others: usize,
}

/// An address of the card, and why it is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardSide {
    /// IP address, or that of Ethernet where there is no connection.
    pub address: String,
    /// Why.
    pub why: String,
}

/// A setup, and what led to it.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The setup.
    pub setup: ReplaySetup,
    /// The card's addresses.
    pub card: Vec<CardSide>,
    /// The connections.
    pub connections: Connections,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct LearnOptions<'a> {
    /// The way of the payload that gets memory.
    pub way: Way,
    /// Addresses of the card; none: to be learned.
    pub cards: &'a [CardAddress],
    /// Flows that the card has.
    pub flows_max: usize,
}

/// What a stream begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Start {
    /// Payload, or nothing yet.
    #[default]
    Payload,
    /// The first SYN of that side: positions count from it.
    Syn,
    /// A later SYN, with another number, of a connection that was tried again.
    LaterSyn,
}

/// The bytes that one side of a connection sends.
#[derive(Clone, Debug, Default)]
struct Stream {
    start: Start,
    /// Sequence number of position 0.
    base: u32,
    /// Positions of the payload.
    positions: Option<(i64, i64)>,
    payload_bytes: u64,
    packets: usize,
    /// Packets that the capture says its host has sent.
    sent: usize,
    /// Packets that the capture says its host has received.
    received: usize,
}

/// A TCP connection.
#[derive(Clone, Debug)]
struct Connection {
    /// Its ends; the first one has sent the first packet.
    ends: [SocketAddr; 2],
    /// Their Ethernet addresses in the first packet.
    ethernet: [[u8; 6]; 2],
    /// What each end sends.
    streams: [Stream; 2],
    /// The end that answers the SYN.
    listener: Option<usize>,
    /// The frame with which another connection of the same ends begins.
    again: Option<usize>,
}

impl Stream {
    fn note(&mut self, sequence: u32, bytes: usize) {
        let bytes = bytes as i64;
        self.payload_bytes += bytes as u64;
        let Some((low, high)) = self.positions else {
            let mut position = i64::from(sequence.wrapping_sub(self.base) as i32);
            if self.start == Start::Payload {
                (self.base, position) = (sequence, 0);
            }
            if (0..=AHEAD_BYTES_MAX).contains(&position) {
                self.positions = Some((position, position + bytes));
            }
            return;
        };
        let top = self.base.wrapping_add(high as u32);
        let position = high + i64::from(sequence.wrapping_sub(top) as i32);
        if position - high <= AHEAD_BYTES_MAX && low - position <= AHEAD_BYTES_MAX {
            self.positions = Some((low.min(position), high.max(position + bytes)));
        }
    }

    /// Whether the capture says that its host has made these packets.
    fn is_own(&self) -> bool {
        self.sent > 0 && self.received == 0
    }

    /// The floor and the bytes from it on that a setup has memory for. Positions are relative where
    /// there is a SYN.
    fn span(&self) -> (Positions, u64, u64) {
        let (mut low, high) = self.positions.unwrap_or((0, 0));
        match self.start {
            Start::Syn => return (Positions::Relative, 0, high.max(0) as u64),
            Start::LaterSyn => low = 0,
            Start::Payload => {}
        }
        let floor = self.base.wrapping_add(low as u32);
        (Positions::Absolute, floor.into(), (high - low).max(0) as u64)
    }
}

/// The connections of the frames, in the order of their first packets.
fn connections(frames: &[Captured]) -> Vec<Connection> {
    let mut all: Vec<Connection> = Vec::new();
    let mut index: HashMap<[SocketAddr; 2], usize> = HashMap::new();
    for frame in frames {
        let Some(packet) = Packet::read(&frame.bytes) else { continue };
        let ends = [packet.header.source, packet.header.destination];
        let mut key = ends;
        key.sort_unstable();
        let number = *index.entry(key).or_insert_with(|| {
            all.push(Connection {
                ends,
                ethernet: [6, 0].map(|at| ethernet_at(frame, at)),
                streams: Default::default(),
                listener: None,
                again: None,
            });
            all.len() - 1
        });
        let connection = &mut all[number];
        let from = usize::from(connection.ends[0] != ends[0]);
        connection.note(frame, &packet, from);
    }
    all
}

impl Connection {
    fn note(&mut self, frame: &Captured, packet: &Packet, from: usize) {
        let header = &packet.header;
        let has_payload = self.streams.iter().any(|it| it.positions.is_some());
        let stream = &mut self.streams[from];
        stream.packets += 1;
        stream.sent += usize::from(frame.is_sent == Some(true));
        stream.received += usize::from(frame.is_sent == Some(false));
        if self.again.is_some() {
            return;
        }
        if header.flags & SYN != 0 {
            let base = header.sequence.wrapping_add(1);
            let is_first = stream.start == Start::Payload && stream.positions.is_none();
            if is_first {
                (stream.base, stream.start) = (base, Start::Syn);
            } else if stream.base != base {
                if has_payload {
                    self.again = Some(frame.number);
                    return;
                }
                (stream.base, stream.start) = (base, Start::LaterSyn);
            }
            if header.flags & ACK != 0 {
                self.listener = Some(from);
            } else {
                self.listener.get_or_insert(1 - from);
            }
        }
        let end = packet.payload.end.min(frame.bytes.len());
        let bytes = end.saturating_sub(packet.payload.start);
        if bytes > 0 {
            self.streams[from].note(packet.sequence(), bytes);
        }
    }

    /// Payload that goes `way` if `end` is the card.
    fn payload_bytes(&self, end: usize, way: Way) -> u64 {
        self.stream(end, way).payload_bytes
    }

    /// The stream that goes `way` if `end` is the card.
    fn stream(&self, end: usize, way: Way) -> &Stream {
        match way {
            Way::In => &self.streams[1 - end],
            Way::Out => &self.streams[end],
        }
    }
}

/// Decides which end of each connection is the card.
struct Sides<'a> {
    wish: LearnOptions<'a>,
    /// Payload that goes the wanted way if an address is the card.
    payload: HashMap<IpAddr, u64>,
}

impl<'a> Sides<'a> {
    fn new(wish: LearnOptions<'a>, connections: &[Connection]) -> Self {
        let mut payload = HashMap::new();
        for connection in connections {
            for end in 0..2 {
                let bytes = connection.payload_bytes(end, wish.way);
                *payload.entry(connection.ends[end].ip()).or_default() += bytes;
            }
        }
        Self { wish, payload }
    }

    /// The card's end and why; `None` if neither end has an address of `--card`.
    fn of(&self, connection: &Connection) -> Option<(usize, String)> {
        let ends = &connection.ends;
        let named = [0, 1].map(|end| {
            let mut cards = self.wish.cards.iter();
            cards.any(|card| card.has(ends[end], connection.ethernet[end]))
        });
        match named {
            [false, false] if !self.wish.cards.is_empty() => return None,
            [true, false] => return Some((0, "named with --card".to_owned())),
            [false, true] => return Some((1, "named with --card".to_owned())),
            _ => {}
        }
        // A host that forwards shows what it sends a second time: as received from another one.
        let own = [0, 1].map(|end| connection.streams[end].is_own());
        if own[0] != own[1] {
            let why = "the capture says that it has sent packets".to_owned();
            return Some((usize::from(own[1]), why));
        }
        let of_address = ends.map(|end| self.payload.get(&end.ip()).copied().unwrap_or(0));
        let of_end = [0, 1].map(|end| connection.payload_bytes(end, self.wish.way));
        let verb = self.wish.way.verb();
        for [first, second] in [of_address, of_end] {
            if first != second {
                let (most, least) = (first.max(second), first.min(second));
                let why = format!("{verb} {most} bytes of payload, the other side {least}");
                return Some((usize::from(second > first), why));
            }
        }
        Some(match connection.listener {
            Some(end) => (end, "answers the SYN".to_owned()),
            None => (1, "receives the first packet".to_owned()),
        })
    }
}

/// Makes a setup from the connections of a capture.
pub fn learn(frames: &[Captured], wish: LearnOptions) -> Result<Learned, UsageError> {
    let all = connections(frames);
    if all.is_empty() {
        return Ok(without_connections(frames, wish));
    }
    let sides = Sides::new(wish, &all);
    let mut chosen = Vec::new();
    for connection in &all {
        if let Some((end, why)) = sides.of(connection) {
            chosen.push((connection, end, why));
        }
    }
    if chosen.is_empty() {
        let list: Vec<_> = wish.cards.iter().map(ToString::to_string).collect();
        let first = all[0].ends;
        return Err(UsageError(format!(
            "no connection of --card {}; the first one is {} to {}",
            list.join(", "),
            first[0],
            first[1]
        )));
    }
    if wish.cards.is_empty() {
        take_others(&mut chosen, wish.way);
    }
    let mut connections = Connections {
        found: all.len(),
        taken: chosen.len().min(wish.flows_max),
        beyond_the_table: 0,
        of_others: all.len() - chosen.len(),
    };
    connections.beyond_the_table = chosen.len() - connections.taken;
    // The order of the capture holds among those of equal length.
    chosen.sort_by_key(|(it, end, _)| u64::MAX - it.payload_bytes(*end, wish.way));
    chosen.truncate(wish.flows_max);
    let mut notes = Vec::new();
    let setup = make_setup(&chosen, wish, &mut notes);
    let mut card: BTreeMap<IpAddr, String> = BTreeMap::new();
    for (connection, end, why) in chosen {
        card.entry(connection.ends[end].ip()).or_insert(why);
    }
    let card =
        card.into_iter().map(|(address, why)| CardSide { address: address.to_string(), why });
    Ok(Learned { setup, card: card.collect(), connections, notes })
}

/// Takes the other sides where nothing goes the wanted way with those that were chosen.
fn take_others(chosen: &mut [(&Connection, usize, String)], way: Way) {
    let mut streams = chosen.iter().map(|(connection, end, _)| connection.stream(*end, way));
    if streams.any(|stream| stream.packets > 0) {
        return;
    }
    for (_, end, why) in chosen {
        *end = 1 - *end;
        *why = format!("{} all packets, the other side none ({why})", way.verb());
    }
}

/// A setup without flows: all that the card can be told is its address.
fn without_connections(frames: &[Captured], wish: LearnOptions) -> Learned {
    let mut bytes: HashMap<CardAddress, usize> = HashMap::new();
    let mut first = Vec::new();
    for frame in frames {
        if let Some(address) = end_of(frame, wish.way) {
            first.push(address);
            *bytes.entry(address).or_default() += frame.bytes.len();
        }
    }
    // The first one of those that are equal.
    let most = first.iter().rev().max_by_key(|address| bytes[address]);
    let address = most.copied().unwrap_or(CardAddress::Ethernet(CARD_ETHERNET));
    let (verb, bytes) = (wish.way.verb(), bytes.get(&address).copied().unwrap_or(0));
    let learned =
        CardSide { address: address.to_string(), why: format!("{verb} most: {bytes} bytes") };
    let is_named = !wish.cards.is_empty();
    Learned {
        setup: ReplaySetup {
            cards: if is_named { wish.cards.to_vec() } else { vec![address] },
            regions: Vec::new(),
            flows: Vec::new(),
        },
        card: if is_named { Vec::new() } else { vec![learned] },
        connections: Connections { found: 0, taken: 0, beyond_the_table: 0, of_others: 0 },
        notes: vec!["No TCP connection in the capture: there is no flow.".to_owned()],
    }
}

/// The end of a frame that is the card if the frame goes `way`.
fn end_of(frame: &Captured, way: Way) -> Option<CardAddress> {
    if frame.is_made {
        let (from, to) = ip_addresses(&frame.bytes)?;
        return Some(CardAddress::Ip(if way == Way::In { to } else { from }));
    }
    let ethernet = ethernet_at(frame, if way == Way::In { 0 } else { 6 });
    let is_one = ethernet[0] & 1 == 0 && ethernet != [0; 6];
    is_one.then_some(CardAddress::Ethernet(ethernet))
}

/// Flows with one segment each, in one region.
fn make_setup(
    chosen: &[(&Connection, usize, String)],
    wish: LearnOptions,
    notes: &mut Vec<String>,
) -> ReplaySetup {
    let mut flows = Vec::new();
    let mut at = BETWEEN_BYTES;
    let (mut short_flows, mut short_bytes) = (0, 0);
    for (number, (connection, end, _)) in chosen.iter().enumerate() {
        let (positions, floor, wanted) = connection.stream(*end, wish.way).span();
        let room = REGION_BYTES_MAX.saturating_sub(at + BETWEEN_BYTES);
        let bytes = wanted.min(room).min(u64::from(FLOW_REACH_BYTES) - 1);
        if bytes < wanted {
            short_flows += 1;
            short_bytes += wanted - bytes;
        }
        let name = format!("c{}", number + 1);
        if let Some(frame) = connection.again {
            notes.push(format!(
                "Flow {name}: in frame {frame} another connection of the same ports begins, which \
                 gets no memory."
            ));
        }
        let segment = SegmentSetup { region: 0, position: floor, bytes: bytes as u32, offset: at };
        flows.push(FlowSetup {
            name,
            local: connection.ends[*end],
            remote: connection.ends[1 - end],
            positions,
            floor,
            accept: Accept::InOrder,
            acks: None,
            timestamp_floor: None,
            join_bytes: 0,
            mss_bytes: None,
            segments: if bytes == 0 { Vec::new() } else { vec![segment] },
        });
        at = (at + bytes + BETWEEN_BYTES).next_multiple_of(BETWEEN_BYTES);
    }
    if short_flows > 0 {
        notes.push(format!(
            "{short_flows} flows are longer than the memory for them, by {short_bytes} bytes."
        ));
    }
    let region = RegionSetup {
        name: REGION.to_owned(),
        bytes: (at.min(REGION_BYTES_MAX)) as usize,
        memory: MemoryKind::Application,
        guard: GUARD,
    };
    ReplaySetup { cards: wish.cards.to_vec(), regions: vec![region], flows }
}
