//! `bench connections`: as many connections as the card has flows, opened, used and closed.

use std::cell::Cell;
use std::path::PathBuf;

use abi::config::DEFAULT;
use allocation_counter::measure as counted;
use anyhow::Result;
use clap::Args;
use measure::connections::{self, BYTES};
use serde::Serialize;

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

/// The figures.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Every byte is right.
    pub ok: bool,
    /// Connections.
    pub connections: u32,
    /// Wall time to open all, seconds.
    pub opening_seconds: f64,
    /// Wall time until each has sent and received 1 KiB.
    pub using_seconds: f64,
    /// Wall time to close all.
    pub closing_seconds: f64,
    /// All three.
    pub seconds: f64,
    /// Heap of the host stack that came with each of them, null protocol included, bytes.
    pub bytes_per_connection: f64,
    /// Memory of the process that came with each of them: host stack, model of the card and far
    /// end, buffers apart, bytes. `None` where the system does not say, or memory that was freed
    /// before may have been used again.
    pub resident_bytes_per_connection: Option<f64>,
    /// Payload bytes that the host has copied.
    pub copied_bytes: u64,
}

/// Opens, uses and closes so many. In a `fresh` process resident memory is told as well.
pub fn measure(connections: u32, fresh: bool) -> Result<Report> {
    let (heap_bytes, mut used_bytes) = (Cell::new(0), 0);
    let outcome = connections::run(
        DEFAULT,
        connections as usize,
        &mut |call| heap_bytes.set(heap_bytes.get() + counted(call).bytes_current),
        &mut || used_bytes = heap_bytes.get(),
    )?;
    let [opening_seconds, using_seconds, closing_seconds] =
        [outcome.opening, outcome.using, outcome.closing].map(|time| time.as_secs_f64());
    let each = |bytes: f64| bytes / f64::from(connections);
    let resident_bytes = outcome.memory_bytes.filter(|_| fresh);
    Ok(Report {
        ok: true,
        connections,
        opening_seconds,
        using_seconds,
        closing_seconds,
        seconds: opening_seconds + using_seconds + closing_seconds,
        bytes_per_connection: each(used_bytes as f64),
        resident_bytes_per_connection: resident_bytes.map(|bytes| each(bytes as f64)),
        copied_bytes: outcome.copied_bytes,
    })
}

impl Report {
    /// Names and figures.
    pub fn rows(&self) -> Vec<[String; 2]> {
        let row = |name: &str, figure: String| [name.to_owned(), figure];
        let seconds = |seconds: f64| format!("{seconds:.2} s");
        let mut rows = vec![
            row("opened in", seconds(self.opening_seconds)),
            row(&format!("each sent and received {BYTES} bytes in"), seconds(self.using_seconds)),
            row("closed in", seconds(self.closing_seconds)),
            row("together", seconds(self.seconds)),
            row(
                "heap of the host stack, a connection",
                format!("{:.0} bytes", self.bytes_per_connection),
            ),
            row("copied by the host", format!("{} bytes", self.copied_bytes)),
        ];
        rows.extend(self.resident_bytes_per_connection.map(|bytes| {
            let name = "resident, with card and far end, a connection";
            row(name, format!("{bytes:.0} bytes"))
        }));
        rows
    }
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
