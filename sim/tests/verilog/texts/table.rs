//! `docs/blocks.md`: a line for each block of the registry, with a digest of its Verilog.

use std::fs;
use std::path::PathBuf;

use verilate::toolchain::{digest_of, hex};

use crate::support::differences::differences;
use crate::support::{When, STEPS};
use crate::texts::block_text::BlockText;

const RANDOM: [(When, &str); 2] = [(When::Always, "every run"), (When::Long, "long run")];

/// What the table says of itself.
const HEAD: &str = "\
# The Verilog of each block

Written by `cargo xtask documents blocks`; every run compares it, so that no block's Verilog changes
unseen. The blocks are those of the registry (`sim/blocks`), at its
sizes, which stand behind a block's name: the reduced ones of `SMALL` (`hdl/abi/src/config.rs`) or a
few bits where a block has parameters.

A change that is to change no block's meaning, as an expression written otherwise, is proven by
Yosys, for all inputs and, by induction, for all time:

```
git switch --detach BEFORE
ZERONIC_TEXTS=/tmp/before cargo test --workspace --test verilog texts_are_kept
git switch -
ZERONIC_BEFORE=/tmp/before cargo test --workspace --test verilog -- --nocapture what_changed
```

What is proven of blocks, by an SMT solver, stands in [properties.md](properties.md).

- *bits*: of the block's own registers, and how many kinds of modules it has below it.
- *random*: STEPS changes of all inputs, rust-hdl's simulator against Verilator, children and
  initial values included (`sim/tests/verilog/blocks.rs`). `long run`: with `ZERONIC_LONG=1`.
- *text*: digest of the block's own module and of the ports of those below it. A block without one
  prints its text itself: memories, synchronizers.

| block | bits | random | text |
|---|---|---|---|
";

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its path and parameters.
    pub name: String,
    /// Bits of its own registers; kinds of modules below it.
    pub size: String,
    /// When it runs under random inputs.
    pub random: When,
    /// Of its text; empty without a kernel.
    pub digest: String,
}

/// All blocks.
#[derive(Debug, Default)]
pub struct Table {
    /// In the order of the registry.
    pub lines: Vec<Line>,
}

impl Line {
    /// The line of a block; `text` if it has a kernel.
    pub fn new(name: String, text: Option<&BlockText>, random: When) -> Line {
        let size = text.map(|text| match text.children.len() {
            0 => text.register_bits.to_string(),
            below => format!("{}, {below} below", text.register_bits),
        });
        let digest = text.map(|text| hex(&digest_of([&text.text])[..4]));
        Line { name, size: size.unwrap_or_default(), random, digest: digest.unwrap_or_default() }
    }

    fn text(&self) -> String {
        let random = RANDOM.iter().find(|(when, _)| *when == self.random);
        let random = random.map_or("", |(_, text)| text);
        format!("| `{}` | {} | {random} | {} |\n", self.name, self.size, self.digest)
    }

    fn parsed(text: &str) -> Option<Line> {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [_, name, size, random, digest, _] = cells[..] else {
            return None;
        };
        Some(Line {
            name: name.strip_prefix('`')?.strip_suffix('`')?.to_owned(),
            size: size.to_owned(),
            random: RANDOM.iter().find(|(_, text)| *text == random)?.0,
            digest: digest.to_owned(),
        })
    }
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/blocks.md")
}

impl Table {
    /// The table that is kept.
    pub fn read() -> Table {
        let text = fs::read_to_string(path()).unwrap_or_default();
        Table { lines: text.lines().filter_map(Line::parsed).collect() }
    }

    /// Keeps this table.
    pub fn write(&self) {
        let mut text = HEAD.replace("STEPS", &STEPS.to_string());
        self.lines.iter().for_each(|line| text += &line.text());
        fs::write(path(), text).expect("docs are writable");
    }

    /// Lines of this table that the kept one says otherwise.
    pub fn differences(&self, kept: &Table) -> Vec<String> {
        differences(&self.lines, &kept.lines, Line::text)
    }
}
