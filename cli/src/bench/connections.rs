//! `bench connections`: as many connections as the card has flows, opened, used and closed.

use std::path::PathBuf;

use abi::config::DEFAULT;
use allocation_counter::measure as counted;
use anyhow::Result;
use clap::Args;
use measure::connections::{self, Report};

use crate::shared::output::json_file;
use crate::shared::table::{print_judged, table};

/// Most connections: the flows of the default card.
pub const CONNECTIONS_MAX: u32 = 1 << DEFAULT.flow_bits;
/// Arguments of `zeronic bench connections`.
#[derive(Clone, Debug, Args)]
pub struct ConnectionsArguments {
    /// How many
    #[arg(long, default_value_t = CONNECTIONS_MAX, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(CONNECTIONS_MAX)))]
    connections: u32,
    /// Write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Opens, uses and closes so many. In a `fresh` process resident memory is told as well.
pub fn measure(connections: u32, fresh: bool) -> Result<Report> {
    Ok(connections::measure(connections, fresh, |call| counted(call).bytes_current)?)
}

/// Measures, prints, writes.
pub fn run(arguments: &ConnectionsArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let report = measure(arguments.connections, true)?;
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    let mut table = table(&[&format!("{} connections", report.connections), "figure"]);
    for row in report.rows() {
        table.add_row(row);
    }
    print_judged(&table, report.ok, &[])?;
    Ok(report.ok)
}
