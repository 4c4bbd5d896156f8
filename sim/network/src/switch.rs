//! A switch: one buffer for all its ports, and marks by the queue of a port.
//!
//! ```text
//!   packet ─► room in the shared buffer? ─► queue of the port long? mark ─► link
//! ```
//! The buffer is shared without partition: one port may take all of it. A packet holds its bytes
//! of the wire from its arrival until its last byte has left.
//!
//! Invariants
//! 1. What is held never exceeds the buffer.
//!
//! Sources: RFC 3168, 5 (marks); RFC 8257, 3.1 (marks by the length of the queue at arrival).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};
use tcp::segment::{Codepoint, Segment};

/// The parameters of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchParameters {
    /// Buffer of all ports together.
    pub buffer_bytes: u64,
    /// Packets that wait at a port from which on a packet that comes is marked.
    pub mark_packets: u64,
}

/// What waits at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Packets.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    parameters: SwitchParameters,
    /// When the last byte of what is held leaves, its port and its bytes.
    held: BinaryHeap<Reverse<(u64, u32, u64)>>,
    ports: Vec<Waiting>,
    peaks: Vec<Waiting>,
    held_bytes: u64,
}

impl Switch {
    /// An empty switch.
    pub fn new(parameters: SwitchParameters, ports: usize) -> Self {
        let none = vec![Waiting::default(); ports];
        let held = BinaryHeap::new();
        Self { parameters, held, ports: none.clone(), peaks: none, held_bytes: 0 }
    }

    /// Frees what has left by now.
    fn advance(&mut self, now_ps: u64) {
        while let Some(Reverse((_, port, bytes))) =
            self.held.peek().copied().filter(|it| it.0 .0 <= now_ps)
        {
            self.held.pop();
            self.held_bytes -= bytes;
            let waiting = &mut self.ports[port as usize];
            waiting.packets -= 1;
            waiting.bytes -= bytes;
        }
    }

    /// Takes a packet, which is marked if its port's queue is long. Returns whether it was marked,
    /// or `None` if there is no room.
    pub fn admit(
        &mut self,
        now_ps: u64,
        port: u32,
        segment: &mut Segment,
        wire_bytes: u64,
    ) -> Option<bool> {
        self.advance(now_ps);
        if self.held_bytes + wire_bytes > self.parameters.buffer_bytes {
            return None;
        }
        let is_long = self.ports[port as usize].packets >= self.parameters.mark_packets;
        let is_capable = matches!(segment.codepoint, Codepoint::Capable0 | Codepoint::Capable1);
        if is_long && is_capable {
            segment.codepoint = Codepoint::Experienced;
        }
        Some(is_long && is_capable)
    }

    /// Holds a packet that was admitted, until its last byte leaves.
    pub fn hold(&mut self, port: u32, wire_bytes: u64, until_ps: u64) {
        self.held.push(Reverse((until_ps, port, wire_bytes)));
        self.held_bytes += wire_bytes;
        let waiting = &mut self.ports[port as usize];
        waiting.packets += 1;
        waiting.bytes += wire_bytes;
        let peak = &mut self.peaks[port as usize];
        peak.packets = peak.packets.max(waiting.packets);
        peak.bytes = peak.bytes.max(waiting.bytes);
    }

    /// Held now, of all ports.
    pub fn held_bytes(&mut self, now_ps: u64) -> u64 {
        self.advance(now_ps);
        self.held_bytes
    }

    /// Most that has waited at a port since the last call.
    pub fn take_peak(&mut self, port: u32) -> Waiting {
        let now = self.ports[port as usize];
        std::mem::replace(&mut self.peaks[port as usize], now)
    }
}
