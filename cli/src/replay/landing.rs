//! What a capture's packets have come to on the card: which frame each entry stands for, where its
//! bytes are, whether they are right.
//!
//! ```text
//!   frame ─► pass, or pass_into_run ─► entries ─► Landing: frame by frame, floors, lines of text
//! ```
//! A card that sums packets up may hold an entry back: until it comes, the frames wait.

use std::collections::VecDeque;
use std::ops::Range;

use abi::header_entry as h;
use abi::reason::Disposition;
use anyhow::{Context, Result};
use host::control::flow::ranges::RangeSet;
use host::driver::bus::Bus;
use host::driver::rings::HeaderEntry;
use host::headers::packet::parse_tcp;
use host::headers::run::Run;
use lab::machine::CardModel;

use super::entries::{disposition, flow_index, line, run_line};
use super::packet::Packet;
use super::rig::{Rig, ROUNDS_MAX};
use super::setup::{Accept, FlowSetup, ReplaySetup};
use super::traffic::Numbered;
use crate::shared::failure::CardFault;

/// Rounds after which a frame without an entry is searched among the drops.
const ROUNDS_BEFORE_TOTALS: u32 = 8;

/// What has arrived on the flows so far.
pub struct Landing {
    pub landed: Vec<RangeSet>,
    pub floors: Vec<u64>,
    pub entries: u64,
    /// Packets with an entry, of their own or of a run; runs and their packets.
    pub packets: u64,
    pub runs: [u64; 2],
    pub deferred_bytes: u64,
    pub wrong_bytes: u64,
    pub lines: String,
}

/// Waits until a frame that was handed in has an entry or is counted as dropped.
pub fn pass<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    frames_in: u64,
    entries_before: u64,
) -> Result<Vec<HeaderEntry>> {
    for round in 0..ROUNDS_MAX {
        let entries = rig.advance()?;
        if !entries.is_empty() {
            return Ok(entries);
        }
        if round >= ROUNDS_BEFORE_TOTALS && rig.machine.card.is_quiet() {
            let totals = rig.totals()?;
            if totals.entries + totals.drops == frames_in && totals.entries == entries_before {
                return Ok(entries);
            }
        }
    }
    let message = "it neither published nor dropped the frame";
    Err(CardFault(message.to_owned()).into())
}

/// Waits until a frame that was handed in is counted: it may be of a run that is open. Returns the
/// entries that have come, and whether it was dropped.
pub fn pass_into_run<B: Bus, C: CardModel>(
    rig: &mut Rig<B, C>,
    frames_in: u64,
    dropped: &mut u64,
) -> Result<(Vec<HeaderEntry>, bool)> {
    let mut entries = Vec::new();
    for _ in 0..ROUNDS_MAX {
        entries.extend(rig.advance()?);
        let totals = rig.totals()?;
        if totals.entries + totals.drops == frames_in {
            entries.extend(rig.take_entries()?);
            let is_dropped = totals.drops > std::mem::replace(dropped, totals.drops);
            return Ok((entries, is_dropped));
        }
    }
    let message = "it has neither delivered nor dropped the frame";
    Err(CardFault(message.to_owned()).into())
}

/// Takes the frame of a packet that an entry stands for.
fn take_frame<'a>(
    waits: &mut VecDeque<&'a Numbered>,
    is_it: impl Fn(&[u8]) -> bool,
) -> Result<&'a Numbered> {
    let at = waits.iter().position(|frame| is_it(&frame.bytes));
    let frame = at.and_then(|at| waits.remove(at));
    let message = "an entry stands for no frame that was handed in";
    frame.ok_or_else(|| CardFault(message.to_owned()).into())
}

impl Landing {
    /// Nothing has arrived on the flows of a setup.
    pub fn new(setup: &ReplaySetup) -> Self {
        Self {
            landed: setup.flows.iter().map(|_| RangeSet::default()).collect(),
            floors: setup.flows.iter().map(|flow| flow.floor).collect(),
            entries: 0,
            packets: 0,
            runs: [0; 2],
            deferred_bytes: 0,
            wrong_bytes: 0,
            lines: String::new(),
        }
    }

    /// Takes entries, each with the frames that it stands for.
    pub fn take_all<B: Bus, C: CardModel>(
        &mut self,
        rig: &mut Rig<B, C>,
        setup: &ReplaySetup,
        waits: &mut VecDeque<&Numbered>,
        entries: &[HeaderEntry],
    ) -> Result<()> {
        for entry in entries {
            let Some(run) = entry.run else {
                // Without runs an entry is that of the frame before it, whatever the card has made
                // of its bytes.
                let frame = match rig.coalesces {
                    true => take_frame(waits, |bytes| bytes.starts_with(&entry.header))?,
                    false => waits[0],
                };
                self.packets += 1;
                self.take(rig, setup, frame, entry)?;
                continue;
            };
            self.take_run(rig, setup, waits, (entry, &run))?;
        }
        Ok(())
    }

    /// Takes the entry of a run: each of its packets is where its frame says.
    fn take_run<B: Bus, C: CardModel>(
        &mut self,
        rig: &mut Rig<B, C>,
        setup: &ReplaySetup,
        waits: &mut VecDeque<&Numbered>,
        (entry, run): (&HeaderEntry, &Run),
    ) -> Result<()> {
        let mut frames = Vec::new();
        for packet in 0..run.packets {
            let header = run.header(&entry.header, packet..packet + 1)?;
            let wanted = parse_tcp(&header).context("a run of no TCP packets")?;
            let is_exact = packet == 0 || packet + 1 == run.packets;
            let is_it = |bytes: &[u8]| {
                parse_tcp(bytes).is_some_and(|found| match is_exact {
                    true => found == wanted,
                    false => {
                        (found.source, found.destination, found.sequence)
                            == (wanted.source, wanted.destination, wanted.sequence)
                    }
                })
            };
            frames.push((take_frame(waits, is_it)?, wanted.sequence, packet));
        }
        self.entries += 1;
        self.packets += u64::from(run.packets);
        self.runs[0] += 1;
        self.runs[1] += u64::from(run.packets);
        let numbers: Vec<_> = frames.iter().map(|(frame, ..)| frame.number).collect();
        self.lines += &run_line(self.entries as usize, &numbers, (entry, run), setup, &rig.flows);
        self.lines.push('\n');
        let Some(index) = flow_index(entry, &rig.flows) else { return Ok(()) };
        for (frame, sequence, packet) in frames {
            let bytes = run.payload_bytes(packet..packet + 1);
            self.land(rig, setup, frame, (index, sequence, bytes.into(), 0));
        }
        self.accept(rig, setup, index)
    }

    /// Notes and judges the bytes of a packet that was placed: flow, position of the first that was
    /// written, how many, and how many before were not.
    fn land<B: Bus, C: CardModel>(
        &mut self,
        rig: &Rig<B, C>,
        setup: &ReplaySetup,
        frame: &Numbered,
        (index, first, bytes, trimmed): (usize, u32, u64, usize),
    ) {
        let floor = self.floors[index];
        // A placed byte lies less than 2^30 beyond the floor, or before one that has moved since.
        let floor_sequence = rig.flows[index].base.wrapping_add(floor as u32);
        let start = floor.saturating_add_signed((first.wrapping_sub(floor_sequence) as i32).into());
        self.landed[index].insert(start, start + bytes);
        let flow = &setup.flows[index];
        self.wrong_bytes += wrong_bytes(rig, flow, frame, trimmed, start..start + bytes);
    }

    /// Moves the floor of a flow that accepts in order.
    fn accept<B: Bus, C: CardModel>(
        &mut self,
        rig: &mut Rig<B, C>,
        setup: &ReplaySetup,
        index: usize,
    ) -> Result<()> {
        let (flow, floor) = (&setup.flows[index], self.floors[index]);
        let end = self.landed_end(index, floor);
        if flow.accept == Accept::InOrder && end > floor {
            self.floors[index] = end;
            rig.accept(index, flow, end)?;
        }
        Ok(())
    }

    fn take<B: Bus, C: CardModel>(
        &mut self,
        rig: &mut Rig<B, C>,
        setup: &ReplaySetup,
        frame: &Numbered,
        entry: &HeaderEntry,
    ) -> Result<()> {
        self.entries += 1;
        self.lines += &line(self.entries as usize, Some(frame.number), entry, setup, &rig.flows);
        self.lines.push('\n');
        self.deferred_bytes += entry.deferred.as_ref().map_or(0, |payload| payload.len() as u64);
        let placed = matches!(
            disposition(entry),
            Some(Disposition::PlacedInOrder | Disposition::PlacedAhead)
        );
        let Some(index) = flow_index(entry, &rig.flows).filter(|_| placed) else { return Ok(()) };
        let get = |field: abi::field::Field| field.get(&entry.metadata);
        let first = (get(h::POSITION) as u32).wrapping_add(get(h::TRIMMED_BYTES) as u32);
        let bytes = get(h::PAYLOAD_BYTES) - get(h::TRIMMED_BYTES);
        self.land(rig, setup, frame, (index, first, bytes, get(h::TRIMMED_BYTES) as usize));
        self.accept(rig, setup, index)
    }

    /// The end of the bytes that have landed from `floor` on without a gap.
    fn landed_end(&self, index: usize, floor: u64) -> u64 {
        let limit = floor + u64::from(abi::config::FLOW_REACH_BYTES);
        self.landed[index].gaps(floor, limit).first().map_or(limit, |gap| gap.0)
    }
}

/// Bytes of the stream that memory holds otherwise than the packet that was just placed.
fn wrong_bytes<B: Bus, C: CardModel>(
    rig: &Rig<B, C>,
    flow: &FlowSetup,
    frame: &Numbered,
    trimmed_bytes: usize,
    placed: Range<u64>,
) -> u64 {
    let packet = Packet::read(&frame.bytes);
    let payload = packet.and_then(|packet| frame.bytes.get(packet.payload));
    let payload = payload.and_then(|payload| payload.get(trimmed_bytes..));
    let (mut equal, mut at) = (0, placed.start);
    for segment in &flow.segments {
        let stream = segment.stream();
        let (from, to) = (at.max(stream.start), placed.end.min(stream.end));
        if from >= to {
            continue;
        }
        let place = segment.offset + (from - segment.position);
        let held = rig.read(segment.region, place..place + (to - from));
        let sent = payload.and_then(|payload| payload.get((from - placed.start) as usize..));
        let pairs = held.iter().zip(sent.unwrap_or(&[]));
        equal += pairs.filter(|(held, sent)| held == sent).count() as u64;
        at = to;
    }
    placed.end - placed.start - equal
}
