//! A Linux guest, in QEMU with a stock kernel, finds a served card and uses it: `ci/guest.sh`.

use std::path::Path;
use std::process::Command;

use skip::{skip, Need};

use crate::run::ROOT;

/// Seconds that the guest may take on a busy machine; alone it takes about 20.
const LIMIT_S: &str = "400";

#[test]
fn guest_finds_card_and_moves_bytes() {
    let script = Path::new(ROOT).join("ci/guest.sh");
    let output = Command::new(script)
        .arg(env!("CARGO_BIN_EXE_zeronic"))
        .env("ZERONIC_GUEST_LIMIT", LIMIT_S)
        .output()
        .expect("a script");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        return skip(Need::Guest, errors.trim());
    }
    assert!(output.status.success(), "{said}\n{errors}");
    // Refused before vfio-pci has it, with the remedy; then bound, examined, and used, its link
    // down and up, a device of another driver bound back, and a program killed ten times.
    for wanted in [
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
        "GUEST verdict: all right",
    ] {
        assert!(said.contains(wanted), "the guest did not say `{wanted}`:\n{said}");
    }
}
