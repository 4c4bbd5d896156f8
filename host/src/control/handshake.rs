//! What the SYNs of connections said, and payload that came before their flows were known.
//!
//! Anybody on the wire can begin a handshake, so only so many are remembered: the oldest that no
//! connection has claimed is forgotten first.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use super::packet::TcpHeader;
use super::window::Window;

/// Local and remote address of a connection.
pub type Tuple = (SocketAddr, SocketAddr);

/// Handshakes remembered that no connection has claimed.
const UNCLAIMED_MAX: usize = 4096;

/// What the two SYNs of a connection said.
#[derive(Clone, Debug, Default)]
pub struct Handshake {
    /// Initial sequence number of this side.
    pub local: Option<u32>,
    /// Initial sequence number of the peer.
    pub remote: Option<u32>,
    /// Window scale that this side offered.
    pub local_scale: Option<u8>,
    /// Whether the peer offered window scaling.
    pub remote_scales: bool,
    /// Payload that came before the flow was known, with its sequence numbers.
    pub early: Vec<(u32, Vec<u8>)>,
    /// What this side has offered so far: nothing, but the peer must hear when that changes.
    pub window: Window,
    claimed: bool,
}

impl Handshake {
    /// Closes the window of an outgoing header and remembers it: nothing is posted yet.
    pub fn offer_nothing(&mut self, bytes: &mut [u8], parsed: &TcpHeader) {
        let first = self.remote.map(|sequence| sequence.wrapping_add(1));
        let acknowledged = first.map_or(0, |first| parsed.acknowledgement.wrapping_sub(first));
        self.window.lower(bytes, parsed, 0, acknowledged.into(), 0);
    }
}

/// All handshakes under way.
#[derive(Debug, Default)]
pub struct Handshakes {
    open: HashMap<Tuple, Handshake>,
    /// Tuples in the order of their first packet; some may be gone or claimed.
    order: VecDeque<Tuple>,
    unclaimed: usize,
}

impl Handshakes {
    /// The handshake of a tuple, begun if it is new.
    pub fn of(&mut self, tuple: Tuple) -> &mut Handshake {
        if !self.open.contains_key(&tuple) {
            self.make_room();
            self.order.push_back(tuple);
            self.unclaimed += 1;
        }
        self.open.entry(tuple).or_default()
    }

    fn make_room(&mut self) {
        while self.unclaimed >= UNCLAIMED_MAX {
            let Some(oldest) = self.order.pop_front() else {
                return;
            };
            if self.open.get(&oldest).is_some_and(|h| !h.claimed) {
                self.open.remove(&oldest);
                self.unclaimed -= 1;
            }
        }
    }

    /// A connection waits for this handshake: it is kept until it is removed.
    pub fn claim(&mut self, tuple: Tuple) {
        let handshake = self.of(tuple);
        if !std::mem::replace(&mut handshake.claimed, true) {
            self.unclaimed -= 1;
        }
    }

    /// The handshake of a tuple, if it is known.
    pub fn get(&self, tuple: Tuple) -> Option<&Handshake> {
        self.open.get(&tuple)
    }

    /// The handshake of a tuple, if it is known, to go on with.
    pub fn get_mut(&mut self, tuple: Tuple) -> Option<&mut Handshake> {
        self.open.get_mut(&tuple)
    }

    /// Forgets a handshake.
    pub fn remove(&mut self, tuple: Tuple) {
        if let Some(handshake) = self.open.remove(&tuple) {
            self.unclaimed -= usize::from(!handshake.claimed);
            self.order.retain(|other| *other != tuple);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(port: u16) -> Tuple {
        let address = |port| SocketAddr::from(([10, 0, 0, 1], port));
        (address(80), address(port))
    }

    #[test]
    fn strangers_push_out_strangers_and_no_connection() {
        let mut handshakes = Handshakes::default();
        handshakes.of(tuple(1)).remote = Some(7);
        handshakes.claim(tuple(1));
        handshakes.of(tuple(2)).remote = Some(8);
        for port in 0..UNCLAIMED_MAX as u16 {
            handshakes.of(tuple(1000 + port));
        }
        assert_eq!(handshakes.get(tuple(1)).and_then(|h| h.remote), Some(7));
        assert!(handshakes.get(tuple(2)).is_none());
        assert_eq!(handshakes.open.len(), UNCLAIMED_MAX + 1);
        // One that comes again after it was removed is a new one.
        handshakes.remove(tuple(1000));
        assert!(handshakes.of(tuple(1000)).remote.is_none());
        for port in 0..2 * UNCLAIMED_MAX as u16 {
            handshakes.of(tuple(10_000 + port));
        }
        assert_eq!(handshakes.open.len(), UNCLAIMED_MAX + 1);
        assert!(handshakes.order.len() <= UNCLAIMED_MAX + 1);
    }
}
