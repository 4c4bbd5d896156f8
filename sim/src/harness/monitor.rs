//! Observes a stream and lists what breaks its rules.
//!
//! Rules
//! 1. `valid` does not fall before its handshake.
//! 2. Every other field is stable while `valid` waits for `ready`.
//! 3. Packet streams: beats before the last are full and not aborted; the last has 1 to all
//!    bytes; `meta` does not change inside a packet.

use std::fmt;

use verilate::verilated::{Model, PortId};

use crate::harness::agent::Agent;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Cycles since the monitor began.
    pub cycle: u64,
    /// The stream.
    pub stream: String,
    /// What happened, with the values.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}: {}: {}", self.cycle, self.stream, self.what)
    }
}

/// # Panics
/// If any rule was broken; the message lists the first cases.
pub(crate) fn assert_none(violations: &[impl fmt::Display]) {
    let first: Vec<String> = violations.iter().take(5).map(|v| v.to_string()).collect();
    let count = violations.len();
    assert!(count == 0, "{count} violations:\n{}", first.join("\n"));
}

struct Field {
    name: String,
    port: PortId,
    waiting: Vec<u8>,
    current: Vec<u8>,
}

struct PacketRules {
    byte_count: PortId,
    last: PortId,
    abort: Option<PortId>,
    meta: Option<usize>,
    meta_of_packet: Option<Vec<u8>>,
    beat_bytes: u64,
}

/// Watches the stream `name`, packets or messages.
pub struct StreamMonitor {
    /// Broken rules, oldest first.
    pub violations: Vec<Violation>,
    stream: String,
    valid: PortId,
    ready: PortId,
    fields: Vec<Field>,
    packet: Option<PacketRules>,
    is_waiting: bool,
    cycle: u64,
    handshakes: u64,
}

impl StreamMonitor {
    /// A monitor for the bundle `name`.
    ///
    /// # Panics
    /// If the model has no ports `name$valid` and `name$ready`.
    pub fn new(model: &Model, name: &str) -> StreamMonitor {
        let prefix = format!("{name}$");
        let mut fields = Vec::new();
        for port in model.design().ports() {
            match port.name.strip_prefix(&prefix) {
                None | Some("valid" | "ready") => {}
                Some(field) => fields.push(Field {
                    name: field.to_owned(),
                    port: model.port(&port.name),
                    waiting: vec![0; port.bits.div_ceil(8)],
                    current: vec![0; port.bits.div_ceil(8)],
                }),
            }
        }
        let find = |field: &str| model.find_port(&format!("{name}${field}"));
        let packet = match (find("byte_count"), find("last"), find("data")) {
            (Some(byte_count), Some(last), Some(data)) => Some(PacketRules {
                byte_count,
                last,
                abort: find("abort"),
                meta: fields.iter().position(|field| field.name == "meta"),
                meta_of_packet: None,
                beat_bytes: model.port_info(data).bits as u64 / 8,
            }),
            _ => None,
        };
        StreamMonitor {
            violations: Vec::new(),
            stream: name.to_owned(),
            valid: model.port(&format!("{name}$valid")),
            ready: model.port(&format!("{name}$ready")),
            fields,
            packet,
            is_waiting: false,
            cycle: 0,
            handshakes: 0,
        }
    }

    /// Handshakes seen.
    pub fn handshakes(&self) -> u64 {
        self.handshakes
    }

    /// # Panics
    /// If any rule was broken; the message lists the first cases.
    pub fn assert_clean(&self) {
        assert_none(&self.violations);
    }

    fn report(&mut self, what: String) {
        let (cycle, stream) = (self.cycle, self.stream.clone());
        self.violations.push(Violation { cycle, stream, what });
    }

    fn check_stable(&mut self, is_valid: bool) {
        if !self.is_waiting {
            return;
        }
        if !is_valid {
            self.report("valid fell before its handshake".into());
            return;
        }
        let changed: Vec<String> = self
            .fields
            .iter()
            .filter(|field| field.waiting != field.current)
            .map(|field| format!("{} changed while valid waited for ready", field.name))
            .collect();
        changed.into_iter().for_each(|what| self.report(what));
    }

    fn check_packet(&mut self, model: &Model) {
        let Some(rules) = &mut self.packet else { return };
        let mut broken = Vec::new();
        let count = model.get(rules.byte_count);
        let is_last = model.is_high(rules.last);
        if !is_last && count != rules.beat_bytes {
            broken.push(format!("{count} bytes in a beat that is not the last"));
        }
        if is_last && !(1..=rules.beat_bytes).contains(&count) {
            broken.push(format!("{count} bytes in the last beat"));
        }
        if !is_last && rules.abort.is_some_and(|abort| model.is_high(abort)) {
            broken.push("abort before the last beat".into());
        }
        if let Some(meta) = rules.meta {
            let current = &self.fields[meta].current;
            let first = rules.meta_of_packet.get_or_insert_with(|| current.clone());
            if first != current {
                broken.push("meta changed inside a packet".into());
            }
        }
        if is_last {
            rules.meta_of_packet = None;
        }
        broken.into_iter().for_each(|what| self.report(what));
    }
}

impl Agent for StreamMonitor {
    fn sample(&mut self, model: &Model) {
        let is_valid = model.is_high(self.valid);
        let is_ready = model.is_high(self.ready);
        for field in &mut self.fields {
            model.get_bytes(field.port, &mut field.current);
        }
        self.check_stable(is_valid);
        if is_valid && is_ready {
            self.handshakes += 1;
            self.check_packet(model);
        }
        self.is_waiting = is_valid && !is_ready;
        for field in &mut self.fields {
            field.waiting.copy_from_slice(&field.current);
        }
        self.cycle += 1;
    }

    fn drive(&mut self, _model: &mut Model) {}
}
