//! `zeronic bench area`: the area of the card on the device, and its longest paths.
//!
//! ```text
//!   card ──> Verilog ──> Yosys ──┬─> LUTs, BRAM, URAM by block ──> table, JSON, text
//!                                └─> levels by clock, loads of nets ─┘
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use abi::config::config_names;
use anyhow::{Context, Result};
use clap::Args;
use hdl::emit::emit_card;
use serde::{Deserialize, Serialize};
use verilate::area::report::{Report, DOMAINS, LOADS_MAX, LOADS_SHOWN, PORT_LEVELS_MAX, XCVU9P};

use crate::shared::options::UsageError;
use crate::shared::output::{json_file, print, ResultFile};
use crate::shared::table::table;

/// Arguments of `zeronic bench area`.
#[derive(Debug, Args)]
pub struct AreaArguments {
    /// Sizes of the card's tables: default, lab or small
    #[arg(long, value_name = "NAME", default_value = "default")]
    config: String,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report, with memories and paths, to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Budget of LUTs, in percent of the device.
pub const LUT_PERCENT_MAX: f64 = 6.9;
/// Budget of block RAM, in percent.
pub const BRAM_PERCENT_MAX: f64 = 20.0;
/// Budget of UltraRAM, in percent.
pub const URAM_PERCENT_MAX: f64 = 40.0;

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Levels {
    core: u32,
    mac: u32,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct BlockFigures {
    path: String,
    module: String,
    luts: u64,
    registers: u64,
    brams: f64,
    urams: u64,
    levels: Levels,
}

/// Area of the card.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Figures {
    ok: bool,
    /// LUTs, in percent of the device.
    pub lut_percent: f64,
    /// Block RAM, in percent of the device.
    pub bram_percent: f64,
    /// UltraRAM, in percent of the device.
    pub uram_percent: f64,
    levels: Levels,
    blocks: Vec<BlockFigures>,
}

impl Figures {
    /// Longest paths at 250 and at 322 MHz, and their limits.
    pub fn levels(&self) -> [(f64, u32, u32); 2] {
        let found = [self.levels.core, self.levels.mac];
        let each = |at: usize| (DOMAINS[at].frequency_mhz, found[at], DOMAINS[at].levels_max);
        [each(0), each(1)]
    }

    /// What `bench area --json` wrote.
    pub fn read(path: &Path) -> Result<Self, UsageError> {
        let failed = |why: String| UsageError(format!("--area {}: {why}", path.display()));
        let file = File::open(path).map_err(|error| failed(error.to_string()))?;
        serde_json::from_reader(file).map_err(|error| failed(error.to_string()))
    }

    /// The largest blocks that hold no other one of the list: name and LUTs, by falling size.
    pub fn largest_blocks(&self, count: usize) -> Vec<(String, f64)> {
        let mut shown: Vec<&BlockFigures> = Vec::new();
        let holds = |outer: &str, inner: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
        };
        // The largest is split into its parts as long as it has some and they fit.
        let children = |path: &str| -> Vec<&BlockFigures> {
            let inside = self.blocks.iter().filter(|block| match path {
                "" => !block.path.is_empty() && !block.path.contains('/'),
                _ => holds(path, &block.path) && !block.path[path.len() + 1..].contains('/'),
            });
            inside.collect()
        };
        shown.extend(children(""));
        loop {
            shown.sort_by_key(|block| std::cmp::Reverse(block.luts));
            let parts = shown.iter().map(|block| children(&block.path));
            let next = parts.enumerate().find(|(_, parts)| !parts.is_empty());
            match next {
                Some((at, parts)) if shown.len() + parts.len() <= count + 1 => {
                    shown.remove(at);
                    shown.extend(parts);
                }
                _ => break,
            }
        }
        shown.truncate(count);
        let named = |block: &&BlockFigures| {
            let path = block.path.strip_prefix("datapath/").unwrap_or(&block.path);
            (path.to_owned(), block.luts as f64)
        };
        shown.iter().map(named).collect()
    }
}

fn figures(report: &Report) -> Figures {
    let levels =
        |block: &str| Levels { core: report.levels_in(block, 0), mac: report.levels_in(block, 1) };
    let blocks = report.blocks.iter().map(|block| BlockFigures {
        path: block.path.clone(),
        module: block.module.clone(),
        luts: block.usage.luts,
        registers: block.usage.registers,
        brams: block.usage.half_brams as f64 / 2.0,
        urams: block.usage.urams,
        levels: levels(&block.path),
    });
    let (lut_percent, bram_percent, uram_percent) =
        (report.lut_percent(&XCVU9P), report.bram_percent(&XCVU9P), report.uram_percent(&XCVU9P));
    let in_time = (0..DOMAINS.len()).all(|d| report.levels(d) <= DOMAINS[d].levels_max);
    Figures {
        ok: in_time
            && report.port_levels() <= PORT_LEVELS_MAX
            && report.loads_max() <= LOADS_MAX
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

/// Maps the card in a named configuration.
fn map(config: &str) -> Result<Report> {
    let known = config_names();
    let unknown = || UsageError(format!("unknown configuration '{config}'; known: {known}"));
    let card = emit_card(config).ok_or_else(unknown)?;
    let card = card.context("the card has no Verilog")?;
    Ok(verilate::area::measure(card.top, &card.design.texts())?)
}

/// Maps the card; its figures alone.
pub fn measure(config: &str) -> Result<Figures> {
    Ok(figures(&map(config)?))
}

/// Measures and prints. True if the card keeps to its budget.
pub fn run(arguments: &AreaArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let text = arguments.report.as_deref();
    let text = text.map(|path| ResultFile::prepare("--report", path));
    let text = text.transpose()?;
    let report = map(&arguments.config)?;
    let figures = figures(&report);
    if let Some(json) = json {
        json.write_json(&figures)?;
    }
    if let Some(text) = text {
        text.write(report.markdown(&XCVU9P).as_bytes())?;
    }
    let mut rows = table(&["", XCVU9P.name, "at most"]);
    for (what, percent, limit) in [
        ("LUTs", figures.lut_percent, LUT_PERCENT_MAX),
        ("BRAM", figures.bram_percent, BRAM_PERCENT_MAX),
        ("URAM", figures.uram_percent, URAM_PERCENT_MAX),
    ] {
        rows.add_row([what.to_owned(), format!("{percent:.2} %"), format!("{limit} %")]);
    }
    for (index, domain) in DOMAINS.iter().enumerate() {
        rows.add_row([
            format!("levels at {:.0} MHz", domain.frequency_mhz),
            report.levels(index).to_string(),
            domain.levels_max.to_string(),
        ]);
    }
    rows.add_row([
        "levels at a port".to_owned(),
        report.port_levels().to_string(),
        PORT_LEVELS_MAX.to_string(),
    ]);
    let loads = match report.loads_max() {
        0 => format!("{LOADS_SHOWN} or fewer"),
        loads => loads.to_string(),
    };
    rows.add_row(["loads of a net".to_owned(), loads, LOADS_MAX.to_string()]);
    print(&format!("{rows}\n"))?;
    Ok(figures.ok)
}
