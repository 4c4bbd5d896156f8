//! Requester completion stream: completions become beats with up to four straddled TLPs.
//!
//! ```text
//!   RcPacket queue --> RcSender --> RcBeat (starts at dwords 0, 4, 8, 12)
//! ```
//!
//! Timing: the beat is registered; it stays until taken; no idle cycle inside a packet.
//!
//! Invariants: `tkeep` is all ones and `tlast` is 0; a TLP starts at the first multiple of four
//! dwords after the one before it, if it had arrived when the beat was made.
//!
//! Source: PG213, requester completion interface, 512 bit, straddle with four TLPs.

use crate::descriptor::rc_user;
use crate::ports::{RcBeat, BEAT_DWORDS};
use std::collections::VecDeque;
use std::ops::Range;

/// Dwords of the descriptor.
pub(crate) const DESCRIPTOR_DWORDS: usize = 3;

/// One completion, ready for the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RcPacket {
    /// Descriptor and payload.
    pub words: Vec<u32>,
    /// Offset of the first valid byte in the payload, and number of valid ones.
    pub first_byte: u32,
    pub valid_bytes: u32,
    /// Tag that is free once the card has taken the packet.
    pub frees_tag: Option<u8>,
    /// Space that it occupies in the receive buffer.
    pub headers: u32,
    pub data: u32,
}

/// Outcome of a packet that the card took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivered {
    pub frees_tag: Option<u8>,
    pub headers: u32,
    pub data: u32,
}

/// Sender of the stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct RcSender {
    queue: VecDeque<RcPacket>,
    /// Dwords of the first packet of the queue that are sent.
    sent: usize,
    /// Packets that end in the beat shown.
    ending: [Option<Delivered>; 4],
}

impl RcSender {
    /// Queues a packet.
    pub fn push(&mut self, packet: RcPacket) {
        self.queue.push_back(packet);
    }

    /// Samples one cycle: what was taken goes to `sink`, and `shown` becomes the next beat.
    pub fn step(
        &mut self,
        shown: &mut RcBeat,
        tready: bool,
        idle: bool,
        mut sink: impl FnMut(Delivered),
    ) {
        if shown.tvalid && !tready {
            return;
        }
        if shown.tvalid {
            self.ending.iter_mut().filter_map(Option::take).for_each(&mut sink);
        }
        if self.queue.is_empty() || (idle && self.sent == 0) {
            shown.tvalid = false;
            return;
        }
        self.fill(shown);
    }

    fn fill(&mut self, beat: &mut RcBeat) {
        *beat = RcBeat { tkeep: 0xffff, tvalid: true, ..RcBeat::default() };
        let (mut position, mut starts, mut ends) = (0, 0, 0);
        let mut enables = 0u64;
        while position < BEAT_DWORDS {
            let Some(packet) = self.queue.front() else { break };
            if self.sent == 0 {
                rc_user::SOP_POINTER[starts].set(&mut beat.tuser, position as u64 / 4);
                starts += 1;
            }
            let here = (packet.words.len() - self.sent).min(BEAT_DWORDS - position);
            let words = &packet.words[self.sent..self.sent + here];
            beat.tdata[position..position + here].copy_from_slice(words);
            enables |= packet.enables(self.sent..self.sent + here) << (4 * position);
            self.sent += here;
            position += here;
            if self.sent < packet.words.len() {
                break;
            }
            rc_user::EOP_POINTER[ends].set(&mut beat.tuser, position as u64 - 1);
            self.ending[ends] = Some(packet.deliver());
            ends += 1;
            position = position.next_multiple_of(4);
            self.queue.pop_front();
            self.sent = 0;
        }
        rc_user::IS_SOP.set(&mut beat.tuser, (1 << starts) - 1);
        rc_user::IS_EOP.set(&mut beat.tuser, (1 << ends) - 1);
        rc_user::BYTE_ENABLE.set(&mut beat.tuser, enables);
    }
}

impl RcPacket {
    fn deliver(&self) -> Delivered {
        Delivered { frees_tag: self.frees_tag, headers: self.headers, data: self.data }
    }

    /// Byte enables of up to 16 dwords of the packet; none for the descriptor.
    fn enables(&self, dwords: Range<usize>) -> u64 {
        let first_valid = 4 * DESCRIPTOR_DWORDS + self.first_byte as usize;
        let place = |byte: usize| byte.clamp(4 * dwords.start, 4 * dwords.end) - 4 * dwords.start;
        let begin = place(first_valid);
        let end = place(first_valid + self.valid_bytes as usize);
        ((1u128 << end) - (1 << begin)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(payload: u32, tag: u8) -> RcPacket {
        RcPacket {
            words: (0..payload + 3).map(|w| u32::from(tag) << 16 | w).collect(),
            first_byte: 1,
            valid_bytes: 4 * payload - 2,
            frees_tag: Some(tag),
            headers: 1,
            data: 1,
        }
    }

    #[test]
    fn four_short_completions_share_a_beat() {
        let mut sender = RcSender::default();
        (0..5).for_each(|tag| sender.push(packet(1, tag)));
        let mut beat = RcBeat::default();
        let mut freed = Vec::new();
        sender.step(&mut beat, true, false, |d| freed.push(d.frees_tag));
        assert!(beat.tvalid && freed.is_empty());
        assert_eq!(rc_user::IS_SOP.get(&beat.tuser), 0xf);
        assert_eq!(rc_user::IS_EOP.get(&beat.tuser), 0xf);
        let pointers = rc_user::EOP_POINTER.map(|f| f.get(&beat.tuser));
        assert_eq!(pointers, [3, 7, 11, 15]);
        assert_eq!(rc_user::SOP_POINTER.map(|f| f.get(&beat.tuser)), [0, 1, 2, 3]);
        assert_eq!(rc_user::BYTE_ENABLE.get(&beat.tuser), 0x6000_6000_6000_6000);
        let kept = beat;
        sender.step(&mut beat, false, false, |d| freed.push(d.frees_tag));
        assert_eq!(beat, kept);
        sender.step(&mut beat, true, false, |d| freed.push(d.frees_tag));
        assert_eq!(freed, [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(rc_user::IS_SOP.get(&beat.tuser), 1);
    }

    #[test]
    fn next_start_is_at_multiple_of_four() {
        let mut sender = RcSender::default();
        sender.push(packet(20, 0));
        sender.push(packet(20, 1));
        let mut beat = RcBeat::default();
        sender.step(&mut beat, true, false, |_| ());
        assert_eq!(rc_user::IS_EOP.get(&beat.tuser), 0);
        sender.step(&mut beat, true, false, |_| ());
        assert_eq!(rc_user::EOP_POINTER[0].get(&beat.tuser), 6);
        assert_eq!(rc_user::SOP_POINTER[0].get(&beat.tuser), 2);
        assert_eq!(beat.tdata[8], 1 << 16);
    }
}
