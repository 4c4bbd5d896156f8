//! The sending side of the host, and the judge of the frames that leave the card.
//!
//! ```text
//!   round robin over flows ──► descriptor ──► send ring ──► card ──► frames on the wire
//!                                  └── expected ───────────────────► compared byte by byte
//! ```
//! Descriptors of one owner are carried out in ring order, so the frames must come in that order,
//! cut as the contract says, with the content of the flow's send buffers.

use std::collections::VecDeque;

use host::headers::packet::parse_tcp;
use host::records::descriptor::{header, send, Payload};
use lab::frame::Frame;

use crate::error::MeasureError;
use crate::packets::frames::{Fields, ACK, PSH};
use crate::parties::host::Host;
use crate::parties::peer::Peer;
use crate::parties::sequence::{Arrivals, Sequence};
use crate::scenario::{Acks, Order, Scenario, ACK_DELAY_NS};

/// Descriptors that wait for free slots in the ring.
const WAITING_MAX: usize = 64;
/// Most payload in the ring where pure ACKs, and with them the peer's window, wait behind it: five
/// microseconds at wire speed, several round trips.
const QUEUED_BYTES_MAX: u64 = 64 << 10;

/// Expected frames of one descriptor.
struct Expected {
    flow: u16,
    offset: u64,
    bytes: u64,
    acknowledgement: u32,
    /// Window that the frame announces: the offset up to which the peer may send.
    window_end: u64,
    id: u16,
    /// The payload is inline, or there is none.
    is_inline: bool,
    frames_done: u16,
}

/// What has left the card, counted when the host polled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Payload bytes, judged.
    pub payload_bytes: u64,
    /// Frames of data.
    pub packets: u64,
    /// Frames that only acknowledge.
    pub acks: u64,
}

/// One flow at the sending side.
#[derive(Default)]
struct Stream {
    /// Descriptors in a row.
    turns: u32,
    sequence: Sequence,
    arrivals: Arrivals,
    unacknowledged: u32,
}

/// The sending side of every flow.
pub struct Sender {
    /// What has left the card.
    pub sent: Sent,
    streams: Vec<Stream>,
    expected: VecDeque<Expected>,
    /// Payload of all expected frames.
    queued_bytes: u64,
    /// Acknowledgements without a frame: when they arrive, flow, offset.
    arriving: VecDeque<(u64, u16, u64)>,
    turn: usize,
    turns_left: u32,
    burst: u64,
    order: Order,
    acks: Acks,
    is_on: bool,
    peer_sends: bool,
    inline_max: usize,
    id: u16,
    next_ps: u64,
    interval_ps: u64,
    random: u64,
}

impl Sender {
    /// A sending side that has sent nothing.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            sent: Sent::default(),
            streams: (0..scenario.flows)
                .map(|flow| Stream { turns: scenario.turns(flow), ..Stream::default() })
                .collect(),
            expected: VecDeque::new(),
            queued_bytes: 0,
            arriving: VecDeque::new(),
            turn: 0,
            turns_left: scenario.turns(0),
            burst: match scenario.order {
                Order::InOrder => u64::from(scenario.send_burst),
                Order::Random => 1,
            },
            order: scenario.order,
            acks: scenario.acks,
            is_on: scenario.send,
            peer_sends: scenario.receive,
            inline_max: scenario.inline_max(),
            id: 0,
            next_ps: 0,
            interval_ps: scenario.interval_ps,
            random: scenario.seed | 1,
        }
    }

    /// Sends no more data.
    pub fn stop(&mut self) {
        self.is_on = false;
    }

    /// Keeps the send ring full: acknowledgements first, then data.
    pub fn post(&mut self, host: &mut Host) {
        let now_ps = host.machine.card.borrow().now_ps();
        while host.machine.host.device.sends_waiting() < WAITING_MAX {
            if let Some(flow) = host.acks_owed.pop_front() {
                self.post_frame(host, flow, 0, 0);
            } else if !self.may_post(now_ps) || !self.post_data(host) {
                return;
            } else if self.interval_ps > 0 {
                self.next_ps = now_ps + self.interval_ps;
            }
        }
    }

    fn may_post(&self, now_ps: u64) -> bool {
        let is_short = self.acks == Acks::InData || self.queued_bytes < QUEUED_BYTES_MAX;
        self.is_on && now_ps >= self.next_ps && is_short
    }

    /// A descriptor of the next flow that has something to send.
    fn post_data(&mut self, host: &mut Host) -> bool {
        for _ in 0..self.streams.len() {
            if self.turns_left == 0 {
                self.next_flow();
            }
            let turn = self.turn;
            let flow = &host.flows[turn];
            let (packet, is_inline) = (flow.payload_bytes as u64, self.is_inline(host, turn));
            let end = match is_inline {
                true => u64::MAX,
                false => flow.send.confirmed_end(),
            };
            let sequence = &mut self.streams[turn].sequence;
            let Some(first) = sequence.next(self.order, packet, end, &mut self.random) else {
                self.next_flow();
                continue;
            };
            self.turns_left -= 1;
            if is_inline {
                self.post_frame(host, turn as u16, first, packet);
                return true;
            }
            let mut bytes = packet;
            while bytes < self.burst * packet {
                if sequence.next(self.order, packet, end, &mut self.random).is_none() {
                    break;
                }
                bytes += packet;
            }
            self.post_segments(host, turn as u16, first, bytes);
            return true;
        }
        false
    }

    fn next_flow(&mut self) {
        self.turn = (self.turn + 1) % self.streams.len();
        self.turns_left = self.streams[self.turn].turns;
    }

    fn is_inline(&self, host: &Host, flow: usize) -> bool {
        let it = &host.flows[flow];
        it.leaving.bytes() + it.payload_bytes <= self.inline_max
    }

    fn fields(&self, host: &Host, expected: &Expected) -> Fields {
        let it = &host.flows[usize::from(expected.flow)];
        Fields {
            sequence: it.send.position(expected.offset),
            acknowledgement: expected.acknowledgement,
            flags: if expected.bytes > 0 { ACK | PSH } else { ACK },
            id: expected.id,
        }
    }

    fn expect(&mut self, host: &Host, flow: u16, offset: u64, bytes: u64) -> Expected {
        let it = &host.flows[usize::from(flow)];
        self.id = self.id.wrapping_add(0x1001);
        Expected {
            flow,
            offset,
            bytes,
            acknowledgement: it.receive.position(it.received),
            window_end: it.receive.confirmed_end(),
            id: self.id,
            is_inline: true,
            frames_done: 0,
        }
    }

    /// A frame that is sent inline.
    fn post_frame(&mut self, host: &mut Host, flow: u16, offset: u64, bytes: u64) {
        let expected = self.expect(host, flow, offset, bytes);
        let fields = self.fields(host, &expected);
        let it = &host.flows[usize::from(flow)];
        let mut packet = it.leaving.header(&fields, bytes as usize);
        let header_bytes = packet.len();
        packet.resize(header_bytes + bytes as usize, 0);
        it.contents[1].fill(offset, &mut packet[header_bytes..]);
        if let Some(parsed) = parse_tcp(&packet) {
            host.machine.host.device.send(header(&packet, (&parsed).into()));
            self.queued_bytes += bytes;
            self.expected.push_back(expected);
        }
    }

    /// Payload from the flow's send buffers.
    fn post_segments(&mut self, host: &mut Host, flow: u16, offset: u64, bytes: u64) {
        let mut expected = self.expect(host, flow, offset, bytes);
        expected.is_inline = false;
        let fields = self.fields(host, &expected);
        let it = &host.flows[usize::from(flow)];
        let header = it.leaving.header(&fields, it.payload_bytes);
        let (parsed, index) = (parse_tcp(&header), it.send.list_index(offset));
        let (Some(parsed), Some(segment_index)) = (parsed, index) else {
            host.problems.add(|| format!("flow {flow}: nothing is posted at offset {offset}"));
            return;
        };
        let payload = Payload {
            name: it.name,
            position: fields.sequence,
            bytes: bytes as u32,
            mss_bytes: it.payload_bytes as u16,
            segment_index,
        };
        host.machine.host.device.send(send(&header, (&parsed).into(), &payload));
        self.queued_bytes += bytes;
        self.expected.push_back(expected);
    }

    /// Judges the frames that have left the card and schedules their acknowledgements.
    pub fn take_frames(&mut self, host: &mut Host, peer: &mut Peer) -> Result<(), MeasureError> {
        let now = host.machine.card.borrow().now_ps();
        loop {
            let frame = host.machine.card.borrow_mut().mac.sent.pop_front();
            let Some(frame) = frame else { break };
            self.take(host, peer, &frame);
        }
        while let Some(&(at, flow, offset)) = self.arriving.front() {
            if at > now {
                break;
            }
            self.arriving.pop_front();
            host.note_acknowledged(usize::from(flow), offset);
        }
        Ok(())
    }

    fn take(&mut self, host: &mut Host, peer: &mut Peer, frame: &Frame) {
        let Some(expected) = self.expected.front() else {
            host.problems.add(|| "a frame that no descriptor asked for".to_owned());
            return;
        };
        let flow = usize::from(expected.flow);
        let it = &host.flows[flow];
        let packet = it.payload_bytes as u64;
        let done = u64::from(expected.frames_done) * packet;
        let offset = expected.offset + done;
        let bytes = packet.min(expected.bytes - done);
        let is_last = expected.is_inline || done + bytes == expected.bytes;
        let mut fields = self.fields(host, expected);
        fields.sequence = it.send.position(offset);
        if !it.is_ipv6 {
            fields.id = fields.id.wrapping_add(expected.frames_done);
        }
        if !is_last {
            fields.flags &= !PSH;
        }
        let right = it.leaving.frame(&fields, it.contents[1], offset, bytes as usize);
        let is_inline = expected.is_inline;
        let window_end = expected.window_end;
        // Where packets carry payload, a frame without any only acknowledges.
        let is_ack = expected.bytes == 0 && packet > 0;
        if right == frame.bytes {
            self.count(bytes, is_ack);
        } else {
            host.problems.add(|| difference(flow, offset, &right, &frame.bytes));
        }
        self.queued_bytes -= bytes;
        if self.acks == Acks::Pure {
            host.note_offered(flow, window_end);
        }
        if is_last {
            self.expected.pop_front();
        } else if let Some(expected) = self.expected.front_mut() {
            expected.frames_done += 1;
        }
        if bytes > 0 {
            let upto = self.streams[flow].arrivals.add(offset, bytes);
            host.flows[flow].delivered = upto;
            if !is_inline {
                self.acknowledge(flow, upto, frame.time_ps, peer);
            }
        }
    }

    fn count(&mut self, bytes: u64, is_ack: bool) {
        if is_ack {
            self.sent.acks += 1;
        } else {
            self.sent.packets += 1;
            self.sent.payload_bytes += bytes;
        }
    }

    fn acknowledge(&mut self, flow: usize, upto: u64, now_ps: u64, peer: &mut Peer) {
        match self.acks {
            Acks::Pure => {
                let stream = &mut self.streams[flow];
                stream.unacknowledged += 1;
                if stream.unacknowledged == 2 {
                    stream.unacknowledged = 0;
                    peer.acknowledge(flow as u16, upto);
                }
            }
            Acks::InData if self.peer_sends => {}
            Acks::InData => {
                let at = now_ps + ACK_DELAY_NS * 1000;
                self.arriving.push_back((at, flow as u16, upto));
            }
        }
    }

    /// Descriptors whose frames have not all left.
    pub fn expected_descriptors(&self) -> usize {
        self.expected.len()
    }

    /// Packets that each flow has sent.
    pub fn packets(&self) -> Vec<u64> {
        let packets = self.streams.iter().map(|stream| stream.sequence.packets());
        packets.collect()
    }
}

fn difference(flow: usize, offset: u64, right: &[u8], seen: &[u8]) -> String {
    let at = right.iter().zip(seen).position(|(a, b)| a != b);
    let (right_bytes, seen_bytes) = (right.len(), seen.len());
    format!(
        "flow {flow}, offset {offset}: a frame of {seen_bytes} bytes, {right_bytes} expected, \
         first difference at {at:?}"
    )
}
