//! Captures of every kind are read, whole or cut, and what is not replayed is said.

use std::collections::BTreeSet;
use std::path::Path;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use sim::harness::capture::{parse_capture, Capture, CaptureError};

use crate::replay::capture_files::{
    bytes, every_kind, gzip, three_frames, write, zstd, Layout, Segment, ACK, ETHERNET, SYN, USUAL,
};
use crate::run::{example, expect_refusal, expect_success, folder, zeronic};

fn contents(capture: &Capture) -> Vec<Vec<u8>> {
    capture.frames.iter().map(|frame| frame.bytes.clone()).collect()
}

/// Replays into the golden card; the summary and the exit status.
fn replay(out: &Path, capture: &str, more: &[&str]) -> (Option<i32>, Value) {
    let path = out.to_str().expect("a path");
    let words = ["sim", "--model", "golden", "--rx", capture, "--out", path];
    let output = zeronic(&[&words[..], more].concat());
    let summary = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let summary = if summary.is_null() { Value::from(error) } else { summary };
    (output.status.code(), summary)
}

#[test]
fn file_kinds_hold_same_frames() {
    let frames = three_frames();
    for (name, file) in every_kind() {
        let capture = parse_capture(&file).expect(&name);
        assert_eq!(contents(&capture), frames, "{name}");
        assert_eq!((&capture.skipped[..], &capture.notes[..]), (&[][..], &[][..]), "{name}");
        let numbers: Vec<_> = capture.frames.iter().map(|frame| frame.number).collect();
        assert_eq!(numbers, [1, 2, 3], "{name}");
        let unit_ns = if name.contains("is_nanoseconds: true") { 1 } else { 1000 };
        let seconds = if name.contains("pcapng") { 0 } else { 5 };
        let time = capture.frames[0].time_ns;
        assert_eq!(time, seconds * 1_000_000_000 + 7 * unit_ns, "{name}");
    }
}

/// Packed files of several parts, as `gzip` and `zstd` make them of several files.
#[test]
fn packed_files_may_have_several_parts() {
    let file = USUAL.pcapng(1, &three_frames());
    let (first, second) = file.split_at(100);
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], &[9; 3]].concat();
    for packed in [
        [gzip(first), gzip(second)].concat(),
        [zstd(first), zstd(second)].concat(),
        [skippable.clone(), zstd(first), skippable, zstd(second)].concat(),
    ] {
        let capture = parse_capture(&packed).expect("a capture");
        assert_eq!(contents(&capture), three_frames());
        assert_eq!(capture.notes.len(), 0, "{:?}", capture.notes);
    }
}

#[test]
fn interfaces_and_sections_keep_links_and_lengths() {
    let frames = three_frames();
    let big = Layout { is_big: true, ..USUAL };
    let packet = |number: usize| frames[number][14..].to_vec();
    let file = [
        USUAL.section(),
        USUAL.interface(101, 0),
        USUAL.interface(1, 0),
        USUAL.enhanced(1, &frames[0], frames[0].len()),
        USUAL.enhanced(0, &packet(1), packet(1).len()),
        USUAL.enhanced(7, &frames[0], frames[0].len()),
        // Counts again from 0, in the other byte order; simple packets are cut to the snap length.
        big.section(),
        big.interface(228, 40),
        big.simple(&packet(0), packet(0).len()),
        big.simple(&packet(2)[..40], packet(2).len()),
        big.obsolete(0, &packet(2), packet(2).len()),
        big.obsolete(0, &packet(2)[..50], packet(2).len()),
        big.enhanced(0, &packet(2)[..60], packet(2).len()),
    ]
    .concat();
    let capture = parse_capture(&file).expect("a capture");
    let numbers: Vec<_> = capture.frames.iter().map(|it| (it.number, it.is_made)).collect();
    assert_eq!(numbers, [(1, false), (2, true), (4, true), (6, true)]);
    for (frame, number) in capture.frames.iter().zip([0, 1, 0, 2]) {
        assert_eq!(frame.bytes[14..], frames[number][14..], "frame {}", frame.number);
    }
    let skipped: Vec<_> = capture.skipped.iter().map(|it| it.number).collect();
    assert_eq!(skipped, [3, 5, 7, 8]);
    let parts = ["interface 7", "40 of 340 bytes", "50 of 340 bytes", "60 of 340 bytes"];
    for (skipped, part) in capture.skipped.iter().zip(parts) {
        assert!(skipped.reason.contains(part), "{skipped:?}");
    }
    assert_eq!(capture.notes.len(), 2, "{:?}", capture.notes);
}

/// What Wireshark numbers counts, packet or not; other blocks do not.
#[test]
fn blocks_that_are_no_packets() {
    let frames = three_frames();
    let file = [
        USUAL.section(),
        USUAL.interface(1, 0),
        USUAL.block(4, &[0; 4]),
        USUAL.block(9, b"MESSAGE=hello\n"),
        USUAL.block(0x0bad, &[1, 0, 0, 0, 5]),
        USUAL.enhanced(0, &frames[1], frames[1].len()),
        USUAL.block(0x77, &[0; 8]),
        // Its packet is longer than its block.
        USUAL.block(6, &[[0; 12], [255; 12]].concat()),
        USUAL.block(2, &[0; 12]),
        USUAL.enhanced(0, &frames[2], frames[2].len()),
    ]
    .concat();
    let capture = parse_capture(&file).expect("a capture");
    let numbers: Vec<_> = capture.frames.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [3, 6]);
    let skipped: Vec<_> = capture.skipped.iter().map(|it| it.number).collect();
    assert_eq!(skipped, [1, 2, 4, 5]);
    for (skipped, part) in capture.skipped.iter().zip(["journal", "custom", "byte", "damaged"]) {
        assert!(skipped.reason.contains(part), "{skipped:?}");
    }
    assert_eq!(capture.notes.len(), 1, "{:?}", capture.notes);
    assert!(capture.notes[0].contains("0x77"), "{:?}", capture.notes);
}

/// A frame check sequence that the file says is there does not belong to the frame.
#[test]
fn frame_check_sequences_are_taken_off() {
    let frame = three_frames().remove(1);
    let with_fcs = [&frame[..], &[1, 2, 3, 4]].concat();
    let two_words = 1 << 26 | 2 << 28;
    let classic = USUAL.pcap(ETHERNET | two_words, std::slice::from_ref(&with_fcs));
    let option = |code: u16, value: &[u8]| {
        let length = value.len() as u16;
        let mut option = [&code.to_le_bytes()[..], &length.to_le_bytes(), value].concat();
        option.resize(option.len().next_multiple_of(4), 0);
        option
    };
    let described = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &option(13, &[4])].concat();
    let by_interface =
        [USUAL.section(), USUAL.block(1, &described), USUAL.enhanced(0, &with_fcs, with_fcs.len())];
    let mut packet = USUAL.enhanced(0, &with_fcs, with_fcs.len());
    packet.truncate(packet.len() - 4);
    let body = [&packet[8..], &option(2, &(4_u32 << 5 | 2).to_le_bytes())].concat();
    let by_packet = [USUAL.section(), USUAL.interface(1, 0), USUAL.block(6, &body)];
    for (file, is_sent) in
        [(classic, None), (by_interface.concat(), None), (by_packet.concat(), Some(true))]
    {
        let capture = parse_capture(&file).expect("a capture");
        assert_eq!(contents(&capture), std::slice::from_ref(&frame));
        assert_eq!(capture.frames[0].is_sent, is_sent);
    }
}

/// At every byte of every kind of file: what is read is the start of the whole, and something is
/// said unless the file ends where a record or block does.
#[test]
fn cut_file_is_read_up_to_cut() {
    for (name, file) in every_kind() {
        let whole = contents(&parse_capture(&file).expect(&name));
        let (mut is_read, mut silent) = (false, Vec::new());
        for length in 0..file.len() {
            let capture = match parse_capture(&file[..length]) {
                Ok(capture) => capture,
                Err(error) => {
                    assert!(!is_read, "{name} cut to {length}: {error}");
                    continue;
                }
            };
            is_read = true;
            let read = contents(&capture);
            assert_eq!(read, whole[..read.len()], "{name} cut to {length}");
            if capture.skipped.is_empty() && capture.notes.is_empty() {
                silent.push(read.len());
            }
            let next = read.len() + 1;
            assert!(capture.skipped.iter().all(|it| it.number == next), "{name} cut to {length}");
        }
        // Behind the header, or behind section and interface, and behind two frames.
        let is_packed = name.contains("gzip") || name.contains("zstd");
        let expected: &[usize] = match (is_packed, name.starts_with("pcapng")) {
            (true, _) => &[],
            (false, true) => &[0, 0, 1, 2],
            (false, false) => &[0, 1, 2],
        };
        assert_eq!(silent, expected, "{name}");
    }
}

/// A file system may leave zeros of what a host did not write before it crashed.
#[test]
fn trailing_zeros_are_no_frames() {
    for file in [USUAL.pcap(ETHERNET, &three_frames()), USUAL.pcapng(1, &three_frames())] {
        for zeros in [1, 8, 16, 4_000] {
            let file = [&file[..], &vec![0; zeros]].concat();
            let capture = parse_capture(&file).expect("a capture");
            assert_eq!(contents(&capture), three_frames());
            assert_eq!(capture.skipped, []);
            let said = format!("The file ends with {zeros} zero bytes");
            assert!(capture.notes[0].starts_with(&said), "{:?}", capture.notes);
        }
    }
}

/// Files that are damaged at random are read in part or refused; nothing panics or hangs.
#[test]
fn damaged_files_are_partly_read_or_refused() {
    let seed = seed::seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let examples = ["receive.pcapng", "send.pcapng"]
        .map(|name| std::fs::read(example(name)).expect("the example")[..20_000].to_vec());
    let mut files: Vec<_> = every_kind().into_iter().map(|(_, file)| file).collect();
    for example in examples {
        files.extend([gzip(&example), zstd(&example), example]);
    }
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut file = files[random.random_range(0..files.len())].clone();
        if random.random_bool(0.3) {
            file.truncate(random.random_range(0..file.len()));
        }
        for _ in 0..random.random_range(0..8) {
            if !file.is_empty() {
                // Lengths and types lie in the first bytes of a file as often as elsewhere.
                let most = [file.len(), file.len().min(64)][random.random_range(0..2)];
                let at = random.random_range(0..most);
                file[at] = [random.random(), 0, 255][random.random_range(0..3)];
            }
        }
        match parse_capture(&file) {
            Ok(capture) => {
                assert!(capture.frames.iter().all(|frame| frame.bytes.len() >= 14));
                read += 1;
            }
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "{error}");
                refused += 1;
            }
        }
    }
    seed::enough("files read", read, 5_000);
    seed::enough("files refused", refused, 1_000);
}

/// The same through the program, both ways, which ends with 0 or with 2.
#[test]
fn the_program_takes_damaged_files() {
    let seed = seed::seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let out = folder("damaged_files");
    let path = out.to_str().expect("a path");
    let examples =
        ["receive", "send"].map(|name| std::fs::read(example(&format!("{name}.pcapng"))));
    let mut statuses = BTreeSet::new();
    for number in 0..60 {
        let file = examples[number % 2].as_ref().expect("the example");
        let mut file = file[..60_000.min(file.len())].to_vec();
        for _ in 0..1 + number * 4 {
            let at = random.random_range(0..file.len());
            file[at] = random.random();
        }
        if number % 10 == 0 {
            file[8 + number % 4] ^= 0x40;
        }
        let capture = write(&out, "in", &file);
        let side = ["--rx", "--tx"][number / 2 % 2];
        let words = ["sim", "--model", "golden", side, &capture, "--out", path];
        let output = zeronic(&words);
        let status = output.status.code();
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(matches!(status, Some(0 | 2)), "{side}: {said}{printed}");
        statuses.insert(status);
    }
    assert_eq!(statuses, BTreeSet::from([Some(0), Some(2)]));
}

#[test]
fn other_packers_and_formats_are_named() {
    for (bytes, part) in [
        (&b"BZh91AY"[..], "bzip2"),
        (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
        (b"PK\x03\x04", "zip"),
    ] {
        let error = parse_capture(bytes).unwrap_err();
        assert!(matches!(error, CaptureError::Packed(_)), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(matches!(parse_capture(b"snoop\0\0\0"), Err(CaptureError::Magic(_))));
    assert!(matches!(parse_capture(&[0xd4, 0xc3]), Err(CaptureError::Short(2))));
    assert!(matches!(parse_capture(&[]), Err(CaptureError::Empty)));
    assert!(matches!(parse_capture(&gzip(&[])), Err(CaptureError::Empty)));
    assert!(matches!(parse_capture(&gzip(&[1; 90])[..12]), Err(CaptureError::Damaged(_))));
}

/// Links whose packets get an Ethernet header: what stands before the packet.
fn links() -> Vec<(u32, Vec<u8>)> {
    let mut cooked = vec![0; 16];
    cooked[14] = 8;
    let mut cooked2 = vec![0; 20];
    cooked2[0] = 8;
    vec![
        (0, vec![2, 0, 0, 0]),
        (0, vec![0, 0, 0, 2]),
        (12, Vec::new()),
        (14, Vec::new()),
        (101, Vec::new()),
        (108, vec![0, 0, 0, 2]),
        (113, cooked),
        (228, Vec::new()),
        (276, cooked2),
    ]
}

#[test]
fn other_links_get_ethernet_header() {
    let out = folder("links");
    for (link, head) in links() {
        let frames = three_frames();
        let packets: Vec<_> = frames.iter().map(|frame| [&head, &frame[14..]].concat()).collect();
        let capture = write(&out, "in.pcap", &USUAL.pcap(link, &packets));
        let (status, summary) = replay(&out, &capture, &[]);
        assert_eq!(status, Some(0), "link type {link}: {summary}");
        assert_eq!(summary["dispositions"]["placed_in_order"], 2, "{summary}");
        let note = summary["notes"][0].as_str().expect("a note");
        let said = format!("Packets of link type {link} that got an Ethernet header: 3.");
        assert_eq!(note, said);
    }
    let capture = write(&out, "in.pcap", &USUAL.pcap(105, &three_frames()));
    let path = out.to_str().expect("a path");
    let words = ["sim", "--rx", &capture, "--out", path];
    expect_refusal(&words, &["in.pcap", "frame 1", "link type 105"]);
}

/// A frame that the capture cut costs itself alone.
#[test]
fn a_cut_frame_is_left_out() {
    let out = folder("cut_frames");
    let frames = three_frames();
    let mut file = USUAL.pcap_header(ETHERNET);
    file.extend(USUAL.record(&frames[0], frames[0].len()));
    file.extend(USUAL.record(&frames[1][..96], frames[1].len()));
    file.extend(USUAL.record(&frames[2], frames[2].len()));
    file.extend(USUAL.record(&[2; 5], 5));
    let capture = write(&out, "in.pcap", &file);
    let (status, summary) = replay(&out, &capture, &[]);
    assert_eq!(status, Some(0), "{summary}");
    assert_eq!((&summary["ok"], &summary["frames_in"]), (&Value::from(true), &Value::from(2)));
    let skipped = summary["skipped"].as_array().expect("a list");
    let numbers: Vec<_> = skipped.iter().map(|it| it["frame"].as_u64()).collect();
    assert_eq!(numbers, [Some(2), Some(4)], "{summary}");
    assert!(skipped[0]["reason"].as_str().is_some_and(|why| why.contains("96 of 254 bytes")));
    // The bytes of the frame that is missing are not there; those behind them are.
    assert_eq!(summary["dispositions"]["placed_ahead"], 1, "{summary}");
    assert_eq!(summary["buffers"][0]["written_bytes"], 300, "{summary}");
    let all = [USUAL.pcap_header(ETHERNET), USUAL.record(&frames[1][..96], 254)].concat();
    let capture = write(&out, "in.pcap", &all);
    let path = out.to_str().expect("a path");
    let words = ["sim", "--rx", &capture, "--out", path];
    expect_refusal(&words, &["in.pcap", "no frames", "frame 1", "96 of 254 bytes", "tcpdump -s 0"]);
}

/// A flow file for the three frames.
pub fn flows(out: &Path) -> String {
    let text = "card = \"02:00:00:00:00:01\"\n[[region]]\nname = \"dram\"\nbytes = 5000\n\
                [[flow]]\nname = \"a\"\nlocal = \"10.77.0.1:5001\"\nremote = \"10.77.0.2:40000\"\n\
                [[flow.segment]]\nregion = \"dram\"\noffset = 0\nbytes = 4096\n";
    write(out, "flows.toml", text.as_bytes())
}

/// The last record was not written to its end.
#[test]
fn stopped_writers_capture_is_replayed_to_end() {
    let out = folder("stopped");
    let flows = flows(&out);
    for (name, file) in [
        ("in.pcap", USUAL.pcap(ETHERNET, &three_frames())),
        ("in.pcapng", USUAL.pcapng(1, &three_frames())),
    ] {
        let capture = write(&out, name, &file[..file.len() - 32]);
        let (status, summary) = replay(&out, &capture, &["--flows", &flows]);
        assert_eq!(status, Some(0), "{summary}");
        assert_eq!(summary["frames_in"], 2, "{summary}");
        assert_eq!(summary["skipped"][0]["frame"], 3, "{summary}");
        assert_eq!(summary["notes"][0], "The file ends inside frame 3.");
        assert_eq!(summary["buffers"][0]["written_bytes"], 200, "{summary}");
    }
}

#[test]
fn packets_in_obsolete_blocks_are_placed() {
    let out = folder("obsolete");
    let flows = flows(&out);
    let frames = three_frames();
    let file = [
        USUAL.section(),
        USUAL.interface(1, 0),
        USUAL.enhanced(0, &frames[0], frames[0].len()),
        USUAL.obsolete(0, &frames[1], frames[1].len()),
        USUAL.enhanced(0, &frames[2], frames[2].len()),
    ]
    .concat();
    let capture = write(&out, "in.pcapng", &file);
    let (status, summary) = replay(&out, &capture, &["--flows", &flows]);
    assert_eq!(status, Some(0), "{summary}");
    assert_eq!(summary["buffers"][0]["written_bytes"], 500, "{summary}");
    let buffer = std::fs::read(out.join("buffers/a-0.bin")).expect("a buffer");
    assert_eq!(buffer[..500], bytes(500, 0));
}

/// Tags, extension headers, fragments, jumbo frames: whatever the card makes of them, it counts.
#[test]
fn every_frame_shape_is_accounted_for() {
    let out = folder("shapes");
    let segment = |sequence, flags, count: usize| {
        let mut segment = Segment::new(false, sequence, flags, &bytes(count, 0));
        segment.is_ipv6 = true;
        segment
    };
    let mut frames = vec![segment(999, SYN, 0).frame()];
    for tags in [vec![5], vec![5, 6]] {
        let mut tagged = segment(1000 + 10 * tags.len() as u32, ACK, 10);
        tagged.tags = tags;
        frames.push(tagged.frame());
    }
    frames.push(segment(5000, ACK, 9000).frame());
    // Longer than any frame, and not TCP, which would be cut.
    let mut giant = segment(5000, ACK, 20_000).frame();
    giant[20] = 17;
    frames.push(giant);
    // Hop-by-hop options, destination options, a fragment header, the jumbo payload option.
    for (next, head) in [
        (0, vec![6, 0, 1, 4, 0, 0, 0, 0]),
        (60, vec![6, 0, 1, 4, 0, 0, 0, 0]),
        (44, vec![6, 0, 0, 1, 0, 0, 0, 9]),
        (0, vec![6, 0, 0xc2, 4, 0, 1, 0x11, 0x70]),
    ] {
        let mut frame = segment(2000, ACK, 100).frame();
        frame.splice(54..54, head.clone());
        frame[20] = next;
        let length = if head[2] == 0xc2 { 0 } else { frame.len() as u16 - 54 };
        frame[18..20].copy_from_slice(&length.to_be_bytes());
        frames.push(frame);
    }
    let capture = write(&out, "in.pcapng", &USUAL.pcapng(1, &frames));
    let (status, summary) = replay(&out, &capture, &[]);
    assert_eq!(status, Some(0), "{summary}");
    assert_eq!(summary["conserved"], true, "{summary}");
    assert_eq!(summary["frames_in"], frames.len(), "{summary}");
    assert_eq!(summary["drops"]["giant"], 1, "{summary}");
    assert_eq!(summary["dispositions"]["not_transport"], 3, "{summary}");
}

/// What was given back when it was written is the same when it is read.
#[test]
fn replays_capture_can_be_replayed() {
    let out = folder("sent_again");
    let path = out.to_str().expect("a path");
    let (capture, flows) = (example("send.pcapng"), example("send.toml"));
    let words = ["sim", "--model", "golden", "--tx", &capture, "--flows", &flows, "--out", path];
    expect_success(&words);
    let sent = std::fs::read(out.join("sent.pcapng")).expect("a capture");
    let capture = parse_capture(&sent).expect("a capture");
    assert!(capture.frames.len() > 50 && capture.skipped.is_empty() && capture.notes.is_empty());
}
