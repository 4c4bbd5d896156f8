//! The other end of the wire: keeps the wire to the card full and judges the result.
//!
//! ```text
//!   round robin over flows ──► frame ──► MAC ──► card ──► header entries, in the same order
//!                                 └── in flight ──────────► compared: flow, position, header bytes
//!                                                            payload read from application memory
//! ```
//! A flow's packets are sent only where buffers are posted and confirmed: into the window that a
//! control stack offers. An owner's entries arrive in the order of the frames, so frames that an
//! entry skips were lost. When no entry arrives for long, frames are given up so that the windows
//! move. An entry that arrives for one of them later is reported as late: it cannot be judged any
//! more, since the floor may have passed it, and it is not a loss.

mod memory;
mod runs;

use std::collections::VecDeque;

use abi::config::METADATA_BYTES;
use abi::header_entry as entry;
use abi::reason::Disposition;
use host::driver::rings::HeaderEntry;
use lab::frame::{Frame, FCS_BYTES};
use lab::time::USER_CLOCK_PS;

use crate::error::MeasureError;
use crate::limits::{entry_bytes, slot};
use crate::load::may_lose;
use crate::packets::frames::{Fields, ACK};
use crate::parties::host::{Flow, Host, POLL_CYCLES};
use crate::parties::sequence::{Arrivals, Sequence};
use crate::scenario::{Acks, Rival, Scenario};

/// How far ahead the wire is filled: more than one poll of the host and one register read of the
/// driver.
const AHEAD_PS: u64 = 2_000_000;
/// Longest header that is compared.
const HEADER_BYTES: usize = 86;

/// Until frames are given up when no entry comes at all: longer than the card holds any frame back.
const QUIET_PS: u64 = 20_000_000;

/// Owners: the one that is measured, and its rival.
pub const OWNERS: usize = 2;

/// A frame on its way.
struct InFlight {
    sent_ps: u64,
    /// When its last byte is at the card.
    whole_ps: u64,
    is_data: bool,
    flow: u16,
    offset: u64,
    bytes: usize,
    position: u32,
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
}

impl InFlight {
    fn is_named_by(&self, seen: &HeaderEntry) -> bool {
        self.header[..self.header_bytes] == seen.header[..]
    }
}

/// What has arrived, counted when the host saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Payload bytes in application memory, judged.
    pub payload_bytes: u64,
    /// Packets of data: frames that only acknowledge not counted.
    pub packets: u64,
    /// Packets with a header entry, of their own or of a run.
    pub entries: u64,
    /// Frames without an entry.
    pub lost: u64,
}

/// One flow at the peer.
struct Stream {
    owner: usize,
    burst: u32,
    sequence: Sequence,
    arrivals: Arrivals,
    ack_owed: u32,
}

impl Stream {
    fn new(scenario: &Scenario, flow: u16) -> Self {
        Self {
            owner: usize::from(scenario.owner(flow)),
            burst: scenario.burst_of(flow),
            sequence: Sequence::default(),
            arrivals: Arrivals::default(),
            ack_owed: 0,
        }
    }
}

/// The peer of every flow.
pub struct Peer {
    /// What has arrived, for each owner.
    pub arrived: [Arrived; OWNERS],
    /// Time in which the wire was idle because no flow had an open window, ps.
    pub window_closed_ps: u64,
    /// Frames put on the wire, for each owner.
    pub frames: [u64; OWNERS],
    /// Bytes of all frames, FCS included.
    pub frame_bytes: u64,
    /// Header entries taken, of all owners.
    pub header_entries: u64,
    /// Bytes that the lanes have carried for them.
    pub entry_lane_bytes: f64,
    /// From the last byte of each judged packet to the poll that found its entry, ns.
    pub entry_waits_ns: Vec<u32>,
    streams: Vec<Stream>,
    in_flight: [VecDeque<InFlight>; OWNERS],
    /// Frames given up because no entry arrived, in order; they count as lost until one arrives.
    given_up: [VecDeque<InFlight>; OWNERS],
    /// Acknowledgements that wait to be sent as frames of their own.
    acks: VecDeque<(u16, u64)>,
    turn: usize,
    turn_left: u32,
    scenario: Scenario,
    /// At the last poll no flow had an open window.
    is_closed: bool,
    may_lose: bool,
    sends_data: bool,
    random: u64,
    serial: u16,
    now_ps: u64,
    /// Owner of the last frame.
    last_owner: usize,
    last_entry_ps: [u64; OWNERS],
    next_ps: u64,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
}

impl Peer {
    /// A peer of that many flows that has sent nothing.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            arrived: Default::default(),
            window_closed_ps: 0,
            frames: [0; OWNERS],
            frame_bytes: 0,
            header_entries: 0,
            entry_lane_bytes: 0.0,
            entry_waits_ns: Vec::new(),
            streams: (0..scenario.flows).map(|flow| Stream::new(scenario, flow)).collect(),
            in_flight: Default::default(),
            given_up: Default::default(),
            acks: VecDeque::new(),
            turn: 0,
            turn_left: scenario.burst_of(0),
            scenario: scenario.clone(),
            is_closed: false,
            may_lose: may_lose(scenario),
            sends_data: scenario.receive,
            random: scenario.seed | 1,
            serial: 0,
            now_ps: 0,
            last_owner: 0,
            last_entry_ps: [0; OWNERS],
            next_ps: 0,
            buffer: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Sends no more data.
    pub fn stop(&mut self) {
        self.sends_data = false;
    }

    /// Fills the wire to a little beyond now: acknowledgements first, then data.
    pub fn fill_wire(&mut self, host: &mut Host) {
        let card = host.machine.card.clone();
        let mut card = card.borrow_mut();
        let now = card.now_ps();
        self.now_ps = now;
        if self.is_closed {
            let idle = now.saturating_sub(card.mac.receive_free_ps());
            self.window_closed_ps += idle.min(POLL_CYCLES * USER_CLOCK_PS);
        }
        self.is_closed = false;
        // What is on the wire ahead of now is what a peer may still send: IEEE 802.3, 31B.3.7,
        // allows 394 quanta of 512 bits.
        if self.scenario.pause && card.asks_pause() {
            return;
        }
        while card.mac.receive_free_ps().max(self.next_ps) < now + AHEAD_PS {
            let frame = match self.acks.pop_front() {
                Some((flow, offset)) => self.pure_ack(host, flow, offset),
                None if self.sends_data => match self.data(host) {
                    Some(frame) => frame,
                    None => {
                        self.is_closed = true;
                        return;
                    }
                },
                None => return,
            };
            self.frame_bytes += frame.len() as u64 + FCS_BYTES;
            let frame = Frame { bytes: frame, ..Frame::default() };
            let earliest = now.max(self.next_ps);
            let whole_ps = card.mac.receive_frame(frame, earliest);
            if let Some(sent) = self.in_flight[self.last_owner].back_mut() {
                sent.whole_ps = whole_ps;
            }
            self.next_ps = earliest + self.scenario.interval_ps;
        }
    }

    /// Acknowledges with a frame of its own.
    pub fn acknowledge(&mut self, flow: u16, offset: u64) {
        self.acks.push_back((flow, offset));
    }

    fn pure_ack(&mut self, host: &Host, flow: u16, offset: u64) -> Vec<u8> {
        let sent = self.streams[usize::from(flow)].sequence.given_end();
        self.frame(host, flow, sent, 0, Some(offset))
    }

    /// The next data frame: of the flow that is next in turn, or the next one with an open window.
    fn data(&mut self, host: &Host) -> Option<Vec<u8>> {
        for _ in 0..=self.streams.len() {
            if self.turn_left > 0 {
                let number = self.frames.iter().sum();
                let bytes = self.scenario.payload_of(number, host.flows[self.turn].is_ipv6);
                if let Some(offset) = self.next_packet(host, bytes) {
                    self.turn_left -= 1;
                    let flow = self.turn as u16;
                    return Some(self.frame(host, flow, offset, bytes, None));
                }
            }
            self.turn = (self.turn + 1) % self.streams.len();
            self.turn_left = self.streams[self.turn].burst;
        }
        None
    }

    fn next_packet(&mut self, host: &Host, bytes: usize) -> Option<u64> {
        let (bytes, end) = (bytes as u64, host.flows[self.turn].window_end);
        let sequence = &mut self.streams[self.turn].sequence;
        sequence.next(self.scenario.order, bytes, end, &mut self.random)
    }

    fn frame(
        &mut self,
        host: &Host,
        flow: u16,
        offset: u64,
        bytes: usize,
        acknowledged: Option<u64>,
    ) -> Vec<u8> {
        let it = &host.flows[usize::from(flow)];
        self.serial = self.serial.wrapping_add(1);
        let is_data = acknowledged.is_none();
        let acknowledged = acknowledged.unwrap_or(it.delivered);
        // Of a flow with one flow label packets can be summed up.
        let is_labelled = it.is_ipv6 && self.scenario.coalesce;
        let fields = Fields {
            sequence: it.receive.position(offset),
            acknowledgement: it.send.position(acknowledged),
            flags: ACK | self.push_flag(offset, bytes),
            id: if is_labelled { 0 } else { self.serial },
        };
        let frame = it.arriving.frame(&fields, it.contents[0], offset, bytes);
        let header_bytes = it.arriving.bytes();
        let mut header = [0; HEADER_BYTES];
        header[..header_bytes].copy_from_slice(&frame[..header_bytes]);
        let owner = self.streams[usize::from(flow)].owner;
        self.frames[owner] += 1;
        self.last_owner = owner;
        self.in_flight[owner].push_back(InFlight {
            sent_ps: self.now_ps,
            whole_ps: self.now_ps,
            is_data,
            flow,
            offset,
            bytes,
            position: fields.sequence,
            header,
            header_bytes,
        });
        frame
    }

    /// Takes every header entry that has arrived and judges it.
    pub fn take_entries(&mut self, host: &mut Host) -> Result<(), MeasureError> {
        while let Some(entry) = host.next_entry()? {
            let owner = usize::from(entry.owner);
            self.arrived[owner].entries += 1;
            self.header_entries += 1;
            let bytes = entry_bytes(entry.header.len());
            self.entry_lane_bytes += slot(&self.scenario.pcie).write_bytes(bytes);
            self.last_entry_ps[owner] = self.now_ps;
            self.take(host, &entry)?;
        }
        self.give_up_lost(host);
        Ok(())
    }

    /// Without this a window whose last frames were all lost would never move again. Losses are
    /// judged at the end: a figure is shown though it fails. Entries of a rival whose
    /// queue is not emptied are not missed, and its frames have no window.
    pub fn give_up_lost(&mut self, host: &mut Host) {
        let owners = match self.scenario.rival {
            Some(Rival::Undrained) => 1,
            _ => OWNERS,
        };
        for owner in 0..owners {
            let (last, now) = (self.last_entry_ps[owner], self.now_ps);
            let is_lost = |sent: &InFlight| sent.sent_ps.max(last) + QUIET_PS < now;
            while self.in_flight[owner].front().is_some_and(is_lost) {
                if let Some(sent) = self.in_flight[owner].pop_front() {
                    self.lose(host, &sent);
                    self.given_up[owner].push_back(sent);
                }
            }
        }
    }

    fn take(&mut self, host: &mut Host, seen: &HeaderEntry) -> Result<(), MeasureError> {
        if entry::KIND.get(&seen.metadata) == u64::from(entry::KIND_EVENT) {
            let code = entry::DISPOSITION.get(&seen.metadata);
            host.problems.add(|| format!("event {code} from the send side"));
            return Ok(());
        }
        if self.take_late(host, seen) {
            return Ok(());
        }
        if self.scenario.coalesce {
            return self.take_of_flow(host, seen);
        }
        let owner = usize::from(seen.owner);
        if !(self.in_flight[owner].iter()).any(|sent| sent.is_named_by(seen)) {
            host.problems
                .add(|| format!("an entry of owner {owner} that belongs to no frame of it"));
            return Ok(());
        }
        while let Some(sent) = self.in_flight[owner].pop_front() {
            if sent.is_named_by(seen) {
                return self.judge(host, &sent, &seen.metadata);
            }
            self.judge_dropped(host, &sent)?;
            self.lose(host, &sent);
        }
        Ok(())
    }

    /// A frame without an entry.
    fn lose(&mut self, host: &mut Host, sent: &InFlight) {
        let owner = self.streams[usize::from(sent.flow)].owner;
        self.arrived[owner].lost += 1;
        self.arrive(host, sent);
    }

    /// Whether an entry belongs to a frame that was given up. Those before it stay lost: entries
    /// come in order.
    fn take_late(&mut self, host: &mut Host, seen: &HeaderEntry) -> bool {
        let owner = usize::from(seen.owner);
        let given_up = &mut self.given_up[owner];
        let Some(at) = given_up.iter().position(|sent| sent.is_named_by(seen)) else {
            return false;
        };
        let late = given_up.drain(..=at).next_back();
        if let Some(sent) = late {
            self.arrived[owner].lost -= 1;
            let waited_us = (self.now_ps - sent.sent_ps) / 1_000_000;
            let (flow, offset) = (sent.flow, sent.offset);
            host.problems.add(|| {
                format!("flow {flow}, offset {offset}: entry {waited_us} us after its frame")
            });
        }
        true
    }

    /// Compares one entry and the bytes that it announces with what was sent.
    fn judge(
        &mut self,
        host: &mut Host,
        sent: &InFlight,
        metadata: &[u8; METADATA_BYTES],
    ) -> Result<(), MeasureError> {
        let disposition = Disposition::from_code(entry::DISPOSITION.get(metadata) as u8);
        let expected = matches!(
            (sent.bytes, disposition),
            (0, Some(Disposition::NoPayload))
                | (1.., Some(Disposition::PlacedInOrder | Disposition::PlacedAhead))
        );
        let names_it = entry::FLOW.get(metadata) == u64::from(sent.flow)
            && entry::POSITION.get(metadata) == u64::from(sent.position)
            && entry::PAYLOAD_BYTES.get(metadata) == sent.bytes as u64
            && entry::TRIMMED_BYTES.get(metadata) == 0
            && entry::VERIFIED.get(metadata) == 1;
        let (flow, offset) = (sent.flow, sent.offset);
        if !expected || !names_it {
            let name = disposition.map_or("unknown", Disposition::name);
            host.problems
                .add(|| format!("flow {flow}, offset {offset}: entry says {name}, {metadata:?}"));
        } else if !self.is_in_memory(host, sent)? {
            host.problems.add(|| format!("flow {flow}, offset {offset}: wrong bytes in memory"));
        } else if sent.bytes > 0 {
            let arrived = &mut self.arrived[self.streams[usize::from(flow)].owner];
            arrived.payload_bytes += sent.bytes as u64;
        }
        let owner = self.streams[usize::from(flow)].owner;
        self.arrived[owner].packets += u64::from(sent.is_data);
        let waited_ps = host.machine.card.borrow().now_ps().saturating_sub(sent.whole_ps);
        self.entry_waits_ns.push((waited_ps / 1000) as u32);
        let it = &host.flows[usize::from(flow)];
        let number = acknowledgement(&sent.header, it);
        if let Some(acknowledged) = it.send.offset_near(number, it.acknowledged) {
            host.note_acknowledged(usize::from(flow), acknowledged);
        }
        self.arrive(host, sent);
        Ok(())
    }

    /// Marks a frame's range as dealt with: received, or given up where frames may be lost.
    fn arrive(&mut self, host: &mut Host, sent: &InFlight) {
        if sent.bytes == 0 {
            return;
        }
        let flow = usize::from(sent.flow);
        let stream = &mut self.streams[flow];
        let received = stream.arrivals.add(sent.offset, sent.bytes as u64);
        host.note_received(flow, received);
        stream.ack_owed += 1;
        if self.scenario.acks == Acks::Pure && stream.ack_owed == 2 {
            stream.ack_owed = 0;
            host.acks_owed.push_back(sent.flow);
        }
    }

    /// Gives up what is still in flight once the card is quiet, and judges the losses.
    pub fn give_up_rest(&mut self, host: &mut Host) -> Result<(), MeasureError> {
        for owner in 0..OWNERS {
            while let Some(sent) = self.in_flight[owner].pop_front() {
                self.judge_dropped(host, &sent)?;
                self.lose(host, &sent);
            }
        }
        let [lost, of_rival] = self.arrived.map(|of| of.lost);
        if lost > 0 && (!self.may_lose || self.scenario.rival.is_some()) {
            host.problems.add(|| format!("{lost} frames without an entry"));
        }
        if self.scenario.rival.is_some() && of_rival == 0 {
            host.problems.add(|| "the rival lost nothing: no queue was full".to_owned());
        }
        Ok(())
    }

    /// Frames without an entry so far.
    pub fn in_flight(&self) -> usize {
        self.in_flight.iter().map(VecDeque::len).sum()
    }

    /// Packets that each flow was sent.
    pub fn packets(&self) -> Vec<u64> {
        let packets = self.streams.iter().map(|stream| stream.sequence.packets());
        packets.collect()
    }
}

/// The ACK number in a header of a flow's packet.
fn acknowledgement(header: &[u8], flow: &Flow) -> u32 {
    let at = flow.arriving.layer4() + 8;
    u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Size;

    #[test]
    fn a_peer_begins_with_nothing_counted() {
        let peer = Peer::new(&Scenario::new(Size::Frame(64)));
        assert_eq!(peer.arrived, [Arrived::default(); OWNERS]);
        assert_eq!((peer.frames, peer.frame_bytes), ([0; OWNERS], 0));
        assert_eq!((peer.window_closed_ps, peer.in_flight()), (0, 0));
    }
}
