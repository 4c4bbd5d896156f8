//! `lspci` reads the configuration space: what it understands is what an operating system will.
//!
//! It is skipped by name where there is no `lspci` (Debian's `pciutils`).

use std::fmt::Write;
use std::process::Command;

use vfio_user::pci::{Bar, ConfigSpace, Identity, Link, Msix, CONFIG_BYTES};

/// The space as `lspci -xxxx` prints it, for `lspci -F`.
fn dump(space: &ConfigSpace) -> String {
    let mut text = "01:00.0 Ethernet controller: a card\n".to_owned();
    for at in (0..CONFIG_BYTES).step_by(16) {
        let mut line = [0; 16];
        space.read(at, &mut line);
        write!(text, "{at:02x}:").unwrap();
        for byte in line {
            write!(text, " {byte:02x}").unwrap();
        }
        text.push('\n');
    }
    text
}

fn card() -> ConfigSpace {
    let identity = Identity {
        vendor: 0x10ee,
        device: 0x5a4e,
        subsystem_vendor: 0x10ee,
        subsystem: 1,
        revision: 1,
        class: 0x02_0000,
        serial: Some(0x1122_3344_5566_7788),
    };
    let bar = Bar { index: 0, bytes: 16 << 20, is_64_bit: true, is_prefetchable: false };
    let msix = Msix { vectors: 16, bar: 0, table: 0x1_0000, pending: 0x1_8000 };
    let link = Link { generation: 3, lanes: 16, payload: 1 };
    ConfigSpace::new(&identity, &[bar], link, Some(msix)).unwrap()
}

#[test]
fn lspci_understands_the_configuration_space() {
    let mut space = card();
    space.write(0x10, &0xd000_0000_u32.to_le_bytes());
    space.write(4, &[6]);
    space.write(0x83, &[0x80]);
    let path = std::env::temp_dir().join(format!("vfu-lspci-{}", std::process::id()));
    std::fs::write(&path, dump(&space)).unwrap();
    let output = Command::new("lspci").arg("-F").arg(&path).args(["-n", "-vvv"]).output();
    std::fs::remove_file(&path).unwrap();
    let output = match output {
        Ok(output) => output,
        Err(error) => return skip::skip(skip::Need::LongRuns, format!("lspci: {error}")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    for expected in [
        "01:00.0 0200: 10ee:5a4e (rev 01)",
        "Subsystem: 10ee:0001",
        "Control: I/O- Mem+ BusMaster+ SpecCycle-",
        "Region 0: Memory at d0000000 (64-bit, non-prefetchable)",
        "Capabilities: [40] Express (v2) Endpoint, MSI 00",
        "MaxPayload 256 bytes, PhantFunc 0",
        "ExtTag+ AttnBtn- AttnInd- PwrInd- RBE+ FLReset+",
        "RlxdOrd+ ExtTag- PhantFunc- AuxPwr- NoSnoop+ FLReset-",
        "LnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM not supported",
        "LnkSta:\tSpeed 8GT/s, Width x16",
        "LnkCap2: Supported Link Speeds: 2.5-8GT/s",
        "LnkCtl2: Target Link Speed: 8GT/s",
        "Capabilities: [80] MSI-X: Enable+ Count=16 Masked-",
        "Vector table: BAR=0 offset=00010000",
        "PBA: BAR=0 offset=00018000",
        "Capabilities: [100 v1] Device Serial Number 11-22-33-44-55-66-77-88",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    for wrong in ["<unassigned>", "access denied", "[disabled]", "chain"] {
        assert!(!text.contains(wrong), "{wrong}\n{text}");
    }
}
