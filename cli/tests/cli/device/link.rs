//! `zeronic device link` on a served card.

use serde_json::Value;

use super::json_of;
use crate::run::{command, expect_success, folder, zeronic};
use crate::sim_card::Card;

/// Status, text and report.
fn link(arguments: &[&str], name: &str) -> (Option<i32>, String, Value) {
    let file = folder(name).join("l.json").to_str().expect("a path").to_owned();
    let link = [&["device", "link"], arguments, &["--json", &file]].concat();
    let output = command(&link).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let report = std::fs::read(&file).expect("the report");
    (output.status.code(), text, serde_json::from_slice(&report).expect("JSON"))
}

#[test]
fn link_goes_down_and_comes_up() {
    let card = Card::with("link", &["--peer", "smoltcp"]);
    let bus = card.bus();
    let (status, text, report) = link(&["status", "--bus", &bus], "link_status");
    assert_eq!((status, &report["up"]), (Some(0), &true.into()), "{text}");
    assert_eq!((&report["rs_fec"], &report["fec_aligned"]), (&true.into(), &true.into()));
    let (status, text, report) = link(&["down", "--bus", &bus], "link_down");
    assert_eq!((status, &report["up"]), (Some(0), &false.into()), "{text}");
    let (status, text, report) = link(&["status", "--bus", &bus], "link_is_down");
    assert_eq!(status, Some(1));
    assert!(text.contains("switched off; `device link up`"), "{text}");
    assert_eq!(report["card_up"], false);
    // What it stays, through opening and resetting: nobody answers.
    let demo = ["demo", "--bus", &bus, "--bytes", "1000", "--transport", "tcp"];
    let refused = zeronic(&demo);
    let line = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{line}");
    assert!(line.contains("does not answer"), "{line}");
    let (status, text, _) = link(&["up", "--bus", &bus], "link_up");
    assert_eq!(status, Some(0), "{text}");
    expect_success(&demo);
}

#[test]
fn wrong_fec_is_named_with_its_remedy() {
    let card = Card::with("fec", &[]);
    let bus = card.bus();
    let wrong = ["up", "--fec", "none", "--wait", "1", "--bus", &bus];
    let (status, text, report) = link(&wrong, "link_fec");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("FEC mismatch") && text.contains("--fec rs"), "{text}");
    let what = report["obstacle"]["what"].as_str().expect("a text");
    assert!(what.contains("heard with RS-FEC"), "{what}");
    let (status, _, report) = link(&["up", "--loopback", "--bus", &bus], "link_loop");
    assert_eq!((status, &report["loopback"]), (Some(0), &true.into()));
    // The self-test leaves what it finds.
    json_of(&["device", "selftest", "--bus", &bus], "link_selftest");
    let (_, _, report) = link(&["status", "--bus", &bus], "link_left");
    assert_eq!((&report["loopback"], &report["up"]), (&true.into(), &true.into()));
}
