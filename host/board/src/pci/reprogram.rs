//! Carries out a plan: forward step by step, then back over all that was changed.
//!
//! ```text
//!   step ─► step ─► ... ─► restored ◄─ ... ◄─ restored
//!            └─ fails: the way back begins here
//! ```
//! Invariants:
//! 1. What a step has changed is restored, whether a later one fails or not; a restoration that
//!    fails does not keep the others from being tried.
//! 2. Only the bits that a step changed are written back.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::config::{read, write};
use super::kernel::Kernel;
use super::plan::{ExchangePlan, Step};
use super::window;

/// Bit of Link Status: the data link layer is up.
const LINK_ACTIVE: u32 = 1 << 13;
/// File with the driver that a device is given, whatever its ids.
const OVERRIDE: &str = "driver_override";
/// How often link and device are looked for.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Longest that a card takes to load an image from its flash and to train the link: an XCU250
/// loads for 3 s.
const LINK_LOOKS: u32 = 200;
/// Longest until a link whose card loads an image goes down.
const DOWN_LOOKS: u32 = 20;
/// Looks for a device that the system was told to look for.
const DEVICE_LOOKS: u32 = 50;
/// Looks that stand for a link whose bridge does not say how it is.
const BLIND_LOOKS: u32 = 100;

/// What is said of a run while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepEvent {
    /// A step begins.
    Step(String),
    /// Something is restored.
    Restore(String),
    /// A step has failed; all before it is restored.
    Failed(String),
}

/// Why a run did not do all.
#[derive(Debug, Error)]
#[error("{step}: {error}{}", not_restored(.unrestored))]
pub struct Failure {
    /// The step that failed first.
    pub step: String,
    /// Why.
    pub error: io::Error,
    /// What could not be restored, with its reason.
    pub unrestored: Vec<String>,
}

impl Failure {
    /// Whether everything is as it was.
    pub fn is_restored(&self) -> bool {
        self.unrestored.is_empty()
    }
}

fn not_restored(unrestored: &[String]) -> String {
    match unrestored {
        [] => "; everything is as it was".to_owned(),
        all => format!("; NOT restored: {}", all.join("; ")),
    }
}

/// What a step has changed.
enum Undo {
    /// Bits of a register of the bridge; their value before, and errors that were there before.
    Bits { step: usize, mask: u32, before: u32, errors: Option<u32> },
    /// A device that the system has forgotten.
    Removed { step: usize },
    /// A driver that let the device go, and the driver that the device was given, if it was.
    Unbound { step: usize, driver: String, given: Option<String> },
}

/// Runs a plan. `program` writes the image; `say` hears of every step before it begins.
pub fn reprogram(
    kernel: &mut impl Kernel,
    plan: &ExchangePlan,
    program: &mut dyn FnMut() -> io::Result<()>,
    say: &mut dyn FnMut(StepEvent),
) -> Result<(), Failure> {
    let mut run = Run { kernel, plan, undo: Vec::new() };
    let mut failed = None;
    for (number, step) in plan.steps.iter().enumerate() {
        let text = plan.describe(step);
        say(StepEvent::Step(text.clone()));
        let ended = match run.kernel.is_asked_to_end() {
            true => Err(io::Error::other("the program was asked to end")),
            false => run.carry_out(number, step, program),
        };
        if let Err(error) = ended {
            say(StepEvent::Failed(format!("{text}: {error}")));
            failed = Some((text, error));
            break;
        }
    }
    let unrestored = run.restore(say);
    match (failed, unrestored) {
        (None, unrestored) if unrestored.is_empty() => Ok(()),
        (None, unrestored) => {
            let error = io::Error::other("the image is exchanged");
            Err(failure("done".to_owned(), error, unrestored))
        }
        (Some((step, error)), unrestored) => Err(failure(step, error, unrestored)),
    }
}

fn failure(step: String, error: io::Error, unrestored: Vec<(String, io::Error)>) -> Failure {
    let unrestored = unrestored.into_iter();
    let unrestored = unrestored.map(|(what, error)| format!("{what}: {error}"));
    Failure { step, error, unrestored: unrestored.collect() }
}

struct Run<'a, K> {
    kernel: &'a mut K,
    plan: &'a ExchangePlan,
    undo: Vec<Undo>,
}

impl<K: Kernel> Run<'_, K> {
    fn device(&self) -> PathBuf {
        self.kernel.devices().join(self.plan.device.name())
    }

    fn bridge(&self) -> PathBuf {
        self.kernel.devices().join(self.plan.bridge.name())
    }

    fn carry_out(
        &mut self,
        step: usize,
        what: &Step,
        program: &mut dyn FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        match what {
            Step::Change { register, clear, set, .. } => {
                let bridge = self.bridge();
                let before = read(self.kernel, &bridge, *register)?;
                let status = self.plan.aer_status.filter(|_| *set != 0);
                let errors = match status {
                    Some(status) => Some(read(self.kernel, &bridge, status)?),
                    None => None,
                };
                // It is put back even where the write fails half done.
                self.undo.push(Undo::Bits { step, mask: clear | set, before, errors });
                write(self.kernel, &bridge, *register, before & !clear | set)
            }
            Step::Unbind(driver) => {
                let folder = self.kernel.drivers().join(driver);
                let name = self.plan.device.name().as_bytes();
                let given = self.kernel.text(&self.device().join(OVERRIDE)).ok();
                let given = given.filter(|text| !["", "(null)"].contains(&text.as_str()));
                self.kernel.write(&folder.join("unbind"), 0, name)?;
                self.undo.push(Undo::Unbound { step, driver: driver.clone(), given });
                Ok(())
            }
            Step::Remove => {
                let file = self.device().join("remove");
                self.kernel.write(&file, 0, b"1")?;
                self.undo.push(Undo::Removed { step });
                Ok(())
            }
            Step::Program => program(),
            Step::Boot(operation) => window::load(&self.device(), *operation),
            Step::Wait { is_up } => self.wait(*is_up),
        }
    }

    /// Waits for the link.
    fn wait(&mut self, is_up: bool) -> io::Result<()> {
        if self.plan.link_status.is_none() {
            self.kernel.wait(LOOK_EVERY * BLIND_LOOKS);
            return Ok(());
        }
        // A link that stays up was too short down to be seen.
        if is_up {
            self.look_for(false, DOWN_LOOKS)?;
        }
        match self.look_for(true, LINK_LOOKS)? {
            true => Ok(()),
            false => {
                let seconds = (LOOK_EVERY * LINK_LOOKS).as_secs();
                Err(io::Error::other(format!("it is down still, after {seconds} s")))
            }
        }
    }

    /// Looks until the link is up or down; whether it is.
    fn look_for(&mut self, up: bool, looks: u32) -> io::Result<bool> {
        let bridge = self.bridge();
        let Some(status) = self.plan.link_status else { return Ok(true) };
        for _ in 0..looks {
            let is_up = read(self.kernel, &bridge, status)? & LINK_ACTIVE != 0;
            if is_up == up {
                return Ok(true);
            }
            self.kernel.wait(LOOK_EVERY);
        }
        Ok(false)
    }

    /// Restores everything, the last change first; what could not be.
    fn restore(&mut self, say: &mut dyn FnMut(StepEvent)) -> Vec<(String, io::Error)> {
        let mut failed = Vec::new();
        while let Some(undo) = self.undo.pop() {
            let (Undo::Bits { step, .. } | Undo::Removed { step } | Undo::Unbound { step, .. }) =
                &undo;
            let text = self.plan.describe_undo(&self.plan.steps[*step]);
            let text = text.unwrap_or_default();
            say(StepEvent::Restore(text.clone()));
            if let Err(error) = self.put_back(&undo) {
                failed.push((text, error));
            }
        }
        failed
    }

    fn put_back(&mut self, undo: &Undo) -> io::Result<()> {
        match undo {
            Undo::Bits { step, mask, before, errors } => {
                let bridge = self.bridge();
                let Step::Change { register, .. } = self.plan.steps[*step] else { return Ok(()) };
                // Written ones clear: the errors of this run alone.
                let forgotten = match (errors, self.plan.aer_status) {
                    (Some(old), Some(status)) => read(self.kernel, &bridge, status)
                        .and_then(|now| write(self.kernel, &bridge, status, now & !old)),
                    _ => Ok(()),
                };
                let now = read(self.kernel, &bridge, register)?;
                write(self.kernel, &bridge, register, now & !mask | before & mask)?;
                forgotten
            }
            Undo::Removed { .. } => {
                let file = self.bridge().join("rescan");
                self.kernel.write(&file, 0, b"1")?;
                for _ in 0..DEVICE_LOOKS {
                    if self.kernel.resolve(&self.device()).is_ok() {
                        return Ok(());
                    }
                    self.kernel.wait(LOOK_EVERY);
                }
                let seconds = (LOOK_EVERY * DEVICE_LOOKS).as_secs();
                Err(io::Error::other(format!("it is not there after {seconds} s")))
            }
            Undo::Unbound { driver, given, .. } => self.bind(driver, given.as_deref()),
        }
    }

    /// Gives the device back to its driver, unless that has taken it by itself.
    fn bind(&mut self, driver: &str, given: Option<&str>) -> io::Result<()> {
        let bound = self.kernel.resolve(&self.device().join("driver")).ok();
        let bound = bound.and_then(|path| Some(path.file_name()?.to_owned()));
        match bound {
            Some(name) if name == driver => Ok(()),
            Some(name) => {
                let name = name.to_string_lossy().into_owned();
                Err(io::Error::other(format!("driver {name} has taken it")))
            }
            None => {
                // The system has forgotten it with the device.
                if let Some(given) = given {
                    let file = self.device().join(OVERRIDE);
                    self.kernel.write(&file, 0, given.as_bytes())?;
                }
                let file = self.kernel.drivers().join(driver).join("bind");
                let name = self.plan.device.name().as_bytes();
                self.kernel.write(&file, 0, name)
            }
        }
    }
}
