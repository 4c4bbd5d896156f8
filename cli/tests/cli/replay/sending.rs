//! Packets as a sending host captures them: before anything has cut them, completed or padded them.

use std::path::Path;

use serde_json::Value;
use sim::harness::capture::read_capture;

use crate::replay::capture_files::{bytes, write, Segment, ACK, CARD_ETHERNET, PSH, SYN, USUAL};
use crate::run::{folder, zeronic};

/// Sends what the card has sent in these frames; the exit status is 0 and the frames are those
/// expected. Returns the summary and what was sent.
fn send(name: &str, model: &str, frames: &[Vec<u8>], more: &[&str]) -> (Value, Vec<Vec<u8>>) {
    let out = folder(&format!("sending_{name}_{model}"));
    let capture = write(&out, "in.pcap", &USUAL.pcap(1, frames));
    let path = out.to_str().expect("a path");
    let words = ["sim", "--model", model, "--tx", &capture, "--out", path];
    let output = zeronic(&[&words[..], more].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}{error}");
    let summary: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(summary["identical"], true, "{summary}");
    let sent = read_capture(&Path::new(path).join("sent.pcapng")).expect("a capture");
    (summary, sent.frames.into_iter().map(|frame| frame.bytes).collect())
}

fn from_card(sequence: u32, flags: u8, payload: &[u8]) -> Segment {
    Segment::new(true, sequence, flags, payload)
}

/// A SYN of the other side with a largest segment, and one of the card.
fn handshake(is_ipv6: bool, mss: u16) -> Vec<Vec<u8>> {
    let mut theirs = Segment::new(false, 70, SYN, &[]);
    theirs.options = [&[2, 4][..], &mss.to_be_bytes()].concat();
    let mut own = from_card(999, SYN, &[]);
    (theirs.is_ipv6, own.is_ipv6) = (is_ipv6, is_ipv6);
    vec![own.frame(), theirs.frame()]
}

fn pad_frame(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(frame.len().max(60), 0);
    frame
}

/// Frames that a card makes of one segment, written down once more.
fn cut_segment(segment: &Segment, mss: usize) -> Vec<Vec<u8>> {
    let count = segment.payload.len().div_ceil(mss);
    let chunks = segment.payload.chunks(mss).enumerate();
    let frames = chunks.map(|(number, chunk)| {
        let mut part = segment.clone();
        part.payload = chunk.to_vec();
        part.sequence = segment.sequence.wrapping_add((number * mss) as u32);
        if number + 1 < count {
            part.flags &= !PSH;
        }
        let mut frame = part.frame();
        if !segment.is_ipv6 {
            // The identification counts, and the header checksum with it (RFC 1624).
            let at = 14 + 4 * segment.tags.len();
            let word = |at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
            let (id, sum) = (word(at + 4), word(at + 10));
            let new = (!sum & 0xffff) + (!id & 0xffff) + id + number as u32;
            let new = (new & 0xffff) + (new >> 16);
            let new = !((new & 0xffff) + (new >> 16)) as u16;
            let id = id as u16 + number as u16;
            frame[at + 4..at + 6].copy_from_slice(&id.to_be_bytes());
            frame[at + 10..at + 12].copy_from_slice(&new.to_be_bytes());
        }
        pad_frame(frame)
    });
    frames.collect()
}

/// A packet before segmentation is cut as the other side's SYN says, options counted.
#[test]
fn unsegmented_packets_are_cut_by_mss() {
    for (number, is_ipv6) in [(0, false), (1, true)] {
        for tags in [vec![], vec![9]] {
            let mut long = from_card(1_000, ACK | PSH, &bytes(4_001, 0));
            long.options = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6].to_vec();
            (long.is_ipv6, long.tags) = (is_ipv6, tags.clone());
            let mut frames = handshake(is_ipv6, 1_000);
            frames.push(long.frame());
            let name = format!("cut_{number}_{}", tags.len());
            for model in ["golden", "rtl"] {
                let (summary, sent) = send(&name, model, &frames, &[]);
                assert_eq!(summary["packets_cut"], 1, "{summary}");
                assert_eq!(sent.len(), 1 + 5, "{summary}");
                // 1,000 less 12 bytes of options.
                assert_eq!(sent[1..], cut_segment(&long, 988), "{name}");
            }
        }
    }
}

#[test]
fn flow_file_may_give_largest_segment() {
    let long = from_card(1_000, ACK, &bytes(3_000, 0));
    let frames = [from_card(999, SYN, &[]).frame(), long.frame()];
    let flows = |name: &str, mss: &str| {
        let out = folder(&format!("sending_flows_{name}"));
        let text = format!(
            "card = \"02:00:00:00:00:01\"\n[[region]]\nname = \"dram\"\nbytes = 5000\n\
             [[flow]]\nname = \"a\"\nlocal = \"10.77.0.1:5001\"\nremote = \"10.77.0.2:40000\"\n\
             {mss}[[flow.segment]]\nregion = \"dram\"\noffset = 3\nbytes = 4096\n"
        );
        write(&out, "flows.toml", text.as_bytes())
    };
    let file = flows("given", "mss_bytes = 700\n");
    let (summary, sent) = send("given", "golden", &frames, &["--flows", &file]);
    assert_eq!(sent[1..], cut_segment(&long, 700), "{summary}");
    // Without one, what fits a frame is one.
    let file = flows("none", "");
    let (_, sent) = send("none", "golden", &frames, &["--flows", &file]);
    assert_eq!(sent[1..], [long.frame()]);
    for wrong in ["0", "9163"] {
        let file = flows("wrong", &format!("mss_bytes = {wrong}\n"));
        let out = folder("sending_wrong");
        let path = out.to_str().expect("a path");
        let words = ["sim", "--tx", "x", "--out", path, "--flows", &file];
        crate::run::expect_refusal(&words, &["flows.toml:9:", wrong, "9162"]);
    }
}

/// The largest packets: beyond any frame, beyond an IP length, beyond a descriptor.
#[test]
fn packets_longer_than_any_frame() {
    for is_ipv6 in [false, true] {
        let mut long = from_card(1_000, ACK, &bytes(20_000, 0));
        long.is_ipv6 = is_ipv6;
        let mut syn = from_card(999, SYN, &[]);
        syn.is_ipv6 = is_ipv6;
        let name = format!("long_{is_ipv6}");
        // No SYN of the other side: what fits an IP packet of 1,500 bytes.
        let (_, sent) = send(&name, "golden", &[syn.frame(), long.frame()], &[]);
        assert_eq!(sent[1..], cut_segment(&long, if is_ipv6 { 1_440 } else { 1_460 }));
        // A SYN that allows more than a frame.
        let mut frames = handshake(is_ipv6, 65_495);
        frames.push(long.frame());
        let (_, sent) = send(&name, "golden", &frames, &[]);
        let most = 9_216 - if is_ipv6 { 74 } else { 54 };
        assert_eq!(sent[1..], cut_segment(&long, most));
        let length = if is_ipv6 { 18..20 } else { 16..18 };
        for (bytes_long, goes) in [(150_000, true), (262_143, true), (262_144, false)] {
            long.payload = bytes(bytes_long, 0);
            let mut frame = long.frame();
            frame[length.clone()].fill(0);
            let mut frames = handshake(is_ipv6, 9_000);
            frames.push(frame);
            let (summary, sent) = send(&name, "golden", &frames, &[]);
            if goes {
                assert_eq!(sent.len(), 1 + bytes_long.div_ceil(9_000), "{summary}");
                assert_eq!(sent[1..], cut_segment(&long, 9_000));
            } else {
                let reason = summary["skipped"][0]["reason"].as_str().expect("a reason");
                assert!(reason.contains("a descriptor takes 262143"), "{reason}");
                assert_eq!(summary["skipped"][0]["frame"], 3, "{summary}");
            }
        }
    }
}

/// In front of a card that cuts packets their IP length may be 0.
#[test]
fn ip_length_0_means_frame_length() {
    for is_ipv6 in [false, true] {
        let mut segment = from_card(1_000, ACK, &bytes(2_998, 0));
        segment.is_ipv6 = is_ipv6;
        let length = if is_ipv6 { 18..20 } else { 16..18 };
        let mut frames = handshake(is_ipv6, 9_000);
        for payload in [bytes(2_998, 0), bytes(1, 0), Vec::new()] {
            segment.payload = payload;
            let mut frame = segment.frame();
            frame[length.clone()].fill(0);
            frames.push(frame);
        }
        let (summary, sent) = send(&format!("zero_{is_ipv6}"), "golden", &frames, &[]);
        segment.payload = bytes(2_998, 0);
        assert_eq!(sent[1], segment.frame(), "{summary}");
        segment.payload = bytes(1, 0);
        assert_eq!(sent[2], pad_frame(segment.frame()), "{summary}");
        assert_eq!(sent.len(), 4, "{summary}");
        let note = summary["notes"][0].as_str().expect("a note");
        assert!(note.contains("cuts them: 3."), "{note}");
    }
}

/// The payload of a SYN begins one sequence number later; data goes on behind it.
#[test]
fn a_syn_may_have_payload() {
    let hello = from_card(999, SYN, b"hello").frame();
    let world = from_card(1_005, ACK, b"world").frame();
    let again = from_card(1_000, ACK, b"helloworld").frame();
    let frames = [hello, world, again];
    for model in ["golden", "rtl"] {
        let (summary, sent) = send("syn", model, &frames, &[]);
        let all = frames.iter().cloned().map(pad_frame);
        assert_eq!(sent, all.collect::<Vec<_>>(), "{summary}");
        assert_eq!(
            (&summary["payload_bytes"], &summary["skipped"]),
            (&20.into(), &Value::from(Vec::<Value>::new()))
        );
    }
}

/// A probe has a number that was acknowledged, with no byte or one of no meaning.
#[test]
fn keep_alive_probes_are_sent() {
    let frames: Vec<_> = [
        from_card(999, SYN, &[]),
        // Before any data, then behind some.
        from_card(999, ACK, &[]),
        from_card(999, ACK, &[0]),
        from_card(1_000, ACK, &bytes(500, 0)),
        from_card(1_499, ACK, &[]),
        from_card(1_499, ACK, &[0xee]),
    ]
    .iter()
    .map(Segment::frame)
    .collect();
    for model in ["golden", "rtl"] {
        let (summary, sent) = send("probe", model, &frames, &[]);
        let all = frames.iter().cloned().map(pad_frame);
        assert_eq!(sent, all.collect::<Vec<_>>(), "{summary}");
        assert_eq!(summary["skipped"].as_array().map(Vec::len), Some(0), "{summary}");
    }
}

/// What follows the IP packet in its frame is not sent.
#[test]
fn trailers_and_padding_are_not_payload() {
    let data = from_card(1_000, ACK, &bytes(100, 0)).frame();
    let short = from_card(1_100, ACK, &[1, 2]).frame();
    let empty = from_card(1_102, ACK, &[]).frame();
    let mut frames = vec![from_card(999, SYN, &[]).frame()];
    for frame in [&data, &short, &empty] {
        frames.push([&frame[..], &[0xaa; 7]].concat());
    }
    let (summary, sent) = send("trailer", "golden", &frames, &[]);
    assert_eq!(sent[1..], [data, pad_frame(short), pad_frame(empty)], "{summary}");
    assert_eq!(summary["payload_bytes"], 102, "{summary}");
}

/// Both directions of a connection from one Ethernet address: addresses and ports decide.
#[test]
fn both_directions_may_use_cards_address() {
    let own = [from_card(999, SYN, &[]).frame(), from_card(1_000, ACK, &bytes(300, 0)).frame()];
    let mut theirs = [
        Segment::new(false, 999, SYN, &[]).frame(),
        Segment::new(false, 1_000, ACK, &bytes(200, 77)).frame(),
    ];
    for frame in &mut theirs {
        frame[6..12].copy_from_slice(&CARD_ETHERNET);
    }
    let [first, second] = theirs;
    let frames = [first, own[0].clone(), second, own[1].clone()];
    let (summary, sent) = send("both", "golden", &frames, &[]);
    assert_eq!(sent, own.map(pad_frame), "{summary}");
    assert_eq!(summary["frames_incoming"], 2, "{summary}");
}

/// Extension headers of IPv6 stand between its header and TCP, also in each frame of a long packet.
#[test]
fn extension_header_packets_are_cut_and_sent() {
    let extended = |sequence, payload: &[u8]| {
        let mut segment = from_card(sequence, ACK, payload);
        segment.is_ipv6 = true;
        let mut frame = segment.frame();
        // Hop-by-hop options, then destination options: padding in both.
        let headers = [60, 0, 1, 4, 0, 0, 0, 0, 6, 0, 1, 4, 0, 0, 0, 0];
        frame.splice(54..54, headers);
        frame[20] = 0;
        let length = frame.len() as u16 - 54;
        frame[18..20].copy_from_slice(&length.to_be_bytes());
        frame
    };
    let mut frames = handshake(true, 1_000);
    let data = bytes(2_500, 0);
    frames.push(extended(1_000, &data));
    for model in ["golden", "rtl"] {
        let (summary, sent) = send("extended", model, &frames, &[]);
        let parts = [(1_000, 0..1_000), (2_000, 1_000..2_000), (3_000, 2_000..2_500)];
        let parts = parts.map(|(sequence, part)| extended(sequence, &data[part]));
        assert_eq!(sent[1..], parts, "{summary}");
    }
}

/// What has no descriptor is left out by name: fragments, jumbograms, long frames of others, broken
/// packets.
#[test]
fn what_cannot_be_sent_is_said() {
    let data = from_card(1_000, ACK, &bytes(600, 0));
    let mut fragment = data.frame();
    fragment[20] = 0x20;
    let mut short = from_card(1_000, ACK, &bytes(20, 0)).frame();
    short[20] = 0x20;
    let mut broken = data.frame();
    broken[16..18].copy_from_slice(&2_000_u16.to_be_bytes());
    let mut jumbo = data.clone();
    jumbo.is_ipv6 = true;
    let mut jumbo = jumbo.frame();
    jumbo.splice(54..54, [6, 0, 0xc2, 4, 0, 1, 0x11, 0x70]);
    (jumbo[20], jumbo[18], jumbo[19]) = (0, 0, 0);
    let mut arp = vec![0xff; 60];
    arp[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 8, 6]);
    let syn = from_card(999, SYN, &[]).frame();
    let frames = [syn.clone(), fragment, short.clone(), broken, jumbo, arp.clone(), data.frame()];
    let (summary, sent) = send("left_out", "golden", &frames, &[]);
    assert_eq!(sent, [pad_frame(syn), pad_frame(short), arp, data.frame()], "{summary}");
    let skipped = summary["skipped"].as_array().expect("a list");
    let said: Vec<_> = skipped
        .iter()
        .map(|it| (it["frame"].as_u64(), it["reason"].as_str().unwrap_or("")))
        .collect();
    for ((frame, reason), (number, part)) in said.iter().zip([
        (2, "654 bytes do not fit the 224"),
        (4, "beyond its end"),
        (5, "682 bytes do not fit the 224"),
    ]) {
        assert_eq!(*frame, Some(number), "{summary}");
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(said.len(), 3, "{summary}");
}

/// Extension headers may be longer than any frame: there is no room for payload beside them.
#[test]
fn headers_beyond_frame_are_left_out() {
    let mut segment = from_card(1_000, ACK, &bytes(100, 0));
    segment.is_ipv6 = true;
    let mut frame = segment.frame();
    // Five destination options of 2,048 bytes; the last one is followed by TCP.
    let mut headers = [60, 255].iter().copied().chain([0; 2046]).collect::<Vec<u8>>().repeat(5);
    headers[4 * 2048] = 6;
    frame[20] = 60;
    frame.splice(54..54, headers);
    let length = frame.len() as u16 - 54;
    frame[18..20].copy_from_slice(&length.to_be_bytes());
    let mut frames = handshake(true, 1_000);
    frames.push(frame);
    frames.push(segment.frame());
    let (summary, sent) = send("long_headers", "golden", &frames, &[]);
    assert_eq!(sent[1..], [segment.frame()], "{summary}");
    let skipped = &summary["skipped"][0];
    assert_eq!(skipped["frame"], 3, "{summary}");
    let reason = skipped["reason"].as_str().expect("a reason");
    assert!(reason.contains("do not fit the 224"), "{reason}");
}
