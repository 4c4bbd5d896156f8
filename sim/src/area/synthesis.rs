//! Verilog to a netlist of UltraScale+ primitives, by Yosys, cached module by module.
//!
//! ```text
//!   parts ──> key of each ──> .cache/synthesis/NAME-KEY.json   there: done
//!               └──> those missing, some at a time, the others as empty boxes
//!                      └──> synth_xilinx -family xcup -uram, hierarchy kept ──> write_json
//! ```
//! As the hierarchy is kept, a module's netlist follows from its text and the ports of what it
//! instantiates: a change has only the modules mapped again that it touches. The key covers both,
//! the script and the Yosys build. An entry appears by rename, complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::area::netlist::Netlist;
use crate::toolchain::{hex, lock, workspace_folder, ToolError, Yosys};

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

/// What Yosys maps by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The module that others instantiate.
    pub name: String,
    /// That module, and others that only it uses.
    pub text: String,
    /// The module's ports without its content.
    pub stub: String,
}

/// Text that one run of Yosys takes, in bytes: what is lost when a run is ended.
const AT_ONCE: usize = 60_000;
/// Instantiates what a run maps, so that nothing is unused; no design has a module of that name.
const TOP: &str = "all_of_a_run";

impl Part {
    /// A text whose modules are mapped in one run.
    pub fn whole(top: &str, text: &str) -> Part {
        Part {
            name: top.to_owned(),
            text: text.to_owned(),
            stub: String::new(),
        }
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
        rest.filter_map(|rest| rest.split(['(', ' ', ';']).next())
            .collect()
    }

    /// Of `all`, those that the text instantiates: an instance begins with its module's name.
    fn used<'a>(&self, all: &BTreeMap<&str, &'a Part>) -> Vec<&'a Part> {
        let lines = self.text.lines();
        let words: BTreeSet<&str> = lines
            .filter_map(|line| line.trim_start().split(' ').next())
            .collect();
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

/// A part with its key.
struct Keyed<'a> {
    part: &'a Part,
    uses: Vec<&'a Part>,
    key: String,
}

fn keyed<'a>(parts: &'a [Part], yosys: &Yosys) -> Vec<Keyed<'a>> {
    let all = parts
        .iter()
        .map(|part| (part.name.as_str(), part))
        .collect();
    let keyed = parts.iter().map(|part| {
        let uses = part.used(&all);
        let mut hash = Sha256::new();
        let stubs = uses.iter().map(|part| part.stub.as_str());
        for text in [&part.text, &script(), &yosys.identity] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        stubs.for_each(|stub| hash.update(stub));
        let key = hex(&hash.finalize()[..10]);
        Keyed { part, uses, key }
    });
    keyed.collect()
}

/// The netlist of all parts.
pub fn synthesize(parts: &[Part]) -> Result<Netlist, SynthesisError> {
    let yosys = Yosys::locate()?;
    let cache = workspace_folder("ZERONIC_CACHE", ".cache").join("synthesis");
    let lock_path = cache.join("lock");
    let _lock = lock(&lock_path).map_err(file_error(&lock_path))?;
    let keyed = keyed(parts, &yosys);
    let file = |keyed: &Keyed<'_>| cache.join(format!("{}-{}.json", keyed.part.name, keyed.key));
    let missing: Vec<&Keyed<'_>> = keyed.iter().filter(|k| !file(k).is_file()).collect();
    for (index, batch) in batches(&missing).into_iter().enumerate() {
        let names: Vec<&str> = batch.iter().map(|k| k.part.name.as_str()).collect();
        let total = missing.len();
        eprintln!(
            "zeronic: Yosys maps {total} modules, run {index}: {}",
            names.join(" ")
        );
        let work = cache.join(format!("work.{}", std::process::id()));
        fs::create_dir_all(&work).map_err(file_error(&work))?;
        let mut modules = run(&yosys, &work, batch)?;
        for keyed in batch {
            let own = keyed.part.modules();
            let own: serde_json::Map<String, Value> = own
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), modules.get_mut(name)?.take())))
                .collect();
            let text = serde_json::json!({ "modules": own }).to_string();
            let fresh = work.join("entry.json");
            fs::write(&fresh, text).map_err(file_error(&fresh))?;
            let file = file(keyed);
            fs::rename(&fresh, &file).map_err(file_error(&file))?;
        }
        fs::remove_dir_all(&work).map_err(file_error(&work))?;
    }
    let mut all = Netlist::default();
    for keyed in &keyed {
        let file = file(keyed);
        let text = fs::read(&file).map_err(file_error(&file))?;
        let netlist: Netlist = serde_json::from_slice(&text).map_err(unknown(&keyed.part.name))?;
        all.modules.extend(netlist.modules);
    }
    Ok(all)
}

fn unknown(of: &str) -> impl Fn(serde_json::Error) -> SynthesisError + '_ {
    move |error| SynthesisError::Netlist {
        top: of.to_owned(),
        reason: error.to_string(),
    }
}

/// Neighbours whose texts together are not too long.
fn batches<'a, 'b>(missing: &'b [&'a Keyed<'a>]) -> Vec<&'b [&'a Keyed<'a>]> {
    let mut batches = Vec::new();
    let (mut from, mut bytes) = (0, 0);
    for (at, keyed) in missing.iter().enumerate() {
        if at > from && bytes + keyed.part.text.len() > AT_ONCE {
            batches.push(&missing[from..at]);
            (from, bytes) = (at, 0);
        }
        bytes += keyed.part.text.len();
    }
    if from < missing.len() {
        batches.push(&missing[from..]);
    }
    batches
}

/// Text of one run: the batch, what it uses as empty boxes, and a top above.
fn text_of(batch: &[&Keyed<'_>]) -> String {
    let own: BTreeSet<&str> = batch.iter().map(|k| k.part.name.as_str()).collect();
    let used = batch.iter().flat_map(|keyed| &keyed.uses);
    let used = used.filter(|part| !own.contains(part.name.as_str()));
    let stubs: BTreeMap<&str, &str> = used
        .map(|part| (part.name.as_str(), part.stub.as_str()))
        .collect();
    let texts = batch.iter().map(|keyed| keyed.part.text.as_str());
    let instances = own
        .iter()
        .map(|name| format!("(* keep *) {name} i_{name} ();\n"));
    let top = format!(
        "module {TOP};\n{}endmodule\n",
        instances.collect::<String>()
    );
    let texts: Vec<&str> = texts.chain(stubs.into_values()).collect();
    format!("{}\n{top}", texts.join("\n"))
}

/// Has Yosys map a batch; its modules as Yosys writes them.
fn run(
    yosys: &Yosys,
    work: &Path,
    batch: &[&Keyed<'_>],
) -> Result<serde_json::Map<String, Value>, SynthesisError> {
    for (name, text) in [("design.v", text_of(batch)), ("script.ys", script())] {
        let path = work.join(name);
        fs::write(&path, text).map_err(file_error(&path))?;
    }
    let output = Command::new(&yosys.program)
        .current_dir(work)
        .args(["-q", "-s", "script.ys"])
        .output()
        .map_err(file_error(&yosys.program))?;
    let first = batch.first().map_or("", |keyed| keyed.part.name.as_str());
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
        _ => Err(SynthesisError::Netlist {
            top: first.to_owned(),
            reason: "no modules".to_owned(),
        }),
    }
}
