//! The figures of a build: `figures.txt`, which `bitstream/judge.tcl` writes, and their table.
//!
//! ```text
//!   clock NAME PERIOD SETUP HOLD    path KIND SLACK LEVELS START END    skew, cdc, unconstrained N
//!   waived COUNT CELL REASON
//!   port NAME    die NUMBER LUT % BRAM % URAM %    wrong TEXT
//! ```

use std::path::Path;

use anyhow::{bail, Context, Result};
use comfy_table::Table;

use crate::shared::table::table;

/// Name of the file.
pub const FILE: &str = "figures.txt";

/// A clock.
#[derive(Debug, PartialEq, Eq)]
struct Clock {
    name: String,
    period_ns: String,
    setup_ns: String,
    hold_ns: String,
}

/// A worst path.
#[derive(Debug, PartialEq, Eq)]
pub struct WorstPath {
    /// `setup` or `hold`.
    pub kind: String,
    /// Pin that it starts at.
    pub start: String,
    /// Pin that it ends at.
    pub end: String,
    slack_ns: String,
    levels: String,
}

/// What is used of a die: its number, then LUT, BRAM and URAM with their shares in per cent.
#[derive(Debug, PartialEq, Eq)]
struct Die([String; 7]);

/// The figures.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Why there is no image; nothing: there is one.
    pub wrong: Vec<String>,
    /// The worst path of setup, and that of hold.
    pub paths: Vec<WorstPath>,
    vivado: String,
    clocks: Vec<Clock>,
    ports: Vec<String>,
    dies: Vec<Die>,
    skew: String,
    critical: String,
    waived: Vec<String>,
    unconstrained: String,
}

impl Figures {
    /// Reads those of a folder; `None`: the build has not come so far.
    pub fn read(results: &Path) -> Result<Option<Self>> {
        let path = results.join(FILE);
        match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            text => {
                let named = || format!("file {}", path.display());
                Self::parse(&text.with_context(named)?).with_context(named).map(Some)
            }
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let mut figures = Self::default();
        for (number, line) in text.lines().enumerate() {
            let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
            let words: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            match (what, &words[..]) {
                ("wrong", _) => figures.wrong.push(rest.to_owned()),
                ("vivado", [version]) => figures.vivado.clone_from(version),
                ("clock", [name, period, setup, hold]) => figures.clocks.push(Clock {
                    name: name.clone(),
                    period_ns: period.clone(),
                    setup_ns: setup.clone(),
                    hold_ns: hold.clone(),
                }),
                ("path", [kind, slack, levels, start, end]) => figures.paths.push(WorstPath {
                    kind: kind.clone(),
                    start: start.clone(),
                    end: end.clone(),
                    slack_ns: slack.clone(),
                    levels: levels.clone(),
                }),
                ("skew", [count]) => figures.skew.clone_from(count),
                ("cdc", [count]) => figures.critical.clone_from(count),
                ("waived", [count, cell, ..]) => figures.waived.push(format!("{count} in {cell}")),
                ("unconstrained", [count]) => figures.unconstrained.clone_from(count),
                ("port", [name]) => figures.ports.push(name.clone()),
                ("die", _) => match words.try_into() {
                    Ok(die) => figures.dies.push(Die(die)),
                    Err(words) => {
                        bail!("line {}: {} words of a die, not 7", number + 1, words.len())
                    }
                },
                _ => bail!("line {}: '{line}' is no figure", number + 1),
            }
        }
        Ok(figures)
    }

    /// The table; `name` says what a pin is called in the sources.
    pub fn table(&self, name: impl Fn(&str) -> String) -> Table {
        let mut table = table(&["figure", "value", "must be"]);
        let mut row = |figure: String, value: String, must: &str| {
            table.add_row([figure, value, must.to_owned()]);
        };
        row("Vivado".to_owned(), self.vivado.clone(), "");
        for clock in &self.clocks {
            let (of, period) = (&clock.name, &clock.period_ns);
            let slack = format!("{} / {} ns", clock.setup_ns, clock.hold_ns);
            row(format!("slack of {of} ({period} ns), setup / hold"), slack, "0 or more");
        }
        for path in &self.paths {
            let (kind, slack, levels) = (&path.kind, &path.slack_ns, &path.levels);
            let ends = format!("{slack} ns, {levels} LUTs");
            row(format!("worst path of {kind}"), ends, "0 or more");
            row("  from".to_owned(), name(&path.start), "");
            row("  to".to_owned(), name(&path.end), "");
        }
        row("critical crossings".to_owned(), self.critical.clone(), "0");
        if !self.waived.is_empty() {
            row("  the vendor's own, waived".to_owned(), self.waived.join(", "), "");
        }
        row("crossings whose bits are apart".to_owned(), self.skew.clone(), "0");
        row("paths without a constraint".to_owned(), self.unconstrained.clone(), "0");
        let ports = match &self.ports[..] {
            [] => "0".to_owned(),
            ports => ports.join(", "),
        };
        row("ports without a pin".to_owned(), ports, "0");
        for Die([number, lut, lut_share, bram, bram_share, uram, uram_share]) in &self.dies {
            let (lut, bram) =
                (format!("{lut} LUT ({lut_share} %)"), format!("{bram} BRAM ({bram_share} %)"));
            let value = format!("{lut}, {bram}, {uram} URAM ({uram_share} %)");
            row(format!("die {number}"), value, "");
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
vivado 2024.1
clock user_clk 4.000 -0.031 0.02
path setup -0.031 7 shell/card/a_reg/C shell/card/b_reg/D
skew 0
cdc 2
waived 14 shell/mac_side/core the vendor's own
unconstrained 0
port led[1]
die 1 68123 17.29 350.5 48.68 188 58.75
wrong setup: slack -0.031 ns; see timing.txt
";

    #[test]
    fn every_figure_is_in_the_table() {
        let figures = Figures::parse(TEXT).expect("figures");
        assert_eq!(figures.wrong, ["setup: slack -0.031 ns; see timing.txt"]);
        let table = figures.table(str::to_uppercase).to_string();
        for said in [
            "2024.1",
            "slack of user_clk (4.000 ns), setup / hold",
            "-0.031 / 0.02 ns",
            "-0.031 ns, 7 LUTs",
            "SHELL/CARD/A_REG/C",
            "SHELL/CARD/B_REG/D",
            "led[1]",
            "14 in shell/mac_side/core",
            "68123 LUT (17.29 %), 350.5 BRAM (48.68 %), 188 URAM (58.75 %)",
        ] {
            assert!(table.contains(said), "{said}:\n{table}");
        }
    }

    #[test]
    fn malformed_figure_is_refused_with_its_line() {
        for (line, said) in [
            ("clock a 1 2", "line 2: 'clock a 1 2' is no figure"),
            ("die 1 2 3", "line 2: 3 words of a die, not 7"),
            ("", "line 2: '' is no figure"),
        ] {
            let error = Figures::parse(&format!("cdc 0\n{line}\n")).expect_err("no figure");
            assert_eq!(error.to_string(), said);
        }
    }
}
