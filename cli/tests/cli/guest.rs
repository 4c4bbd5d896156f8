//! A Linux guest, in QEMU, finds a served card and uses it: `ci/guest.sh`. With a stock kernel in
//! every run; where `ZERONIC_REQUIRE` names `guest`, also with a kernel of our own, which has
//! iommufd, and on a machine of two nodes.

use std::path::Path;
use std::process::Command;

use skip::{skip, Need};

use crate::run::ROOT;

/// Seconds that the guest may take on a busy machine; alone it takes about 20.
const LIMIT_S: &str = "400";

/// What a guest says in these tests, on that kernel; `None`: it cannot be run here.
fn guest(tests: &[&str], kernel: Option<&str>) -> Option<String> {
    let mut script = Command::new(Path::new(ROOT).join("ci/guest.sh"));
    script.arg(env!("CARGO_BIN_EXE_zeronic")).args(tests).env("ZERONIC_GUEST_LIMIT", LIMIT_S);
    if let Some(kernel) = kernel {
        script.env("ZERONIC_GUEST_KERNEL", kernel);
    }
    let output = script.output().expect("a script");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        skip(Need::Guest, errors.trim());
        return None;
    }
    assert!(output.status.success(), "{said}\n{errors}");
    assert!(said.contains("GUEST verdict: all right"), "{said}");
    Some(said)
}

/// Whether more than the gate's guest is demanded; where not, the running test is skipped.
fn is_demanded(what: &str) -> bool {
    let list = std::env::var(skip::REQUIRE).unwrap_or_default();
    let is_demanded = list.split(',').any(|need| need.trim() == Need::Guest.name());
    if !is_demanded {
        skip(Need::Guest, format!("{what}; {}=guest demands it", skip::REQUIRE));
    }
    is_demanded
}

fn expect_said(said: &str, parts: &[&str]) {
    for wanted in parts {
        assert!(said.contains(wanted), "the guest did not say `{wanted}`:\n{said}");
    }
}

#[test]
fn guest_finds_card_and_moves_bytes() {
    let Some(said) = guest(&[], None) else { return };
    // Refused before vfio-pci has it, with the remedy; then bound, examined, and used, its link
    // down and up, a device of another driver bound back, and a program killed ten times.
    let parts = [
        "is bound to no driver: as root, `zeronic device bind 0000:01:00.0",
        "0000:01:00.0: vfio-pci, before: no driver",
        "GUEST /bin/zeronic device selftest",
        "wire, every byte   good",
        "every byte is right",
        "by group and container",
        "FEC mismatch: the other end is heard with RS-FEC",
        "the link is up",
        "GUEST driver that came back: vmxnet3",
        "GUEST killed after 2100 ms",
    ];
    expect_said(&said, &parts);
}

/// The kernel is built once, which takes minutes of a core.
#[test]
fn guest_opens_card_by_iommufd() {
    if !is_demanded("a kernel of our own") {
        return;
    }
    let built = Command::new(Path::new(ROOT).join("ci/guest/kernel.sh")).output();
    let built = built.expect("a script");
    let said = String::from_utf8_lossy(&built.stdout);
    let kernel = said.lines().find_map(|line| line.strip_prefix("guest kernel: /"));
    let Some(kernel) = kernel.filter(|_| built.status.success()) else {
        return skip(Need::Guest, String::from_utf8_lossy(&built.stderr).trim());
    };
    let kernel = format!("/{kernel}");
    let Some(said) = guest(&["card", "bind", "kills"], Some(&kernel)) else { return };
    let parts = ["by device file and iommufd", "wire, every byte   good", "every byte is right"];
    expect_said(&said, &parts);
}

/// The card is at the second of two nodes, and so is the memory that it writes.
#[test]
fn guest_memory_lies_at_card_node() {
    if !is_demanded("a machine of two nodes") {
        return;
    }
    let Some(said) = guest(&["nodes"], None) else { return };
    expect_said(&said, &["GUEST node of the card: 1", "prefer", "node 1, cores 1"]);
}
