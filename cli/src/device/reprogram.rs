//! `zeronic device reprogram`: the image of a card is exchanged while the machine runs.
//!
//! ```text
//!   what cannot be done ──► refused
//!   plan ──► --dry-run prints it
//!        └─► a line a step: mask, unbind, remove, program, wait; and back
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use abi::window::PortOperation;
use anyhow::Result;
use clap::{Args, ValueEnum};
use host_board::image::Image;
use host_board::pci::{keep_signals, reprogram, Address, ExchangePlan, Load, StepEvent, Sysfs};

use crate::shared::options::{StatusError, UsageError};
use crate::shared::output::print;

/// Exit status where a change could not be taken back.
const NOT_RESTORED: u8 = 3;
/// Exit status where a step failed and everything is as it was.
const STEP_FAILED: u8 = 4;

/// Said below the options.
const STATUSES: &str = "\
Exit status:
  0  the card has its new image and is back on the bus
  2  wrong options, or something that cannot be done; nothing was begun
  3  a step failed, and something could not be restored: the line says what
  4  a step failed, and everything is as it was";

/// An image in the card's flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Slot {
    /// What the device loads at power-up.
    Golden,
    /// The card.
    User,
}

/// Arguments of `zeronic device reprogram`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct ReprogramArguments {
    /// The card's PCI address: 0000:03:00.0, or 03:00.0
    #[arg(long, value_name = "ADDRESS")]
    device: Address,
    /// Image (.zimg) that `zeronic flash --volatile` writes into the device over a cable
    #[arg(value_name = "IMAGE", required_unless_present_any = ["boot", "command"])]
    image: Option<PathBuf>,
    /// Cable, for `zeronic flash`
    #[arg(long, value_name = "CABLE", requires = "image")]
    cable: Option<String>,
    /// Instead of writing an image, have the card load one from its flash
    #[arg(long, value_name = "SLOT", conflicts_with_all = ["image", "command"])]
    boot: Option<Slot>,
    /// Instead of `zeronic flash`, run this in a shell while the card is off the bus
    #[arg(long, value_name = "COMMAND", conflicts_with = "image")]
    command: Option<String>,
    /// Also a device whose ids are not those of a card: one with its factory image
    #[arg(long)]
    foreign: bool,
    /// Also an image that was built with --force-image: something is wrong with it
    #[arg(long, requires = "image")]
    force: bool,
    /// Print the steps, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Where sysfs is
    #[arg(long, value_name = "DIR", default_value = "/sys")]
    sysfs: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &ReprogramArguments) -> Result<bool> {
    let program = program_of(arguments)?;
    let mut sysfs = Sysfs::new(&arguments.sysfs);
    let load = match arguments.boot {
        Some(Slot::Golden) => Load::Boot(PortOperation::BootGolden),
        Some(Slot::User) => Load::Boot(PortOperation::BootUser),
        None => Load::Program,
    };
    let plan = ExchangePlan::new(&sysfs, &arguments.device, load, arguments.foreign);
    let plan = plan.map_err(|refusals| {
        let lines = refusals.iter().map(ToString::to_string);
        UsageError(lines.collect::<Vec<_>>().join("; "))
    })?;
    for note in &plan.notes {
        print(&format!("note: {note}\n"))?;
    }
    if arguments.dry_run {
        print(&plan.to_string())?;
        return Ok(true);
    }
    // A closed pipe must not end the program before all is restored.
    let mut printed = Ok(());
    let mut say = |said: StepEvent| {
        let line = match said {
            StepEvent::Step(line) | StepEvent::Restore(line) => line,
            StepEvent::Failed(_) => return,
        };
        if printed.is_ok() {
            printed = print(&format!("{line}\n"));
        }
    };
    keep_signals();
    let result = reprogram(&mut sysfs, &plan, &mut || started(&program), &mut say);
    if let Err(failure) = result {
        let status = if failure.is_restored() { STEP_FAILED } else { NOT_RESTORED };
        let text = failure.to_string();
        return Err(StatusError { status, text }.into());
    }
    printed?;
    Ok(true)
}

/// What writes the image: a program and its words.
fn program_of(arguments: &ReprogramArguments) -> Result<Vec<String>> {
    if let Some(command) = &arguments.command {
        return Ok(["/bin/sh", "-c", command].map(str::to_owned).to_vec());
    }
    let Some(path) = &arguments.image else { return Ok(Vec::new()) };
    // A file that is none is refused before anything is begun.
    let image = Image::read(path);
    let image = image.map_err(|error| UsageError(format!("{}: {error}", path.display())))?;
    let own = std::env::current_exe()?;
    let text = |path: &Path| path.display().to_string();
    let board = &image.header.board;
    let mut words = vec![text(&own), "flash".to_owned(), "--board".to_owned(), board.clone()];
    words.extend([text(path), "--volatile".to_owned(), "--yes".to_owned()]);
    if let Some(cable) = &arguments.cable {
        words.extend(["--cable".to_owned(), cable.clone()]);
    }
    if arguments.force {
        words.push("--force".to_owned());
    }
    check_program(&words)?;
    Ok(words)
}

/// What `zeronic flash` would refuse it refuses now, while the card is where it was.
fn check_program(words: &[String]) -> Result<()> {
    let Some((program, words)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    let output = command.args(words).arg("--dry-run").stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().last().unwrap_or("it says nothing");
    let line = line.trim_start_matches("zeronic: ");
    Err(UsageError(format!("zeronic flash --dry-run: {line}")).into())
}

/// Runs the program that writes the image.
fn started(words: &[String]) -> io::Result<()> {
    let Some((program, words)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    let status = command.args(words).stdin(Stdio::null()).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{program} ended with {status}"))),
    }
}
