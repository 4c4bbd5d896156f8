//! Takes a stream out of a block, with seeded backpressure.
//!
//! ```text
//!   name$valid, name$data, ... ──> packets / messages, in order, with the cycle of arrival
//!   name$ready <── sink
//! ```
//!
//! Invariants
//! 1. `ready` does not depend on `valid`.
//! 2. A sink collects; [`crate::harness::monitor`] judges.

use std::collections::VecDeque;

use verilate::verilated::Model;

use crate::harness::agent::Agent;
use crate::harness::source::{MessagePorts, Packet, PacketPorts};
use crate::harness::stall::{Stall, Staller};

/// Collects the packets of the stream `name` of a block.
pub struct PacketSink {
    /// Complete packets, oldest first.
    pub packets: VecDeque<Packet>,
    ports: PacketPorts,
    partial: Vec<u8>,
    ready: bool,
    staller: Staller,
    beats: u64,
}

impl PacketSink {
    /// A sink for the bundle `name`.
    ///
    /// # Panics
    /// If the model lacks one of the ports.
    pub fn new(model: &Model, name: &str, stall: Stall, seed: u64) -> PacketSink {
        PacketSink {
            packets: VecDeque::new(),
            ports: PacketPorts::new(model, name),
            partial: Vec::new(),
            ready: false,
            // The sink of a pair must not stall in step with its source.
            staller: Staller::new(stall, !seed),
            beats: 0,
        }
    }

    /// Beats taken so far.
    pub fn beats(&self) -> u64 {
        self.beats
    }

    /// Forgets what it has of a packet that a reset has cut off.
    pub fn clear(&mut self) {
        self.partial.clear();
    }

    /// True in the middle of a packet.
    pub fn is_partial(&self) -> bool {
        !self.partial.is_empty()
    }
}

impl Agent for PacketSink {
    fn sample(&mut self, model: &Model) {
        let ports = &self.ports;
        if !(self.ready && model.is_high(ports.valid)) {
            return;
        }
        self.beats += 1;
        let count = (model.get(ports.byte_count) as usize).min(ports.beat_bytes);
        let start = self.partial.len();
        self.partial.resize(start + count, 0);
        model.get_bytes(ports.data, &mut self.partial[start..]);
        if model.is_high(ports.last) {
            let mut meta = vec![0; ports.meta_bytes];
            if let Some(port) = ports.meta {
                model.get_bytes(port, &mut meta);
            }
            self.packets.push_back(Packet {
                bytes: std::mem::take(&mut self.partial),
                abort: ports.abort.is_some_and(|port| model.is_high(port)),
                meta,
            });
        }
    }

    fn drive(&mut self, model: &mut Model) {
        self.ready = !self.staller.stalls();
        model.set(self.ports.ready, u64::from(self.ready));
    }
}

/// Collects the messages of the stream `name` of a block.
pub struct MessageSink {
    /// Messages, oldest first, least significant byte first.
    pub messages: VecDeque<Vec<u8>>,
    ports: MessagePorts,
    ready: bool,
    staller: Staller,
}

impl MessageSink {
    /// A sink for the bundle `name`.
    ///
    /// # Panics
    /// If the model has no such message stream.
    pub fn new(model: &Model, name: &str, stall: Stall, seed: u64) -> MessageSink {
        MessageSink {
            messages: VecDeque::new(),
            ports: MessagePorts::new(model, name),
            ready: false,
            staller: Staller::new(stall, !seed),
        }
    }

    /// Takes the oldest message as a number.
    ///
    /// # Panics
    /// If it has more than 64 bits set.
    pub fn pop_u64(&mut self) -> Option<u64> {
        self.messages.pop_front().map(|message| {
            let mut value = [0; 8];
            let count = message.len().min(8);
            value[..count].copy_from_slice(&message[..count]);
            assert!(message[count..].iter().all(|byte| *byte == 0), "{message:?} exceeds 64 bits");
            u64::from_le_bytes(value)
        })
    }
}

impl Agent for MessageSink {
    fn sample(&mut self, model: &Model) {
        if self.ready && model.is_high(self.ports.valid) {
            let mut message = vec![0; self.ports.payload_bytes];
            model.get_bytes(self.ports.payload, &mut message);
            self.messages.push_back(message);
        }
    }

    fn drive(&mut self, model: &mut Model) {
        self.ready = !self.staller.stalls();
        model.set(self.ports.ready, u64::from(self.ready));
    }
}
