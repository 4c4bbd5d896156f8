//! The demo as a user sees it: exit status, JSON, waveform, capture. Both ends are in one process,
//! so that it runs where the kernel's TCP is forbidden, too.

use std::fs::File;
use std::io::BufReader;

use fst_reader::{FstFilter, FstReader, FstSignalValue};
use serde_json::Value;
use sim::harness::capture::read_capture;
use skip::{skip, Need};

use crate::run::{expect_refusal, expect_success, folder};

const BYTES: u64 = 20_000;

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn short_demo_reports_its_work() {
    let out = folder("demo");
    let path = |name: &str| out.join(name).to_str().expect("a path").to_owned();
    let (json, wave, pcap) = (path("d.json"), path("d.fst"), path("d.pcapng"));
    let bytes = BYTES.to_string();
    let stacks = ["--peer", "smoltcp", "--transport", "smoltcp", "--ipv6"];
    let files = ["--json", &json, "--wave", &wave, "--pcap", &pcap];
    let words = ["demo", "--config", "small", "--bytes", &bytes];
    let text = expect_success(&[&words[..], &stacks, &files].concat());
    for part in ["peer: smoltcp; transport: smoltcp", "simulated time", "every byte is right"] {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
    let report = std::fs::read(&json).expect("the report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    let expected = [
        "copied_payload_bytes",
        "cycles_per_second",
        "dispositions",
        "ok",
        "peer",
        "rx",
        "sim_time_ns",
        "skipped_time_ns",
        "transport",
        "tx",
    ];
    assert_eq!(keys(&report), expected);
    for direction in ["rx", "tx"] {
        let direction = &report[direction];
        assert_eq!(keys(direction), ["bytes", "goodput_gbps", "sha256"]);
        assert_eq!(direction["bytes"], BYTES);
        assert_eq!(direction["sha256"].as_str().map(str::len), Some(64));
    }
    assert_ne!(report["rx"]["sha256"], report["tx"]["sha256"]);
    assert_eq!(report["ok"], true);
    // The capture: both ways, all IPv6, every frame that the card was given.
    let frames = read_capture(out.join("d.pcapng").as_path()).expect("a capture").frames;
    assert!(frames.iter().all(|frame| frame.bytes[12..14] == [0x86, 0xdd]));
    let payload: usize = frames.iter().map(|frame| frame.bytes.len()).sum();
    assert!(payload as u64 > 2 * BYTES, "{payload} bytes captured");
    // The waveform, in another project's reader: the card's signals change until the end.
    let file = BufReader::new(File::open(&wave).expect("a waveform"));
    let mut reader = FstReader::open(file).expect("FST");
    let header = reader.get_header();
    assert!(header.var_count > 1000, "{} signals", header.var_count);
    // The last microsecond.
    let from = header.end_time - 1_000_000;
    let (mut changes, mut last) = (0u64, 0);
    let count = |time: u64, _, _: FstSignalValue<'_>| {
        changes += 1;
        last = last.max(time);
    };
    let filter = FstFilter::filter_time(from, header.end_time);
    reader.read_signals(&filter, count).expect("FST");
    assert!(changes > 250, "{changes} changes in 250 cycles");
    assert!((from..=header.end_time).contains(&last), "last change at {last}");
}

/// The same bytes by each of its controllers, and the output names the one.
#[test]
fn own_tcp_demo_is_exact_names_controller() {
    for (controller, name) in [
        (None, "our own TCP, model-based controller"),
        (Some("cubic"), "our own TCP, CUBIC"),
        (Some("dctcp"), "our own TCP, DCTCP"),
    ] {
        let mut arguments = vec!["demo", "--config", "small", "--peer", "smoltcp"];
        arguments.extend(["--transport", "tcp", "--loss", "1%", "--bytes", "300000"]);
        arguments.extend(controller.map(|name| ["--controller", name]).iter().flatten());
        let text = expect_success(&arguments);
        for part in [name, "every byte is right"] {
            assert!(text.contains(part), "'{part}' is not in: {text}");
        }
    }
}

/// Our own TCP at both ends, in the card's time, on a good wire and on one that loses. Of 2 MiB the
/// start is a part: 16 MiB go at 90 and 89 Gb/s.
#[test]
fn own_tcp_both_ends_survives_loss_fast() {
    let json = folder("demo_own").join("d.json");
    let path = json.to_str().expect("a path");
    let mut words = vec!["demo", "--config", "small", "--peer", "tcp", "--transport", "tcp"];
    words.extend(["--bytes", "2MiB", "--json", path]);
    for (loss, floor) in [("0", 70.0), ("1%", 40.0)] {
        let text = expect_success(&[&words[..], &["--loss", loss]].concat());
        let name = "our own TCP, model-based controller";
        assert!(text.contains(&format!("peer: {name}; transport: {name}")), "{text}");
        let report = std::fs::read(&json).expect("the report");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!((&report["peer"], &report["transport"]), (&name.into(), &name.into()));
        for direction in ["rx", "tx"] {
            let gbps = report[direction]["goodput_gbps"].as_f64();
            assert!(gbps > Some(floor), "{loss} lost, {direction}: {report}");
        }
    }
}

/// On the golden model a demo takes the same time twice, and has no signals.
#[test]
fn golden_model_demo_repeats_from_seed() {
    let json = folder("demo_golden").join("d.json");
    let path = json.to_str().expect("a path");
    let mut words = vec!["demo", "--model", "golden", "--peer", "tcp", "--transport", "tcp"];
    words.extend(["--bytes", "300000", "--loss", "2%", "--reorder", "2%", "--json", path]);
    let run = |seed: &str| {
        expect_success(&[&words[..], &["--seed", seed]].concat());
        let report = std::fs::read(&json).expect("the report");
        let mut report: Value = serde_json::from_slice(&report).expect("JSON");
        report["cycles_per_second"] = Value::Null;
        report
    };
    let report = run("3");
    assert_eq!(report["ok"], true);
    assert_eq!(run("3"), report);
    assert_ne!(run("4"), report);
    expect_refusal(&["demo", "--model", "golden", "--wave", "w.fst"], &["--wave", "no signals"]);
}

/// Runs a demo with coalescing; packets for each header entry.
fn packets_per_entry(json: &std::path::Path, words: &[&str]) -> f64 {
    let path = json.to_str().expect("a path");
    let demo = ["demo", "--coalesce", "--json", path];
    let text = expect_success(&[&demo[..], words].concat());
    assert!(text.contains("every byte is right"), "{text}");
    let report = std::fs::read(json).expect("the report");
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    report["packets_per_entry"].as_f64().unwrap_or(1.0)
}

const BAD_WIRE: [&str; 6] = ["--loss", "1%", "--reorder", "1%", "--duplicate", "1%"];

/// A card that sums received packets up: every byte is right with each stack of this process, over
/// a bad wire too, and far fewer header entries are taken where packets follow each other.
#[test]
fn summed_up_packets_are_exact() {
    let json = folder("demo_runs").join("d.json");
    let words = ["--model", "golden", "--bytes", "1MiB"];
    let run = |more: &[&str]| packets_per_entry(&json, &[&words[..], more].concat());
    for ipv6 in [&["--peer", "tcp"][..], &["--peer", "tcp", "--ipv6"]] {
        for transport in ["tcp", "smoltcp"] {
            let packets = run(&[ipv6, &["--transport", transport]].concat());
            assert!(packets > 1.2, "{transport}: {packets} packets an entry");
        }
        run(&[ipv6, &["--transport", "tcp"], &BAD_WIRE].concat());
    }
}

/// The same on the card's RTL.
#[test]
fn card_sums_packets_up_exactly() {
    let json = folder("demo_card_runs").join("d.json");
    let words = ["--config", "small", "--bytes", "256KiB", "--peer", "tcp", "--transport", "tcp"];
    let run = |more: &[&str]| packets_per_entry(&json, &[&words[..], more].concat());
    let packets = run(&[]);
    assert!(packets > 4.0, "{packets} packets an entry");
    run(&["--ipv6"]);
    run(&BAD_WIRE);
}

/// With smoltcp at both ends the wall clock has no part in it.
#[test]
fn lossy_demo_skips_idle_repeats_from_seed() {
    let out = folder("demo_loss");
    let json = out.join("d.json").to_str().expect("a path").to_owned();
    let run = || {
        let text = expect_success(&[
            "demo",
            "--config",
            "small",
            "--peer",
            "smoltcp",
            "--transport",
            "smoltcp",
            "--loss",
            "5%",
            "--bytes",
            "100000",
            "--json",
            &json,
        ]);
        assert!(text.contains("skipped time"), "{text}");
        let report = std::fs::read(&json).expect("the report");
        let mut report: Value = serde_json::from_slice(&report).expect("JSON");
        report["cycles_per_second"] = Value::Null;
        report
    };
    let report = run();
    assert_eq!(report["ok"], true);
    let time = |name: &str| report[name].as_u64().expect("a time");
    let (simulated, skipped) = (time("sim_time_ns"), time("skipped_time_ns"));
    // A timeout of smoltcp is a second.
    assert!(skipped > 900_000_000, "{skipped} ns skipped");
    assert!(simulated < 100_000_000, "{simulated} ns simulated");
    assert_eq!(run(), report);
}

/// The kernel's TCP where it may be had, and our own elsewhere.
#[test]
fn links_below_ipv6_carry_ipv4() {
    let text = expect_success(&["demo", "--config", "small", "--mtu", "576", "--bytes", "10000"]);
    assert!(text.contains("every byte is right"), "{text}");
    if text.contains("our own TCP") {
        skip(Need::Namespaces, "the demo took our own TCP");
    }
    expect_refusal(&["demo", "--mtu", "1279", "--ipv6"], &["--mtu 1279", "IPv6", "1280"]);
}

#[test]
fn unwritable_files_are_named_before_run() {
    for option in ["--json", "--wave", "--pcap"] {
        let file = "/nowhere/at/all";
        expect_refusal(&["demo", option, file], &[option, file, "No such file"]);
    }
}
