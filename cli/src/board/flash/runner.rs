//! Runs a program, shows how far it is, and keeps what it says.
//!
//! ```text
//!   program ─► standard output ─► follow: progress; silent for too long: it is killed
//!           └► standard error ──► kept
//! ```

use std::io::{ErrorKind, Read};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result};

use super::failure::FlashError;
use super::steps;
use crate::shared::progress::{Progress, Unit};

/// What a program has said, and how it ended.
#[derive(Debug)]
pub struct Output {
    /// Standard output, then standard error; each `\r` is the end of a line.
    pub text: String,
    /// Its exit status is 0.
    pub is_good: bool,
    /// Its exit status; `None`: it was killed.
    pub status: Option<i32>,
    /// A signal ended it.
    pub was_killed: bool,
    /// It was ended here, as it said nothing for so long.
    pub was_silent: Option<Duration>,
}

impl Output {
    /// The last line that says something: an error, if there is one.
    pub fn last_line(&self) -> String {
        let lines = || self.text.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_error = |line: &&str| line.to_lowercase().contains("error");
        let line = lines().rfind(is_error).or_else(|| lines().next_back());
        let line = line.unwrap_or("it said nothing");
        // No message of ours has two full stops.
        let line = line.trim_end_matches('.');
        match (self.was_silent, self.was_killed) {
            (Some(time), _) => format!("silent for {time:?}; its last words: {line}"),
            (_, true) => format!("a signal ended it; its last words: {line}"),
            _ => line.to_owned(),
        }
    }
}

/// Runs a command to its end, or until it says nothing for longer than `silence`.
pub fn run(command: &steps::Command, bytes: u64, silence: Option<Duration>) -> Result<Output> {
    let program = &command.program;
    let mut child = Command::new(program);
    child
        .args(&command.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = match child.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(FlashError::Tool {
                tool: program.clone(),
                said: "no such program; docs/flash.md says where it comes from".to_owned(),
            }
            .into());
        }
        Err(error) => return Err(error).with_context(|| program.clone()),
    };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is what it has said.
        let _ = stderr.map(|mut stderr| stderr.read_to_end(&mut bytes));
        bytes
    });
    let (mut said, is_over) = match stdout {
        Some(stdout) => follow(&parts_of(stdout), bytes, silence),
        None => (Vec::new(), true),
    };
    if !is_over {
        // One that has just ended by itself is not there to be killed.
        let _ = child.kill();
    }
    let status = child.wait().with_context(|| program.clone())?;
    said.push(b'\n');
    said.extend(errors.join().unwrap_or_default());
    let mut output = output(&said, status);
    output.was_silent = silence.filter(|_| !is_over);
    Ok(output)
}

fn output(said: &[u8], status: ExitStatus) -> Output {
    Output {
        text: String::from_utf8_lossy(said).replace('\r', "\n"),
        is_good: status.success(),
        status: status.code(),
        was_killed: status.code().is_none(),
        was_silent: None,
    }
}

/// What comes, as it comes.
fn parts_of(mut stdout: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, parts) = channel();
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = stdout.read(&mut part) {
            if sender.send(part[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    parts
}

/// Follows to the end and shows what is a percentage of something; whether the end was reached.
fn follow(parts: &Receiver<Vec<u8>>, bytes: u64, silence: Option<Duration>) -> (Vec<u8>, bool) {
    let mut said = Vec::new();
    let mut shown: Option<(String, Progress)> = None;
    loop {
        match parts.recv_timeout(silence.unwrap_or(Duration::MAX)) {
            Ok(part) => said.extend(part),
            Err(RecvTimeoutError::Disconnected) => return (said, true),
            Err(RecvTimeoutError::Timeout) => return (said, false),
        }
        let tail = String::from_utf8_lossy(&said[said.len().saturating_sub(256)..]).into_owned();
        let Some((what, share)) = tail.rsplit(['\r', '\n']).find_map(percentage) else { continue };
        if shown.as_ref().is_none_or(|(name, _)| *name != what) {
            shown = Some((what.clone(), Progress::new(bytes, Unit::Bytes)));
        }
        if let Some((_, progress)) = &mut shown {
            let position = (share.clamp(0.0, 1.0) * bytes as f64) as u64;
            progress.set(position, &format!("; {what}"));
        }
    }
}

/// `Writing: [====   ] 40.00%`: what, and how much of it. Of what our own script begins there is no
/// percentage.
fn percentage(line: &str) -> Option<(String, f64)> {
    if let Some(what) = line.strip_prefix("zeronic: ") {
        return what.ends_with("ing").then(|| (what.to_owned(), 0.0));
    }
    let (what, rest) = line.split_once(": [")?;
    let (_, number) = rest.rsplit_once("] ")?;
    let percent: f64 = number.trim().strip_suffix('%')?.parse().ok()?;
    Some((what.trim().to_lowercase(), percent / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::flash::steps::Purpose;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let shell = |script: &str| steps::Command {
            program: "sh".to_owned(),
            arguments: ["-c", script].map(str::to_owned).to_vec(),
            purpose: Purpose::Detect,
        };
        let silence = Some(Duration::from_millis(300));
        let output = run(&shell("echo first; exec sleep 1000"), 0, silence).expect("it starts");
        assert!(output.was_killed && !output.is_good);
        let line = output.last_line();
        assert!(line.contains("silent for 300ms") && line.contains("first"), "{line}");
        let talks = "for i in 1 2 3 4; do echo $i; sleep 0.1; done; echo end >&2; exit 3";
        let output = run(&shell(talks), 0, silence).expect("it starts");
        assert_eq!((output.status, output.was_silent), (Some(3), None));
        assert!(output.text.ends_with("4\n\nend\n"), "{}", output.text);
    }

    #[test]
    fn other_programs_bar_is_read() {
        let line = "Writing: [=====     ] 50.25%";
        assert_eq!(percentage(line), Some(("writing".to_owned(), 0.5025)));
        assert_eq!(percentage("Writing: [=====     ] 50.2"), None);
        assert_eq!(percentage("JEDEC ID: 0x20bb21"), None);
        assert_eq!(percentage("zeronic: IDCODE 04b31093"), None);
        assert_eq!(percentage("zeronic: verifying"), Some(("verifying".to_owned(), 0.0)));
    }
}
