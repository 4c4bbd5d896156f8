//! Numbers that nobody outside can guess: initial sequence numbers, clock offsets, cookies.
//!
//! Invariants
//! 1. They depend on a secret that the user of the engine gives, on the tuple and on time alone.
//!
//! Sources: RFC 9293, 3.4.1 (ISN = M + F(tuple, secret)); RFC 4987, 3.6; RFC 7323, 7.1.

use std::net::{IpAddr, SocketAddr};

use sha2::{Digest, Sha256};

/// Time of one step of the clock M (RFC 9293, 3.4.1).
const STEP_NS: u64 = 4_000;

/// Both ends of a connection (RFC 9293, 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tuple {
    /// Our end.
    pub local: SocketAddr,
    /// The peer's.
    pub remote: SocketAddr,
}

/// What a number is for, so that two never tell about each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    Sequence = 1,
    Clock = 2,
    Cookie = 3,
}

/// A secret (RFC 9293, 3.4.1).
#[derive(Clone)]
pub struct Secret(pub [u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

impl Secret {
    /// F: 32 bits of a keyed hash (RFC 9293, 3.4.1).
    pub(crate) fn hash(&self, purpose: Use, tuple: &Tuple, more: u64) -> u32 {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update([purpose as u8]);
        for address in [tuple.local, tuple.remote] {
            match address.ip() {
                IpAddr::V4(ip) => hash.update(ip.to_ipv6_mapped().octets()),
                IpAddr::V6(ip) => hash.update(ip.octets()),
            }
            hash.update(address.port().to_be_bytes());
        }
        hash.update(more.to_be_bytes());
        let hash = hash.finalize();
        u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
    }

    /// The initial sequence number of a connection (RFC 9293, 3.4.1).
    pub fn first_sequence(&self, now_ns: u64, tuple: &Tuple) -> u32 {
        let steps = (now_ns / STEP_NS) as u32;
        self.hash(Use::Sequence, tuple, 0).wrapping_add(steps)
    }

    /// Where the timestamps of a connection begin (RFC 7323, 7.1). It depends on the tuple alone,
    /// so timestamps rise over connections of one tuple, as RFC 6191, 2 wants.
    pub fn clock_offset(&self, tuple: &Tuple) -> u32 {
        self.hash(Use::Clock, tuple, 0)
    }
}
