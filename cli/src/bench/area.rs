//! `zeronic bench area`: what the card takes of the device, and its longest paths.
//!
//! ```text
//!   card ──> Verilog ──> Yosys ──┬─> LUTs, BRAM, URAM by block ──> table, JSON, text
//!                                └─> levels by clock ────────────────┘
//! ```

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use hdl::nic::emit_card;
use serde::Serialize;
use sim::area::report::{Report, DOMAINS, XCVU9P};

use super::{table, write_json};
use crate::options::UsageError;

/// Arguments of `zeronic bench area`.
#[derive(Debug, Args)]
pub struct AreaArguments {
    /// Sizes of the card's tables: default or small
    #[arg(long, value_name = "NAME", default_value = "default")]
    config: String,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report, with memories and paths, to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// The card's budget, in percent of the device.
const LUT_PERCENT_MAX: f64 = 6.0;
const BRAM_PERCENT_MAX: f64 = 20.0;
const URAM_PERCENT_MAX: f64 = 40.0;

#[derive(Serialize)]
struct Levels {
    core: u32,
    mac: u32,
}

#[derive(Serialize)]
struct BlockFigures<'a> {
    path: &'a str,
    module: &'a str,
    luts: u64,
    registers: u64,
    brams: f64,
    urams: u64,
    levels: Levels,
}

#[derive(Serialize)]
struct Figures<'a> {
    ok: bool,
    lut_percent: f64,
    bram_percent: f64,
    uram_percent: f64,
    levels: Levels,
    blocks: Vec<BlockFigures<'a>>,
}

fn figures(report: &Report) -> Figures<'_> {
    let levels = |block: &str| Levels {
        core: report.levels_in(block, 0),
        mac: report.levels_in(block, 1),
    };
    let blocks = report.blocks.iter().map(|block| BlockFigures {
        path: &block.path,
        module: &block.module,
        luts: block.usage.luts,
        registers: block.usage.registers,
        brams: block.usage.half_brams as f64 / 2.0,
        urams: block.usage.urams,
        levels: levels(&block.path),
    });
    let (lut_percent, bram_percent, uram_percent) = (
        report.lut_percent(&XCVU9P),
        report.bram_percent(&XCVU9P),
        report.uram_percent(&XCVU9P),
    );
    let in_time = (0..DOMAINS.len()).all(|d| report.levels(d) <= DOMAINS[d].levels_max);
    Figures {
        ok: in_time
            && lut_percent <= LUT_PERCENT_MAX
            && bram_percent <= BRAM_PERCENT_MAX
            && uram_percent <= URAM_PERCENT_MAX,
        lut_percent,
        bram_percent,
        uram_percent,
        levels: levels(""),
        blocks: blocks.collect(),
    }
}

/// Measures and prints. True if the card keeps to its budget.
pub fn run(arguments: &AreaArguments) -> Result<bool> {
    let unknown = || UsageError(format!("unknown configuration '{}'", arguments.config));
    let card = emit_card(&arguments.config).ok_or_else(unknown)?;
    let card = card.context("the card has no Verilog")?;
    let modules = card.design.modules.into_iter();
    let modules: Vec<(String, String)> = modules.map(|m| (m.name, m.text)).collect();
    let report = sim::area::measure(card.top, &modules)?;
    let figures = figures(&report);
    if let Some(path) = &arguments.json {
        write_json(&figures, path)?;
    }
    if let Some(path) = &arguments.report {
        let text = report.markdown(&XCVU9P);
        std::fs::write(path, text).with_context(|| format!("report {}", path.display()))?;
    }
    let mut rows = table(&["", XCVU9P.name, "at most"]);
    for (what, percent, limit) in [
        ("LUTs", figures.lut_percent, LUT_PERCENT_MAX),
        ("BRAM", figures.bram_percent, BRAM_PERCENT_MAX),
        ("URAM", figures.uram_percent, URAM_PERCENT_MAX),
    ] {
        rows.add_row([
            what.to_owned(),
            format!("{percent:.2} %"),
            format!("{limit} %"),
        ]);
    }
    for (index, domain) in DOMAINS.iter().enumerate() {
        rows.add_row([
            format!("levels at {:.0} MHz", domain.frequency_mhz),
            report.levels(index).to_string(),
            domain.levels_max.to_string(),
        ]);
    }
    println!("{rows}");
    Ok(figures.ok)
}
