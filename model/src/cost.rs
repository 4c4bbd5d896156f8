//! What a stream costs on a path: sums of products.
//!
//! ```text
//!   counts for a byte: packets, segments, ACKs, calls, answers, losses, registrations
//!     x coefficients ──► ns, bytes of memory and of PCIe for a byte ──► limits ──► goodput
//! ```
//! The page does the same in JavaScript (`page/arithmetic.js`); a test compares both.

use serde::Serialize;

use crate::error::ModelError;
use crate::pcie::Slot;
use crate::setup::{Coalescing, Setup};
use crate::table::{Curve, Fill, Pays, Per, Row, Table};
use crate::wire::{AROUND_PACKET_BYTES, ETHERNET_BYTES};

/// What sets a limit, in the order of [`Cost::limits_gbps`].
pub const LIMITS: [&str; 8] = [
    "wire",
    "sender's thread",
    "receiver's thread",
    "thread beside it",
    "memory",
    "PCIe to the host",
    "PCIe to the card",
    "memory at the end",
];
/// What binds besides.
pub const LOSS: &str = "recovery from loss";
/// What binds besides.
pub const WAIT: &str = "time of a message";
/// A limit that is none, Gb/s.
pub const NO_LIMIT_GBPS: f64 = 1e6;

/// Loss above which all of a transport's first step is taken; below it a share.
const STEP_LOSS: f64 = 1e-4;
/// Smallest and largest payload of a packet that is a power of two, bytes.
const POWERS: (f64, f64) = (256.0, 4096.0);
/// Payload of a register write, bytes.
const REGISTER_BYTES: f64 = 4.0;
/// Of what the other limits allow: less than this, and loss or waiting binds.
const BINDS_BELOW: f64 = 0.99;

/// How often each thing is paid for a byte of payload.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counts {
    /// Packets on the wire.
    wire_packets: f64,
    /// Segments that the sender hands to its card, which cuts them (TSO).
    sent_segments: f64,
    /// For each [`Per`] of `PERS`.
    of: [f64; 8],
}

const PERS: [Per; 8] = [
    Per::Byte,
    Per::Packet,
    Per::Segment,
    Per::Ack,
    Per::Message,
    Per::Answer,
    Per::Lost,
    Per::Registration,
];

/// What a stream costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Payload that arrives, Gb/s.
    pub goodput_gbps: f64,
    /// Payload over all that the wire carries for it.
    pub wire_efficiency: f64,
    /// Cores of the sender.
    pub sender_cores: f64,
    /// Cores of the receiver: the thread that the application waits for.
    pub receiver_cores: f64,
    /// Cores of the receiver: the thread beside it.
    pub companion_cores: f64,
    /// Time of the receiver's cores, s for a GB.
    pub cpu_s_per_gb: f64,
    /// Written to memory, GB/s, cache included.
    pub memory_written_gbytes_per_s: f64,
    /// Read from memory, GB/s, cache included.
    pub memory_read_gbytes_per_s: f64,
    /// Read because lines are written in part, GB/s, cache included.
    pub memory_allocated_gbytes_per_s: f64,
    /// What of the three the cache does not keep, GB/s.
    pub memory_gbytes_per_s: f64,
    /// From the card to the host, GB/s, framing included.
    pub pcie_up_gbytes_per_s: f64,
    /// From the host to the card, GB/s, framing included.
    pub pcie_down_gbytes_per_s: f64,
    /// From the first byte of a message on the wire to its last in the application's hands, us.
    pub latency_us: f64,
    /// What each resource allows, Gb/s, in the order of [`LIMITS`].
    pub limits_gbps: [f64; 8],
    /// The resource that binds.
    pub binds: &'static str,
}

impl Cost {
    /// All numbers, in the order of the fields.
    pub fn vector(&self) -> Vec<f64> {
        let mut numbers = vec![
            self.goodput_gbps,
            self.wire_efficiency,
            self.sender_cores,
            self.receiver_cores,
            self.companion_cores,
            self.cpu_s_per_gb,
            self.memory_written_gbytes_per_s,
            self.memory_read_gbytes_per_s,
            self.memory_allocated_gbytes_per_s,
            self.memory_gbytes_per_s,
            self.pcie_up_gbytes_per_s,
            self.pcie_down_gbytes_per_s,
            self.latency_us,
        ];
        numbers.extend(self.limits_gbps);
        numbers
    }
}

/// Payload of a full packet, bytes.
fn packet_payload(path: &Row, setup: &Setup) -> f64 {
    let room = setup.mtu_bytes - header_bytes(path, setup);
    let mut payload = POWERS.0;
    match path.fill {
        Some(Fill::PowerOfTwo) => {
            while payload * 2.0 <= room.min(POWERS.1) {
                payload *= 2.0;
            }
            payload
        }
        _ => room,
    }
}

fn header_bytes(path: &Row, setup: &Setup) -> f64 {
    setup.header_bytes.unwrap_or(path.header_bytes)
}

fn counts(path: &Row, load: &Row, setup: &Setup) -> Counts {
    let (full, message) = (packet_payload(path, setup), setup.message_bytes);
    let begins_packet = path.fill == Some(Fill::PowerOfTwo) || load.is_answered;
    let wire_packets = if begins_packet { (message / full).ceil() / message } else { 1.0 / full };
    let coalescing = setup.coalescing.or(path.coalescing).unwrap_or(Coalescing::None);
    let joined = (path.segment_bytes / full).floor().max(1.0);
    let answers = if load.is_answered { 1.0 / message } else { 0.0 };
    let sent_segments = (wire_packets / joined).max(answers);
    let segments = if coalescing == Coalescing::None { wire_packets } else { sent_segments };
    let packets = if coalescing == Coalescing::Hardware { segments } else { wire_packets };
    let call = if path.has_whole_messages { message } else { message.min(load.call_bytes) };
    let of = [
        1.0,
        packets,
        segments,
        segments * path.acks_per_segment,
        1.0 / call,
        answers,
        wire_packets * setup.loss / (1.0 - setup.loss),
        path.registrations / message,
    ];
    Counts { wire_packets, sent_segments, of }
}

/// What is paid for a byte.
fn paid(row: &Row, pays: Pays, counts: &Counts) -> f64 {
    let terms = PERS.into_iter().zip(counts.of);
    terms.fold(0.0, |sum, (per, count)| sum + row.value(pays, per) * count)
}

/// ns of a thread for a byte; the application's own included.
fn thread_ns(path: &Row, load: &Row, pays: Pays, counts: &Counts, setup: &Setup) -> f64 {
    let mut counts = *counts;
    if setup.discards {
        counts.of[0] = 0.0;
    }
    if pays == Pays::Sender {
        counts.of[1] = counts.wire_packets;
        counts.of[2] = counts.sent_segments;
    }
    (paid(path, pays, &counts) + paid(load, pays, &counts)) / setup.core_factor
}

/// Goodput of go-back-N over what can arrive: each loss costs everything in flight (Bertsekas and
/// Gallager, Data Networks, 2.4.1).
pub fn go_back_n(loss: f64, packets_in_flight: f64) -> f64 {
    1.0 / (1.0 - loss + loss * packets_in_flight)
}

/// Share of goodput that the transport keeps.
pub fn kept_share(transport: &Row, loss: f64, packets_in_flight: f64) -> f64 {
    let of_arriving = match transport.curve {
        Some(Curve::GoBackN) => go_back_n(loss, packets_in_flight),
        _ => {
            let value = |pays| transport.value(pays, Per::One);
            let step = value(Pays::Step) * loss / (loss + STEP_LOSS);
            let scale = value(Pays::Scale);
            (1.0 - step) * (-(loss / scale).powf(value(Pays::Power))).exp()
        }
    };
    (1.0 - loss) * of_arriving
}

/// PCIe bytes for a byte of payload: to the host, to the card.
fn pcie_bytes(path: &Row, slot: &Slot, counts: &Counts, header: f64) -> (f64, f64) {
    let beside = if path.writes_whole_frame { header + ETHERNET_BYTES - 4.0 } else { 0.0 };
    let payload = 1.0 / counts.wire_packets + beside;
    let mut up = counts.wire_packets * slot.write_bytes(payload);
    let mut down = 0.0;
    for cell in &path.cells {
        let place = PERS.iter().position(|per| *per == cell.per);
        let count = place.map_or(0.0, |place| counts.of[place]);
        match cell.pays {
            Pays::Entry => up += count * slot.write_bytes(cell.value),
            Pays::Fetch => {
                up += count * slot.request_bytes(cell.value);
                down += count * slot.completion_bytes(cell.value);
            }
            Pays::Register => down += count * cell.value * slot.write_bytes(REGISTER_BYTES),
            _ => {}
        }
    }
    (up, down)
}

/// What goodput a resource allows that is paid `each` for a byte and has `all` of it in a ns.
fn limit(all: f64, each: f64) -> f64 {
    if each > 0.0 {
        (8.0 * all / each).min(NO_LIMIT_GBPS)
    } else {
        NO_LIMIT_GBPS
    }
}

/// What a stream costs on a path.
///
/// # Errors
/// If the path, its transport or the load is unknown, or PCIe has no such slot.
pub fn evaluate(table: &Table, path: &str, setup: &Setup) -> Result<Cost, ModelError> {
    let path = table.path(path)?;
    let (transport, load) = (table.transport(&path.transport)?, table.load(&setup.load)?);
    let slot = Slot::new(setup.generation, setup.lanes)?;
    let counts = counts(path, load, setup);
    let header = header_bytes(path, setup);
    let wire_bytes = 1.0 + counts.wire_packets * (header + AROUND_PACKET_BYTES);
    let thread = |pays| thread_ns(path, load, pays, &counts, setup);
    let (sender, receiver) = (thread(Pays::Sender), thread(Pays::Receiver));
    let companion = thread(Pays::Companion);
    let always = path.value(Pays::Companion, Per::Second);
    let shared = if setup.has_one_core { receiver + companion } else { 0.0 };
    let memory = [Pays::MemoryWrite, Pays::MemoryRead, Pays::MemoryAllocate]
        .map(|pays| paid(path, pays, &counts));
    let missed = 1.0 - path.value(Pays::Cached, Per::One);
    let memory_bytes = memory.iter().sum::<f64>() * missed;
    let (up, down) = pcie_bytes(path, &slot, &counts, header);
    let limits_gbps = [
        setup.rate_gbps / wire_bytes * transport.value(Pays::LineShare, Per::One),
        limit(1.0, sender),
        limit(1.0, receiver.max(shared)),
        limit(1.0 - always, companion.max(shared)),
        limit(setup.memory_gbytes_per_s, memory_bytes),
        limit(slot.bytes_per_ns, up),
        limit(slot.bytes_per_ns, down),
        setup.endpoint_gbps.unwrap_or(NO_LIMIT_GBPS),
    ];
    let least = limits_gbps.into_iter().fold(NO_LIMIT_GBPS, f64::min);
    let frame = wire_bytes / counts.wire_packets;
    let in_flight = setup.rate_gbps * setup.round_trip_us * 1000.0 / 8.0 / frame;
    let kept = kept_share(transport, setup.loss, in_flight);
    let moving = 8.0 * setup.message_bytes / (least * kept).max(1e-9);
    let wait = load.value(Pays::Wait, Per::Message);
    let goodput = 8.0 * setup.message_bytes / (wait + moving);
    let rate = goodput / 8.0;
    let place = limits_gbps.iter().position(|gbps| *gbps == least).unwrap_or(0);
    let hop = |per| path.value(Pays::Latency, per);
    let latency_ns = hop(Per::Message)
        + setup.message_bytes * (hop(Per::Byte) + wire_bytes * 8.0 / setup.rate_gbps);
    Ok(Cost {
        goodput_gbps: goodput,
        wire_efficiency: 1.0 / wire_bytes,
        sender_cores: rate * sender,
        receiver_cores: rate * receiver,
        companion_cores: rate * companion + always,
        cpu_s_per_gb: receiver + companion + always / rate,
        memory_written_gbytes_per_s: rate * memory[0],
        memory_read_gbytes_per_s: rate * memory[1],
        memory_allocated_gbytes_per_s: rate * memory[2],
        memory_gbytes_per_s: rate * memory_bytes,
        pcie_up_gbytes_per_s: rate * up,
        pcie_down_gbytes_per_s: rate * down,
        latency_us: latency_ns / 1000.0,
        limits_gbps,
        binds: match () {
            () if wait > moving => WAIT,
            () if kept < BINDS_BELOW * (1.0 - setup.loss) => LOSS,
            () => LIMITS[place],
        },
    })
}
