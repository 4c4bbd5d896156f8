//! PCIe: what reads and writes take of the lanes.
//!
//! ```text
//!   a write    payload + an overhead for each TLP, cut at the maximum payload size
//!   a read     requests, each of the maximum read size, the other way; completions this way
//! ```
//! Each formula is optimistic: pieces are cut as few times as possible, nothing waits for anything.
//!
//! Source: PCI Express Base 3.0 (2.2 TLPs, 4.2.1 encoding), 6.0 (4.2.3 flits).

use crate::error::ModelError;

/// Share of link traffic (acknowledgements, credits, ordered sets) in the lanes.
const LINK_TRAFFIC_SHARE: f64 = 0.025;
/// Generations that have a rate here.
pub const GENERATIONS: std::ops::RangeInclusive<u32> = 3..=6;
/// Widths of a link.
pub const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

/// A slot: lanes, framing, and what may be in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    /// Bytes that one direction of the lanes carries in a nanosecond.
    pub bytes_per_ns: f64,
    /// Maximum payload size of a TLP, bytes.
    pub mps_bytes: f64,
    /// Maximum read request size, bytes.
    pub mrrs_bytes: f64,
    /// Read completion boundary, bytes.
    pub rcb_bytes: f64,
    /// Payload of a completion, bytes.
    pub completion_payload_bytes: f64,
    /// Beside the payload of a request, bytes.
    pub request_overhead_bytes: f64,
    /// Beside the payload of a completion, bytes.
    pub completion_overhead_bytes: f64,
    /// Round trip of a read without its data, ns.
    pub latency_ns: f64,
    /// Completions that the card's buffer holds.
    pub completion_headers: f64,
    /// Data of completions that it holds, bytes.
    pub completion_data_bytes: f64,
}

impl Slot {
    /// A slot of a server: MPS 256, MRRS 512, RCB 64, completions of 256 bytes.
    ///
    /// # Errors
    /// If PCIe has no such generation or width here.
    pub fn new(generation: u32, lanes: u32) -> Result<Self, ModelError> {
        if !GENERATIONS.contains(&generation) {
            let (least, most) = (f64::from(*GENERATIONS.start()), f64::from(*GENERATIONS.end()));
            let value = f64::from(generation);
            let (what, unit) = ("PCIe generation", "");
            return Err(ModelError::OutOfRange { what, value, least, most, unit });
        }
        if !WIDTHS.contains(&lanes) {
            let known = WIDTHS.map(|width| width.to_string()).join(", ");
            return Err(ModelError::Unknown { kind: "width", name: lanes.to_string(), known });
        }
        let transfers_per_ns = 8.0 * f64::from(1u32 << (generation - GENERATIONS.start()));
        let encoded = if generation < 6 { 128.0 / 130.0 } else { 242.0 / 256.0 };
        let usable = encoded * (1.0 - LINK_TRAFFIC_SHARE);
        Ok(Slot {
            bytes_per_ns: f64::from(lanes) * transfers_per_ns * usable / 8.0,
            mps_bytes: 256.0,
            mrrs_bytes: 512.0,
            rcb_bytes: 64.0,
            completion_payload_bytes: 256.0,
            request_overhead_bytes: 24.0,
            completion_overhead_bytes: 20.0,
            latency_ns: 900.0,
            completion_headers: 256.0,
            completion_data_bytes: 28_672.0,
        })
    }

    /// Lane bytes of one write of `bytes`, cut only at the maximum payload size.
    pub fn write_bytes(&self, bytes: f64) -> f64 {
        bytes + (bytes / self.mps_bytes).ceil() * self.request_overhead_bytes
    }

    /// Lane bytes of the completions of `bytes` of a long read.
    pub fn completion_bytes(&self, bytes: f64) -> f64 {
        bytes * (1.0 + self.completion_overhead_bytes / self.completion_payload_bytes)
    }

    /// Lane bytes of the requests that ask for `bytes` of a long read.
    pub fn request_bytes(&self, bytes: f64) -> f64 {
        bytes / self.mrrs_bytes * self.request_overhead_bytes
    }

    /// Least time from a request for `bytes` to the last byte of its completions, ns: the root
    /// complex's round trip, and the link's time for the completions.
    pub fn round_trip_ns(&self, bytes: f64) -> f64 {
        let completions = (bytes / self.completion_payload_bytes).ceil();
        let answer = bytes + completions * self.completion_overhead_bytes;
        self.latency_ns + answer / self.bytes_per_ns
    }

    /// Bytes a nanosecond that reads can bring, by what may be in flight in one round trip.
    pub fn reads_bytes_per_ns(&self) -> f64 {
        let by_headers = self.completion_headers * self.rcb_bytes;
        by_headers.min(self.completion_data_bytes) / self.round_trip_ns(self.mrrs_bytes)
    }
}
