//! Entries of a card that sums packets up: of one flow in order, of several in any.
//!
//! ```text
//!   entry ─┬─ of a run: packet by packet, as the host expands it ─┐
//!          └─ of a packet ────────────────────────────────────────┴─► its frame
//! ```
//! A frame of the same flow before it has no entry and is lost; those of other flows may still be
//! in an open run.

use abi::config::METADATA_BYTES;
use abi::header_entry as entry;
use host::driver::rings::HeaderEntry;
use host::headers::packet::parse_tcp;
use host::headers::run::Run;

use super::{InFlight, Peer};
use crate::error::MeasureError;
use crate::packets::frames::PSH;
use crate::parties::host::Host;

/// Payload of the longest segment that its sender has cut into packets: PSH is on the last one.
const SEGMENT_BYTES: u64 = 64 << 10;

impl Peer {
    /// The flags of a packet: where packets are summed up, it is of a segment.
    pub(super) fn push_flag(&self, offset: u64, bytes: usize) -> u8 {
        if !self.scenario.coalesce || bytes == 0 {
            return 0;
        }
        let packets = match u64::from(self.scenario.push_packets) {
            0 => (SEGMENT_BYTES / bytes as u64).max(1),
            packets => packets,
        };
        let number = offset / bytes as u64;
        if number % packets == packets - 1 {
            PSH
        } else {
            0
        }
    }

    /// Takes an entry of a packet or a run.
    pub(super) fn take_of_flow(
        &mut self,
        host: &mut Host,
        seen: &HeaderEntry,
    ) -> Result<(), MeasureError> {
        let flow = entry::FLOW.get(&seen.metadata) as u16;
        let owner = usize::from(seen.owner);
        let Some(run) = seen.run else {
            let is_it = |sent: &InFlight| sent.flow == flow && sent.is_named_by(seen);
            return match self.take_in_flight(host, owner, flow, is_it)? {
                Some(sent) => self.judge(host, &sent, &seen.metadata),
                None => {
                    note_unknown(host, owner, flow);
                    Ok(())
                }
            };
        };
        self.arrived[owner].entries += u64::from(run.packets) - 1;
        for packet in 0..run.packets {
            let header = run.header(&seen.header, packet..packet + 1).ok();
            let Some(parsed) = header.and_then(|header| parse_tcp(&header)) else {
                note_unknown(host, owner, flow);
                continue;
            };
            let position = parsed.sequence;
            // Between first and last, ACK numbers and windows are not known.
            let is_exact = packet == 0 || packet + 1 == run.packets;
            let is_it = |sent: &InFlight| {
                let sent_header = &sent.header[..sent.header_bytes];
                let is_same = !is_exact || parse_tcp(sent_header) == Some(parsed);
                sent.flow == flow && sent.is_data && sent.position == position && is_same
            };
            let Some(sent) = self.take_in_flight(host, owner, flow, is_it)? else {
                note_unknown(host, owner, flow);
                continue;
            };
            self.judge(host, &sent, &packet_metadata(&seen.metadata, &run, packet, position))?;
        }
        Ok(())
    }

    /// Takes the frame of an entry, and gives up those of its flow before it.
    fn take_in_flight(
        &mut self,
        host: &mut Host,
        owner: usize,
        flow: u16,
        is_it: impl Fn(&InFlight) -> bool,
    ) -> Result<Option<InFlight>, MeasureError> {
        let Some(at) = self.in_flight[owner].iter().position(is_it) else {
            return Ok(None);
        };
        let before = self.in_flight[owner].drain(..=at).collect::<Vec<_>>();
        let mut found = None;
        for (number, sent) in before.into_iter().enumerate().rev() {
            if number == at {
                found = Some(sent);
            } else if sent.flow == flow {
                self.judge_dropped(host, &sent)?;
                self.lose(host, &sent);
            } else {
                self.in_flight[owner].push_front(sent);
            }
        }
        Ok(found)
    }
}

fn note_unknown(host: &mut Host, owner: usize, flow: u16) {
    host.problems.add(|| format!("an entry of owner {owner}, flow {flow}, that is of no frame"));
}

/// The metadata that a packet of a run would have had.
fn packet_metadata(
    metadata: &[u8; METADATA_BYTES],
    run: &Run,
    packet: u32,
    position: u32,
) -> [u8; METADATA_BYTES] {
    let mut single = *metadata;
    let bytes = run.payload_bytes(packet..packet + 1);
    for (field, value) in [
        (entry::KIND, u64::from(entry::KIND_PACKET)),
        (entry::POSITION, position.into()),
        (entry::PAYLOAD_BYTES, bytes.into()),
        (entry::TRIMMED_BYTES, 0),
        (entry::SLOW_BUFFER, entry::SLOW_BUFFER_NONE.into()),
    ] {
        field.set(&mut single, value);
    }
    single
}
