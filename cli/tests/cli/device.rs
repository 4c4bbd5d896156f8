//! `zeronic device` on a card in another process.

mod link;
mod top;

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::far::check_refusals;
use crate::run::{command, expect_success, folder};
use crate::sim_card::Card;

fn json_of(arguments: &[&str], name: &str) -> (String, Value) {
    let file = folder(name).join("d.json").to_str().expect("a path").to_owned();
    let text = expect_success(&[arguments, &["--json", &file]].concat());
    let report = std::fs::read(&file).expect("the report");
    (text, serde_json::from_slice(&report).expect("JSON"))
}

/// Names and verdicts; what is not good has advice.
fn checks(report: &Value) -> Vec<(&str, &str)> {
    let text = |check: &'_ Value, key: &str| check[key].as_str().expect(key).to_owned();
    let checks = report["checks"].as_array().expect("a list");
    for check in checks {
        let is_good = text(check, "verdict") == "good";
        assert_eq!(is_good, text(check, "advice").is_empty(), "{check}");
    }
    let pair = |check| -> Option<(&str, &str)> {
        let check: &Value = check;
        Some((check["what"].as_str()?, check["verdict"].as_str()?))
    };
    checks.iter().map(|check| pair(check).expect("two texts")).collect()
}

#[test]
fn a_card_says_what_it_is() {
    let card = Card::with("info", &[]);
    let (text, info) = json_of(&["device", "info", "--bus", &card.bus()], "device_info");
    for part in ["10ee:5a4e", "small: 64 flows", "simulated", "generation 3 x16"] {
        assert!(text.contains(part), "'{part}' is not in: {text}");
    }
    assert_eq!(info["configuration"], "small");
    assert_eq!((&info["flows"], &info["owners"]), (&64.into(), &4.into()));
    assert_eq!(info["contract"], format!("1.{}", abi::ABI_VERSION & 0xffff));
    assert_eq!(
        (&info["board"]["board"], &info["board"]["slot"]),
        (&"simulated".into(), &"user".into())
    );
}

#[test]
fn counters_persist_and_explain_themselves() {
    let card = Card::with("counters", &["--peer", "smoltcp"]);
    let bus = card.bus();
    let counters = ["device", "counters", "--bus", &bus];
    let (text, before) = json_of(&counters, "device_counters");
    let all = before.as_array().expect("a list").len();
    assert_eq!(text, format!("all {all} counters are zero\n"));
    let demo = ["demo", "--bus", &bus, "--bytes", "100000", "--transport", "tcp"];
    expect_success(&demo);
    let (text, after) = json_of(&counters, "device_counters");
    assert!(text.contains("Written at the cursor; the cursor advanced."), "{text}");
    let of = |name: &str| {
        let rows = after.as_array().expect("a list");
        let row = rows.iter().find(|row| row["name"] == name).expect(name);
        row["value"].as_u64().expect("a number")
    };
    assert!(of("placed_in_order") > 50, "{after}");
    assert_eq!(of("runt"), 0);
    let rows = after.as_array().expect("a list");
    assert!(rows.iter().all(|row| row["meaning"].as_str().is_some_and(|it| it.len() > 5)));
}

/// Whoever watches finds out within its second look that the card's process has gone.
#[test]
fn a_watch_ends_with_its_card() {
    let mut card = Card::with("watch", &[]);
    let watch = ["device", "counters", "--watch", "--bus", &card.bus()];
    let mut command = command(&watch);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let watch = command.spawn().expect("it starts");
    card.line_with("a client has the card");
    card.kill();
    let gone = Instant::now();
    let output = watch.wait_with_output().expect("it ends");
    assert!(gone.elapsed() < Duration::from_secs(3), "{:?}", gone.elapsed());
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), line.lines().count()), (Some(2), 1), "{line}");
    assert!(line.contains("has gone"), "{line}");
}

#[test]
fn a_reset_begins_an_epoch() {
    let card = Card::with("reset", &[]);
    let (text, report) = json_of(&["device", "reset", "--bus", &card.bus()], "device_reset");
    assert!(text.contains("tables and rings are empty"), "{text}");
    assert_ne!(report["epoch"], report["epoch_before"]);
}

#[test]
fn doctor_gives_each_verdict_and_advice() {
    for (kind, verdict, how) in
        [("mapped", "good", "mapped page"), ("messages", "look", "posted message")]
    {
        let card = Card::with(kind, &["--doorbells", kind]);
        let name = format!("device_doctor_{kind}");
        let (text, report) = json_of(&["device", "doctor", "--bus", &card.bus()], &name);
        let checks = checks(&report);
        assert_eq!(report["ok"], true);
        let names = [
            "register read",
            "bus mastering",
            "link",
            "IOMMU",
            "AER",
            "wire",
            "board",
            "clocks",
            "FEC",
            "alignment",
            "cores",
            "large pages",
            "locked memory",
        ];
        for what in names {
            assert!(checks.iter().any(|(name, _)| *name == what), "{what}: {checks:?}");
        }
        assert!(checks.contains(&("doorbell", verdict)), "{checks:?}");
        assert!(text.contains(how), "{text}");
        println!("{text}");
    }
}

#[test]
fn selftest_judges_everything_the_wire_returns() {
    let card = Card::with("selftest", &["--peer", "smoltcp"]);
    let bus = card.bus();
    let (text, report) = json_of(&["device", "selftest", "--bus", &bus], "device_selftest");
    let checks = checks(&report);
    let names = ["registers", "reset", "rings, DMA", "interrupt", "loopback", "wire, every byte"];
    assert_eq!(checks, names.map(|name| (name, "good")), "{text}");
    assert!(text.contains("1048576 bytes out and back, each as sent"), "{text}");
}

#[test]
fn selftest_without_peer_names_its_need() {
    let card = Card::with("alone", &[]);
    let selftest = ["device", "selftest", "--bus", &card.bus()];
    let (text, report) = json_of(&selftest, "device_alone");
    assert!(checks(&report).contains(&("wire, every byte", "unseen")), "{text}");
    assert!(checks(&report).contains(&("loopback", "good")), "{text}");
    assert!(text.contains("nobody is at the wire") && report["ok"] == true, "{text}");
}

#[test]
fn list_shows_cards_and_missing_reasons() {
    let card = Card::with("list", &[]);
    let empty = folder("device_list_sysfs");
    let sysfs = empty.to_str().expect("a path");
    let none = expect_success(&["device", "list", "--sysfs", sysfs]);
    assert!(none.contains("no card (10ee:5a4e)"), "{none}");
    let (bus, nobody) = (card.bus(), "vfio-user:/no/such.sock");
    let list = ["device", "list", "--sysfs", sysfs, "--bus", &bus, "--bus", nobody];
    let (_, found) = json_of(&list, "device_list");
    assert_eq!((&found[0]["bus"], &found[0]["is_card"]), (&bus.into(), &true.into()));
    assert_eq!((&found[1]["bus"], &found[1]["is_card"]), (&nobody.into(), &false.into()));
    // On the bus of the machine: a function with our ids, and one of somebody else.
    let folder = empty.join("bus/pci/devices");
    for (name, ids) in [("0000:03:00.0", 0x5a4e_10ee_u32), ("0000:04:00.0", 0x1234_8086)] {
        let device = folder.join(name);
        std::fs::create_dir_all(&device).expect("a folder");
        std::fs::write(device.join("config"), ids.to_le_bytes()).expect("a file");
    }
    let (_, found) = json_of(&["device", "list", "--sysfs", sysfs], "device_list");
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found[0]["bus"], "vfio:0000:03:00.0");
}

#[test]
fn every_command_refuses_a_non_card() {
    for name in ["info", "counters", "reset", "doctor", "selftest"] {
        check_refusals(&["device", name]);
    }
}
