//! What a tree with mutants has besides them: the modules of the switches, and what lets a model
//! read them while it runs.
//!
//! ```text
//!   root of each crate         the switches
//!   hdl/verilog  module.rs     fn body   becomes fn only;   a `body` with all kernels of a block
//!                design.rs     fn build  becomes fn write;  both texts of a design
//!   sim/verilate design.rs     fn build  becomes fn plain;  models are of that with all kernels
//!                verilated.rs  fn new    becomes fn raw;    their threads use its switches
//! ```
//! Whoever else reads the Verilog of a design sees only the kernels that are switched on.
//!
//! The new names are as long as the old ones: a place in a text stays what it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::mutant::{Mutant, Place};
use super::tree::Tree;

/// The module of the switches, for the root of each crate.
const SWITCHES: &str = include_str!("planted/switch.txt");
/// What kernels need of it besides.
const KERNEL_SWITCHES: &str = include_str!("planted/kernel.txt");

/// What a file has besides.
struct Patch {
    file: &'static str,
    /// The head of a function, and another of the same length: the text has one of the first name.
    heads: Option<[&'static str; 2]>,
    /// Behind all else.
    text: &'static str,
}

/// For a tree with kernels.
const PATCHES: &[Patch] = &[
    Patch {
        file: "hdl/verilog/src/lib.rs",
        heads: None,
        text: include_str!("planted/verilog_texts.txt"),
    },
    Patch {
        file: "hdl/verilog/src/module.rs",
        heads: Some(["fn body(node:", "fn only(node:"]),
        text: include_str!("planted/emitter_body.txt"),
    },
    Patch {
        file: "hdl/verilog/src/design.rs",
        heads: Some(["fn build(block:", "fn write(block:"]),
        text: include_str!("planted/emitter_build.txt"),
    },
    Patch { file: "hdl/src/lib.rs", heads: None, text: include_str!("planted/hdl_texts.txt") },
    Patch {
        file: "sim/verilate/src/design.rs",
        heads: Some(["pub fn build(", "pub fn plain("]),
        text: include_str!("planted/verilate_design.txt"),
    },
    Patch {
        file: "sim/verilate/src/verilated.rs",
        heads: Some(["fn new(design:", "fn raw(design:"]),
        text: include_str!("planted/verilate_model.txt"),
    },
];

/// All that one file has besides.
#[derive(Default)]
struct Addition {
    heads: Option<[&'static str; 2]>,
    text: String,
}

/// What a group of mutants needs, by file.
#[derive(Default)]
pub struct Additions(BTreeMap<PathBuf, Addition>);

impl Additions {
    /// For a tree that holds `mutants`.
    pub fn of<'a>(tree: &Tree, mutants: impl Iterator<Item = &'a Mutant>) -> anyhow::Result<Self> {
        let mut has_kernels = BTreeMap::<PathBuf, bool>::new();
        for mutant in mutants {
            let is_kernel = matches!(mutant.place, Place::Kernel(_));
            *has_kernels.entry(tree.crate_root(&mutant.file)?).or_default() |= is_kernel;
        }
        let mut additions = BTreeMap::<PathBuf, Addition>::new();
        if has_kernels.values().any(|has_kernel| *has_kernel) {
            for patch in PATCHES {
                let file = PathBuf::from(patch.file);
                has_kernels.entry(tree.crate_root(&file)?).or_default();
                let addition = additions.entry(file).or_default();
                addition.heads = patch.heads;
                addition.text += patch.text;
            }
        }
        for (root, has_kernel) in has_kernels {
            let addition = additions.entry(root).or_default();
            addition.text += SWITCHES;
            addition.text += if has_kernel { KERNEL_SWITCHES } else { "" };
        }
        Ok(Self(additions))
    }

    /// The files that have something.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    /// Adds to the text of a file what it has besides.
    pub fn add(&self, file: &Path, text: &mut String) -> anyhow::Result<()> {
        let Some(addition) = self.0.get(file) else { return Ok(()) };
        if let Some([from, to]) = addition.heads {
            if text.matches(from).count() != 1 {
                bail!("{} has not one `{from}`", file.display());
            }
            *text = text.replace(from, to);
        }
        *text += &addition.text;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_patch_fits_its_file() {
        let root = crate::walk::workspace();
        for Patch { file, heads, text } in PATCHES {
            let source = std::fs::read_to_string(root.join(file)).expect("it is readable");
            let Some([from, to]) = heads else { continue };
            assert_eq!(source.matches(from).count(), 1, "{file}");
            assert_eq!(from.len(), to.len());
            assert!(!source.contains(to), "{file}");
            let name = |head: &str| head.split('(').next().map(|name| format!("{name}("));
            assert!(text.contains(&name(from).expect("a name")), "{file}");
        }
    }
}
