//! What became of the packets of a run.

use serde::{Deserialize, Serialize};

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A link has lost it.
    Wire,
    /// The buffer of a switch had no room.
    Buffer,
    /// It was longer than a link carries.
    TooBig,
    /// The header queue of the receiving host was full.
    HeaderQueue,
}

/// Packets of a run. A copy that a link has made is a packet of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Put on the wire by a host.
    pub sent: u64,
    /// Copies that links have made.
    pub doubled: u64,
    /// Shown to the engine of a host.
    pub delivered: u64,
    /// Lost by a link.
    pub lost_on_wire: u64,
    /// Found no room in the buffer of a switch.
    pub lost_in_buffer: u64,
    /// Longer than a link carries.
    pub lost_too_big: u64,
    /// Found a full header queue.
    pub lost_in_header_queue: u64,
    /// Of those on the wire: delayed more than the link delays.
    pub late: u64,
    /// Of those in a buffer: marked (RFC 3168, 5).
    pub marked: u64,
}

impl Counts {
    /// Counts a lost packet.
    pub fn lose(&mut self, reason: Reason) {
        *match reason {
            Reason::Wire => &mut self.lost_on_wire,
            Reason::Buffer => &mut self.lost_in_buffer,
            Reason::TooBig => &mut self.lost_too_big,
            Reason::HeaderQueue => &mut self.lost_in_header_queue,
        } += 1;
    }

    /// Lost for any reason.
    pub fn lost_packets(&self) -> u64 {
        self.lost_on_wire + self.lost_in_buffer + self.lost_too_big + self.lost_in_header_queue
    }
}
