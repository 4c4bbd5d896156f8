//! Completer completion stream: beats without straddle become packets.
//!
//! ```text
//!   CcBeat, tready --> CcReceiver --> descriptor and payload (dwords)
//! ```
//!
//! Framing rules, each reported when broken:
//! 1. an offered beat stays until it is taken, and `tvalid` does not fall inside a packet;
//! 2. `tkeep` is all ones but on the last beat, where it has no holes;
//! 3. the packet has as many dwords as its descriptor announces; a completion with error status has
//!    five more than its descriptor.
//!
//! Source: PG213, completer completion interface, 512 bit, straddle off; Completions with Error
//! Status.

use crate::descriptor::{cc, cc_user, status};
use crate::ports::CcBeat;
use crate::violation::{Log, Stream, Violation};

/// Dwords of the descriptor.
pub(crate) const DESCRIPTOR_DWORDS: usize = 3;
/// Dwords after the descriptor of a completion with error status: byte enables and request
/// descriptor, for the log of the hard block. They are not sent over the link.
const REFUSAL_DWORDS: usize = 5;

/// Receiver of the stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct CcReceiver {
    words: Vec<u32>,
    held: Option<CcBeat>,
    gap: bool,
    discontinued: bool,
}

impl CcReceiver {
    /// Samples one cycle; returns the packet that ends in it.
    pub fn sample(&mut self, beat: &CcBeat, tready: bool, log: &mut Log) -> Option<Vec<u32>> {
        if self.held.take().is_some_and(|held| held != *beat) {
            log.push(Violation::OfferChanged(Stream::Cc));
        }
        if !beat.tvalid {
            if !self.words.is_empty() && !self.gap {
                log.push(Violation::ValidDroppedInPacket(Stream::Cc));
                self.gap = true;
            }
            return None;
        }
        self.gap = false;
        if !tready {
            self.held = Some(*beat);
            return None;
        }
        self.take(beat, log)
    }

    fn take(&mut self, beat: &CcBeat, log: &mut Log) -> Option<Vec<u32>> {
        let kept = beat.tkeep.trailing_ones() as usize;
        let holes = u32::from(beat.tkeep) != (1u32 << kept) - 1;
        if holes || kept == 0 || (!beat.tlast && kept != 16) {
            log.push(Violation::Keep { stream: Stream::Cc, tkeep: beat.tkeep });
        }
        self.words.extend_from_slice(&beat.tdata[..kept]);
        self.discontinued |= cc_user::DISCONTINUE.is_set(&beat.tuser);
        if !beat.tlast {
            return None;
        }
        let words = std::mem::take(&mut self.words);
        if std::mem::take(&mut self.discontinued) {
            log.push(Violation::Discontinued(Stream::Cc));
            return None;
        }
        let announced = match words.get(..DESCRIPTOR_DWORDS) {
            Some(descriptor) if cc::STATUS.get(descriptor) as u8 != status::SUCCESS => {
                DESCRIPTOR_DWORDS + REFUSAL_DWORDS
            }
            Some(descriptor) => DESCRIPTOR_DWORDS + cc::DWORD_COUNT.get(descriptor) as usize,
            None => DESCRIPTOR_DWORDS,
        };
        if words.len() != announced {
            let (has, announced) = (words.len() as u32, announced as u32);
            log.push(Violation::PacketLength { has, announced });
            return None;
        }
        let on_link = DESCRIPTOR_DWORDS + cc::DWORD_COUNT.get(&words) as usize;
        Some(words[..on_link.min(words.len())].to_vec())
    }

    /// Clears all state, as reset does.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}
