//! Replays that do not go well: what is wrong is counted, named, and in the exit status.

use std::path::Path;

use serde_json::Value;
use sim::harness::capture::read_capture;
use sim::harness::pcapng::CaptureWriter;

use crate::run::{example, folder, zeronic};

/// Runs a replay on the golden model; its exit status and summary.
fn replay(side: &str, capture: &str, flows: &str, out: &Path) -> (Option<i32>, Value) {
    let out = out.to_str().expect("a path");
    let common = ["--flows", flows, "--out", out, "--model", "golden"];
    let output = zeronic(&[&["sim", side, capture][..], &common].concat());
    let summary = serde_json::from_slice(&output.stdout).expect("a summary");
    (output.status.code(), summary)
}

/// The example's flow file, changed, in a folder of its own.
fn change_flow_file(name: &str, out: &Path, change: impl Fn(String) -> String) -> String {
    let text = std::fs::read_to_string(example(name)).expect("the example");
    let file = out.join("flows.toml");
    std::fs::write(&file, change(text)).expect("a file");
    file.to_str().expect("a path").to_owned()
}

#[test]
fn damaged_frame_is_counted_drop() {
    let out = folder("damaged");
    let damaged = out.join("damaged.pcapng");
    let mut writer = CaptureWriter::create(&damaged, &["wire"]).expect("a file");
    let mut left = 3;
    for frame in read_capture(Path::new(&example("receive.pcapng"))).expect("the example").frames {
        let mut bytes = frame.bytes;
        let to_card = bytes[..6] == [2, 0, 0, 0, 0, 1];
        if to_card && bytes.len() > 1400 && left > 0 {
            let last = bytes.len() - 1;
            bytes[last] ^= 4;
            left -= 1;
        }
        writer.frame(0, frame.time_ns * 1000, &bytes).expect("a frame");
    }
    writer.finish().expect("a file");
    let capture = damaged.to_str().expect("a path");
    let (status, summary) = replay("--rx", capture, &example("receive.toml"), &out);
    assert_eq!(summary["drops"]["l4_checksum"], 3, "{summary}");
    assert_eq!(summary["conserved"], true, "{summary}");
    assert_eq!(summary["guards_intact"], true, "{summary}");
    assert_eq!(status, Some(0));
}

#[test]
fn acknowledgements_outside_the_range_are_deferred() {
    let out = folder("acks");
    let narrow = |text: String| {
        text.replace("name = \"six\"\n", "name = \"six\"\nack_low = 5\nack_high = 6\n")
    };
    let flows = change_flow_file("receive.toml", &out, narrow);
    let (status, summary) = replay("--rx", &example("receive.pcapng"), &flows, &out);
    let deferred = summary["dispositions"]["ack_out_of_range"].as_u64();
    assert!(deferred.is_some_and(|count| count > 10), "{summary}");
    assert_eq!(status, Some(0), "{summary}");
}

#[test]
fn too_old_timestamp_is_deferred() {
    let out = folder("timestamps");
    // The floor that makes every timestamp old lies half the number range away from one of them.
    let mut first = None;
    for frame in read_capture(Path::new(&example("receive.pcapng"))).expect("the example").frames {
        let tcp = host::headers::packet::parse_tcp(&frame.bytes);
        let Some(tcp) = tcp.filter(|tcp| tcp.destination.port() == 5001 && tcp.flags == 0x10)
        else {
            continue;
        };
        // NOP, NOP, timestamp: the only options of such a packet.
        let at = tcp.l4_offset + 24;
        let value = u32::from_be_bytes(frame.bytes[at..at + 4].try_into().expect("4 bytes"));
        first.get_or_insert(value);
    }
    let floor = first.expect("a timestamp").wrapping_add(1 << 30);
    let line = format!("name = \"plain\"\ntimestamp_floor = {floor}\n");
    let flows =
        change_flow_file("receive.toml", &out, |text| text.replace("name = \"plain\"\n", &line));
    let (status, summary) = replay("--rx", &example("receive.pcapng"), &flows, &out);
    let deferred = summary["dispositions"]["timestamp_old"].as_u64();
    assert!(deferred.is_some_and(|count| count > 10), "{summary}");
    let plain = summary["buffers"].as_array().expect("buffers").iter();
    for buffer in plain.filter(|buffer| buffer["flow"] == "plain") {
        assert_eq!(buffer["written_bytes"], 0, "{buffer}");
    }
    assert_eq!(status, Some(0), "{summary}");
}

#[test]
fn range_without_memory_owes_an_event() {
    let out = folder("no_segment");
    let shorter = |text: String| {
        let (before, last) = text.rsplit_once("\n[[flow.segment]]").expect("a segment");
        assert!(last.contains("offset"));
        before.to_owned()
    };
    let flows = change_flow_file("send.toml", &out, shorter);
    let (status, summary) = replay("--tx", &example("send.pcapng"), &flows, &out);
    let errors = summary["send_errors"]["send_no_segment"].as_u64();
    assert!(errors.is_some_and(|count| count > 0), "{summary}");
    assert_eq!(summary["identical"], true, "{summary}");
    let skipped = summary["skipped"].as_array().expect("a list");
    assert_eq!(Some(skipped.len() as u64), errors, "{summary}");
    let reason = skipped[0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("flow 'double' has no memory for position"), "{reason}");
    let entries = std::fs::read_to_string(out.join("entries.txt")).expect("entries");
    assert_eq!(
        entries.matches("event send_no_segment flow=double").count() as u64,
        errors.unwrap_or(0)
    );
    assert_eq!(status, Some(0), "{summary}");
}

/// A packet of TCP over IPv4 from the card, 10.0.0.1:80, to 10.0.0.2:9.
fn packet(sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let ip_bytes = 40 + payload.len() as u16;
    frame.extend([0x45, 0]);
    frame.extend(ip_bytes.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0, 80, 0, 9]);
    frame.extend(sequence.to_be_bytes());
    frame.extend([0, 0, 0, 0, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    frame.extend(payload);
    frame
}

#[test]
fn quoted_zero_bytes_are_zero() {
    let out = folder("zero");
    let quoted = |text: String| {
        let text = text.replace("join_bytes = \"64KiB\"", "join_bytes = \"0\"");
        text.replacen("offset = 3\n", "offset = \"0\"\n", 1)
    };
    let flows = change_flow_file("send.toml", &out, quoted);
    let (status, summary) = replay("--tx", &example("send.pcapng"), &flows, &out);
    assert_eq!(summary["descriptors_joined"], 0, "{summary}");
    assert_eq!(status, Some(0), "{summary}");
}

/// Sequence numbers begin again at 0; a stream's positions go on.
#[test]
fn absolute_positions_continue_across_wrap() {
    let out = folder("wrapped");
    let capture = out.join("wrapped.pcapng");
    let mut writer = CaptureWriter::create(&capture, &["wire"]).expect("a file");
    let floor = u32::MAX - 1023;
    for number in 0..3 {
        let sequence = floor.wrapping_add(1000 * number);
        let payload: Vec<u8> = (0..1000).map(|at| (at % 251) as u8 ^ number as u8).collect();
        let frame = packet(sequence, &payload);
        writer.frame(0, 0, &frame).expect("a frame");
    }
    writer.finish().expect("a file");
    let flows = format!(
        "card = \"02:00:00:00:00:01\"\n[[region]]\nname = \"r\"\nbytes = 16384\n\
         [[flow]]\nname = \"f\"\nlocal = \"10.0.0.1:80\"\nremote = \"10.0.0.2:9\"\n\
         positions = \"absolute\"\nfloor = {floor}\n\
         [[flow.segment]]\nregion = \"r\"\noffset = 0\nbytes = 1024\n\
         [[flow.segment]]\nregion = \"r\"\noffset = 4096\nbytes = 7168\n"
    );
    let file = out.join("flows.toml");
    std::fs::write(&file, flows).expect("a file");
    let (capture, flows) = (capture.to_str(), file.to_str());
    let (capture, flows) = (capture.expect("a path"), flows.expect("a path"));
    let (status, summary) = replay("--tx", capture, flows, &out);
    assert_eq!(summary["identical"], true, "{summary}");
    assert_eq!(summary["payload_bytes"], 3000, "{summary}");
    assert_eq!(status, Some(0), "{summary}");
}

#[test]
fn contradicting_packet_is_left_out() {
    let out = folder("contradiction");
    let odd = out.join("odd.pcapng");
    let mut writer = CaptureWriter::create(&odd, &["wire"]).expect("a file");
    let mut seen = None;
    for frame in read_capture(Path::new(&example("send.pcapng"))).expect("the example").frames {
        writer.frame(0, 0, &frame.bytes).expect("a frame");
        let from_card = frame.bytes[6..12] == [2, 0, 0, 0, 0, 1];
        if from_card && frame.bytes.len() > 1400 && seen.is_none() {
            let mut bytes = frame.bytes;
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            writer.frame(0, 0, &bytes).expect("a frame");
            seen = Some(());
        }
    }
    writer.finish().expect("a file");
    let (capture, flows) = (odd.to_str().expect("a path"), example("send.toml"));
    let (status, summary) = replay("--tx", capture, &flows, &out);
    assert_eq!(status, Some(0), "{summary}");
    assert_eq!(summary["skipped"].as_array().map(Vec::len), Some(1), "{summary}");
    let reason = summary["skipped"][0]["reason"].as_str().expect("a reason");
    for part in ["other bytes than before", "position", "do not fit the 224"] {
        assert!(reason.contains(part), "{reason}");
    }
}
