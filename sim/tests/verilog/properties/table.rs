//! `docs/properties.md`: what is stated of single blocks and how far it holds; then a line for each
//! block that offers something, with how far it is proven that what it offers stands.

use std::fs;
use std::path::PathBuf;

use crate::properties::rules::{self, Rule};
use crate::properties::solver::Verdict;
use crate::support::differences::differences;

const HEAD: &str = "\
# Properties that are proven of the emitted Verilog

Written by `ZERONIC_BLESS=1 cargo test --workspace --test verilog properties::`; every run compares
it.

All inputs are free, but for what is said. The emitted Verilog is examined with all its children and
memories, at the sizes of the registry (see [blocks.md](blocks.md)), by Yosys and the SMT solver
Z3. The texts stand in `sim/tests/verilog/properties/`. Each is shown to be put to the test, and to
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

A block is examined with its own logic and *parts*: those blocks in it that have a line of their
own. Of a part only what its line says is known: the streams that leave it stand, and everything
else that it gives may be anything. What its line assumes, its streams and its rule, has to be
proven where it stands. So no assumption is left but those of the card's own ports, those that the
next table says are proven nowhere, and those of the parts of a block that `needs more`. In one
cycle this is no circle: where an output fails, an input has failed on which it depends in that
cycle, and there are no combinational loops.

All clocks of a block are one here. What crosses between two clocks is anything; that it crosses
rightly is shown by `sim/tests/verilog/crossings`. While the whole is in reset, no offer of a part
needs to stand: its own reset may come a cycle later.

- `N cycles`: an offer that is not taken occurs in them.
- `N cycles, no offer`: none occurs in them, so nothing is proven.
- `needs more`: it fails, for inputs that the block's head forbids or in states that no part's line
  excludes.
- `not held`: the block makes no such promise, see the rules.
- `caught`: where it holds, the block is shown to fail that reads inverted whether one of its offers
  is taken. Elsewhere there is no offer to invert.

Each answer takes the same steps of the solver on each machine.

A rule is the word of the block's head: on what else it relies, and what else it says for those that
rely on it. A stream that is not held *may change* until it is taken, or *may fall*: where it enters
a block, that is not relied on.

| block | rule | not held | proven nowhere |
|---|---|---|---|
RULES

Of all blocks: COUNTS.

| block | streams | parts | stands | planted | text |
|---|---|---|---|---|---|
";

/// One block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its path and parameters.
    pub name: String,
    /// Streams that leave it.
    pub sources: usize,
    /// Its parts.
    pub parts: usize,
    /// How far it is proven.
    pub verdict: Verdict,
    /// A planted fault is found.
    pub is_caught: bool,
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

fn words(verdict: Verdict) -> String {
    match verdict {
        Verdict::Always(cycles) => format!("always ({cycles})"),
        Verdict::Bounded(depth) => format!("{depth} cycles"),
        Verdict::NotReached(depth) => format!("{depth} cycles, no offer"),
        Verdict::Fails(depth) => format!("needs more ({depth})"),
        Verdict::Undecided => "undecided".to_owned(),
        Verdict::NotHeld => "not held".to_owned(),
    }
}

fn read(words: &str) -> Option<Verdict> {
    let number = |text: &str| text.trim_end_matches(')').parse().ok();
    Some(match words.split_once(' ') {
        Some(("not", _)) => Verdict::NotHeld,
        Some(("always", cycles)) => Verdict::Always(number(&cycles[1..])?),
        Some(("needs", rest)) => Verdict::Fails(number(rest.split_once('(')?.1)?),
        Some((depth, "cycles")) => Verdict::Bounded(number(depth)?),
        Some((depth, _)) => Verdict::NotReached(number(depth)?),
        None => Verdict::Undecided,
    })
}

/// A line about a block's rule.
fn rule(rule: &Rule) -> String {
    let each = |names: &[&str], what: &str| -> Vec<String> {
        let names = names.iter().map(|name| format!("`{name}` {what}"));
        names.collect()
    };
    let loose = [each(rule.changes, "may change"), each(rule.falls, "may fall")].concat();
    let trusted = if rule.trusts.is_empty() { "" } else { "what it relies on" };
    let name = rule.block.rsplit("::").next().unwrap_or_default();
    let (because, loose) = (rule.because, loose.join(", "));
    format!("| `{name}` | {because} | {loose} | {trusted} |\n")
}

/// The kind of a verdict, as it is counted.
fn kind(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Always(_) => 0,
        Verdict::Bounded(_) => 1,
        Verdict::NotReached(_) => 2,
        Verdict::Fails(_) => 3,
        Verdict::Undecided => 4,
        Verdict::NotHeld => 5,
    }
}

const KINDS: [&str; 6] =
    ["always", "in the first cycles", "without an offer", "need more", "undecided", "not held"];

impl StatedLine {
    fn text(&self) -> String {
        let verdict = words(self.verdict);
        let (words, block, digest) = (&self.words, &self.block, &self.digest);
        format!("| {words} | `{block}` | {verdict} | {digest} |\n")
    }

    fn parsed(text: &str) -> Option<StatedLine> {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [_, words, block, verdict, digest, _] = cells[..] else {
            return None;
        };
        // A rule has as many cells, and no path of a block.
        if !block.contains("::") {
            return None;
        }
        Some(StatedLine {
            words: words.to_owned(),
            block: block.strip_prefix('`')?.strip_suffix('`')?.to_owned(),
            verdict: read(verdict)?,
            digest: digest.to_owned(),
        })
    }
}

impl Line {
    fn text(&self) -> String {
        let (name, sources, parts, digest) = (&self.name, self.sources, self.parts, &self.digest);
        let verdict = words(self.verdict);
        let caught = if self.is_caught { "caught" } else { "" };
        format!("| `{name}` | {sources} | {parts} | {verdict} | {caught} | {digest} |\n")
    }

    fn parsed(text: &str) -> Option<Line> {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let [_, name, sources, parts, verdict, caught, digest, _] = cells[..] else {
            return None;
        };
        Some(Line {
            name: name.strip_prefix('`')?.strip_suffix('`')?.to_owned(),
            sources: sources.parse().ok()?,
            parts: parts.parse().ok()?,
            is_caught: caught == "caught",
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
        Table { stated: lines.to_vec(), ..self }
    }

    /// These lines, and those of this table for other blocks.
    pub fn with(&self, lines: &[Line]) -> Table {
        let is_other = |line: &&Line| lines.iter().all(|other| other.name != line.name);
        let others = self.lines.iter().filter(is_other);
        Table { stated: self.stated.clone(), lines: lines.iter().chain(others).cloned().collect() }
    }

    /// Keeps this table.
    pub fn write(&self) {
        let count = |at: usize| {
            let lines = self.lines.iter();
            lines.filter(|line| kind(line.verdict) == at).count()
        };
        let counts = KINDS.iter().enumerate();
        let counts: Vec<String> =
            counts.map(|(at, kind)| format!("{} {kind}", count(at))).collect();
        let stated: String = self.stated.iter().map(StatedLine::text).collect();
        let rules: String = rules::all().map(rule).collect();
        let head = HEAD.replace("STATED", &stated).replace("RULES\n", &rules);
        let mut text = head.replace("COUNTS", &counts.join(", "));
        self.lines.iter().for_each(|line| text += &line.text());
        fs::write(path(), text).expect("docs are writable");
    }

    /// Blocks whose offers are proven to stand, without a planted fault that is found.
    pub fn uncaught(&self) -> Vec<&str> {
        let holds = |line: &&Line| matches!(line.verdict, Verdict::Always(_) | Verdict::Bounded(_));
        let lines = self.lines.iter().filter(holds);
        let lines = lines.filter(|line| line.sources > 0 && !line.is_caught);
        lines.map(|line| line.name.as_str()).collect()
    }

    /// Lines of this table that the kept one says otherwise, digests apart.
    pub fn differences(&self, kept: &Table) -> Vec<String> {
        let bare = |line: &Line| Line { digest: String::new(), ..line.clone() };
        let here: Vec<Line> = self.lines.iter().map(bare).collect();
        let there: Vec<Line> = kept.lines.iter().map(bare).collect();
        differences(&here, &there, Line::text)
    }
}
