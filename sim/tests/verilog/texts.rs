//! The Verilog of each block of the registry: none changes unseen, and what is to change no meaning
//! is proven to change none.
//!
//! ```text
//!   registry ──> block ──> text ─┬─ digest ──> line of docs/blocks.md, compared in every run
//!                                └─ with that of an earlier commit ──> Yosys: equal?
//! ```
//! `ZERONIC_BLESS=1` writes the table. `docs/blocks.md` says how two commits are compared.

use std::env::var_os;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use hdl::emit::on_large_stack;
use skip::{skip, Need};

mod block_text;
mod equivalence;
mod table;

use crate::support;

use block_text::BlockText;
use equivalence::{prove, Verdict};
use table::{Line, Table};

/// The text of a block of the registry, if it has a kernel; and its line.
fn examine_block(entry: &blocks::Entry) -> (Option<BlockText>, Line) {
    let mut block = (entry.make)();
    block.connect_all();
    let name = entry.title();
    let random = support::run_time_of(entry, &*block);
    let has_kernel = block_text::has_kernel(&*block);
    let text = has_kernel.then(|| BlockText::of(&*block, name.clone()));
    let line = Line::new(name, text.as_ref(), random);
    (text, line)
}

/// Every block of the registry.
fn all() -> Vec<(Option<BlockText>, Line)> {
    let halves = blocks::BLOCKS.split_at(blocks::BLOCKS.len() / 2);
    let of = |entries: &[blocks::Entry]| {
        entries.iter().map(|entry| on_large_stack(|| examine_block(entry))).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| of(halves.0));
        let mut all = of(halves.1);
        let mut both = first.join().expect("its texts");
        both.append(&mut all);
        both
    })
}

#[test]
fn no_text_changes_unseen() {
    let table = Table { lines: all().into_iter().map(|(_, line)| line).collect() };
    if seed::blesses() {
        table.write();
        return;
    }
    let differences = table.differences(&Table::read());
    assert!(
        differences.is_empty(),
        "docs/blocks.md says otherwise (ZERONIC_BLESS=1 writes it anew): {differences:#?}"
    );
}

/// The file of a block's text.
fn file(folder: &std::ffi::OsStr, name: &str) -> PathBuf {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    PathBuf::from(folder).join(letters.collect::<String>() + ".v")
}

/// `ZERONIC_TEXTS=FOLDER` keeps the texts for a later commit.
#[test]
fn texts_are_kept() {
    let Some(folder) = var_os("ZERONIC_TEXTS") else {
        return skip(Need::ChosenBlock, "ZERONIC_TEXTS is a folder for the texts of all blocks");
    };
    fs::create_dir_all(&folder).expect("a folder");
    for text in all().into_iter().filter_map(|(text, _)| text) {
        fs::write(file(&folder, &text.name), text.text).expect("writes");
    }
}

/// `ZERONIC_BEFORE=FOLDER` compares with what [`texts_are_kept`] has kept there. A block that is
/// new is named; one whose text is as it was has nothing to be proven.
#[test]
fn what_changed_means_the_same() {
    let Some(folder) = var_os("ZERONIC_BEFORE") else {
        return skip(Need::ChosenBlock, "ZERONIC_BEFORE is a folder of earlier texts");
    };
    let texts: Vec<BlockText> = all().into_iter().filter_map(|(text, _)| text).collect();
    let next = AtomicUsize::new(0);
    let run = |scratch: &str| {
        let mut unproven = Vec::new();
        while let Some(after) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Ok(before) = fs::read_to_string(file(&folder, &after.name)) else {
                println!("{}: new", after.name);
                continue;
            };
            if before != after.text {
                let verdict = prove([&before, &after.text], &after.children, scratch);
                println!("{}: {verdict:?}", after.name);
                if verdict != Verdict::Equal {
                    unproven.push(format!("{}: {verdict:?}", after.name));
                }
            }
        }
        unproven
    };
    let unproven = std::thread::scope(|scope| {
        let other = scope.spawn(|| run("change_0"));
        [run("change_1"), other.join().expect("its blocks")].concat()
    });
    assert!(unproven.is_empty(), "{unproven:#?}");
}

/// The text of a block by its name in the registry.
fn text_of(name: &str) -> BlockText {
    let entry = blocks::BLOCKS.iter().find(|entry| entry.name == name);
    let entry = entry.unwrap_or_else(|| panic!("no block {name}"));
    on_large_stack(|| examine_block(entry).0.expect("has a kernel"))
}

#[test]
fn a_changed_operator_is_not_equal() {
    let text = text_of("ip::keep_count::KeepCount");
    let changed = text.text.replacen(" | ", " & ", 1);
    assert_ne!(changed, text.text);
    assert_eq!(prove([&text.text, &text.text], &text.children, "mutant"), Verdict::Equal);
    assert_eq!(prove([&text.text, &changed], &text.children, "mutant"), Verdict::Undecided);
}

#[test]
fn changed_child_input_is_not_equal() {
    let text = text_of("stream::fifo::Fifo");
    assert!(!text.children.is_empty(), "the FIFO has a memory");
    let changed = text.text.replacen(".write_enable(", ".write_enable(~", 1);
    assert_ne!(changed, text.text);
    assert_eq!(prove([&text.text, &text.text], &text.children, "mutant_child"), Verdict::Equal);
    assert_eq!(prove([&text.text, &changed], &text.children, "mutant_child"), Verdict::Undecided);
}
