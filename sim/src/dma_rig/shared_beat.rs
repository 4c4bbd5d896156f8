//! Two write jobs in one packet: the second begins in the middle of the beat in which the first
//! ends (`stream::messages::WriteJob`).
//!
//! ```text
//!   first   ████████ ████░░░░        ░: undefined bytes
//!   second               ████ ████████ ██
//!   packet  ████████ ████░░░░████ ████████ ██
//! ```

use abi::config::BEAT_BYTES;
use stream::messages::{SHARED_AT_BYTE, SHARED_TAIL_BYTES_MAX};

/// Byte of the packet at which the second job begins, after a first one of `first_bytes`.
///
/// # Panics
/// If the first job ends too late in its last beat to share it.
pub fn second_at(first_bytes: usize) -> usize {
    let tail_bytes = first_bytes % BEAT_BYTES;
    let may_share = (1..=SHARED_TAIL_BYTES_MAX).contains(&tail_bytes);
    assert!(may_share, "{tail_bytes} bytes in the shared beat");
    first_bytes - tail_bytes + SHARED_AT_BYTE
}

/// The packet of both; `filler` lies between them.
pub fn join(first: &[u8], second: &[u8], filler: u8) -> Vec<u8> {
    let mut packet = first.to_vec();
    packet.resize(second_at(first.len()), filler);
    packet.extend_from_slice(second);
    packet
}

/// The bytes of each of the two jobs in their packet.
///
/// # Panics
/// If the length of the packet is not that of both jobs, or the second ends in the shared beat.
pub fn split(packet: &[u8], first_bytes: usize, second_bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let at = second_at(first_bytes);
    assert_eq!(packet.len(), at + second_bytes, "bytes of two jobs");
    assert!(second_bytes > BEAT_BYTES - SHARED_AT_BYTE, "{second_bytes} bytes of the second");
    (packet[..first_bytes].to_vec(), packet[at..].to_vec())
}
