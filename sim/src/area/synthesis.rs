//! Verilog to a netlist of UltraScale+ primitives, by Yosys, cached.
//!
//! ```text
//!   Verilog ──> key ──> .cache/synthesis/TOP-KEY/netlist.json   there: done
//!                └────> synth_xilinx -family xcup -uram, hierarchy kept ──> write_json
//! ```
//! The key covers the text, the script and the Yosys build. An entry appears by rename, complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::area::netlist::Netlist;
use crate::toolchain::{lock, workspace_folder, ToolError, Yosys};

/// Why there is no netlist.
#[derive(Debug, thiserror::Error)]
pub enum SynthesisError {
    /// No Yosys.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file cannot be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// Yosys refused the text.
    #[error("Yosys failed on {top}: {message}")]
    Refused {
        /// Top module.
        top: String,
        /// Its last lines.
        message: String,
    },
    /// The netlist is not what this crate knows.
    #[error("the netlist of {top}: {reason}")]
    Netlist {
        /// Top module.
        top: String,
        /// What is wrong.
        reason: String,
    },
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> SynthesisError + '_ {
    move |reason| SynthesisError::File {
        path: path.to_path_buf(),
        reason,
    }
}

/// The commands: pads and clock buffers belong to the board's design, not to the card.
fn script(top: &str) -> String {
    format!(
        "read_verilog design.v\n\
         synth_xilinx -family xcup -uram -top {top} -noiopad -noclkbuf\n\
         write_json netlist.json\n"
    )
}

/// The netlist of `verilog`, whose top module is `top`.
pub fn synthesize(top: &str, verilog: &str) -> Result<Netlist, SynthesisError> {
    let yosys = Yosys::locate()?;
    let mut hash = Sha256::new();
    for part in [verilog, &script(top), &yosys.identity] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let key: String = digest.iter().take(10).map(|b| format!("{b:02x}")).collect();
    let cache = workspace_folder("ZERONIC_CACHE", ".cache").join("synthesis");
    let entry = cache.join(format!("{top}-{key}"));
    let lock_path = cache.join(format!("{top}-{key}.lock"));
    let _lock = lock(&lock_path).map_err(file_error(&lock_path))?;
    let file = entry.join("netlist.json");
    if !file.is_file() {
        let work = cache.join(format!("{top}-{key}.{}", std::process::id()));
        fs::create_dir_all(&work).map_err(file_error(&work))?;
        run(&yosys, &work, top, verilog)?;
        fs::rename(&work, &entry).map_err(file_error(&entry))?;
    }
    let text = fs::read(&file).map_err(file_error(&file))?;
    serde_json::from_slice(&text).map_err(|error| SynthesisError::Netlist {
        top: top.to_owned(),
        reason: error.to_string(),
    })
}

fn run(yosys: &Yosys, work: &Path, top: &str, verilog: &str) -> Result<(), SynthesisError> {
    for (name, text) in [("design.v", verilog), ("script.ys", &script(top))] {
        let path = work.join(name);
        fs::write(&path, text).map_err(file_error(&path))?;
    }
    eprintln!("zeronic: synthesizing {top} with Yosys, some minutes ...");
    let output = Command::new(&yosys.program)
        .current_dir(work)
        .args(["-q", "-s", "script.ys"])
        .output()
        .map_err(file_error(&yosys.program))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    Err(SynthesisError::Refused {
        top: top.to_owned(),
        message: lines.into_iter().rev().collect::<Vec<_>>().join("\n"),
    })
}
