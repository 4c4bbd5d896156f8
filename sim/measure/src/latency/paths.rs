//! The two paths through the card that are timed, each in a run of its own.
//!
//! ```text
//!   receive: last beat of a frame taken ──► first RQ beat of its payload write; of its entry
//!   send:    doorbell's beat on CQ      ──► first beat of the frame
//!            (first beat of the descriptor, where it comes with the doorbell)
//! ```
//! Packets do not overtake each other, so the n-th of each kind belongs to the n-th frame, after it
//! was checked that all have arrived.

use abi::registers::{DOORBELLS, DOORBELL_SEND, PUSH_WINDOW};
use sim::harness::probe::{Passage, Probe};
use verilate::options::Options;

use crate::error::MeasureError;
use crate::limits::{entry_bytes, receive_limits, tightest_limit, Load};
use crate::packets::frames::header_bytes;
use crate::run::{Measurement, Outcome};
use crate::scenario::{Scenario, Size};
use crate::timing::latencies::Latencies;

/// Payload of a packet whose receive latency is measured.
pub const RECEIVE_BYTES: u32 = 64;
/// Payload of a packet whose send latency is measured.
pub const SEND_BYTES: u32 = 1024;
/// Header of a packet without options.
const HEADER_BYTES: usize = header_bytes(false, false);
/// Header and FCS.
const AROUND_BYTES: u32 = HEADER_BYTES as u32 + 4;
/// Bytes written for its header entry.
const ENTRY_DWORDS: u32 = entry_bytes(HEADER_BYTES) as u32 / 4;
/// Interval at which packets do not affect each other; no multiple of a clock period.
const ALONE_PS: u64 = 1_500_077;
const SEND_ALONE_PS: u64 = 6_100_077;
/// Packets in a segment: few enough for lists to wrap during a measurement.
const SEGMENT_PACKETS: u32 = 8;
/// Share of the limit that "under load" means.
pub const LOAD: f64 = 0.9;

/// Latencies of received packets.
#[derive(Clone, Debug)]
pub struct ReceiveLatency {
    /// To the payload write.
    pub payload: Latencies,
    /// To the header entry.
    pub entry: Latencies,
    /// Packets a second, in millions.
    pub mpps: f64,
    /// The verdict of the run.
    pub outcome: Outcome,
}

/// Latencies of sent packets.
#[derive(Clone, Debug)]
pub struct SendLatency {
    /// From the doorbell to the frame.
    pub frame: Latencies,
    /// The verdict of the run.
    pub outcome: Outcome,
}

fn scenario(base: &Scenario, payload: u32, interval_ps: u64) -> Scenario {
    Scenario {
        size: Size::Frame(payload + AROUND_BYTES),
        flows: 1,
        burst: 1,
        send_burst: 1,
        interval_ps,
        ..base.clone()
    }
}

/// Receive latency of single packets.
pub fn receive_alone(base: &Scenario) -> Result<ReceiveLatency, MeasureError> {
    receive(&Scenario {
        segment: Some(SEGMENT_PACKETS * RECEIVE_BYTES),
        ..scenario(base, RECEIVE_BYTES, ALONE_PS)
    })
}

/// Receive latency of the last packet, with PSH, of runs of so many single packets.
pub fn receive_run_end(base: &Scenario, packets: u32) -> Result<ReceiveLatency, MeasureError> {
    receive(&Scenario {
        segment: Some(SEGMENT_PACKETS * RECEIVE_BYTES),
        coalesce: true,
        push_packets: packets,
        ..scenario(base, RECEIVE_BYTES, ALONE_PS)
    })
}

/// Receive latency at [`LOAD`] of what wire and link allow.
pub fn receive_loaded(base: &Scenario) -> Result<ReceiveLatency, MeasureError> {
    let frame_bytes = f64::from(RECEIVE_BYTES + AROUND_BYTES);
    let load = Load {
        payload_bytes: f64::from(RECEIVE_BYTES),
        frame_bytes,
        entry_bytes: entry_bytes(HEADER_BYTES),
        ..Load::default()
    };
    let limit = tightest_limit(&receive_limits(&base.pcie, &load));
    let packets_per_ns = limit.mpps / 1000.0 * LOAD;
    let interval_ps = 1000.0 / packets_per_ns;
    receive(&scenario(base, RECEIVE_BYTES, interval_ps as u64))
}

fn receive(scenario: &Scenario) -> Result<ReceiveLatency, MeasureError> {
    let scenario = Scenario { receive: true, send: false, ..scenario.clone() };
    let (mut outcome, passages, buffers) = watch(&scenario)?;
    let is_payload = |address: &u64| buffers.contains(address);
    // A payload that crosses 4 KiB goes in two writes: the second starts where no packet does.
    let starts_packet = |address: u64| {
        (address - buffers.start).is_multiple_of(32)
            && !(address - buffers.start).is_multiple_of(64)
    };
    let (mut frames, mut payloads, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for (at, passage) in passages {
        match passage {
            Passage::ReceiveLast => frames.push(at),
            Passage::Write { address, .. } if is_payload(&address) && starts_packet(address) => {
                payloads.push(at);
            }
            Passage::Write { address, dwords }
                if !is_payload(&address) && dwords == ENTRY_DWORDS =>
            {
                entries.push(at);
            }
            _ => {}
        }
    }
    let run_packets = if scenario.coalesce { scenario.push_packets as usize } else { 1 };
    let ends: Vec<u64> =
        frames.iter().copied().skip(run_packets - 1).step_by(run_packets).collect();
    // Of a run that the end of the measurement has cut the entry comes with the time.
    if !(ends.len()..=ends.len() + 1).contains(&entries.len()) {
        let (runs, entries) = (ends.len(), entries.len());
        outcome.problems.add(|| format!("{runs} packets that end a run, {entries} entries"));
    }
    let mpps = outcome.receive.map_or(0.0, |figures| figures.mpps);
    Ok(ReceiveLatency {
        payload: Latencies::between(&frames, &payloads),
        entry: Latencies::between(&ends, &entries),
        mpps,
        outcome,
    })
}

/// Send latency of single packets, whose segment was posted before; `base` says whether their
/// descriptors come with the doorbell.
pub fn send_alone(base: &Scenario) -> Result<SendLatency, MeasureError> {
    let scenario = Scenario {
        receive: false,
        send: true,
        segment: Some(SEGMENT_PACKETS * SEND_BYTES),
        ..scenario(base, SEND_BYTES, SEND_ALONE_PS)
    };
    let field = if base.push_slots { PUSH_WINDOW } else { DOORBELL_SEND };
    let first = scenario.pcie.bars.first().map_or(0, |bar| bar.base) + u64::from(DOORBELLS + field);
    let (outcome, passages, _) = watch(&scenario)?;
    let (mut rings, mut frames) = (Vec::new(), Vec::new());
    for (at, passage) in passages {
        match passage {
            Passage::Register { address } if address == first => rings.push(at),
            Passage::SendFirst => frames.push(at),
            _ => {}
        }
    }
    Ok(SendLatency { frame: Latencies::between(&rings, &frames), outcome })
}

type Watched = (Outcome, Vec<(u64, Passage)>, std::ops::Range<u64>);

/// Runs a scenario with a probe; also where the one flow's receive buffers lie.
fn watch(scenario: &Scenario) -> Result<Watched, MeasureError> {
    let measurement = Measurement::open(scenario, Options::default())?;
    let card = measurement.host.machine.card.clone();
    let probe = Probe::new(&card.borrow().model);
    card.borrow_mut().probe = Some(probe);
    let memory = measurement.host.flows[0].receive.memory();
    let buffers = memory.map_or(0..0, |m| m.address..m.address + m.bytes as u64);
    let mut outcome = measurement.run(&mut |_| {})?;
    if outcome.frames_lost > 0 {
        let lost = outcome.frames_lost;
        outcome.problems.add(|| format!("{lost} frames lost: latencies do not pair up"));
    }
    let probe = card.borrow_mut().probe.take();
    let passages = probe.map(|probe| probe.passages).unwrap_or_default();
    Ok((outcome, passages, buffers))
}
