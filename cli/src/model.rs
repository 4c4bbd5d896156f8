//! `zeronic model`: what a stream costs on each data path, as a page, a table or JSON, and how far
//! that is from published measurements.
//!
//! ```text
//!   options ─► Setup ─► model::cost ──► --out: the page · --json · a table on the terminal
//!   --validate: published points beside the model    --fit: coefficients anew
//!   --calibrate: copy, call, TCP over veth ──► the speed of this machine's cores
//! ```

mod calibrate;
mod refusal;
mod report;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use model::cost::evaluate;
use model::page::render;
use model::published::points;
use model::setup::Setup;
use model::table::Table;
use model::validate::compare;
use serde_json::json;

use self::refusal::refused;
use crate::shared::failure::STATUSES;
use crate::shared::options::{probability, size};
use crate::shared::output::{print, ResultFile};

/// Arguments of `zeronic model`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct ModelArguments {
    /// Write the page: one file that asks for nothing
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show one path, hop by hop; else all of them
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Link, Gb/s
    #[arg(long, default_value_t = 100.0, value_name = "GBPS")]
    rate: f64,
    /// Largest IP packet, bytes
    #[arg(long, default_value_t = 9000.0, value_name = "BYTES")]
    mtu: f64,
    /// Length of a message (plain, or with KiB or MiB)
    #[arg(long, default_value = "128KiB", value_name = "BYTES", value_parser = size)]
    message: u64,
    /// Share of packets lost, from 0 to 10 %
    #[arg(long, default_value = "0", value_name = "P", value_parser = probability)]
    loss: f64,
    /// PCIe generation, 3 to 6
    #[arg(long, default_value_t = 4, value_name = "N")]
    pcie: u32,
    /// PCIe lanes
    #[arg(long, default_value_t = 16, value_name = "N")]
    lanes: u32,
    /// Speed of a core, as --calibrate says; 1 is an EPYC 7502
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    core: f64,
    /// What the application does: stream, redis or broadcast
    #[arg(long, default_value = "stream", value_name = "LOAD")]
    load: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Measure how fast a core of this machine is, for ten seconds
    #[arg(long, conflicts_with_all = ["out", "path", "validate", "fit"])]
    calibrate: bool,
    /// Compare the model with published measurements; fails above the limits
    #[arg(long, conflicts_with_all = ["out", "path", "fit"])]
    validate: bool,
    /// Fit the coefficients anew and print them
    #[arg(long, conflicts_with_all = ["out", "path"])]
    fit: bool,
}

impl ModelArguments {
    fn setup(&self) -> Result<Setup> {
        let setup = Setup {
            rate_gbps: self.rate,
            mtu_bytes: self.mtu,
            message_bytes: self.message as f64,
            loss: self.loss,
            generation: self.pcie,
            lanes: self.lanes,
            core_factor: self.core,
            load: self.load.clone(),
            ..Setup::default()
        };
        setup.check().map_err(refused)?;
        Ok(setup)
    }
}

/// Runs the command. False where the model is further off than it may be.
pub fn run(arguments: &ModelArguments) -> Result<bool> {
    let table = Table::read().map_err(refused)?;
    let setup = arguments.setup()?;
    if arguments.calibrate {
        return calibrate::run(&table, arguments.json);
    }
    if arguments.validate {
        return report::validation(&table, arguments.json);
    }
    if arguments.fit {
        return report::fitted(&table);
    }
    table.load(&setup.load).map_err(refused)?;
    if let Some(path) = &arguments.path {
        table.path(path).map_err(refused)?;
    }
    if let Some(out) = &arguments.out {
        return write_page(out, &table, &setup);
    }
    let ids: Vec<&str> = match &arguments.path {
        Some(path) => vec![path],
        None => table.paths.iter().map(|path| path.id.as_str()).collect(),
    };
    let costs = ids.iter().map(|id| Ok((*id, evaluate(&table, id, &setup).map_err(refused)?)));
    let costs = costs.collect::<Result<Vec<_>>>()?;
    if arguments.json {
        let rows = costs.iter().map(|(id, cost)| json!({ "path": id, "cost": cost }));
        let all = json!({
            "rate_gbps": setup.rate_gbps, "mtu_bytes": setup.mtu_bytes,
            "message_bytes": setup.message_bytes, "loss": setup.loss,
            "pcie_generation": setup.generation, "pcie_lanes": setup.lanes,
            "core_factor": setup.core_factor, "load": setup.load,
            "limits": model::cost::LIMITS, "paths": rows.collect::<Vec<_>>(),
        });
        print(&format!("{all:#}\n"))?;
    } else if let [(id, cost)] = costs.as_slice() {
        print(&report::one_path(&table, id, cost)?)?;
    } else {
        print(&report::all_paths(&table, &costs)?)?;
    }
    Ok(true)
}

fn write_page(out: &std::path::Path, table: &Table, setup: &Setup) -> Result<bool> {
    let file = ResultFile::prepare("page", out)?;
    let compared = compare(table, &points().map_err(refused)?).map_err(refused)?;
    let page = render(table, &compared, setup.core_factor).map_err(refused)?;
    file.write(page.as_bytes())?;
    print(&format!(
        "{}: {} kB, no request to anywhere\n",
        out.display(),
        page.len().div_ceil(1000)
    ))?;
    Ok(true)
}
