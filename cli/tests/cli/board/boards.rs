//! `zeronic board`, and what `zeronic verilog` writes for each board.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use board::boards::BOARDS;
use verilate::toolchain::{vivado_help, Yosys};

use crate::run::{expect_refusal, expect_success, folder, ROOT};

#[test]
fn every_board_is_listed_and_shown() {
    let list = expect_success(&["board", "list"]);
    for board in BOARDS {
        let row = list.lines().find(|line| line.contains(board.part));
        assert!(row.is_some_and(|row| row.contains(board.name)), "{list}");
        let text = expect_success(&["board", "show", board.name]);
        for pad in board.pads {
            let row = text.lines().find(|line| line.contains(&format!(" {} ", pad.port)));
            let row = row.unwrap_or_else(|| panic!("{}: no {}", board.name, pad.port));
            let first = pad.pins[0];
            assert!(row.contains(first) && row.contains(pad.source.name()), "{row}");
        }
        for note in board.notes {
            assert!(text.contains(note), "{text}");
        }
        for alias in board.aliases {
            assert_eq!(expect_success(&["board", "show", alias]), text);
        }
    }
}

#[test]
fn unknown_board_is_refused_with_known_ones() {
    for command in [
        &["board", "show", "u2000"][..],
        &["verilog", "--board", "u2000", "--config", "small", "--out", "x"],
    ] {
        expect_refusal(command, &["'u2000'", "vcu118", "bcu1525", "u55n", "c1100"]);
    }
    expect_refusal(&["board", "dance"], &["'dance'"]);
    expect_refusal(&["board", "show"], &["BOARD"]);
}

/// All files below a folder, by their path in it.
fn below(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let inside = below(&entry.path()).into_iter();
            files.extend(inside.map(|(path, text)| (format!("{name}/{path}"), text)));
        } else {
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            files.insert(name, text);
        }
    }
    files
}

/// Writes a board with a small card into a folder that may hold something.
fn write_into(out: &Path, board: &str) -> BTreeMap<String, String> {
    let path = out.to_str().expect("a path");
    expect_success(&["verilog", "--config", "small", "--board", board, "--out", path]);
    below(out)
}

#[test]
fn board_folder_has_top_scripts_and_constraints() {
    let out = folder("board_files");
    for board in ["u55n", "vcu118"] {
        // The second one finds the files of the first in its folder.
        let files = write_into(&out, board);
        for name in ["board.tcl", "build.tcl", "ip.tcl", "sim/models.v"] {
            assert!(files.contains_key(name), "{name}");
        }
        let tops = files.keys().filter(|name| name.starts_with("zeronic_u55n"));
        assert_eq!(tops.count(), usize::from(board == "u55n"));
        let top = &files[&format!("zeronic_{board}.v")];
        assert!(top.contains(&format!("module zeronic_{board} (")));
        let kept = below(Path::new(&format!("{ROOT}/constraints/{board}")));
        assert_eq!(kept.len(), 4);
        for (name, text) in kept {
            assert_eq!(files[&format!("constraints/{name}")], text, "{board}: {name}");
        }
        assert!(files == write_into(&folder("board_again"), board), "{board}: runs differ");
    }
}

/// Vivado's part is played by a script that knows its commands and resolves every name: pins,
/// cells and clocks of a board of each kind of top.
#[test]
fn board_build_ends_with_every_name_found() {
    for board in ["vcu118", "u250", "u280", "u55c"] {
        let out = folder(&format!("board_build_{board}"));
        write_into(&out, board);
        let output = Command::new("tclsh")
            .arg(format!("{ROOT}/ci/vivado/replay.tcl"))
            .arg(out.join("build.tcl"))
            .env("YOSYS", Yosys::locate().expect("Yosys").program)
            .env("VIVADO_HELP", vivado_help().expect("Vivado's help"))
            .output()
            .expect("tclsh runs; Debian's package is `tcl`");
        let text = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{board}: {text}\n{error}");
        assert!(text.contains("write_bitstream"), "{board}: {text}");
    }
}

#[test]
fn card_too_large_for_die_is_refused() {
    let out = folder("board_full");
    let path = out.to_str().expect("a path");
    let default = ["verilog", "--config", "default", "--board", "u55n", "--out", path];
    expect_refusal(
        &default,
        &["'default'", "376 URAM", "u55n", "320", "default-slices, lab, small"],
    );
    assert_eq!(below(&out).len(), 0);
}

#[test]
fn default_sizes_fit_list_in_neighbour_die() {
    let out = folder("board_far");
    let path = out.to_str().expect("a path");
    expect_success(&["verilog", "--config", "default-slices", "--board", "vcu118", "--out", path]);
    let floorplan = std::fs::read_to_string(out.join("constraints/floorplan.xdc"));
    let floorplan = floorplan.expect("a floorplan");
    for line in [
        "resize_pblock [get_pblocks pblock_core] -add {SLR1}",
        "resize_pblock [get_pblocks pblock_list] -add {SLR0}",
        "[get_cells { shell/card/datapath/tables/rx_list }]",
        "resize_pblock [get_pblocks pblock_reach] -add {SLR1 SLR0}",
    ] {
        assert!(floorplan.contains(line), "{line} is not in {floorplan}");
    }
}

#[test]
fn golden_image_is_written_where_ours() {
    let out = folder("board_golden");
    let path = out.to_str().expect("a path");
    expect_success(&["verilog", "--golden", "--board", "vcu118", "--out", path]);
    let script = std::fs::read_to_string(out.join("board.tcl")).expect("a script");
    for line in ["zeronic_golden_vcu118", "zeronic_golden_offset", "0x04000000"] {
        assert!(script.contains(line), "{line} is not in {script}");
    }
    assert!(!script.contains("zeronic_card"), "{script}");
    let files = below(&out);
    assert!(files.keys().all(|name| !name.contains("mac")), "{files:?}");
    expect_refusal(
        &["verilog", "--golden", "--board", "u200", "--out", path],
        &["u200", "factory image", "vcu118, vcu1525"],
    );
    expect_refusal(
        &["verilog", "--golden", "--config", "small", "--board", "vcu118", "--out", path],
        &["--golden", "--config"],
    );
}

#[test]
fn foreign_constraints_are_not_replaced() {
    let out = folder("board_foreign");
    std::fs::create_dir(out.join("constraints")).expect("a folder");
    let file = out.join("constraints/pins.xdc");
    std::fs::write(&file, "set_property LOC A1 [get_ports x]\n").expect("a file");
    let path = out.to_str().expect("a path");
    let small = ["verilog", "--config", "small", "--board", "vcu118", "--out", path];
    expect_refusal(&small, &["constraints/pins.xdc", "not written"]);
}
