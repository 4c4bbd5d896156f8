//! `docs/proofs.md`: a line for each block of the registry, with what is proven of it and how.

use std::fs;
use std::path::PathBuf;

use verilate::toolchain::{digest_of, hex};

use crate::differences::differences;
use crate::pair::Pair;
use crate::verilog_support::{When, STEPS};
use crate::{INDUCTION_CYCLES, SECONDS_MAX};

/// What Yosys found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proven equal.
    Equal,
    /// Neither proven equal nor shown to differ: induction is too weak.
    Undecided,
    /// Rust-hdl's own text reads a net that it does not declare: there is nothing to compare with.
    NoReference,
    /// Ended by the limit of processor time.
    OutOfTime,
    /// The block's text is not made from a kernel: both emitters print it as it is.
    NoKernel,
}

const VERDICTS: [(Verdict, &str); 5] = [
    (Verdict::Equal, "equal"),
    (Verdict::Undecided, "undecided"),
    (Verdict::NoReference, "no reference"),
    (Verdict::OutOfTime, "out of time"),
    (Verdict::NoKernel, "no kernel"),
];
const RANDOM: [(When, &str); 2] = [(When::Always, "every run"), (When::Long, "long run")];

/// What the table says of itself.
const HEAD: &str = "\
# What is proven of each block's Verilog

Written by `ZERONIC_BLESS=1 cargo test --workspace --test verilog_proof`; every run compares it.
The blocks are those of the registry (`sim/blocks`), at its sizes, which stand behind a block's
name: the reduced ones of `SMALL` (`hdl/abi/src/config.rs`) or a few bits where a block has
parameters; without parameters it is proven at the one size that it has, 512-bit beats included.
Properties of blocks, proven by an SMT solver, stand in [properties.md](properties.md).

- *Yosys*: rust-hdl's own text and ours are sequentially equivalent: for all inputs, and by
  induction over CYCLES cycles, from equal registers, for all time. Children beside flip-flops are
  cut out: what they are given is compared, what they answer may be anything; each has its own
  line. A number that no variant of an enumeration has leaves the reference undefined; where the
  reference reads a child's port by a name that it does not declare, it is given the net that
  the port is joined to.
  `undecided`: induction ends without a verdict. `no reference`: rust-hdl's own text reads another
  net that it does not declare. `out of time`: SECONDS s of processor time did not suffice.
  `no kernel`: the block prints its text itself, so that both texts are one: memories,
  synchronizers.
- *random*: STEPS changes of all inputs, rust-hdl's simulator against Verilator, children and
  initial values included (`sim/tests/verilog_blocks.rs`). `long run`: with `ZERONIC_LONG=1`.
- *bits*: of the block's own registers; how many children are cut out.
- *texts*: digest of both texts; where one has changed, the block is proven again in every run.

Of all blocks: COUNTS.

| block | bits | Yosys | random | texts |
|---|---|---|---|---|
";

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its path and parameters.
    pub name: String,
    /// Bits of its own registers; children that are cut out.
    pub size: String,
    /// What Yosys found.
    pub verdict: Verdict,
    /// When it runs under random inputs.
    pub random: When,
    /// Of both texts; empty without a kernel.
    pub digest: String,
}

/// All blocks.
#[derive(Debug, Default)]
pub struct Table {
    /// In the order of the registry.
    pub lines: Vec<Line>,
}

impl Line {
    /// A line without a verdict of Yosys.
    pub fn new(name: String, pair: Option<&Pair>, random: When) -> Line {
        let size = pair.map(|pair| match pair.children {
            0 => pair.register_bits.to_string(),
            children => format!("{}, {children} cut", pair.register_bits),
        });
        let digest = pair.map(|pair| hex(&digest_of([&pair.gold, &pair.gate])[..4]));
        Line {
            name,
            size: size.unwrap_or_default(),
            verdict: Verdict::NoKernel,
            random,
            digest: digest.unwrap_or_default(),
        }
    }

    fn text(&self) -> String {
        let verdict = VERDICTS.iter().find(|(verdict, _)| *verdict == self.verdict);
        let random = RANDOM.iter().find(|(when, _)| *when == self.random);
        format!(
            "| `{}` | {} | {} | {} | {} |\n",
            self.name,
            self.size,
            verdict.map_or("", |(_, text)| text),
            random.map_or("", |(_, text)| text),
            self.digest
        )
    }

    fn parsed(text: &str) -> Option<Line> {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [_, name, size, verdict, random, digest, _] = cells[..] else {
            return None;
        };
        Some(Line {
            name: name.strip_prefix('`')?.strip_suffix('`')?.to_owned(),
            size: size.to_owned(),
            verdict: VERDICTS.iter().find(|(_, text)| *text == verdict)?.0,
            random: RANDOM.iter().find(|(_, text)| *text == random)?.0,
            digest: digest.to_owned(),
        })
    }
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/proofs.md")
}

impl Table {
    /// The table that is kept.
    pub fn read() -> Table {
        let text = fs::read_to_string(path()).unwrap_or_default();
        Table { lines: text.lines().filter_map(Line::parsed).collect() }
    }

    /// Keeps this table.
    pub fn write(&self) {
        fs::write(path(), self.text()).expect("docs are writable");
    }

    fn text(&self) -> String {
        let count = |verdict: Verdict| {
            let lines = self.lines.iter();
            lines.filter(|line| line.verdict == verdict).count()
        };
        let counts = VERDICTS.map(|(verdict, name)| format!("{} {name}", count(verdict)));
        let mut text = HEAD
            .replace("CYCLES", &INDUCTION_CYCLES.to_string())
            .replace("SECONDS", &SECONDS_MAX.to_string())
            .replace("STEPS", &STEPS.to_string())
            .replace("COUNTS", &counts.join(", "));
        self.lines.iter().for_each(|line| text += &line.text());
        text
    }

    /// Lines of this table that the kept one says otherwise, digests apart.
    pub fn differences(&self, kept: &Table) -> Vec<String> {
        let bare = |line: &Line| Line { digest: String::new(), ..line.clone() };
        let here: Vec<Line> = self.lines.iter().map(bare).collect();
        let there: Vec<Line> = kept.lines.iter().map(bare).collect();
        differences(&here, &there, Line::text)
    }
}
