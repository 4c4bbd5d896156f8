//! Goodput of one flow over loss, reordering, duplication and bursts.
//!
//! ```text
//!   client ── link: faults ──► server           data and ACKs meet the same faults
//!          ◄── link: faults ──
//! ```
//! The fraction is goodput over what can arrive: bytes accepted in order / (payload rate of the
//! line x (1 - loss)), counted for [`Common::measured_ms`] from [`Common::warm_ms`] after the first
//! byte was accepted: a lost SYN is no goodput.

use serde::{Deserialize, Serialize};

use super::statistics::{least, median};
use super::{
    gbps, is_conserved, stream, Common, Controller, Measurement, LINE_GBPS, SEGMENT_WIRE_BYTES,
};
use crate::counts::Counts;
use crate::host::{HostCosts, HostParameters};
use crate::link::{Burst, LinkParameters, Loss};
use crate::network::Network;
use crate::topology::{Topology, TopologyError};
use crate::units::{MS_PS, PS_PER_BYTE_100G, US_PS};

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// What all measurements have in common.
    pub common: Common,
    /// Window of the rows of the table.
    pub window_bytes: u64,
    /// Windows that are shown beside it.
    pub small_windows_bytes: Vec<u64>,
    /// Shares of packets lost, data and ACKs alike.
    pub losses: Vec<f64>,
    /// Shares of packets that come late, by up to one round trip.
    pub lates: Vec<f64>,
    /// Shares of packets that come twice.
    pub doubles: Vec<f64>,
    /// Share of packets lost in bursts.
    pub burst_loss: f64,
    /// Mean lengths of these bursts.
    pub bursts_packets: Vec<f64>,
    /// What headers cost the hosts.
    pub costs: HostCosts,
    /// What waits in a card to be sent, at most.
    pub card_queue_bytes: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            common: Common::default(),
            window_bytes: 8 << 20,
            small_windows_bytes: vec![1 << 20, 2 << 20],
            losses: vec![0.0, 0.001, 0.01, 0.02, 0.04, 0.1],
            lates: vec![0.01, 0.1, 0.5],
            doubles: vec![0.01, 0.1, 0.5],
            burst_loss: 0.01,
            bursts_packets: vec![4.0, 16.0, 64.0],
            costs: HostCosts::default(),
            card_queue_bytes: 156_250,
        }
    }
}

/// What disturbs the flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// A share of packets is lost, each on its own.
    Loss(f64),
    /// A share comes late.
    Late(f64),
    /// A share comes twice.
    Double(f64),
    /// [`Parameters::burst_loss`] is lost, in bursts of a mean length.
    Burst(f64),
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The controller of both ends.
    pub controller: Controller,
    /// What the receiver grants.
    pub window_bytes: u64,
    /// What disturbs.
    pub fault: Fault,
    /// The seed.
    pub seed: u64,
}

/// What a run has shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The run.
    pub case: Case,
    /// Goodput over what can arrive.
    pub goodput_fraction: f64,
    /// Every packet is accounted for, and the connection has not ended.
    pub ok: bool,
    /// Expiries of the sender's retransmission timer (RFC 6298, 5).
    pub timeouts: u64,
    /// Bytes that it has sent again.
    pub repeated_bytes: u64,
    /// What became of the packets.
    pub counts: Counts,
}

impl Parameters {
    /// A link with the faults of a case.
    fn link(&self, fault: Fault) -> LinkParameters {
        let clean = self.common.link(2);
        let late_ps_max = self.common.round_trip_us * US_PS;
        match fault {
            Fault::Loss(0.0) => clean,
            Fault::Loss(share) => LinkParameters { loss: Loss::Independent(share), ..clean },
            Fault::Late(late) => LinkParameters { late, late_ps_max, ..clean },
            Fault::Double(doubled) => LinkParameters { doubled, late_ps_max, ..clean },
            Fault::Burst(packets) => {
                let loss = Loss::Bursty(Burst::of(self.burst_loss, packets));
                LinkParameters { loss, ..clean }
            }
        }
    }
}

/// Goodput of go-back-N over what can arrive, with in flight what the path holds.
pub fn go_back_n(loss: f64, round_trip_us: u64) -> f64 {
    let path_bytes = round_trip_us * US_PS / PS_PER_BYTE_100G;
    model::cost::go_back_n(loss, path_bytes as f64 / SEGMENT_WIRE_BYTES as f64)
}

/// A point of the table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The controller.
    pub controller: Controller,
    /// Share of packets lost.
    pub loss: f64,
    /// Goodput over what can arrive.
    pub goodput_fraction: f64,
    /// The seed.
    pub seed: u64,
}

/// Median and worst of the seeds of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The controller.
    pub controller: Controller,
    /// What the receiver grants.
    pub window_bytes: u64,
    /// What disturbs.
    pub fault: Fault,
    /// Median of the fractions.
    pub median: f64,
    /// Least of them.
    pub worst: f64,
    /// Median to reach, where there is one.
    pub to_reach: Option<f64>,
    /// Expiries of the retransmission timer, all seeds.
    pub timeouts: u64,
}

/// Go-back-N at a loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// Share of packets lost.
    pub loss: f64,
    /// Goodput over what can arrive.
    pub goodput_fraction: f64,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Every run is exact, every packet accounted for, every goal reached.
    pub ok: bool,
    /// Loss alone, with the window of the table.
    pub points: Vec<Point>,
    /// All rows: median and worst.
    pub rows: Vec<Row>,
    /// Go-back-N by formula.
    pub go_back_n: Vec<Formula>,
    /// What was measured.
    pub parameters: Parameters,
}

/// What the model-based controller is to reach over loss.
const GOALS: [(f64, f64); 6] =
    [(0.0, 0.98), (0.001, 0.98), (0.01, 0.97), (0.02, 0.95), (0.04, 0.92), (0.1, 0.75)];
/// What it is to reach of the goodput in order, where packets come late or twice.
const GOAL_UNORDERED: f64 = 0.99;
/// How far below the median a seed may be.
const SPREAD_MAX: f64 = 0.05;

impl Parameters {
    fn goal(&self, case: &Case, clean: f64) -> Option<f64> {
        if case.controller != Controller::Model || case.window_bytes != self.window_bytes {
            return None;
        }
        match case.fault {
            Fault::Loss(loss) => GOALS.iter().find(|goal| goal.0 == loss).map(|goal| goal.1),
            Fault::Late(_) | Fault::Double(_) => Some(GOAL_UNORDERED * clean),
            Fault::Burst(_) => None,
        }
    }
}

impl Row {
    /// Whether the median reaches its goal, and the worst lies within 5 points of the median.
    pub fn is_reached(&self) -> bool {
        let is_near = self.worst >= self.median - SPREAD_MAX;
        self.to_reach.is_none_or(|goal| self.median >= goal && is_near)
    }
}

impl Measurement for Parameters {
    const NAME: &'static str = "loss";
    type Case = Case;
    type Outcome = Outcome;
    type Report = Report;

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn cases(&self) -> Vec<Case> {
        use Controller::{Cubic, Model};
        let mut rows = Vec::new();
        let losses: Vec<Fault> = self.losses.iter().map(|it| Fault::Loss(*it)).collect();
        for controller in [Model, Cubic] {
            rows.extend(losses.iter().map(|fault| (controller, self.window_bytes, *fault)));
        }
        for window_bytes in &self.small_windows_bytes {
            rows.extend(losses.iter().map(|fault| (Model, *window_bytes, *fault)));
        }
        let lates = self.lates.iter().map(|it| Fault::Late(*it));
        let doubles = self.doubles.iter().map(|it| Fault::Double(*it));
        let bursts = self.bursts_packets.iter().map(|it| Fault::Burst(*it));
        let others = lates.chain(doubles).chain(bursts);
        rows.extend(others.map(|fault| (Model, self.window_bytes, fault)));
        let seeds = 1..=self.common.seeds;
        let cases = rows.into_iter().flat_map(|(controller, window_bytes, fault)| {
            seeds.clone().map(move |seed| Case { controller, window_bytes, fault, seed })
        });
        cases.collect()
    }

    fn measure(&self, case: &Case) -> Result<Outcome, TopologyError> {
        let link = self.link(case.fault);
        let host = HostParameters {
            costs: self.costs,
            card_queue_bytes: self.card_queue_bytes,
            ..HostParameters::measured(case.controller.config())
        };
        let mut topology = Topology::default();
        let ends = [topology.host(host.clone()), topology.host(host)];
        topology.join(ends.map(Into::into), link, link);
        let mut network = Network::new(&topology, case.seed)?;
        let flow = network.add_flow(stream(ends[0], ends[1], case.window_bytes));
        while network.accepted_bytes() == 0 {
            network.run(network.now_ps() + US_PS);
        }
        network.run(network.now_ps() + self.common.warm_ms * MS_PS);
        let before_bytes = network.accepted_bytes();
        network.run(network.now_ps() + self.common.measured_ps());
        let bytes = network.accepted_bytes() - before_bytes;
        let most_gbps = LINE_GBPS * (1.0 - link.loss.share());
        let counters = network.counters(flow, 0);
        let has_ended = network.flows()[flow].sides.iter().any(|side| side.end.is_some());
        Ok(Outcome {
            case: *case,
            goodput_fraction: gbps(bytes, self.common.measured_ps()) / most_gbps,
            ok: is_conserved(&network) && !has_ended,
            timeouts: counters.timeouts,
            repeated_bytes: counters.repeated_bytes,
            counts: network.counts(),
        })
    }

    fn report(&self, outcomes: &[Outcome]) -> Report {
        let is_row = |a: &Outcome, b: &Outcome| {
            let key = |it: &Case| (it.controller, it.window_bytes, it.fault);
            key(&a.case) == key(&b.case)
        };
        let mut rows: Vec<Row> = Vec::new();
        for outcomes in outcomes.chunk_by(is_row) {
            let fractions: Vec<f64> = outcomes.iter().map(|it| it.goodput_fraction).collect();
            let Case { controller, window_bytes, fault, .. } = outcomes[0].case;
            let median = median(&fractions);
            let clean = rows.first().map_or(median, |row| row.median);
            let to_reach = self.goal(&outcomes[0].case, clean);
            let timeouts = outcomes.iter().map(|it| it.timeouts).sum();
            let worst = least(&fractions);
            rows.push(Row { controller, window_bytes, fault, median, worst, to_reach, timeouts });
        }
        let points = outcomes.iter().filter_map(|it| match it.case.fault {
            Fault::Loss(loss) if it.case.window_bytes == self.window_bytes => Some(Point {
                controller: it.case.controller,
                loss,
                goodput_fraction: it.goodput_fraction,
                seed: it.case.seed,
            }),
            _ => None,
        });
        let formula = |loss: &f64| {
            let goodput_fraction = go_back_n(*loss, self.common.round_trip_us);
            Formula { loss: *loss, goodput_fraction }
        };
        Report {
            ok: outcomes.iter().all(|it| it.ok) && rows.iter().all(Row::is_reached),
            points: points.collect(),
            go_back_n: self.losses.iter().map(formula).collect(),
            rows,
            parameters: self.clone(),
        }
    }

    fn is_exact(outcome: &Outcome) -> bool {
        outcome.ok
    }

    fn is_ok(report: &Report) -> bool {
        report.ok
    }
}
