//! What the applications do: they open, send, take what was accepted, close and begin anew.

use tcp::connection::Event as Happened;
use tcp::endpoint::ConnectionId;
use tcp::secret::Tuple;

use super::{tuple, Event, Network, CLIENT_PORT_MIN, SERVER_PORT};
use crate::flow::{Flow, FlowParameters};
use crate::topology::HostId;

impl Network {
    /// Adds a flow, to be opened at its time. Returns its index.
    ///
    /// # Panics
    /// If the client has opened more flows than it has ports (64,512), or a time is in the past.
    pub fn add_flow(&mut self, parameters: FlowParameters) -> usize {
        assert!(parameters.open_ps >= self.now_ps, "{} ps is in the past", parameters.open_ps);
        let index = self.flows.len() as u32;
        let opened = &mut self.hosts[parameters.client.0 as usize].opened;
        let port = CLIENT_PORT_MIN as usize + opened.len();
        let port = u16::try_from(port).expect("a host has 64,512 ports for its flows");
        opened.push(index);
        self.flows.push(Flow::new(parameters, port));
        self.schedule.plan(parameters.open_ps, Event::Open(index));
        if parameters.send_ps > parameters.open_ps {
            self.schedule.plan(parameters.send_ps, Event::Send(index));
        }
        index as usize
    }

    /// The client connects.
    pub(super) fn open(&mut self, flow: u32) {
        let it = &self.flows[flow as usize];
        let HostId(client) = it.parameters.client;
        let tuple = tuple(it, 0);
        let host = &mut self.hosts[client as usize];
        let now_ns = self.now_ps.max(host.busy_ps) / 1_000;
        let id = host.endpoint.connect(now_ns, tuple).expect("each flow has a port of its own");
        self.begin(flow as usize, 0, id);
        self.wake(client);
    }

    /// The client has something to send.
    pub(super) fn offer(&mut self, flow: u32) {
        let HostId(client) = self.flows[flow as usize].parameters.client;
        self.offer_all(flow as usize, 0);
        self.wake(client);
    }

    /// A side has a connection.
    fn begin(&mut self, flow: usize, side: usize, id: ConnectionId) {
        let it = &mut self.flows[flow];
        let parameters = it.parameters;
        let HostId(host) = [parameters.client, parameters.server][side];
        it.sides[side].id = Some(id);
        it.sides[side].memory.granted = parameters.window_bytes;
        self.hosts[host as usize].endpoint.granted(id, parameters.window_bytes);
        if side == 1 || parameters.send_ps <= self.now_ps {
            self.offer_all(flow, side);
        }
    }

    fn offer_all(&mut self, flow: usize, side: usize) {
        let it = &self.flows[flow];
        let HostId(host) = [it.parameters.client, it.parameters.server][side];
        let Some(id) = it.sides[side].id else { return };
        let endpoint = &mut self.hosts[host as usize].endpoint;
        endpoint.offered(id, it.total_bytes(side));
        if it.parameters.bytes[side].is_some() {
            endpoint.finish(id);
        }
    }

    /// The flow of a tuple, and the side that it is seen from.
    pub(super) fn flow_at(&self, tuple: &Tuple, host: u32) -> (usize, usize) {
        let is_server = tuple.local.port() == SERVER_PORT;
        let client = if is_server { tuple.remote } else { tuple.local };
        let number = match client.ip() {
            std::net::IpAddr::V4(ip) => u32::from(ip) - 0x0a00_0001,
            std::net::IpAddr::V6(_) => host,
        };
        let opened = &self.hosts[number as usize].opened;
        let flow = opened[usize::from(client.port() - CLIENT_PORT_MIN)];
        (flow as usize, usize::from(is_server))
    }

    /// Takes the connections that a listener has.
    pub(super) fn accept(&mut self, host: u32) {
        loop {
            let it = &mut self.hosts[host as usize];
            let Some(id) = it.endpoint.accept(it.listener) else { return };
            let tuple = it.endpoint.tuple(id).expect("it was just named");
            let (flow, side) = self.flow_at(&tuple, host);
            self.begin(flow, side, id);
        }
    }

    /// Takes what the engine of a host reports.
    pub(super) fn take_events(&mut self, host: u32, now_ps: u64) {
        while let Some((id, event)) = self.hosts[host as usize].endpoint.event() {
            let endpoint = &self.hosts[host as usize].endpoint;
            let tuple = endpoint.tuple(id).expect("events are of named connections");
            let (flow, side) = self.flow_at(&tuple, host);
            self.take_event(host, flow, side, event, now_ps);
        }
    }

    fn take_event(&mut self, host: u32, flow: usize, side: usize, event: Happened, now_ps: u64) {
        let it = &mut self.flows[flow];
        let (sent_bytes, wanted_bytes) = (it.total_bytes(side), it.total_bytes(1 - side));
        let window_bytes = it.parameters.window_bytes;
        let own = &mut it.sides[side];
        match event {
            Happened::Opened => {}
            Happened::Accepted(to) => {
                own.memory.accept(to);
                own.memory.granted = to + window_bytes;
                let granted = own.memory.granted;
                if side == 1 && to == wanted_bytes {
                    it.complete_ps = Some(now_ps);
                }
                if let Some(id) = it.sides[side].id {
                    self.hosts[host as usize].endpoint.granted(id, granted);
                }
            }
            Happened::Acknowledged(to) => {
                assert!(to >= own.acknowledged && to <= sent_bytes, "{to} is acknowledged");
                own.acknowledged = to;
                if to == sent_bytes && side == 0 && it.parameters.is_repeated {
                    self.release(host, flow, side, now_ps);
                    self.repeat(flow, now_ps);
                }
            }
            Happened::EndOfStream => {
                own.has_end_of_stream = true;
                if side == 1 && it.parameters.is_repeated {
                    self.release(host, flow, side, now_ps);
                }
            }
            Happened::Ended(end) => own.end = Some(end),
        }
    }

    /// Gives a name back: the connection closes in the background.
    fn release(&mut self, host: u32, flow: usize, side: usize, now_ps: u64) {
        let counters = self.counters(flow, side);
        let own = &mut self.flows[flow].sides[side];
        own.counters = counters;
        if let Some(id) = own.id.take() {
            self.hosts[host as usize].endpoint.release(now_ps / 1_000, id);
        }
    }

    /// The next flow of a closed loop.
    fn repeat(&mut self, flow: usize, now_ps: u64) {
        let parameters = self.flows[flow].parameters;
        self.add_flow(FlowParameters { open_ps: now_ps, send_ps: now_ps, ..parameters });
    }
}
