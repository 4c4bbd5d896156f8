//! Vivado as a program: where it is, which version, a run with its steps.
//!
//! ```text
//!   PATH ──► vivado -version
//!        └─► vivado -mode batch -source build.tcl ──► lines ─┬─► vivado.log
//!                                                            ├─► zeronic-step ──► a line a step
//!                                                            └─► failure: what it was
//! ```

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use board::description::Board;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failure::Failure;
use crate::shared::output::{complain, print};

/// How often the time behind a running step moves on.
const TICK: Duration = Duration::from_millis(500);

/// A Vivado that is installed.
pub struct Vivado {
    program: PathBuf,
}

/// What is run.
pub struct VivadoInputs {
    /// Folder of the scripts.
    pub folder: PathBuf,
    /// File for all that is printed.
    pub log: PathBuf,
    /// Variables of the environment.
    pub variables: Vec<(&'static str, OsString)>,
}

/// A run that has ended.
pub struct VivadoRun {
    status: ExitStatus,
    step: Option<String>,
    failure: Failure,
    log: PathBuf,
}

/// Whether a version is known to be wrong: 2023.2 makes wrong logic of masks that are made by
/// shifting constants (corundum issues 184, 191, 240).
pub fn is_wrong(version: &str) -> bool {
    version == "2023.2" || version.starts_with("2023.2.")
}

/// The version in what `vivado -version` prints: `Vivado v2024.1 (64-bit)`.
fn version_in(text: &str) -> Option<&str> {
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix('v'));
    let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    words.into_iter().find(is_version)
}

/// Whether a file can be run.
fn is_program(path: &Path) -> bool {
    let data = path.metadata();
    data.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

impl Vivado {
    /// The first on the PATH.
    pub fn find() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let mut programs = std::env::split_paths(&path).map(|folder| folder.join("vivado"));
        let program = programs.find(|program| is_program(program))?;
        Some(Self { program })
    }

    /// Its version; otherwise what is wrong.
    pub fn version(&self) -> Result<String, String> {
        let program = self.program.display();
        let output = Command::new(&self.program).arg("-version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("{program} does not start: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        match version_in(&text) {
            Some(version) => Ok(version.to_owned()),
            None => {
                let error = String::from_utf8_lossy(&output.stderr);
                let mut lines = text.lines().chain(error.lines());
                let said = lines.find(|line| !line.trim().is_empty()).unwrap_or("nothing");
                Err(format!("{program} -version says no version, but '{}'", said.trim()))
            }
        }
    }

    /// Folder of the models of the primitives, beside the program's.
    pub fn models(&self) -> PathBuf {
        let program = self.program.canonicalize().unwrap_or(self.program.clone());
        let home = program.ancestors().nth(2).unwrap_or(Path::new("/"));
        home.join("data/verilog/src/unisims")
    }

    /// Runs a script, with a line for each step.
    pub fn run(&self, inputs: &VivadoInputs, script: &str) -> Result<VivadoRun> {
        let named = || format!("file {}", inputs.log.display());
        let mut log = File::create(&inputs.log).with_context(named)?;
        let (reader, writer) = std::io::pipe().context("a pipe")?;
        let mut command = Command::new(&self.program);
        command
            .args(["-mode", "batch", "-nolog", "-nojournal", "-notrace", "-source", script])
            .current_dir(&inputs.folder)
            .envs(inputs.variables.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(writer.try_clone().context("a pipe")?)
            .stderr(writer);
        let program = self.program.display();
        let mut child = command.spawn().with_context(|| format!("{program} does not start"))?;
        // The pipe ends when the last writer has closed it: this one must not hold it.
        drop(command);
        let mut steps = Steps::new();
        let mut failure = Failure::default();
        let mut printed = Ok(());
        for line in BufReader::new(reader).split(b'\n') {
            let line = line.context("Vivado's output")?;
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            // A log that cannot be written is none of the build's faults.
            let _ = writeln!(log, "{line}");
            match line.strip_prefix("zeronic-step ").and_then(|rest| rest.split_once(' ')) {
                Some((step, what)) => {
                    failure = Failure::default();
                    printed = printed.and(steps.say(step, what));
                }
                None => failure.see(line),
            }
        }
        let status = child.wait().context("Vivado")?;
        printed?;
        Ok(VivadoRun { status, step: steps.running(), failure, log: inputs.log.clone() })
    }
}

impl VivadoRun {
    /// Whether Vivado says so.
    pub fn is_success(&self) -> bool {
        self.status.success()
    }

    /// Why there is no image, in one line.
    pub fn failure(&self, board: &Board, more: &str) -> String {
        let step = match &self.step {
            Some(step) => format!("in step {step}"),
            None => "between its steps".to_owned(),
        };
        let reason = self.failure.reason(board, self.status);
        let log = self.log.display();
        format!("Vivado failed {step}: {reason}{more}; all it said is in {log}")
    }
}

/// The steps of a run, as they are shown.
struct Steps {
    bar: ProgressBar,
    running: Option<(String, Instant)>,
}

impl Steps {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {msg:17} {elapsed_precise}");
        // The default is used only where the test of this file fails.
        bar.set_style(style.unwrap_or(ProgressStyle::default_spinner()));
        Self { bar, running: None }
    }

    /// A step begins, has ended, or is kept from an earlier run.
    fn say(&mut self, step: &str, what: &str) -> Result<()> {
        match what {
            "begin" => {
                self.running = Some((step.to_owned(), Instant::now()));
                self.bar.reset_elapsed();
                self.bar.set_message(step.to_owned());
                match self.bar.is_hidden() {
                    true => complain(&format!("{step} ...")),
                    false => self.bar.enable_steady_tick(TICK),
                }
                Ok(())
            }
            "end" => {
                let running = self.running.take();
                let elapsed = running.map_or(Duration::ZERO, |(_, since)| since.elapsed());
                self.bar.disable_steady_tick();
                let line = format!("{step:17} {}\n", clock(elapsed));
                self.bar.suspend(|| print(&line))
            }
            _ => print(&format!("{step:17} {what}\n")),
        }
    }

    /// The step that has begun and not ended; the bar goes.
    fn running(self) -> Option<String> {
        self.bar.finish_and_clear();
        self.running.map(|(step, _)| step)
    }
}

/// A time as h:mm:ss.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_judged() {
        let said = "Vivado v2023.2.1 (64-bit)\nSW Build 4029153 on Fri Oct 13\n";
        assert_eq!(version_in(said), Some("2023.2.1"));
        assert_eq!(version_in("vivado v2024.2 (64-bit)"), Some("2024.2"));
        assert_eq!(version_in("vivado: valid options are"), None);
        for (version, wrong) in [("2023.2", true), ("2023.2.1", true), ("2023.1", false)] {
            assert_eq!(is_wrong(version), wrong, "{version}");
        }
        assert!(!is_wrong("2023.20"));
    }

    /// A step that has ended is not the one that runs.
    #[test]
    fn only_begun_unfinished_steps_are_running() {
        let running = |lines: &[(&str, &str)]| {
            let mut steps = Steps::new();
            for (step, what) in lines {
                steps.say(step, what).expect("it is printed");
            }
            steps.running()
        };
        assert_eq!(running(&[]), None);
        assert_eq!(running(&[("opt", "begin")]).as_deref(), Some("opt"));
        assert_eq!(running(&[("opt", "begin"), ("opt", "end")]), None);
        let next = [("opt", "begin"), ("opt", "end"), ("place", "begin")];
        assert_eq!(running(&next).as_deref(), Some("place"));
        assert_eq!(running(&[("opt", "kept")]), None);
    }

    #[test]
    fn times_have_hours_spinner_its_template() {
        assert_eq!(clock(Duration::from_secs(3 * 3600 + 61)), "3:01:01");
        assert!(ProgressStyle::with_template("{spinner} {msg:17} {elapsed_precise}").is_ok());
    }
}
