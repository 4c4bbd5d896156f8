//! `zeronic flash`: an image into a board's flash, or into its device alone.
//!
//! ```text
//!   image ─► check: header, hash, board, part ─► plan ─┬─ --dry-run: printed
//!                                                      └─ steps ─► question ─► steps
//!   jtag   openFPGALoader (loader) or Vivado's hardware server (vivado), as the board needs
//!   pcie   the flash block of the card that runs
//! ```
//! Nothing is erased before the image was compared with the board, the device on the cable or the
//! card in the slot with the board, and the user asked. Nothing below the user's slot is ever
//! erased. Exit statuses: [`failure::STATUSES`], docs/flash.md.

mod cable;
mod check;
mod failure;
mod formats;
mod loader;
mod pcie;
mod run;
mod runner;
mod steps;
mod vivado;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use ::board::description::Board;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use host_board::resource::{Resource, SYSFS};
use host_board::window::Window;

use crate::board::find_board;
use crate::shared::options::{StatusError, UsageError};
use crate::shared::output::{complain, keep, print, remove};
use cable::Way;
use check::{check, Checked};
use failure::FlashError;
use run::FlashRun;
use steps::FlashSteps;

/// Ways to the flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Via {
    /// A cable.
    Jtag,
    /// The card itself, in its slot.
    Pcie,
}

/// Arguments of `zeronic flash`.
#[derive(Debug, Args)]
#[command(after_help = failure::help())]
pub struct FlashArguments {
    /// Image that a build has written
    #[arg(value_name = "IMAGE.zimg")]
    image: PathBuf,
    /// Board that it is for
    #[arg(long, value_name = "NAME")]
    board: String,
    /// Way to the flash
    #[arg(long, value_enum, default_value_t = Via::Jtag)]
    via: Via,
    /// Cable: xvc:HOST:PORT, hw_server, hw_server:HOST:PORT, or a name that openFPGALoader knows,
    /// with #SERIAL behind it where there are several; by default the one on the board
    #[arg(long, value_name = "CABLE")]
    cable: Option<String>,
    /// Load the device and leave the flash as it is: gone with the power
    #[arg(long)]
    volatile: bool,
    /// PCI address of the card, by default the only one: 0000:65:00.0
    #[arg(long, value_name = "BDF")]
    device: Option<String>,
    /// Have the card load the image at the end, as `zeronic device reprogram --boot user` does
    #[arg(long)]
    boot: bool,
    /// Where the system's devices are
    #[arg(long, value_name = "DIR", default_value = SYSFS, hide = true)]
    sysfs: PathBuf,
    /// Also an image that was built with --force-image: something is wrong with it
    #[arg(long)]
    force: bool,
    /// Print what would be done
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// Folder for the files that other programs read; by default IMAGE.flash, beside the image
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &FlashArguments) -> Result<bool> {
    flash(arguments).map_err(|error| match error.downcast_ref::<FlashError>() {
        Some(failure) => StatusError { status: failure.status(), text: failure.to_string() }.into(),
        None => error,
    })
}

fn flash(arguments: &FlashArguments) -> Result<bool> {
    let board = find_board(&arguments.board)?;
    let way = way(board, arguments)?;
    let checked = check(&arguments.image, board, arguments.force)?;
    let work = arguments.work.clone().unwrap_or_else(|| {
        let mut name = arguments.image.clone().into_os_string();
        name.push(".flash");
        name.into()
    });
    let steps = match &way {
        Some(way) => plan_of(board, way, &work, &checked, arguments.volatile),
        None => {
            let device = arguments.device.clone();
            let device = device.map_or_else(|| pcie::only_card(&arguments.sysfs), Ok)?;
            let exchange = || pcie::exchange(&arguments.sysfs, &device);
            let exchange = arguments.boot.then(exchange).transpose()?;
            pcie::plan(board, &device, &checked, exchange)
        }
    };
    print(&format!("image {}\n", describe_image(&checked)))?;
    if arguments.dry_run {
        print(&steps.to_string())?;
        return Ok(true);
    }
    keep("the image", &arguments.image);
    let open = |device: &str| {
        let card = Resource::open(&arguments.sysfs, device)?;
        Ok(Box::new(card) as Box<dyn Window>)
    };
    let mut say = print;
    let volatile = arguments.volatile;
    let card: (run::Open, &Path) = (&open, &arguments.sysfs);
    let mut run = FlashRun::new(board, volatile, &checked.contents, card, &mut say);
    run.steps(&steps.before)?;
    ask(&steps.question, arguments.yes)?;
    if steps.files().next().is_some() {
        std::fs::create_dir_all(&work).with_context(|| format!("folder {}", work.display()))?;
    }
    let result = run.steps(&steps.after);
    tidy(&work, &steps);
    result?;
    print(match (volatile, arguments.boot) {
        (true, _) => "done  the device runs the image; the flash is as it was\n",
        (_, true) => "done  written, read back as it was written, and running\n",
        _ => "done  written, and read back as it was written\n",
    })?;
    Ok(true)
}

/// The way over a cable; `None`: over PCIe.
fn way(board: &Board, arguments: &FlashArguments) -> Result<Option<Way>, UsageError> {
    let is_pcie = arguments.via == Via::Pcie;
    let jtag = [("--cable", arguments.cable.is_some()), ("--volatile", arguments.volatile)];
    let pcie = [("--device", arguments.device.is_some()), ("--boot", arguments.boot)];
    let (foreign, via) = match is_pcie {
        true => (jtag, "jtag"),
        false => (pcie, "pcie"),
    };
    if let Some((name, _)) = foreign.iter().find(|(_, is_given)| *is_given) {
        return Err(UsageError(format!("{name} goes with --via {via}")));
    }
    if is_pcie {
        return Ok(None);
    }
    let cable = arguments.cable.as_deref().map(cable::parse).transpose()?;
    cable::choose(board, cable, arguments.volatile).map(Some)
}

/// The plan of a way over a cable.
fn plan_of(board: &Board, way: &Way, work: &Path, checked: &Checked, volatile: bool) -> FlashSteps {
    match way {
        Way::Loader { cable, part } if volatile => {
            loader::load_plan(board, cable, part, work, checked)
        }
        Way::Loader { cable, part } => loader::plan(board, cable, part, work, checked),
        Way::Vivado { url, target, xvc } => {
            let server = (&url[..], target.as_deref());
            vivado::plan(board, server, *xvc, work, checked, volatile)
        }
    }
}

/// An image in one line.
fn describe_image(checked: &Checked) -> String {
    let header = &checked.image.header;
    let (major, minor) = header.contract;
    let forced = match header.forced {
        0 => String::new(),
        wrong => format!(", forced: {wrong} things wrong with it"),
    };
    format!(
        "{} for {}, {}, contract {major}.{minor}, git {}, {} bytes{forced}",
        header.config,
        header.board,
        header.part,
        &header.git[..12.min(header.git.len())],
        header.bytes
    )
}

/// Asks the user, unless told not to.
fn ask(question: &str, yes: bool) -> Result<()> {
    if yes {
        return Ok(());
    }
    let input = std::io::stdin();
    if !input.is_terminal() {
        return Err(FlashError::Refused("nobody there to ask; --yes does it without").into());
    }
    let mut out = std::io::stderr();
    // An answer is read in any case.
    let _ = write!(out, "ask   {question} [y/N] ").and_then(|()| out.flush());
    let mut answer = String::new();
    input.lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(FlashError::Refused("not wanted").into()),
    }
}

/// Removes the files of a run, and their folder if it is empty then.
fn tidy(work: &Path, steps: &FlashSteps) {
    for path in steps.files() {
        if let Err(error) = remove(path) {
            complain(&format!("file {}: {error}", path.display()));
        }
    }
    // What somebody else has put there stays.
    let _ = std::fs::remove_dir(work);
}
