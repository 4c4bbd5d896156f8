//! `docs/properties.md`: what is stated of single blocks and how far it holds; then a line for each
//! block that offers something, with how far it is proven that what it offers stands.

use std::fs;
use std::path::PathBuf;

use crate::differences::differences;
use crate::rules::{Rule, RULES};
use crate::solver::Verdict;

const HEAD: &str = "\
# Properties that are proven of the emitted Verilog

Written by `ZERONIC_BLESS=1 cargo test --workspace --test verilog_properties`; every run compares
it.

All inputs are free, but for what is said. The emitted Verilog is examined with all its children and
memories, at the sizes of the registry (see [proofs.md](proofs.md)), by Yosys and the SMT solver
Z3. The texts stand in `sim/tests/verilog_properties/`. Each is shown to be put to the test, and to
fail on a planted fault.

- `always`: for all time, by induction over so many cycles.
- `N cycles`: in the first N cycles from power-up, in which it is put to the test.

*No write request leaves without a grant of its region's bounds* is a chain, from
`RegionCheck` to `WriteJoin`: each link is stated of its block, and what joins two links is a queue,
whose order is stated too. The other writes of the receive path go to the places reserved in the
owner's rings.

| property | block | holds | text |
|---|---|---|---|
STATED
## Streams

*What a block offers stands until it is taken*: while `valid` is high and `ready` low, `valid` and
everything beside it keep their values in the next cycle, unless a reset comes. Assumed of the
streams that enter the block, proven of those that leave it.

- `N cycles`: an offer that is not taken occurs in them.
- `N cycles, no offer`: none occurs in them, so nothing is proven.
- `needs more`: false for inputs that the block's head forbids; no assumption about them is written.
- `several clocks`: not examined here.
- `not held`: the block makes no such promise, see the rules.

Some blocks may rely on more than the rule of streams, and some streams are not held: then what is
offered *may change* until it is taken, or *may fall*. Neither is assumed of them where they enter a
block, but in the lines of `Admit`, `Placement`, `Hold`, `Copy`, `Delivery`, `ReadRequests`,
`ReadEngine`, `Requester`, `HostInterface` and `TxMerge`: these still assume that what enters
stands. A rule is the word of the block's head; only that of `Scrubber` is proven where it comes
from.

| block | rule | not held |
|---|---|---|
RULES

Of all blocks: COUNTS.

| block | streams | stands | text |
|---|---|---|---|
";

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its path and parameters.
    pub name: String,
    /// Streams that leave it.
    pub sources: usize,
    /// How far they are proven; `None` for a block with several clocks.
    pub verdict: Option<Verdict>,
    /// Of the text.
    pub digest: String,
}

/// One property of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedLine {
    /// What holds.
    pub words: String,
    /// The block.
    pub block: String,
    /// How far.
    pub verdict: Verdict,
    /// Of the text and the planted fault.
    pub digest: String,
}

/// All blocks.
#[derive(Debug, Default)]
pub struct Table {
    /// Single properties.
    pub stated: Vec<StatedLine>,
    /// In the order of the registry.
    pub lines: Vec<Line>,
}

fn words(verdict: Option<Verdict>) -> String {
    match verdict {
        None => "several clocks".to_owned(),
        Some(Verdict::Always(cycles)) => format!("always ({cycles})"),
        Some(Verdict::Bounded(depth)) => format!("{depth} cycles"),
        Some(Verdict::NotReached(depth)) => format!("{depth} cycles, no offer"),
        Some(Verdict::Fails(depth)) => format!("needs more ({depth})"),
        Some(Verdict::Undecided) => "undecided".to_owned(),
        Some(Verdict::NotHeld) => "not held".to_owned(),
    }
}

fn read(words: &str) -> Option<Option<Verdict>> {
    let number = |text: &str| text.trim_end_matches(')').parse().ok();
    Some(Some(match words.split_once(' ') {
        Some(("several", _)) => return Some(None),
        Some(("not", _)) => Verdict::NotHeld,
        Some(("always", cycles)) => Verdict::Always(number(&cycles[1..])?),
        Some(("needs", rest)) => Verdict::Fails(number(rest.split_once('(')?.1)?),
        Some((depth, "cycles")) => Verdict::Bounded(number(depth)?),
        Some((depth, _)) => Verdict::NotReached(number(depth)?),
        None => Verdict::Undecided,
    }))
}

/// A line about a block's rule.
fn rule(rule: &Rule) -> String {
    let each = |names: &[&str], what: &str| -> Vec<String> {
        let names = names.iter().map(|name| format!("`{name}` {what}"));
        names.collect()
    };
    let loose = [
        each(rule.changes, "may change"),
        each(rule.falls, "may fall"),
    ]
    .concat();
    let name = rule.block.rsplit("::").next().unwrap_or_default();
    format!("| `{name}` | {} | {} |\n", rule.because, loose.join(", "))
}

/// The kind of a verdict, as it is counted.
fn kind(verdict: Option<Verdict>) -> usize {
    match verdict {
        Some(Verdict::Always(_)) => 0,
        Some(Verdict::Bounded(_)) => 1,
        Some(Verdict::NotReached(_)) => 2,
        Some(Verdict::Fails(_)) => 3,
        Some(Verdict::Undecided) => 4,
        None => 5,
        Some(Verdict::NotHeld) => 6,
    }
}

const KINDS: [&str; 7] = [
    "always",
    "in the first cycles",
    "without an offer",
    "need more",
    "undecided",
    "several clocks",
    "not held",
];

impl StatedLine {
    fn text(&self) -> String {
        let verdict = words(Some(self.verdict));
        let (words, block, digest) = (&self.words, &self.block, &self.digest);
        format!("| {words} | `{block}` | {verdict} | {digest} |\n")
    }

    fn parsed(text: &str) -> Option<StatedLine> {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [_, words, block, verdict, digest, _] = cells[..] else {
            return None;
        };
        Some(StatedLine {
            words: words.to_owned(),
            block: block.strip_prefix('`')?.strip_suffix('`')?.to_owned(),
            verdict: read(verdict)??,
            digest: digest.to_owned(),
        })
    }
}

impl Line {
    fn text(&self) -> String {
        let verdict = words(self.verdict);
        let (name, sources, digest) = (&self.name, self.sources, &self.digest);
        format!("| `{name}` | {sources} | {verdict} | {digest} |\n")
    }

    fn parsed(text: &str) -> Option<Line> {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [_, name, sources, verdict, digest, _] = cells[..] else {
            return None;
        };
        Some(Line {
            name: name.strip_prefix('`')?.strip_suffix('`')?.to_owned(),
            sources: sources.parse().ok()?,
            verdict: read(verdict)?,
            digest: digest.to_owned(),
        })
    }
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/properties.md")
}

impl Table {
    /// The table that is kept.
    pub fn read() -> Table {
        let text = fs::read_to_string(path()).unwrap_or_default();
        Table {
            stated: text.lines().filter_map(StatedLine::parsed).collect(),
            lines: text.lines().filter_map(Line::parsed).collect(),
        }
    }

    /// The same with these properties.
    pub fn with_stated(self, lines: &[StatedLine]) -> Table {
        Table {
            stated: lines.to_vec(),
            ..self
        }
    }

    /// These lines, and those of this table for other blocks.
    pub fn with(&self, lines: &[Line]) -> Table {
        let is_other = |line: &&Line| lines.iter().all(|other| other.name != line.name);
        let others = self.lines.iter().filter(is_other);
        Table {
            stated: self.stated.clone(),
            lines: lines.iter().chain(others).cloned().collect(),
        }
    }

    /// Keeps this table.
    pub fn write(&self) {
        let count = |at: usize| {
            let lines = self.lines.iter();
            lines.filter(|line| kind(line.verdict) == at).count()
        };
        let counts = KINDS.iter().enumerate();
        let counts: Vec<String> = counts
            .map(|(at, kind)| format!("{} {kind}", count(at)))
            .collect();
        let stated: String = self.stated.iter().map(StatedLine::text).collect();
        let rules: String = RULES.iter().map(rule).collect();
        let head = HEAD.replace("STATED", &stated).replace("RULES\n", &rules);
        let mut text = head.replace("COUNTS", &counts.join(", "));
        self.lines.iter().for_each(|line| text += &line.text());
        fs::write(path(), text).expect("docs are writable");
    }

    /// Lines of this table that the kept one says otherwise, digests apart.
    pub fn differences(&self, kept: &Table) -> Vec<String> {
        let bare = |line: &Line| Line {
            digest: String::new(),
            ..line.clone()
        };
        let here: Vec<Line> = self.lines.iter().map(bare).collect();
        let there: Vec<Line> = kept.lines.iter().map(bare).collect();
        differences(&here, &there, Line::text)
    }
}
