//! Consecutive packets that one descriptor describes, and the card cuts apart again.

use host::headers::packet::{clear_checksums, TcpHeader};
use host::records::descriptor::{self, Payload, Record};

use super::super::cut::{CWR, FIN_PSH, FLAGS_OFFSET};
use super::super::rig::Installed;
use super::super::setup::FlowSetup;
use super::outgoing::Outgoing;

/// A descriptor to make: a first packet and those that were joined to it.
pub struct Train {
    first: Outgoing,
    payload_bytes: usize,
    last: Outgoing,
    count: usize,
}

impl Train {
    /// A train of one packet.
    pub fn new(first: Outgoing) -> Self {
        Self { payload_bytes: first.packet.payload.len(), last: first.clone(), count: 1, first }
    }

    /// Index of its flow.
    pub fn flow(&self) -> usize {
        self.first.flow
    }

    /// Whether it has more than one packet.
    pub fn is_joined(&self) -> bool {
        self.count > 1
    }

    /// Whether a packet is what segmentation would make of a longer train.
    pub fn continues(&self, next: &Outgoing, join_bytes: usize) -> bool {
        let (first, last) = (&self.first, &self.last);
        let mss = first.packet.payload.len();
        let next_bytes = next.packet.payload.len();
        let follows = next.flow == first.flow
            && first.is_one_frame()
            && next.is_one_frame()
            && next.position == first.position + self.payload_bytes as i64
            && last.packet.payload.len() == mss
            // FIN and PSH stay in the last packet only.
            && last.frame.bytes[first.packet.header.l4_offset + FLAGS_OFFSET] & FIN_PSH == 0
            && next_bytes <= mss
            && self.payload_bytes + next_bytes <= join_bytes
            && next.packet.header_bytes == first.packet.header_bytes;
        follows && self.expected_header(next) == next.header()
    }

    /// The header that the card would give to `next`, checksums taken from it.
    fn expected_header(&self, next: &Outgoing) -> Vec<u8> {
        let TcpHeader { l3_offset: l3, l4_offset: l4, ipv6, .. } = self.first.packet.header;
        let mut header = self.first.header().to_vec();
        let theirs = &next.frame.bytes;
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
        header[l4 + FLAGS_OFFSET] &= !CWR;
        header[l4 + FLAGS_OFFSET] |= theirs[l4 + FLAGS_OFFSET] & FIN_PSH;
        header
    }

    /// Joins a packet.
    pub fn add(&mut self, next: Outgoing) {
        self.payload_bytes += next.packet.payload.len();
        self.last = next;
        self.count += 1;
    }

    /// Its descriptor.
    pub fn descriptor(&self, flow: &FlowSetup, installed: &Installed) -> Record {
        let (first, parsed) = (&self.first, &self.first.packet.header);
        let mut header = first.header().to_vec();
        let flags = parsed.l4_offset + FLAGS_OFFSET;
        header[flags] |= self.last.frame.bytes[flags] & FIN_PSH;
        clear_checksums(&mut header, parsed);
        let ends = flow
            .segments
            .iter()
            .take_while(|segment| segment.stream().end as i64 <= first.position)
            .count();
        let payload = Payload {
            name: installed.name,
            position: first.packet.sequence(),
            bytes: self.payload_bytes as u32,
            mss_bytes: first.mss.min(first.packet.payload.len()) as u16,
            segment_index: ends as u16,
        };
        descriptor::send(&header, parsed.into(), &payload).record()
    }
}
