//! Area of the card on the device, by block, and its longest paths, beside their budget.
//!
//! ```text
//!   card ──> Verilog ──> Yosys ──┬─> LUTs, BRAM, URAM by block ──┬─> figures
//!                                └─> levels by clock, loads ─────┘
//! ```

use abi::config::config_names;
use hdl::emit::{emit_card, CardEmitError};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use verilate::area::report::{Report, DOMAINS, LOADS_MAX, PORT_LEVELS_MAX, XCVU9P};
use verilate::area::AreaError;

/// Budget of LUTs, in percent of the device.
pub const LUT_PERCENT_MAX: f64 = 6.9;
/// Budget of block RAM, in percent.
pub const BRAM_PERCENT_MAX: f64 = 20.0;
/// Budget of UltraRAM, in percent.
pub const URAM_PERCENT_MAX: f64 = 40.0;

/// Why there is no area.
#[derive(Debug, Error)]
pub enum MapError {
    /// No configuration has this name.
    #[error("unknown configuration '{0}'; known: {known}", known = config_names())]
    Unknown(String),
    /// The card cannot be written as Verilog.
    #[error("the card has no Verilog")]
    Emit(#[source] CardEmitError),
    /// Yosys cannot map it.
    #[error(transparent)]
    Area(#[from] AreaError),
}

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
    /// The card keeps to its budget.
    pub ok: bool,
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

/// The figures of a mapped card.
pub fn figures(report: &Report) -> Figures {
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
pub fn map(config: &str) -> Result<Report, MapError> {
    let card = emit_card(config).ok_or_else(|| MapError::Unknown(config.to_owned()))?;
    let card = card.map_err(MapError::Emit)?;
    Ok(verilate::area::measure(card.top, &card.design.texts())?)
}

/// Maps the card; its figures alone.
pub fn measure(config: &str) -> Result<Figures, MapError> {
    Ok(figures(&map(config)?))
}
