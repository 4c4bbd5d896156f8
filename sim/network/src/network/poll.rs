//! What the CPU of a host does: headers in, timers, headers out, each for its time.

use tcp::connection::Outgoing;
use tcp::receive::Verdict;
use tcp::segment::Flags;

use super::{tuple, Event, Network};
use crate::counts::Reason;
use crate::packet::Packet;
use crate::topology::HostId;
use crate::units::NS_PS;

impl Network {
    /// A packet has come to a host.
    pub(super) fn arrive(&mut self, id: HostId, packet: u32) {
        let host = &mut self.hosts[id.0 as usize];
        if host.inbox.len() >= host.parameters.header_queue_entries {
            return self.lose(packet, Reason::HeaderQueue);
        }
        host.inbox.push_back(packet);
        match host.busy_ps <= self.now_ps {
            true => self.poll(id.0),
            false => self.wake(id.0),
        }
    }

    /// Something has changed: the host is polled as soon as its CPU can.
    pub(super) fn wake(&mut self, host: u32) {
        self.want(host, self.now_ps);
    }

    /// Plans a poll, if no earlier one is wanted.
    fn want(&mut self, host: u32, at_ps: u64) {
        let it = &mut self.hosts[host as usize];
        let at_ps = at_ps.max(it.busy_ps);
        if it.wanted_ps.is_some_and(|wanted_ps| wanted_ps <= at_ps) {
            return;
        }
        it.wanted_ps = Some(at_ps);
        if it.planned_ps.is_none_or(|planned_ps| at_ps < planned_ps) {
            it.planned_ps = Some(at_ps);
            self.schedule.plan(at_ps, Event::Poll(host));
        }
    }

    pub(super) fn poll_if_wanted(&mut self, host: u32) {
        let it = &mut self.hosts[host as usize];
        if it.planned_ps != Some(self.now_ps) {
            // An earlier one was planned after it.
            return;
        }
        it.planned_ps = None;
        match it.wanted_ps.take() {
            Some(wanted_ps) if wanted_ps <= self.now_ps => self.poll(host),
            Some(wanted_ps) => self.want(host, wanted_ps),
            None => {}
        }
    }

    fn poll(&mut self, host: u32) {
        self.hosts[host as usize].wanted_ps = None;
        let costs = self.hosts[host as usize].parameters.costs;
        let mut now_ps = self.now_ps;
        for _ in 0..costs.batch_headers {
            let Some(packet) = self.hosts[host as usize].inbox.pop_front() else { break };
            now_ps = self.take(host, packet, now_ps);
        }
        self.hosts[host as usize].endpoint.advance(now_ps / NS_PS);
        self.take_events(host, now_ps);
        let again_ps;
        (now_ps, again_ps) = self.transmit(host, now_ps);
        self.take_events(host, now_ps);
        let it = &mut self.hosts[host as usize];
        it.busy_ps = now_ps.max(self.now_ps + it.parameters.poll_interval_ps);
        let is_more = !it.inbox.is_empty();
        let deadline_ps = it.endpoint.deadline().map(|at_ns| at_ns * NS_PS);
        // A deadline that has passed is one within the nanosecond that has begun.
        let deadline_ps = deadline_ps.map(|at_ps| at_ps.max(now_ps + NS_PS));
        let at_ps = match (is_more, again_ps) {
            (true, _) => Some(now_ps),
            (false, Some(again_ps)) => Some(again_ps),
            (false, None) => deadline_ps,
        };
        if let Some(at_ps) = at_ps {
            self.want(host, at_ps);
        }
    }

    /// Takes a header. Returns when the CPU is done with it.
    fn take(&mut self, host: u32, packet: u32, now_ps: u64) -> u64 {
        let Packet { flow, is_to_server, segment, offset } = self.remove(packet);
        self.counts.delivered += 1;
        let it = &mut self.hosts[host as usize];
        let costs = &it.parameters.costs;
        let bytes = u64::from(segment.payload_bytes);
        let cost_ps = if bytes > 0 { costs.packet_ps } else { costs.acknowledgement_ps };
        let now_ps = now_ps + cost_ps;
        let side = usize::from(is_to_server);
        let flow = &mut self.flows[flow as usize];
        let tuple = tuple(flow, side);
        let (_, arrival) = it.endpoint.arrive(now_ps / NS_PS, &tuple, &segment, true);
        if let Verdict::Taken(range) = arrival.verdict {
            let is_inside = offset <= range.start && range.end <= offset + bytes;
            assert!(range.bytes() == 0 || is_inside, "{range:?} of {bytes} bytes at {offset}");
            flow.sides[side].memory.take(range.start, range.end);
        }
        assert!(arrival.acknowledged_to <= flow.total_bytes(side), "more than was sent");
        self.accept(host);
        now_ps
    }

    /// Sends what is due and has room in the card. Returns when the CPU is done, and when to ask
    /// again if something was left.
    fn transmit(&mut self, host: u32, mut now_ps: u64) -> (u64, Option<u64>) {
        let link = self.uplink(host);
        for _ in 0..self.hosts[host as usize].parameters.costs.batch_headers {
            let parameters = &self.hosts[host as usize].parameters;
            let (costs, queue_bytes) = (parameters.costs, parameters.card_queue_bytes);
            let wire = &self.wires[link as usize].link;
            // The card holds what leaves after now, but for its latency.
            let queue_ps = queue_bytes * wire.parameters().ps_per_byte + costs.send_latency_ps;
            if wire.free_ps() > now_ps + queue_ps {
                return (now_ps, Some(wire.free_ps() - queue_ps));
            }
            let endpoint = &mut self.hosts[host as usize].endpoint;
            let Some(departure) = endpoint.transmit(now_ps / NS_PS) else { return (now_ps, None) };
            let is_data = departure.outgoing.segment.payload_bytes > 0;
            now_ps += if is_data { costs.descriptor_ps } else { costs.reply_ps };
            let (flow, side) = self.flow_at(&departure.tuple, host);
            let ready_ps = now_ps + costs.send_latency_ps;
            self.send(link, flow, side, &departure.outgoing, ready_ps);
        }
        (now_ps, Some(now_ps))
    }

    fn uplink(&self, host: u32) -> u32 {
        // Any other host is behind the one link; alone, a host has nobody to send to.
        let other = usize::from(host == 0);
        self.routes[host as usize][other]
    }

    /// Cuts a header into packets, as a card does, and puts them on the wire.
    fn send(&mut self, link: u32, flow: usize, side: usize, outgoing: &Outgoing, ready_ps: u64) {
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
            let packet = Packet { flow: flow as u32, is_to_server: side == 0, segment, offset };
            self.counts.sent += 1;
            let packet = self.insert(packet);
            self.put(link, packet, ready_ps);
            sent_bytes += bytes;
            if sent_bytes >= total_bytes {
                return;
            }
        }
    }
}
