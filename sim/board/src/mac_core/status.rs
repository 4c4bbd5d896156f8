//! Bits of status that are kept until they are read.

use host_board::mac::registers as mac;

/// A register of status: what is, and the worst since the last read.
#[derive(Clone, Copy, Debug)]
struct Kept {
    word: u32,
    /// Bits that are worse clear; the others are worse set.
    good: u32,
    now: u32,
    worst: u32,
}

/// The registers of status.
#[derive(Clone, Debug)]
pub struct Status([Kept; 4]);

impl Default for Status {
    fn default() -> Self {
        let kept = |word, good| Kept { word, good, now: 0, worst: 0 };
        Self([
            kept(mac::RX_STATUS, mac::RX_STATUS_GOOD | mac::RX_ALIGNED),
            kept(mac::TX_STATUS, 0),
            kept(mac::RX_BLOCK_LOCK, mac::RX_LANES),
            kept(mac::FEC_STATUS, mac::FEC_LANE_LOCKS | mac::FEC_ALIGNED),
        ])
    }
}

impl Status {
    /// A register of status is this now.
    pub fn note(&mut self, word: u32, now: u32) {
        for kept in self.0.iter_mut().filter(|kept| kept.word == word) {
            kept.now = now;
            kept.worst = (kept.worst & now & kept.good) | ((kept.worst | now) & !kept.good);
        }
    }

    /// Reads a register of status; `None`: it is none.
    pub fn take(&mut self, word: u32) -> Option<u32> {
        let kept = self.0.iter_mut().find(|kept| kept.word == word)?;
        Some(std::mem::replace(&mut kept.worst, kept.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_is_kept_until_it_is_read() {
        let mut status = Status::default();
        status.note(mac::RX_STATUS, mac::RX_ALIGNED);
        assert_eq!(status.take(mac::RX_STATUS), Some(0), "it was not, before");
        assert_eq!(status.take(mac::RX_STATUS), Some(mac::RX_ALIGNED));
        status.note(mac::RX_STATUS, mac::RX_LOCAL_FAULT);
        status.note(mac::RX_STATUS, mac::RX_ALIGNED);
        assert_eq!(status.take(mac::RX_STATUS), Some(mac::RX_LOCAL_FAULT));
        assert_eq!(status.take(mac::RX_STATUS), Some(mac::RX_ALIGNED));
        assert_eq!(status.take(mac::TICK), None);
    }
}
