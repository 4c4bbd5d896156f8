//! The terminal: the whole of it, and its keys; elsewhere one page below the other.
//!
//! Invariants
//! 1. What is dropped leaves the terminal as it was: its modes, its cursor and its text.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use host_board::pci::{keep_signals, Kernel, Sysfs};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::termios::{tcgetattr, tcgetwinsize, tcsetattr, OptionalActions, Termios};

use crate::shared::output::print;

/// Another screen than the text's, without a cursor; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
const HOME: &str = "\x1b[H";
const REST_OF_LINE: &str = "\x1b[K";
const REST_OF_SCREEN: &str = "\x1b[J";
/// Columns and lines where there is no terminal.
const PAPER: (usize, usize) = (200, 1_000);
/// Ctrl-C of a terminal that gives it as a key.
const INTERRUPT: u8 = 3;

/// A key that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// To end.
    Quit,
}

/// The terminal.
pub struct Screen {
    /// Its modes before.
    modes: Option<Termios>,
    kernel: Sysfs,
}

impl Screen {
    /// Takes the terminal, if standard output and input are one.
    pub fn open() -> Result<Self> {
        let (input, output) = (io::stdin(), io::stdout());
        let kernel = Sysfs::new("/sys".as_ref());
        if !input.is_terminal() || !output.is_terminal() {
            return Ok(Self { modes: None, kernel });
        }
        let modes = tcgetattr(&input).context("the terminal")?;
        let mut raw = modes.clone();
        raw.make_raw();
        // From here on a signal ends the run, and what ends the run gives the terminal back.
        keep_signals();
        tcsetattr(&input, OptionalActions::Now, &raw).context("the terminal")?;
        let screen = Self { modes: Some(modes), kernel };
        print(ENTER)?;
        Ok(screen)
    }

    /// Columns and lines.
    pub fn size(&self) -> (usize, usize) {
        match (&self.modes, tcgetwinsize(io::stdout())) {
            (Some(_), Ok(size)) => (size.ws_col.into(), size.ws_row.into()),
            _ => PAPER,
        }
    }

    /// Shows a page.
    pub fn show(&mut self, page: &[String]) -> Result<()> {
        if self.modes.is_none() {
            return print(&(page.join("\n") + "\n\n"));
        }
        let lines = page.iter().map(|line| format!("{line}{REST_OF_LINE}"));
        let lines = lines.collect::<Vec<_>>().join("\r\n");
        print(&format!("{HOME}{lines}{REST_OF_SCREEN}"))
    }

    /// A key that was pressed, or a signal that has come, since the last call.
    pub fn key(&mut self) -> Option<Key> {
        self.modes.as_ref()?;
        if self.kernel.is_asked_to_end() {
            return Some(Key::Quit);
        }
        let input = io::stdin();
        let now = Timespec::try_from(Duration::ZERO).ok()?;
        let mut sources = [PollFd::new(&input, PollFlags::IN)];
        if poll(&mut sources, Some(&now)).ok()? == 0 {
            return None;
        }
        let mut keys = [0; 16];
        let read = rustix::io::read(&input, &mut keys).ok()?;
        // A terminal that is gone has nothing to say.
        let ends = |key: &u8| matches!(key, b'q' | b'Q' | &INTERRUPT);
        (read == 0 || keys[..read].iter().any(ends)).then_some(Key::Quit)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(modes) = &self.modes {
            let mut output = io::stdout().lock();
            let _ = output.write_all(LEAVE.as_bytes()).and_then(|()| output.flush());
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        }
    }
}
