//! `zeronic sim --tx`: the outgoing packets of a capture through the card's send side.
//!
//! ```text
//!   capture ─ payload ──► application memory, by stream position ─┐
//!           └ headers ──► send descriptors ──► card ◄─────────────┘
//!                                                └─► sent.pcapng, compared with the capture
//! ```
//! Descriptors carry no checksums: the card has to compute them. With `join_bytes`,
//! consecutive packets of a flow that differ only as segmentation makes them differ become one
//! descriptor, and the card has to cut them apart again.

use std::collections::BTreeMap;

use abi::reason::SendError;
use abi::send_descriptor::MSS_BYTES;
use anyhow::Result;
use host::control::commands::Direction;
use host::control::descriptor::{self, raw, Descriptor, Payload, Record, INLINE_BYTES_MAX};
use host::control::flow::ranges::RangeSet;
use host::control::packet::{clear_checksums, parse_tcp, TcpHeader};
use host::driver::bus::Bus;
use host::transport::header::{ones_sum, tcp_checksum, TcpLayout, TCP_CHECKSUM_OFFSET};
use serde::Serialize;
use sim::harness::mac::Frame;
use sim::harness::pcapng::CaptureWriter;

use super::entries::line;
use super::flows::{FlowPlan, Plan};
use super::results::Results;
use super::rig::{Model, Rig};
use super::traffic::{flow_of, Numbered, Traffic, Way};
use crate::options::UsageError;

/// Rounds without a frame after which the card is done.
const IDLE_ROUNDS_MAX: u32 = 200;

const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// Where the sent frames first differ from the capture.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub struct Difference {
    /// Number of the frame in the capture; none when the card sent more than was expected.
    frame: Option<usize>,
    /// First byte that differs, or the shorter length.
    byte: usize,
}

/// The result of the run.
#[derive(Debug, Serialize)]
pub struct SendReport {
    /// The frames are those of the capture, byte for byte, and no rule was broken.
    pub ok: bool,
    model: &'static str,
    frames_expected: usize,
    frames_sent: usize,
    frames_too_long_for_inline: usize,
    frames_incoming: usize,
    descriptors: usize,
    descriptors_joined: usize,
    payload_bytes: u64,
    checksums_completed: usize,
    send_errors: BTreeMap<&'static str, u64>,
    identical: bool,
    first_difference: Option<Difference>,
    violations: Vec<String>,
    sim_time_ns: Option<u64>,
}

/// A TCP packet of a flow, taken apart.
struct Outgoing {
    flow: usize,
    header: TcpHeader,
    header_bytes: usize,
    packet: Numbered,
    payload: std::ops::Range<usize>,
    /// Position of the flow; below 0 if it lies before the first byte of the stream.
    position: i64,
}

/// A descriptor to make: a first packet and those that were joined to it.
struct Train {
    first: Outgoing,
    payload_bytes: usize,
    last: Numbered,
    last_payload_bytes: usize,
    count: usize,
}

/// What the capture asks for.
#[derive(Default)]
struct Work {
    descriptors: Vec<Record>,
    joined: usize,
    expected: Vec<Numbered>,
    too_long: usize,
    payload_bytes: u64,
    checksums_completed: usize,
}

/// Sends the outgoing packets and writes the results.
pub fn replay<B: Bus, C: Model>(
    rig: &mut Rig<B, C>,
    plan: &Plan,
    traffic: &Traffic,
    results: &Results,
    model: &'static str,
) -> Result<SendReport> {
    for flow in &plan.flows {
        let base = traffic.base(flow, Way::Out)?;
        rig.install(flow, Direction::Send, base, None)?;
    }
    let work = prepare(rig, plan, traffic)?;
    for descriptor in &work.descriptors {
        rig.device.send(Descriptor::of(descriptor));
    }
    let mut sent: Vec<Frame> = Vec::new();
    let mut lines = String::new();
    let mut events = 0;
    let mut idle = 0;
    while idle < IDLE_ROUNDS_MAX && (sent.len() < work.expected.len() || idle < 4) {
        let before = (sent.len(), events, rig.device.sends_waiting());
        for entry in rig.advance()? {
            events += 1;
            lines += &line(events, None, &entry, plan, &rig.flows);
            lines.push('\n');
        }
        rig.card.take_sent(&mut sent);
        let moved = before != (sent.len(), events, rig.device.sends_waiting());
        idle = if moved { 0 } else { idle + 1 };
    }
    results.entries.write(lines.as_bytes())?;
    if let Some(file) = &results.sent {
        file.write(&capture_of(&sent)?)?;
    }
    report(rig, traffic, &work, &sent, model)
}

fn capture_of(sent: &[Frame]) -> std::io::Result<Vec<u8>> {
    let mut writer = CaptureWriter::new(Vec::new(), &["from card"])?;
    for frame in sent {
        writer.frame(0, frame.time_ps, &frame.bytes)?;
    }
    writer.finish()
}

fn report<B: Bus, C: Model>(
    rig: &mut Rig<B, C>,
    traffic: &Traffic,
    work: &Work,
    sent: &[Frame],
    model: &'static str,
) -> Result<SendReport> {
    let counters = rig.device.counters()?;
    let names: Vec<_> = SendError::ALL.iter().map(|code| code.name()).collect();
    let errors = counters
        .iter()
        .filter(|(name, count)| *count > 0 && names.contains(name));
    let first_difference = first_difference(&work.expected, sent);
    let violations = rig.card.violations();
    Ok(SendReport {
        ok: first_difference.is_none() && violations.is_empty(),
        model,
        frames_expected: work.expected.len(),
        frames_sent: sent.len(),
        frames_too_long_for_inline: work.too_long,
        frames_incoming: traffic.incoming.len(),
        descriptors: work.descriptors.len(),
        descriptors_joined: work.joined,
        payload_bytes: work.payload_bytes,
        checksums_completed: work.checksums_completed,
        send_errors: errors.copied().collect(),
        identical: first_difference.is_none(),
        first_difference,
        violations,
        sim_time_ns: rig.card.time_ns(),
    })
}

fn first_difference(expected: &[Numbered], sent: &[Frame]) -> Option<Difference> {
    for (want, have) in expected.iter().zip(sent) {
        let pairs = want.bytes.iter().zip(&have.bytes);
        let same = pairs.take_while(|(want, have)| want == have).count();
        if same < want.bytes.len() || same < have.bytes.len() {
            return Some(Difference {
                frame: Some(want.number),
                byte: same,
            });
        }
    }
    let frame = expected.get(sent.len()).map(|frame| frame.number);
    (expected.len() != sent.len()).then_some(Difference { frame, byte: 0 })
}

/// Fills the memory and makes the descriptors.
fn prepare<B: Bus, C: Model>(rig: &mut Rig<B, C>, plan: &Plan, traffic: &Traffic) -> Result<Work> {
    let mut work = Work::default();
    let mut filled: Vec<RangeSet> = plan.flows.iter().map(|_| RangeSet::default()).collect();
    let mut train: Option<Train> = None;
    for frame in &traffic.outgoing {
        let header = parse_tcp(&frame.bytes);
        let known = header.and_then(|header| Some((header, flow_of(plan, &header)?.0)));
        let packet = match known {
            Some((header, flow)) => {
                let (floor, base) = (plan.flows[flow].floor, rig.flows[flow].base);
                take_apart(frame, header, flow, (floor, base))?
            }
            None => None,
        };
        let Some(packet) = packet else {
            finish(&mut work, rig, plan, train.take());
            send_whole(&mut work, frame, header.as_ref());
            continue;
        };
        let flow = &plan.flows[packet.flow];
        fill(rig, flow, &packet, &mut filled[packet.flow])?;
        work.payload_bytes += packet.payload.len() as u64;
        expect(&mut work, &packet);
        train = match train {
            Some(mut train) if train.continues(&packet, flow.join_bytes as usize) => {
                train.add(packet);
                Some(train)
            }
            other => {
                finish(&mut work, rig, plan, other);
                Some(Train::new(packet))
            }
        };
    }
    finish(&mut work, rig, plan, train);
    Ok(work)
}

/// A packet of a flow with payload; `None` without. Positions have more bits than sequence numbers,
/// so a packet's is the one closest to the flow's `floor`.
fn take_apart(
    frame: &Numbered,
    header: TcpHeader,
    flow: usize,
    (floor, base): (u64, u32),
) -> Result<Option<Outgoing>, UsageError> {
    let broken = |error| UsageError(format!("frame {}: {error}", frame.number));
    let layout = TcpLayout::parse(&frame.bytes).map_err(broken)?;
    let payload = layout.payload..layout.payload + layout.payload_bytes;
    if payload.is_empty() {
        return Ok(None);
    }
    if payload.end > frame.bytes.len() {
        let number = frame.number;
        return Err(UsageError(format!(
            "frame {number}: its IP length is beyond its end"
        )));
    }
    check_lengths(frame.number, layout.payload, payload.len())?;
    let floor_sequence = base.wrapping_add(floor as u32);
    let distance = header.sequence.wrapping_sub(floor_sequence) as i32;
    let position = floor as i64 + i64::from(distance);
    let packet = frame.clone();
    Ok(Some(Outgoing {
        flow,
        header,
        header_bytes: layout.payload,
        packet,
        payload,
        position,
    }))
}

/// Whether a descriptor can describe a packet: host stacks capture packets that are longer than any
/// frame on the wire.
fn check_lengths(number: usize, header_bytes: usize, bytes: usize) -> Result<(), UsageError> {
    let most = MSS_BYTES.max();
    if bytes as u64 > most {
        return Err(UsageError(format!(
            "frame {number}: {bytes} bytes of payload; a packet of a descriptor has at most {most}"
        )));
    }
    if header_bytes > INLINE_BYTES_MAX {
        return Err(UsageError(format!(
            "frame {number}: {header_bytes} bytes of headers; a descriptor has {INLINE_BYTES_MAX}"
        )));
    }
    Ok(())
}

/// Puts a packet's payload where the flow's segments want it; a retransmission must carry the same
/// bytes.
fn fill<B: Bus, C: Model>(
    rig: &mut Rig<B, C>,
    flow: &FlowPlan,
    packet: &Outgoing,
    filled: &mut RangeSet,
) -> Result<()> {
    let payload = &packet.packet.bytes[packet.payload.clone()];
    // Nothing before the stream's first byte has a place.
    let before = packet.position.min(0).unsigned_abs();
    let payload = &payload[payload.len().min(before as usize)..];
    let start = packet.position.max(0).unsigned_abs();
    let end = start + payload.len() as u64;
    let fresh = filled.gaps(start, end);
    let mut differs = false;
    for segment in &flow.segments {
        let stream = segment.stream();
        let (from, to) = (start.max(stream.start), end.min(stream.end));
        if from >= to {
            continue;
        }
        let at = segment.offset + (from - segment.position);
        let new = &payload[(from - start) as usize..(to - start) as usize];
        let held = rig.read(segment.region, at..at + (to - from));
        for ((held, new), position) in held.iter().zip(new).zip(from..) {
            let is_fresh = fresh
                .iter()
                .any(|(from, to)| (*from..*to).contains(&position));
            differs |= !is_fresh && held != new;
        }
        rig.write(segment.region, at, new);
    }
    filled.insert(start, end);
    if differs {
        let (number, name) = (packet.packet.number, &flow.name);
        let message = format!("frame {number}: flow '{name}' sends other bytes than before");
        return Err(UsageError(message).into());
    }
    Ok(())
}

/// A frame that needs no payload from memory.
fn send_whole(work: &mut Work, frame: &Numbered, header: Option<&TcpHeader>) {
    let layout = header.and_then(|_| TcpLayout::parse(&frame.bytes).ok());
    let bytes = match &layout {
        Some(layout) => layout.payload + layout.payload_bytes,
        None => frame.bytes.len(),
    };
    if bytes > INLINE_BYTES_MAX || bytes > frame.bytes.len() {
        work.too_long += 1;
        return;
    }
    let mut inline = frame.bytes[..bytes].to_vec();
    match header {
        Some(header) => {
            clear_checksums(&mut inline, header);
            work.descriptors
                .push(descriptor::header(&inline, header.into()).record());
            let mut expected = frame.clone();
            work.checksums_completed += usize::from(complete_checksums(&mut expected.bytes));
            work.expected.push(expected);
        }
        None => {
            work.descriptors.push(raw(&inline).record());
            work.expected.push(frame.clone());
        }
    }
}

/// What the card has to send for a packet: its frame, with the checksums that the capture lacks
/// when it was taken before a card that computes them.
fn expect(work: &mut Work, packet: &Outgoing) {
    let mut expected = packet.packet.clone();
    work.checksums_completed += usize::from(complete_checksums(&mut expected.bytes));
    work.expected.push(expected);
}

/// Corrects the checksums; true if one was wrong.
fn complete_checksums(frame: &mut [u8]) -> bool {
    let Ok(layout) = TcpLayout::parse(frame) else {
        return false;
    };
    let before = frame.to_vec();
    if !layout.ipv6 {
        frame[layout.network + 10..layout.network + 12].fill(0);
        let checksum = !ones_sum(&frame[layout.network..layout.segment], 0);
        frame[layout.network + 10..layout.network + 12].copy_from_slice(&checksum.to_be_bytes());
    }
    let at = layout.segment + TCP_CHECKSUM_OFFSET;
    frame[at..at + 2].fill(0);
    let checksum = tcp_checksum(frame, &layout);
    frame[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    before != *frame
}

impl Train {
    fn new(first: Outgoing) -> Self {
        let (payload_bytes, last) = (first.payload.len(), first.packet.clone());
        Self {
            first,
            payload_bytes,
            last,
            last_payload_bytes: payload_bytes,
            count: 1,
        }
    }

    /// Whether a packet is what segmentation would make of a longer train.
    fn continues(&self, next: &Outgoing, join_bytes: usize) -> bool {
        let first = &self.first;
        let mss = first.payload.len();
        let follows = next.flow == first.flow
            && next.position == first.position + self.payload_bytes as i64
            && self.last_payload_bytes == mss
            // FIN and PSH stay in the last packet only.
            && self.last.bytes[first.header.l4_offset + 13] & FIN_PSH == 0
            && next.payload.len() <= mss
            && self.payload_bytes + next.payload.len() <= join_bytes
            && next.header_bytes == first.header_bytes;
        follows && self.expected_header(next) == next.packet.bytes[..next.header_bytes]
    }

    /// The header that the card would give to `next`, checksums taken from it.
    fn expected_header(&self, next: &Outgoing) -> Vec<u8> {
        let TcpHeader {
            l3_offset: l3,
            l4_offset: l4,
            ipv6,
            ..
        } = self.first.header;
        let mut header = self.first.packet.bytes[..self.first.header_bytes].to_vec();
        let theirs = &next.packet.bytes;
        let mut copy = |range: std::ops::Range<usize>| {
            header[range.clone()].copy_from_slice(&theirs[range]);
        };
        copy(l4 + 4..l4 + 8);
        copy(l4 + 16..l4 + 18);
        if ipv6 {
            copy(l3 + 4..l3 + 6);
        } else {
            copy(l3 + 2..l3 + 4);
            copy(l3 + 10..l3 + 12);
            let id = u16::from_be_bytes([header[l3 + 4], header[l3 + 5]]);
            let id = id.wrapping_add(self.count as u16);
            header[l3 + 4..l3 + 6].copy_from_slice(&id.to_be_bytes());
        }
        header[l4 + 13] &= !CWR;
        header[l4 + 13] |= theirs[l4 + 13] & FIN_PSH;
        header
    }

    fn add(&mut self, next: Outgoing) {
        self.payload_bytes += next.payload.len();
        self.last_payload_bytes = next.payload.len();
        self.last = next.packet;
        self.count += 1;
    }
}

/// Makes the descriptor of a train.
fn finish<B: Bus, C: Model>(work: &mut Work, rig: &Rig<B, C>, plan: &Plan, train: Option<Train>) {
    let Some(train) = train else { return };
    let first = &train.first;
    let flow = &plan.flows[first.flow];
    let mut header = first.packet.bytes[..first.header_bytes].to_vec();
    let flags = first.header.l4_offset + 13;
    header[flags] |= train.last.bytes[flags] & FIN_PSH;
    clear_checksums(&mut header, &first.header);
    let ends = flow
        .segments
        .iter()
        .take_while(|s| s.stream().end as i64 <= first.position)
        .count();
    let payload = Payload {
        name: rig.flows[first.flow].name,
        position: first.header.sequence,
        bytes: train.payload_bytes as u32,
        mss_bytes: first.payload.len() as u16,
        segment_index: ends as u16,
    };
    work.descriptors
        .push(descriptor::send(&header, (&first.header).into(), &payload).record());
    work.joined += usize::from(train.count > 1);
}
