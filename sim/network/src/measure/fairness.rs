//! Long flows beside short ones behind one port of a switch.
//!
//! ```text
//!   long 1..n ── link ──┐
//!                       ├─ switch: shared buffer, marks ─ link ──► server
//!   short 1..m ─ link ──┘
//! ```
//! Each flow has a host of its own, so that they meet in the switch alone. A short flow is a
//! connection: it opens, sends its bytes and closes, and the next one opens as soon as the client
//! knows that all has come. Its time is from `connect` to the last byte accepted in order.

use serde::{Deserialize, Serialize};

use super::statistics::{fairness, least, median, quantile};
use super::{gbps, is_conserved, stream, Common, Controller, Measurement, RowReport, LINE_GBPS};
use crate::counts::Counts;
use crate::flow::FlowParameters;
use crate::host::{HostCosts, HostParameters};
use crate::network::Network;
use crate::switch::SwitchParameters;
use crate::topology::{Topology, TopologyError};
use crate::units::{MS_PS, US_PS};

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// What all measurements have in common.
    pub common: Common,
    /// Controllers, each on its own.
    pub controllers: Vec<Controller>,
    /// Counts of long flows.
    pub longs: Vec<u64>,
    /// Counts of short flows beside them.
    pub shorts: Vec<u64>,
    /// What a short flow sends.
    pub short_bytes: u64,
    /// What a receiver grants.
    pub window_bytes: u64,
    /// Flows begin within this time of the first, evenly drawn.
    pub spread_us: u64,
    /// The switch.
    pub switch: SwitchParameters,
    /// What headers cost the hosts.
    pub costs: HostCosts,
    /// What waits in a card to be sent, at most.
    pub card_queue_bytes: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            common: Common { seeds: 3, ..Common::default() },
            controllers: vec![Controller::Model, Controller::Dctcp, Controller::Cubic],
            longs: vec![1, 2, 4, 8],
            shorts: vec![0, 1, 2, 4, 8],
            short_bytes: 64 << 10,
            window_bytes: 8 << 20,
            spread_us: 50,
            switch: SwitchParameters { buffer_bytes: 4 << 20, mark_packets: 200 },
            costs: HostCosts::default(),
            card_queue_bytes: 156_250,
        }
    }
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The controller of all.
    pub controller: Controller,
    /// Long flows.
    pub longs: u64,
    /// Short flows at a time.
    pub shorts: u64,
    /// The seed.
    pub seed: u64,
}

/// What a run has shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The run.
    pub case: Case,
    /// Every packet is accounted for, and no long flow has ended.
    pub ok: bool,
    /// Goodput of the long flows together.
    pub long_gbps: f64,
    /// Goodput of the short flows together.
    pub short_gbps: f64,
    /// Share of what the short flows leave of the line that the long ones have.
    pub long_fraction: f64,
    /// Jain's index of the long flows.
    pub fairness: f64,
    /// Times of the short flows that were complete in the measured time, in the order in which they
    /// were.
    pub short_times_us: Vec<f64>,
    /// Expiries of retransmission timers of all flows that are open.
    pub timeouts: u64,
    /// Most packets that have waited for the link of the server in the measured time.
    pub queue_packets_max: u64,
    /// What became of the packets.
    pub counts: Counts,
}

/// Clients around a switch, and one server.
pub(super) struct Star {
    pub(super) topology: Topology,
    pub(super) clients: Vec<crate::topology::HostId>,
    pub(super) server: crate::topology::HostId,
    pub(super) switch: crate::topology::SwitchId,
    /// The link from the switch to the server.
    pub(super) downlink: usize,
}

impl Star {
    pub(super) fn new(
        host: &HostParameters,
        switch: SwitchParameters,
        common: &Common,
        clients: u64,
    ) -> Self {
        let mut topology = Topology::default();
        let switch = topology.switch(switch);
        let server = topology.host(host.clone());
        let clients = Vec::from_iter((0..clients).map(|_| topology.host(host.clone())));
        // Four links make a round trip.
        let link = common.link(4);
        let [downlink, _] = topology.join([switch.into(), server.into()], link, link);
        for client in &clients {
            topology.join([(*client).into(), switch.into()], link, link);
        }
        Self { topology, clients, server, switch, downlink }
    }
}

/// When a flow begins: evenly drawn from the seed (SplitMix64; Steele, Lea, Flood 2014).
pub(super) fn spread_ps(seed: u64, flow: u64, spread_us: u64) -> u64 {
    let mut word = (seed << 20 | flow).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (word ^ (word >> 31)) % (spread_us * US_PS + 1)
}

/// What the server has accepted of each flow.
fn accepted_bytes(network: &Network) -> Vec<u64> {
    network.flows().iter().map(|flow| flow.sides[1].memory.accepted).collect()
}

/// Times of the flows from an index on that were complete after a time.
fn times_us(network: &Network, from: usize, after_ps: u64) -> Vec<f64> {
    let flows = network.flows()[from..].iter();
    let complete = flows.filter_map(|flow| Some((flow.complete_ps?, flow.parameters.open_ps)));
    let mut complete = Vec::from_iter(complete.filter(|(complete_ps, _)| *complete_ps >= after_ps));
    complete.sort_unstable();
    complete.iter().map(|(end_ps, start_ps)| (end_ps - start_ps) as f64 / US_PS as f64).collect()
}

/// All seeds of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The controller.
    pub controller: Controller,
    /// Long flows.
    pub longs: u64,
    /// Short flows at a time.
    pub shorts: u64,
    /// Goodput of the long flows together: median.
    pub long_gbps: f64,
    /// Goodput of the short flows together: median.
    pub short_gbps: f64,
    /// Share of what the short flows leave that the long ones have: least.
    pub long_fraction: f64,
    /// Jain's index of the long flows: least.
    pub fairness: f64,
    /// Times of the short flows of all seeds: median.
    pub short_p50_us: f64,
    /// 99th percentile of them.
    pub short_p99_us: f64,
    /// How many there were.
    pub short_flows: u64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// Longest queue before the link of the server.
    pub queue_packets_max: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that found no room in the switch.
    pub lost_in_buffer: u64,
}

/// All of it.
pub type Report = RowReport<Row, Parameters>;

/// Share of what short flows leave that the long ones are to have.
const GOAL_LONG: f64 = 0.9;
/// Jain's index that they are to have.
const GOAL_FAIRNESS: f64 = 0.95;

impl Row {
    fn new(outcomes: &[Outcome]) -> Self {
        let Case { controller, longs, shorts, .. } = outcomes[0].case;
        let of = |what: fn(&Outcome) -> f64| Vec::from_iter(outcomes.iter().map(what));
        let sum = |what: fn(&Outcome) -> u64| outcomes.iter().map(what).sum();
        let times_us: Vec<f64> =
            outcomes.iter().flat_map(|it| it.short_times_us.iter().copied()).collect();
        Self {
            controller,
            longs,
            shorts,
            long_gbps: median(&of(|it| it.long_gbps)),
            short_gbps: median(&of(|it| it.short_gbps)),
            long_fraction: least(&of(|it| it.long_fraction)),
            fairness: least(&of(|it| it.fairness)),
            short_p50_us: quantile(&times_us, 0.5),
            short_p99_us: quantile(&times_us, 0.99),
            short_flows: times_us.len() as u64,
            timeouts: sum(|it| it.timeouts),
            queue_packets_max: outcomes.iter().map(|it| it.queue_packets_max).max().unwrap_or(0),
            marked: sum(|it| it.counts.marked),
            lost_in_buffer: sum(|it| it.counts.lost_in_buffer),
        }
    }

    /// Whether the goals are reached: they are the model-based controller's.
    pub fn is_reached(&self) -> bool {
        let is_fair = self.long_fraction >= GOAL_LONG && self.fairness >= GOAL_FAIRNESS;
        self.controller != Controller::Model || is_fair
    }
}

impl Measurement for Parameters {
    const NAME: &'static str = "fairness";
    type Case = Case;
    type Outcome = Outcome;
    type Report = Report;

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for controller in self.controllers.iter().copied() {
            for longs in self.longs.iter().copied() {
                for shorts in self.shorts.iter().copied() {
                    let seeds = 1..=self.common.seeds;
                    cases.extend(seeds.map(|seed| Case { controller, longs, shorts, seed }));
                }
            }
        }
        cases
    }

    fn measure(&self, case: &Case) -> Result<Outcome, TopologyError> {
        let host = HostParameters {
            costs: self.costs,
            card_queue_bytes: self.card_queue_bytes,
            ..HostParameters::measured(case.controller.config())
        };
        let star = Star::new(&host, self.switch, &self.common, case.longs + case.shorts);
        let mut network = Network::new(&star.topology, case.seed)?;
        for (at, client) in star.clients.iter().copied().enumerate() {
            let flow = stream(client, star.server, self.window_bytes);
            let start_ps = spread_ps(case.seed, at as u64, self.spread_us);
            let flow = FlowParameters { open_ps: start_ps, send_ps: start_ps, ..flow };
            let short = [Some(self.short_bytes), Some(0)];
            network.add_flow(match (at as u64) < case.longs {
                true => flow,
                false => FlowParameters { bytes: short, is_repeated: true, ..flow },
            });
        }
        network.run(self.common.warm_ms * MS_PS);
        network.take_peak(star.switch, star.downlink);
        let before_bytes = accepted_bytes(&network);
        let before_ps = network.now_ps();
        network.run(before_ps + self.common.measured_ps());
        let longs = case.longs as usize;
        let bytes = accepted_bytes(&network);
        let long_bytes = bytes[..longs].iter().zip(&before_bytes).map(|(now, then)| now - then);
        let long_bytes: Vec<f64> = long_bytes.map(|bytes| bytes as f64).collect();
        let short_bytes =
            bytes[longs..].iter().sum::<u64>() - before_bytes[longs..].iter().sum::<u64>();
        let measured_ps = self.common.measured_ps();
        let long_gbps = gbps(long_bytes.iter().sum::<f64>() as u64, measured_ps);
        let short_gbps = gbps(short_bytes, measured_ps);
        let flows = network.flows();
        let has_ended = flows[..longs].iter().any(|flow| flow.sides[0].end.is_some());
        Ok(Outcome {
            case: *case,
            ok: is_conserved(&network) && !has_ended,
            long_gbps,
            short_gbps,
            long_fraction: long_gbps / (LINE_GBPS - short_gbps),
            fairness: fairness(&long_bytes),
            short_times_us: times_us(&network, longs, before_ps),
            timeouts: (0..flows.len()).map(|flow| network.counters(flow, 0).timeouts).sum(),
            queue_packets_max: network.take_peak(star.switch, star.downlink).packets,
            counts: network.counts(),
        })
    }

    fn report(&self, outcomes: &[Outcome]) -> Report {
        let key = |it: &Outcome| (it.case.controller, it.case.longs, it.case.shorts);
        let rows: Vec<Row> = outcomes.chunk_by(|a, b| key(a) == key(b)).map(Row::new).collect();
        let ok = outcomes.iter().all(|it| it.ok) && rows.iter().all(Row::is_reached);
        Report { ok, rows, parameters: self.clone() }
    }

    fn is_exact(outcome: &Outcome) -> bool {
        outcome.ok
    }

    fn is_ok(report: &Report) -> bool {
        report.ok
    }
}
