//! `zeronic sim` on the captures that ship: every byte where the flow file wants it, every frame
//! as Linux sent it.
//!
//! The recorder gave each connection the [`RandomBytes`] of its server port, so the right content
//! of every buffer is known without the capture.

pub mod capture_files;
mod captures;
mod disturbed;
mod flow_files;
mod learned;
mod sending;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host::transport::peer::RandomBytes;
use serde_json::Value;
use sha2::{Digest, Sha256};
use sim::harness::capture::read_capture;

use crate::run::{buffers, example, expect_success, folder};

/// Server port and bytes of the connections in the captures, by name of their flow.
const CONNECTIONS: [(&str, u64, usize); 4] = [
    ("plain", 5001, 30_000),
    ("tagged", 5002, 20_011),
    ("six", 5003, 25_000),
    ("double", 5004, 15_001),
];
/// Bytes at the end of `double` that the receive example has no buffer for.
const UNCOVERED: usize = 3000;

fn stream(port: u64, bytes: usize) -> Vec<u8> {
    let mut stream = vec![0; bytes];
    RandomBytes::new(port).fill(&mut stream);
    stream
}

fn replay(side: &str, model: &str) -> (PathBuf, Value) {
    let name = if side == "--rx" { "receive" } else { "send" };
    let out = folder(&format!("replay_{name}_{model}"));
    let (capture, flows) = (example(&format!("{name}.pcapng")), example(&format!("{name}.toml")));
    let path = out.to_str().expect("a path");
    let common = ["--flows", &flows, "--out", path, "--model", model];
    let printed = expect_success(&[&["sim", side, &capture][..], &common].concat());
    let summary = std::fs::read_to_string(out.join("summary.json")).expect("a summary");
    assert_eq!(printed, summary);
    (out, serde_json::from_str(&summary).expect("JSON"))
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key} in {value}"))
}

/// Every buffer of the receive example against the stream it belongs to.
fn judge_buffers(out: &Path, summary: &Value) {
    let mut first = BTreeMap::new();
    let mut covered = BTreeMap::new();
    for buffer in summary["buffers"].as_array().expect("buffers") {
        let name = buffer["flow"].as_str().expect("a name");
        let (_, port, bytes) =
            *CONNECTIONS.iter().find(|(flow, _, _)| *flow == name).expect("a connection");
        let file = out.join(buffer["file"].as_str().expect("a file"));
        let content = std::fs::read(file).expect("a buffer");
        let digest = format!("{:x}", Sha256::digest(&content));
        assert_eq!(buffer["sha256"].as_str(), Some(&digest[..]), "{buffer}");
        let position = number(buffer, "position");
        let start = (position - *first.entry(name).or_insert(position)) as usize;
        let end = start + content.len();
        *covered.entry(name).or_insert(0) += content.len();
        assert_eq!(content.len() as u64, number(buffer, "bytes"));
        let stream = stream(port, bytes);
        if name == "double" && end + 1428 > bytes - UNCOVERED {
            // The last packets do not fit the list whole, so nothing of them is placed.
            let written = number(buffer, "written_bytes") as usize;
            assert_eq!(content[..written], stream[start..start + written], "{buffer}");
            assert!(content[written..].iter().all(|byte| *byte == 0x5a), "{buffer}");
        } else {
            let expected = format!("{:x}", Sha256::digest(&stream[start..end]));
            assert_eq!(digest, expected, "{buffer}");
            assert_eq!(number(buffer, "written_bytes"), number(buffer, "bytes"));
        }
    }
    for (name, _, bytes) in CONNECTIONS {
        let uncovered = if name == "double" { UNCOVERED } else { 0 };
        assert_eq!(covered[name], bytes - uncovered, "{name}");
    }
}

fn judge_receive(model: &str) -> PathBuf {
    let (out, summary) = replay("--rx", model);
    assert_eq!(summary["ok"], true, "{summary}");
    assert_eq!(summary["conserved"], true, "{summary}");
    assert_eq!(summary["guards_intact"], true, "{summary}");
    for disposition in [
        "placed_in_order",
        "placed_ahead",
        "old",
        "duplicate",
        "ahead_of_window",
        "no_flow",
        "no_payload",
        "not_transport",
    ] {
        assert!(number(&summary["dispositions"], disposition) > 0, "no {disposition}");
    }
    let entries = std::fs::read_to_string(out.join("entries.txt")).expect("entries");
    assert_eq!(entries.lines().count() as u64, number(&summary, "header_entries"));
    for part in ["vlan=7 ", "vlan=100 vlan=200 ", "[fd77::2]", "10.77.0.2", "slots=2"] {
        assert!(entries.contains(part), "no '{part}' in entries.txt");
    }
    judge_buffers(&out, &summary);
    out
}

fn judge_send(model: &str) -> PathBuf {
    let (out, summary) = replay("--tx", model);
    assert_eq!(summary["ok"], true, "{summary}");
    assert_eq!(summary["identical"], true, "{summary}");
    assert!(number(&summary, "descriptors_joined") > 0, "{summary}");
    assert!(number(&summary, "descriptors") < number(&summary, "frames_expected"), "{summary}");
    let sent = read_capture(&out.join("sent.pcapng")).expect("a capture").frames;
    assert_eq!(sent.len() as u64, number(&summary, "frames_sent"));
    let recorded = read_capture(Path::new(&example("send.pcapng"))).expect("a capture").frames;
    let card = [2, 0, 0, 0, 0, 1];
    let outgoing = recorded.iter().filter(|frame| frame.bytes[6..12] == card);
    for (number, (sent, recorded)) in sent.iter().zip(outgoing).enumerate() {
        assert_eq!(sent.bytes[..recorded.bytes.len()], recorded.bytes, "frame {number}");
    }
    out
}

/// A card that sums packets up places the same bytes, and its entries name the runs.
fn judge_runs(model: &str, without: &Path) {
    let out = folder(&format!("replay_receive_runs_{model}"));
    let (capture, flows) = (example("receive.pcapng"), example("receive.toml"));
    let path = out.to_str().expect("a path");
    let words = ["sim", "--rx", &capture, "--flows", &flows, "--out", path, "--model", model];
    let printed = expect_success(&[&words[..], &["--coalesce"]].concat());
    let summary: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(buffers(without).expect("buffers"), buffers(&out).expect("buffers"));
    let entries = std::fs::read_to_string(out.join("entries.txt")).expect("entries");
    let runs = entries.lines().filter(|line| line.contains(" run flow=")).count();
    assert_eq!(summary["runs"][0], runs, "{summary}");
    assert!(runs > 0, "{entries}");
    assert_eq!(summary["ok"], true, "{summary}");
}

#[test]
fn runs_place_the_same_bytes() {
    let without = judge_receive("golden");
    for model in ["golden", "rtl"] {
        judge_runs(model, &without);
    }
}

#[test]
fn golden_model_sends_linux_frames() {
    judge_send("golden");
}

/// The bytes of every file that a replay of the receive side wrote, by name; the summary without
/// what only one model has.
fn files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = buffers(out).expect("buffers");
    let entries = std::fs::read(out.join("entries.txt")).expect("entries");
    files.insert("entries.txt".to_owned(), entries);
    files
}

#[test]
fn rtl_receives_like_golden_model() {
    let (golden, rtl) = (files(&judge_receive("golden")), files(&judge_receive("rtl")));
    let names: Vec<_> = golden.keys().collect();
    assert_eq!(names, rtl.keys().collect::<Vec<_>>());
    for (name, bytes) in &golden {
        assert!(rtl[name] == *bytes, "{name} differs: see the folders replay_receive_*");
    }
}

#[test]
fn rtl_sends_linux_frames() {
    judge_send("rtl");
}
