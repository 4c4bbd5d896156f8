//! `zeronic sim --rx`: a capture into the card's receive port.
//!
//! ```text
//!   capture ─ incoming frames ─► card ─► header entries ─► entries.txt, floors
//!                                  └───► application memory ─► buffers/FLOW-N.bin
//! ```
//! Each frame is replayed when the one before it is done, so that the result does not depend on
//! time. In a flow that accepts in order, the floor follows the bytes that have landed, and its
//! confirmation is awaited before the next frame. What a packet has placed is compared with it at
//! once.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use abi::reason::Disposition;
use anyhow::{Context, Result};
use host::control::flow::ranges::RangeSet;
use host::driver::bus::Bus;
use host::records::commands::Direction;
use lab::frame::Frame;
use lab::machine::CardModel;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::landing::{pass, pass_into_run, Landing};
use super::results::{buffer_name, Results};
use super::rig::{Rig, ROUNDS_MAX};
use super::setup::ReplaySetup;
use super::traffic::{Traffic, Way};
use crate::shared::progress::{Progress, Unit};

/// One application buffer after the run.
#[derive(Debug, Serialize)]
pub struct BufferReport {
    flow: String,
    segment: usize,
    file: String,
    position: u64,
    bytes: u32,
    written_bytes: u64,
    sha256: String,
}

/// The result of the run.
#[derive(Debug, Serialize)]
pub struct ReceiveReport {
    /// All frames accounted for, every placed byte right, all others untouched, no rule broken.
    pub ok: bool,
    model: &'static str,
    frames_in: u64,
    frames_outgoing: u64,
    packets_cut: usize,
    checksums_completed: usize,
    header_entries: u64,
    /// Header entries of runs of packets, and their packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<[u64; 2]>,
    dispositions: BTreeMap<&'static str, u64>,
    drops: BTreeMap<&'static str, u64>,
    conserved: bool,
    guards_intact: bool,
    wrong_bytes: u64,
    deferred_bytes: u64,
    buffers: Vec<BufferReport>,
    violations: Vec<String>,
    /// Where the card first differs from the golden model.
    differs_from_golden: Option<String>,
    sim_time_ns: Option<u64>,
}

impl ReceiveReport {
    /// What a run that is right has nevertheless not brought, in whole sentences.
    pub fn notes(&self) -> Vec<String> {
        let written: u64 = self.buffers.iter().map(|buffer| buffer.written_bytes).sum();
        let drops = self.drops.iter().map(|(reason, count)| format!("{reason}: {count}"));
        let drops = drops.collect::<Vec<_>>().join(", ");
        let dropped: u64 = self.drops.values().sum();
        if dropped == 0 || written + self.deferred_bytes > 0 {
            return Vec::new();
        }
        let what = match self.header_entries {
            0 => "The card has dropped every frame",
            _ => "No payload has arrived; the card has dropped frames",
        };
        vec![format!("{what}: {drops}.")]
    }
}

/// A run: its report, and its header entries as text.
pub struct Received {
    /// The report.
    pub report: ReceiveReport,
    lines: String,
}

impl Received {
    /// Compares a run on the card with one on the golden model.
    pub fn compare(&mut self, golden: &Received) {
        let pairs = self.lines.lines().zip(golden.lines.lines());
        let differs = |(own, golden): (&str, &str)| {
            let (own, golden) = (own.trim_start(), golden.trim_start());
            (own != golden).then(|| format!("entry {own}; golden: {golden}"))
        };
        let (own, golden) = (&self.report, &golden.report);
        // Where runs end, and so which entries there are in which order, is a matter of time.
        let has_runs = own.runs.is_some();
        let entry = if has_runs { None } else { pairs.into_iter().find_map(differs) };
        let count = || {
            let counts = [own.header_entries, golden.header_entries];
            let is_same = match has_runs {
                true => own.dispositions == golden.dispositions,
                false => counts[0] == counts[1],
            };
            (own.drops != golden.drops || !is_same).then(|| {
                format!(
                    "{} entries, drops {:?}; golden: {} entries, drops {:?}",
                    counts[0], own.drops, counts[1], golden.drops
                )
            })
        };
        let buffer = || {
            let mut pairs = own.buffers.iter().zip(&golden.buffers);
            let other = pairs.find(|(own, golden)| own.sha256 != golden.sha256);
            other.map(|(own, _)| format!("bytes of {}", own.file))
        };
        let difference = entry.or_else(count).or_else(buffer);
        self.report.ok &= difference.is_none();
        self.report.differs_from_golden = difference;
    }
}

/// Replays the incoming frames and writes the results, if there are files for them.
pub fn replay<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    setup: &ReplaySetup,
    traffic: &Traffic,
    results: Option<&Results>,
    model: &'static str,
) -> Result<Received> {
    for flow in &setup.flows {
        let base = traffic.base(flow, Way::In)?;
        let own = traffic.base(flow, Way::Out);
        let acks = match flow.acks {
            Some((low, high)) => {
                let own = own?;
                Some((own.wrapping_add(low as u32), own.wrapping_add(high as u32)))
            }
            None => None,
        };
        rig.install(flow, Direction::Receive, base, acks)?;
    }
    let mut landing = Landing::new(setup);
    let mut progress = Progress::new(traffic.incoming.len() as u64, Unit::Count("frames"));
    // Frames without an entry so far, oldest first.
    let (mut waits, mut dropped) = (VecDeque::new(), 0);
    for (index, frame) in traffic.incoming.iter().enumerate() {
        progress.set(index as u64, "");
        rig.machine.card.receive(Frame { bytes: frame.bytes.clone(), ..Frame::default() });
        let frames_in = index as u64 + 1;
        let passed = match rig.coalesces {
            true => pass_into_run(rig, frames_in, &mut dropped),
            false => pass(rig, frames_in, landing.entries).map(|entries| (entries, false)),
        };
        let (entries, is_dropped) = passed.with_context(|| format!("frame {}", frame.number))?;
        if !rig.coalesces {
            waits.clear();
        }
        waits.extend((!is_dropped).then_some(frame));
        landing.take_all(rig, setup, &mut waits, &entries)?;
    }
    // Runs that are open end by themselves.
    for _ in 0..ROUNDS_MAX {
        if landing.packets == rig.totals()?.entries {
            break;
        }
        let entries = rig.advance()?;
        landing.take_all(rig, setup, &mut waits, &entries)?;
    }
    if let Some(results) = results {
        results.entries.write(landing.lines.as_bytes())?;
    }
    let report = report(rig, setup, traffic, &landing, results, model)?;
    let lines = landing.lines;
    Ok(Received { report, lines })
}

fn report<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    setup: &ReplaySetup,
    traffic: &Traffic,
    landing: &Landing,
    results: Option<&Results>,
    model: &'static str,
) -> Result<ReceiveReport> {
    let counters = rig.machine.host.device.counters()?;
    let counted = |names: Vec<&'static str>| -> BTreeMap<&'static str, u64> {
        let all = counters.iter().filter(|(name, count)| *count > 0 && names.contains(name));
        all.copied().collect()
    };
    let dispositions = counted(Disposition::ALL.iter().map(|code| code.name()).collect());
    let drops = counted(abi::reason::DropReason::ALL.iter().map(|code| code.name()).collect());
    let frames_in = traffic.incoming.len() as u64;
    let up: u64 = dispositions.values().sum();
    let conserved = frames_in == up + drops.values().sum::<u64>() && up == landing.packets;
    let guards_intact = guards_intact(rig, setup, landing)?;
    let buffers = write_buffers(rig, setup, landing, results)?;
    let violations = rig.machine.card.violations();
    Ok(ReceiveReport {
        ok: conserved && guards_intact && landing.wrong_bytes == 0 && violations.is_empty(),
        model,
        frames_in,
        frames_outgoing: traffic.outgoing.len() as u64,
        packets_cut: traffic.packets_cut,
        checksums_completed: traffic.checksums_completed,
        header_entries: landing.entries,
        runs: rig.coalesces.then_some(landing.runs),
        dispositions,
        drops,
        conserved,
        guards_intact,
        wrong_bytes: landing.wrong_bytes,
        deferred_bytes: landing.deferred_bytes,
        buffers,
        violations,
        differs_from_golden: None,
        sim_time_ns: rig.machine.card.time_ns(),
    })
}

/// Whether every byte that no packet was placed in still holds its region's guard.
fn guards_intact<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    setup: &ReplaySetup,
    landing: &Landing,
) -> Result<bool> {
    let mut intact = true;
    for (index, region) in setup.regions.iter().enumerate() {
        let mut written = RangeSet::default();
        for (flow, landed) in setup.flows.iter().zip(&landing.landed) {
            for segment in flow.segments.iter().filter(|segment| segment.region == index) {
                for (start, end) in landed_in(landed, segment.stream()) {
                    let at = |position: u64| segment.offset + (position - segment.position);
                    written.insert(at(start), at(end));
                }
            }
        }
        let bytes = rig.read(index, 0..region.bytes as u64);
        for (start, end) in written.gaps(0, bytes.len() as u64) {
            let guard = &bytes[start as usize..end as usize];
            intact &= guard.iter().all(|byte| *byte == region.guard);
        }
    }
    Ok(intact)
}

/// The parts of a stream range that have landed.
fn landed_in(landed: &RangeSet, stream: Range<u64>) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    let mut at = stream.start;
    for (start, end) in landed.gaps(stream.start, stream.end) {
        if at < start {
            parts.push((at, start));
        }
        at = end;
    }
    if at < stream.end {
        parts.push((at, stream.end));
    }
    parts
}

fn write_buffers<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    setup: &ReplaySetup,
    landing: &Landing,
    results: Option<&Results>,
) -> Result<Vec<BufferReport>> {
    let mut reports = Vec::new();
    let of_flows = setup.flows.iter().zip(&landing.landed);
    for (index, (flow, landed)) in of_flows.enumerate() {
        for (number, segment) in flow.segments.iter().enumerate() {
            let bytes = rig.read(segment.region, segment.place());
            if let Some(results) = results {
                results.buffers[index][number].write(&bytes)?;
            }
            let parts = landed_in(landed, segment.stream());
            reports.push(BufferReport {
                flow: flow.name.clone(),
                segment: number,
                file: buffer_name(flow, number),
                position: segment.position,
                bytes: segment.bytes,
                written_bytes: parts.iter().map(|(start, end)| end - start).sum(),
                sha256: format!("{:x}", Sha256::digest(&bytes)),
            });
        }
    }
    Ok(reports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::cut::complete_checksums;
    use crate::replay::setup::{Accept, FlowSetup, Positions, RegionSetup, SegmentSetup, GUARD};
    use crate::replay::traffic::Frames;
    use abi::config::SMALL;
    use host::driver::bus::MemoryKind;
    use lab::golden_card::{GoldenBus, GoldenCard};
    use lab::network_side::NetworkSide;
    use sim::harness::capture::Captured;
    use sim::harness::traffic::{Addresses, PacketSpec};
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A card that takes a byte of each frame for another.
    struct LyingCard {
        card: Rc<RefCell<GoldenCard>>,
        change: u8,
    }

    impl NetworkSide for LyingCard {
        fn receive(&mut self, mut frame: Frame) {
            let last = frame.bytes.len() - 1;
            frame.bytes[last] ^= self.change;
            complete_checksums(&mut frame.bytes);
            self.card.receive(frame);
        }

        fn take_sent(&mut self, into: &mut Vec<Frame>) {
            self.card.take_sent(into);
        }

        fn is_quiet(&self) -> bool {
            self.card.is_quiet()
        }

        fn wire_busy_ps(&self) -> u64 {
            self.card.wire_busy_ps()
        }

        fn now_ps(&self) -> u64 {
            self.card.now_ps()
        }

        fn traffic(&self) -> Option<u64> {
            self.card.traffic()
        }
    }

    impl CardModel for LyingCard {
        fn run(&mut self, cycles: u64) {
            self.card.run(cycles);
        }

        fn frames_in(&self) -> u64 {
            self.card.frames_in()
        }

        fn violations(&self) -> Vec<String> {
            Vec::new()
        }

        fn time_ns(&self) -> Option<u64> {
            None
        }
    }

    /// A packet of 100 bytes to a flow with memory for 120.
    fn receive_packet(change: u8) -> Received {
        let spec = PacketSpec::tcp(
            Addresses::V4([10, 0, 0, 2], [10, 0, 0, 1]),
            (9, 80),
            (1000, 0),
            0x10,
            (0..100).collect(),
        );
        let frames = Frames {
            frames: vec![Captured {
                number: 1,
                interface: 0,
                time_ns: 0,
                bytes: spec.frame(0),
                is_made: false,
                is_sent: None,
            }],
            ..Frames::default()
        };
        let flow = FlowSetup {
            name: "a".to_owned(),
            local: "10.0.0.1:80".parse().unwrap(),
            remote: "10.0.0.2:9".parse().unwrap(),
            positions: Positions::Absolute,
            floor: 1000,
            accept: Accept::InOrder,
            acks: None,
            timestamp_floor: None,
            join_bytes: 0,
            mss_bytes: None,
            segments: vec![SegmentSetup { region: 0, position: 1000, bytes: 120, offset: 7 }],
        };
        let setup = ReplaySetup {
            cards: Vec::new(),
            regions: vec![RegionSetup {
                name: "r".to_owned(),
                bytes: 4096,
                memory: MemoryKind::Application,
                guard: GUARD,
            }],
            flows: vec![flow],
        };
        let traffic = Traffic::sort(&frames, &setup).unwrap();
        let card = GoldenCard::new(SMALL);
        let bus = GoldenBus::new(card.clone());
        let mut rig = Rig::open(bus, LyingCard { card, change }, &setup, false).unwrap();
        replay(&mut rig, &setup, &traffic, None, "liar").unwrap()
    }

    #[test]
    fn wrong_payload_byte_is_cards_fault() {
        let right = receive_packet(0).report;
        assert!(right.ok && right.wrong_bytes == 0, "{right:?}");
        let wrong = receive_packet(0x20).report;
        assert!(!wrong.ok && wrong.wrong_bytes == 1, "{wrong:?}");
    }

    #[test]
    fn difference_from_golden_model_is_wrong() {
        let golden = receive_packet(0);
        let mut same = receive_packet(0);
        same.compare(&golden);
        assert!(same.report.ok, "{:?}", same.report);
        let mut bytes = receive_packet(0x20);
        bytes.report.ok = true;
        bytes.compare(&golden);
        let said = bytes.report.differs_from_golden;
        assert_eq!(said.as_deref(), Some("bytes of buffers/a-0.bin"));
        assert!(!bytes.report.ok);
        let mut entries = receive_packet(0);
        entries.lines = entries.lines.replace("placed_in_order", "placed_ahead");
        entries.compare(&golden);
        let said = entries.report.differs_from_golden.expect("a difference");
        assert!(said.starts_with("entry 1 frame=1 placed_ahead"), "{said}");
        let mut counts = receive_packet(0);
        counts.report.drops.insert("runt", 1);
        counts.compare(&golden);
        let said = counts.report.differs_from_golden.expect("a difference");
        assert!(said.contains("runt"), "{said}");
    }
}
