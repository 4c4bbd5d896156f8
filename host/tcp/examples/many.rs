//! What a header costs with 16,384 connections, against one connection, in one run.
//!
//! ```text
//!   for each connection in turn: a burst of 64 segments ── sender: descriptors ─► cut ─► receiver
//!                                                          sender ◄── ACKs ◄─────────────┘
//! ```
//! The connections of each world are visited in turn, so that with 16,384 nothing of one is in a
//! cache when it is visited again. Worlds take turns burst by burst: what slows the machine slows
//! both. Printed are medians of the time of a header, and their ratio.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tcp::config::Config;
use tcp::endpoint::{ConnectionId, Endpoint, Limits};
use tcp::listener::ListenerId;
use tcp::secret::{Secret, Tuple};
use tcp::segment::{Flags, Segment};

/// Segments of a burst.
const BURST: u64 = 64;
/// Payload of a segment.
const SEGMENT_BYTES: u64 = 1_448;
/// What a receiver grants beyond what it has accepted.
const WINDOW_BYTES: u64 = 8 << 20;

/// Time and headers of a kind.
#[derive(Clone, Copy, Default)]
struct Cost {
    time: Duration,
    headers: u64,
}

impl Cost {
    /// Runs something that returns how many headers it has dealt with.
    fn time(&mut self, act: impl FnOnce() -> u64) {
        let start = Instant::now();
        self.headers += act();
        self.time += start.elapsed();
    }

    fn ns(self) -> f64 {
        self.time.as_nanos() as f64 / self.headers.max(1) as f64
    }
}

/// Sender and receiver of many connections.
struct World {
    now_ns: u64,
    sender: Endpoint,
    receiver: Endpoint,
    listener: ListenerId,
    /// Tuple of the sender, names on both ends, and what was offered.
    connections: Vec<(Tuple, ConnectionId, ConnectionId, u64)>,
    next: usize,
}

fn tuple(number: usize) -> Tuple {
    let client = [10, 1, (number >> 14) as u8, 1];
    let port = 1_024 + (number & 0x3fff) as u16;
    let local = SocketAddr::from((client, port));
    Tuple { local, remote: SocketAddr::from(([10, 0, 0, 1], 80)) }
}

fn reversed(tuple: &Tuple) -> Tuple {
    Tuple { local: tuple.remote, remote: tuple.local }
}

/// Cuts a header as a card does.
fn cut(segment: &Segment, mss_bytes: u32, into: &mut Vec<Segment>) {
    let mut sent_bytes = 0;
    loop {
        let bytes = (segment.payload_bytes - sent_bytes).min(mss_bytes.max(1));
        let mut part = segment.clone();
        part.payload_bytes = bytes;
        part.sequence = segment.sequence.wrapping_add(sent_bytes);
        sent_bytes += bytes;
        if sent_bytes < segment.payload_bytes {
            part.flags.0 &= !(Flags::FIN.0 | Flags::PSH.0);
        }
        into.push(part);
        if sent_bytes >= segment.payload_bytes {
            return;
        }
    }
}

impl World {
    fn new(count: usize) -> Self {
        let endpoint =
            |secret| Endpoint::new(Config::private_wire(), Secret([secret; 32]), Limits::default());
        let (sender, mut receiver) = (endpoint(1), endpoint(2));
        let listener = receiver.listen(tuple(0).remote).expect("nobody listens there");
        let connections = Vec::with_capacity(count);
        let mut world = Self { now_ns: 1, sender, receiver, listener, connections, next: 0 };
        (0..count).for_each(|number| world.open(number));
        world
    }

    fn open(&mut self, number: usize) {
        let tuple = tuple(number);
        let id = self.sender.connect(self.now_ns, tuple).expect("the tuple is free");
        let mut accepted = None;
        while accepted.is_none() {
            self.exchange(&tuple, &mut [Cost::default(); 4]);
            accepted = self.receiver.accept(self.listener);
        }
        let peer = accepted.expect("it was just accepted");
        self.receiver.granted(peer, WINDOW_BYTES);
        self.sender.granted(id, WINDOW_BYTES);
        self.exchange(&tuple, &mut [Cost::default(); 4]);
        self.connections.push((tuple, id, peer, 0));
    }

    /// Everything that is due goes across once, both ways. Costs: descriptors written, packets
    /// taken, ACKs written, ACKs taken.
    fn exchange(&mut self, tuple: &Tuple, costs: &mut [Cost; 4]) {
        self.now_ns += 1_000;
        let now_ns = self.now_ns;
        let [sent, taken, replied, acknowledged] = costs;
        let (sender, receiver) = (&mut self.sender, &mut self.receiver);
        let mut departures = Vec::with_capacity(BURST as usize);
        sent.time(|| {
            sender.advance(now_ns);
            departures.extend(std::iter::from_fn(|| sender.transmit(now_ns)));
            departures.len() as u64
        });
        let mut packets = Vec::with_capacity(BURST as usize);
        for departure in &departures {
            let outgoing = &departure.outgoing;
            cut(&outgoing.segment, outgoing.mss_bytes, &mut packets);
        }
        let tuple_back = reversed(tuple);
        taken.time(|| {
            for packet in &packets {
                receiver.arrive(now_ns, &tuple_back, packet, true);
            }
            while let Some((id, event)) = receiver.event() {
                if let tcp::Event::Accepted(to) = event {
                    receiver.granted(id, to + WINDOW_BYTES);
                }
            }
            packets.len() as u64
        });
        let mut replies = Vec::with_capacity(BURST as usize);
        replied.time(|| {
            receiver.advance(now_ns);
            replies.extend(std::iter::from_fn(|| receiver.transmit(now_ns)));
            replies.len() as u64
        });
        acknowledged.time(|| {
            for reply in &replies {
                sender.arrive(now_ns, tuple, &reply.outgoing.segment, true);
            }
            while sender.event().is_some() {}
            replies.len() as u64
        });
    }

    /// A burst on the next connection, until all of it is acknowledged.
    fn burst(&mut self) -> [Cost; 4] {
        let (tuple, id, _, offered) = &mut self.connections[self.next];
        *offered += BURST * SEGMENT_BYTES;
        let (tuple, id) = (*tuple, *id);
        self.sender.offered(id, *offered);
        self.next = (self.next + 1) % self.connections.len();
        let mut costs = [Cost::default(); 4];
        loop {
            self.exchange(&tuple, &mut costs);
            let connection = self.sender.connection(id).expect("it is open");
            if connection.in_flight_bytes() == 0 && costs[1].headers >= BURST {
                return costs;
            }
            // A delayed ACK or the pace may hold something back for so long.
            self.now_ns += 10_000;
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let count = std::env::args().nth(1).map_or(16_384, |it| it.parse().expect("a count"));
    let bursts = 4 * count.max(4_096);
    let mut worlds = [World::new(1), World::new(count)];
    // The windows open.
    for _ in 0..count {
        for world in &mut worlds {
            world.burst();
        }
    }
    let mut costs: [Vec<[Cost; 4]>; 2] = Default::default();
    for _ in 0..bursts {
        for (world, costs) in worlds.iter_mut().zip(&mut costs) {
            costs.push(world.burst());
        }
    }
    println!("header               1 connection   {count} connections   ratio");
    let kinds = ["descriptor written", "packet taken", "ACK written", "ACK taken"];
    let [one, many] = costs;
    for (kind, name) in kinds.into_iter().enumerate() {
        let of = |costs: &[[Cost; 4]]| median(costs.iter().map(|it| it[kind].ns()).collect());
        let (one, many) = (of(&one), of(&many));
        println!("{name:18} {one:12.0} ns {many:16.0} ns {:9.2}", many / one);
    }
    let whole = |costs: &[[Cost; 4]]| {
        let ns = |it: &[Cost; 4]| {
            let time: Duration = it.iter().map(|cost| cost.time).sum();
            time.as_nanos() as f64 / it.iter().map(|cost| cost.headers).sum::<u64>() as f64
        };
        median(costs.iter().map(ns).collect())
    };
    let (one, many) = (whole(&one), whole(&many));
    println!("{:18} {one:12.0} ns {many:16.0} ns {:9.2}", "all headers", many / one);
}
