//! Replays without a flow file: connections, the card's side, and memory come from the capture.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::replay::capture_files::{bytes, write, Segment, ACK, PEER_ETHERNET, SYN, USUAL};
use crate::run::{buffers, example, expect_refusal, expect_success, folder, zeronic};

/// Replays on the golden model without a flow file, or with what `more` says.
fn replay(side: &str, capture: &str, out: &Path, more: &[&str]) -> Value {
    let path = out.to_str().expect("a path");
    let words = ["sim", "--model", "golden", side, capture, "--out", path];
    let printed = expect_success(&[&words[..], more].concat());
    serde_json::from_str(&printed).expect("JSON")
}

/// A capture of segments.
fn write_capture(out: &Path, segments: &[Segment]) -> String {
    let frames: Vec<_> = segments.iter().map(Segment::frame).collect();
    write(out, "in.pcap", &USUAL.pcap(1, &frames))
}

/// Everything that a replay wrote, by name, without what is said of the capture.
fn results(out: &Path) -> BTreeMap<String, Vec<u8>> {
    // A replay of the send side has none.
    let mut files = buffers(out).unwrap_or_default();
    for name in ["entries.txt", "sent.pcapng"] {
        if let Ok(bytes) = std::fs::read(out.join(name)) {
            files.insert(name.to_owned(), bytes);
        }
    }
    let summary = std::fs::read_to_string(out.join("summary.json")).expect("a summary");
    let mut summary: Value = serde_json::from_str(&summary).expect("JSON");
    let object = summary.as_object_mut().expect("an object");
    for learned in ["card", "connections"] {
        object.remove(learned);
    }
    files.insert("summary".to_owned(), summary.to_string().into_bytes());
    files
}

/// The flow file that a replay wrote gives the same replay.
fn same_again(side: &str, name: &str, cards: &[&str]) -> Value {
    let out = folder(&format!("learned_{name}_{}", &side[2..]));
    let again = folder(&format!("learned_{name}_{}_again", &side[2..]));
    let capture = example(name);
    let flows = again.join("flows.toml");
    let flows = flows.to_str().expect("a path");
    let summary = replay(side, &capture, &out, &[cards, &["--write-flows", flows]].concat());
    replay(side, &capture, &again, &["--flows", flows]);
    assert!(results(&out) == results(&again), "see {} and {}", out.display(), again.display());
    summary
}

#[test]
fn a_capture_alone_is_enough() {
    let summary = same_again("--rx", "receive.pcapng", &[]);
    assert_eq!(summary["ok"], true, "{summary}");
    // Four of the flow file, and one that it leaves out.
    assert_eq!(summary["connections"]["taken"], 5, "{summary}");
    let cards = summary["card"].as_array().expect("a list");
    let addresses: Vec<_> = cards.iter().map(|card| card["address"].as_str()).collect();
    assert_eq!(addresses, [Some("10.77.0.1"), Some("fd77::1")], "{summary}");
    assert!(cards[0]["why"].as_str().is_some_and(|why| why.starts_with("receives ")));
    let buffers = summary["buffers"].as_array().expect("buffers");
    let written: u64 = buffers.iter().filter_map(|it| it["written_bytes"].as_u64()).sum();
    assert_eq!(written, 30_000 + 20_011 + 25_000 + 15_001 + 100, "{summary}");
}

#[test]
fn capture_alone_is_enough_for_sending() {
    let summary = same_again("--tx", "send.pcapng", &[]);
    assert_eq!((&summary["ok"], &summary["identical"]), (&true.into(), &true.into()), "{summary}");
    assert!(summary["payload_bytes"].as_u64().is_some_and(|bytes| bytes > 90_000), "{summary}");
}

#[test]
fn the_card_may_be_named() {
    for cards in [
        &["--card", "10.77.0.2", "--card", "fd77::2"][..],
        &["--card", "02:00:00:00:00:02"],
        &["--card", "02:00:00:00:00:02", "--card", "10.77.0.2"],
        &["--card", "10.77.0.2:40000", "--card", "10.77.0.2"],
    ] {
        let summary = same_again("--rx", "receive.pcapng", cards);
        let named = summary["card"].as_array().expect("a list");
        assert!(named.iter().all(|it| it["why"] == "named with --card"), "{summary}");
        assert!(named.iter().any(|it| it["address"] == "10.77.0.2"), "{summary}");
    }
    let out = folder("learned_stranger");
    let path = out.to_str().expect("a path");
    let capture = example("receive.pcapng");
    let words = ["sim", "--rx", &capture, "--out", path, "--card"];
    expect_refusal(
        &[&words[..], &["10.9.9.9"]].concat(),
        &["receive.pcapng", "no connection of --card 10.9.9.9", "10.77.0.2"],
    );
    expect_refusal(&[&words[..], &["10.9.9"]].concat(), &["10.9.9", "--card"]);
    let both = ["--flows", "a.toml", "--write-flows", "b.toml"];
    expect_refusal(&[&words[..5], &both].concat(), &["--flows", "--write-flows"]);
}

/// A download: the card is the client, which receives most.
#[test]
fn larger_receiver_is_the_card() {
    let out = folder("learned_download");
    let segments = [
        Segment::new(true, 4_999, SYN, &[]),
        Segment::new(false, 999, SYN | ACK, &[]),
        Segment::new(true, 5_000, ACK, &bytes(40, 0)),
        Segment::new(false, 1_000, ACK, &bytes(1_000, 0)),
        Segment::new(false, 2_000, ACK, &bytes(900, 1_000)),
    ];
    let capture = write_capture(&out, &segments);
    let summary = replay("--rx", &capture, &out, &[]);
    assert_eq!(summary["card"][0]["address"], "10.77.0.1", "{summary}");
    let why = "receives 1900 bytes of payload, the other side 40";
    assert_eq!(summary["card"][0]["why"], why, "{summary}");
    let buffer = std::fs::read(out.join("buffers/c1-0.bin")).expect("a buffer");
    assert_eq!(buffer, bytes(1_900, 0));
    // When sending, it is the side that sends most.
    let summary = replay("--tx", &capture, &out, &[]);
    assert_eq!(summary["card"][0]["address"], "10.77.0.2", "{summary}");
    assert_eq!(summary["payload_bytes"], 1_900, "{summary}");
    // Without payload it is the side that answers.
    let capture = write_capture(&out, &segments[..2]);
    let summary = replay("--rx", &capture, &out, &[]);
    assert_eq!(summary["card"][0]["address"], "10.77.0.2", "{summary}");
    assert_eq!(summary["card"][0]["why"], "answers the SYN", "{summary}");
}

/// In a capture of all interfaces the link's header says who has sent a packet.
#[test]
fn capturing_host_is_the_card() {
    let out = folder("learned_cooked");
    let cooked = |segment: &Segment, packet_type: u8| {
        let mut head = vec![0; 16];
        (head[1], head[14]) = (packet_type, 8);
        [head, segment.frame()[14..].to_vec()].concat()
    };
    let packets = [
        cooked(&Segment::new(true, 999, SYN, &[]), 0),
        cooked(&Segment::new(true, 1_000, ACK, &bytes(30, 0)), 0),
        cooked(&Segment::new(false, 5_000, ACK, &bytes(500, 0)), 4),
    ];
    let capture = write(&out, "in.pcap", &USUAL.pcap(113, &packets));
    let summary = replay("--rx", &capture, &out, &[]);
    assert_eq!(summary["card"][0]["address"], "10.77.0.2", "{summary}");
    assert_eq!(summary["card"][0]["why"], "the capture says that it has sent packets");
    assert_eq!(summary["frames_outgoing"], 1, "{summary}");
}

/// Without a SYN positions are sequence numbers; here they pass 2^32.
#[test]
fn capture_beginning_midstream_is_replayed() {
    let out = folder("learned_middle");
    let first = u32::MAX - 99;
    let mut segments = vec![Segment::new(false, first.wrapping_add(200), ACK, &bytes(100, 200))];
    for number in [0, 1, 3] {
        let at = 100 * number;
        let sequence = first.wrapping_add(at);
        segments.push(Segment::new(false, sequence, ACK, &bytes(100, at as usize)));
    }
    // A damaged number makes no memory, and another connection of the same ports has none.
    segments.push(Segment::new(false, first.wrapping_add(1 << 29), ACK, &[1]));
    segments.push(Segment::new(false, 7, SYN, &[]));
    segments.push(Segment::new(false, 8, ACK, &[1; 1000]));
    let capture = write_capture(&out, &segments);
    let summary = replay("--rx", &capture, &out, &[]);
    let buffer = &summary["buffers"][0];
    assert_eq!((&buffer["position"], &buffer["bytes"]), (&first.into(), &400.into()));
    let content = std::fs::read(out.join("buffers/c1-0.bin")).expect("a buffer");
    assert_eq!(content, bytes(400, 0));
    let note = summary["notes"][0].as_str().expect("a note");
    assert!(note.contains("frame 6"), "{note}");
}

/// A connection that is tried again before there is payload counts from its last SYN.
#[test]
fn a_connection_that_was_tried_twice() {
    let out = folder("learned_twice");
    let segments = [
        Segment::new(false, 50, SYN, &[]),
        Segment::new(false, 999, SYN, &[]),
        Segment::new(false, 999, SYN, &[]),
        Segment::new(false, 1_100, ACK, &bytes(100, 100)),
        Segment::new(false, 1_000, ACK, &bytes(100, 0)),
    ];
    let summary = replay("--rx", &write_capture(&out, &segments), &out, &[]);
    let buffer = &summary["buffers"][0];
    assert_eq!((&buffer["position"], &buffer["bytes"]), (&1_000.into(), &200.into()));
    let content = std::fs::read(out.join("buffers/c1-0.bin")).expect("a buffer");
    assert_eq!(content, bytes(200, 0));
}

/// Both ends have one Ethernet address and one IP address: the ports tell them apart.
#[test]
fn self_connection_of_host_is_handled() {
    let out = folder("learned_loopback");
    let mut frames = Vec::new();
    for segment in [
        Segment::new(false, 999, SYN, &[]),
        Segment::new(true, 4_999, SYN | ACK, &[]),
        Segment::new(false, 1_000, ACK, &bytes(500, 0)),
        Segment::new(true, 5_000, ACK, &bytes(20, 0)),
    ] {
        let mut frame = segment.frame();
        frame[..12].fill(0);
        // Addresses 127.0.0.1, and the checksums that go with them.
        for at in [26, 30] {
            frame[at..at + 4].copy_from_slice(&[127, 0, 0, 1]);
        }
        checksums(&mut frame);
        frames.push(frame);
    }
    let capture = write(&out, "in.pcap", &USUAL.pcap(1, &frames));
    for side in ["--rx", "--tx"] {
        let named = ["--card", "127.0.0.1:5001"];
        for more in [&named[..], &[]] {
            let summary = replay(side, &capture, &out, more);
            let count = if side == "--rx" { "frames_in" } else { "frames_expected" };
            assert_eq!(summary[count], 2, "{summary}");
            if side == "--rx" {
                assert_eq!(summary["buffers"][0]["written_bytes"], 500, "{summary}");
            }
        }
    }
}

/// Right checksums of TCP over IPv4 without options.
fn checksums(frame: &mut [u8]) {
    let sum = |bytes: &[u8], start: u32| {
        let words = bytes
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |byte| u32::from(*byte)));
        let mut sum = start + words.sum::<u32>();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    };
    frame[24..26].fill(0);
    let ip = sum(&frame[14..34], 0);
    frame[24..26].copy_from_slice(&ip.to_be_bytes());
    frame[50..52].fill(0);
    let pseudo = frame[26..34].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let start = pseudo.sum::<u32>() + 6 + (frame.len() as u32 - 34);
    let tcp = sum(&frame[34..], start);
    frame[50..52].copy_from_slice(&tcp.to_be_bytes());
}

/// A host that captures sees packets that its card has merged, and checksums that none completes.
#[test]
fn capturing_hosts_changes_are_undone() {
    for is_ipv6 in [false, true] {
        let out = folder("learned_merged");
        let segment = |from_card, sequence, flags, payload: &[u8]| {
            let mut segment = Segment::new(from_card, sequence, flags, payload);
            segment.is_ipv6 = is_ipv6;
            segment
        };
        // What the card allows its peer to send in a frame.
        let mut own = segment(true, 70, SYN | ACK, &[]);
        own.options = vec![2, 4, 0x03, 0xe8];
        let merged = segment(false, 1_000, ACK, &bytes(60_000, 0));
        let tcp = if is_ipv6 { 54 } else { 34 };
        // Of the pseudo-header alone, and length 0 with it.
        let mut partial = segment(false, 61_000, ACK, &bytes(500, 60_000)).frame();
        let sum = pseudo_header(&partial[..], is_ipv6);
        partial[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
        let mut zero = segment(false, 61_500, ACK, &bytes(300, 60_500)).frame();
        let length = if is_ipv6 { 18..20 } else { 16..18 };
        zero[length].fill(0);
        // A damaged one stays as it is.
        let mut damaged = segment(false, 61_800, ACK, &bytes(300, 60_800)).frame();
        damaged[tcp + 17] ^= 1;
        let frames = [
            segment(false, 999, SYN, &[]).frame(),
            own.frame(),
            merged.frame(),
            partial,
            zero,
            damaged,
        ];
        let capture = write(&out, "in.pcap", &USUAL.pcap(1, &frames));
        let summary = replay("--rx", &capture, &out, &[]);
        let count = |name: &str| summary[name].as_u64().unwrap_or(u64::MAX);
        assert_eq!((count("packets_cut"), count("checksums_completed")), (1, 1), "{summary}");
        // A SYN, 60 frames of 1,000 bytes, three others.
        assert_eq!(count("frames_in"), 1 + 60 + 3, "{summary}");
        assert_eq!(summary["dispositions"]["placed_in_order"], 62, "{summary}");
        assert_eq!(summary["drops"]["l4_checksum"], 1, "{summary}");
        let buffer = std::fs::read(out.join("buffers/c1-0.bin")).expect("a buffer");
        assert_eq!(buffer[..60_800], bytes(60_800, 0));
        // The same with runs: the 60 frames that a host had merged are one entry of 60 packets.
        let summed = replay("--rx", &capture, &out, &["--coalesce"]);
        assert_eq!(summed["ok"], true, "{summed}");
        for same in ["frames_in", "dispositions", "drops", "buffers", "wrong_bytes"] {
            assert_eq!(summed[same], summary[same], "{same}");
        }
        let [runs, packets] = [0, 1].map(|at| summed["runs"][at].as_u64());
        assert_eq!((runs, packets), (Some(1), Some(61)), "{summed}");
        let entries = std::fs::read_to_string(out.join("entries.txt")).expect("entries");
        assert!(entries.contains(" run flow=c1 packets=61 payload=60500 "), "{entries}");
        // The Verilated card places the same.
        let rtl = folder(&format!("learned_changes_rtl_{is_ipv6}"));
        let path = rtl.to_str().expect("a path");
        let printed = expect_success(&["sim", "--rx", &capture, "--out", path, "--coalesce"]);
        let of_rtl: Value = serde_json::from_str(&printed).expect("JSON");
        for same in ["ok", "dispositions", "drops"] {
            assert_eq!(of_rtl[same], summed[same], "{same}");
        }
        assert_eq!(buffers(&out).expect("buffers"), buffers(&rtl).expect("buffers"));
    }
}

/// The sum of the pseudo-header of a TCP packet without tags, not inverted.
fn pseudo_header(frame: &[u8], is_ipv6: bool) -> u16 {
    let (addresses, tcp) = if is_ipv6 { (22..54, 54) } else { (26..34, 34) };
    let words = frame[addresses].chunks(2);
    let words = words.map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum = words.sum::<u32>() + 6 + (frame.len() - tcp) as u32;
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// The card of these tests has 64 flows.
#[test]
fn largest_of_many_connections_are_taken() {
    let out = folder("learned_many");
    let mut frames = Vec::new();
    for number in 0..70_u16 {
        for flags in [SYN, ACK] {
            let data = bytes(if flags == SYN { 0 } else { 10 + usize::from(number) }, 0);
            let sequence = 1_000 - u32::from(flags == SYN);
            let mut frame = Segment::new(false, sequence, flags, &data).frame();
            frame[34..36].copy_from_slice(&(40_000 + number).to_be_bytes());
            checksums(&mut frame);
            frames.push(frame);
        }
    }
    let capture = write(&out, "in.pcap", &USUAL.pcap(1, &frames));
    let summary = replay("--rx", &capture, &out, &[]);
    let connections = &summary["connections"];
    let counts = ["found", "taken", "beyond_the_table", "of_others"]
        .map(|name| connections[name].as_u64().unwrap_or(u64::MAX));
    assert_eq!(counts, [70, 64, 6, 0], "{summary}");
    let note = summary["notes"][0].as_str().expect("a note");
    assert!(note.contains("6 connections") && note.contains("16384"), "{note}");
    assert_eq!(summary["dispositions"]["placed_in_order"], 64, "{summary}");
    // Those with least payload: six SYNs and six packets.
    assert_eq!(summary["dispositions"]["no_flow"], 12, "{summary}");
    assert_eq!(summary["buffers"][0]["bytes"], 79, "{summary}");
}

/// Without a connection the card gets what goes to its address, and has no flow.
#[test]
fn a_capture_without_a_connection() {
    let out = folder("learned_none");
    let path = out.to_str().expect("a path");
    let datagram = |from_card, bytes: &[u8]| {
        let mut frame = Segment::new(from_card, 0, ACK, bytes).frame();
        // A length that UDP does not allow: the card drops it.
        frame[23] = 17;
        ip_checksum(&mut frame);
        frame
    };
    let mut broadcast = vec![0xff; 1000];
    broadcast[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 8, 6]);
    let frames = [datagram(false, &[1; 20]), datagram(true, &[1; 10]), broadcast];
    let capture = write(&out, "in.pcap", &USUAL.pcap(1, &frames));
    let flows = out.join("flows.toml");
    let flows = flows.to_str().expect("a path");
    let summary = replay("--rx", &capture, &out, &["--write-flows", flows]);
    assert_eq!(summary["card"][0]["address"], "02:00:00:00:00:01", "{summary}");
    assert_eq!(summary["card"][0]["why"], "receives most: 74 bytes", "{summary}");
    let counts = [&summary["frames_in"], &summary["frames_outgoing"]];
    assert_eq!(counts, [1, 2], "{summary}");
    assert_eq!(summary["drops"]["malformed_l4"], 1, "{summary}");
    let before = results(&out);
    let again = replay("--rx", &capture, &out, &["--flows", flows]);
    assert_eq!(again["drops"], summary["drops"]);
    assert_eq!(before["entries.txt"], results(&out)["entries.txt"]);
    // The other one, of raw IP too.
    let summary = replay("--rx", &capture, &out, &["--card", "10.77.0.2"]);
    assert_eq!(summary["frames_in"], 2, "{summary}");
    let packets = frames[..2].iter().map(|frame| frame[14..].to_vec());
    let packets: Vec<_> = packets.collect();
    let capture = write(&out, "raw.pcap", &USUAL.pcap(101, &packets));
    let summary = replay("--tx", &capture, &out, &[]);
    assert_eq!(summary["card"][0]["address"], "10.77.0.2", "{summary}");
    assert_eq!(summary["frames_sent"], 1, "{summary}");
    // Nothing goes to the card: all that was captured comes from it.
    let segment = Segment::new(true, 0, ACK, &[1; 20]);
    let capture = write_capture(&out, &[segment]);
    let words = ["sim", "--rx", &capture, "--out", path, "--card", "10.77.0.1"];
    expect_refusal(&words, &["in.pcap", "no frame goes to the card"]);
}

/// The checksum of a header of IPv4 without options.
fn ip_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let words = frame[14..34].chunks(2);
    let sum: u32 = words.map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
}

/// Other traffic goes by the Ethernet address of the card.
#[test]
fn other_frames_follow_the_cards_address() {
    let out = folder("learned_others");
    let mut frames = vec![
        Segment::new(false, 999, SYN, &[]).frame(),
        Segment::new(false, 1_000, ACK, &bytes(100, 0)).frame(),
    ];
    let mut from_card = vec![0xff; 60];
    from_card[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 8, 6]);
    let mut to_card = from_card.clone();
    to_card[6..12].copy_from_slice(&PEER_ETHERNET);
    frames.extend([from_card, to_card]);
    let capture = write(&out, "in.pcap", &USUAL.pcap(1, &frames));
    let summary = replay("--rx", &capture, &out, &[]);
    let counts = (&summary["frames_in"], &summary["frames_outgoing"]);
    assert_eq!(counts, (&3.into(), &1.into()), "{summary}");
    let output = zeronic(&["sim", "--help"]);
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    for option in ["--card", "--write-flows"] {
        assert!(help.contains(option), "{help}");
    }
}
