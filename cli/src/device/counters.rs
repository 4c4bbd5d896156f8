//! `zeronic device counters`: what a card has counted.
//!
//! They live on from one client of a card to the next, and start with its power alone. So a client
//! takes differences.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use host::driver::counters::{read_counters, CounterKind, CounterValue};
use serde::Serialize;
use vfio::CardBus;

use super::card::{look_at, CardArguments};
use crate::shared::bus::driver_refusal;
use crate::shared::failure::STATUSES;
use crate::shared::output::print;
use crate::shared::table::table;

/// Arguments of `zeronic device counters`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct CountersArguments {
    #[command(flatten)]
    card: CardArguments,
    /// Show again and again what has moved, until the program is interrupted
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Seconds between two looks of --watch
    #[arg(long, default_value_t = 1, value_name = "SECONDS", requires = "watch",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

/// A counter in the report.
#[derive(Clone, Debug, Serialize)]
struct Row {
    name: &'static str,
    kind: &'static str,
    value: u64,
    meaning: &'static str,
}

fn kind_name(kind: CounterKind) -> &'static str {
    match kind {
        CounterKind::Disposition => "packets delivered",
        CounterKind::Drop => "frames dropped",
        CounterKind::SendError => "sends failed",
        CounterKind::Stage => "stage",
        CounterKind::Peak => "peak of this epoch",
    }
}

/// The table: what is not zero with its meaning, and a line for all that is.
fn text(counters: &[CounterValue]) -> String {
    let mut table = table(&["counter", "value", "of", "what it counts"]);
    for counter in counters.iter().filter(|counter| counter.value > 0) {
        table.add_row([
            counter.name,
            &counter.value.to_string(),
            kind_name(counter.kind),
            counter.meaning,
        ]);
    }
    let zeros = counters.iter().filter(|counter| counter.value == 0).map(|counter| counter.name);
    let zeros: Vec<&str> = zeros.collect();
    match zeros.len() == counters.len() {
        true => format!("all {} counters are zero\n", zeros.len()),
        false => format!("{table}\nzero: {}\n", zeros.join(", ")),
    }
}

/// A line for each counter that has moved.
fn moved(before: &[CounterValue], now: &[CounterValue]) -> String {
    let moved = now.iter().zip(before).filter(|(now, before)| now.value != before.value);
    moved
        .map(|(now, before)| match now.value.checked_sub(before.value) {
            Some(by) => format!("{} + {by}: {}\n", now.name, now.meaning),
            None => format!("{} is {}: a new epoch\n", now.name, now.value),
        })
        .collect()
}

fn read(card: &mut CardBus) -> Result<Vec<CounterValue>> {
    read_counters(card).map_err(driver_refusal)
}

/// Shows what moves, until the card has gone.
fn watch(card: &mut CardBus, mut counters: Vec<CounterValue>, every: Duration) -> Result<bool> {
    loop {
        std::thread::sleep(every);
        let now = read(card)?;
        print(&moved(&counters, &now))?;
        counters = now;
    }
}

/// Runs the command.
pub fn run(arguments: &CountersArguments) -> Result<bool> {
    let json = arguments.card.json()?;
    let mut card = arguments.card.open()?;
    look_at(&mut card)?;
    let counters = read(&mut card)?;
    if let Some(json) = json {
        let row = |it: &CounterValue| {
            let CounterValue { name, value, meaning, .. } = *it;
            Row { name, kind: kind_name(it.kind), value, meaning }
        };
        json.write_json(&counters.iter().map(row).collect::<Vec<_>>())?;
    }
    print(&text(&counters))?;
    match arguments.watch {
        true => watch(&mut card, counters, Duration::from_secs(arguments.every)),
        false => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(name: &'static str, value: u64) -> CounterValue {
        CounterValue { kind: CounterKind::Drop, name, meaning: "what for", value }
    }

    #[test]
    fn nonzero_counters_are_explained_zeros_named() {
        let said = text(&[counter("runt", 3), counter("giant", 0)]);
        assert!(said.contains("runt") && said.contains("what for"), "{said}");
        assert!(said.ends_with("zero: giant\n"), "{said}");
        assert_eq!(text(&[counter("runt", 0)]), "all 1 counters are zero\n");
    }

    #[test]
    fn only_what_moves_is_said() {
        let before = [counter("runt", 3), counter("giant", 4), counter("peak", 9)];
        let now = [counter("runt", 5), counter("giant", 4), counter("peak", 2)];
        assert_eq!(moved(&before, &now), "runt + 2: what for\npeak is 2: a new epoch\n");
    }
}
