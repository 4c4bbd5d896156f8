//! How the costs are measured: runs of batches, each beside the reference loop.
//!
//! ```text
//!   row:  attempt ─► runs ─► batches, divided by the reference loop ─► median, spread
//!            ▲                                                            │
//!            └──────────────── while the runs spread too far ─────────────┘
//! ```

use std::time::Duration;

use network::measure::statistics::quantile;

use super::error::Result;
use super::figures::{AckCost, Cost, FlowsCost, MessageCost, Speed, Timed, FLOWS_GOAL};
use super::meter::{Meter, Program};
use super::report::{Goal, Report, Row};
use super::valgrind;
use super::work::{receive_beside, Worker, Workload, BATCH};
use crate::null_card::rig::CardSide;
use crate::timing::cores::Cores;
use crate::timing::reference::Reference;
use crate::timing::statistics::{median, SPREAD_MAX};

/// A batch that takes so many times the median of its run was interrupted by the machine. Of the
/// host's own work, nothing that comes now and then costs a batch as much.
const INTERRUPTED: f64 = 4.0;
/// Batches in which allocations are counted.
const COUNTED_BATCHES: usize = 200;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Runs of each attempt.
    pub runs: usize,
    /// Batches of each run.
    pub batches: usize,
    /// Attempts of each row at most.
    pub attempts: u32,
    /// Most flows.
    pub flows_max: usize,
    /// Count instructions.
    pub instructions: bool,
    /// Also receive from a card in a thread of its own.
    pub thread: bool,
    /// The program that measures.
    pub program: Program,
}

/// Where it is measured.
pub(super) struct Place<'a> {
    cores: &'a Cores,
    reference: Reference,
    /// Times of the reference loop, ns.
    seen: Vec<f64>,
}

impl<'a> Place<'a> {
    /// A place on these cores.
    pub fn new(cores: &'a Cores) -> Self {
        Self { cores, reference: Reference::new(), seen: Vec::new() }
    }

    /// The median time of the reference loop, ns.
    pub fn median_ns(&self) -> f64 {
        quantile(&self.seen, 0.5)
    }

    /// Time of a piece of work over that of the loop: the faster of two, as one of them may be
    /// interrupted.
    fn over_reference(&mut self, spent: Duration, before_ns: f64, after_ns: f64) -> f64 {
        let speed_ns = before_ns.min(after_ns);
        self.seen.push(speed_ns);
        spent.as_nanos() as f64 / speed_ns
    }
}

/// Removes the batches that the machine has interrupted. Returns how many there were.
fn leave_out_interrupted(batches: &mut Vec<(f64, f64)>) -> usize {
    let of = |(time, items): &(f64, f64)| time / items;
    let (limit, all) = (median(batches.iter().map(of).collect()).0, batches.len());
    batches.retain(|batch| of(batch) <= limit * INTERRUPTED);
    all - batches.len()
}

/// Measures again while the runs spread too far; the best attempt counts. Returns how many were
/// made, too.
pub(super) fn measure_steadiest<T>(
    attempts: u32,
    spread: impl Fn(&T) -> f64,
    mut measure: impl FnMut() -> Result<T>,
) -> Result<(T, u32)> {
    let mut best = measure()?;
    let mut made = 1;
    while spread(&best) >= SPREAD_MAX && made < attempts {
        let again = measure()?;
        made += 1;
        if spread(&again) < spread(&best) {
            best = again;
        }
    }
    Ok((best, made))
}

/// The same of one row.
fn best_of(attempts: u32, measure: impl FnMut() -> Result<Timed>) -> Result<Timed> {
    let (mut best, made) = measure_steadiest(attempts, |timed: &Timed| timed.spread, measure)?;
    best.attempts = made;
    Ok(best)
}

impl Plan {
    /// Times a piece of work on so many flows.
    fn time(
        &self,
        place: &mut Place,
        worker: &mut Worker,
        (work, flows): (Workload, usize),
    ) -> Result<Timed> {
        self.warm_up(worker, work, flows)?;
        best_of(self.attempts, || {
            let (mut runs, mut timed) = (Vec::new(), Timed::default());
            for _ in 0..self.runs {
                runs.push(self.run(place, worker, (work, flows), &mut timed)?);
            }
            (timed.ns, timed.spread) = median(runs);
            Ok(timed.finish())
        })
    }

    /// Works until nothing is new to any flow.
    pub(super) fn warm_up<C: CardSide>(
        &self,
        worker: &mut Worker<C>,
        work: Workload,
        flows: usize,
    ) -> Result<()> {
        for _ in 0..work.warm_up_batches(flows).max(self.batches / 4) {
            worker.batch(work, flows, &mut Meter::Off)?;
        }
        Ok(())
    }

    /// One run of a piece of work on so many flows: the time of a packet, in times of the loop.
    pub(super) fn run<C: CardSide>(
        &self,
        place: &mut Place,
        worker: &mut Worker<C>,
        (work, flows): (Workload, usize),
        timed: &mut Timed,
    ) -> Result<f64> {
        let mut batches = Vec::new();
        // Whatever was measured before has emptied the caches: a round of all flows is not timed.
        let untimed = flows.div_ceil(BATCH);
        worker.judge_later(work, flows, untimed + self.batches)?;
        for _ in 0..untimed {
            worker.batch(work, flows, &mut Meter::Off)?;
        }
        let mut before_ns = place.reference.time_ns();
        for _ in 0..self.batches {
            let mut meter = Meter::time(self.program);
            let items = worker.batch(work, flows, &mut meter)?;
            let after_ns = place.reference.time_ns();
            let (spent, empty, empty_calls) = meter.times();
            let time = place.over_reference(spent, before_ns, after_ns);
            batches.push((time, items as f64));
            timed.empty_ns += empty.as_nanos() as f64;
            timed.empty_polls += empty_calls;
            before_ns = after_ns;
        }
        worker.judge()?;
        timed.interrupted += leave_out_interrupted(&mut batches);
        let sum = |of: fn(&(f64, f64)) -> f64| batches.iter().map(of).sum::<f64>();
        Ok(sum(|batch| batch.0) / sum(|batch| batch.1))
    }

    /// Time of a packet from a card in a thread of its own. Polls that find nothing are left out.
    fn time_beside(&self, place: &mut Place) -> Result<Timed> {
        let mut worker = Worker::open(Workload::Receive, 1)?;
        let packets = (self.batches * BATCH) as u64;
        receive_beside(&mut worker, packets, place.cores, &mut Meter::Off)?;
        best_of(self.attempts, || {
            let (mut runs, mut timed) = (Vec::new(), Timed::default());
            for _ in 0..self.runs {
                let mut meter = Meter::time(self.program);
                let before_ns = place.reference.time_ns();
                let items = receive_beside(&mut worker, packets, place.cores, &mut meter)?;
                let after_ns = place.reference.time_ns();
                let (spent, empty, empty_calls) = meter.times();
                runs.push(place.over_reference(spent, before_ns, after_ns) / items as f64);
                timed.empty_ns += empty.as_nanos() as f64;
                timed.empty_polls += empty_calls;
            }
            (timed.ns, timed.spread) = median(runs);
            Ok(timed.finish())
        })
    }

    /// All costs of a piece of work on so many flows.
    fn cost(&self, place: &mut Place, work: Workload, flows: usize) -> Result<Cost> {
        let mut worker = Worker::open(work, flows)?;
        let timed = self.time(place, &mut worker, (work, flows))?;
        let batches = self.batches.min(COUNTED_BATCHES);
        let allocations = worker.allocations(self.program, (work, flows), batches)?;
        let counted = work.is_messages().then(|| worker.commands_each(work, flows, batches));
        let commands = counted.transpose()?;
        let instructions =
            self.instructions.then(|| valgrind::instructions(self.program, work, flows));
        let instructions = instructions.transpose()?;
        Ok(Cost { ns: timed.ns, instructions, allocations, commands, timed })
    }

    /// Costs of messages, on one connection and on many.
    fn messages(&self, place: &mut Place) -> Result<Vec<MessageCost>> {
        let connections = [1, MESSAGE_CONNECTIONS.min(self.flows_max)];
        let cost = |connections| {
            Ok(MessageCost {
                connections,
                receive: self.cost(place, Workload::ReceiveMessages, connections)?,
                send: self.cost(place, Workload::SendMessages, connections)?,
            })
        };
        connections.into_iter().map(cost).collect()
    }

    /// Measures everything. Spreads are judged where `judged`.
    pub(super) fn measure(&self, judged: bool) -> Result<Report> {
        let cores = Cores::find();
        let kept = cores.keep(0);
        let place = &mut Place::new(&cores);
        let mut costs = Vec::new();
        for (name, work, goal_ns) in ROWS {
            costs.push((name, self.cost(place, work, 1)?, goal_ns));
        }
        let messages = self.messages(place)?;
        let mut worker = Worker::open(Workload::Receive, self.flows_max)?;
        let idle = self.time(place, &mut worker, (Workload::Idle, 1))?;
        drop(worker);
        let flows = self.flows(place)?;
        let beside = self.thread.then(|| self.time_beside(place)).transpose()?;
        let at = |share| quantile(&place.seen, share);
        let reference =
            Speed { median_ns: place.median_ns(), fast_ns: at(0.05), slow_ns: at(0.95) };
        let found = Measurements { costs, messages, flows, idle, beside };
        let mut report = found.report(reference, self.flows_max, kept.is_kept());
        report.ok = !judged || report.spread < SPREAD_MAX;
        Ok(report)
    }
}

/// Rows with all costs and the time to reach, ns: received, with more ACKs, sent, sent long, ACK
/// taken, ACK written.
const ROWS: [(&str, Workload, Option<f64>); 6] = [
    ("packet of 1448 B received", Workload::Receive, Some(125.0)),
    ("  an ACK for every second", Workload::ReceiveOneAckForTwo, None),
    ("descriptor of 1448 B sent", Workload::Send, Some(100.0)),
    ("descriptor of 64 KiB sent", Workload::Send64k, Some(200.0)),
    ("pure ACK taken", Workload::AckTaken, Some(80.0)),
    ("pure ACK written", Workload::AckWritten, Some(100.0)),
];
/// Connections of the rows of many that receive and send messages.
const MESSAGE_CONNECTIONS: usize = 1000;
/// Time of a message of 64 bytes, to reach, ns.
const MESSAGE_GOAL_NS: f64 = 400.0;
/// Time of a poll that finds nothing, to reach, ns.
const IDLE_GOAL_NS: f64 = 1000.0;

/// What was measured, in times of the reference loop.
struct Measurements {
    costs: Vec<(&'static str, Cost, Option<f64>)>,
    messages: Vec<MessageCost>,
    /// With many flows: in bursts, packet by packet.
    flows: [Vec<FlowsCost>; 2],
    idle: Timed,
    beside: Option<Timed>,
}

impl Measurements {
    /// Makes ns of all times.
    fn scale(&mut self, reference_ns: f64) {
        let messages = self.messages.iter_mut().flat_map(|it| [&mut it.receive, &mut it.send]);
        for cost in self.costs.iter_mut().map(|(_, cost, _)| cost).chain(messages) {
            cost.timed.ns *= reference_ns;
            cost.ns = cost.timed.ns;
        }
        for cost in self.flows.iter_mut().flatten() {
            cost.timed.iter_mut().for_each(|timed| timed.ns *= reference_ns);
            [cost.receive_ns, cost.send_ns] = cost.timed.map(|timed| timed.ns);
        }
        let others = std::iter::once(&mut self.idle).chain(&mut self.beside);
        others.for_each(|timed| timed.ns *= reference_ns);
    }

    fn rows(&self, connections: usize) -> Vec<Row> {
        let timed =
            |name: String, timed: Timed, goal: Option<Goal>| Row { name, timed, cost: None, goal };
        let costs = self.costs.iter().map(|(name, cost, goal_ns)| Row {
            name: (*name).to_owned(),
            timed: cost.timed,
            cost: Some(cost.clone()),
            goal: goal_ns.map(Goal::Ns),
        });
        let messages = self.messages.iter().flat_map(|it| {
            let plural = if it.connections > 1 { "s" } else { "" };
            [("received", &it.receive), ("sent", &it.send)].map(|(what, cost)| Row {
                name: format!("message of 64 B {what}, {} connection{plural}", it.connections),
                timed: cost.timed,
                cost: Some(cost.clone()),
                goal: Some(Goal::Ns(MESSAGE_GOAL_NS)),
            })
        });
        let of_flows = [(0, "packet received"), (1, "descriptor sent")];
        let burst = &format!("bursts of {BATCH}");
        let flows = of_flows.into_iter().flat_map(|(at, what)| {
            let ways = self.flows.iter().zip([burst, "packet by packet"]);
            ways.flat_map(move |(costs, how)| {
                costs.iter().map(move |cost| {
                    let plural = if cost.flows > 1 { "s" } else { "" };
                    let name = format!("{what}, {} flow{plural}, {how}", cost.flows);
                    let goal = Some(Goal::Times(FLOWS_GOAL)).filter(|_| cost.flows > 1);
                    timed(name, cost.timed[at], goal)
                })
            })
        });
        let beside = self.beside.map(|beside| {
            let name = "packet received, card in its own thread".to_owned();
            timed(name, beside, None)
        });
        let idle = format!("idle poll, {connections} connections");
        let idle = timed(idle, self.idle, Some(Goal::Ns(IDLE_GOAL_NS)));
        let rest = beside.into_iter().chain([idle]);
        costs.chain(messages).chain(flows).chain(rest).collect()
    }

    fn report(mut self, reference: Speed, connections: usize, one_core: bool) -> Report {
        self.scale(reference.median_ns);
        let rows = self.rows(connections);
        let cost = |number: usize| self.costs[number].1.clone();
        let (taken, written) = (cost(4), cost(5));
        let [flows, flows_packet_by_packet] = self.flows;
        let spread = rows.iter().map(|row| row.timed.spread).fold(0.0, f64::max);
        Report {
            ok: true,
            receive: cost(0),
            receive_one_ack_for_two: cost(1),
            send: cost(2),
            send_64k: cost(3),
            ack: AckCost {
                ns: taken.ns,
                written_ns: written.ns,
                instructions: taken.instructions,
                written_instructions: written.instructions,
                allocations: taken.allocations,
                written_allocations: written.allocations,
            },
            messages: self.messages,
            flows,
            flows_packet_by_packet,
            receive_beside_thread_ns: self.beside.map(|beside| beside.ns),
            idle_poll_ns: self.idle.ns,
            empty_polls: rows.iter().map(|row| row.timed.empty_polls).sum(),
            interrupted_batches: rows.iter().map(|row| row.timed.interrupted).sum(),
            spread,
            reference,
            one_core,
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_is_repeated_until_steady() {
        let of = |spreads: &[f64], attempts| {
            let mut rest = spreads.iter();
            let measure = || {
                let spread = *rest.next().expect("one more attempt");
                Ok(Timed { spread, ..Timed::default() })
            };
            let best = best_of(attempts, measure).expect("an attempt");
            (best.spread, best.attempts)
        };
        assert_eq!(of(&[0.01], 5), (0.01, 1));
        assert_eq!(of(&[0.2, 0.3, 0.04], 5), (0.04, 3));
        assert_eq!(of(&[0.2, 0.1, 0.3], 3), (0.1, 3));
    }

    /// A core at half its clock takes twice as long for both.
    #[test]
    fn slow_core_changes_no_figure() {
        let cores = Cores::find();
        let mut place = Place::new(&cores);
        let fast = place.over_reference(Duration::from_nanos(500), 10.0, 11.0);
        let slow = place.over_reference(Duration::from_nanos(1000), 900.0, 20.0);
        assert_eq!((fast, slow), (50.0, 50.0));
        assert_eq!(place.seen, [10.0, 20.0]);
    }

    #[test]
    fn an_interrupted_batch_is_left_out() {
        let times = [(100.0, 1.0), (105.0, 1.0), (110.0, 1.0), (390.0, 1.0)];
        let mut batches = Vec::from(times);
        batches.push((900.0, 2.0));
        assert_eq!(leave_out_interrupted(&mut batches), 1);
        assert_eq!(batches, times);
    }
}
