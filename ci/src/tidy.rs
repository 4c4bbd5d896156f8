//! The project's own limits. Each finding says what to do instead.
//!
//! | rule | limit | where |
//! |---|---|---|
//! | line | 100 columns | every Rust file |
//! | file | 500 lines | code without its tests; a file of tests |
//! | function | 70 lines | every Rust file; kernels without `if`, `match`, `for` only connect |
//! | line of a document | 300 characters | every Markdown file |
//! | head | starts with `//!` | every Rust file |
//! | unwrap | none | code outside tests |
//! | words | none of `BANNED` | every Rust file, this one apart |
//! | unsafe | a `SAFETY` comment before it | every Rust file |
//! | circle | none of `use` between files, none between folders | code outside tests |
//! | doc | none of `FILLERS` as a whole doc comment | every Rust file, this one apart |
//! | block head | states `Timing:`, has no port table | files with a block |
//! | module | `name.rs` beside `name/`, no `mod.rs` | code outside tests |
//! | folder | 25 files | code; tests |
//!
//! Tests are files in a folder `tests` or called `tests.rs`, and items under `#[cfg(test)]`.
//! A function of tests may be longer where `// Long: ` and the reason stand in it, a file of tests
//! where they stand before its first function. There is no list of exceptions.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sources::Source;

use crate::circles;
use crate::untested;
use crate::walk;

const COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;

/// Most characters in a line of a document.
const DOCUMENT_COLUMNS_MAX: usize = 300;

/// What begins the reason why a test is longer than the limit.
const LONG: &str = "// Long: ";
/// Fewest characters of such a reason.
const REASON_LEAST: usize = 10;

/// Lines above an `unsafe` in which its `SAFETY` comment may stand.
const SAFETY_LINES: usize = 8;

/// Words that must not land, and what to do instead.
const BANNED: &[(&str, &str)] = &[
    ("todo!", "finish it, or return an error that says what is not supported"),
    ("unimplemented!", "finish it, or return an error that says what is not supported"),
    ("dbg!", "remove it, or assert what you looked at"),
    ("FIXME", "fix it, or open an issue and describe the limit in a sentence"),
    ("TODO", "do it, or open an issue and describe the limit in a sentence"),
    ("XXX", "say in a sentence what is odd"),
    ("HACK", "say in a sentence why it has to be so"),
    ("#[ignore", "delete the test, or make it fast enough to run"),
];

/// Doc comments that say nothing where they are shown alone.
const FILLERS: &[&str] =
    &["Likewise.", "The same.", "This.", "Clock.", "Whose.", "Its tag.", "Reset."];

/// Most source files in a folder.
const FOLDER_FILES_MAX: usize = 25;

/// Whether a line of code decides or repeats anything.
fn decides(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    matches!(first, "if" | "match" | "for" | "while" | "loop") || line.contains("else")
}

/// One breach of a limit.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, relative to the workspace.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do instead.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.message)
    }
}

/// Judges every Rust file of the workspace.
pub fn check_workspace() -> anyhow::Result<Vec<Finding>> {
    let root = walk::workspace();
    let files = sources::files(root, ".rs")?;
    let mut findings = Vec::new();
    for file in &files {
        let text = fs::read_to_string(root.join(file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        let source = Source::new(&text)
            .map_err(|error| anyhow::anyhow!("{} is no Rust: {error}", file.display()))?;
        findings.extend(check_file(file, &source));
        findings.extend(untested::find(root, file, &source).map(|line| Finding {
            file: file.clone(),
            line,
            message: "a test that never runs: the library has `test = false`".to_owned(),
        }));
    }
    for file in sources::files(root, ".md")? {
        let text = fs::read_to_string(root.join(&file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        findings.extend(check_document(&file, &text));
    }
    findings.extend(circles::find(root, &files)?.iter().map(circle_finding));
    findings.extend(check_folders(&files));
    Ok(findings)
}

/// Judges how files lie in folders.
fn check_folders(files: &[PathBuf]) -> Vec<Finding> {
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files {
        *counts.entry(file.parent().unwrap_or(file)).or_default() += 1;
        if file.ends_with("mod.rs") {
            let message = "`mod.rs`: call it by the module's name, beside its folder".to_owned();
            let file = file.clone();
            findings.push(Finding { file, line: 1, message });
        }
    }
    for (folder, count) in counts {
        if count > FOLDER_FILES_MAX {
            let message = format!(
                "{count} source files, limit {FOLDER_FILES_MAX}: make a folder for what belongs \
                 together"
            );
            let file = folder.to_path_buf();
            findings.push(Finding { file, line: 1, message });
        }
    }
    findings
}

fn is_test_file(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "tests")
        || file.file_name().is_some_and(|name| name == "tests.rs")
}

/// Judges one document.
fn check_document(file: &Path, text: &str) -> Vec<Finding> {
    let lengths = text.lines().map(|line| line.chars().count()).enumerate();
    let long = lengths.filter(|(_, length)| *length > DOCUMENT_COLUMNS_MAX);
    let finding = |(index, length)| Finding {
        file: file.to_path_buf(),
        line: index + 1,
        message: format!("{length} characters, limit {DOCUMENT_COLUMNS_MAX}: wrap the line"),
    };
    long.map(finding).collect()
}

fn circle_finding(circle: &circles::Circle) -> Finding {
    let names: Vec<String> = circle.iter().map(|it| it.display().to_string()).collect();
    let message = format!(
        "circle of `use` between {}: move what they both need into a file or folder of its own",
        names.join(", ")
    );
    Finding { file: circle.first().cloned().unwrap_or_default(), line: 1, message }
}

/// Judges one file.
pub fn check_file(file: &Path, source: &Source) -> Vec<Finding> {
    let mut is_test = source.test_lines();
    if is_test_file(file) {
        is_test.fill(true);
    }
    let mut judge = Judge { file, source, is_test: &is_test, findings: Vec::new() };
    judge.head();
    judge.block_head();
    judge.file_length();
    judge.function_lengths();
    for index in 0..source.text.len() {
        judge.columns(index);
        judge.words(index);
        judge.filler(index);
        judge.unwrap(index);
        judge.safety(index);
    }
    judge.findings.sort_by_key(|finding| finding.line);
    judge.findings
}

struct Judge<'a> {
    file: &'a Path,
    source: &'a Source,
    is_test: &'a [bool],
    findings: Vec<Finding>,
}

impl Judge<'_> {
    fn report(&mut self, index: usize, message: String) {
        self.findings.push(Finding { file: self.file.to_path_buf(), line: index + 1, message });
    }

    fn head(&mut self) {
        if !self.source.text.first().is_some_and(|line| line.starts_with("//!")) {
            self.report(0, "no head: start with one `//!` sentence that says what this is".into());
        }
    }

    /// A block's head lets a stranger write its test bench: ports are documented at the fields.
    fn block_head(&mut self) {
        let is_block = |line: &String| line.starts_with("#[derive(LogicBlock");
        let in_hardware = self.file.starts_with("hdl") && !is_test_file(self.file);
        if !in_hardware || !self.source.code.iter().any(is_block) {
            return;
        }
        let text = &self.source.text;
        let head: Vec<String> =
            text.iter().take_while(|line| line.starts_with("//!")).cloned().collect();
        if !head.iter().any(|line| line.contains("Timing")) {
            let message = "no `Timing:` in the head: say latency and throughput, or that it is \
                           combinational";
            self.report(0, message.into());
        }
        if let Some(index) = head.iter().position(|line| line.starts_with("//! | port")) {
            let message = "a table of ports: say it at the fields, which are the list of ports";
            self.report(index, message.into());
        }
    }

    fn filler(&mut self, index: usize) {
        if self.file.ends_with("ci/src/tidy.rs") {
            return;
        }
        let lines = &self.source.text;
        let is_alone = index == 0 || doc_text(&lines[index - 1]).is_none();
        let text = doc_text(&lines[index]).filter(|_| is_alone);
        if let Some(text) = text.filter(|text| FILLERS.contains(text)) {
            self.report(index, format!("`{text}` says nothing where it is shown alone"));
        }
    }

    fn file_length(&mut self) {
        let is_test = is_test_file(self.file);
        let lines = self.is_test.iter().filter(|line| **line == is_test).count();
        let functions = self.source.functions();
        let head = functions.first().map_or(self.source.text.len(), |first| first.lines.start);
        if lines > FILE_LINES_MAX && !(is_test && self.has_reason(0..head)) {
            let which = if is_test { "of tests" } else { "without tests" };
            let message =
                format!("{lines} lines {which}, limit {FILE_LINES_MAX}: split the file by noun");
            self.report(0, message);
        }
    }

    /// Whether these lines say why they are longer than the limit.
    fn has_reason(&self, mut lines: Range<usize>) -> bool {
        lines.any(|index| {
            let reason = self.source.text[index].trim().strip_prefix(LONG);
            reason.is_some_and(|reason| reason.len() >= REASON_LEAST)
        })
    }

    fn function_lengths(&mut self) {
        for function in self.source.functions() {
            let lines = function.lines.len();
            let code = &self.source.code[function.lines.clone()];
            let only_connects = function.name == "update" && !code.iter().any(|line| decides(line));
            let may = self.is_test[function.lines.start] && self.has_reason(function.lines.clone());
            if lines > FUNCTION_LINES_MAX && !may && !only_connects {
                let message = format!(
                    "`{}` has {lines} lines, limit {FUNCTION_LINES_MAX}: \
                     move a part into a function or child block of its own",
                    function.name
                );
                self.report(function.lines.start, message);
            }
        }
    }

    fn columns(&mut self, index: usize) {
        let columns = self.source.text[index].chars().count();
        if columns > COLUMNS_MAX {
            self.report(index, format!("{columns} columns, limit {COLUMNS_MAX}: wrap the line"));
        }
    }

    fn words(&mut self, index: usize) {
        if self.file.ends_with("ci/src/tidy.rs") {
            return;
        }
        for (word, instead) in BANNED {
            if contains_word(&self.source.text[index], word) {
                self.report(index, format!("`{word}` is banned: {instead}"));
            }
        }
    }

    fn unwrap(&mut self, index: usize) {
        if !self.is_test[index] && self.source.code[index].contains(".unwrap()") {
            let message = "`unwrap` outside tests: return an error, or `expect` with the reason \
                           why it cannot fail";
            self.report(index, message.into());
        }
    }

    fn safety(&mut self, index: usize) {
        let code = &self.source.code[index];
        if !["unsafe {", "unsafe impl"].iter().any(|form| code.contains(form)) {
            return;
        }
        let above = &self.source.text[index.saturating_sub(SAFETY_LINES)..=index];
        if !above.iter().any(|line| line.contains("// SAFETY:")) {
            let message = "`unsafe` without reason: write `// SAFETY:` above it, what holds and \
                           who keeps it";
            self.report(index, message.into());
        }
    }
}

/// The text of a line that is a doc comment.
fn doc_text(line: &str) -> Option<&str> {
    line.trim().strip_prefix("/// ")
}

/// True if `word` stands in `line` and is not the middle or end of a longer word.
fn contains_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(position, _)| {
        let before = line[..position].chars().next_back();
        let after = line[position + word.len()..].chars().next();
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let ends_open = word.chars().next_back().is_some_and(char::is_alphanumeric);
        let is_part = joins(before) || (ends_open && joins(after));
        !is_part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(file: &str, text: &str) -> Vec<String> {
        let source = Source::new(text).expect("Rust");
        check_file(Path::new(file), &source).iter().map(ToString::to_string).collect()
    }

    fn one(text: &str) -> String {
        let found = messages("a/src/lib.rs", text);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    #[test]
    fn workspace_is_tidy() {
        let findings = check_workspace().expect("the workspace is readable");
        let list: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(list.is_empty(), "{} findings:\n{}", list.len(), list.join("\n"));
    }

    #[test]
    fn clean_file_has_no_finding() {
        assert!(messages("a/src/lib.rs", "//! A head.\n\nfn f() {}\n").is_empty());
    }

    #[test]
    fn missing_head_is_found() {
        assert!(one("fn f() {}\n").starts_with("a/src/lib.rs:1: no head"));
    }

    #[test]
    fn long_line_is_found_limit_is_not() {
        assert!(messages("a.rs", &format!("//! {}\n", "x".repeat(96))).is_empty());
        assert!(one(&format!("//! {}\n", "é".repeat(97))).contains("101 columns"));
    }

    #[test]
    fn long_function_is_named() {
        let body = "    f();\n".repeat(FUNCTION_LINES_MAX - 1);
        let text = format!("//! H\nfn long() {{\n{body}}}\n");
        assert!(one(&text).starts_with("a/src/lib.rs:2: `long` has 71 lines"));
        assert!(messages("a/tests/x.rs", &text)[0].contains("`long` has 71 lines"));
        let text = text.replacen("    f();", "    // Long: one script of events.", 1);
        assert!(messages("a/tests/x.rs", &text).is_empty());
        assert_eq!(messages("a/src/lib.rs", &text).len(), 1);
    }

    #[test]
    fn long_document_line_is_found() {
        let found = |text: &str| check_document(Path::new("a.md"), text).len();
        let long = "x".repeat(DOCUMENT_COLUMNS_MAX + 1);
        assert_eq!(found(&long), 1);
        assert_eq!(found(&long[1..]), 0);
    }

    #[test]
    fn long_kernel_may_only_connect() {
        let wires = "    a.b.next = c.d.val();\n".repeat(FUNCTION_LINES_MAX);
        let kernel = |last: &str| format!("//! H\nfn update() {{\n{wires}{last}}}\n");
        assert!(messages("a/src/lib.rs", &kernel("")).is_empty());
        assert!(one(&kernel("    if x {\n    }\n")).contains("`update` has"));
    }

    #[test]
    fn long_file_is_found_without_tests() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(600));
        assert!(messages("a.rs", &format!("//! H\n{tests}")).is_empty());
        let lines = "// x\n".repeat(500);
        assert!(messages("a/tests/b.rs", &format!("//! H\n{lines}"))[0].contains("501 lines of"));
        let why = format!("//! H\n// Long: a table of cases.\n{lines}");
        assert!(messages("a/tests/b.rs", &why).is_empty());
        // That of a function is none of its file.
        let within = format!("//! H\nfn f() {{\n// Long: a table of cases.\n}}\n{lines}");
        assert_eq!(messages("a/tests/b.rs", &within).len(), 1);
        assert!(one(&format!("//! H\n{}{tests}", "// x\n".repeat(500))).contains("501 lines"));
    }

    #[test]
    fn unwrap_is_found_in_code_only() {
        assert!(one("//! H\nfn f() { g().unwrap(); }\n").contains("`expect` with the reason"));
        let test =
            "//! H\n// .unwrap()\n#[cfg(test)]\nmod tests {\n    fn f() { g().unwrap() }\n}\n";
        assert!(messages("a.rs", test).is_empty());
    }

    #[test]
    fn banned_words_are_found_with_advice() {
        for (word, instead) in BANNED {
            assert!(one(&format!("//! H\n// {word}\n")).contains(instead), "{word}");
        }
        assert!(messages("a.rs", "//! H TODOS\nfn mastodon_todo() {}\n").is_empty());
    }

    #[test]
    fn empty_doc_is_found_where_alone() {
        for filler in FILLERS {
            let text = format!("//! H\n/// {filler}\npub fn f() {{}}\n");
            assert!(one(&text).contains("says nothing"), "{filler}");
            let text = format!("//! H\n/// Two lines,\n/// {filler}\npub fn f() {{}}\n");
            assert!(messages("a/src/lib.rs", &text).is_empty(), "{filler}");
        }
    }

    #[test]
    fn block_head_has_timing_and_no_ports() {
        let block =
            |head: &str| format!("//! H\n{head}\n#[derive(LogicBlock)]\npub struct B {{}}\n");
        let found = |head: &str| messages("hdl/dma/src/b.rs", &block(head));
        assert!(found("")[0].contains("no `Timing:`"));
        assert!(found("//! Timing: combinational.").is_empty());
        let table = "//! | port | duty |\n//! Timing: combinational.";
        assert!(found(table)[0].contains("a table of ports"));
        assert!(messages("sim/src/b.rs", &block("")).is_empty());
    }

    #[test]
    fn full_folder_and_mod_are_found() {
        let file = |number: usize| PathBuf::from(format!("a/src/f{number}.rs"));
        let files: Vec<PathBuf> = (0..FOLDER_FILES_MAX).map(file).collect();
        assert!(check_folders(&files).is_empty());
        let more: Vec<PathBuf> = (0..=FOLDER_FILES_MAX).map(file).collect();
        assert!(check_folders(&more)[0].message.starts_with("26 source files"));
        let found = check_folders(&["a/src/b/mod.rs".into(), "a/tests/b/mod.rs".into()]);
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|it| it.message.starts_with("`mod.rs`")));
    }

    #[test]
    fn unsafe_needs_its_reason() {
        assert!(one("//! H\nfn f() { unsafe { g() } }\n").contains("SAFETY"));
        let good = "//! H\nfn f() {\n    // SAFETY: g is fine.\n    unsafe { g() }\n}\n";
        assert!(messages("a.rs", good).is_empty());
    }
}
