//! `bench dma`: the read and the write engine alone, without the rest of the card.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use measure::engines::{both_loads, measure as measure_load, read_loads, write_loads, EngineLoad};
use serde::Serialize;

use crate::shared::options::time_us;
use crate::shared::output::json_file;
use crate::shared::progress::{Progress, Unit};
use crate::shared::table::{print_judged, table};

/// Payload, GB/s, that the best published engines write and read on this link.
const WRITE_GOAL: f64 = 13.2;
const READ_GOAL: f64 = 12.2;
/// Completion sizes and completion headers of the hard block.
const SLOTS: [(u32, u32); 4] = [(256, 256), (128, 256), (64, 256), (256, 128)];

/// Arguments of `zeronic bench dma`.
#[derive(Clone, Debug, Args)]
pub struct DmaArguments {
    /// Simulated time of each row, in microseconds
    #[arg(long, default_value_t = 1000, value_name = "US", value_parser = time_us)]
    time: u64,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The rate of one engine at one kind of work.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the work.
    pub work: String,
    /// `write` or `read`.
    pub engine: &'static str,
    /// Payload.
    pub gigabytes_per_second: f64,
    /// What link, port and completion buffer allow.
    pub limit_gigabytes_per_second: f64,
    /// Figure divided by limit.
    pub ratio: f64,
    /// Goal, where there is one.
    pub goal_gigabytes_per_second: Option<f64>,
}

impl Row {
    /// Cells of a table under [`HEAD`].
    pub fn cells(&self) -> Vec<String> {
        let goal = self.goal_gigabytes_per_second.map_or_else(String::new, |goal| {
            let reached = self.gigabytes_per_second >= goal;
            format!("{goal:.1}: {}", if reached { "yes" } else { "no" })
        });
        vec![
            self.work.clone(),
            self.engine.to_owned(),
            format!("{:.2}", self.gigabytes_per_second),
            format!("{:.2}", self.limit_gigabytes_per_second),
            format!("{:.2} %", 100.0 * self.ratio),
            goal,
        ]
    }
}

/// Heads of a table of rows.
pub const HEAD: [&str; 6] = ["work", "engine", "GB/s", "limit", "of limit", "to reach"];

/// All rates and the verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every byte is right, and no rule of the link was broken.
    pub ok: bool,
    /// One for each engine that a work needs.
    pub rows: Vec<Row>,
    /// Simulated time of each work that was measured.
    pub sim_time_ns: u64,
    /// The first problems.
    pub problems: Vec<String>,
}

fn works() -> Vec<EngineLoad> {
    let reads = SLOTS.iter().flat_map(|(bytes, headers)| read_loads(*bytes, *headers));
    write_loads().into_iter().chain(reads).chain(both_loads()).collect()
}

/// Goals are those of long jobs alone in the usual slot.
fn goal(work: &EngineLoad, engine: &str) -> Option<f64> {
    let name = work.name.as_str();
    match engine {
        "write" => (name == "write 4 KiB").then_some(WRITE_GOAL),
        _ => (name == read_loads(256, 256)[0].name).then_some(READ_GOAL),
    }
}

/// Measures every work for so long.
pub fn measure(time_us: u64) -> Result<Report> {
    let works = works();
    let mut progress = Progress::new(works.len() as u64, Unit::Count("works"));
    let mut report = Report { ok: true, rows: Vec::new(), sim_time_ns: 0, problems: Vec::new() };
    for (number, work) in works.iter().enumerate() {
        progress.set(number as u64, &format!(": {}", work.name));
        let outcome = measure_load(work, time_us * 1000)?;
        for (engine, rate) in [("write", outcome.write), ("read", outcome.read)] {
            report.rows.extend(rate.map(|rate| Row {
                work: work.name.clone(),
                engine,
                gigabytes_per_second: rate.measured,
                limit_gigabytes_per_second: rate.limit,
                ratio: rate.share(),
                goal_gigabytes_per_second: goal(work, engine),
            }));
        }
        report.sim_time_ns = outcome.time_ns;
        let first = outcome.problems.first.iter();
        report.problems.extend(first.map(|problem| format!("{}: {problem}", work.name)));
    }
    progress.clear();
    report.ok = report.problems.is_empty();
    Ok(report)
}

/// Measures, prints, writes.
pub fn run(arguments: &DmaArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let report = measure(arguments.time)?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let mut table = table(&HEAD);
    for row in &report.rows {
        table.add_row(row.cells());
    }
    print_judged(&table, report.ok, &report.problems)?;
    Ok(report.ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_goals_belong_to_measured_work() {
        let goals: Vec<f64> = works()
            .iter()
            .flat_map(|work| ["write", "read"].map(|engine| goal(work, engine)))
            .flatten()
            .collect();
        assert_eq!(goals, [WRITE_GOAL, READ_GOAL]);
    }
}
