//! Two hosts on a wire, in picoseconds: what is lost, late, doubled or marked comes from a seed.
//!
//! ```text
//!   host 0 ── link 0: queue ─ rate ─ delay ─ faults ──► host 1
//!          ◄── link 1 ────────────────────────────────
//! ```
//! There is no payload. A packet carries the true stream offset of its payload beside the header,
//! as a card would find it by position; what the receiver says it took must lie at exactly that
//! offset, inside of what was granted, and be new. [`Memory`] judges that for every segment.
//!
//! Invariants
//! 1. The same options give the same run: nothing here or in the engine reads a clock.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::SocketAddr;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tcp::config::Config;
use tcp::connection::{Connection, End, Event, Outgoing};
use tcp::endpoint::{ConnectionId, Endpoint, Limits};
use tcp::listener::ListenerId;
use tcp::receive::Verdict;
use tcp::secret::{Secret, Tuple};
use tcp::segment::{Codepoint, Flags, Segment};

/// Picoseconds of a millisecond.
pub const MS_PS: u64 = 1_000_000_000;

/// One direction of the wire.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub ps_per_byte: u64,
    pub delay_ps: u64,
    pub queue_bytes_max: u64,
    /// Queue beyond which packets that are capable are marked.
    pub mark_bytes: u64,
    /// Shares of packets: lost, late, doubled.
    pub loss: f64,
    pub reorder: f64,
    pub duplicate: f64,
    /// How late at most.
    pub late_ps: u64,
    /// Largest packet that passes, as an MSS is counted.
    pub size_bytes_max: u64,
}

impl Link {
    /// 100 Gb/s and 25 us, with a queue of one bandwidth-delay product.
    pub fn fast() -> Self {
        Self {
            ps_per_byte: 80,
            delay_ps: 25_000_000,
            queue_bytes_max: 625_000,
            mark_bytes: u64::MAX,
            loss: 0.0,
            reorder: 0.0,
            duplicate: 0.0,
            late_ps: 0,
            size_bytes_max: u64::MAX,
        }
    }
}

/// What a run is made of.
#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    pub configs: [Config; 2],
    pub links: [Link; 2],
    /// What is sent by each end before its FIN.
    pub total_bytes: [u64; 2],
    pub window_bytes: u64,
    /// A host is polled at most this often.
    pub poll_ps: u64,
    /// Where sequence numbers begin is part of the secret.
    pub secret: u8,
    /// Connections, all from host 0 to host 1, each with the same totals.
    pub flows: usize,
}

impl Options {
    pub fn new(seed: u64, config: Config, link: Link) -> Self {
        Self {
            seed,
            configs: [config.clone(), config],
            links: [link, link],
            total_bytes: [0, 0],
            window_bytes: 8 << 20,
            poll_ps: 0,
            secret: seed as u8,
            flows: 1,
        }
    }
}

/// A packet: its header and where its payload is from.
#[derive(Clone, Debug)]
struct Packet {
    flow: usize,
    segment: Segment,
    offset: u64,
}

impl Packet {
    /// On the wire, from preamble to gap.
    fn wire_bytes(&self) -> u64 {
        let options = &self.segment.options;
        let sack = if options.sack.is_empty() { 0 } else { 4 + 8 * options.sack.len() };
        let timestamps = if options.timestamps.is_some() { 12 } else { 0 };
        let header = 14 + 20 + 20 + timestamps + sack as u64;
        (header + u64::from(self.segment.payload_bytes)).max(60) + 24
    }

    fn size_bytes(&self) -> u64 {
        u64::from(self.segment.payload_bytes) + 12
    }
}

#[derive(Clone, Debug)]
enum What {
    Arrive(usize, Box<Packet>),
    Poll(usize),
}

/// The receiver's memory: every byte is written once, where it belongs.
#[derive(Debug, Default)]
pub struct Memory {
    /// Ranges that were taken, by start; they do not touch.
    taken: BTreeMap<u64, u64>,
    pub granted: u64,
    pub accepted: u64,
}

impl Memory {
    fn take(&mut self, start: u64, end: u64) {
        if start == end {
            return;
        }
        assert!(end <= self.granted, "taken to {end}, granted to {}", self.granted);
        let before = self.taken.range(..=start).next_back().map(|(from, to)| (*from, *to));
        assert!(before.is_none_or(|(_, to)| to <= start), "{start} is taken a second time");
        let after = self.taken.range(start..).next().map(|(from, to)| (*from, *to));
        assert!(after.is_none_or(|(from, _)| from >= end), "{end} is taken a second time");
        let mut range = (start, end);
        if let Some((from, _)) = before.filter(|(_, to)| *to == start) {
            self.taken.remove(&from);
            range.0 = from;
        }
        if let Some((from, to)) = after.filter(|(from, _)| *from == end) {
            self.taken.remove(&from);
            range.1 = to;
        }
        self.taken.insert(range.0, range.1);
    }

    fn accept(&mut self, to: u64) {
        let held = self.taken.get(&0).copied().unwrap_or(0);
        assert!(to <= held, "accepted to {to}, held to {held}");
        self.accepted = to;
    }
}

/// One end of one connection.
#[derive(Debug, Default)]
pub struct Flow {
    pub id: Option<ConnectionId>,
    pub memory: Memory,
    pub acknowledged: u64,
    pub has_end_of_stream: bool,
    pub end: Option<End>,
}

/// One end of the wire.
#[derive(Debug)]
pub struct Host {
    pub endpoint: Endpoint,
    pub flows: Vec<Flow>,
    which: usize,
    listener: Option<ListenerId>,
    inbox: VecDeque<Packet>,
    next_poll_ps: u64,
    poll_at_ps: Option<u64>,
    pub total_bytes: u64,
    window_bytes: u64,
}

#[derive(Debug)]
struct Wire {
    link: Link,
    free_ps: u64,
}

/// What the wire has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub lost: u64,
    pub overflown: u64,
    pub doubled: u64,
    pub late: u64,
    pub marked: u64,
    pub too_big: u64,
}

/// The two hosts and the wire.
#[derive(Debug)]
pub struct Network {
    pub now_ps: u64,
    pub hosts: [Host; 2],
    pub faults: Faults,
    wires: [Wire; 2],
    heap: BinaryHeap<Reverse<(u64, u64, usize)>>,
    events: Vec<Option<What>>,
    free_events: Vec<usize>,
    ordinal: u64,
    random: SmallRng,
    poll_ps: u64,
}

const CLIENT_PORT: u16 = 5_000;

fn tuple(host: usize, flow: usize) -> Tuple {
    let client = SocketAddr::from(([10, 0, 0, 1], CLIENT_PORT + flow as u16));
    let server = SocketAddr::from(([10, 0, 0, 2], 80));
    let (local, remote) = if host == 0 { (client, server) } else { (server, client) };
    Tuple { local, remote }
}

impl Network {
    /// Two hosts; the first connects to the second.
    pub fn new(options: Options) -> Self {
        let host = |which: usize| Host {
            endpoint: Endpoint::new(
                options.configs[which].clone(),
                Secret([options.secret.wrapping_add(which as u8); 32]),
                Limits::default(),
            ),
            flows: (0..options.flows).map(|_| Flow::default()).collect(),
            which,
            listener: None,
            inbox: VecDeque::new(),
            next_poll_ps: 0,
            poll_at_ps: None,
            total_bytes: options.total_bytes[which],
            window_bytes: options.window_bytes,
        };
        let wire = |which: usize| Wire { link: options.links[which], free_ps: 0 };
        let mut network = Self {
            now_ps: 0,
            hosts: [host(0), host(1)],
            faults: Faults::default(),
            wires: [wire(0), wire(1)],
            heap: BinaryHeap::new(),
            events: Vec::new(),
            free_events: Vec::new(),
            ordinal: 0,
            random: SmallRng::seed_from_u64(options.seed),
            poll_ps: options.poll_ps,
        };
        let [first, second] = &mut network.hosts;
        let listener = second.endpoint.listen(tuple(1, 0).local);
        second.listener = Some(listener.expect("the port is free"));
        for flow in 0..options.flows {
            let id = first.endpoint.connect(0, tuple(0, flow)).expect("the tuple is free");
            first.begin(id);
        }
        network.schedule(0, What::Poll(0));
        network
    }

    fn schedule(&mut self, at_ps: u64, what: What) {
        let place = match self.free_events.pop() {
            Some(place) => {
                self.events[place] = Some(what);
                place
            }
            None => {
                self.events.push(Some(what));
                self.events.len() - 1
            }
        };
        self.ordinal += 1;
        self.heap.push(Reverse((at_ps, self.ordinal, place)));
    }

    /// Runs up to a time, or until nothing will happen any more. Returns whether it reached the
    /// time.
    pub fn run(&mut self, until_ps: u64) -> bool {
        while let Some(Reverse((at_ps, _, place))) = self.heap.peek().copied() {
            if at_ps > until_ps {
                self.now_ps = until_ps;
                return true;
            }
            self.heap.pop();
            self.now_ps = at_ps;
            let what = self.events[place].take().expect("each event happens once");
            self.free_events.push(place);
            match what {
                What::Arrive(host, packet) => {
                    self.hosts[host].inbox.push_back(*packet);
                    let poll_ps = self.hosts[host].next_poll_ps.max(self.now_ps);
                    self.poll_at(host, poll_ps);
                }
                What::Poll(host) => {
                    if self.hosts[host].poll_at_ps == Some(self.now_ps) || self.now_ps == 0 {
                        self.poll(host);
                    }
                }
            }
        }
        false
    }

    /// Runs until data flows, however often the SYN is lost, and then so long. Returns the time.
    pub fn run_open(&mut self, for_ps: u64) -> u64 {
        while self.hosts[1].accepted() == 0 {
            let step_ps = self.now_ps + MS_PS / 10;
            assert!(self.run(step_ps), "it has ended before it began");
        }
        let until_ps = self.now_ps + for_ps;
        self.run(until_ps);
        until_ps
    }

    /// Polls a host at a time, if nothing earlier is planned.
    fn poll_at(&mut self, host: usize, at_ps: u64) {
        if self.hosts[host].poll_at_ps.is_none_or(|planned_ps| at_ps < planned_ps) {
            self.hosts[host].poll_at_ps = Some(at_ps);
            self.schedule(at_ps, What::Poll(host));
        }
    }

    fn poll(&mut self, which: usize) {
        let now_ns = self.now_ps / 1_000;
        let host = &mut self.hosts[which];
        host.poll_at_ps = None;
        host.next_poll_ps = self.now_ps + self.poll_ps;
        host.take_arrivals(now_ns);
        host.endpoint.advance(now_ns);
        host.take_events();
        while let Some(departure) = self.hosts[which].endpoint.transmit(now_ns) {
            let client = [departure.tuple.local, departure.tuple.remote][which].port();
            self.send(which, usize::from(client - CLIENT_PORT), &departure.outgoing);
        }
        self.hosts[which].take_events();
        if let Some(at_ns) = self.hosts[which].endpoint.deadline() {
            let at_ps = (at_ns * 1_000).max(self.now_ps + 1_000);
            self.poll_at(which, at_ps.max(self.hosts[which].next_poll_ps));
        }
    }

    /// Cuts a header into packets, as a card does, and puts them on the wire.
    fn send(&mut self, from: usize, flow: usize, outgoing: &Outgoing) {
        let total_bytes = outgoing.segment.payload_bytes;
        let mut sent_bytes = 0;
        loop {
            let bytes = (total_bytes - sent_bytes).min(outgoing.mss_bytes.max(1));
            let mut segment = outgoing.segment.clone();
            segment.payload_bytes = bytes;
            segment.sequence = segment.sequence.wrapping_add(sent_bytes);
            if sent_bytes + bytes < total_bytes {
                segment.flags.0 &= !(Flags::FIN.0 | Flags::PSH.0);
            }
            if sent_bytes > 0 {
                segment.flags.0 &= !Flags::CWR.0;
            }
            let offset = outgoing.offset + u64::from(sent_bytes);
            self.put(from, Packet { flow, segment, offset });
            sent_bytes += bytes;
            if sent_bytes >= total_bytes {
                return;
            }
        }
    }

    fn put(&mut self, from: usize, mut packet: Packet) {
        let wire = &mut self.wires[from];
        let link = wire.link;
        let start_ps = wire.free_ps.max(self.now_ps);
        let queued_bytes = (start_ps - self.now_ps) / link.ps_per_byte;
        if packet.size_bytes() > link.size_bytes_max {
            self.faults.too_big += 1;
            return;
        }
        if queued_bytes > link.queue_bytes_max {
            self.faults.overflown += 1;
            return;
        }
        if queued_bytes > link.mark_bytes && packet.segment.codepoint == Codepoint::Capable0 {
            packet.segment.codepoint = Codepoint::Experienced;
            self.faults.marked += 1;
        }
        wire.free_ps = start_ps + packet.wire_bytes() * link.ps_per_byte;
        let mut at_ps = wire.free_ps + link.delay_ps;
        if link.loss > 0.0 && self.random.random_bool(link.loss) {
            self.faults.lost += 1;
            return;
        }
        if link.reorder > 0.0 && self.random.random_bool(link.reorder) {
            self.faults.late += 1;
            at_ps += self.random.random_range(0..=link.late_ps);
        }
        if link.duplicate > 0.0 && self.random.random_bool(link.duplicate) {
            self.faults.doubled += 1;
            let again_ps = at_ps + self.random.random_range(0..=link.late_ps);
            self.schedule(again_ps, What::Arrive(1 - from, Box::new(packet.clone())));
        }
        self.schedule(at_ps, What::Arrive(1 - from, Box::new(packet)));
    }
}

impl Host {
    /// Everything that was accepted.
    pub fn accepted(&self) -> u64 {
        self.flows.iter().map(|flow| flow.memory.accepted).sum()
    }

    /// The first connection.
    pub fn connection(&self) -> &Connection {
        let id = self.flows[0].id.expect("it was opened");
        self.endpoint.connection(id).expect("it is named")
    }

    fn flow(&mut self, id: ConnectionId) -> &mut Flow {
        let tuple = self.endpoint.tuple(id).expect("it is named");
        let client = [tuple.local, tuple.remote][self.which].port();
        &mut self.flows[usize::from(client - CLIENT_PORT)]
    }

    fn begin(&mut self, id: ConnectionId) {
        let (window_bytes, total_bytes) = (self.window_bytes, self.total_bytes);
        let flow = self.flow(id);
        flow.id = Some(id);
        flow.memory.granted = window_bytes;
        self.endpoint.granted(id, window_bytes);
        self.endpoint.offered(id, total_bytes);
        if total_bytes < u64::MAX / 2 {
            self.endpoint.finish(id);
        }
    }

    fn take_arrivals(&mut self, now_ns: u64) {
        while let Some(packet) = self.inbox.pop_front() {
            let tuple = tuple(self.which, packet.flow);
            let (id, arrival) = self.endpoint.arrive(now_ns, &tuple, &packet.segment, true);
            if let Verdict::Taken(range) = arrival.verdict {
                let bytes = u64::from(packet.segment.payload_bytes);
                let is_inside = packet.offset <= range.start && range.end <= packet.offset + bytes;
                assert!(range.bytes() == 0 || is_inside, "{range:?} of {packet:?}");
                self.flows[packet.flow].memory.take(range.start, range.end);
            }
            if id.is_some() {
                assert!(arrival.acknowledged_to <= self.total_bytes);
            }
            if let Some(id) = self.listener.and_then(|it| self.endpoint.accept(it)) {
                self.begin(id);
            }
        }
    }

    fn take_events(&mut self) {
        while let Some((id, event)) = self.endpoint.event() {
            let (window_bytes, total_bytes) = (self.window_bytes, self.total_bytes);
            let flow = self.flow(id);
            assert_eq!(Some(id), flow.id);
            match event {
                Event::Opened => {}
                Event::Accepted(to) => {
                    flow.memory.accept(to);
                    flow.memory.granted = to + window_bytes;
                    self.endpoint.granted(id, to + window_bytes);
                }
                Event::Acknowledged(to) => {
                    assert!(to >= flow.acknowledged && to <= total_bytes);
                    flow.acknowledged = to;
                }
                Event::EndOfStream => flow.has_end_of_stream = true,
                Event::Ended(end) => flow.end = Some(end),
            }
        }
    }
}
