//! `zeronic bench area`: the area of the card on the device, and its longest paths.
//!
//! ```text
//!   measure::area ──> table, JSON, text
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use measure::area::{self, Figures, BRAM_PERCENT_MAX, LUT_PERCENT_MAX, URAM_PERCENT_MAX};
use verilate::area::report::{DOMAINS, LOADS_MAX, LOADS_SHOWN, PORT_LEVELS_MAX, XCVU9P};

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

/// What `bench area --json` wrote.
pub fn read(path: &Path) -> Result<Figures, UsageError> {
    let failed = |why: String| UsageError(format!("--area {}: {why}", path.display()));
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    serde_json::from_reader(file).map_err(|error| failed(error.to_string()))
}

/// Measures and prints. True if the card keeps to its budget.
pub fn run(arguments: &AreaArguments) -> Result<bool> {
    let json = json_file(arguments.json.as_deref())?;
    let text = arguments.report.as_deref();
    let text = text.map(|path| ResultFile::prepare("--report", path));
    let text = text.transpose()?;
    let report = area::map(&arguments.config)?;
    let figures = area::figures(&report);
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
