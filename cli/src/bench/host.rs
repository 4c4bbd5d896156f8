//! `bench host`: what the host's control stack costs a packet.
//!
//! ```text
//!   null card ── header entries ─►┌──────────┐── headers ─► null transport
//!             ◄── descriptors ────│ Provider │◄─ headers ──
//!                                 └──────────┘
//!                        measured: its calls, and nothing else
//! ```
//! The card (`sim/src/null_card.rs`) does its part between the measured calls, judges all that it
//! takes, and touches no payload; the transport (`sim/src/null_protocol.rs`) costs a few stores.
//! So this is wall-clock time of the control stack alone, in one thread, with the rings in its
//! caches: a real card's writes come from farther away. With `--thread` packets also come from a
//! card that runs beside the host, on another core.
//!
//! A figure is the median of several runs, its spread the middle half of them over the median.
//! Polls that find nothing, and batches that the machine has interrupted, are left out and shown.

mod meter;
mod valgrind;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use self::meter::Meter;
use self::work::{receive_beside, Work, Worker, BATCH};
use super::table::table;
use crate::output::{json_file, print};

/// Greatest spread of a figure that counts.
const SPREAD_MAX: f64 = 0.05;
/// A batch that takes so many times the median of its run was interrupted by the machine. Of the
/// host's own work, nothing that comes now and then costs a batch as much.
const INTERRUPTED: f64 = 4.0;
/// Flows that are active.
const FLOWS: [usize; 5] = [1, 16, 256, 4096, 16_384];
/// Most of them in a quick run.
const QUICK_FLOWS_MAX: usize = 256;

/// Arguments of `zeronic bench host`.
#[derive(Clone, Debug, Args)]
pub struct HostArguments {
    /// Runs of each part
    #[arg(long, default_value_t = 21, value_name = "N",
        value_parser = clap::value_parser!(u32).range(3..=1000))]
    runs: u32,
    /// Packets of each run
    #[arg(long, default_value_t = 20_000, value_name = "N",
        value_parser = clap::value_parser!(u32).range(64..=10_000_000))]
    packets: u32,
    /// A few packets on up to 256 connections, no instructions; times are not judged
    #[arg(long)]
    quick: bool,
    /// Also receive from a card that runs in a thread of its own; needs two idle cores
    #[arg(long)]
    thread: bool,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only work, for Valgrind, and print how much was worked off
    #[arg(long, value_enum, hide = true)]
    count: Option<Work>,
}

/// A time and how much its runs differ.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    ns: f64,
    spread: f64,
    empty_ns: f64,
    empty_polls: u64,
    interrupted: usize,
}

/// What one packet or descriptor costs.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Time, ns.
    pub ns: f64,
    /// Instructions; `None` without Valgrind.
    pub instructions: Option<f64>,
    /// Allocations, reallocations among them.
    pub allocations: f64,
    #[serde(skip)]
    timed: Timed,
}

/// What an ACK without payload costs.
#[derive(Clone, Debug, Serialize)]
pub struct AckCost {
    /// Taken from the card, ns.
    pub taken_ns: f64,
    /// Written to the card, ns.
    pub written_ns: f64,
    /// Instructions of a taken one; `None` without Valgrind.
    pub instructions: Option<f64>,
    /// Instructions of a written one.
    pub written_instructions: Option<f64>,
    /// Allocations of a taken one.
    pub allocations: f64,
    /// Allocations of a written one.
    pub written_allocations: f64,
}

/// What a received packet costs with many flows.
#[derive(Clone, Debug, Serialize)]
pub struct FlowsCost {
    /// Flows that packets come for, in turn.
    pub flows: usize,
    /// Time of a packet, ns.
    pub receive_ns: f64,
    #[serde(skip)]
    timed: Timed,
}

/// All costs and the verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Everything that the card took was right, and the spread is below 5 %.
    pub ok: bool,
    /// A packet of 1448 bytes, one flow, batches of 64, one ACK for each 64 KiB.
    pub receive: Cost,
    /// The same with an ACK for every second packet.
    pub receive_one_ack_for_two: Cost,
    /// A descriptor of 1448 bytes.
    pub send: Cost,
    /// A descriptor of 64 KiB (45 frames).
    pub send_64k: Cost,
    /// An ACK without payload.
    pub ack: AckCost,
    /// Received packets with many flows, of as many connections as the most flows.
    pub flows: Vec<FlowsCost>,
    /// A packet of 1448 bytes on one flow from a card in a thread of its own, ns; `None` without
    /// `--thread`.
    pub receive_beside_thread_ns: Option<f64>,
    /// A poll that finds nothing, with as many connections open, ns.
    pub idle_poll_ns: f64,
    /// Polls that found nothing, left out of the times.
    pub empty_polls: u64,
    /// Batches that the machine has interrupted, left out of the times.
    pub interrupted_batches: usize,
    /// The greatest spread of all times.
    pub spread: f64,
    #[serde(skip)]
    rows: Vec<(String, Timed, Option<Cost>)>,
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Plan {
    runs: usize,
    batches: usize,
    flows_max: usize,
    instructions: bool,
    thread: bool,
}

impl HostArguments {
    fn plan(&self) -> Plan {
        let flows_max = FLOWS[FLOWS.len() - 1];
        match self.quick {
            true => Plan {
                runs: 3,
                batches: 4,
                flows_max: QUICK_FLOWS_MAX,
                instructions: false,
                thread: self.thread,
            },
            false => Plan {
                runs: self.runs as usize,
                batches: (self.packets as usize).div_ceil(BATCH),
                flows_max,
                instructions: valgrind::is_there(),
                thread: self.thread,
            },
        }
    }
}

/// Removes the batches that the machine has interrupted. Returns how many there were.
fn leave_out_interrupted(batches: &mut Vec<(f64, f64)>) -> usize {
    let of = |(ns, items): &(f64, f64)| ns / items;
    let (limit, all) = (median(batches.iter().map(of).collect()).0, batches.len());
    batches.retain(|batch| of(batch) <= limit * INTERRUPTED);
    all - batches.len()
}

/// The median, and the middle half over it.
fn median(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.5), (at(0.75) - at(0.25)) / at(0.5))
}

impl Plan {
    fn time(&self, worker: &mut Worker, work: Work, flows: usize) -> Result<Timed> {
        let warm_up = (flows / BATCH + 1).max(self.batches / 4);
        for _ in 0..warm_up {
            worker.batch(work, flows, &mut Meter::Off)?;
        }
        let (mut runs, mut interrupted) = (Vec::new(), 0);
        let (mut empty_time, mut empty_polls) = (Duration::ZERO, 0);
        for _ in 0..self.runs {
            let mut batches = Vec::new();
            for _ in 0..self.batches {
                let mut meter = Meter::time();
                let items = worker.batch(work, flows, &mut meter)?;
                if let Meter::Time {
                    spent,
                    empty,
                    empty_calls,
                } = meter
                {
                    batches.push((spent.as_nanos() as f64, items as f64));
                    (empty_time, empty_polls) = (empty_time + empty, empty_polls + empty_calls);
                }
            }
            interrupted += leave_out_interrupted(&mut batches);
            let sum = |of: fn(&(f64, f64)) -> f64| batches.iter().map(of).sum::<f64>();
            runs.push(sum(|batch| batch.0) / sum(|batch| batch.1));
        }
        let (ns, spread) = median(runs);
        Ok(Timed {
            ns,
            spread,
            empty_ns: empty_time.as_nanos() as f64 / empty_polls.max(1) as f64,
            empty_polls,
            interrupted,
        })
    }

    /// Time of a packet from a card in a thread of its own. Polls that find nothing are left out.
    fn time_beside(&self) -> Result<Timed> {
        let mut worker = Worker::open(Work::Receive, 1)?;
        let packets = (self.batches * BATCH) as u64;
        receive_beside(&mut worker, packets, &mut Meter::Off)?;
        let (mut runs, mut timed) = (Vec::new(), Timed::default());
        for _ in 0..self.runs {
            let mut meter = Meter::time();
            let items = receive_beside(&mut worker, packets, &mut meter)?;
            if let Meter::Time {
                spent,
                empty,
                empty_calls,
            } = meter
            {
                runs.push(spent.as_nanos() as f64 / items as f64);
                timed.empty_ns += empty.as_nanos() as f64;
                timed.empty_polls += empty_calls;
            }
        }
        timed.empty_ns /= timed.empty_polls.max(1) as f64;
        (timed.ns, timed.spread) = median(runs);
        Ok(timed)
    }

    /// All costs of a piece of work on one flow.
    fn cost(&self, work: Work) -> Result<Cost> {
        let mut worker = Worker::open(work, 1)?;
        let timed = self.time(&mut worker, work, 1)?;
        let (mut meter, mut items) = (Meter::Allocations(0), 0);
        for _ in 0..self.batches.min(200) {
            items += worker.batch(work, 1, &mut meter)?;
        }
        let allocations = match meter {
            Meter::Allocations(count) => count as f64 / items as f64,
            _ => 0.0,
        };
        let instructions = self.instructions.then(|| valgrind::instructions(work));
        Ok(Cost {
            ns: timed.ns,
            instructions: instructions.transpose()?,
            allocations,
            timed,
        })
    }

    fn measure(&self) -> Result<Report> {
        let receive = self.cost(Work::Receive)?;
        let receive_one_ack_for_two = self.cost(Work::ReceiveOneAckForTwo)?;
        let send = self.cost(Work::Send)?;
        let send_64k = self.cost(Work::Send64k)?;
        let (taken, written) = (self.cost(Work::AckTaken)?, self.cost(Work::AckWritten)?);
        let mut worker = Worker::open(Work::Receive, self.flows_max)?;
        let idle = self.time(&mut worker, Work::Idle, 1)?;
        let mut flows = Vec::new();
        for active in FLOWS.into_iter().filter(|&flows| flows <= self.flows_max) {
            let timed = self.time(&mut worker, Work::Receive, active)?;
            flows.push(FlowsCost {
                flows: active,
                receive_ns: timed.ns,
                timed,
            });
        }
        let mut rows = Vec::new();
        for (name, cost) in [
            ("packet of 1448 B received", &receive),
            ("  an ACK for every second", &receive_one_ack_for_two),
            ("descriptor of 1448 B sent", &send),
            ("descriptor of 64 KiB sent", &send_64k),
            ("pure ACK taken", &taken),
            ("pure ACK written", &written),
        ] {
            rows.push((name.to_owned(), cost.timed, Some(cost.clone())));
        }
        for row in &flows {
            let name = format!("packet received, {} flows in turn", row.flows);
            rows.push((name, row.timed, None));
        }
        let beside = self.thread.then(|| self.time_beside()).transpose()?;
        if let Some(beside) = beside {
            let name = "packet received, card in its own thread".to_owned();
            rows.push((name, beside, None));
        }
        let connections = self.flows_max;
        rows.push((format!("idle poll, {connections} connections"), idle, None));
        let spread = rows.iter().map(|row| row.1.spread).fold(0.0, f64::max);
        Ok(Report {
            ok: true,
            receive,
            receive_one_ack_for_two,
            send,
            send_64k,
            ack: AckCost {
                taken_ns: taken.ns,
                written_ns: written.ns,
                instructions: taken.instructions,
                written_instructions: written.instructions,
                allocations: taken.allocations,
                written_allocations: written.allocations,
            },
            flows,
            receive_beside_thread_ns: beside.map(|beside| beside.ns),
            idle_poll_ns: idle.ns,
            empty_polls: rows.iter().map(|row| row.1.empty_polls).sum(),
            interrupted_batches: rows.iter().map(|row| row.1.interrupted).sum(),
            spread,
            rows,
        })
    }
}

impl Report {
    fn text(&self, judged: bool) -> String {
        let head = [
            "cost",
            "ns",
            "spread",
            "instructions",
            "allocations",
            "empty polls",
            "interrupted",
        ];
        let mut table = table(&head);
        for (name, timed, cost) in &self.rows {
            let instructions = cost.as_ref().and_then(|cost| cost.instructions);
            let empty = match timed.empty_polls {
                0 => "0".to_owned(),
                polls => format!("{polls} of {:.0} ns", timed.empty_ns),
            };
            table.add_row([
                name.clone(),
                format!("{:.0}", timed.ns),
                format!("{:.1} %", 100.0 * timed.spread),
                instructions.map_or("-".to_owned(), |count| format!("{count:.0}")),
                cost.as_ref()
                    .map_or("-".to_owned(), |cost| format!("{:.2}", cost.allocations)),
                empty,
                format!("{} batches", timed.interrupted),
            ]);
        }
        let spread = format!("spread {:.1} %", 100.0 * self.spread);
        let verdict = match (self.ok, judged) {
            (true, true) => "every descriptor is right\n".to_owned(),
            (true, false) => "every descriptor is right; times are not judged\n".to_owned(),
            (false, _) => format!(
                "NOISY: {spread}, at most {:.0} % counts; repeat it on an idle machine\n",
                100.0 * SPREAD_MAX
            ),
        };
        format!("{table}\n{verdict}")
    }
}

/// Measures, prints, writes.
pub fn run(arguments: &HostArguments) -> Result<bool> {
    if let Some(work) = arguments.count {
        print(&format!("{}\n", valgrind::count(work)?))?;
        return Ok(true);
    }
    let json = json_file(arguments.json.as_deref())?;
    let mut report = arguments.plan().measure()?;
    report.ok = arguments.quick || report.spread < SPREAD_MAX;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&report.text(!arguments.quick))?;
    Ok(report.ok)
}
