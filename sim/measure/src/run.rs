//! One measurement from warm-up to verdict.
//!
//! ```text
//!   set up ── warm up ──┬── measure ──┬── stop, drain ── judge: entries, memory, guards, counters
//!                       └─ snapshot   └─ snapshot: the figures are the difference
//! ```
//! The warm-up ends when several round trips have passed and every flow has had a packet. Packets
//! and passes over lists are counted from there.

use abi::counters::PEAKS;
use abi::reason::{Disposition, DropReason, SendError};
use pcie_sim::{PcieConfig, Statistics};
use sim::card::{CardError, SimulatedCard};
use verilate::options::Options;

use crate::error::MeasureError;
use crate::limits::{lanes_bytes_per_ns, Limit};
use crate::load::{limits, lost_share_max, may_lose};
use crate::parties::host::{Host, Problems, POLL_CYCLES};
use crate::parties::peer::{Arrived, Peer, OWNERS};
use crate::parties::sender::Sender;
use crate::scenario::Scenario;
use crate::timing::latencies::Latencies;

/// Least traffic before the measurement, ns: several round trips.
const WARM_UP_NS: u64 = 40_000;
/// Longest wait for a packet at either end of the measurement, ns.
const PACKET_NS_MAX: u64 = 20_000;
/// Time without progress after which a run ends, ns.
const STUCK_NS: u64 = 300_000;

/// Frames that may be lost beyond their share before queues and windows have settled.
const LOST_AT_START: f64 = 100.0;
/// Least passes over all sizes of a sweep.
const SWEEPS_MIN: u32 = 2;

/// A counter's name and what it counted.
type Count = (&'static str, u64);

/// Figures of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Payload in application memory, or on the wire, Gb/s.
    pub goodput_gbps: f64,
    /// Packets a second, in millions.
    pub mpps: f64,
    /// Packets a second that were offered, in millions.
    pub offered_mpps: f64,
    /// Packets measured.
    pub packets: u64,
    /// Fewest passes over a flow's list of segments.
    pub wraps: u64,
}

/// Figures of the owner that the one measured shares the wire with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RivalFigures {
    /// Header entries that its host took, in millions a second.
    pub mpps: f64,
    /// Its packets on the wire, in millions a second.
    pub offered_mpps: f64,
    /// Its frames for which no header entry came.
    pub frames_lost: u64,
}

/// The result of a measurement.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What went wrong; empty when every byte and every count is right.
    pub problems: Problems,
    /// Receiving.
    pub receive: Option<Figures>,
    /// Sending.
    pub send: Option<Figures>,
    /// Receiving, of the second owner.
    pub rival: Option<RivalFigures>,
    /// The limits of each direction.
    pub limits: Vec<Limit>,
    /// Received packets for each header entry; 0 without any.
    pub packets_per_entry: f64,
    /// What the lanes carried for header entries, Gb/s.
    pub entries_gbps: f64,
    /// From the last byte of each received packet to the poll that found its entry.
    pub entry_waits: Latencies,
    /// Frames for which no header entry came; a rival's not counted.
    pub frames_lost: u64,
    /// Simulated time that was measured.
    pub time_ns: u64,
    /// Cycles of the card's clock in all, setup included.
    pub cycles: u64,
    /// Share of the measured time in which the peer had no open window.
    pub window_closed: f64,
    /// Share of the lanes used, from card to host and from host to card.
    pub lanes: [f64; 2],
    /// Cycles of the measured time in which the hard block held a request back.
    pub rq_stall_cycles: u64,
    /// What the card counted from the first packet to the last, and its peaks; zeros left out.
    pub counters: Vec<(&'static str, u64)>,
}

impl Outcome {
    /// Every byte and every count is right.
    pub fn is_ok(&self) -> bool {
        self.problems.count == 0
    }
}

/// Progress of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Simulated time measured so far.
    pub time_ns: u64,
    /// Least time that is measured.
    pub wanted_ns: u64,
}

/// Counts at one moment.
struct Snapshot {
    time_ps: u64,
    received: [Arrived; OWNERS],
    header_entries: u64,
    entry_lane_bytes: f64,
    entry_waits: usize,
    offered: [u64; OWNERS],
    sent: crate::parties::sender::Sent,
    link: Statistics,
    window_closed_ps: u64,
    /// Packets of each flow to the card, and from it.
    packets: [Vec<u64>; 2],
    /// Segments of each flow that were released: receiving, sending.
    released: Vec<[u64; 2]>,
}

/// Fewest packets that one of the flows has had since.
fn fewest_packets(now: &[u64], before: &[u64]) -> u64 {
    let since = now.iter().zip(before).map(|(now, before)| now - before);
    since.min().unwrap_or(0)
}

/// A card under load.
pub struct Measurement {
    /// The host's side.
    pub host: Host,
    /// The other end of the wire.
    pub peer: Peer,
    /// The sending side.
    pub sender: Sender,
    scenario: Scenario,
    /// What the card had counted before anything flowed.
    idle: Vec<Count>,
}

impl Measurement {
    /// Builds the card and sets it up; nothing flows yet.
    pub fn open(scenario: &Scenario, options: Options) -> Result<Self, MeasureError> {
        Self::with_card(scenario, |pcie| SimulatedCard::new(&scenario.card, pcie, options))
    }

    /// Sets up the card that `build` makes for a slot; nothing flows yet.
    pub fn with_card(
        scenario: &Scenario,
        build: impl FnOnce(PcieConfig) -> Result<SimulatedCard, CardError>,
    ) -> Result<Self, MeasureError> {
        scenario.check()?;
        let mut host = Host::open(scenario, build)?;
        Ok(Self {
            idle: host.machine.host.device.counters()?,
            host,
            peer: Peer::new(scenario),
            sender: Sender::new(scenario),
            scenario: scenario.clone(),
        })
    }

    /// One poll of the host, and the cycles until the next.
    pub fn step(&mut self) -> Result<(), MeasureError> {
        self.host.look()?;
        self.peer.take_entries(&mut self.host)?;
        self.host.return_entries()?;
        self.sender.take_frames(&mut self.host, &mut self.peer)?;
        self.sender.post(&mut self.host);
        self.peer.fill_wire(&mut self.host);
        self.host.machine.card.borrow_mut().run(POLL_CYCLES);
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let card = self.host.machine.card.borrow();
        Snapshot {
            time_ps: card.now_ps(),
            received: self.peer.arrived,
            header_entries: self.peer.header_entries,
            entry_lane_bytes: self.peer.entry_lane_bytes,
            entry_waits: self.peer.entry_waits_ns.len(),
            offered: self.peer.frames,
            sent: self.sender.sent,
            link: card.pcie.statistics(),
            window_closed_ps: self.peer.window_closed_ps,
            packets: [self.peer.packets(), self.sender.packets()],
            released: (self.host.flows.iter())
                .map(|flow| [flow.receive.released_segments(), flow.send.released_segments()])
                .collect(),
        }
    }

    fn now_ns(&self) -> u64 {
        self.host.machine.card.borrow().now_ps() / 1000
    }

    /// Fewest passes over a list since.
    fn wraps(&self, before: &Snapshot) -> [u64; 2] {
        let flows = self.host.flows.iter().zip(&before.released);
        flows.fold([u64::MAX; 2], |[receive, send], (flow, released)| {
            [
                receive.min(flow.receive.wraps_since(released[0])),
                send.min(flow.send.wraps_since(released[1])),
            ]
        })
    }

    /// Whether a time has passed and every flow has had so many packets since.
    fn have_passed(&self, before: &Snapshot, time_ns: u64, packets: u64) -> bool {
        if self.now_ns() < before.time_ps / 1000 + time_ns {
            return false;
        }
        let received = fewest_packets(&self.peer.packets(), &before.packets[0]) >= packets;
        let sent = fewest_packets(&self.sender.packets(), &before.packets[1]) >= packets;
        (received || !self.scenario.receive) && (sent || !self.scenario.send)
    }

    /// Whether time, packets, sizes and passes over the lists suffice.
    fn is_enough(&self, before: &Snapshot) -> bool {
        let scenario = &self.scenario;
        if !self.have_passed(before, scenario.time_ns, scenario.packets_min) {
            return false;
        }
        let frames: u64 = self.peer.frames.iter().sum();
        let all_sizes = u64::from(SWEEPS_MIN * (scenario.sizes() - 1));
        let swept = frames - before.offered.iter().sum::<u64>() >= all_sizes;
        let [receive, send] = self.wraps(before);
        let received = receive >= scenario.wraps_min || scenario.payload_bytes(false) == 0;
        let sent = send >= scenario.wraps_min || scenario.all_inline();
        swept && (received || !scenario.receive) && (sent || !scenario.send)
    }

    /// Steps until `is_done`, or until something is wrong.
    fn go_on(
        &mut self,
        is_done: impl Fn(&Self) -> bool,
        mut observe: impl FnMut(&Self),
    ) -> Result<(), MeasureError> {
        let mut last = (self.progress(), self.now_ns());
        while !is_done(self) && self.host.problems.count == 0 {
            // A sweep ends with its last size, so that its mean is comparable to its limit.
            let steps = if self.scenario.sizes() > 1 { 1 } else { 64 };
            for _ in 0..steps {
                self.step()?;
            }
            observe(self);
            if self.progress() != last.0 {
                last = (self.progress(), self.now_ns());
            } else if self.now_ns() > last.1 + STUCK_NS {
                self.host.problems.add(|| "nothing moves any more".to_owned());
            }
        }
        Ok(())
    }

    fn progress(&self) -> (u64, u64) {
        let arrived = self.peer.arrived.iter();
        let sent = self.sender.sent;
        (arrived.map(|of| of.entries + of.lost).sum(), sent.packets + sent.acks)
    }

    /// Steps to the next poll that sees a packet: a measurement that begins and ends there counts
    /// whole packets in whole packet times.
    fn step_to_packet(&mut self) -> Result<(), MeasureError> {
        let (seen, end_ns) = (self.progress(), self.now_ns() + PACKET_NS_MAX);
        while self.progress() == seen && self.now_ns() < end_ns {
            self.step()?;
        }
        Ok(())
    }

    /// Warms up, measures, drains, judges. A card that was found wrong is not closed: it may never
    /// end its requests, for which closing waits 200 ms of its time, and those are minutes here.
    pub fn run(mut self, observe: &mut dyn FnMut(Status)) -> Result<Outcome, MeasureError> {
        let outcome = self.measure(observe);
        if !outcome.as_ref().is_ok_and(Outcome::is_ok) {
            std::mem::forget(self);
        }
        outcome
    }

    fn measure(&mut self, observe: &mut dyn FnMut(Status)) -> Result<Outcome, MeasureError> {
        let begin = self.snapshot();
        self.go_on(|it| it.have_passed(&begin, WARM_UP_NS, 1), |_| {})?;
        self.step_to_packet()?;
        let before = self.snapshot();
        let start_ns = self.now_ns();
        let wanted_ns = self.scenario.time_ns;
        self.go_on(
            |it| it.is_enough(&before),
            |it| {
                observe(Status { time_ns: it.now_ns() - start_ns, wanted_ns });
            },
        )?;
        self.step_to_packet()?;
        let after = self.snapshot();
        let wraps = self.wraps(&before);
        self.drain()?;
        self.judge()?;
        let counters = self.take_counts()?;
        Ok(self.outcome(&before, &after, wraps, counters))
    }

    /// What the card counted since it was idle; peaks as they are.
    fn take_counts(&mut self) -> Result<Vec<Count>, MeasureError> {
        let is_peak = |name: &str| PEAKS.iter().any(|peak| peak.name == name);
        let before = |name: &str| match self.idle.iter().find(|count| count.0 == name) {
            Some((_, count)) if !is_peak(name) => *count,
            _ => 0,
        };
        let counters = self.host.machine.host.device.counters()?.into_iter();
        let since = counters.map(|(name, count)| (name, count.wrapping_sub(before(name))));
        Ok(since.filter(|(_, count)| *count > 0).collect())
    }

    fn drain(&mut self) -> Result<(), MeasureError> {
        self.peer.stop();
        self.sender.stop();
        self.host.drain_all();
        let mut last = (self.progress(), self.now_ns());
        let is_busy = |it: &Self| {
            let frames = it.peer.in_flight() > 0 || it.sender.expected_descriptors() > 0;
            frames || it.host.unconfirmed_count() > 0 || !it.host.acks_owed.is_empty()
        };
        while is_busy(self) && self.now_ns() < last.1 + STUCK_NS / 2 {
            self.step()?;
            if self.progress() != last.0 {
                last = (self.progress(), self.now_ns());
            }
        }
        self.peer.give_up_rest(&mut self.host)?;
        let expected = self.sender.expected_descriptors();
        if expected > 0 {
            let problems = &mut self.host.problems;
            problems.add(|| format!("{expected} descriptors whose frames did not leave"));
        }
        Ok(())
    }

    /// Guards, rules of link and MAC, conservation of frames, and counters that must not move.
    fn judge(&mut self) -> Result<(), MeasureError> {
        self.host.check_guards()?;
        let counters = self.host.machine.host.device.counters()?;
        let card = self.host.machine.card.clone();
        let card = card.borrow();
        let problems = &mut self.host.problems;
        for violation in card.violations() {
            problems.add(|| format!("rule broken: {violation}"));
        }
        let faults = card.pcie.fault_log();
        if let Some(fault) = faults.first() {
            problems.add(|| format!("{} accesses refused, first {fault:?}", faults.len()));
        }
        let of = |name: &str| counters.iter().find(|c| c.0 == name).map_or(0, |c| c.1);
        let entries: u64 = Disposition::ALL.iter().map(|d| of(d.name())).sum();
        let drops: u64 = DropReason::ALL.iter().map(|d| of(d.name())).sum();
        let frames = card.mac.received_count().frames;
        let seen = self.peer.arrived.iter().map(|of| of.entries).sum::<u64>();
        if frames != entries + drops || entries != seen {
            problems
                .add(|| format!("{frames} frames, {entries} entries, {seen} seen, {drops} drops"));
        }
        for reason in DropReason::ALL.iter().filter(|reason| of(reason.name()) > 0) {
            let is_overload =
                matches!(reason, DropReason::HeaderQueueFull | DropReason::BufferShareFull);
            let allowed = may_lose(&self.scenario) && is_overload;
            if !allowed {
                let (name, count) = (reason.name(), of(reason.name()));
                problems.add(|| format!("{count} frames dropped: {name}"));
            }
        }
        let [lost, offered] = [self.peer.arrived[0].lost, self.peer.frames[0]];
        let lost_max = lost_share_max(&self.scenario) * offered as f64 + LOST_AT_START;
        if self.scenario.rival.is_none() && lost as f64 > lost_max {
            problems.add(|| format!("{lost} of {offered} frames lost; at most {lost_max:.0}"));
        }
        for error in SendError::ALL.iter().filter(|error| of(error.name()) > 0) {
            let (name, count) = (error.name(), of(error.name()));
            problems.add(|| format!("{count} descriptors failed: {name}"));
        }
        Ok(())
    }

    fn outcome(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
        wraps: [u64; 2],
        counters: Vec<Count>,
    ) -> Outcome {
        let time_ns = ((after.time_ps - before.time_ps) / 1000).max(1);
        let figures = |bytes: u64, packets: u64, offered: u64, wraps: u64| Figures {
            goodput_gbps: bytes as f64 * 8.0 / time_ns as f64,
            mpps: packets as f64 * 1000.0 / time_ns as f64,
            offered_mpps: offered as f64 * 1000.0 / time_ns as f64,
            packets,
            wraps,
        };
        let arrived = |owner: usize| {
            let (first, last) = (&before.received[owner], &after.received[owner]);
            figures(
                last.payload_bytes - first.payload_bytes,
                last.packets - first.packets,
                after.offered[owner] - before.offered[owner],
                wraps[0],
            )
        };
        let (receive, rival) = (arrived(0), arrived(1));
        let rival = RivalFigures {
            mpps: rival.mpps,
            offered_mpps: rival.offered_mpps,
            frames_lost: self.peer.arrived[1].lost,
        };
        let (first, last) = (&before.sent, &after.sent);
        let packets = last.packets - first.packets;
        let send = figures(last.payload_bytes - first.payload_bytes, packets, packets, wraps[1]);
        let lanes = |of: fn(&Statistics) -> u64| {
            let bytes = (of(&after.link) - of(&before.link)) as f64;
            bytes / time_ns as f64 / lanes_bytes_per_ns(&self.scenario.pcie)
        };
        let limits = limits(&self.scenario);
        let cycles = self.host.machine.card.borrow().cycles();
        let entries = after.header_entries - before.header_entries;
        let waits = &self.peer.entry_waits_ns[before.entry_waits..after.entry_waits];
        let entry_lane_bytes = after.entry_lane_bytes - before.entry_lane_bytes;
        let seen = |of: &Snapshot| of.received.iter().map(|it| it.entries).sum::<u64>();
        Outcome {
            limits,
            packets_per_entry: (seen(after) - seen(before)) as f64 / entries.max(1) as f64,
            entries_gbps: entry_lane_bytes * 8.0 / time_ns as f64,
            entry_waits: Latencies::new(waits.iter().copied().map(f64::from).collect()),
            receive: self.scenario.receive.then_some(receive),
            send: self.scenario.send.then_some(send),
            rival: self.scenario.rival.map(|_| rival),
            frames_lost: self.peer.arrived[0].lost,
            time_ns,
            cycles,
            window_closed: (after.window_closed_ps - before.window_closed_ps) as f64
                / (time_ns * 1000) as f64,
            lanes: [lanes(|s| s.upstream.link_bytes), lanes(|s| s.downstream.link_bytes)],
            rq_stall_cycles: after.link.rq_stall_cycles - before.link.rq_stall_cycles,
            counters,
            problems: std::mem::take(&mut self.host.problems),
        }
    }
}
