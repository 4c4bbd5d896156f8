//! Completer request stream: requests of the host become beats without straddle.
//!
//! ```text
//!   CqPacket queue --> CqSender --> CqBeat (one TLP a beat, from dword 0)
//! ```
//!
//! Timing: the beat is registered; it stays until taken; no idle cycle inside a packet.
//!
//! Invariants:
//! 1. requests are delivered in order, but a posted one passes non-posted ones that wait;
//! 2. a non-posted request waits until `pcie_cq_np_req` has admitted it.
//!
//! Source: PG213, completer request interface, 512 bit, straddle off; non-posted flow control.

use crate::descriptor::cq_user;
use crate::ports::{CqBeat, BEAT_DWORDS};
use std::collections::VecDeque;

/// Dwords of the descriptor.
pub(crate) const DESCRIPTOR_DWORDS: usize = 4;
/// Non-posted requests that the card may admit in advance.
const ADMITTED_MAX: u8 = 32;

/// One request, ready for the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CqPacket {
    /// Descriptor and payload.
    pub words: Vec<u32>,
    pub first_be: u8,
    pub last_be: u8,
    /// Tag of a non-posted request.
    pub nonposted: Option<u8>,
}

/// What the card took: the tag of a read, or how many dwords of payload a write had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcceptedRequest {
    Read(u8),
    Write { dwords: usize },
}

/// Sender of the stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct CqSender {
    queue: VecDeque<CqPacket>,
    current: Option<CqPacket>,
    sent: usize,
    admitted: u8,
}

impl CqSender {
    /// Queues a request.
    pub fn push(&mut self, packet: CqPacket) {
        self.queue.push_back(packet);
    }

    /// Non-posted requests that may still be delivered.
    pub fn admitted_count(&self) -> u8 {
        self.admitted
    }

    /// Samples one cycle: `shown` becomes the next beat; returns the request taken whole.
    pub fn step(
        &mut self,
        shown: &mut CqBeat,
        tready: bool,
        np_req: u8,
        idle: bool,
    ) -> Option<AcceptedRequest> {
        if np_req & 1 != 0 {
            self.admitted = (self.admitted + 1).min(ADMITTED_MAX);
        }
        if shown.tvalid && !tready {
            return None;
        }
        let mut taken = None;
        if shown.tvalid && shown.tlast {
            taken = self.current.take().map(|packet| packet.take_beat());
        }
        if self.current.is_none() && !idle {
            self.current = self.choose();
            self.sent = 0;
        }
        match &self.current {
            None => shown.tvalid = false,
            Some(packet) => self.sent = packet.fill(self.sent, shown),
        }
        taken
    }

    /// The next request that may go: the first, or past waiting reads the first write.
    fn choose(&mut self) -> Option<CqPacket> {
        if self.queue.front()?.nonposted.is_some() {
            if self.admitted > 0 {
                self.admitted -= 1;
            } else {
                let write = self.queue.iter().position(|p| p.nonposted.is_none())?;
                return self.queue.remove(write);
            }
        }
        self.queue.pop_front()
    }

    /// Clears all state, as reset does.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

impl CqPacket {
    fn take_beat(&self) -> AcceptedRequest {
        match self.nonposted {
            Some(tag) => AcceptedRequest::Read(tag),
            None => AcceptedRequest::Write { dwords: self.words.len() - DESCRIPTOR_DWORDS },
        }
    }

    /// Makes the beat from dword `from` of the packet on; returns the dwords sent with it.
    fn fill(&self, from: usize, beat: &mut CqBeat) -> usize {
        let here = (self.words.len() - from).min(BEAT_DWORDS);
        *beat = CqBeat { tvalid: true, ..CqBeat::default() };
        beat.tdata[..here].copy_from_slice(&self.words[from..from + here]);
        beat.tkeep = (u32::MAX >> (32 - here)) as u16;
        beat.tlast = from + here == self.words.len();
        if from == 0 {
            cq_user::FIRST_BE.set(&mut beat.tuser, u64::from(self.first_be));
            cq_user::LAST_BE.set(&mut beat.tuser, u64::from(self.last_be));
            cq_user::IS_SOP.set(&mut beat.tuser, 1);
        }
        if beat.tlast {
            cq_user::IS_EOP.set(&mut beat.tuser, 1);
            cq_user::EOP_POINTER.set(&mut beat.tuser, here as u64 - 1);
        }
        let enables = (0..here).fold(0, |e, i| e | u64::from(self.enables(from + i)) << (4 * i));
        cq_user::BYTE_ENABLE.set(&mut beat.tuser, enables);
        from + here
    }

    /// Byte enables of dword `index` of the packet; none for the descriptor.
    fn enables(&self, index: usize) -> u8 {
        match index.checked_sub(DESCRIPTOR_DWORDS) {
            None => 0,
            Some(0) => self.first_be,
            Some(_) if index + 1 == self.words.len() => self.last_be,
            Some(_) => 0xf,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(dwords: usize, nonposted: Option<u8>) -> CqPacket {
        let words = (0..4 + dwords as u32).collect();
        CqPacket { words, first_be: 0xf, last_be: if dwords > 1 { 0x3 } else { 0 }, nonposted }
    }

    #[test]
    fn burst_of_64_bytes_takes_two_beats() {
        let mut sender = CqSender::default();
        sender.push(packet(16, None));
        let mut beat = CqBeat::default();
        assert_eq!(sender.step(&mut beat, true, 0, false), None);
        assert!((beat.tkeep, beat.tlast) == (0xffff, false));
        assert_eq!(cq_user::BYTE_ENABLE.get(&beat.tuser), !0 << 16);
        assert_eq!(sender.step(&mut beat, true, 0, false), None);
        assert!((beat.tkeep, beat.tlast) == (0xf, true));
        assert_eq!(cq_user::BYTE_ENABLE.get(&beat.tuser), 0x3fff);
        assert_eq!(cq_user::EOP_POINTER.get(&beat.tuser), 3);
        assert_eq!(
            sender.step(&mut beat, true, 0, false),
            Some(AcceptedRequest::Write { dwords: 16 })
        );
        assert!(!beat.tvalid);
    }

    #[test]
    fn write_passes_unadmitted_read() {
        let mut sender = CqSender::default();
        sender.push(packet(0, Some(7)));
        sender.push(packet(1, None));
        let mut beat = CqBeat::default();
        sender.step(&mut beat, true, 0, false);
        assert_eq!(
            sender.step(&mut beat, true, 1, false),
            Some(AcceptedRequest::Write { dwords: 1 })
        );
        assert!(beat.tvalid);
        assert_eq!(sender.step(&mut beat, true, 0, false), Some(AcceptedRequest::Read(7)));
        assert_eq!(sender.admitted_count(), 0);
    }
}
