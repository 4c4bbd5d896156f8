//! Rates of the read and the write engine alone, without the rest of the card.
//!
//! ```text
//!   works ──► engines.rs: jobs without end, every byte judged ──► rate ─┬─► row
//!         └─► limits.rs: what link, port and completion buffer allow ───┘
//! ```

pub mod engines;
pub mod limits;

use serde::Serialize;

use self::engines::{both_loads, measure as run, read_loads, write_loads, EngineLoad};
use crate::error::MeasureError;

/// Payload, GB/s, that the best published engines write and read on this link.
const WRITE_GOAL: f64 = 13.2;
const READ_GOAL: f64 = 12.2;
/// Completion sizes and completion headers of the hard block.
const SLOTS: [(u32, u32); 4] = [(256, 256), (128, 256), (64, 256), (256, 128)];

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

/// All works that are measured.
pub fn works() -> Vec<EngineLoad> {
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

/// Measures each of these works for so many microseconds of simulated time. `progress` hears how
/// many are done and which comes next.
pub fn measure(
    works: &[EngineLoad],
    time_us: u64,
    progress: &mut dyn FnMut(usize, &EngineLoad),
) -> Result<Report, MeasureError> {
    let mut report = Report { ok: true, rows: Vec::new(), sim_time_ns: 0, problems: Vec::new() };
    for (number, work) in works.iter().enumerate() {
        progress(number, work);
        let outcome = run(work, time_us * 1000)?;
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
    report.ok = report.problems.is_empty();
    Ok(report)
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
