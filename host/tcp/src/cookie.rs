//! SYN cookies: a SYN is answered without memory, and its ACK says all that is needed.
//!
//! ```text
//!   ISN = | minute, 5 bits | MSS, 3 bits | keyed hash of tuple, peer's ISN, minute, MSS: 24 bits |
//!   timestamp = clock, its lowest 6 bits: ECN │ SACK │ window scale (15: none)
//! ```
//! Invariants
//! 1. A cookie is believed for one to two minutes of 64 s.
//! 2. What the timestamp cannot carry, because the peer has none, is not agreed: no SACK, no scale.
//!
//! Source: RFC 4987, 3.6 and appendix A; RFC 7323, 3.2.

use crate::connection::Offer;
use crate::secret::{Secret, Tuple, Use};
use crate::segment::Segment;

/// Length of a cookie's minute.
const MINUTE_NS: u64 = 64_000_000_000;
/// The MSS values that three bits choose from.
const MSS_BYTES: [u16; 8] = [216, 536, 1220, 1400, 1440, 1460, 4096, 8960];
/// Bits of a timestamp that carry options.
const OPTION_BITS: u32 = 6;
const NO_SCALE: u32 = 15;

/// Makes and reads cookies (RFC 4987, 3.6).
#[derive(Clone, Debug)]
pub struct Cookies {
    secret: Secret,
}

impl Cookies {
    /// With a secret of its own (RFC 4987, appendix A).
    pub fn new(secret: Secret) -> Self {
        Self { secret }
    }

    /// The ISN of the answer to a SYN (RFC 4987, appendix A).
    pub fn first_sequence(&self, now_ns: u64, tuple: &Tuple, peer_first: u32, mss: u16) -> u32 {
        let index = MSS_BYTES.iter().rposition(|it| *it <= mss).unwrap_or(0) as u32;
        self.cookie(now_ns / MINUTE_NS, index, tuple, peer_first)
    }

    fn cookie(&self, minute: u64, index: u32, tuple: &Tuple, peer_first: u32) -> u32 {
        let more = minute << 35 | u64::from(index) << 32 | u64::from(peer_first);
        let hash = self.secret.hash(Use::Cookie, tuple, more) & 0x00ff_ffff;
        ((minute & 31) as u32) << 27 | index << 24 | hash
    }

    /// TSval of that answer, from our clock's value (RFC 4987, 3.6). The clock is set back by less
    /// than 64 ticks.
    pub fn timestamp(clock: u32, offer: &Offer) -> u32 {
        let scale = offer.window_scale.map_or(NO_SCALE, |scale| u32::from(scale.min(14)));
        let bits = u32::from(offer.has_ecn) << 5 | u32::from(offer.has_sack) << 4 | scale;
        (clock >> OPTION_BITS << OPTION_BITS) | bits
    }

    /// What the ACK of a cookie settles: our ISN, the peer's, and its offer; `None` if it is no
    /// cookie of ours (RFC 4987, appendix A).
    pub fn read(&self, now_ns: u64, tuple: &Tuple, ack: &Segment) -> Option<(u32, u32, Offer)> {
        let first = ack.acknowledgement.wrapping_sub(1);
        let peer_first = ack.sequence.wrapping_sub(1);
        let index = first >> 24 & 7;
        let minute_now = now_ns / MINUTE_NS;
        let mut minutes = (minute_now.saturating_sub(1)..=minute_now).rev();
        minutes.find(|minute| self.cookie(*minute, index, tuple, peer_first) == first)?;
        let mut offer = Offer { mss_bytes: Some(MSS_BYTES[index as usize]), ..Offer::default() };
        if let Some(timestamps) = ack.options.timestamps {
            let bits = timestamps.echo & ((1 << OPTION_BITS) - 1);
            let scale = bits & 15;
            offer.timestamp = Some(timestamps.value);
            offer.window_scale = (scale != NO_SCALE).then_some(scale as u8);
            offer.has_sack = bits & 16 != 0;
            offer.has_ecn = bits & 32 != 0;
        }
        Some((first, peer_first, offer))
    }
}
