//! Results on full disks and closed pipes, and results of earlier runs.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use host::transport::patience::{Patience, PATIENCE};
use serde_json::Value;
use sim::harness::capture::parse_capture;

use crate::run::{command, example, expect_refusal, expect_success, folder};

/// The shortest run whose figures can be had as JSON.
const BENCH: [&str; 7] = ["bench", "tx", "--config", "small", "--time", "20", "--wraps=0"];
/// The shortest run whose frames can be had as a capture.
const DEMO: [&str; 9] = [
    "demo",
    "--config",
    "small",
    "--peer",
    "smoltcp",
    "--transport",
    "smoltcp",
    "--bytes",
    "20000",
];

/// An example on the golden model, with its results in `out`.
fn replay_of(side: &str, name: &str, out: &Path) -> Vec<String> {
    let out = out.to_str().expect("a path");
    let (capture, flows) = (example(&format!("{name}.pcapng")), example(&format!("{name}.toml")));
    let words = ["sim", "--model", "golden", side, &capture, "--flows", &flows, "--out", out];
    words.map(str::to_owned).to_vec()
}

fn replay(out: &Path) -> Vec<String> {
    replay_of("--rx", "receive", out)
}

/// Runs the program with its standard output on a full disk.
fn on_a_full_disk(arguments: &[&str]) -> Output {
    let full = File::options().write(true).open("/dev/full");
    let mut command = command(arguments);
    command.stdout(full.expect("a device")).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    child.wait_with_output().expect("it ends")
}

/// Runs the program with a pipe that nobody reads.
fn into_a_closed_pipe(arguments: &[&str]) -> Output {
    let mut command = command(arguments);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stdout(writer).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    child.wait_with_output().expect("it ends")
}

/// Runs the program with a result that goes into a named pipe; its output, and what has come out
/// of the pipe until its end.
fn into_a_named_pipe(arguments: &[&str], pipe: &Path) -> (Output, Vec<u8>) {
    let made = Command::new("mkfifo").arg(pipe).status();
    assert!(made.expect("mkfifo").success());
    let path = pipe.to_path_buf();
    let reader = std::thread::spawn(move || std::fs::read(path).expect("a pipe"));
    let output = soon(arguments);
    (output, reader.join().expect("a reader"))
}

/// Time that a running process has had of a core, in hundredths of a second (proc(5), `stat`).
fn core_time(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    // User and system time are fields 14 and 15; the name that ends here is the second.
    let times = fields.split_whitespace().skip(11).take(2);
    times.filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Runs the program, which must end without being told to: after little time of a core, however
/// long that takes beside others, and not waiting for anything.
fn soon(arguments: &[&str]) -> Output {
    // With the card built, which takes its time, nothing is left that takes long.
    expect_success(&BENCH);
    let mut command = command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut patience = Patience::new(0);
    while child.try_wait().expect("a child").is_none() {
        let time = core_time(child.id());
        if patience.is_over(time) || time > 100 * PATIENCE.as_secs() {
            child.kill().expect("a child");
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("it ends")
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn full_stdout_is_error_files_remain() {
    let out = folder("full_output");
    let json = out.join("tx.json");
    let path = json.to_str().expect("a path");
    let bench = [&BENCH[..], &["--json", path]].concat();
    let arguments = replay(&out);
    // One that ends with 1 says that something is wrong; a full disk has one status everywhere.
    let runs: [(&[&str], Option<&str>); 6] = [
        (&words(&arguments), Some("summary.json")),
        (&bench, Some("tx.json")),
        (&["verilog", "--manual", "-"], None),
        (&["board", "list"], None),
        (&["--help"], None),
        (&["sim", "--help"], None),
    ];
    for (arguments, file) in runs {
        let output = on_a_full_disk(arguments);
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {line}");
        assert!(line.contains("standard output: No space left"), "{arguments:?}: {line}");
        if let Some(file) = file {
            let text = std::fs::read(out.join(file)).expect("the results");
            let results: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(results["ok"], true, "{results}");
        }
    }
}

/// With a Verilator that does nothing, the program says what it builds and then that it cannot.
#[test]
fn full_stderr_causes_no_panic() {
    use std::os::unix::fs::PermissionsExt;
    let out = folder("full_error");
    std::fs::create_dir_all(out.join("include")).expect("a folder");
    std::fs::write(out.join("include/verilated.cpp"), "").expect("a file");
    let program = out.join("verilator");
    std::fs::write(&program, "#!/bin/sh\necho none\n").expect("a file");
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, runs).expect("a file");
    let full = File::options().write(true).open("/dev/full");
    let status = command(&BENCH)
        .env("VERILATOR", &program)
        .env("VERILATOR_ROOT", &out)
        .env("ZERONIC_CACHE", out.join("cache"))
        .stderr(full.expect("a device"))
        .status();
    assert_eq!(status.expect("the program starts").code(), Some(2));
}

#[test]
fn full_disk_under_capture_ends_demo() {
    let long = [&DEMO[..8], &["1GiB", "--pcap", "/dev/full"]].concat();
    let output = soon(&long);
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.contains("/dev/full: No space left"), "{line}");
}

/// A capture and a waveform that are still being filled have another name.
#[test]
fn interrupted_demo_leaves_no_whole_file() {
    let out = folder("interrupted_demo");
    let (pcap, wave) = (out.join("d.pcapng"), out.join("d.fst"));
    let path = |path: &Path| path.to_str().expect("a path").to_owned();
    let (pcap_name, wave_name) = (path(&pcap), path(&wave));
    for (option, name, file) in [("--pcap", &pcap_name, &pcap), ("--wave", &wave_name, &wave)] {
        std::fs::write(file, "of an earlier run").expect("a file");
        let long = [&DEMO[..8], &["1GiB", option, name]].concat();
        let mut child = command(&long)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let has_begun = || {
            let files = std::fs::read_dir(&out).expect("a folder").flatten();
            let mut parts = files.filter(|it| it.path().extension().is_some_and(|e| e == "part"));
            parts.any(|it| it.metadata().is_ok_and(|data| data.len() > 0))
        };
        while !has_begun() {
            assert!(child.try_wait().expect("a child").is_none(), "it has ended");
            std::thread::sleep(Duration::from_millis(20));
        }
        let id = child.id().to_string();
        // Tests that a shell has put into the background ignore SIGINT, as do their children.
        let ended = Command::new("kill").args(["-TERM", &id]).status();
        assert!(ended.expect("kill").success());
        assert_eq!(child.wait().expect("a child").code(), None, "ended by its signal");
        assert!(!file.exists(), "{name}");
        for file in std::fs::read_dir(&out).expect("a folder").flatten() {
            std::fs::remove_file(file.path()).expect("a file");
        }
    }
}

#[test]
fn two_results_in_file_are_refused() {
    let out = folder("one_file");
    let file = out.join("one");
    let file = file.to_str().expect("a path");
    let again = format!("{}/./one", out.display());
    let area = ["bench", "area", "--json", file, "--report", &again];
    expect_refusal(&area, &["--report", "--json", "one"]);
    let demo = [&DEMO[..], &["--wave", file, "--pcap", file]].concat();
    expect_refusal(&demo, &["--pcap", "--wave", "one"]);
    let demo = [&DEMO[..], &["--json", file, "--pcap", file]].concat();
    expect_refusal(&demo, &["--json", "--pcap", "one"]);
}

#[test]
fn closed_reader_causes_no_complaint() {
    let out = folder("closed_output");
    let arguments = replay(&out);
    let runs: [&[&str]; 3] = [&words(&arguments), &["verilog", "--manual", "-"], &["--help"]];
    for arguments in runs {
        let output = into_a_closed_pipe(arguments);
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(141), "{arguments:?}: {line}");
        assert_eq!(line, "", "{arguments:?}");
    }
    assert!(out.join("summary.json").exists());
}

#[test]
fn unwritable_file_is_named() {
    let out = folder("full_file");
    let json = ["bench", "tx", "--json"];
    let nowhere = "/nowhere/at/all";
    expect_refusal(&[&json[..], &[nowhere]].concat(), &["--json", nowhere]);
    let all = ["bench", "area", "--report", nowhere];
    expect_refusal(&all, &["--report", nowhere]);
    expect_refusal(
        &["bench", "area", "--config", "tiny"],
        &["'tiny'", "default, default-slices, lab, small"],
    );
    let link = out.join("entries.txt");
    std::os::unix::fs::symlink("/dev/full", &link).expect("a link");
    let output = command(&words(&replay(&out))).output().expect("it starts");
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    let named = format!("{}: No space left", link.display());
    assert!(line.contains(&named), "{line}");
    assert!(!out.join("summary.json").exists());
}

#[test]
fn failed_run_removes_earlier_results() {
    let out = folder("earlier");
    let mut arguments = replay(&out);
    expect_success(&words(&arguments));
    let summary = out.join("summary.json");
    assert!(summary.exists());
    arguments[4] = "none.pcapng".to_owned();
    expect_refusal(&words(&arguments), &["none.pcapng"]);
    assert!(!summary.exists());
    let json = out.join("old.json");
    std::fs::write(&json, "{}").expect("a file");
    let path = json.to_str().expect("a path");
    let bench = ["bench", "rx", "--mtu", "9001", "--json", path];
    expect_refusal(&bench, &["9001"]);
    assert!(!json.exists());
    // Through a link the file that it leads to is replaced.
    let link = out.join("link.json");
    std::os::unix::fs::symlink(&json, &link).expect("a link");
    std::fs::write(&json, "{}").expect("a file");
    let path = link.to_str().expect("a path");
    expect_refusal(&["demo", "--json", path, "--bytes", "0"], &["--bytes"]);
    assert!(json.exists(), "a command line that says nothing");
    expect_refusal(&["bench", "tx", "--mtu", "1", "--json", path], &["1"]);
    assert!(!json.exists());
    let left = std::fs::read_dir(&out).expect("a folder").flatten();
    let parts = left.filter(|file| file.path().extension().is_some_and(|e| e == "part"));
    assert_eq!(parts.count(), 0);
}

#[test]
fn what_lies_beside_a_result_stays() {
    let out = folder("beside");
    let (json, part) = (out.join("q.json"), out.join("q.json.part"));
    std::fs::write(&part, "somebody's").expect("a file");
    let link = out.join("link.json");
    std::os::unix::fs::symlink("q.json", &link).expect("a link");
    let path = link.to_str().expect("a path");
    expect_refusal(&["bench", "tx", "--mtu", "1", "--json", path], &["1"]);
    // The link leads nowhere, before and behind.
    assert!(link.is_symlink() && !json.exists());
    expect_success(&[&BENCH[..], &["--json", path]].concat());
    assert!(link.is_symlink() && json.is_file());
    let text = std::fs::read_to_string(&part).expect("a file");
    assert_eq!(text, "somebody's");
    assert_eq!(left_in(&out), ["link.json", "q.json", "q.json.part"]);
}

#[test]
fn named_pipe_gets_whole_result() {
    let out = folder("named_pipe");
    for (run, option) in [(&BENCH[..], "--json"), (&DEMO, "--pcap")] {
        let pipe = out.join(option);
        let named = [option, pipe.to_str().expect("a path")];
        let (output, bytes) = into_a_named_pipe(&[run, &named].concat(), &pipe);
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{option}: {line}");
        if option == "--json" {
            let results: Value = serde_json::from_slice(&bytes).expect("JSON");
            assert_eq!(results["ok"], true, "{results}");
        } else {
            let frames = parse_capture(&bytes).expect("a capture").frames;
            assert!(frames.len() > 20, "{} frames", frames.len());
        }
    }
}

/// `/dev/shm` is a file system as any other.
#[test]
fn file_below_dev_is_file_stdout_not() {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() {
        let json = shared.join(format!("zeronic-{}.json", std::process::id()));
        let path = json.to_str().expect("a path");
        for _ in 0..2 {
            expect_success(&[&BENCH[..], &["--json", path]].concat());
            let text = std::fs::read(&json).expect("the results");
            let results: Value = serde_json::from_slice(&text).expect("JSON");
            assert_eq!(results["ok"], true, "{results}");
        }
        std::fs::remove_file(&json).expect("a file");
    }
    let out = folder("standard_output");
    let link = out.join("link");
    std::os::unix::fs::symlink("/dev/stdout", &link).expect("a link");
    for path in ["/dev/stdout", "/dev/fd/1", link.to_str().expect("a path")] {
        let all = out.join("all.txt");
        let mut command = command(&[&BENCH[..], &["--json", path]].concat());
        let status = command.stdout(File::create(&all).expect("a file")).status();
        assert!(status.expect("the program starts").success(), "{path}");
        // The figures, and behind them what is printed anyway.
        let text = std::fs::read_to_string(&all).expect("what was printed");
        let mut values = serde_json::Deserializer::from_str(&text).into_iter();
        let results: Value = values.next().expect("figures").expect("JSON");
        assert_eq!(results["ok"], true, "{results}");
        assert!(text.ends_with("every byte is right\n"), "{text}");
    }
}

#[test]
fn waveform_may_lie_in_new_folder() {
    let out = folder("wave_in_new").join("new");
    let wave = out.join("w.fst");
    let mut arguments = replay(&out);
    arguments[2] = "rtl".to_owned();
    let wave_path = wave.to_str().expect("a path").to_owned();
    arguments.extend(["--wave".to_owned(), wave_path]);
    expect_success(&words(&arguments));
    assert!(std::fs::metadata(&wave).expect("a waveform").len() > 1000);
}

/// Names of the files in a folder and in `buffers`.
fn left_in(folder: &Path) -> Vec<String> {
    let files = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let all = files(folder).chain(files(&folder.join("buffers")));
    let mut names: Vec<_> =
        all.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[test]
fn replay_leaves_nothing_of_others() {
    let out = folder("another");
    expect_success(&words(&replay(&out)));
    assert!(left_in(&out).contains(&"plain-0.bin".to_owned()));
    // What somebody else has put there stays.
    std::fs::write(out.join("buffers/notes.bin"), "").expect("a file");
    let send = replay_of("--tx", "send", &out);
    expect_success(&words(&send));
    let sent = ["buffers", "entries.txt", "notes.bin", "sent.pcapng"];
    assert_eq!(left_in(&out), [&sent[..], &["summary.json"]].concat());
    // What is replayed does not make room for a result.
    let mut again = replay(&out);
    again[4] = out.join("sent.pcapng").to_str().expect("a path").to_owned();
    expect_refusal(&words(&again), &["sent.pcapng", "--rx"]);
    assert!(left_in(&out).contains(&"sent.pcapng".to_owned()));
    std::fs::remove_file(out.join("buffers/notes.bin")).expect("a file");
    expect_success(&words(&replay(&out)));
    assert!(!left_in(&out).contains(&"sent.pcapng".to_owned()));
    let mut failing = replay(&out);
    failing[6] = "none.toml".to_owned();
    let wave = out.join("old.fst");
    std::fs::write(&wave, "old").expect("a file");
    failing[2] = "rtl".to_owned();
    failing.extend(["--wave", wave.to_str().expect("a path")].map(str::to_owned));
    expect_refusal(&words(&failing), &["none.toml"]);
    assert!(left_in(&out).is_empty(), "{:?}", left_in(&out));
}
