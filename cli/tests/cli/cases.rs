//! Small inputs that have failed once, each made here, with what is right about it.
//!
//! | case | what is right |
//! |---|---|
//! | a jumbo option (BIG TCP) | it is no part of the wire: the packet is cut like any other |
//! | an IPv4 header checksum of 0 | completed, received and sent |
//! | an "any" capture of a host that forwards | the card is the far end that receives |
//! | an obsolete packet block | read |
//! | a capture whose writer was killed | the frames up to there, with a word on it |
//! | a SYN with payload | its payload begins one position later |
//! | an IP length of 0, sent | sent whole |
//! | a region of 257 KiB | one page entry |
//! | pieces where a region lies | one answer for one flow file |
//! | a late repetition on a bad wire | nothing that TCP holds is lost |

use std::path::Path;

use serde_json::Value;
use sim::harness::capture::read_capture;

use crate::replay::capture_files::{bytes, write, Layout, Segment, ACK, ETHERNET, SYN, USUAL};
use crate::run::{expect_refusal, expect_success, folder};

const SLL: u32 = 113;
const SLL2: u32 = 276;

/// Memory for 4,096 bytes of the connection of these tests, at an odd address.
const FLOWS: &str = "\
card = \"02:00:00:00:00:01\"
[[region]]
name = \"dram\"
bytes = 5000
[[flow]]
name = \"a\"
local = \"10.77.0.1:5001\"
remote = \"10.77.0.2:40000\"
[[flow.segment]]
region = \"dram\"
offset = 3
bytes = 4096
";

/// Replays a capture on the golden model; its summary.
fn replay(out: &Path, side: &str, capture: &[u8], more: &[&str]) -> Value {
    let capture = write(out, "in.pcap", capture);
    let path = out.to_str().expect("a path");
    let words = ["sim", "--model", "golden", side, &capture, "--out", path];
    let printed = expect_success(&[&words[..], more].concat());
    serde_json::from_str(&printed).expect("JSON")
}

/// The same with the memory of `flows`.
fn replay_with(out: &Path, side: &str, capture: &[u8], flows: &str) -> Value {
    let flows = write(out, "flows.toml", flows.as_bytes());
    replay(out, side, capture, &["--flows", &flows])
}

fn buffer(out: &Path, name: &str) -> Vec<u8> {
    std::fs::read(out.join("buffers").join(name)).expect("a buffer")
}

fn notes(summary: &Value) -> String {
    summary["notes"].to_string()
}

/// Takes the checksum out of an IPv4 header.
fn without_ip_checksum(mut frame: Vec<u8>) -> Vec<u8> {
    frame[24..26].fill(0);
    frame
}

/// A packet longer than any IP length, with the jumbo option that Linux puts in front of TCP.
fn big_tcp(from_card: bool, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut segment = Segment::new(from_card, sequence, ACK, &payload[..100]);
    segment.is_ipv6 = true;
    let mut frame = segment.frame();
    frame.truncate(74);
    frame.extend(payload);
    let sum = pseudo_header(&frame, payload.len() + 20);
    frame[70..72].copy_from_slice(&sum.to_be_bytes());
    let length = (payload.len() + 28) as u32;
    let option = [&[6, 0, 0xc2, 4][..], &length.to_be_bytes()].concat();
    frame.splice(54..54, option);
    (frame[18], frame[19], frame[20]) = (0, 0, 0);
    frame
}

/// The sum of the pseudo-header of a TCP packet of IPv6, not inverted.
fn pseudo_header(frame: &[u8], tcp_bytes: usize) -> u16 {
    let words = frame[22..54].chunks(2);
    let words = words.map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let mut sum = words.sum::<u32>() + 6 + tcp_bytes as u32;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn big_syn(from_card: bool, mss: u16) -> Vec<u8> {
    let mut syn = Segment::new(from_card, 999, SYN, &[]);
    syn.is_ipv6 = true;
    syn.options = [&[2, 4][..], &mss.to_be_bytes()].concat();
    syn.frame()
}

#[test]
fn big_tcp_jumbo_option_leaves_the_wire() {
    let out = folder("case_jumbo");
    let data = bytes(65_516, 0);
    let frames = [big_syn(false, 1440), big_tcp(false, 1_000, &data)];
    let summary = replay(&out, "--rx", &USUAL.pcap(ETHERNET, &frames), &[]);
    assert_eq!(summary["packets_cut"], 1, "{summary}");
    assert_eq!(summary["dispositions"]["placed_in_order"], 46, "{summary}");
    assert_eq!(summary["drops"], serde_json::json!({}), "{summary}");
    assert_eq!(buffer(&out, "c1-0.bin"), data);
    assert!(notes(&summary).contains("jumbo option"), "{summary}");
    // Nothing is said of checksums that were left to a card.
    assert!(!notes(&summary).contains("wrong"), "{summary}");
    // The same, sent; its receiver's SYN allows 1,440 bytes.
    let frames = [big_syn(true, 1440), big_syn(false, 1440), big_tcp(true, 1_000, &data)];
    let summary = replay(&out, "--tx", &USUAL.pcap(ETHERNET, &frames), &[]);
    assert_eq!((&summary["packets_cut"], &summary["frames_sent"]), (&1.into(), &47.into()));
    assert_eq!((&summary["identical"], &summary["payload_bytes"]), (&true.into(), &65_516.into()));
}

#[test]
fn ipv4_checksum_0_is_completed() {
    let out = folder("case_checksum");
    let segments = |from_card| {
        let syn = Segment::new(from_card, 999, SYN, &[]).frame();
        let data = Segment::new(from_card, 1_000, ACK, &bytes(100, 0)).frame();
        [syn, data].map(without_ip_checksum)
    };
    let summary = replay(&out, "--rx", &USUAL.pcap(ETHERNET, &segments(false)), &[]);
    assert_eq!(summary["checksums_completed"], 2, "{summary}");
    assert_eq!(summary["dispositions"]["placed_in_order"], 1, "{summary}");
    assert_eq!(buffer(&out, "c1-0.bin"), bytes(100, 0));
    let summary = replay(&out, "--tx", &USUAL.pcap(ETHERNET, &segments(true)), &[]);
    let counts = (&summary["checksums_completed"], &summary["payload_bytes"]);
    assert_eq!(counts, (&2.into(), &100.into()), "{summary}");
    // A damaged one stays: the card drops the frame, and a note says that nothing has arrived.
    let mut damaged = segments(false);
    for frame in &mut damaged {
        frame[24] ^= 0x10;
    }
    let summary = replay(&out, "--rx", &USUAL.pcap(ETHERNET, &damaged), &[]);
    assert_eq!(summary["drops"]["ip_checksum"], 2, "{summary}");
    let said = "The card has dropped every frame: ip_checksum: 2.";
    assert!(notes(&summary).contains(said), "{summary}");
}

/// Packets of "any" captures: each once as received (type 0), once as sent (type 4).
fn forward_packets(link: u32, segments: &[Segment]) -> Vec<u8> {
    let frames = segments.iter().flat_map(|segment| {
        [0, 4].map(|packet_type| {
            let packet = segment.frame()[14..].to_vec();
            let mut head = if link == SLL { vec![0; 16] } else { vec![0; 20] };
            let (kind_at, type_at) = if link == SLL { (14, 1) } else { (0, 10) };
            head[kind_at] = 8;
            head[type_at] = packet_type;
            [head, packet].concat()
        })
    });
    USUAL.pcap(link, &frames.collect::<Vec<_>>())
}

#[test]
fn forwarding_host_is_not_the_card() {
    let out = folder("case_forwarded");
    let segments =
        [Segment::new(false, 999, SYN, &[]), Segment::new(false, 1_000, ACK, &bytes(100, 0))];
    for link in [SLL, SLL2] {
        let summary = replay(&out, "--rx", &forward_packets(link, &segments), &[]);
        assert_eq!(summary["card"][0]["address"], "10.77.0.1", "{summary}");
        assert_eq!(buffer(&out, "c1-0.bin"), bytes(100, 0));
        let dispositions = serde_json::json!({"no_payload": 2, "old": 1, "placed_in_order": 1});
        assert_eq!(summary["dispositions"], dispositions, "{summary}");
    }
}

/// Where the capture's host has sent all, it has nothing to receive: the other side has.
#[test]
fn idle_side_is_not_the_card() {
    let out = folder("case_nothing_to_do");
    let only_sent = |packet_type: u8| {
        let frames =
            [Segment::new(false, 999, SYN, &[]), Segment::new(false, 1_000, ACK, &bytes(100, 0))]
                .map(|segment| {
                    let mut head = vec![0; 16];
                    (head[1], head[14]) = (packet_type, 8);
                    [head, segment.frame()[14..].to_vec()].concat()
                });
        USUAL.pcap(SLL, &frames)
    };
    let summary = replay(&out, "--rx", &only_sent(4), &[]);
    assert_eq!(summary["card"][0]["address"], "10.77.0.1", "{summary}");
    let why =
        "receives all packets, the other side none (the capture says that it has sent packets)";
    assert_eq!(summary["card"][0]["why"], why, "{summary}");
    assert_eq!(buffer(&out, "c1-0.bin"), bytes(100, 0));
    let summary = replay(&out, "--tx", &only_sent(4), &[]);
    assert_eq!(summary["card"][0]["address"], "10.77.0.2", "{summary}");
    assert_eq!(summary["payload_bytes"], 100, "{summary}");
    // Named, it is the one that was named, and the line says what to change.
    let capture = write(&out, "in.pcap", &only_sent(4));
    let path = out.to_str().expect("a path");
    let words = ["sim", "--model", "golden", "--rx", &capture, "--out", path];
    let named = ["--card", "10.77.0.2"];
    expect_refusal(
        &[&words[..], &named].concat(),
        &["in.pcap", "no frame goes to the card, 10.77.0.2 (named with --card)", "--card ADDRESS"],
    );
}

#[test]
fn an_obsolete_packet_block_is_read() {
    let out = folder("case_obsolete");
    let syn = Segment::new(false, 999, SYN, &[]).frame();
    let [first, second] = [(1_000, 0..200), (1_200, 200..500)]
        .map(|(sequence, part)| Segment::new(false, sequence, ACK, &bytes(500, 0)[part]).frame());
    for is_big in [false, true] {
        let layout = Layout { is_big, is_nanoseconds: false };
        let file = [
            layout.section(),
            layout.interface(1, 0),
            layout.enhanced(0, &syn, syn.len()),
            layout.obsolete(0, &first, first.len()),
            layout.enhanced(0, &second, second.len()),
        ]
        .concat();
        let summary = replay_with(&out, "--rx", &file, FLOWS);
        assert_eq!(summary["dispositions"]["placed_in_order"], 2, "{summary}");
        assert_eq!(summary["skipped"], serde_json::json!([]), "{summary}");
        assert_eq!(buffer(&out, "a-0.bin")[..500], bytes(500, 0));
    }
}

#[test]
fn killed_captures_complete_frames_are_replayed() {
    let out = folder("case_killed");
    let frames = [
        Segment::new(false, 999, SYN, &[]),
        Segment::new(false, 1_000, ACK, &bytes(200, 0)),
        Segment::new(false, 1_200, ACK, &bytes(300, 200)),
    ]
    .map(|segment| segment.frame());
    let mut file = USUAL.pcap(ETHERNET, &frames);
    file.truncate(file.len() - 30);
    let summary = replay_with(&out, "--rx", &file, FLOWS);
    assert_eq!((&summary["ok"], &summary["frames_in"]), (&true.into(), &2.into()), "{summary}");
    assert_eq!(summary["skipped"][0]["frame"], 3, "{summary}");
    assert!(notes(&summary).contains("ends inside frame 3"), "{summary}");
    assert_eq!(buffer(&out, "a-0.bin")[..200], bytes(200, 0));
}

#[test]
fn syn_payload_and_length_0_are_kept() {
    let out = folder("case_sent");
    let sent = |summary: &Value| {
        let has_skipped = summary["skipped"] != serde_json::json!([]);
        assert!(summary["identical"] == true && !has_skipped, "{summary}");
        let frames = read_capture(&out.join("sent.pcapng")).expect("a capture").frames;
        frames.into_iter().map(|frame| frame.bytes).collect::<Vec<_>>()
    };
    let hello = Segment::new(true, 999, SYN, b"hello").frame();
    let world = Segment::new(true, 1_005, ACK, b"world").frame();
    let capture = USUAL.pcap(ETHERNET, &[hello.clone(), world.clone()]);
    let frames = sent(&replay_with(&out, "--tx", &capture, FLOWS));
    assert_eq!((&frames[0][..59], &frames[1][..59]), (&hello[..], &world[..]));
    let syn = Segment::new(true, 999, SYN, &[]).frame();
    let whole = Segment::new(true, 1_000, ACK, &bytes(3_000, 0)).frame();
    let mut zero = whole.clone();
    zero[16..18].fill(0);
    let summary = replay_with(&out, "--tx", &USUAL.pcap(ETHERNET, &[syn, zero]), FLOWS);
    assert_eq!(sent(&summary)[1], whole);
}

#[test]
fn region_of_257_kib_takes_one_entry() {
    let out = folder("case_region");
    let flows =
        FLOWS.replace("bytes = 5000", "bytes = 263168").replace("offset = 3", "offset = 262000");
    let flows = flows.replace("bytes = 4096", "bytes = 1168");
    let frames = [
        Segment::new(false, 999, SYN, &[]).frame(),
        Segment::new(false, 1_000, ACK, &bytes(1_168, 0)).frame(),
    ];
    let summary = replay_with(&out, "--rx", &USUAL.pcap(ETHERNET, &frames), &flows);
    assert_eq!(summary["dispositions"]["placed_in_order"], 1, "{summary}");
    assert_eq!(buffer(&out, "a-0.bin"), bytes(1_168, 0));
}

/// Sixteen segments, the last one across a multiple of 16 KiB of its region: the same answer
/// whatever regions lie before it.
#[test]
fn pieces_follow_from_flow_file_alone() {
    let out = folder("case_pieces");
    let head = FLOWS.split("[[flow.segment]]").next().expect("a head");
    let answers = [0, 1, 3].map(|before| {
        let regions: String = (0..before)
            .map(|number| format!("[[region]]\nname = \"r{number}\"\nbytes = 20910\n"))
            .collect();
        let gpu = "[[region]]\nname = \"gpu\"\nbytes = 20082\nmemory = \"gpu\"\n";
        let mut flows = head.replace("[[flow]]", &format!("{regions}{gpu}[[flow]]"));
        for number in 0..16 {
            let offset = if number == 15 { 16_379 } else { 16 * number };
            flows +=
                &format!("[[flow.segment]]\nregion = \"gpu\"\noffset = {offset}\nbytes = 10\n");
        }
        let frames = [
            Segment::new(false, 999, SYN, &[]).frame(),
            Segment::new(false, 1_000, ACK, &bytes(160, 0)).frame(),
        ];
        let summary = replay_with(&out, "--rx", &USUAL.pcap(ETHERNET, &frames), &flows);
        summary["dispositions"].clone()
    });
    let right = serde_json::json!({"no_payload": 1, "placed_in_order": 1});
    assert_eq!(answers, [right.clone(), right.clone(), right]);
}

/// Late repetitions beside losses. That the host loses nothing of them is shown packet by packet in
/// its own tests; here every byte arrives.
#[test]
fn late_repetitions_cost_no_byte() {
    let text = expect_success(&[
        "demo",
        "--config",
        "small",
        "--peer",
        "smoltcp",
        "--transport",
        "smoltcp",
        "--mtu",
        "576",
        "--bytes",
        "16KiB",
        "--loss",
        "5%",
        "--reorder",
        "10%",
        "--duplicate",
        "5%",
        "--corrupt",
        "10%",
        "--seed",
        "2",
    ]);
    assert!(text.contains("every byte is right"), "{text}");
}

/// What hosts merge or leave to a card has one of three checksums; with another one the capture
/// cannot say what was on the wire, and a note does.
#[test]
fn merged_packets_wrong_checksum_is_named() {
    let out = folder("case_merged_wrong");
    for is_ip in [false, true] {
        let mut merged = Segment::new(false, 1_000, ACK, &bytes(20_000, 0)).frame();
        merged[if is_ip { 25 } else { 51 }] ^= 1;
        let frames = [Segment::new(false, 999, SYN, &[]).frame(), merged];
        let summary = replay(&out, "--rx", &USUAL.pcap(ETHERNET, &frames), &[]);
        assert_eq!(summary["packets_cut"], 1, "{summary}");
        let said = "whose checksum is wrong: 1, the first one is frame 2.";
        assert!(notes(&summary).contains(said), "{summary}");
    }
    let merged = Segment::new(false, 1_000, ACK, &bytes(20_000, 0)).frame();
    let frames = [Segment::new(false, 999, SYN, &[]).frame(), merged];
    let summary = replay(&out, "--rx", &USUAL.pcap(ETHERNET, &frames), &[]);
    assert_eq!(notes(&summary), "[]");
}

#[test]
fn ipv4_packet_of_other_version_is_ignored() {
    let out = folder("case_version");
    let mut other = Segment::new(false, 50, ACK, &bytes(2_000, 0)).frame();
    other[14] = 0x55;
    other[34] ^= 1;
    let frames = [
        Segment::new(false, 999, SYN, &[]).frame(),
        Segment::new(false, 1_000, ACK, &bytes(100, 0)).frame(),
        other,
    ];
    let summary = replay(&out, "--rx", &USUAL.pcap(ETHERNET, &frames), &[]);
    assert_eq!(summary["connections"]["found"], 1, "{summary}");
}

/// What lies below the floor is not sent, so that the frames are not those of the capture.
#[test]
fn packet_starting_below_floor_is_sent_changed() {
    let out = folder("case_floor");
    let flows = FLOWS.replace("[[flow.segment]]", "floor = 40\n[[flow.segment]]");
    let frames = [
        Segment::new(true, 999, SYN, &[]).frame(),
        Segment::new(true, 1_000, ACK, &bytes(100, 0)).frame(),
        Segment::new(true, 1_100, ACK, &bytes(100, 100)).frame(),
    ];
    let summary = replay_with(&out, "--tx", &USUAL.pcap(ETHERNET, &frames), &flows);
    assert_eq!((&summary["ok"], &summary["identical"]), (&true.into(), &false.into()), "{summary}");
    let counts = (&summary["packets_trimmed"], &summary["payload_bytes"]);
    assert_eq!(counts, (&1.into(), &160.into()), "{summary}");
    assert!(notes(&summary).contains("the first one is frame 2"), "{summary}");
}

#[test]
fn stream_without_beginning_names_its_file() {
    let out = folder("case_no_syn");
    let capture = [Segment::new(false, 1_000, ACK, &bytes(100, 0)).frame()];
    let capture = write(&out, "in.pcap", &USUAL.pcap(ETHERNET, &capture));
    let flows = write(&out, "flows.toml", FLOWS.as_bytes());
    let path = out.to_str().expect("a path");
    expect_refusal(
        &["sim", "--model", "golden", "--rx", &capture, "--flows", &flows, "--out", path],
        &["in.pcap", "flow 'a'", "no SYN from 10.77.0.2:40000", "absolute"],
    );
}
