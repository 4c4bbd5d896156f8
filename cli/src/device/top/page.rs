//! What the screen shows: a look at the card, beside the one before.

use std::time::Duration;

use host::driver::counters::{CounterKind, CounterValue};
use serde::Serialize;

/// The card.
#[derive(Clone, Debug, Serialize)]
pub struct CardPart {
    /// Its bus.
    pub bus: String,
    /// Its epoch.
    pub epoch: u32,
    /// Frames can leave and arrive.
    pub wire_up: bool,
    /// One end reports a fault.
    pub fault: bool,
}

/// An owner.
#[derive(Clone, Debug, Serialize)]
pub struct OwnerPart {
    /// Its number.
    pub owner: u8,
    /// Bytes that its flows have sent, and that were acknowledged.
    pub sent: u64,
    /// Bytes that came back.
    pub received: u64,
    /// Bytes that were sent again.
    pub repeated: u64,
}

/// A flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowPart {
    /// Its owner.
    pub owner: u8,
    /// Its ends.
    pub ends: String,
    /// Bytes sent, and acknowledged.
    pub sent: u64,
    /// Bytes that came back.
    pub received: u64,
    /// Bytes sent again.
    pub repeated: u64,
    /// Bytes found lost.
    pub lost: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// How long nothing has moved, milliseconds.
    pub still_ms: u64,
    /// The longest of these times so far, milliseconds.
    pub longest_still_ms: u64,
    /// Bytes that came back wrong.
    pub wrong_bytes: u64,
    /// Why it has ended, if it has.
    pub failed: Option<String>,
}

/// A counter of the card.
#[derive(Clone, Debug, Serialize)]
pub struct CounterPart {
    /// Its name.
    pub name: &'static str,
    /// Frames that were dropped, or sends that failed.
    pub is_loss: bool,
    /// Cycles in which something waited.
    pub is_stall: bool,
    /// Its value.
    pub value: u64,
    /// What it counts.
    pub meaning: &'static str,
}

impl From<CounterValue> for CounterPart {
    fn from(counter: CounterValue) -> Self {
        let CounterValue { kind, name, meaning, value } = counter;
        Self {
            name,
            is_loss: matches!(kind, CounterKind::Drop | CounterKind::SendError),
            is_stall: kind == CounterKind::Stage
                && (name.ends_with("_stall_cycles") || name.ends_with("_wait_cycles")),
            value,
            meaning,
        }
    }
}

/// A look.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The card.
    pub card: CardPart,
    /// Since the begin.
    pub elapsed: Duration,
    /// The owners.
    pub owners: Vec<OwnerPart>,
    /// The flows.
    pub flows: Vec<FlowPart>,
    /// The counters.
    pub counters: Vec<CounterPart>,
}

/// Gigabits a second of the bytes between two looks.
fn gbps(before: u64, now: u64, seconds: f64) -> String {
    let bits = now.saturating_sub(before) as f64 * 8.0;
    format!("{:.3}", bits / seconds.max(1e-9) / 1e9)
}

fn owner_lines(before: &Sample, now: &Sample, seconds: f64) -> Vec<String> {
    let mut lines = vec![format!(
        "{:>5} {:>6} {:>11} {:>11} {:>12}",
        "OWNER", "FLOWS", "SENT Gb/s", "BACK Gb/s", "REPEATED B"
    )];
    for owner in &now.owners {
        let was = before.owners.iter().find(|it| it.owner == owner.owner);
        let (sent, received) = was.map_or((0, 0), |it| (it.sent, it.received));
        let flows = now.flows.iter().filter(|flow| flow.owner == owner.owner).count();
        lines.push(format!(
            "{:>5} {flows:>6} {:>11} {:>11} {:>12}",
            owner.owner,
            gbps(sent, owner.sent, seconds),
            gbps(received, owner.received, seconds),
            owner.repeated
        ));
    }
    lines
}

fn flow_lines(before: &Sample, now: &Sample, seconds: f64) -> Vec<String> {
    let mut lines = vec![format!(
        "{:>5} {:<36} {:>9} {:>9} {:>9} {:>7} {:>6} {:>9}",
        "OWNER", "FLOW", "SENT Gb/s", "BACK Gb/s", "REPEAT B", "LOST B", "TIMERS", "STALL ms"
    )];
    for (number, flow) in now.flows.iter().enumerate() {
        let was = before.flows.get(number);
        let (sent, received) = was.map_or((0, 0), |it| (it.sent, it.received));
        let state = match (&flow.failed, flow.wrong_bytes) {
            (Some(why), _) => format!("  FAILED: {why}"),
            (None, 0) => String::new(),
            (None, wrong) => format!("  {wrong} BYTES WRONG"),
        };
        lines.push(format!(
            "{:>5} {:<36} {:>9} {:>9} {:>9} {:>7} {:>6} {:>9}{state}",
            flow.owner,
            flow.ends,
            gbps(sent, flow.sent, seconds),
            gbps(received, flow.received, seconds),
            flow.repeated,
            flow.lost,
            flow.timeouts,
            format!("{}/{}", flow.still_ms, flow.longest_still_ms),
        ));
    }
    lines
}

/// Counters that are not zero: what moved last first.
fn counter_lines(
    before: &Sample,
    now: &Sample,
    seconds: f64,
    which: fn(&CounterPart) -> bool,
) -> Vec<String> {
    let rows = now.counters.iter().zip(&before.counters);
    let mut rows: Vec<_> = rows.filter(|(now, _)| which(now) && now.value > 0).collect();
    rows.sort_by_key(|(now, before)| std::cmp::Reverse(now.value.saturating_sub(before.value)));
    if rows.is_empty() {
        return vec!["  none".to_owned()];
    }
    let line = |(now, before): &(&CounterPart, &CounterPart)| {
        let rate = now.value.saturating_sub(before.value) as f64 / seconds.max(1e-9);
        format!("  {:<32} {:>14} {rate:>12.0}/s  {}", now.name, now.value, now.meaning)
    };
    rows.iter().map(line).collect()
}

/// The lines of a look, cut to a size of columns and lines.
pub fn page(before: &Sample, now: &Sample, (columns, lines): (usize, usize)) -> Vec<String> {
    let seconds = (now.elapsed.saturating_sub(before.elapsed)).as_secs_f64();
    let CardPart { bus, epoch, wire_up, fault } = &now.card;
    let wire = match (wire_up, fault) {
        (true, _) => "up",
        (false, true) => "DOWN, fault",
        (false, false) => "DOWN",
    };
    let elapsed = now.elapsed.as_secs_f64();
    let mut page =
        vec![format!("zeronic top  {bus}  epoch {epoch}  wire {wire}  {elapsed:.0} s  q: quit")];
    let mut part = |title: &str, lines: Vec<String>| {
        page.push(String::new());
        if !title.is_empty() {
            page.push(title.to_owned());
        }
        page.extend(lines);
    };
    part("", owner_lines(before, now, seconds));
    part("", flow_lines(before, now, seconds));
    part("DROPS, by reason", counter_lines(before, now, seconds, |it| it.is_loss));
    part("STALLS, cycles of 4 ns", counter_lines(before, now, seconds, |it| it.is_stall));
    page.truncate(lines);
    for line in &mut page {
        if line.chars().count() > columns {
            *line = line.chars().take(columns).collect();
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seconds: u64, bytes: u64, drops: u64) -> Sample {
        let counter = |name, is_loss, is_stall, value| CounterPart {
            name,
            is_loss,
            is_stall,
            value,
            meaning: "what for",
        };
        Sample {
            card: CardPart { bus: "sim".to_owned(), epoch: 7, wire_up: true, fault: false },
            elapsed: Duration::from_secs(seconds),
            owners: vec![OwnerPart { owner: 2, sent: bytes, received: bytes, repeated: 5 }],
            flows: vec![FlowPart {
                owner: 2,
                ends: "10.77.0.1:9 > 10.77.0.2:1".to_owned(),
                sent: bytes,
                received: bytes,
                repeated: 5,
                lost: 3,
                timeouts: 1,
                still_ms: 4,
                longest_still_ms: 90,
                wrong_bytes: 0,
                failed: None,
            }],
            counters: vec![
                counter("runt", true, false, drops),
                counter("giant", true, false, 0),
                counter("tag_stall_cycles", false, true, 8),
            ],
        }
    }

    #[test]
    fn rates_are_those_between_two_looks() {
        let page = page(&sample(1, 1_000_000_000, 2), &sample(3, 2_000_000_000, 8), (200, 99));
        let text = page.join("\n");
        assert!(text.contains("epoch 7  wire up  3 s"), "{text}");
        assert!(text.contains("4.000"), "1 GB in 2 s: {text}");
        let runt = page.iter().find(|line| line.contains("runt")).expect("a drop");
        assert!(runt.contains("3/s") && runt.contains(" 8 ") && runt.contains("what for"));
        assert!(text.contains("tag_stall_cycles") && !text.contains("giant"), "{text}");
        assert!(text.contains("4/90"), "{text}");
    }

    #[test]
    fn page_fits_its_screen() {
        let page = page(&sample(1, 0, 0), &sample(1, 0, 0), (20, 6));
        assert_eq!(page.len(), 6);
        assert!(page.iter().all(|line| line.chars().count() <= 20), "{page:?}");
        assert!(!page.iter().any(|line| line.contains("inf") || line.contains("NaN")));
    }

    #[test]
    fn failure_and_wrong_bytes_are_shown() {
        let mut now = sample(2, 1, 1);
        now.card.wire_up = false;
        now.flows[0].wrong_bytes = 4;
        assert!(page(&sample(1, 0, 0), &now, (200, 99)).join("\n").contains("4 BYTES WRONG"));
        now.flows[0].failed = Some("reset".to_owned());
        let text = page(&sample(1, 0, 0), &now, (200, 99)).join("\n");
        assert!(text.contains("FAILED: reset") && text.contains("wire DOWN"), "{text}");
    }
}
