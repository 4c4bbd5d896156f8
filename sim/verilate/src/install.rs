//! What installing a tool takes: folders, locks, steps whose failure has a reason.
//!
//! ```text
//!   toolchain, debian ──► tool_lock ──► install_step, install_step ... ──► ToolError
//! ```

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why a tool is not available.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// A step of the installation could not be started.
    #[error("cannot run {program}: {reason}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A step of the installation failed.
    #[error("installing {tool} failed at `{step}`: {message}")]
    Install {
        /// Package and version.
        tool: String,
        /// The command.
        step: String,
        /// Last line that it printed.
        message: String,
    },
    /// The tool folder cannot be written.
    #[error("cannot write {path}: {reason}")]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// The Verilator named by the environment has no library beside it.
    #[error("no include/verilated.cpp for {0}: set VERILATOR_ROOT to the folder that has it")]
    Root(PathBuf),
    /// The installed package lacks its program.
    #[error("no {what} below {path}; delete that folder and try again")]
    Missing {
        /// What was looked for.
        what: String,
        /// Where.
        path: PathBuf,
    },
}

/// Prints progress on standard error. Failures to print are ignored.
pub(crate) fn say(text: fmt::Arguments) {
    let _ = writeln!(io::stderr(), "zeronic: {text}");
}

/// Folder that a variable names, or `name` in the workspace, or in the user's cache folder.
pub fn workspace_folder(variable: &str, name: &str) -> PathBuf {
    if let Some(folder) = std::env::var_os(variable) {
        let folder = PathBuf::from(folder);
        // Compilers run in folders of their own.
        return std::path::absolute(&folder).unwrap_or(folder);
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = package.ancestors().nth(2).map(Path::to_path_buf);
    match workspace.filter(|path| path.join("Cargo.toml").is_file()) {
        Some(workspace) => workspace.join(name),
        None => {
            let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
            home.join(".cache/zeronic").join(name.trim_start_matches('.'))
        }
    }
}

/// Takes the lock `path` for this process; dropping the file releases it.
pub(crate) fn lock(path: &Path) -> Result<File, std::io::Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = File::create(path)?;
    file.lock()?;
    Ok(file)
}

/// The same for what belongs to a tool.
pub(crate) fn tool_lock(path: PathBuf) -> Result<File, ToolError> {
    lock(&path).map_err(|reason| ToolError::Folder { path, reason })
}

pub(crate) fn install_step(tool: &str, mut command: Command, step: &str) -> Result<(), ToolError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|reason| ToolError::Start { program, reason })?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let message = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no output");
    Err(ToolError::Install { tool: tool.into(), step: step.into(), message: message.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_step_reports_its_last_line() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo first; echo 'the reason' >&2; exit 3"]);
        let error = install_step("x 1", command, "step").expect_err("must fail");
        assert_eq!(error.to_string(), "installing x 1 failed at `step`: the reason");
    }
}
