//! Why Vivado has failed, in one line, out of thousands.
//!
//! ```text
//!   lines of a step ──► no licence? no space? the first error ──► one line
//! ```
//! The first error of a step is the cause; those behind it say that a command failed.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use board::description::Board;

/// Most characters of Vivado's own words.
const SAID_MAX: usize = 240;

/// Signal that the system ends a program with when memory is short.
const SIGKILL: i32 = 9;

/// What a step has said so far.
#[derive(Debug, Default)]
pub struct Failure {
    licence: Option<String>,
    space: Option<String>,
    error: Option<String>,
    last: Option<String>,
}

impl Failure {
    /// Sees a line.
    pub fn see(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        let keep = |place: &mut Option<String>| {
            place.get_or_insert_with(|| clip_line(line));
        };
        let small = line.to_ascii_lowercase();
        let is_error = line.starts_with("ERROR:");
        // Common 17-345: no licence for part or feature. A core without a key is said when the
        // bitstream is written.
        let is_licence = is_error && (small.contains("license") || line.contains("17-345"));
        if is_licence || small.contains("bitstream generation is not permitted") {
            keep(&mut self.licence);
        }
        if small.contains("no space left on device") {
            keep(&mut self.space);
        }
        if is_error {
            keep(&mut self.error);
        }
        self.last = Some(clip_line(line));
    }

    /// The reason, for a run that ended so.
    pub fn reason(&self, board: &Board, status: ExitStatus) -> String {
        if let Some(said) = &self.licence {
            let (part, licence) = (board.part, board.licence);
            return format!("no licence ({part} needs {licence}; the MAC a free key): {said}");
        }
        if let Some(said) = &self.space {
            return format!("the disk is full: {said}");
        }
        if let Some(said) = &self.error {
            return said.clone();
        }
        let last = self.last.as_deref().unwrap_or("nothing");
        match (status.signal(), status.code()) {
            (Some(SIGKILL), _) => {
                format!("it was ended by signal {SIGKILL}, as where memory is short")
            }
            (Some(signal), _) => format!("it was ended by signal {signal}"),
            (None, Some(code)) if code != 0 => {
                format!("exit status {code}; the last it said: {last}")
            }
            _ => format!("it ended without a result; the last it said: {last}"),
        }
    }
}

fn clip_line(line: &str) -> String {
    match line.char_indices().nth(SAID_MAX) {
        Some((at, _)) => format!("{} ...", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use board::boards::BOARDS;

    fn reason(lines: &[&str], raw: i32) -> String {
        let mut failure = Failure::default();
        for line in lines {
            failure.see(line);
        }
        failure.reason(&BOARDS[0], ExitStatus::from_raw(raw))
    }

    #[test]
    fn cause_is_separated_from_consequences() {
        let follows = "ERROR: [Common 17-69] Command failed: Placer could not place all instances";
        let cause = "ERROR: [Place 30-640] Place Check : This design requires more URAM";
        assert_eq!(reason(&["INFO: x", cause, follows], 256), cause);
        let key = "ERROR: [Common 17-345] A valid license was not found for feature 'Synthesis'";
        let text = reason(&[key, follows], 256);
        assert!(text.starts_with("no licence (xcvu9p-flga2104-2L-e needs Vivado Enterprise"));
        assert!(text.ends_with(key), "{text}");
        let full = "couldn't write: No space left on device";
        assert!(reason(&[cause, full], 256).starts_with("the disk is full: couldn't"));
        // A warning of a licence that runs out soon is none.
        let soon = "WARNING: [Common 17-x] license expires in 10 days";
        assert_eq!(reason(&[soon, cause], 256), cause);
    }

    #[test]
    fn silent_end_has_its_reason() {
        assert!(reason(&[], 9).contains("signal 9, as where memory is short"));
        assert!(reason(&[], 11).ends_with("signal 11"));
        assert_eq!(reason(&["bye"], 256), "exit status 1; the last it said: bye");
        assert!(reason(&[], 0).contains("without a result"));
        let long = "x".repeat(SAID_MAX + 1);
        assert!(reason(&[&long], 256).ends_with("x ..."));
    }
}
