//! What the path says: probes of its MTU, and ICMP.
//!
//! Invariants
//! 1. ICMP is looked at only if the segment that it quotes is in flight, and it never ends a
//!    connection that was once open (RFC 5927, 4.1 and 5.2).
//!
//! Sources: RFC 4821, 7; RFC 5927, 4 to 7; RFC 9293, 3.9.2.2.

use super::acknowledge::Brought;
use super::{Connection, End, State};

/// Timeouts in a row that mean a black hole (RFC 4821, 7.7).
const BLACK_HOLE_TIMEOUTS: u32 = 3;

/// What an ICMP message says that quotes a segment of ours (RFC 5927, 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icmp {
    /// The packet was too big: the most that passes, less the fixed IP and TCP headers (RFC 1191,
    /// 4; RFC 8201, 3).
    TooBig {
        /// Counted as an MSS is.
        size_bytes: u32,
    },
    /// Destination unreachable, of the codes that RFC 1122 calls hard: protocol, port (RFC 9293,
    /// 3.9.2.2).
    Hard {
        /// The code.
        code: u8,
    },
    /// Anything else that will pass (RFC 9293, 3.9.2.2).
    Soft,
}

impl Connection {
    /// An ICMP message has come that quotes `sequence` (RFC 5927, 4.1). Returns whether it was
    /// believed.
    pub fn arrive_icmp(&mut self, now_ns: u64, icmp: Icmp, sequence: u32) -> bool {
        let quoted = self.numbers.offset(sequence, self.una);
        let is_in_flight = quoted >= self.una as i64 && quoted < self.next as i64;
        if !is_in_flight || self.state >= State::TimeWait {
            return false;
        }
        match icmp {
            Icmp::TooBig { size_bytes } => {
                let size_bytes = self.path_mtu.too_big(now_ns, size_bytes.into());
                if let Some(size_bytes) = size_bytes {
                    self.shrink(size_bytes);
                    let lost_bytes = self.board.lose_all();
                    self.counters.lost_bytes += lost_bytes;
                }
                size_bytes.is_some()
            }
            Icmp::Hard { code } if self.state == State::SynSent => {
                self.close(End::Unreachable(code));
                true
            }
            Icmp::Hard { .. } | Icmp::Soft => false,
        }
    }

    fn options_bytes(&self) -> u64 {
        if self.agreed.has_timestamps {
            12
        } else {
            0
        }
    }

    fn shrink(&mut self, size_bytes: u64) {
        self.mss_bytes = size_bytes.saturating_sub(self.options_bytes()).max(64);
        self.control.change_mss(self.mss_bytes);
    }

    /// Payload of the probe that is wanted now (RFC 4821, 7.3).
    pub(super) fn path_probe_bytes(&mut self, now_ns: u64) -> Option<u64> {
        let size_bytes = self.path_mtu.wanted(now_ns)?;
        Some(size_bytes.saturating_sub(self.options_bytes()))
    }

    /// A probe of so much payload is sent next.
    pub(super) fn note_path_probe(&mut self, bytes: u64) {
        let size_bytes = bytes + self.options_bytes();
        self.path_mtu.send(self.next, self.next + bytes, size_bytes);
    }

    /// Whether a probe has come or was lost (RFC 4821, 7.6). One that is lost alone is no sign of
    /// congestion (7.6.2).
    pub(super) fn judge_path_probe(&mut self, now_ns: u64, brought: &mut Brought) {
        if let Some(size_bytes) = self.path_mtu.acknowledge(self.una) {
            self.shrink(size_bytes);
        }
        let lost = self.board.next_lost().filter(|_| brought.lost_bytes > 0);
        if let Some(bytes) = lost.and_then(|lost| self.path_mtu.lose(now_ns, lost.start)) {
            brought.lost_bytes = brought.lost_bytes.saturating_sub(bytes);
        }
    }

    /// Nothing was acknowledged for some timeouts (RFC 4821, 7.7).
    pub(super) fn judge_black_hole(&mut self) {
        let is_hole = self.timeouts == BLACK_HOLE_TIMEOUTS;
        if let Some(size_bytes) = is_hole.then(|| self.path_mtu.black_hole()).flatten() {
            self.shrink(size_bytes);
        }
    }
}
