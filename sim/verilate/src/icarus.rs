//! Icarus Verilog: a second simulator, which was written by others than Verilator's authors.
//!
//! ```text
//!   the one in PATH │ Debian's package, unpacked ──► iverilog ──► vvp ──► stdout
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::debian::{ensure_packages, library_folders};
use crate::install::ToolError;

/// Debian's package, and the libraries that a bare system may lack.
const PACKAGES: &[&str] = &["iverilog", "libreadline8", "libtinfo6"];

/// Why Icarus did not run.
#[derive(Debug, thiserror::Error)]
pub enum IcarusError {
    /// It is not here, and cannot be fetched.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file could not be written, or a program not started.
    #[error("{what}: {reason}")]
    Start {
        /// File or program.
        what: String,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// One of its programs failed.
    #[error("{program}: {said}")]
    Failed {
        /// `iverilog` or `vvp`.
        program: &'static str,
        /// What it wrote.
        said: String,
    },
}

/// Where Icarus is.
#[derive(Clone, Debug)]
pub struct Icarus {
    /// Of the unpacked package; `None` for the machine's own.
    root: Option<PathBuf>,
}

impl Icarus {
    /// The machine's own, or the package, unpacked into the tool folder.
    pub fn locate() -> Result<Icarus, IcarusError> {
        let own = Command::new("iverilog").arg("-V").output();
        let root = match own.is_ok_and(|output| output.status.success()) {
            true => None,
            false => Some(ensure_packages("icarus", PACKAGES)?),
        };
        Ok(Icarus { root })
    }

    /// One of its programs; `base` is the option that says where its parts are.
    fn command(&self, program: &str, base: &str) -> Command {
        let Some(root) = &self.root else { return Command::new(program) };
        let mut command = Command::new(root.join("usr/bin").join(program));
        let folders = library_folders(root);
        let parts = folders.iter().map(|folder| folder.join("ivl")).find(|parts| parts.is_dir());
        command.arg(base).args(parts);
        if let Ok(path) = std::env::join_paths(&folders) {
            command.env("LD_LIBRARY_PATH", path);
        }
        command
    }

    /// Elaborates files of a folder with all warnings; returns them.
    pub fn elaborate(
        &self,
        folder: &Path,
        files: &[String],
        top: &str,
    ) -> Result<String, IcarusError> {
        let mut command = self.command("iverilog", "-B");
        command.current_dir(folder).args(["-g2005", "-Wall", "-t", "null", "-s", top]).args(files);
        let (said, warnings) = run("iverilog", command)?;
        Ok(said + &warnings)
    }

    /// Compiles a text whose top module is `top`, and runs it to its end. Returns what it printed,
    /// and what the compiler warned of. The files are written into `folder`.
    pub fn simulate(
        &self,
        folder: &Path,
        top: &str,
        text: &str,
    ) -> Result<(String, String), IcarusError> {
        let (source, compiled) = (folder.join("text.v"), folder.join("compiled"));
        fs::write(&source, text).map_err(|reason| start(source.display(), reason))?;
        let mut compile = self.command("iverilog", "-B");
        compile.args(["-g2005", "-s", top, "-o"]).arg(&compiled).arg(&source);
        let (_, warnings) = run("iverilog", compile)?;
        let mut simulate = self.command("vvp", "-M");
        simulate.arg("-n").arg(&compiled);
        Ok((run("vvp", simulate)?.0, warnings))
    }
}

fn start(what: impl ToString, reason: std::io::Error) -> IcarusError {
    IcarusError::Start { what: what.to_string(), reason }
}

/// What the program wrote, on both streams.
fn run(program: &'static str, mut command: Command) -> Result<(String, String), IcarusError> {
    let Output { status, stdout, stderr } =
        command.output().map_err(|reason| start(program, reason))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&stdout), text(&stderr));
    if !status.success() {
        let said = stdout + &stderr;
        return Err(IcarusError::Failed { program, said: said.chars().take(2000).collect() });
    }
    Ok((stdout, stderr))
}
