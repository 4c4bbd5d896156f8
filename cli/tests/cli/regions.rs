//! Regions of every size, and one answer wherever the allocator puts them.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sim::harness::pcapng::CaptureWriter;
use sim::harness::traffic::{Addresses, PacketSpec};

use crate::run::{expect_success, folder};

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// A capture of a SYN and one packet with `bytes` bytes of payload.
fn capture(path: &Path, bytes: u8) {
    let packet = |sequence, flags, payload| {
        PacketSpec::tcp(
            Addresses::V4([10, 77, 0, 2], [10, 77, 0, 1]),
            (40_000, 5001),
            (sequence, 1),
            flags,
            payload,
        )
    };
    let data = (0..bytes).collect();
    let mut writer = CaptureWriter::create(path, &["wire"]).expect("a file");
    for packet in [packet(999, SYN, Vec::new()), packet(1000, ACK, data)] {
        writer.frame(0, 0, &packet.frame(0)).expect("a frame");
    }
    writer.finish().expect("a file");
}

fn region(name: &str, memory: &str, bytes: u64) -> String {
    format!("[[region]]\nname = \"{name}\"\nmemory = \"{memory}\"\nbytes = {bytes}\n")
}

fn flow(segments: &[(&str, u64, u8)]) -> String {
    let mut text = "card = \"02:00:00:00:00:01\"\n[[flow]]\nname = \"a\"\n".to_owned();
    text += "local = \"10.77.0.1:5001\"\nremote = \"10.77.0.2:40000\"\n";
    for (region, offset, bytes) in segments {
        text += &format!(
            "[[flow.segment]]\nregion = \"{region}\"\noffset = {offset}\nbytes = {bytes}\n"
        );
    }
    text
}

/// Replays one packet that fills all segments, with a model; its summary and its entries.
fn replay(
    name: &str,
    model: &str,
    regions: &[String],
    segments: &[(&str, u64, u8)],
) -> (Value, String) {
    let out: PathBuf = folder(&format!("regions_{name}_{model}"));
    let text = |name: &str| out.join(name).to_str().expect("a path").to_owned();
    let (packets, file) = (text("in.pcapng"), text("flows.toml"));
    capture(Path::new(&packets), segments.iter().map(|s| s.2).sum());
    // The address of the card stands before the first table.
    let content = flow(segments).replacen("[[flow]]", &(regions.concat() + "[[flow]]"), 1);
    std::fs::write(&file, content).expect("a file");
    let out = text(".");
    let printed = expect_success(&[
        "sim", "--model", model, "--rx", &packets, "--flows", &file, "--out", &out,
    ]);
    let entries = std::fs::read_to_string(text("entries.txt")).expect("entries");
    (serde_json::from_str(&printed).expect("JSON"), entries)
}

/// The card of these tests has 64 page entries, and a machine has 256 MiB of DRAM and 64 MiB of GPU
/// memory where nothing asks for more.
#[test]
fn every_region_takes_one_page_entry() {
    let regions = [
        region("257k", "dram", 263_168),
        region("600k", "dram", 600_000),
        region("gpu", "gpu", 65 << 20),
        region("dram", "dram", 257 << 20),
    ];
    let segments = [
        ("257k", 263_138, 30),
        ("600k", 599_970, 30),
        ("gpu", (65 << 20) - 30, 30),
        ("dram", (257 << 20) - 30, 30),
    ];
    for model in ["golden", "rtl"] {
        let (summary, _) = replay("sizes", model, &regions, &segments);
        assert_eq!(summary["ok"], true, "{model}: {summary}");
        let placed = &summary["dispositions"]["placed_in_order"];
        assert_eq!(placed, 1, "{model}: {summary}");
    }
}

/// Fifteen segments of one piece each, and one that crosses a multiple of 16 KiB in its region: 16
/// pieces in a page of 32 KiB, 17 in pages of 4 KiB, which are too many.
#[test]
fn pieces_do_not_depend_on_region_address() {
    let regions = [region("dram", "dram", 20_910), region("gpu", "gpu", 20_082)];
    let mut segments: Vec<_> = (0..15).map(|number| ("gpu", 16 * number, 10)).collect();
    segments.push(("gpu", 16_379, 10));
    let [golden, rtl] = ["golden", "rtl"].map(|model| {
        let (summary, entries) = replay("pieces", model, &regions, &segments);
        let placed = &summary["dispositions"]["placed_in_order"];
        assert_eq!(placed, 1, "{model}: {summary}");
        entries
    });
    assert_eq!(golden, rtl);
}
