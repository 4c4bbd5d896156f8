//! The network at work: events in the order of time.
//!
//! ```text
//!   Open, Send ─► flow        Poll ─► host's CPU ─► departures ─► link ─┐
//!   Arrive ─► switch: buffer, mark ─► link ─┐                           │
//!          ─► host: header queue ─► Poll    └────────► Arrive ◄─────────┘
//! ```
//! Invariants
//! 1. Each packet is in exactly one place: on the way to a node, or in the header queue of a host.
//! 2. What a connection takes lies where its sender has it: [`crate::memory::Memory`] panics else.

mod flows;
mod poll;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tcp::connection::{Connection, Counters};
use tcp::secret::{Secret, Tuple};

use crate::counts::{Counts, Reason};
use crate::flow::Flow;
use crate::host::Host;
use crate::link::Link;
use crate::packet::Packet;
use crate::schedule::Schedule;
use crate::switch::{Switch, Waiting};
use crate::topology::{HostId, Node, SwitchId, Topology, TopologyError};

/// Port of every listener.
const SERVER_PORT: u16 = 80;
/// First port of a client.
const CLIENT_PORT_MIN: u16 = 1_024;

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A packet comes to a node.
    Arrive { node: Node, packet: u32 },
    /// A host may have something to do.
    Poll(u32),
    /// The client of a flow connects.
    Open(u32),
    /// The client of a flow has something to send.
    Send(u32),
}

/// A link, and the nodes that it joins.
#[derive(Debug)]
struct Wire {
    link: Link,
    from: Node,
    to: Node,
}

/// The network. See the head of this file.
#[derive(Debug)]
pub struct Network {
    now_ps: u64,
    schedule: Schedule<Event>,
    packets: Vec<Option<Packet>>,
    free_packets: Vec<u32>,
    hosts: Vec<Host>,
    switches: Vec<Switch>,
    wires: Vec<Wire>,
    /// The link from each node, hosts first, to each host.
    routes: Vec<Vec<u32>>,
    flows: Vec<Flow>,
    counts: Counts,
}

impl Network {
    /// An idle network. The seed chooses faults, secrets and with them sequence numbers.
    pub fn new(topology: &Topology, seed: u64) -> Result<Self, TopologyError> {
        let routes = topology.routes()?;
        let mut random = StdRng::seed_from_u64(seed);
        let wires = topology.edges.iter().map(|edge| Wire {
            link: Link::new(edge.parameters, random.random()),
            from: edge.from,
            to: edge.to,
        });
        let wires: Vec<Wire> = wires.collect();
        let hosts = topology.hosts.iter().enumerate().map(|(at, parameters)| {
            let local = address(HostId(at as u32), SERVER_PORT);
            Host::new(parameters.clone(), Secret(random.random()), local)
        });
        let hosts = hosts.collect();
        // Every link is a port of every switch: a switch holds nothing for those of others.
        let switches = topology.switches.iter().map(|it| Switch::new(*it, wires.len())).collect();
        Ok(Self {
            now_ps: 0,
            schedule: Schedule::default(),
            packets: Vec::new(),
            free_packets: Vec::new(),
            hosts,
            switches,
            wires,
            routes,
            flows: Vec::new(),
            counts: Counts::default(),
        })
    }

    /// Now.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// What became of all packets so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Events that were planned so far.
    pub fn events(&self) -> u64 {
        self.schedule.planned_events()
    }

    /// All flows, those of closed loops in the order in which they began.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// A host.
    pub fn host(&self, id: HostId) -> &Host {
        &self.hosts[id.0 as usize]
    }

    /// The connection of a side of a flow, while it has a name.
    pub fn connection(&self, flow: usize, side: usize) -> Option<&Connection> {
        let flow = &self.flows[flow];
        let host = [flow.parameters.client, flow.parameters.server][side];
        self.host(host).endpoint.connection(flow.sides[side].id?)
    }

    /// What a side of a flow has counted so far.
    pub fn counters(&self, flow: usize, side: usize) -> Counters {
        let kept = self.flows[flow].sides[side].counters;
        self.connection(flow, side).map_or(kept, Connection::counters)
    }

    /// Everything that was accepted by all receivers.
    pub fn accepted_bytes(&self) -> u64 {
        self.flows.iter().flat_map(|flow| &flow.sides).map(|side| side.memory.accepted).sum()
    }

    /// Most that has waited at a switch for a link since the last call.
    pub fn take_peak(&mut self, switch: SwitchId, link: usize) -> Waiting {
        self.switches[switch.0 as usize].take_peak(link as u32)
    }

    /// What a switch holds now.
    pub fn held_bytes(&mut self, switch: SwitchId) -> u64 {
        let now_ps = self.now_ps;
        self.switches[switch.0 as usize].held_bytes(now_ps)
    }

    /// Packets that are under way, counted where they are: on links, in switches, in header queues.
    pub fn under_way(&self) -> u64 {
        let coming = self.schedule.events().filter(|it| matches!(it, Event::Arrive { .. }));
        let waiting = self.hosts.iter().map(|host| host.inbox.len() as u64).sum::<u64>();
        coming.count() as u64 + waiting
    }

    /// Runs up to a time, or until nothing will happen any more. Returns whether it reached the
    /// time.
    pub fn run(&mut self, until_ps: u64) -> bool {
        while let Some((at_ps, event)) = self.schedule.next(until_ps) {
            self.now_ps = at_ps;
            match event {
                Event::Arrive { node: Node::Host(host), packet } => self.arrive(host, packet),
                Event::Arrive { node: Node::Switch(at), packet } => self.forward(at, packet),
                Event::Poll(host) => self.poll_if_wanted(host),
                Event::Open(flow) => self.open(flow),
                Event::Send(flow) => self.offer(flow),
            }
        }
        if self.schedule.is_empty() {
            return false;
        }
        self.now_ps = until_ps;
        true
    }

    /// A packet has come to a switch.
    fn forward(&mut self, at: SwitchId, packet: u32) {
        let to = self.destination(packet);
        let node = self.hosts.len() + at.0 as usize;
        let link = self.routes[node][to.0 as usize];
        self.put(link, packet, self.now_ps);
    }

    fn packet(&self, packet: u32) -> &Packet {
        self.packets[packet as usize].as_ref().expect("a packet is in one place")
    }

    fn destination(&self, packet: u32) -> HostId {
        let packet = self.packet(packet);
        let parameters = &self.flows[packet.flow as usize].parameters;
        [parameters.client, parameters.server][usize::from(packet.is_to_server)]
    }

    fn insert(&mut self, packet: Packet) -> u32 {
        match self.free_packets.pop() {
            Some(index) => {
                self.packets[index as usize] = Some(packet);
                index
            }
            None => {
                self.packets.push(Some(packet));
                self.packets.len() as u32 - 1
            }
        }
    }

    fn remove(&mut self, packet: u32) -> Packet {
        self.free_packets.push(packet);
        self.packets[packet as usize].take().expect("a packet is in one place")
    }

    fn lose(&mut self, packet: u32, reason: Reason) {
        self.counts.lose(reason);
        self.remove(packet);
    }

    /// Puts a packet on a link, through the buffer of the switch where it begins.
    fn put(&mut self, link: u32, packet: u32, ready_ps: u64) {
        let wire = &mut self.wires[link as usize];
        let it = self.packets[packet as usize].as_mut().expect("a packet is in one place");
        let wire_bytes = it.wire_bytes();
        if it.size_bytes() > wire.link.parameters().size_bytes_max {
            return self.lose(packet, Reason::TooBig);
        }
        if let Node::Switch(SwitchId(at)) = wire.from {
            let switch = &mut self.switches[at as usize];
            let Some(is_marked) = switch.admit(ready_ps, link, &mut it.segment, wire_bytes) else {
                return self.lose(packet, Reason::Buffer);
            };
            self.counts.marked += u64::from(is_marked);
        }
        let passage = wire.link.pass(ready_ps, wire_bytes);
        let to = wire.to;
        let latency_ps = match to {
            Node::Host(HostId(host)) => {
                self.hosts[host as usize].parameters.costs.receive_latency_ps
            }
            Node::Switch(_) => 0,
        };
        if let Node::Switch(SwitchId(at)) = wire.from {
            self.switches[at as usize].hold(link, wire_bytes, passage.departed_ps);
        }
        self.counts.late += u64::from(passage.is_late);
        let Some(first_ps) = passage.arrivals_ps.first() else {
            return self.lose(packet, Reason::Wire);
        };
        self.schedule.plan(first_ps + latency_ps, Event::Arrive { node: to, packet });
        if let Some(again_ps) = passage.arrivals_ps.get(1) {
            self.counts.doubled += 1;
            let copy = self.insert(self.packet(packet).clone());
            self.schedule.plan(again_ps + latency_ps, Event::Arrive { node: to, packet: copy });
        }
    }
}

/// The address of a host: 10.0.0.0 and its number.
fn address(host: HostId, port: u16) -> SocketAddr {
    let number = host.0 + 1;
    SocketAddr::new(IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + number)), port)
}

/// The tuple of a flow, as one side sees it.
fn tuple(flow: &Flow, side: usize) -> Tuple {
    let client = address(flow.parameters.client, flow.port);
    let server = address(flow.parameters.server, SERVER_PORT);
    let (local, remote) = if side == 0 { (client, server) } else { (server, client) };
    Tuple { local, remote }
}
