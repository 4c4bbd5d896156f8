//! `bench dma`: the read and the write engine alone, without the rest of the card.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use measure::dma::{self, Report, Row};

use crate::shared::options::time_us;
use crate::shared::output::json_file;
use crate::shared::progress::{Progress, Unit};
use crate::shared::table::{print_judged, table};

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

/// Heads of a table of rows.
pub const HEAD: [&str; 6] = ["work", "engine", "GB/s", "limit", "of limit", "to reach"];

/// Cells of a table under [`HEAD`].
pub fn cells(row: &Row) -> Vec<String> {
    let goal = row.goal_gigabytes_per_second.map_or_else(String::new, |goal| {
        let reached = row.gigabytes_per_second >= goal;
        format!("{goal:.1}: {}", if reached { "yes" } else { "no" })
    });
    vec![
        row.work.clone(),
        row.engine.to_owned(),
        format!("{:.2}", row.gigabytes_per_second),
        format!("{:.2}", row.limit_gigabytes_per_second),
        format!("{:.2} %", 100.0 * row.ratio),
        goal,
    ]
}

/// Measures every work for so long, and says how far it is.
pub fn measure(time_us: u64) -> Result<Report> {
    let works = dma::works();
    let mut progress = Progress::new(works.len() as u64, Unit::Count("works"));
    Ok(dma::measure(&works, time_us, &mut |done, work| {
        progress.set(done as u64, &format!(": {}", work.name));
    })?)
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
        table.add_row(cells(row));
    }
    print_judged(&table, report.ok, &report.problems)?;
    Ok(report.ok)
}
