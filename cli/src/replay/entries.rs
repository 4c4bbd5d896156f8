//! Header entries as text, one line each.

use std::fmt::Write;

use abi::header_entry as h;
use abi::reason::{Disposition, SendError};
use host::driver::rings::HeaderEntry;
use host::headers::packet::{parse_tcp, TcpHeader};
use host::headers::run::Run;

use super::rig::Installed;
use super::setup::ReplaySetup;

const FLAGS: [&str; 8] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"];

/// What became of the payload of a packet; `None` for an event or an unknown code.
pub fn disposition(entry: &HeaderEntry) -> Option<Disposition> {
    let is_packet = h::KIND.get(&entry.metadata) == u64::from(h::KIND_PACKET);
    let code = h::DISPOSITION.get(&entry.metadata) as u8;
    is_packet.then(|| Disposition::from_code(code)).flatten()
}

/// The flow of an entry, as an index of the setup.
pub fn flow_index(entry: &HeaderEntry, flows: &[Installed]) -> Option<usize> {
    let id = h::FLOW.get(&entry.metadata) as u16;
    flows.iter().position(|flow| flow.name.flow == id)
}

/// One line about an entry; `frame` is its number in the capture, if it has one.
pub fn line(
    number: usize,
    frame: Option<usize>,
    entry: &HeaderEntry,
    setup: &ReplaySetup,
    flows: &[Installed],
) -> String {
    let flow = flow_index(entry, flows);
    let mut text = format!("{number:5}");
    if let Some(frame) = frame {
        text += &format!(" frame={frame}");
    }
    let named = flow.map_or("-", |index| &setup.flows[index].name);
    match disposition(entry) {
        Some(disposition) => {
            text += &format!(" {:16} flow={named}", disposition.name());
            packet_fields(&mut text, entry, flow.map(|index| flows[index].base));
        }
        None => {
            let code = h::DISPOSITION.get(&entry.metadata) as u8;
            let reason = SendError::from_code(code).map_or("unknown", SendError::name);
            text += &format!(" event {reason} flow={named}");
            text += &format!(" position={}", h::EVENT_VALUE.get(&entry.metadata));
        }
    }
    text
}

/// One line about an entry that stands for a run; `frames` are its packets' numbers in the capture.
pub fn run_line(
    number: usize,
    frames: &[usize],
    (entry, run): (&HeaderEntry, &Run),
    setup: &ReplaySetup,
    flows: &[Installed],
) -> String {
    let get = |field: abi::field::Field| field.get(&entry.metadata);
    let flow = flow_index(entry, flows);
    let named = flow.map_or("-", |index| &setup.flows[index].name);
    let payload = run.payload_bytes(0..run.packets);
    let position = (get(h::CURSOR) as u32).wrapping_sub(payload);
    let (first, last) = (frames.first().unwrap_or(&0), frames.last().unwrap_or(&0));
    let mut text = format!("{number:5} frame={first}-{last} run flow={named}");
    let mut put = |name: &str, value: u64| {
        let _ = write!(text, " {name}={value}");
    };
    put("packets", run.packets.into());
    put("payload", payload.into());
    put("each", run.segment_bytes.into());
    put("last", run.last_bytes.into());
    put("position", position.into());
    if let Some(index) = flow {
        let offset = |position: u32| position.wrapping_sub(flows[index].base) as i32;
        let cursor = get(h::CURSOR) as u32;
        let _ = write!(text, " offset={} cursor={}", offset(position), offset(cursor));
    }
    let mut put = |name: &str, value: u64| {
        let _ = write!(text, " {name}={value}");
    };
    put("segment", get(h::SEGMENT_INDEX));
    put("header", get(h::HEADER_BYTES));
    put("generation", get(h::GENERATION));
    put("last_ack", run.acknowledgement.into());
    put("last_window", run.window.into());
    if let Some((value, echo)) = run.timestamps {
        put("last_timestamp", value.into());
        put("last_echo", echo.into());
    }
    put("push", run.is_pushed.into());
    text.push_str(" | ");
    text.push_str(&layers(&entry.header));
    text
}

fn packet_fields(text: &mut String, entry: &HeaderEntry, base: Option<u32>) {
    let get = |field: abi::field::Field| field.get(&entry.metadata);
    // Writing to a string cannot fail.
    let mut put = |name: &str, value: u64| {
        let _ = write!(text, " {name}={value}");
    };
    put("payload", get(h::PAYLOAD_BYTES));
    put("position", get(h::POSITION));
    if let Some(base) = base {
        let offset = (get(h::POSITION) as u32).wrapping_sub(base) as i32;
        let _ = write!(text, " offset={offset}");
        let cursor = (get(h::CURSOR) as u32).wrapping_sub(base) as i32;
        let _ = write!(text, " cursor={cursor}");
    }
    let mut put = |name: &str, value: u64| {
        let _ = write!(text, " {name}={value}");
    };
    put("trimmed", get(h::TRIMMED_BYTES));
    put("pieces", get(h::PIECES));
    put("segment", get(h::SEGMENT_INDEX));
    put("header", get(h::HEADER_BYTES));
    put("frame_bytes", get(h::FRAME_BYTES));
    put("l4_offset", get(h::L4_OFFSET));
    put("profile", get(h::PROFILE));
    put("verified", get(h::VERIFIED));
    put("generation", get(h::GENERATION));
    put("slots", 1 + get(h::TWO_SLOTS));
    match &entry.deferred {
        Some(payload) => {
            put("slow_buffer", get(h::SLOW_BUFFER));
            put("deferred", payload.len() as u64);
        }
        None => text.push_str(" slow_buffer=- deferred=0"),
    }
    text.push_str(" | ");
    text.push_str(&layers(&entry.header));
}

/// Addresses, ports and TCP fields of a header.
fn layers(header: &[u8]) -> String {
    let mut text = String::new();
    let mut at = 12;
    while matches!(header.get(at..at + 2), Some([0x81, 0] | [0x88, 0xa8])) {
        let tag = header.get(at + 2..at + 4).unwrap_or(&[0, 0]);
        let _ = write!(text, "vlan={} ", u16::from_be_bytes([tag[0] & 0x0f, tag[1]]));
        at += 4;
    }
    match parse_tcp(header) {
        Some(tcp) => text += &tcp_fields(&tcp),
        None => {
            let kind = header.get(at..at + 2).unwrap_or(&[0, 0]);
            let _ = write!(text, "ethertype={:#06x}", u16::from_be_bytes([kind[0], kind[1]]));
        }
    }
    text
}

fn tcp_fields(tcp: &TcpHeader) -> String {
    let set = |bit: &usize| tcp.flags >> bit & 1 == 1;
    let flags: Vec<_> = (0..8).filter(set).map(|bit| FLAGS[bit]).collect();
    format!(
        "{} > {} [{}] seq={} ack={} window={}",
        tcp.source,
        tcp.destination,
        flags.join(","),
        tcp.sequence,
        tcp.acknowledgement,
        tcp.window
    )
}
