//! Many flows beside one: runs in turn, so that what slows the machine slows all of them.
//!
//! ```text
//!   round:  1 flow, an ACK for each │ 1 flow │ 16 flows │ ... │ 16,383 flows      21 rounds
//!              └───────────── over it: ◄──────────┴────────────────┘
//! ```
//! Of many flows in turn, each packet has its own ACK. So they are compared with one flow that has
//! an ACK for each packet, in the same round; the median of these ratios counts, and the middle
//! half of them is the spread. One flow with an ACK for a whole batch is beside it.

use anyhow::{Context, Result};

use super::figures::{FlowsCost, Timed};
use super::plan::{steadiest, Place, Plan};
use super::work::{Work, Worker, BATCH};
use crate::bench::statistics::median;

/// Flows that are active; at most all of the table but the one that the shard keeps. With as many
/// as a batch has packets, all that they touch is in the caches.
pub const FLOWS: [usize; 6] = [1, 16, BATCH, 256, 4096, 16_383];

/// One row: what is done on how many flows, and what its runs have taken.
struct Row {
    work: Work,
    flows: usize,
    runs: Vec<f64>,
    timed: Timed,
}

impl Plan {
    /// Costs of one flow with an ACK for each packet, and of all numbers of flows.
    pub(super) fn flows(&self, place: &mut Place) -> Result<(FlowsCost, Vec<FlowsCost>)> {
        let received = self.in_turn(place, [Work::ReceiveAckEach, Work::Receive])?;
        let sent = self.in_turn(place, [Work::SendAckEach, Work::Send])?;
        let both = received.into_iter().zip(sent);
        let mut costs = both.map(|((flows, received), (_, sent))| FlowsCost {
            flows,
            receive_ns: received.ns,
            receive_ratio: received.ratio,
            send_ns: sent.ns,
            send_ratio: sent.ratio,
            timed: [received, sent],
        });
        let one = costs.next().context("a first row")?;
        Ok((one, costs.collect()))
    }

    /// Times of one flow with an ACK for each, and of all numbers of flows.
    fn in_turn(&self, place: &mut Place, [each, work]: [Work; 2]) -> Result<Vec<(usize, Timed)>> {
        let many = FLOWS.into_iter().filter(|&flows| flows <= self.flows_max);
        let all = [(each, 1)]
            .into_iter()
            .chain(many.map(|flows| (work, flows)));
        let mut workers = Vec::new();
        for (work, flows) in all {
            let mut worker = Worker::open(work, flows)?;
            self.warm_up(&mut worker, work, flows)?;
            workers.push((worker, work, flows));
        }
        let attempt = || self.attempt(place, &mut workers);
        let (mut best, made) = steadiest(self.attempts, |rows: &Vec<_>| widest(rows), attempt)?;
        best.iter_mut().for_each(|row| row.1.attempts = made);
        Ok(best)
    }

    fn attempt(
        &self,
        place: &mut Place,
        workers: &mut [(Worker, Work, usize)],
    ) -> Result<Vec<(usize, Timed)>> {
        let row = |&(_, work, flows): &(Worker, Work, usize)| Row {
            work,
            flows,
            runs: Vec::new(),
            timed: Timed::default(),
        };
        let mut rows: Vec<Row> = workers.iter().map(row).collect();
        for _ in 0..self.runs {
            for (row, (worker, ..)) in rows.iter_mut().zip(&mut *workers) {
                let time = self.run(place, worker, (row.work, row.flows), &mut row.timed)?;
                row.runs.push(time);
            }
        }
        let base = rows.first().map_or(Vec::new(), |row| row.runs.clone());
        Ok(rows.into_iter().map(|row| row.over(&base)).collect())
    }
}

/// The greatest spread.
fn widest(rows: &[(usize, Timed)]) -> f64 {
    rows.iter().map(|row| row.1.spread).fold(0.0, f64::max)
}

impl Row {
    /// Median time, and median and spread of the ratio to `base` of the same round.
    fn over(self, base: &[f64]) -> (usize, Timed) {
        let ratios = self.runs.iter().zip(base).map(|(run, base)| run / base);
        let (ratio, spread) = median(ratios.collect());
        let timed = Timed {
            ns: median(self.runs).0,
            ratio,
            spread,
            ..self.timed
        };
        (self.flows, timed.finished())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that slows down for some rounds slows both.
    #[test]
    fn a_ratio_is_of_the_same_round() {
        let row = Row {
            work: Work::Receive,
            flows: 16,
            runs: vec![30.0, 15.0, 15.0, 60.0],
            timed: Timed::default(),
        };
        let (flows, timed) = row.over(&[20.0, 10.0, 10.0, 40.0]);
        assert_eq!((flows, timed.ratio, timed.spread), (16, 1.5, 0.0));
    }
}
