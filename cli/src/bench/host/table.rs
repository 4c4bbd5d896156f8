//! The table of `bench host`, and what is said below it.

use measure::host::figures::{Speed, Timed};
use measure::host::{Goal, Report, Row, BATCH};
use measure::timing::statistics::SPREAD_MAX;

use crate::shared::table::table;

fn format_goal(goal: Goal, timed: &Timed) -> String {
    let verdict = |is_reached| if is_reached { "yes" } else { "no" };
    match goal {
        Goal::Ns(goal) => format!("{goal:.0}: {}", verdict(timed.ns <= goal)),
        Goal::Times(goal) => {
            let ratio = timed.ratio;
            format!("{goal} times: {ratio:.2}, {}", verdict(ratio <= goal))
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

/// The row as the table shows it.
pub fn cells(row: &Row) -> [String; 10] {
    let (timed, cost) = (&row.timed, row.cost.as_ref());
    let instructions = cost.and_then(|cost| cost.instructions);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        row.name.clone(),
        format!("{:.0}", timed.ns),
        or_none(row.goal.map(|goal| format_goal(goal, timed))),
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

/// The table and what is said below it.
pub fn text(report: &Report, judged: bool) -> String {
    let mut table = table(&HEAD);
    for row in &report.rows {
        table.add_row(cells(row));
    }
    let verdict = match (report.ok, judged) {
        (true, true) => "every descriptor is right\n",
        (true, false) => "every descriptor is right; times are not judged\n",
        (false, _) => "",
    };
    let (speed, noise) = (speed(report), noise(report));
    format!("{table}\n{speed}\n{}\n{noise}{verdict}", many_flows(report))
}

/// What the most flows cost over one.
pub fn many_flows(report: &Report) -> String {
    let packets = report.flows_packet_by_packet.last();
    let (Some(one), Some(bursts), Some(packets)) =
        (report.flows.first(), report.flows.last(), packets)
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
pub fn speed(report: &Report) -> String {
    let Speed { median_ns, fast_ns, slow_ns } = report.reference;
    let free = if report.one_core { "" } else { "; the thread could not be kept on one core" };
    format!(
        "ns on a core that takes {median_ns:.0} ns for the reference loop, the median of this \
         run; a twentieth of it was below {fast_ns:.0}, a twentieth above {slow_ns:.0}{free}"
    )
}

/// Says so if the figures spread too far; empty otherwise.
pub fn noise(report: &Report) -> String {
    let (spread, most) = (100.0 * report.spread, 100.0 * SPREAD_MAX);
    match report.ok {
        true => String::new(),
        false => format!(
            "NOISY: spread {spread:.1} %, at most {most:.0} % counts; repeat it on an idle \
             machine\n"
        ),
    }
}
