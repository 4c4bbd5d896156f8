//! How far a run is, on standard error: a bar with rate and time left on a terminal, a line now and
//! then elsewhere. A run of less than two seconds shows neither.

use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::shared::output::complain;

/// How long a run takes before it shows a bar.
const SHOW_AFTER: Duration = Duration::from_secs(2);
/// How often a run without a bar says how far it is.
const SAY_EVERY: Duration = Duration::from_secs(10);
/// How often the time on the bar moves on.
const TICK: Duration = Duration::from_millis(500);

/// What a run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Things with a name in the plural.
    Count(&'static str),
}

/// The progress of a run.
pub struct Progress {
    bar: ProgressBar,
    unit: Unit,
    total: u64,
    message: String,
    start: Instant,
    said: Instant,
    is_shown: bool,
    is_silent: bool,
}

impl Progress {
    /// Begins a run of `total` units; some go on beyond, until what they are about has happened.
    pub fn new(total: u64, unit: Unit) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        // The default is used only where a test of this file fails.
        let style = ProgressStyle::with_template(&template(unit));
        let style = style.unwrap_or(ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        let start = Instant::now();
        Self {
            bar,
            unit,
            total,
            message: String::new(),
            start,
            said: start,
            is_shown: false,
            is_silent: false,
        }
    }

    /// A run that says nothing: others beside it do.
    pub fn silent() -> Self {
        let mut progress = Self::new(0, Unit::Bytes);
        progress.is_silent = true;
        progress
    }

    /// The run has come to `position`. `message` says what else there is to know: it follows the
    /// figures, or is empty.
    pub fn set(&mut self, position: u64, message: &str) {
        if self.is_silent {
            return;
        }
        if position > self.total {
            // How long it takes is not known any more.
            self.bar.unset_length();
        }
        self.bar.set_position(position);
        if self.message != message {
            message.clone_into(&mut self.message);
            self.bar.set_message(message.to_owned());
        }
        if !self.is_shown {
            if self.start.elapsed() < SHOW_AFTER {
                return;
            }
            self.is_shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            if !self.bar.is_hidden() {
                self.bar.enable_steady_tick(TICK);
            }
        }
        if self.bar.is_hidden() && self.said.elapsed() >= SAY_EVERY {
            self.said = Instant::now();
            complain(&self.line(position, self.start.elapsed(), message));
        }
    }

    /// Prints without disturbing the bar.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Ends the run and removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// What a run without a bar says.
    fn line(&self, position: u64, elapsed: Duration, message: &str) -> String {
        let rate = position as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        let ahead = self.total.checked_sub(position);
        let left = match ahead.filter(|_| rate > 0.0) {
            Some(ahead) => format!("{:.0} s left", ahead as f64 / rate),
            None => "time left unknown".to_owned(),
        };
        let of = match ahead {
            Some(_) => "of",
            None => "beyond",
        };
        match self.unit {
            Unit::Bytes => {
                let [position, total, rate] = [position, self.total, rate as u64].map(HumanBytes);
                format!("{position} {of} {total}, {rate}/s, {left}{message}")
            }
            Unit::Count(name) => {
                let total = self.total;
                format!("{position} {of} {total} {name}, {rate:.1}/s, {left}{message}")
            }
        }
    }
}

/// What the bar shows.
fn template(unit: Unit) -> String {
    let counts = match unit {
        Unit::Bytes => "{bytes}/{total_bytes} {bytes_per_sec}".to_owned(),
        Unit::Count(name) => format!("{{pos}}/{{len}} {name} {{per_sec}}"),
    };
    format!("{{elapsed_precise}} [{{bar:30}}] {counts} eta {{eta}}{{wide_msg}}")
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_has_rate_and_time_left() {
        for unit in [Unit::Bytes, Unit::Count("frames")] {
            let text = template(unit);
            assert!(text.contains("per_sec}") && text.contains("{eta}"), "{text}");
            assert!(ProgressStyle::with_template(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn line_has_rate_and_time_left() {
        let second = Duration::from_secs(1);
        let frames = Progress::new(100, Unit::Count("frames"));
        assert_eq!(
            frames.line(25, 10 * second, "; 1 lost"),
            "25 of 100 frames, 2.5/s, 30 s left; 1 lost"
        );
        assert_eq!(frames.line(0, 10 * second, ""), "0 of 100 frames, 0.0/s, time left unknown");
        assert_eq!(
            frames.line(250, 100 * second, ""),
            "250 beyond 100 frames, 2.5/s, time left unknown"
        );
        let bytes = Progress::new(4 << 20, Unit::Bytes);
        assert_eq!(bytes.line(1 << 20, second, ""), "1.00 MiB of 4.00 MiB, 1.00 MiB/s, 3 s left");
    }

    #[test]
    fn without_bar_line_comes_every_ten_seconds() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let mut run = Progress::new(100, Unit::Count("frames"));
        // Its time has come, and the bar stays hidden, as without a terminal.
        run.is_shown = true;
        let soon = ago(5).expect("the machine has run for longer");
        run.said = soon;
        run.set(25, "");
        assert_eq!(run.said, soon);
        let due = ago(11).expect("the machine has run for longer");
        run.said = due;
        run.set(26, "");
        assert!(run.said > due, "nothing was said");
    }
}
