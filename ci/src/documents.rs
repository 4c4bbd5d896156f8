//! `cargo xtask documents [NAME]...`: writes the documents that are made from the code anew.
//!
//! ```text
//!   NAME ──► one command of cargo, with ZERONIC_BLESS=1 where a test writes ──► files in docs
//! ```
//! A test compares each of them in every run, so none can become stale.

use std::process::Command;
use std::time::Instant;

use anyhow::{bail, ensure, Context};

/// A document, or several of one command.
struct Document {
    name: &'static str,
    /// What is written, and how long it takes where that is minutes.
    what: &'static str,
    /// Whether a test writes it, which otherwise compares.
    is_blessed: bool,
    arguments: &'static [&'static str],
}

const DOCUMENTS: &[Document] = &[
    Document {
        name: "registers",
        what: "docs/registers.md",
        is_blessed: false,
        arguments: &["run", "--release", "--", "verilog", "--manual", "docs/registers.md"],
    },
    Document {
        name: "model",
        what: "docs/model.md",
        is_blessed: true,
        arguments: &["test", "--package", "zeronic-model", "--test", "model", "document::"],
    },
    Document {
        name: "boards",
        what: "constraints and docs/boards, tables in docs",
        is_blessed: true,
        arguments: &["test", "--workspace", "--test", "boards"],
    },
    Document {
        name: "checklist",
        what: "what no source says, in docs/boards",
        is_blessed: true,
        arguments: &["test", "--workspace", "--test", "vivado", "checklist"],
    },
    Document {
        name: "crossings",
        what: "constraints and tables of the crossings between the clocks",
        is_blessed: true,
        arguments: &["test", "--workspace", "--test", "verilog", "crossings::"],
    },
    Document {
        name: "blocks",
        what: "docs/blocks.md",
        is_blessed: true,
        arguments: &["test", "--workspace", "--test", "verilog", "no_text_changes_unseen"],
    },
    Document {
        name: "properties",
        what: "docs/properties.md; minutes",
        is_blessed: true,
        arguments: &["test", "--workspace", "--test", "verilog", "properties::"],
    },
    Document {
        name: "counts",
        what: "docs/host_counts.toml, part `dev`",
        is_blessed: true,
        arguments: &["test", "--workspace", "--test", "cli", "counts"],
    },
    Document {
        name: "area",
        what: "docs/area.md; ten minutes where much has changed",
        is_blessed: false,
        arguments: &["run", "--release", "--", "bench", "area", "--report", "docs/area.md"],
    },
];

/// What may be asked for.
pub fn usage() -> String {
    let line = |document: &Document| format!("\n  {:<11}{}", document.name, document.what);
    DOCUMENTS.iter().map(line).collect()
}

/// Writes the named documents, or all of them.
pub fn run(names: &[String]) -> anyhow::Result<()> {
    let named = |name: &String| DOCUMENTS.iter().find(|document| document.name == name);
    let chosen: Vec<&Document> = match names.is_empty() {
        true => DOCUMENTS.iter().collect(),
        false => {
            if let Some(unknown) = names.iter().find(|name| named(name).is_none()) {
                bail!("unknown document `{unknown}`; there are{}", usage());
            }
            names.iter().filter_map(named).collect()
        }
    };
    for (number, document) in chosen.iter().enumerate() {
        println!("== {}/{} {}: {}", number + 1, chosen.len(), document.name, document.what);
        let started = Instant::now();
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(crate::walk::workspace()).args(document.arguments);
        if document.is_blessed {
            command.env("ZERONIC_BLESS", "1");
        }
        let status = command.status().context("cannot run cargo")?;
        ensure!(status.success(), "{}: cargo ended with {status}", document.name);
        println!("== {} written in {:.0} s", document.name, started.elapsed().as_secs_f32());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compared_document_can_be_written() {
        let contributing =
            std::fs::read_to_string(crate::walk::workspace().join("CONTRIBUTING.md"));
        let text = contributing.expect("it is there");
        for document in DOCUMENTS {
            let name = format!("`{}`", document.name);
            assert!(text.contains(&name), "CONTRIBUTING.md does not name {name}");
        }
        // No command that writes a document stands beside this one.
        assert!(!text.contains("ZERONIC_BLESS=1 cargo"), "CONTRIBUTING.md has a second way");
    }

    #[test]
    fn unknown_document_is_refused_with_known_ones() {
        let error = run(&["manual".to_owned()]).expect_err("there is none").to_string();
        assert!(error.contains("`manual`") && error.contains("registers"), "{error}");
    }

    #[test]
    fn tests_that_write_exist() {
        let root = crate::walk::workspace();
        let folders = ["sim/tests", "sim/board/tests", "cli/tests", "model/tests"];
        for document in DOCUMENTS.iter().filter(|document| document.is_blessed) {
            let at = document.arguments.iter().position(|word| *word == "--test");
            let program = document.arguments[at.expect("a program") + 1];
            let exists = |folder: &&str| {
                let path = root.join(folder).join(program);
                path.join("main.rs").exists() || path.with_extension("rs").exists()
            };
            assert!(folders.iter().any(exists), "{program}");
        }
    }
}
