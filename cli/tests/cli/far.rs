//! `zeronic demo --bus`: a card and its peer in another process.

use serde_json::Value;
use skip::{skip, Need};

use crate::fakes::{Answers, Babble, Fake};
use crate::run::{expect_refusal, expect_success, folder};
use crate::sim_card::Card;

#[test]
fn demo_through_other_process_is_exact() {
    let mut card = Card::with("far", &["--peer", "smoltcp"]);
    let out = folder("far");
    let json = out.join("d.json").to_str().expect("a path").to_owned();
    let bus = card.bus();
    let mut digests = Vec::new();
    for more in [
        &["--transport", "tcp"][..],
        &["--transport", "tcp", "--ipv6", "--seed", "2"],
        &["--transport", "smoltcp", "--seed", "3"],
    ] {
        let arguments = ["demo", "--bus", &bus, "--bytes", "1MiB", "--json", &json];
        let text = expect_success(&[&arguments[..], more].concat());
        for part in ["do not repeat", "of wall time", "every byte is right", "as sent"] {
            assert!(text.contains(part), "'{part}' is not in: {text}");
        }
        let report = std::fs::read(&json).expect("the report");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!((&report["ok"], &report["bytes"]), (&true.into(), &(1 << 20).into()));
        assert!(report["gbps_of_wall_time"].as_f64().is_some_and(|rate| rate > 0.0), "{report}");
        // The other process has counted and judged for itself.
        let said = card.line_with("has ended");
        let digest = report["sha256"].as_str().expect("a digest").to_owned();
        assert!(said.contains("1048576 bytes received, 1048576 sent back"), "{said}");
        assert!(said.contains(&digest), "{said}");
        digests.push(digest);
    }
    digests.dedup();
    assert_eq!(digests.len(), 3, "a seed of its own, bytes of their own");
}

/// The Verilog behind the socket: doorbells by stores and by messages.
#[test]
fn demo_through_verilated_card_is_exact() {
    for doorbells in ["mapped", "messages"] {
        let more = ["--model", "rtl", "--peer", "tcp", "--doorbells", doorbells];
        let mut card = Card::with(&format!("rtl-{doorbells}"), &more);
        let bus = card.bus();
        let demo = ["demo", "--bus", &bus, "--bytes", "20000", "--transport", "smoltcp"];
        let text = expect_success(&demo);
        assert!(text.contains("every byte is right"), "{text}");
        assert!(card.line_with("cycles of 250 MHz").contains("cycles/s"));
        assert!(card.line().contains("the client has gone"), "no rule is broken");
    }
}

#[test]
fn demo_with_message_doorbells_is_exact() {
    let card = Card::with("messages", &["--peer", "smoltcp", "--doorbells", "messages"]);
    let bus = card.bus();
    let demo = ["demo", "--bus", &bus, "--bytes", "300000", "--transport", "tcp"];
    assert!(expect_success(&demo).contains("every byte is right"));
}

/// Every byte comes back although frames are lost, overtaken, doubled and damaged both ways.
#[test]
fn demo_over_faulty_wire_is_exact() {
    let faults = ["--loss", "2%", "--reorder", "2%", "--duplicate", "2%", "--corrupt", "2%"];
    let mut card = Card::with("faults", &[&["--peer", "smoltcp"][..], &faults].concat());
    let bus = card.bus();
    let demo = ["demo", "--bus", &bus, "--bytes", "300000", "--transport", "tcp"];
    let text = expect_success(&demo);
    assert!(text.contains("every byte is right"), "{text}");
    let harm = card.line_with("frames on the wire so far");
    for what in ["lost", "overtaken", "doubled", "damaged"] {
        assert!(harm.contains(what), "{harm}");
    }
}

/// The kernel's TCP at the other end, with jumbo frames.
#[test]
fn demo_with_kernel_peer_is_exact() {
    let card = Card::with("kernel", &["--peer", "auto", "--mtu", "9000"]);
    if !card.serves.contains("Linux kernel TCP") {
        return skip(Need::Namespaces, "the card's process took smoltcp");
    }
    let bus = card.bus();
    let arguments = ["demo", "--bus", &bus, "--bytes", "1MiB", "--mtu", "9000"];
    let text = expect_success(&[&arguments[..], &["--transport", "tcp"]].concat());
    assert!(text.contains("every byte is right"), "{text}");
}

/// What every command says that is to open a card.
pub fn check_refusals(arguments: &[&str]) {
    let with = |bus: &str, parts: &[&str]| {
        expect_refusal(&[arguments, &["--bus", bus]].concat(), parts);
    };
    with("vfio-user:/no/such.sock", &["/no/such.sock", "start the device's server first"]);
    with(&Babble::start().bus(), &["nonsense", "is it the socket of a vfio-user device?"]);
    let fake = |answers| Fake::start(answers);
    let other = fake(Answers { vendor: 0x8086, ..Answers::CARD });
    with(&other.bus(), &["8086:5a4e", "zeronic sim-card"]);
    let newer = fake(Answers { version: 0x0002_0000, ..Answers::CARD });
    with(&newer.bus(), &["0x00020000", "one release"]);
    let golden = fake(Answers { id: r_golden(), ..Answers::CARD });
    with(&golden.bus(), &["golden image", "zeronic flash"]);
    let stranger = fake(Answers { id: 5, ..Answers::CARD });
    with(&stranger.bus(), &["no Zeronic card", "0x00000005"]);
    let gone = fake(Answers { is_gone: true, ..Answers::CARD });
    with(&gone.bus(), &["the card is gone", "power"]);
    with("vfio:9999:01:00.0", &["no PCI device 9999:01:00.0", "device list"]);
    with("vfio:0000:01:00:0", &["no PCI address as 0000:01:00.0"]);
    with("pci", &["'pci'", "vfio-user:SOCKET"]);
}

fn r_golden() -> u32 {
    abi::registers::GOLDEN_ID_VALUE
}

#[test]
fn demo_refuses_a_non_card() {
    check_refusals(&["demo", "--transport", "tcp"]);
}

#[test]
fn taken_card_is_refused() {
    let card = Card::with("busy", &[]);
    let bus = vfio::SocketBus::open(&card.socket).expect("a card");
    expect_refusal(&["demo", "--bus", &card.bus()], &["has a client already"]);
    drop(bus);
}

#[test]
fn options_of_the_other_process_are_refused() {
    let there = ["demo", "--bus", "vfio-user:/no/such.sock"];
    for (option, more) in [
        ("--loss", &["--loss", "1%"][..]),
        ("--wave", &["--wave", "w.fst"]),
        ("--peer", &["--peer", "smoltcp"]),
        ("--memory gpu", &["--memory", "gpu"]),
    ] {
        expect_refusal(&[&there[..], more].concat(), &[option, "sim-card"]);
    }
}
