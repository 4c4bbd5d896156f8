//! The other cards: numbers of messages, and who still needs to be watched.

use std::collections::HashMap;
use std::net::SocketAddr;

/// What is kept of another card.
#[derive(Debug)]
struct Peer {
    comms: u32,
    next_message: u64,
}

/// All of them. They are kept: a number is never used again.
#[derive(Debug)]
pub struct Peers {
    known: HashMap<SocketAddr, Peer>,
    /// Where numbers begin, so that those of an opening before are others.
    base: u64,
}

impl Peers {
    /// None, with numbers from `base` on.
    pub fn new(base: u64) -> Self {
        Self { known: HashMap::new(), base }
    }

    fn get(&mut self, address: SocketAddr) -> &mut Peer {
        let next_message = self.base;
        self.known.entry(address).or_insert(Peer { comms: 0, next_message })
    }

    /// One more communicator. Returns whether it is the first.
    pub fn add_comm(&mut self, address: SocketAddr) -> bool {
        let peer = self.get(address);
        peer.comms += 1;
        peer.comms == 1
    }

    /// One less. Returns whether it was the last.
    pub fn remove_comm(&mut self, address: SocketAddr) -> bool {
        let peer = self.get(address);
        peer.comms = peer.comms.saturating_sub(1);
        peer.comms == 0
    }

    /// Numbers for so many messages that the other one is to send: the first.
    pub fn take_messages(&mut self, address: SocketAddr, count: u32) -> u64 {
        let peer = self.get(address);
        let first = peer.next_message;
        peer.next_message += u64::from(count);
        first
    }
}
