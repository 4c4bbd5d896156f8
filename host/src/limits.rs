//! Limits of what is kept for connections that nobody has accepted.

/// Limits of unclaimed handshakes: half open, established. A SYN flood must fill the half-open
/// limit within one round trip to evict a peer that replies: 650,000 SYNs per second at 100 ms. At
/// 0.8 KB each, the half-open handshakes take 50 MB.
pub(crate) const UNCLAIMED_MAX: [usize; 2] = [65_536, 16_384];
