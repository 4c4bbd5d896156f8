//! The figures of `bench host`, as a table and as JSON.

use serde::Serialize;

use super::figures::{AckCost, Cost, FlowsCost, MessageCost, Speed, Timed};
use super::work::BATCH;
use crate::shared::table::table;
use measure::timing::statistics::SPREAD_MAX;

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
    /// Messages of 64 bytes on one connection, and on many in turn.
    pub messages: Vec<MessageCost>,
    /// Bursts of 64 packets and descriptors of so many flows in turn, with the ACKs of one flow.
    pub flows: Vec<FlowsCost>,
    /// Packets and descriptors of so many flows in turn, each with an ACK of its own.
    pub flows_packet_by_packet: Vec<FlowsCost>,
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
    /// How fast the core was.
    pub reference: Speed,
    /// The thread stayed on one core.
    pub one_core: bool,
    /// Rows of the table.
    #[serde(skip)]
    pub rows: Vec<Row>,
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// The time.
    pub timed: Timed,
    /// All costs, where more than the time is measured.
    pub cost: Option<Cost>,
    /// What is to be reached.
    pub goal: Option<Goal>,
}

/// What a row is to reach.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// So many ns.
    Ns(f64),
    /// So many times the first of the rows that were measured in turn.
    Times(f64),
}

impl Goal {
    fn format_timed(self, timed: &Timed) -> String {
        let verdict = |is_reached| if is_reached { "yes" } else { "no" };
        match self {
            Self::Ns(goal) => format!("{goal:.0}: {}", verdict(timed.ns <= goal)),
            Self::Times(goal) => {
                let ratio = timed.ratio;
                format!("{goal} times: {ratio:.2}, {}", verdict(ratio <= goal))
            }
        }
    }
}

/// Head of the table.
pub const HEAD: [&str; 10] = [
    "cost",
    "ns",
    "to reach",
    "spread",
    "instructions",
    "allocations",
    "empty polls",
    "interrupted",
    "attempts",
    "commands",
];

impl Row {
    /// The row as the table shows it.
    pub fn cells(&self) -> [String; 10] {
        let (timed, cost) = (&self.timed, self.cost.as_ref());
        let instructions = cost.and_then(|cost| cost.instructions);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [
            self.name.clone(),
            format!("{:.0}", timed.ns),
            or_none(self.goal.map(|goal| goal.format_timed(timed))),
            format!("{:.1} %", 100.0 * timed.spread),
            or_none(instructions.map(|count| format!("{count:.0}"))),
            or_none(cost.map(|cost| format!("{:.2}", cost.allocations))),
            match timed.empty_polls {
                0 => "0".to_owned(),
                polls => format!("{polls} of {:.0} ns", timed.empty_ns),
            },
            format!("{} batches", timed.interrupted),
            timed.attempts.to_string(),
            or_none(cost.and_then(|cost| cost.commands).map(|count| format!("{count:.2}"))),
        ]
    }
}

impl Report {
    /// The table and what is said below it.
    pub fn text(&self, judged: bool) -> String {
        let mut table = table(&HEAD);
        for row in &self.rows {
            table.add_row(row.cells());
        }
        let verdict = match (self.ok, judged) {
            (true, true) => "every descriptor is right\n",
            (true, false) => "every descriptor is right; times are not judged\n",
            (false, _) => "",
        };
        let (speed, noise) = (self.speed(), self.noise());
        format!("{table}\n{speed}\n{}\n{noise}{verdict}", self.many_flows())
    }

    /// What the most flows cost over one.
    pub fn many_flows(&self) -> String {
        let packets = self.flows_packet_by_packet.last();
        let (Some(one), Some(bursts), Some(packets)) =
            (self.flows.first(), self.flows.last(), packets)
        else {
            return String::new();
        };
        format!(
            "{} flows in bursts of {BATCH}, with the ACKs that one flow has, take {:.2} times as \
             long to receive and {:.2} to send as one flow. Packet by packet each packet has an \
             ACK of its own: {:.2} and {:.2} times as long as on one flow, {:.2} and {:.2} times \
             as long as on one flow with an ACK for a batch",
            bursts.flows,
            bursts.receive_ratio,
            bursts.send_ratio,
            packets.receive_ratio,
            packets.send_ratio,
            packets.receive_ns / one.receive_ns,
            packets.send_ns / one.send_ns,
        )
    }

    /// By which core times are given.
    pub fn speed(&self) -> String {
        let Speed { median_ns, fast_ns, slow_ns } = self.reference;
        let free = if self.one_core { "" } else { "; the thread could not be kept on one core" };
        format!(
            "ns on a core that takes {median_ns:.0} ns for the reference loop, the median of this \
             run; a twentieth of it was below {fast_ns:.0}, a twentieth above {slow_ns:.0}{free}"
        )
    }

    /// Says so if the figures spread too far; empty otherwise.
    pub fn noise(&self) -> String {
        let (spread, most) = (100.0 * self.spread, 100.0 * SPREAD_MAX);
        match self.ok {
            true => String::new(),
            false => format!(
                "NOISY: spread {spread:.1} %, at most {most:.0} % counts; repeat it on an idle \
                 machine\n"
            ),
        }
    }
}
