//! What a run does, in order: the same list is printed by a dry run and carried out by another.
//!
//! ```text
//!   FlashSteps ─┬─ before ─► question ─► after     --dry-run prints it
//!         └────────────────────────────────► a run prints each step and does it
//! ```

use std::fmt;
use std::path::PathBuf;

use host_board::flash::Layout;
use host_board::pci;
use host_board::update;

/// A command of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What its output is judged for.
    pub purpose: Purpose,
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// openFPGALoader says its version, which must not be older: major, minor.
    Version((u32, u32)),
    /// openFPGALoader says what is on the cable.
    Detect,
    /// openFPGALoader writes and verifies so many chips.
    Write {
        /// Chips.
        chips: u32,
    },
    /// openFPGALoader loads the device.
    Load,
    /// Vivado does all of it.
    Vivado,
}

/// A step.
#[derive(Clone, Debug)]
pub enum Step {
    /// A file that a program reads later; it goes away at the end.
    File {
        /// Where.
        path: PathBuf,
        /// What is in it, in words.
        what: String,
        /// What is in it.
        bytes: Vec<u8>,
    },
    /// A program runs.
    Run(Command),
    /// The card is opened and compared with the board.
    Card {
        /// Its PCI address.
        device: String,
        /// Number of the board.
        board: u32,
        /// The board's flash.
        layout: Layout,
    },
    /// The card's flash block does it.
    Flash(update::Step),
    /// The card loads the image, and the system finds it again.
    Boot(pci::ExchangePlan),
    /// The card that came back runs the image.
    Compare {
        /// Its PCI address.
        device: String,
        /// Git hash of the image.
        git: String,
    },
}

/// A run.
#[derive(Clone, Debug)]
pub struct FlashSteps {
    /// What changes nothing.
    pub before: Vec<Step>,
    /// What the user is asked then.
    pub question: String,
    /// What follows.
    pub after: Vec<Step>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::File { path, what, bytes } => {
                let (path, bytes) = (path.display(), bytes.len());
                write!(f, "file  {path}: {what}, {bytes} bytes")
            }
            Step::Run(command) => write!(f, "run   {command}"),
            Step::Card { device, board, layout } => {
                let Layout { chips, slot, .. } = layout;
                write!(f, "card  {device}: board {board}, flash chips {chips}, slot 0x{slot:08x}?")
            }
            Step::Flash(step) => write!(f, "flash {step}"),
            Step::Boot(plan) => {
                let lines: Vec<String> = plan.lines().iter().map(|line| boot_line(line)).collect();
                f.write_str(&lines.join("\n"))
            }
            Step::Compare { device, git } => write!(f, "card  {device}: git hash {git}?"),
        }
    }
}

impl FlashSteps {
    /// The files that it makes.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.after.iter().filter_map(|step| match step {
            Step::File { path, .. } => Some(path),
            _ => None,
        })
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote_word(&self.program))?;
        for argument in &self.arguments {
            write!(f, " {}", quote_word(argument))?;
        }
        Ok(())
    }
}

impl fmt::Display for FlashSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.before {
            writeln!(f, "{step}")?;
        }
        writeln!(f, "ask   {}", self.question)?;
        for step in &self.after {
            writeln!(f, "{step}")?;
        }
        Ok(())
    }
}

/// How a line of an exchange of images is shown.
pub fn boot_line(line: &str) -> String {
    format!("boot  {line}")
}

/// A word as a shell takes it.
fn quote_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_as_in_shell() {
        assert_eq!(quote_word("--offset=0x10"), "--offset=0x10");
        assert_eq!(quote_word("a b"), "'a b'");
        assert_eq!(quote_word("it's"), r"'it'\''s'");
        assert_eq!(quote_word(""), "''");
    }
}
