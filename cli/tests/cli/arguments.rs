//! Wrong commands, files and values: one line that names the value, exit status 2.

use crate::run::{example, expect_refusal, expect_success, folder};

#[test]
fn help_and_version_are_no_errors() {
    assert!(expect_success(&["--help"]).contains("verilog"));
    assert!(expect_success(&["sim", "--help"]).contains("--flows"));
    assert!(expect_success(&["--version"]).starts_with("zeronic "));
}

/// Each command says what its exit status means; those of their own have tests of their own.
#[test]
fn every_command_says_its_exit_statuses() {
    let all = expect_success(&["--help"]);
    let (_, commands) = all.split_once("Commands:\n").expect("a list");
    let commands = commands.lines().take_while(|line| !line.is_empty());
    let names = commands.filter_map(|line| {
        let name = line.strip_prefix("  ")?;
        (!name.starts_with(' ')).then(|| name.split(' ').next())?
    });
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.contains(&"demo") && names.contains(&"soak"), "{names:?}");
    for name in names {
        let help = match name {
            "device" => expect_success(&["device", "reprogram", "--help"]),
            _ => expect_success(&[name, "--help"]),
        };
        let (_, statuses) = help.split_once("Exit status:\n").expect(name);
        let line = |status: &str| {
            statuses.lines().find(|line| line.split_whitespace().next() == Some(status))
        };
        assert!(line("0").is_some(), "{name}: {statuses}");
        let two = line("2").unwrap_or_else(|| panic!("{name}: {statuses}"));
        let is_said = ["command line", "options"].iter().any(|words| two.contains(words));
        assert!(is_said || two.contains("cannot be made"), "{name}: {two}");
    }
    assert!(all.contains("Exit status:\n"));
}

#[test]
fn unknown_commands_and_options_are_refused() {
    expect_refusal(&["dance"], &["'dance'"]);
    expect_refusal(&["sim", "--tango", "1"], &["'--tango'"]);
    expect_refusal(&["verilog", "--out", "x", "--bord", "vcu118"], &["'--bord'"]);
}

#[test]
fn missing_or_conflicting_options_are_refused() {
    expect_refusal(&["verilog", "--board", "vcu118"], &["--out"]);
    expect_refusal(&["sim", "--flows", "f", "--out", "o"], &["--rx", "--tx"]);
    let both = ["sim", "--rx", "a", "--tx", "b", "--flows", "f", "--out", "o"];
    expect_refusal(&both, &["--rx", "--tx"]);
}

#[test]
fn names_that_are_not_known() {
    let out = folder("unknown_names");
    let out = out.to_str().expect("a path");
    expect_refusal(&["verilog", "--board", "pdp11", "--out", out], &["'pdp11'", "vcu118"]);
    let config = ["verilog", "--board", "vcu118", "--config", "huge", "--out", out];
    expect_refusal(&config, &["'huge'", "default, default-slices, lab, small"]);
    let (rx, flows) = (example("receive.pcapng"), example("receive.toml"));
    let model = ["sim", "--rx", &rx, "--flows", &flows, "--out", out, "--model", "wax"];
    expect_refusal(&model, &["'wax'", "rtl", "golden"]);
}

#[test]
fn sizes_and_probabilities_that_are_none() {
    expect_refusal(&["demo", "--bytes", "12parsecs"], &["'12parsecs'", "--bytes"]);
    expect_refusal(&["demo", "--bytes", "0"], &["'0'", "--bytes"]);
    for vast in ["9223372036854775808", "1099511627777"] {
        expect_refusal(&["demo", "--bytes", vast], &[vast, "--bytes", "1024 GiB"]);
    }
    expect_refusal(&["demo", "--loss", "2"], &["'2'", "--loss"]);
    expect_refusal(&["demo", "--corrupt", "little"], &["'little'", "--corrupt"]);
    expect_refusal(&["demo", "--mtu", "99"], &["'99'", "--mtu"]);
    expect_refusal(&["demo", "--mtu", "-5"], &["-5", "--mtu", "576..=9000"]);
    expect_refusal(&["demo", "--loss", "-1"], &["-1", "--loss"]);
    expect_refusal(&["soak", "--runs", "-3"], &["-3", "--runs"]);
    expect_refusal(&["bench", "tx", "--time", "-20"], &["-20", "--time"]);
    expect_refusal(&["demo", "--memory", "tape"], &["'tape'", "--memory"]);
}

#[test]
fn missing_or_unsuitable_files_are_refused() {
    let out = folder("wrong_files");
    let (capture, flows) = (example("receive.pcapng"), example("receive.toml"));
    let run = |rx: &str, flows: &str, out: &str, parts: &[&str]| {
        let arguments = ["sim", "--model", "golden", "--rx", rx, "--flows", flows, "--out", out];
        expect_refusal(&arguments, parts);
    };
    let here = out.to_str().expect("a path");
    run("none.pcapng", &flows, here, &["none.pcapng", "No such file"]);
    run(&capture, "none.toml", here, &["none.toml", "No such file"]);
    run(&flows, &flows, here, &["receive.toml", "neither pcapng nor pcap"]);
    let file = out.join("file");
    std::fs::write(&file, "").expect("a file");
    run(&capture, &flows, file.to_str().expect("a path"), &["file", "exists"]);
    let none = file.to_str().expect("a path");
    run(none, &flows, here, &["file", "empty"]);
    let header = out.join("header.pcapng");
    let writer = sim::harness::pcapng::CaptureWriter::create(&header, &["wire"]);
    writer.and_then(|it| it.finish()).expect("a file");
    let header = header.to_str().expect("a path");
    run(header, &flows, here, &["header.pcapng", "no frames"]);
}

#[test]
fn a_waveform_of_the_golden_model() {
    let out = folder("wave");
    let (rx, flows) = (example("receive.pcapng"), example("receive.toml"));
    let out = out.to_str().expect("a path");
    let wave = ["--wave", "w.fst", "--model", "golden"];
    let arguments = [&["sim", "--rx", &rx, "--flows", &flows, "--out", out][..], &wave].concat();
    expect_refusal(&arguments, &["--wave", "--model rtl"]);
    let nowhere = "/nowhere/w.fst";
    let arguments = [&arguments[..7], &["--wave", nowhere]].concat();
    expect_refusal(&arguments, &["--wave", nowhere, "No such file"]);
}
