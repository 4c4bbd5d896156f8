//! Jobs for the DMA engines alone, and what link, port and completion buffer allow them.
//!
//! ```text
//!   writes   lanes / (payload + 24 a TLP);  rq port / (each TLP: 4 + dwords, in halves of a beat)
//!   reads    lanes / (payload + 20 a completion);  bytes in flight / round trip
//! ```
//! Jobs are cut as the engines must cut them: writes at the payload size, counted from a line of 64
//! bytes, and at 4 KiB, reads at multiples of the read size. A round trip is the root complex's,
//! with the link's time for the read data; time inside the card is not included.

use pcie_sim::{PcieConfig, CYCLE_NS};

use crate::limits::{lanes_bytes_per_ns, slot};

/// Bytes of host memory that jobs cover; each half wraps by itself.
pub const SPAN_BYTES: u64 = 1 << 20;
/// Longest job.
const JOB_BYTES_MAX: u64 = 16_384;
/// Jobs over which a limit is averaged: several passes over all alignments.
const AVERAGED: u64 = 3000;
/// Tags of the hard block.
const TAGS: f64 = 256.0;

/// One kind of job; the kinds of a list are used in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Length.
    pub bytes: u64,
    /// From one job of this kind to the next, bytes.
    pub stride: u64,
    /// Where the first one lies, bytes.
    pub offset: u64,
}

/// Where job `index` of a list lies, and its length.
pub fn job(kinds: &[Kind], index: u64) -> (u64, u64) {
    let kind = kinds[(index % kinds.len() as u64) as usize];
    let turn = index / kinds.len() as u64;
    let wrap = (SPAN_BYTES / 2 - JOB_BYTES_MAX) / kind.stride;
    (kind.offset + turn % wrap * kind.stride, kind.bytes)
}

/// Payload bytes of the first `count` jobs.
pub fn bytes_of(kinds: &[Kind], count: u64) -> u64 {
    let turn: u64 = kinds.iter().map(|kind| kind.bytes).sum();
    let (turns, rest) = (count / kinds.len() as u64, count % kinds.len() as u64);
    turns * turn + (0..rest).map(|index| job(kinds, index).1).sum::<u64>()
}

/// Bytes that a direction of the lanes carries in a cycle.
fn lane_bytes(pcie: &PcieConfig) -> f64 {
    lanes_bytes_per_ns(pcie) * CYCLE_NS as f64
}

/// GB/s of a rate in bytes a cycle.
pub fn gigabytes_per_second(bytes_per_cycle: f64) -> f64 {
    bytes_per_cycle / CYCLE_NS as f64
}

fn dwords(address: u64, bytes: u64) -> u64 {
    (address % 4 + bytes).div_ceil(4)
}

/// Lengths of the writes of a job: at most `limit`, cut at lines of 64 bytes and at pages.
fn write_pieces(address: u64, bytes: u64, limit: u64) -> Vec<u64> {
    let mut at = address;
    let mut lengths = Vec::new();
    while at < address + bytes {
        let (line, page) = (at - at % 64, at - at % 4096);
        let end = (line + limit).min(page + 4096).min(address + bytes);
        lengths.push(end - at);
        at = end;
    }
    lengths
}

/// Lengths of the pieces of a job that is cut at multiples of `limit`.
fn pieces(address: u64, bytes: u64, limit: u64) -> Vec<u64> {
    let mut at = address;
    let mut lengths = Vec::new();
    while at < address + bytes {
        let end = ((at / limit + 1) * limit).min(address + bytes);
        lengths.push(end - at);
        at = end;
    }
    lengths
}

/// Cycles that a write costs on the lanes and on the RQ port.
fn write_cost(address: u64, bytes: u64, pcie: &PcieConfig) -> (f64, f64) {
    let mut at = address;
    let (mut lanes, mut port) = (0.0, 0.0);
    for length in write_pieces(address, bytes, pcie.mps_bytes.into()) {
        let dwords = dwords(at, length);
        let tlp = 4 * dwords + u64::from(pcie.link.request_overhead_bytes);
        lanes += tlp as f64 / lane_bytes(pcie);
        port += (dwords + 4).div_ceil(8) as f64 / 2.0;
        at += length;
    }
    (lanes, port)
}

/// Limit of writes of `kinds` in turn by lanes and port, in bytes per cycle; they may use `share`
/// of the lanes.
pub fn write_limit(kinds: &[Kind], pcie: &PcieConfig, share: f64) -> f64 {
    let costs = (0..AVERAGED).map(|index| {
        let (at, bytes) = job(kinds, index);
        write_cost(at, bytes, pcie)
    });
    let (lanes, port) = costs.fold((0.0, 0.0), |sum, cost| (sum.0 + cost.0, sum.1 + cost.1));
    bytes_of(kinds, AVERAGED) as f64 / f64::max(lanes / share, port)
}

/// Limit of reads of `kinds` in turn by lanes, completion buffer and tags, in bytes per cycle.
pub fn read_limit(kinds: &[Kind], pcie: &PcieConfig) -> f64 {
    let (rcb, cut) = (u64::from(pcie.rcb_bytes), u64::from(pcie.completion_payload_bytes));
    let overhead = u64::from(pcie.link.completion_overhead_bytes);
    let (mut lanes, mut headers, mut data, mut requests) = (0.0, 0, 0, 0);
    for index in 0..AVERAGED {
        let (mut at, bytes) = job(kinds, index);
        for length in pieces(at, bytes, pcie.mrrs_bytes.into()) {
            let completions = pieces(at, length, cut).len() as u64;
            let tlps = 4 * dwords(at, length) + overhead * completions;
            lanes += tlps as f64 / lane_bytes(pcie);
            headers += (at % rcb + length).div_ceil(rcb);
            data += (at % 16 + length).div_ceil(16);
            requests += 1;
            at += length;
        }
    }
    // A mean request holds its share of the buffer for one round trip.
    let bytes = bytes_of(kinds, AVERAGED) as f64;
    let mean = |sum: u64| sum as f64 / requests as f64;
    let in_flight = (f64::from(pcie.completion_headers) / mean(headers))
        .min(f64::from(pcie.completion_data) / mean(data))
        .min(TAGS);
    let request = bytes / requests as f64;
    let round_trip_cycles = slot(pcie).round_trip_ns(request.floor()) / CYCLE_NS as f64;
    let held = in_flight.floor() * request / round_trip_cycles;
    (bytes / lanes).min(held)
}

/// Share of the lanes to the host that the requests of reads at `bytes_per_cycle` leave.
pub fn share_beside_reads(bytes_per_cycle: f64, pcie: &PcieConfig) -> f64 {
    let requests = bytes_per_cycle / f64::from(pcie.mrrs_bytes);
    1.0 - requests * f64::from(pcie.link.request_overhead_bytes) / lane_bytes(pcie)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: [Kind; 1] = [Kind { bytes: 4096, stride: 4096, offset: 0 }];

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 0.005, "{a} is not {b}");
    }

    /// 16 writes of 256 bytes with 24 each; 16 completions of 256 bytes with 20 each; 15.36 GB/s.
    #[test]
    fn long_jobs_are_lane_limited() {
        let pcie = PcieConfig::default();
        near(gigabytes_per_second(write_limit(&PAGES, &pcie, 1.0)), 15.36 * 256.0 / 280.0);
        near(gigabytes_per_second(read_limit(&PAGES, &pcie)), 15.36 * 256.0 / 276.0);
    }

    #[test]
    fn entries_are_limited_by_the_port() {
        let entry = Kind { bytes: 128, stride: 128, offset: 0 };
        // Four dwords of descriptor and 32 of payload: five halves of a beat.
        near(write_limit(&[entry], &PcieConfig::default(), 1.0), 128.0 / 2.5);
    }

    #[test]
    fn half_headers_halve_the_flight() {
        let pcie = PcieConfig { completion_headers: 128, ..PcieConfig::default() };
        // 16 reads of 512 bytes in 900 ns and the link's time for one answer.
        let round_trip = 900.0 + (512.0 + 2.0 * 20.0) / 15.36;
        near(gigabytes_per_second(read_limit(&PAGES, &pcie)), 16.0 * 512.0 / round_trip);
    }

    #[test]
    fn job_bytes_are_counted_by_turns() {
        let kinds = [PAGES[0], Kind { bytes: 128, ..PAGES[0] }];
        for count in 0..9 {
            let one_by_one: u64 = (0..count).map(|index| job(&kinds, index).1).sum();
            assert_eq!(bytes_of(&kinds, count), one_by_one);
        }
    }
}
