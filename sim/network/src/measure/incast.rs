//! Many senders that begin at once, behind one port of a switch.
//!
//! The connections are open before: a sender begins with its initial window. The share of the link
//! is all bytes over what its payload rate carries from the first begin to the last byte accepted.

use serde::{Deserialize, Serialize};

use super::fairness::{spread_ps, Star};
use super::statistics::{least, median, quantile};
use super::{gbps, is_conserved, stream, Common, Controller, Measurement, RowReport, LINE_GBPS};
use crate::counts::Counts;
use crate::flow::FlowParameters;
use crate::host::{HostCosts, HostParameters};
use crate::network::Network;
use crate::switch::SwitchParameters;
use crate::topology::TopologyError;
use crate::units::{MS_PS, US_PS};

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// What all measurements have in common; the measured time is a limit here.
    pub common: Common,
    /// Controllers, each on its own.
    pub controllers: Vec<Controller>,
    /// Counts of senders.
    pub senders: Vec<u64>,
    /// What each sends.
    pub bytes: u64,
    /// What a receiver grants.
    pub window_bytes: u64,
    /// Senders begin within this time, evenly drawn.
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
            common: Common { measured_ms: 200, ..Common::default() },
            controllers: vec![Controller::Model, Controller::Dctcp, Controller::Cubic],
            senders: vec![64, 256],
            bytes: 256 << 10,
            window_bytes: 8 << 20,
            spread_us: 1,
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
    /// Senders.
    pub senders: u64,
    /// The seed.
    pub seed: u64,
}

/// What a run has shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The run.
    pub case: Case,
    /// Every packet is accounted for, and every byte was accepted in time.
    pub ok: bool,
    /// Share of the link's payload rate.
    pub link_fraction: f64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// Bytes that were sent again.
    pub repeated_bytes: u64,
    /// Median of the times from begin to last byte accepted.
    pub time_p50_us: f64,
    /// Longest of them.
    pub time_max_us: f64,
    /// Most packets that have waited for the link of the server.
    pub queue_packets_max: u64,
    /// What became of the packets.
    pub counts: Counts,
}

/// All seeds of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The controller.
    pub controller: Controller,
    /// Senders.
    pub senders: u64,
    /// Share of the link: median.
    pub link_fraction: f64,
    /// Share of the link: least.
    pub link_fraction_worst: f64,
    /// Expiries of retransmission timers, of all seeds.
    pub timeouts: u64,
    /// Bytes that were sent again, of all seeds.
    pub repeated_bytes: u64,
    /// Median of the medians of the times.
    pub time_p50_us: f64,
    /// Longest time of a sender.
    pub time_max_us: f64,
    /// Longest queue before the link of the server.
    pub queue_packets_max: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that found no room in the switch.
    pub lost_in_buffer: u64,
}

/// All of it.
pub type Report = RowReport<Row, Parameters>;

/// Share of the link to reach, without a timeout.
const GOAL_LINK: f64 = 0.9;

impl Row {
    fn new(outcomes: &[Outcome]) -> Self {
        let Case { controller, senders, .. } = outcomes[0].case;
        let of = |what: fn(&Outcome) -> f64| Vec::from_iter(outcomes.iter().map(what));
        let sum = |what: fn(&Outcome) -> u64| outcomes.iter().map(what).sum();
        Self {
            controller,
            senders,
            link_fraction: median(&of(|it| it.link_fraction)),
            link_fraction_worst: least(&of(|it| it.link_fraction)),
            timeouts: sum(|it| it.timeouts),
            repeated_bytes: sum(|it| it.repeated_bytes),
            time_p50_us: median(&of(|it| it.time_p50_us)),
            time_max_us: quantile(&of(|it| it.time_max_us), 1.0),
            queue_packets_max: outcomes.iter().map(|it| it.queue_packets_max).max().unwrap_or(0),
            marked: sum(|it| it.counts.marked),
            lost_in_buffer: sum(|it| it.counts.lost_in_buffer),
        }
    }

    /// Whether the goals are reached: they are the model-based controller's.
    pub fn is_reached(&self) -> bool {
        let is_good = self.timeouts == 0 && self.link_fraction_worst >= GOAL_LINK;
        self.controller != Controller::Model || is_good
    }
}

impl Measurement for Parameters {
    const NAME: &'static str = "incast";
    type Case = Case;
    type Outcome = Outcome;
    type Report = Report;

    fn common_mut(&mut self) -> &mut Common {
        &mut self.common
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        for controller in self.controllers.iter().copied() {
            for senders in self.senders.iter().copied() {
                let seeds = 1..=self.common.seeds;
                cases.extend(seeds.map(|seed| Case { controller, senders, seed }));
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
        let star = Star::new(&host, self.switch, &self.common, case.senders);
        let mut network = Network::new(&star.topology, case.seed)?;
        let begin_ps = self.common.warm_ms * MS_PS;
        for (at, client) in star.clients.iter().copied().enumerate() {
            let flow = stream(client, star.server, self.window_bytes);
            let bytes = [Some(self.bytes), Some(0)];
            let send_ps = begin_ps + spread_ps(case.seed, at as u64, self.spread_us);
            // They open one after the other, in half of the time before they begin.
            let open_ps = begin_ps / 2 * at as u64 / case.senders;
            network.add_flow(FlowParameters { open_ps, send_ps, bytes, ..flow });
        }
        let limit_ps = begin_ps + self.common.measured_ps();
        let all_bytes = case.senders * self.bytes;
        while network.accepted_bytes() < all_bytes && network.now_ps() < limit_ps {
            network.run(network.now_ps() + 100 * US_PS);
        }
        let is_complete = network.accepted_bytes() == all_bytes;
        let flows = network.flows();
        let last_ps = flows.iter().filter_map(|flow| flow.complete_ps).max().unwrap_or(limit_ps);
        let times_us = flows.iter().map(|flow| {
            let end_ps = flow.complete_ps.unwrap_or(limit_ps);
            (end_ps - flow.parameters.send_ps) as f64 / US_PS as f64
        });
        let times_us: Vec<f64> = times_us.collect();
        let counters = |flow| network.counters(flow, 0);
        let accepted_bytes = network.accepted_bytes();
        Ok(Outcome {
            case: *case,
            ok: is_conserved(&network) && is_complete,
            link_fraction: gbps(accepted_bytes, last_ps.max(begin_ps + 1) - begin_ps) / LINE_GBPS,
            timeouts: (0..flows.len()).map(|flow| counters(flow).timeouts).sum(),
            repeated_bytes: (0..flows.len()).map(|flow| counters(flow).repeated_bytes).sum(),
            time_p50_us: quantile(&times_us, 0.5),
            time_max_us: quantile(&times_us, 1.0),
            queue_packets_max: network.take_peak(star.switch, star.downlink).packets,
            counts: network.counts(),
        })
    }

    fn report(&self, outcomes: &[Outcome]) -> Report {
        let key = |it: &Outcome| (it.case.controller, it.case.senders);
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
