//! Carries the steps of a plan out.
//!
//! ```text
//!   step ─► said ─┬─ file: written        ┌─ openFPGALoader, Vivado: run, output judged
//!                 ├─ command ─────────────┘
//!                 ├─ card, flash ─────────► board window
//!                 └─ boot, compare ───────► system: the card goes and comes back
//! ```

use std::path::Path;
use std::time::Duration;

use abi::image::Slot;
use anyhow::Result;
use board::description::Board;
use host_board::identity::identity;
use host_board::pci::{self, keep_signals, reprogram, StepEvent, Sysfs};
use host_board::update::{carry_out, prepare, UpdateError};
use host_board::window::{Window, WindowError};

use super::failure::FlashError;
use super::steps::{boot_line, Purpose, Step};
use super::{loader, runner, vivado};
use crate::shared::output::write_file;
use crate::shared::progress::{Progress, Unit};

/// Opens the board window of a card at a PCI address.
pub type Open<'a> = &'a dyn Fn(&str) -> Result<Box<dyn Window>, WindowError>;

/// A run.
pub struct FlashRun<'a> {
    /// The board.
    pub board: &'static Board,
    /// The device is loaded, not the flash.
    pub volatile: bool,
    /// Contents of the slot in each chip.
    pub contents: &'a [Vec<u8>],
    /// How a card is opened.
    pub open: Open<'a>,
    /// Where the system's devices are.
    pub sysfs: &'a Path,
    /// Hears of each step before it begins.
    pub say: &'a mut dyn FnMut(&str) -> Result<()>,
    /// The card, once it is open.
    window: Option<Box<dyn Window>>,
    /// Something may have been erased.
    began: bool,
}

impl<'a> FlashRun<'a> {
    /// A run that has not begun.
    pub fn new(
        board: &'static Board,
        volatile: bool,
        contents: &'a [Vec<u8>],
        (open, sysfs): (Open<'a>, &'a Path),
        say: &'a mut dyn FnMut(&str) -> Result<()>,
    ) -> Self {
        Self { board, volatile, contents, open, sysfs, say, window: None, began: false }
    }

    /// Carries steps out, in order.
    pub fn steps(&mut self, steps: &[Step]) -> Result<()> {
        for step in steps {
            let said = match step {
                // Each of its lines when it comes to it.
                Step::Boot(_) => Ok(()),
                _ => (self.say)(&format!("{step}\n")),
            };
            // What is half done is not left so because nobody listens any more.
            if !self.began {
                said?;
            }
            match step {
                Step::File { path, bytes, .. } => write_file(path, bytes)?,
                Step::Run(command) => {
                    let bytes = self.contents.first().map_or(0, Vec::len) as u64;
                    let output = runner::run(command, bytes, silence(command.purpose))?;
                    match command.purpose {
                        Purpose::Vivado => vivado::judge(self.board, self.volatile, &output)?,
                        purpose => loader::judge(self.board, purpose, &output)?,
                    }
                }
                Step::Card { device, .. } => self.card(device, step)?,
                Step::Flash(step) => {
                    self.began = true;
                    let mut progress = Progress::new(step.bytes(), Unit::Bytes);
                    let message = format!("; {step}");
                    let window = self.window.as_mut().ok_or_else(no_window)?;
                    let done = |bytes| progress.set(bytes, &message);
                    let result = carry_out(window, step, self.contents, done);
                    result.map_err(|error| self.failure_of(&error))?;
                }
                Step::Boot(steps) => self.boot(steps)?,
                Step::Compare { device, git } => self.compare(device, git)?,
            }
        }
        Ok(())
    }

    /// Opens a card and compares it with the board.
    fn card(&mut self, device: &str, step: &Step) -> Result<(), FlashError> {
        let Step::Card { board, layout, .. } = step else { return Err(no_window()) };
        let missing = |error: WindowError| FlashError::NoCard {
            device: device.to_owned(),
            said: error.to_string(),
        };
        let mut window = (self.open)(device).map_err(missing)?;
        let found = identity(&mut window).map_err(missing)?;
        if found.board != *board {
            return Err(FlashError::Card {
                device: device.to_owned(),
                found: found.board,
                board: self.board.name.to_owned(),
                expected: *board,
            });
        }
        prepare(&mut window, *layout, self.contents).map_err(|error| self.failure_of(&error))?;
        self.window = Some(window);
        Ok(())
    }

    /// Has the card load the image; it is off the bus for a while.
    fn boot(&mut self, steps: &pci::ExchangePlan) -> Result<(), FlashError> {
        // Others open it now.
        self.window = None;
        let say = &mut self.say;
        let mut said = |said: StepEvent| {
            if let StepEvent::Step(line) | StepEvent::Restore(line) = said {
                // All is restored, whoever listens.
                let _ = say(&format!("{}\n", boot_line(&line)));
            }
        };
        keep_signals();
        let mut kernel = Sysfs::new(self.sysfs);
        reprogram(&mut kernel, steps, &mut || Ok(()), &mut said)
            .map_err(|failure| FlashError::Boot(failure.to_string()))
    }

    /// Compares the image that runs with the one that was written.
    fn compare(&mut self, device: &str, git: &str) -> Result<(), FlashError> {
        let failed = |error: WindowError| FlashError::Boot(error.to_string());
        let mut window = (self.open)(device).map_err(failed)?;
        let found = identity(&mut window).map_err(failed)?;
        if found.slot == Slot::Golden as u32 {
            let text = format!("the card at {device} came back with the golden image");
            return Err(FlashError::Boot(text));
        }
        if !found.git.eq_ignore_ascii_case(git) {
            let text = format!("the card at {device} runs git hash {}, not {git}", found.git);
            return Err(FlashError::Boot(text));
        }
        Ok(())
    }

    fn failure_of(&self, error: &UpdateError) -> FlashError {
        let said = error.to_string();
        match error {
            UpdateError::Verify { .. } => FlashError::Verify { said },
            _ => FlashError::Window { said, began: self.began },
        }
    }
}

/// How long a program may say nothing. openFPGALoader says how far it is every second; Vivado is
/// silent for as long as it likes.
fn silence(purpose: Purpose) -> Option<Duration> {
    (purpose != Purpose::Vivado).then_some(Duration::from_secs(120))
}

/// A plan opens the card before it does anything to it.
fn no_window() -> FlashError {
    FlashError::Window { said: "no card is open".to_owned(), began: false }
}
