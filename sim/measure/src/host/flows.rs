//! Many flows beside one: runs in turn, so that what slows the machine slows all of them.
//!
//! ```text
//!   round:  in bursts        1 flow │ 16 flows │ ... │ 16,383 flows
//!           packet by packet 1 flow │ 16 flows │ ... │ 16,383 flows     21 rounds
//!                               └── over it: ◄──────────┘
//! ```
//! In bursts each flow does what the one flow of the other rows does: 64 packets, and one or two
//! ACKs for them. Packet by packet is harder: each packet needs what another flow has, and from 64
//! flows on has an ACK of its own, as with one. The ratio is of the same round; the median of these
//! counts, and the middle half of them is the spread. Each run begins with a round of all flows
//! that is not timed: what was measured before has emptied the caches.

use super::error::Result;
use super::figures::{FlowsCost, Timed};
use super::plan::{measure_steadiest, Place, Plan};
use super::work::{Worker, Workload, BATCH};
use crate::timing::statistics::median;

/// Flows that are active; at most all of the table but the one that the shard keeps. With as many
/// as a batch has packets, all that they touch is in the caches.
pub const FLOWS: [usize; 6] = [1, 16, BATCH, 256, 4096, 16_383];

/// Workload of one flow and of each of many: in bursts, packet by packet.
type Ways<T> = [T; 2];
const RECEIVED: Ways<[Workload; 2]> =
    [[Workload::Receive, Workload::ReceiveBursts], [Workload::ReceiveAckEach, Workload::Receive]];
const SENT: Ways<[Workload; 2]> =
    [[Workload::Send, Workload::SendBursts], [Workload::SendAckEach, Workload::Send]];

/// Times of all numbers of flows.
type Times = Vec<(usize, Timed)>;

/// One row: what is done on how many flows, and what its runs have taken.
struct Row {
    work: Workload,
    flows: usize,
    runs: Vec<f64>,
    timed: Timed,
}

impl Plan {
    /// Costs of all numbers of flows: in bursts, packet by packet.
    pub(super) fn flows(&self, place: &mut Place) -> Result<Ways<Vec<FlowsCost>>> {
        let [received, sent] = [self.in_turn(place, RECEIVED)?, self.in_turn(place, SENT)?];
        let cost = |((flows, received), (_, sent)): ((usize, Timed), (usize, Timed))| FlowsCost {
            flows,
            receive_ns: received.ns,
            receive_ratio: received.ratio,
            send_ns: sent.ns,
            send_ratio: sent.ratio,
            timed: [received, sent],
        };
        let both = |way: usize| received[way].iter().copied().zip(sent[way].iter().copied());
        Ok([0, 1].map(|way| both(way).map(cost).collect()))
    }

    /// Times of all numbers of flows, in both ways.
    fn in_turn(&self, place: &mut Place, ways: Ways<[Workload; 2]>) -> Result<Ways<Times>> {
        let mut workers = Vec::new();
        for [one, many] in ways {
            for flows in FLOWS.into_iter().filter(|&flows| flows <= self.flows_max) {
                let work = if flows == 1 { one } else { many };
                let mut worker = Worker::open(work, flows)?;
                self.warm_up(&mut worker, work, flows)?;
                workers.push((worker, work, flows));
            }
        }
        let attempt = || self.attempt(place, &mut workers);
        let widest =
            |ways: &Ways<Times>| ways.iter().map(|rows| widest_spread(rows)).fold(0.0, f64::max);
        let (mut best, made) = measure_steadiest(self.attempts, widest, attempt)?;
        let rows = best.iter_mut().flatten();
        rows.for_each(|row| row.1.attempts = made);
        Ok(best)
    }

    fn attempt(
        &self,
        place: &mut Place,
        workers: &mut [(Worker, Workload, usize)],
    ) -> Result<Ways<Times>> {
        let row = |&(_, work, flows): &(Worker, Workload, usize)| Row {
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
        let packet_by_packet = rows.split_off(rows.len() / 2);
        Ok([rows, packet_by_packet].map(over_first))
    }
}

/// Each row over the first one.
fn over_first(rows: Vec<Row>) -> Times {
    let base = rows.first().map_or(Vec::new(), |row| row.runs.clone());
    rows.into_iter().map(|row| row.over(&base)).collect()
}

/// The greatest spread.
fn widest_spread(rows: &[(usize, Timed)]) -> f64 {
    rows.iter().map(|row| row.1.spread).fold(0.0, f64::max)
}

impl Row {
    /// Median time, and median and spread of the ratio to `base` of the same round.
    fn over(self, base: &[f64]) -> (usize, Timed) {
        let ratios = self.runs.iter().zip(base).map(|(run, base)| run / base);
        let (ratio, spread) = median(ratios.collect());
        let timed = Timed { ns: median(self.runs).0, ratio, spread, ..self.timed };
        (self.flows, timed.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that slows down for some rounds slows both.
    #[test]
    fn ratio_belongs_to_same_round() {
        let row = Row {
            work: Workload::Receive,
            flows: 16,
            runs: vec![30.0, 15.0, 15.0, 60.0],
            timed: Timed::default(),
        };
        let (flows, timed) = row.over(&[20.0, 10.0, 10.0, 40.0]);
        assert_eq!((flows, timed.ratio, timed.spread), (16, 1.5, 0.0));
    }
}
