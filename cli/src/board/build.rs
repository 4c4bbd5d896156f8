//! `zeronic build`: a board's folder, Vivado's run on it, and a table of what came out.
//!
//! ```text
//!   folder::write_board ───► DIR ──► vivado build.tcl ── zeronic-step lines ──► progress
//!                                        └─► DIR/build/figures.txt ──► table, verdict, exit status
//! ```
//! All that Vivado prints is in `DIR/build/vivado.log`. A run with the inputs of an earlier one
//! goes on behind the last step that was done (`bitstream/steps.tcl`).

mod failure;
mod figures;
mod netlist;
mod vivado;

use std::path::{Path, PathBuf};

use ::verilog::Design;
use abi::config::LAB;
use anyhow::{Context, Result};
use board::description::Board;
use board::tops::{emit_top, PREFIX};
use clap::Args;
use hdl::emit::EmittedCard;

use crate::board::find_board;
use crate::board::folder::{write_board, write_golden, BoardFolder, GoldenFolder};
use crate::card::explain::explain;
use crate::card::CardOptions;
use crate::shared::options::{StatusError, UsageError};
use crate::shared::output::print;
use figures::Figures;
use vivado::Vivado;

/// Exit status without Vivado: the folder is written, and that is all.
const NO_VIVADO: u8 = 3;
/// Exit status when Vivado itself fails.
const VIVADO_FAILED: u8 = 4;
/// Exit status of an image that is not all it must be.
const FORCED: u8 = 5;
/// Where results are, below the board's folder.
const RESULTS: &str = "build";
/// Most threads that Vivado has (UG904, general.maxThreads).
const JOBS_MAX: i64 = 32;

/// Said below the options.
const STATUSES: &str = "\
Exit status:
  0  the image is built, and all it must fulfil is
  1  there is no image: slack below zero, a critical crossing, a path without a constraint, a
     port without a pin; or the netlist does not do what the card does (--check-netlist)
  2  wrong options, a version of Vivado that is known to be wrong, a file that cannot be written, a
     full disk
  3  there is no `vivado` on the PATH: the folder is written; what to run where is said
  4  Vivado failed: no licence, no space, a crash, an error of its own; the next run goes on behind
     the last step that was done
  5  there is an image, though something is wrong with it (--force-image); its header says so, and
     `flash` and `device reprogram` refuse it without --force";

/// Arguments of `zeronic build`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct BuildArguments {
    /// Board that the image is for
    #[arg(long, value_name = "NAME")]
    board: String,
    /// Folder to write to, `build-BOARD` or `build-BOARD-golden` if not said; made if missing.
    /// Results are in its `build`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Sizes of the card's tables: lab or small
    #[arg(long, value_name = "NAME", default_value = LAB.name)]
    config: String,
    /// Build the board's golden image: slot, board window and flash, without a card
    #[arg(long, conflicts_with_all = ["config", "check_netlist"])]
    golden: bool,
    /// Threads of Vivado, 1 to 32; otherwise what Vivado takes
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=JOBS_MAX))]
    jobs: Option<u32>,
    /// Begin anew, even behind steps that an earlier run has done
    #[arg(long)]
    fresh: bool,
    /// Also with Vivado 2023.2, which makes wrong logic of masks
    #[arg(long)]
    force_vivado: bool,
    /// Write the image also where something is wrong with it: for a first look at a board. Its
    /// header says so
    #[arg(long)]
    force_image: bool,
    /// First synthesise the card alone, and run the card's exchange of bytes on the netlist in
    /// Verilator. Tried with a netlist of Yosys; never with one of Vivado and its models
    #[arg(long)]
    check_netlist: bool,
    /// Print block, file and field of both ends of the worst paths
    #[arg(long)]
    explain: bool,
}

/// Runs the command.
pub fn run(arguments: &BuildArguments) -> Result<bool> {
    let board = find_board(&arguments.board)?;
    let kind = if arguments.golden { "-golden" } else { "" };
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from(format!("build-{}{kind}", board.name)));
    let written = Written::new(arguments, board, &out)?;
    let Some(vivado) = Vivado::find() else {
        let text = format!(
            "no `vivado` on the PATH; where there is one, in the folder {}: vivado -mode batch \
             -source build.tcl",
            out.display()
        );
        let status = NO_VIVADO;
        return Err(StatusError { status, text }.into());
    };
    let version = vivado.version().map_err(status_error)?;
    if vivado::is_wrong(&version) && !arguments.force_vivado {
        let text = format!(
            "Vivado {version} makes wrong logic of masks; 2023.1 and 2024.1 do not. \
             --force-vivado builds all the same"
        );
        return Err(UsageError(text).into());
    }
    let results = out.join(RESULTS);
    prepare(&results, arguments.fresh)?;
    let inputs = vivado_inputs(arguments, &out, &results)?;
    if arguments.check_netlist && !netlist_is_right(&vivado, &inputs, board, &written, &results)? {
        return Ok(false);
    }
    let run = vivado.run(&inputs, "build.tcl")?;
    let Some(figures) = Figures::read(&results)? else {
        return Err(status_error(run.failure(board, "")).into());
    };
    print(&format_results(&figures, &written, arguments.explain))?;
    if !figures.wrong.is_empty() && !arguments.force_image {
        return Ok(false);
    }
    let image = results.join(format!("{}.zimg", written.top));
    if !run.is_success() || !image.is_file() {
        let all = if figures.wrong.is_empty() { "; the design is as it must be" } else { "" };
        return Err(status_error(run.failure(board, all)).into());
    }
    print(&format!("image {}\n", image.display()))?;
    if !figures.wrong.is_empty() {
        let count = figures.wrong.len();
        let text = format!("the image is forced: {count} things are wrong with it; see above");
        return Err(StatusError { status: FORCED, text }.into());
    }
    Ok(true)
}

/// Synthesises the card alone and runs its test on the netlist.
fn netlist_is_right(
    vivado: &Vivado,
    inputs: &vivado::VivadoInputs,
    board: &Board,
    written: &Written,
    results: &Path,
) -> Result<bool> {
    let card = written.card.as_ref().context("a golden image has no card")?;
    let run = vivado.run(inputs, "netlist.tcl")?;
    if !run.is_success() {
        return Err(status_error(run.failure(board, "")).into());
    }
    let netlist = results.join("card_netlist.v");
    let checked = netlist::check(&netlist, card, &vivado.models());
    let checked = checked.map_err(|error| status_error(format!("--check-netlist: {error:#}")))?;
    let said = match &checked {
        Ok(()) => "the netlist does what the card does\n".to_owned(),
        Err(what) => format!("wrong: the netlist does not do what the card does: {what}\n"),
    };
    print(&said)?;
    Ok(checked.is_ok())
}

fn status_error(text: String) -> StatusError {
    let status = VIVADO_FAILED;
    StatusError { status, text }
}

/// Makes the folder of the results, and takes away what would be taken for those of this run.
fn prepare(results: &Path, fresh: bool) -> Result<()> {
    let unusable = |error| UsageError(format!("folder {}: {error}", results.display()));
    std::fs::create_dir_all(results).map_err(unusable)?;
    for entry in std::fs::read_dir(results).map_err(unusable)?.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_result = [".bit", ".zimg", ".mcs", ".prm"].iter().any(|end| name.ends_with(end));
        let is_step = name.ends_with(".dcp") || name == "steps.txt";
        if is_result || name == figures::FILE || (fresh && is_step) {
            crate::shared::output::remove(&path).map_err(unusable)?;
        }
    }
    Ok(())
}

/// How Vivado is run.
fn vivado_inputs(
    arguments: &BuildArguments,
    out: &Path,
    results: &Path,
) -> Result<vivado::VivadoInputs> {
    let absolute = |path: &Path| {
        let path = std::fs::canonicalize(path);
        path.with_context(|| format!("folder {}", results.display()))
    };
    let mut variables = vec![("ZERONIC_OUT", absolute(results)?.into_os_string())];
    if let Some(jobs) = arguments.jobs {
        variables.push(("ZERONIC_JOBS", jobs.to_string().into()));
    }
    if arguments.force_vivado {
        variables.push(("ZERONIC_ANY_VIVADO", "1".into()));
    }
    if arguments.force_image {
        variables.push(("ZERONIC_FORCE_IMAGE", "1".into()));
    }
    if std::env::var_os(GIT_HASH).is_none() {
        if let Some(hash) = git_hash() {
            variables.push((GIT_HASH, hash.into()));
        }
    }
    Ok(vivado::VivadoInputs { folder: absolute(out)?, log: results.join("vivado.log"), variables })
}

/// The variable with the hash of the sources.
const GIT_HASH: &str = "ZERONIC_GIT_HASH";

/// The hash of the sources: of the repository that this runs in.
fn git_hash() -> Option<String> {
    let git = std::process::Command::new("git").args(["rev-parse", "HEAD"]).output();
    let hash = String::from_utf8(git.ok()?.stdout).ok()?;
    let hash = hash.trim();
    (hash.len() == 40).then(|| hash.to_owned())
}

/// The table, reasons, and where the worst paths are.
fn format_results(figures: &Figures, names: &Written, explain: bool) -> String {
    let mut text = format!("{}\n", figures.table(|name| names.short(name)));
    for wrong in &figures.wrong {
        text += &format!("wrong: {wrong}\n");
    }
    if explain {
        for path in &figures.paths {
            for (side, pin) in [("from", &path.start), ("to", &path.end)] {
                text += &format!("\n{} {side} {}", path.kind, names.long(pin));
            }
        }
    }
    text
}

/// The folder as it is written, and what names of the design are called in the sources.
struct Written {
    top: String,
    card: Option<EmittedCard>,
    designs: Vec<Design>,
}

impl Written {
    /// Writes the folder, and says so.
    fn new(arguments: &BuildArguments, board: &Board, out: &Path) -> Result<Self> {
        let options = CardOptions::of_config(&arguments.config);
        if arguments.golden {
            let GoldenFolder { design, said } = write_golden(&options, board, out)?;
            print(&said)?;
            return Ok(Self { top: board.golden_top(), card: None, designs: vec![design] });
        }
        let BoardFolder { card, config, said } = write_board(&options, board, out)?;
        print(&said)?;
        let prefix = card.prefix.clone() + PREFIX;
        let top = emit_top(board, config.name, card.top, &prefix);
        let top = top.context("the top has no Verilog")?;
        Ok(Self {
            top: board.top(),
            designs: vec![card.design.clone(), top.design],
            card: Some(card),
        })
    }

    /// Instance and field; what is none of ours as it is.
    fn short(&self, pin: &str) -> String {
        let mut origins = self.designs.iter().filter_map(|design| design.explain(pin).ok());
        let Some(origin) = origins.next() else { return pin.to_owned() };
        let bit = origin.bit.map_or(String::new(), |bit| format!("[{bit}]"));
        let field = origin.field.map_or(String::new(), |field| format!(".{field}{bit}"));
        match origin.path.as_str() {
            "" => pin.to_owned(),
            path => format!("{path}{field}"),
        }
    }

    /// All that is known of a name.
    fn long(&self, pin: &str) -> String {
        let mut found = self.designs.iter().filter_map(|design| explain(design, pin).ok());
        found.next().unwrap_or_else(|| format!("{pin}\n  none of ours\n"))
    }
}
