//! What the outgoing packets of a capture ask of the card: memory, descriptors, frames to expect.
//!
//! ```text
//!   packet of a flow ─ payload ─► memory, by position ─┐ differs from what is there, or before it
//!                    └ headers ─► train ─► descriptor  └──────────────┐
//!   any other frame ──────────────────────────────────► sent whole ◄──┘ or skipped
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use abi::config::{SEND_PIECES_MAX, SEND_PIECE_BYTES_MAX};
use abi::reason::SendError;
use abi::send_descriptor::PAYLOAD_BYTES;
use anyhow::Result;
use host::control::flow::ranges::RangeSet;
use host::driver::bus::Bus;
use host::headers::packet::clear_checksums;
use host::records::descriptor::{self, raw, Record, INLINE_BYTES_MAX};
use lab::machine::CardModel;

use super::super::cut::complete_checksums;
use super::super::packet::Packet;
use super::super::rig::Rig;
use super::super::setup::{FlowSetup, ReplaySetup};
use super::super::traffic::{FlowIndex, Numbered, Skipped, Traffic};
use super::super::wire::complete_left;
use super::outgoing::Outgoing;
use super::train::Train;

/// Payload of a keep-alive probe (RFC 9293, 3.8.4), of a byte that was acknowledged long ago.
const KEEP_ALIVE_BYTES_MAX: usize = 1;

/// What the capture asks for.
#[derive(Default)]
pub struct PreparedSends {
    /// Descriptors in capture order.
    pub descriptors: Vec<Record>,
    /// Descriptors of more than one packet.
    pub joined: usize,
    /// Packets of which the card makes more than one frame.
    pub cut: usize,
    /// Frames of packets that begin below the floor: the card sends the rest of them.
    pub trimmed: Vec<usize>,
    /// Frames that the card has to send.
    pub expected: Vec<Numbered>,
    /// Descriptors that the card has to refuse, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Frames that are not sent.
    pub skipped: Vec<Skipped>,
    /// Payload in memory.
    pub payload_bytes: u64,
    /// Frames whose checksums the capture lacks.
    pub checksums_completed: usize,
}

/// What becomes of the payload of a packet.
enum Payload {
    /// It lies in memory.
    InMemory,
    /// The card has to refuse the packet.
    Refused(SendError, String),
    /// It cannot be sent from memory.
    Elsewhere(String),
}

/// Fills the memory and makes the descriptors.
pub fn prepare<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    setup: &ReplaySetup,
    traffic: &Traffic,
) -> Result<PreparedSends> {
    let index = FlowIndex::new(setup);
    let mut sends = PreparedSends::default();
    let mut filled: Vec<RangeSet> = setup.flows.iter().map(|_| RangeSet::default()).collect();
    let mut train: Option<Train> = None;
    for frame in &traffic.outgoing {
        let packet = Packet::read(&frame.bytes);
        let flow = packet.as_ref().and_then(|packet| index.of(packet));
        let (Some(packet), Some((flow, _))) = (&packet, flow) else {
            sends.finish(rig, setup, train.take());
            sends.send_whole(frame, packet.as_ref(), "it is of no flow");
            continue;
        };
        if packet.payload.is_empty() || packet.payload.end > frame.bytes.len() {
            sends.finish(rig, setup, train.take());
            sends.send_whole(frame, Some(packet), "it has no payload");
            continue;
        }
        let (base, own) = (rig.flows[flow].base, &setup.flows[flow]);
        let mss = traffic.mss(own);
        let outgoing = Outgoing::new((flow, own), (frame, packet.clone()), base, mss);
        let payload =
            judge(&outgoing).unwrap_or_else(|| fill(rig, own, &outgoing, &mut filled[flow]));
        match payload {
            Payload::Elsewhere(why) => {
                sends.finish(rig, setup, train.take());
                sends.send_whole(frame, Some(packet), &why);
            }
            Payload::Refused(error, why) => {
                sends.finish(rig, setup, train.take());
                sends.refuse(frame, error, why);
                sends.finish(rig, setup, Some(Train::new(outgoing)));
            }
            Payload::InMemory => {
                sends.expect(&outgoing);
                train = match train {
                    Some(mut train) if train.continues(&outgoing, own.join_bytes as usize) => {
                        train.add(outgoing);
                        Some(train)
                    }
                    other => {
                        sends.finish(rig, setup, other);
                        Some(Train::new(outgoing))
                    }
                };
            }
        }
    }
    sends.finish(rig, setup, train);
    Ok(sends)
}

/// What can be said of a packet without its flow's memory: host stacks capture packets that are
/// longer than a descriptor describes.
fn judge(outgoing: &Outgoing) -> Option<Payload> {
    let (bytes, most) = (outgoing.packet.payload.len(), PAYLOAD_BYTES.max());
    if bytes as u64 > most {
        let why = format!("{bytes} bytes of payload; a descriptor takes {most}");
        return Some(Payload::Elsewhere(why));
    }
    let bytes = outgoing.packet.header_bytes;
    if bytes > INLINE_BYTES_MAX {
        let why = format!("{bytes} bytes of headers; a descriptor takes {INLINE_BYTES_MAX}");
        return Some(Payload::Elsewhere(why));
    }
    let bytes = outgoing.packet.payload.len();
    if outgoing.below_floor == bytes && bytes <= KEEP_ALIVE_BYTES_MAX {
        return Some(Payload::Elsewhere("it is a keep-alive probe".to_owned()));
    }
    if outgoing.below_floor == bytes {
        let why = "it lies below the flow's floor: the card refuses it".to_owned();
        return Some(Payload::Refused(SendError::StaleSend, why));
    }
    None
}

/// A part of a packet's payload in a segment.
struct Part {
    region: usize,
    offset: u64,
    stream: Range<u64>,
}

/// Puts a packet's payload where the flow's segments want it.
fn fill<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    flow: &FlowSetup,
    outgoing: &Outgoing,
    filled: &mut RangeSet,
) -> Payload {
    let payload = &outgoing.payload()[outgoing.below_floor..];
    let start = (outgoing.position + outgoing.below_floor as i64).unsigned_abs();
    let end = start + payload.len() as u64;
    let mut parts = Vec::new();
    let mut at = start;
    for segment in &flow.segments {
        let stream = segment.stream();
        if stream.contains(&at) && at < end {
            let offset = segment.offset + (at - segment.position);
            let part = at..end.min(stream.end);
            at = part.end;
            parts.push(Part { region: segment.region, offset, stream: part });
        }
    }
    if at < end {
        let name = &flow.name;
        return Payload::Refused(
            SendError::SendNoSegment,
            format!("flow '{name}' has no memory for position {at}: the card refuses it"),
        );
    }
    let pieces: u64 = parts.iter().map(Part::pieces).sum();
    if pieces > SEND_PIECES_MAX as u64 {
        return Payload::Elsewhere(format!(
            "it lies in {pieces} pieces of memory; a descriptor takes {SEND_PIECES_MAX}"
        ));
    }
    let fresh = filled.gaps(start, end);
    let of = |part: &Part| (part.stream.start - start) as usize..(part.stream.end - start) as usize;
    for part in &parts {
        let held = rig.read(part.region, part.place());
        let pairs = held.iter().zip(&payload[of(part)]).zip(part.stream.clone());
        for ((held, new), position) in pairs {
            let is_fresh = || fresh.iter().any(|&(from, to)| (from..to).contains(&position));
            if held != new && !is_fresh() {
                let name = &flow.name;
                return Payload::Elsewhere(format!(
                    "flow '{name}' sends other bytes than before at position {position}"
                ));
            }
        }
    }
    for part in &parts {
        rig.write(part.region, part.offset, &payload[of(part)]);
    }
    filled.insert(start, end);
    Payload::InMemory
}

impl Part {
    fn place(&self) -> Range<u64> {
        self.offset..self.offset + (self.stream.end - self.stream.start)
    }

    /// Pieces that the card makes of it.
    fn pieces(&self) -> u64 {
        let (place, piece) = (self.place(), SEND_PIECE_BYTES_MAX as u64);
        place.end.div_ceil(piece) - place.start / piece
    }
}

impl PreparedSends {
    /// Adds the frames of a packet to those that the card has to send.
    fn expect(&mut self, outgoing: &Outgoing) {
        let frames = outgoing.frames();
        self.payload_bytes += (outgoing.packet.payload.len() - outgoing.below_floor) as u64;
        if outgoing.is_one_frame() {
            let checksums = &outgoing.frame.bytes[..outgoing.packet.header_bytes];
            let is_other = frames.iter().any(|frame| !frame.bytes.starts_with(checksums));
            self.checksums_completed += usize::from(is_other);
        } else {
            self.cut += usize::from(frames.len() > 1);
        }
        if outgoing.below_floor > 0 {
            self.trimmed.push(outgoing.frame.number);
        }
        self.expected.extend(frames);
    }

    fn refuse(&mut self, frame: &Numbered, error: SendError, reason: String) {
        *self.refused.entry(error.name()).or_default() += 1;
        self.skipped.push(Skipped { frame: frame.number, reason });
    }

    /// Sends a frame whose payload does not come from memory, for a reason, or leaves it out.
    fn send_whole(&mut self, frame: &Numbered, packet: Option<&Packet>, why: &str) {
        let bytes = packet.map_or(frame.bytes.len(), |packet| packet.payload.end);
        let reason = if bytes > frame.bytes.len() {
            let beyond = bytes - frame.bytes.len();
            format!("its IP length is {beyond} bytes beyond its end")
        } else if bytes > INLINE_BYTES_MAX {
            format!(
                "{why}, and its {bytes} bytes do not fit the {INLINE_BYTES_MAX} of a descriptor"
            )
        } else {
            return self.send_inline(&frame.bytes[..bytes], frame, packet);
        };
        self.skipped.push(Skipped { frame: frame.number, reason });
    }

    /// Sends bytes of a frame as they are, with right checksums if it is a TCP packet.
    fn send_inline(&mut self, bytes: &[u8], frame: &Numbered, packet: Option<&Packet>) {
        let mut inline = bytes.to_vec();
        let mut expected = bytes.to_vec();
        match packet {
            Some(packet) => {
                clear_checksums(&mut inline, &packet.header);
                let layers = (&packet.header).into();
                let descriptor = descriptor::header(&inline, layers);
                self.descriptors.push(descriptor.record());
                self.checksums_completed += usize::from(complete_checksums(&mut expected));
            }
            None => {
                self.checksums_completed += usize::from(complete_left(&mut inline));
                expected.clone_from(&inline);
                self.descriptors.push(raw(&inline).record());
            }
        }
        let shortest = expected.len().max(abi::config::FRAME_BYTES_MIN);
        expected.resize(shortest, 0);
        self.expected.push(Numbered { number: frame.number, bytes: expected });
    }

    /// Makes the descriptor of a train.
    fn finish<B: Bus, C: CardModel>(
        &mut self,
        rig: &Rig<B, C>,
        setup: &ReplaySetup,
        train: Option<Train>,
    ) {
        let Some(train) = train else { return };
        let flow = train.flow();
        let descriptor = train.descriptor(&setup.flows[flow], &rig.flows[flow]);
        self.descriptors.push(descriptor);
        self.joined += usize::from(train.is_joined());
    }
}
