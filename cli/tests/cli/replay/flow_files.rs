//! Flow files with a mistake: the line and the value are named.

use sim::harness::pcapng::CaptureWriter;

use crate::run::{example, expect_refusal, expect_success, folder};

const REGION: &str = "[[region]]\nname = \"r\"\nbytes = 4096\n";
const FLOW: &str = "[[flow]]\nname = \"f\"\nlocal = \"10.0.0.1:80\"\nremote = \"10.0.0.2:9\"\n";

/// A flow file must be refused with all of `parts`; the example's capture goes with it.
fn refuse(name: &str, text: &str, parts: &[&str]) {
    refuse_with(name, text, &example("receive.pcapng"), parts);
}

fn refuse_with(name: &str, text: &str, capture: &str, parts: &[&str]) {
    let out = folder(&format!("flow_file_{name}"));
    let file = out.join("flows.toml");
    std::fs::write(&file, text).expect("a file");
    let (file, out) = (file.to_str().expect("a path"), out.to_str().expect("a path"));
    let side = ["sim", "--model", "golden", "--rx", capture];
    expect_refusal(&[&side[..], &["--flows", file, "--out", out]].concat(), parts);
}

fn segment(fields: &str) -> String {
    format!("{REGION}{FLOW}[[flow.segment]]\n{fields}")
}

#[test]
fn syntax_and_keys() {
    refuse("syntax", "[[region]\n", &["flows.toml:1:"]);
    refuse("key", &format!("{REGION}colour = 1\n"), &["flows.toml:4:", "colour"]);
    refuse("missing", "[[region]]\nname = \"r\"\n", &["flows.toml:1:", "bytes"]);
    refuse("empty", "", &["flows.toml:1:", "no flow"]);
}

#[test]
fn values_of_the_wrong_kind() {
    let region = |bytes: &str| format!("[[region]]\nname = \"r\"\nbytes = {bytes}\n");
    refuse("negative", &region("-1"), &["flows.toml:3:", "-1"]);
    refuse("unit", &region("\"4 parsecs\""), &["flows.toml:3:", "parsecs"]);
    refuse("zero", &region("0"), &["flows.toml:3:", "0 bytes"]);
    refuse("vast", &region("\"2GiB\""), &["flows.toml:3:", "2147483648"]);
    let flow = FLOW.replace("10.0.0.1:80", "10.0.0.1");
    refuse("address", &flow, &["flows.toml:3:", "address"]);
    let flow = FLOW.replace("10.0.0.1:80", "[fd77::1]:80");
    refuse("family", &flow, &["flows.toml:4:", "[fd77::1]:80", "family"]);
    refuse("accept", &format!("{FLOW}accept = \"maybe\"\n"), &["flows.toml:5:", "maybe"]);
    refuse("card", &format!("card = \"02:00\"\n{FLOW}"), &["flows.toml:1:", "02:00"]);
}

#[test]
fn names_that_name_no_file() {
    for (case, name) in [
        ("outside", "../../evil"),
        ("nested", "a/b"),
        ("hidden", ".f"),
        ("none", ""),
        ("space", "a b"),
        ("control", "a\\u0000b"),
    ] {
        let flow = FLOW.replace("\"f\"", &format!("\"{name}\""));
        refuse(case, &flow, &["flows.toml:2:", "flow name"]);
    }
    let long = FLOW.replace("\"f\"", &format!("\"{}\"", "f".repeat(65)));
    refuse("long", &long, &["flows.toml:2:", "65 bytes", "64"]);
}

#[test]
fn numbers_beyond_a_sequence_number() {
    for key in ["floor", "ack_low", "ack_high"] {
        let flow = format!("{FLOW}{key} = 4294967296\n");
        refuse(key, &flow, &["flows.toml:5:", key, "4294967296"]);
    }
    let both = format!("{FLOW}ack_low = 0\nack_high = 4294967296\n");
    refuse("high", &both, &["flows.toml:6:", "ack_high 4294967296"]);
}

#[test]
fn names_and_addresses_that_come_twice() {
    refuse("regions", &format!("{REGION}{REGION}"), &["flows.toml:5:", "'r'", "twice"]);
    refuse("flows", &format!("{FLOW}{FLOW}"), &["flows.toml:6:", "'f'", "twice"]);
    let other = FLOW.replace("\"f\"", "\"g\"");
    refuse("pairs", &format!("{FLOW}{other}"), &["flows.toml:7:", "'g'"]);
}

#[test]
fn segments_that_do_not_fit() {
    let place = |fields: &str| segment(&format!("region = \"r\"\n{fields}"));
    let unknown = segment("region = \"q\"\noffset = 0\nbytes = 1\n");
    refuse("region", &unknown, &["flows.toml:9:", "'q'"]);
    let over = place("offset = 4000\nbytes = 97\n");
    refuse("outside", &over, &["flows.toml:11:", "97", "4000", "4096"]);
    let two = |second: &str| {
        let first = place("offset = 0\nbytes = 10\n");
        format!("{first}[[flow.segment]]\nregion = \"r\"\n{second}")
    };
    let back = two("offset = 20\nbytes = 10\nposition = 9\n");
    refuse("backwards", &back, &["flows.toml:16:", "position 9", "10"]);
    let overlap = two("offset = 9\nbytes = 10\n");
    refuse("overlap", &overlap, &["flows.toml:14:", "offset 9"]);
    let far = place("offset = 0\nbytes = 10\nposition = 1073741820\n");
    refuse("reach", &far, &["flows.toml:12:", "1073741820"]);
    // Its sequence numbers are those of bytes behind the floor.
    let low = place("offset = 0\nbytes = 10\nposition = 2147483647\n");
    let low = low.replace("[[flow.segment]]", "floor = 4294967295\n[[flow.segment]]");
    refuse("below", &low, &["flows.toml:13:", "2147483647", "below"]);
    let farther = place("offset = 0\nbytes = 10\nposition = 9223372036854775807\n");
    refuse("overflow", &farther, &["flows.toml:12:", "9223372036854775807"]);
}

#[test]
fn more_than_the_tables_take() {
    let mut text = String::new();
    // The capture has no connection of these flows, so no SYN to count from.
    let flow = format!("{FLOW}positions = \"absolute\"\n");
    for number in 0..65 {
        text += &REGION.replace("\"r\"", &format!("\"r{number}\""));
    }
    let card = "card = \"02:00:00:00:00:01\"\n";
    refuse("regions_many", &format!("{card}{text}{flow}"), &["65 regions", "64"]);
    text = String::new();
    for number in 0..65 {
        let named = flow.replace("\"f\"", &format!("\"f{number}\""));
        text += &named.replace(":80", &format!(":{number}"));
    }
    refuse("flows_many", &format!("{card}{text}"), &["65 flows", "64"]);
}

/// Of the 4,096 entries of the small card flows have 512. A list begins at a multiple of its
/// length, so that the longest one of 2,048 ends with the pool.
#[test]
fn list_may_fill_pool_not_exceed_it() {
    let segments = |count: u32| {
        let one = |at| format!("[[flow.segment]]\nregion = \"r\"\noffset = {at}\nbytes = 1\n");
        let all: String = (0..count).map(one).collect();
        format!("card = \"02:00:00:00:00:01\"\n{REGION}{FLOW}positions = \"absolute\"\n{all}")
    };
    let words = ["2049 segments", "4096", "flow 'f'"];
    refuse("pool_beyond", &segments(2049), &words);
    let out = folder("flow_file_pool_end");
    let file = out.join("flows.toml");
    std::fs::write(&file, segments(2048)).expect("a file");
    let [file, out] = [&file, &out].map(|path| path.to_str().expect("a path"));
    let capture = example("receive.pcapng");
    let side = ["sim", "--model", "golden", "--rx", &capture];
    expect_success(&[&side[..], &["--flows", file, "--out", out]].concat());
}

#[test]
fn ranges_of_acknowledgements() {
    refuse("one", &format!("{FLOW}ack_low = 5\n"), &["flows.toml:5:", "belong together"]);
    let crossed = format!("{FLOW}ack_low = 5\nack_high = 4\n");
    refuse("crossed", &crossed, &["flows.toml:5:", "5", "4"]);
}

#[test]
fn captures_not_fitting_flows_are_refused() {
    refuse("stranger", &format!("{REGION}{FLOW}"), &["receive.pcapng", "no packet of any flow"]);
    let out = folder("flow_file_capture");
    let no_syn = out.join("no_syn.pcapng");
    let mut writer = CaptureWriter::create(&no_syn, &["wire"]).expect("a file");
    writer.frame(0, 0, &[2; 64]).expect("a frame");
    writer.finish().expect("a file");
    let flow = format!("card = \"02:00:00:00:00:01\"\n{FLOW}");
    let capture = no_syn.to_str().expect("a path");
    refuse_with("no_syn", &flow, capture, &["'f'", "no SYN", "10.0.0.2:9"]);
    let cut = out.join("cut.pcap");
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1, 0, 0, 20, 1514] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend([0; 20]);
    std::fs::write(&cut, bytes).expect("a file");
    let capture = cut.to_str().expect("a path");
    refuse_with("cut", &flow, capture, &["frame 1", "20 of 1514"]);
}
