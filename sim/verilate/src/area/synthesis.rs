//! Verilog to a netlist of UltraScale+ primitives, by Yosys, in cached batches of modules.
//!
//! ```text
//!   parts ──> batches, by the hash of a module's name, what they use as empty boxes
//!               └──> .cache/synthesis/batch-KEY.json   there: done
//!                      └──> synth_xilinx -family xcup -uram, hierarchy kept ──> write_json
//! ```
//! As the hierarchy is kept, a module's netlist depends on its text and on the ports of what it
//! instantiates; a few LUTs also depend on the names that Yosys has seen before in the same run.
//!
//! Invariants
//! 1. A netlist is a function of the design, the script and the Yosys build, whatever the cache
//!    holds: batches do not depend on that, and the key of one covers the whole text of its run.
//! 2. After a change only the batches with a changed module are mapped again.
//! 3. An entry appears by rename, complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::area::netlist::Netlist;
use crate::install::{lock, say, workspace_folder, ToolError};
use crate::toolchain::{digest_of, hex, Yosys};

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
    move |reason| SynthesisError::File { path: path.to_path_buf(), reason }
}

/// A part of a design that Yosys maps separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The module that others instantiate.
    pub name: String,
    /// That module, and others that only it uses.
    pub text: String,
    /// The module's ports without its content.
    pub stub: String,
}

/// Average size in bytes of the text of one run of Yosys: the work that is lost when a run is
/// interrupted, and repeated when a module changes.
const AT_ONCE: usize = 60_000;
/// Instantiates what a run maps, so that nothing is unused; no design has a module of that name.
const TOP: &str = "all_of_a_run";

impl Part {
    /// A text whose modules are mapped in one run.
    pub fn whole(top: &str, text: &str) -> Part {
        Part { name: top.to_owned(), text: text.to_owned(), stub: String::new() }
    }

    /// The modules of a design, each for itself.
    pub fn each_of(modules: &[(String, String)]) -> Vec<Part> {
        let parts = modules.iter().map(|(name, text)| {
            let from = text.find(&format!("module {name} (")).unwrap_or_default();
            let to = text[from..].find(");").map_or(text.len(), |end| from + end);
            let ports = text[from..to].replace("output reg ", "output wire ");
            Part {
                name: name.clone(),
                text: text.clone(),
                stub: format!("(* blackbox *) {ports});\nendmodule\n"),
            }
        });
        parts.collect()
    }

    /// Names of the modules in the text.
    fn modules(&self) -> BTreeSet<&str> {
        let lines = self.text.lines();
        let rest = lines.filter_map(|line| line.trim_start().strip_prefix("module "));
        rest.filter_map(|rest| rest.split(['(', ' ', ';']).next()).collect()
    }

    /// Of `all`, those that the text instantiates: an instance begins with its module's name.
    fn used_parts<'a>(&self, all: &BTreeMap<&str, &'a Part>) -> Vec<&'a Part> {
        let lines = self.text.lines();
        let words: BTreeSet<&str> =
            lines.filter_map(|line| line.trim_start().split(' ').next()).collect();
        let used = words.iter().filter_map(|word| all.get(word).copied());
        used.filter(|part| part.name != self.name).collect()
    }
}

/// The commands: pads and clock buffers belong to the board's design, not to the card.
fn script() -> String {
    format!(
        "read_verilog design.v\n\
         synth_xilinx -family xcup -uram -top {TOP} -noiopad -noclkbuf\n\
         write_json netlist.json\n"
    )
}

/// The netlist of all parts.
pub fn synthesize(parts: &[Part]) -> Result<Netlist, SynthesisError> {
    let yosys = Yosys::locate()?;
    let cache = workspace_folder("ZERONIC_CACHE", ".cache").join("synthesis");
    let lock_path = cache.join("lock");
    let _lock = lock(&lock_path).map_err(file_error(&lock_path))?;
    let batches = batches(parts);
    let all = parts.iter().map(|part| (part.name.as_str(), part)).collect();
    let mut netlist = Netlist::default();
    for (number, batch) in (1..).zip(&batches) {
        let text = text_of(batch, &all);
        let file = cache.join(format!("batch-{}.json", key_of(&text, &yosys)));
        if !file.is_file() {
            let (modules, total) = (batch.len(), batches.len());
            say(format_args!("Yosys maps {modules} modules, batch {number} of {total}"));
            map(&yosys, batch, &text, &cache, &file)?;
        }
        let text = fs::read(&file).map_err(file_error(&file))?;
        let found: Netlist = serde_json::from_slice(&text).map_err(unknown(&batch[0].name))?;
        netlist.modules.extend(found.modules);
    }
    Ok(netlist)
}

/// Decides what Yosys makes of a text.
fn key_of(text: &str, yosys: &Yosys) -> String {
    let digest = digest_of([text, &script(), &yosys.identity]);
    hex(&digest[..10])
}

/// Maps a batch and keeps the netlists of its modules in `file`.
fn map(
    yosys: &Yosys,
    batch: &[&Part],
    text: &str,
    cache: &Path,
    file: &Path,
) -> Result<(), SynthesisError> {
    let work = cache.join(format!("work.{}", std::process::id()));
    fs::create_dir_all(&work).map_err(file_error(&work))?;
    let mut modules = run(yosys, &work, &batch[0].name, text)?;
    let own = batch.iter().flat_map(|part| part.modules());
    let own: serde_json::Map<String, Value> =
        own.filter_map(|name| Some((name.to_owned(), modules.get_mut(name)?.take()))).collect();
    let text = serde_json::json!({ "modules": own }).to_string();
    let fresh = work.join("entry.json");
    fs::write(&fresh, text).map_err(file_error(&fresh))?;
    fs::rename(&fresh, file).map_err(file_error(file))?;
    fs::remove_dir_all(&work).map_err(file_error(&work))
}

fn unknown(of: &str) -> impl Fn(serde_json::Error) -> SynthesisError + '_ {
    move |error| SynthesisError::Netlist { top: of.to_owned(), reason: error.to_string() }
}

/// Which modules are mapped together: a module stays in its batch when others come, go or change,
/// until the design has doubled.
fn batches(parts: &[Part]) -> Vec<Vec<&Part>> {
    let bytes: usize = parts.iter().map(|part| part.text.len()).sum();
    let count = bytes.div_ceil(AT_ONCE).next_power_of_two();
    let mut batches = vec![Vec::new(); count];
    for part in parts {
        let hash = Sha256::digest(&part.name);
        let [low, high, ..] = hash[..] else { continue };
        batches[usize::from(u16::from_le_bytes([low, high])) % count].push(part);
    }
    batches.retain(|batch| !batch.is_empty());
    batches
}

/// Text of one run: the batch, what it uses as empty boxes, and a top above.
fn text_of(batch: &[&Part], all: &BTreeMap<&str, &Part>) -> String {
    let own: BTreeSet<&str> = batch.iter().map(|part| part.name.as_str()).collect();
    let used = batch.iter().flat_map(|part| part.used_parts(all));
    let used = used.filter(|part| !own.contains(part.name.as_str()));
    let stubs: BTreeMap<&str, &str> =
        used.map(|part| (part.name.as_str(), part.stub.as_str())).collect();
    let texts = batch.iter().map(|part| part.text.as_str());
    let instances = own.iter().map(|name| format!("(* keep *) {name} i_{name} ();\n"));
    let top = format!("module {TOP};\n{}endmodule\n", instances.collect::<String>());
    let texts: Vec<&str> = texts.chain(stubs.into_values()).collect();
    format!("{}\n{top}", texts.join("\n"))
}

/// Maps a text; returns its modules as Yosys writes them. Errors name `first`.
fn run(
    yosys: &Yosys,
    work: &Path,
    first: &str,
    text: &str,
) -> Result<serde_json::Map<String, Value>, SynthesisError> {
    for (name, text) in [("design.v", text), ("script.ys", &script())] {
        let path = work.join(name);
        fs::write(&path, text).map_err(file_error(&path))?;
    }
    let output = Command::new(&yosys.program)
        .current_dir(work)
        .args(["-q", "-s", "script.ys"])
        .output()
        .map_err(file_error(&yosys.program))?;
    if !output.status.success() {
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines: Vec<&str> = text.lines().rev().take(5).collect();
        return Err(SynthesisError::Refused {
            top: first.to_owned(),
            message: lines.into_iter().rev().collect::<Vec<_>>().join("\n"),
        });
    }
    let file = work.join("netlist.json");
    let text = fs::read(&file).map_err(file_error(&file))?;
    let mut netlist: Value = serde_json::from_slice(&text).map_err(unknown(first))?;
    match netlist["modules"].take() {
        Value::Object(modules) => Ok(modules),
        _ => {
            Err(SynthesisError::Netlist { top: first.to_owned(), reason: "no modules".to_owned() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(count: usize, bytes: usize) -> Vec<Part> {
        let part = |index| Part::whole(&format!("module_{index}"), &"x".repeat(bytes));
        (0..count).map(part).collect()
    }

    #[test]
    fn module_keeps_batch_when_others_change() {
        let (many, mut fewer) = (parts(100, AT_ONCE / 4), parts(100, AT_ONCE / 4));
        fewer.remove(50);
        fewer[7].text.push_str("more");
        let names = |parts: &[Part]| -> Vec<Vec<String>> {
            let batches = batches(parts).into_iter();
            let names = batches.map(|batch| batch.iter().map(|part| part.name.clone()).collect());
            names.collect()
        };
        let (all, rest) = (names(&many), names(&fewer));
        assert_eq!(all.len(), 32);
        assert_eq!(all.concat().len(), 100);
        let without: Vec<Vec<String>> = all
            .iter()
            .map(|batch| batch.iter().filter(|n| *n != "module_50").cloned().collect())
            .collect();
        assert_eq!(rest, without);
    }
}
