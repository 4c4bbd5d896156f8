//! Drives a stream into a block: packets or messages, with seeded idle cycles.
//!
//! ```text
//!   push ──> queue ──> name$valid, name$data, name$byte_count, name$last, name$abort, name$meta
//!                      name$ready <── block
//! ```
//!
//! Invariants
//! 1. What is offered stays as it is until it is taken.
//! 2. All beats of a packet but the last are full; `meta` is the same for all of them.

use std::collections::VecDeque;

use rust_hdl_core::prelude::Synth;
use verilate::verilated::{Model, PortId};

use crate::harness::agent::Agent;
use crate::harness::payload::bytes_of;
use crate::harness::stall::{Stall, Staller};

/// A packet on a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Its bytes, in order.
    pub bytes: Vec<u8>,
    /// The source aborted it with its last beat.
    pub abort: bool,
    /// Metadata of the packet, if the stream has any; least significant byte first.
    pub meta: Vec<u8>,
}

impl From<Vec<u8>> for Packet {
    fn from(bytes: Vec<u8>) -> Packet {
        Packet { bytes, ..Packet::default() }
    }
}

/// Ports of a packet stream.
pub(crate) struct PacketPorts {
    pub valid: PortId,
    pub ready: PortId,
    pub data: PortId,
    pub byte_count: PortId,
    pub last: PortId,
    pub abort: Option<PortId>,
    pub meta: Option<PortId>,
    pub beat_bytes: usize,
    pub meta_bytes: usize,
}

impl PacketPorts {
    pub fn new(model: &Model, name: &str) -> PacketPorts {
        let port = |field: &str| model.port(&format!("{name}${field}"));
        let optional = |field: &str| model.find_port(&format!("{name}${field}"));
        let meta = optional("meta");
        let data = port("data");
        PacketPorts {
            valid: port("valid"),
            ready: port("ready"),
            data,
            byte_count: port("byte_count"),
            last: port("last"),
            abort: optional("abort"),
            meta,
            beat_bytes: model.port_info(data).bits / 8,
            meta_bytes: meta.map_or(0, |port| model.port_info(port).bits.div_ceil(8)),
        }
    }
}

/// Sends packets into the stream `name` of a block.
pub struct PacketSource {
    ports: PacketPorts,
    queue: VecDeque<Packet>,
    sent_bytes: usize,
    offering: bool,
    staller: Staller,
}

impl PacketSource {
    /// A source for the bundle `name`.
    ///
    /// # Panics
    /// If the model lacks one of the ports.
    pub fn new(model: &Model, name: &str, stall: Stall, seed: u64) -> PacketSource {
        PacketSource {
            ports: PacketPorts::new(model, name),
            queue: VecDeque::new(),
            sent_bytes: 0,
            offering: false,
            staller: Staller::new(stall, seed),
        }
    }

    /// Queues a packet.
    ///
    /// # Panics
    /// If it is empty: a packet has at least one byte.
    pub fn push(&mut self, packet: impl Into<Packet>) {
        let packet = packet.into();
        assert!(!packet.bytes.is_empty(), "a packet has at least one byte");
        self.queue.push_back(packet);
    }

    /// True when every packet was taken.
    pub fn is_done(&self) -> bool {
        self.queue.is_empty()
    }

    fn offer(&mut self, model: &mut Model) {
        let Some(packet) = self.queue.front() else { return };
        let ports = &self.ports;
        let rest = &packet.bytes[self.sent_bytes..];
        let count = rest.len().min(ports.beat_bytes);
        let last = count == rest.len();
        model.set(ports.valid, 1);
        model.set_bytes(ports.data, &rest[..count]);
        model.set(ports.byte_count, count as u64);
        model.set(ports.last, u64::from(last));
        if let Some(abort) = ports.abort {
            model.set(abort, u64::from(last && packet.abort));
        }
        if let Some(meta) = ports.meta {
            model.set_bytes(meta, &packet.meta);
        }
        self.offering = true;
    }
}

impl Agent for PacketSource {
    fn sample(&mut self, model: &Model) {
        if !(self.offering && model.is_high(self.ports.ready)) {
            return;
        }
        self.offering = false;
        self.sent_bytes += self.ports.beat_bytes;
        if self.queue.front().is_some_and(|packet| self.sent_bytes >= packet.bytes.len()) {
            self.queue.pop_front();
            self.sent_bytes = 0;
        }
    }

    fn drive(&mut self, model: &mut Model) {
        if self.offering {
            return;
        }
        model.set(self.ports.valid, 0);
        if !self.staller.stalls() {
            self.offer(model);
        }
    }
}

/// Ports of a message stream: `valid`, `ready` and the one other field, which is the payload.
pub(crate) struct MessagePorts {
    pub valid: PortId,
    pub ready: PortId,
    pub payload: PortId,
    pub payload_bytes: usize,
}

impl MessagePorts {
    pub fn new(model: &Model, name: &str) -> MessagePorts {
        let prefix = format!("{name}$");
        let fields: Vec<&str> = model
            .design()
            .ports()
            .iter()
            .filter_map(|port| port.name.strip_prefix(&prefix))
            .filter(|field| !matches!(*field, "valid" | "ready"))
            .collect();
        let [payload] = fields[..] else {
            panic!("`{name}` has the fields {fields:?} beside valid and ready: one is expected");
        };
        let payload = model.port(&format!("{name}${payload}"));
        MessagePorts {
            valid: model.port(&format!("{name}$valid")),
            ready: model.port(&format!("{name}$ready")),
            payload,
            payload_bytes: model.port_info(payload).bits.div_ceil(8),
        }
    }
}

/// Sends messages into the stream `name` of a block.
pub struct MessageSource {
    ports: MessagePorts,
    queue: VecDeque<Vec<u8>>,
    offering: bool,
    staller: Staller,
}

impl MessageSource {
    /// A source for the bundle `name`.
    ///
    /// # Panics
    /// If the model has no such message stream.
    pub fn new(model: &Model, name: &str, stall: Stall, seed: u64) -> MessageSource {
        MessageSource {
            ports: MessagePorts::new(model, name),
            queue: VecDeque::new(),
            offering: false,
            staller: Staller::new(stall, seed),
        }
    }

    /// Queues a message: its bits, least significant byte first; missing bytes are zero.
    pub fn push(&mut self, message: impl Into<Vec<u8>>) {
        self.queue.push_back(message.into());
    }

    /// Queues a message of up to 64 bits.
    pub fn push_u64(&mut self, message: u64) {
        self.push(message.to_le_bytes());
    }

    /// Queues a message given as the struct that the block's kernel uses.
    pub fn push_struct<T: Synth>(&mut self, message: T) {
        self.push(bytes_of(message));
    }

    /// Discards every message, the offered one included: for a block that was reset.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.offering = false;
    }

    /// True when every message was taken.
    pub fn is_done(&self) -> bool {
        self.queue.is_empty()
    }

    /// Messages not taken yet.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }
}

impl Agent for MessageSource {
    fn sample(&mut self, model: &Model) {
        if self.offering && model.is_high(self.ports.ready) {
            self.offering = false;
            self.queue.pop_front();
        }
    }

    fn drive(&mut self, model: &mut Model) {
        if self.offering {
            return;
        }
        let stalls = self.staller.stalls();
        match self.queue.front() {
            Some(message) if !stalls => {
                model.set(self.ports.valid, 1);
                model.set_bytes(self.ports.payload, message);
                self.offering = true;
            }
            _ => model.set(self.ports.valid, 0),
        }
    }
}
