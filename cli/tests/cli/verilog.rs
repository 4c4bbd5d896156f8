//! `zeronic verilog`: the files it writes, and what it says about a name.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use verilate::toolchain::Toolchain;

use crate::run::{expect_refusal, expect_success, folder, ROOT};

/// Writes the small card into a new folder; name and text of each file.
fn write_card(name: &str, more: &[&str]) -> BTreeMap<String, String> {
    let out = folder(name);
    let path = out.to_str().expect("a path");
    let board = ["verilog", "--board", "vcu118", "--config", "small"];
    expect_success(&[&board[..], &["--out", path], more].concat());
    files_of(&out)
}

fn files_of(folder: &Path) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(folder).expect("a folder").flatten();
    let files = files.filter(|file| file.path().is_file());
    files
        .map(|file| {
            let text = std::fs::read_to_string(file.path()).expect("a text");
            (file.file_name().to_string_lossy().into_owned(), text)
        })
        .collect()
}

fn modules(text: &str) -> Vec<&str> {
    let names = text.lines().filter_map(|line| line.strip_prefix("module "));
    names.map(|rest| rest.split([' ', '(', ';']).next().unwrap_or(rest)).collect()
}

#[test]
fn card_ports_and_manual_are_written() {
    let files = write_card("verilog", &[]);
    let top = &files["zeronic_small.v"];
    assert_eq!(modules(top), ["zeronic_small"]);
    let rows: Vec<_> = files["ports.md"].lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let name = cells[1].trim_matches('`');
        assert!(top.contains(name), "port {name} is not in the Verilog");
        assert!(!cells[4].is_empty(), "port {name} has no meaning in cli/src/card/ports.rs");
        let mut said = top.lines().filter(|line| line.starts_with("//   "));
        let said = said.find(|line| line.split_whitespace().nth(1) == Some(name));
        let (said, meaning) = (said.expect(name), cells[4]);
        let meaning = meaning.rsplit(": ").next().unwrap_or(meaning);
        assert!(said.ends_with(meaning), "{name}: '{meaning}', but {said}");
        assert!(!name.contains('$'), "port {name} is not flat");
    }
    let manual = std::fs::read_to_string(format!("{ROOT}/docs/registers.md")).expect("a file");
    assert_eq!(files["registers.md"], manual);
}

/// A smaller buffer is another card; sizes that it cannot count are refused.
#[test]
fn the_completion_buffer_can_be_named() {
    let usual = write_card("verilog_usual", &["--single-file"]);
    let (headers, bytes) = ("--completion-headers", "--completion-bytes");
    let words = ["--single-file", headers, "64", bytes, "8192"];
    let less = write_card("verilog_less", &words);
    assert!(usual["zeronic_small.v"] != less["zeronic_small.v"]);
    assert!(less["ports.md"].contains("64 completion headers and 8192 bytes"));
    for (option, value, said) in [
        (headers, "7", "for 7 completion headers and 28672 bytes"),
        (headers, "257", "for 257 completion headers"),
        (bytes, "520", "for 256 completion headers and 520 bytes"),
        (bytes, "32000", "32000 bytes: 8 to 256 and a multiple of 16"),
    ] {
        let board = ["verilog", "--board", "vcu118", "--out", "x"];
        expect_refusal(&[&board[..], &[option, value]].concat(), &["no card", said]);
    }
}

#[test]
fn each_module_is_listed_file() {
    let files = write_card("verilog_files", &[]);
    let list: Vec<&str> = files["files.f"].lines().collect();
    assert!(list.len() > 100, "{list:?}");
    assert_eq!(list.last(), Some(&"zeronic_vcu118.v"));
    let card: Vec<&str> = files["card.f"].lines().collect();
    assert_eq!(card.last(), Some(&"zeronic_small.v"));
    assert_eq!(card[..], list[..card.len()]);
    for file in &list {
        let name = file.strip_suffix(".v").expect("a Verilog file");
        assert_eq!(modules(&files[*file]), [name]);
    }
    let verilog = files.keys().filter(|name| name.ends_with(".v")).count();
    assert_eq!(verilog, list.len(), "a file that is not in the list");
}

#[test]
fn module_opens_with_name_source_and_ports() {
    let files = write_card("verilog_heads", &[]);
    for file in files["files.f"].lines() {
        let (head, body) = files[file].split_once("\nmodule ").expect("a module");
        let mut lines = head.lines().filter_map(|line| line.strip_prefix("// "));
        let (name, source) = lines.next().and_then(|l| l.split_once(": ")).expect(file);
        let path = source.split(':').next().unwrap_or_default();
        let text = std::fs::read_to_string(format!("{ROOT}/{path}")).unwrap_or_default();
        assert!(text.contains(&format!("struct {name}")), "{file}: {source}");
        assert!(lines.next().is_some_and(|l| !l.starts_with(' ')), "{file}: no sentence");
        let kinds = ["input", "output", "inout"];
        let is_port = |line: &&str| kinds.iter().any(|kind| line.trim().starts_with(kind));
        let ports = body.split(");").next().unwrap_or_default().lines().filter(is_port);
        let rows: Vec<&str> = lines.filter(|line| line.starts_with("  ")).collect();
        assert_eq!(rows.len(), ports.count(), "{file}: a port without a row");
        for row in rows {
            assert!(row.split_whitespace().count() > 3, "{file}: no meaning: {row}");
        }
    }
}

#[test]
fn single_file_has_same_modules_every_run() {
    let files = write_card("verilog_again", &[]);
    assert!(files == write_card("verilog_once_more", &[]), "runs differ");
    let single = write_card("verilog_single", &["--single-file"]);
    assert_eq!(single["files.f"], "zeronic_small.v\nzeronic_vcu118.v\n");
    assert_eq!(single["card.f"], "zeronic_small.v\n");
    let list = files["files.f"].lines();
    let apart: Vec<&str> = list.map(|file| file.trim_end_matches(".v")).collect();
    let both = [&single["zeronic_small.v"], &single["zeronic_vcu118.v"]];
    let both: Vec<&str> = both.into_iter().flat_map(|text| modules(text)).collect();
    assert_eq!(both, apart);
}

/// Beside the modules of another design none may be called as one of its own.
#[test]
fn every_module_bears_requested_prefix() {
    for (more, prefix) in
        [(&[][..], "zeronic_"), (&["--prefix", "lab7_"][..], "lab7_"), (&["--prefix", ""][..], "")]
    {
        let words = [&["--single-file"][..], more].concat();
        let files = write_card(&format!("verilog_prefix_{prefix}"), &words);
        let text = &files["zeronic_small.v"];
        let all = modules(text);
        let (top, below) = all.split_last().expect("modules");
        assert_eq!(*top, "zeronic_small");
        for module in below {
            let name = module.strip_prefix(prefix).expect(module);
            assert!(!name.starts_with("zeronic_"), "{module}");
            // Each is used: instances bear the same name.
            assert!(text.contains(&format!("\n    {module} ")), "{module}");
        }
        assert!(all.contains(&format!("{prefix}async_fifo_4_7").as_str()), "{prefix}");
    }
    for wrong in ["7_", "a-", "a b"] {
        let board = ["verilog", "--board", "vcu118", "--out", "x", "--prefix"];
        expect_refusal(&[&board[..], &[wrong]].concat(), &["--prefix", wrong]);
    }
}

/// Writes a card into a folder that holds something already.
fn write_into(out: &Path, more: &[&str]) -> BTreeMap<String, String> {
    let path = out.to_str().expect("a path");
    let board = ["verilog", "--board", "vcu118", "--out", path];
    expect_success(&[&board[..], more].concat());
    files_of(out)
}

#[test]
fn folder_holds_one_card_at_time() {
    let small = write_card("verilog_one", &["--single-file"]);
    let out = folder("verilog_two");
    write_into(&out, &["--config", "lab"]);
    std::fs::write(out.join("wrapper.v"), "module wrapper; endmodule\n").expect("a file");
    let mut files = write_into(&out, &["--config", "small", "--single-file"]);
    // What somebody has put beside it stays.
    assert!(files.remove("wrapper.v").is_some());
    assert!(files == small, "{:?}", files.keys());
    // A list of other files is not ours to replace.
    std::fs::write(out.join("files.f"), "wrapper.v\n").expect("a file");
    let path = out.to_str().expect("a path");
    let again = ["verilog", "--board", "vcu118", "--config", "small", "--out", path];
    expect_refusal(&again, &["files.f", "'wrapper.v'"]);
    assert!(out.join("wrapper.v").exists());
    std::fs::write(out.join("files.f"), "../outside.v\n").expect("a file");
    expect_refusal(&again, &["files.f", "'../outside.v'"]);
}

/// An interrupted run leaves files and a list that end anywhere.
#[test]
fn interrupted_runs_leftovers_are_replaced() {
    let out = folder("verilog_interrupted");
    let small = ["--config", "small"];
    let whole = write_into(&out, &small);
    let file = out.join("zeronic_keep_count.v");
    for bytes in [0, 10, 40] {
        std::fs::write(&file, &whole["zeronic_keep_count.v"][..bytes]).expect("a file");
        assert!(write_into(&out, &small) == whole, "{bytes} bytes of a file");
    }
    let (list, text) = (out.join("files.f"), &whole["files.f"]);
    let at = text.find("zeronic_keep_count.v").expect("a file of the list");
    for bytes in [0, at + 4, at + 19, at + 20] {
        std::fs::write(&list, &text[..bytes]).expect("a list");
        assert!(write_into(&out, &small) == whole, "{bytes} bytes of list");
    }
}

/// Tools read `files.f`: a folder that is not whole has none, and a run that fails leaves nothing.
#[test]
fn failed_run_leaves_no_partial_folder() {
    let out = folder("verilog_fails");
    let small = ["--config", "small"];
    let whole = write_into(&out, &small);
    let path = out.to_str().expect("a path");
    let words = ["verilog", "--board", "vcu118", "--out", path];
    // A file that is written late cannot be.
    let late = out.join("sim/models.v");
    std::fs::remove_file(&late).expect("a file");
    std::os::unix::fs::symlink("/nowhere/models.v", &late).expect("a link");
    expect_refusal(&[&words[..], &small].concat(), &["models.v", "No such file"]);
    let left: Vec<_> = files_of(&out).into_keys().collect();
    assert!(left.iter().all(|name| !name.ends_with(".v") && name != "files.f"), "{left:?}");
    let _ = std::fs::remove_file(&late);
    // What an interrupted run leaves is replaced.
    assert!(write_into(&out, &small) == whole);
    std::fs::rename(out.join("files.f"), out.join("files.f.part")).expect("a list");
    assert!(write_into(&out, &["--config", "small", "--single-file"]).len() < whole.len());
    assert!(!out.join("files.f.part").exists());
}

#[test]
fn foreign_files_are_not_replaced() {
    let out = folder("verilog_foreign");
    let path = out.to_str().expect("a path");
    let small = ["verilog", "--board", "vcu118", "--config", "small", "--out", path];
    for (name, text) in [
        ("zeronic_checksum.v", "module checksum; endmodule\n"),
        ("zeronic_csr.v", "`default_nettype none\n\n// Csr of another card\n"),
        ("ports.md", "# Ports\n"),
        ("registers.md", "# Register manual of another card\n"),
    ] {
        let file = out.join(name);
        std::fs::write(&file, text).expect("a file");
        expect_refusal(&small, &[name, "not written"]);
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), text);
        assert_eq!(files_of(&out).len(), 1, "{name}");
        std::fs::remove_file(&file).expect("a file");
    }
    // Its own files are, also where the list is gone.
    let whole = write_into(&out, &["--config", "small"]);
    std::fs::remove_file(out.join("files.f")).expect("a list");
    assert!(write_into(&out, &["--config", "small"]) == whole);
}

/// A card takes a gigabyte of stack, which a limit on address space may forbid.
#[test]
fn too_little_address_space_is_refused() {
    let out = folder("verilog_limit");
    let program = env!("CARGO_BIN_EXE_zeronic");
    let script = "ulimit -v 800000 && exec \"$0\" verilog --board vcu118 --out \"$1\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, program])
        .arg(&out)
        .output()
        .expect("a shell");
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.contains("no thread with a stack of"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn timing_report_names_are_explained() {
    let files = write_card("verilog_names", &[]);
    // Any register of any module will do: instances and registers are found by their text alone.
    let (instance, module) = files["zeronic_small.v"]
        .lines()
        .find_map(|line| {
            let (module, rest) = line.trim().split_once(' ')?;
            let instance = rest.strip_suffix(" (")?;
            let registers = files.get(&format!("{module}.v"))?.contains("\n    reg  [");
            registers.then_some((instance, module))
        })
        .expect("an instance with registers");
    let register = files[&format!("{module}.v")]
        .lines()
        .find_map(|line| line.trim().strip_prefix("reg  [")?.split_once("] "))
        .map(|(_, name)| name.trim_end_matches(';'))
        .expect("a register");
    let signal = format!("card/{instance}/{register}_reg[1]/D");
    let small = ["verilog", "--config", "small", "--explain"];
    let text = expect_success(&[&small[..], &[&signal]].concat());
    for part in [
        &format!("instance  {instance}\n"),
        &format!("module    {module}, {module}.v\n"),
        ", hdl/",
        ".rs:",
        "bit 1\n",
    ] {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
    let wrong = format!("{instance}/{register}x_reg[1]/D");
    expect_refusal(&[&small[..], &[&wrong]].concat(), &[instance, register, "near"]);
}

#[test]
fn wrong_configurations_and_mixtures_are_refused() {
    let explain = ["verilog", "--explain", "x", "--config"];
    expect_refusal(&[&explain[..], &["smal"]].concat(), &["smal", "small"]);
    let mixture = ["verilog", "--explain", "x", "--out", "y"];
    expect_refusal(&mixture, &["--explain", "--out"]);
    for (option, value) in [
        ("--config", "small"),
        ("--board", "vcu118"),
        ("--out", "y"),
        ("--explain", "x"),
        ("--prefix", "x"),
    ] {
        let mixture = ["verilog", "--manual", "-", option, value];
        expect_refusal(&mixture, &["--manual", option]);
    }
}

/// The card alone, in the sizes that no die holds: what the list names, and nothing else,
/// elaborates in Verilator.
#[test]
fn a_card_without_a_board_elaborates() {
    for config in ["small", "default"] {
        let out = folder(&format!("verilog_alone_{config}"));
        let path = out.to_str().expect("a path");
        let said = expect_success(&["verilog", "--config", config, "--out", path]);
        let top = format!("zeronic_{config}").replace("zeronic_default", "zeronic");
        assert!(said.contains(&format!("top module {top}")), "{said}");
        let files = files_of(&out);
        assert_eq!(files["files.f"], files["card.f"]);
        assert!(files["ports.md"].contains("for no board"), "{}", files["ports.md"]);
        let tools = Toolchain::locate().expect("Verilator");
        let output = Command::new(&tools.verilator)
            .env("VERILATOR_ROOT", &tools.root)
            .current_dir(&out)
            .args(["--lint-only", "-Wno-fatal", "--top-module", &top, "-f", "files.f"])
            .output()
            .expect("Verilator runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{config}: {error}");
    }
    let golden = ["verilog", "--golden", "--out", "y"];
    expect_refusal(&golden, &["--board"]);
}

#[test]
fn the_manual_alone_needs_no_board() {
    let manual = expect_success(&["verilog", "--manual", "-"]);
    assert!(manual.starts_with("# Register manual"), "{manual}");
}
