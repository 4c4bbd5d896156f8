//! Posts send descriptors and judges what comes of each: the frames or the event that the golden
//! model makes of it in some state that the card could see. Neither is an event that found the
//! header queue full: as many as the card has counted.

use std::collections::{HashMap, VecDeque};

use abi::reason::SendError;
use abi::{header_entry as h, send_descriptor as d};
use golden::tables::{Flow, Tables};
use golden::tx;
use host::driver::rings::HeaderEntry;
use host::headers::packet::parse_tcp;
use host::records::commands::{Direction, FlowName};
use host::records::descriptor::{send, Payload};
use lab::frame::Frame;
use rand::rngs::SmallRng;
use rand::Rng;

use crate::racing::history::{History, GROUP_SLOTS};
use crate::racing::slots::{content, Phase, Transport};
use crate::racing::software::Software;
use crate::racing::traffic::{packet, tag, tag_of};

/// Descriptors that wait for their judgement, at most.
const OPEN_MAX: usize = 12;

/// A descriptor on its way.
struct Posted {
    number: u64,
    slot: usize,
    name: FlowName,
    base: u32,
    record: Vec<u8>,
    /// Commands confirmed when it was posted.
    lower: u64,
    /// Commands issued when the first sign of it was seen.
    upper: Option<u64>,
    cycle: u64,
    frames: Vec<Vec<u8>>,
    event: Option<u64>,
}

impl Posted {
    fn explain(&self, states: &[u64], expected: &[tx::Sent]) -> ! {
        let of = |frames: &[Vec<u8>]| -> Vec<usize> { frames.iter().map(Vec::len).collect() };
        for sent in expected {
            println!("expected {:?}, frames of {:?}", sent.error, of(&sent.frames));
            for (number, (theirs, ours)) in sent.frames.iter().zip(&self.frames).enumerate() {
                let pairs = theirs.iter().zip(ours).enumerate();
                let differing: Vec<_> = pairs.filter(|(_, (a, b))| a != b).take(40).collect();
                println!("frame {number}, (byte, (expected, sent)): {differing:02x?}");
            }
        }
        let get = |field: abi::field::Field| field.get(&self.record);
        panic!(
            "descriptor {} of slot {}, states {states:?}: {} bytes from {:#x} on, {:?}, event {:?}",
            self.number,
            self.slot,
            get(d::PAYLOAD_BYTES),
            get(d::POSITION),
            of(&self.frames),
            self.event
        );
    }
}

/// The judge. See the module's head.
#[derive(Default)]
pub struct Sends {
    open: VecDeque<Posted>,
    next: u64,
    /// Descriptors judged.
    pub judged: u64,
    /// Those of them whose event came, by reason.
    pub failed: [u64; 8],
    /// Those of them that failed with neither frame nor event.
    pub lost: u64,
    /// Those of them whose segments were gone because the send floor had passed.
    pub overtaken: u64,
}

impl Sends {
    /// A descriptor of some flow, if one is to be had now.
    pub fn post(
        &mut self,
        software: &Software,
        random: &mut SmallRng,
        (confirmed, cycle): (u64, u64),
    ) -> Option<Vec<u8>> {
        let number = random.random_range(0..software.slots.len());
        let slot = &software.slots[number];
        let half = &slot.send;
        if self.open.len() >= OPEN_MAX || slot.transport != Transport::Tcp {
            return None;
        }
        if slot.phase != Phase::There && random.random_bool(0.9) {
            return None;
        }
        let low = half.floor.saturating_sub(random.random_range(0..200));
        let from = random.random_range(low..=half.posted);
        let bytes = random.random_range(1..9000.min((half.posted - from).max(1) + 300));
        let segment = half.list.iter().find(|p| p.start + p.bytes > from);
        let segment_index = segment.map_or(half.tail, |posted| posted.index);
        let mut template = packet(slot, from, 0, random);
        // A header that does not fit one slot takes two.
        template.ip_options.truncate(20);
        let mut frame = template.frame(0);
        let header = parse_tcp(&frame)?;
        let header_bytes = header.l4_offset + usize::from(frame[header.l4_offset + 12] >> 4) * 4;
        frame.truncate(header_bytes);
        tag(&mut frame, self.next);
        let position = slot.base.wrapping_add(from);
        let payload = Payload {
            name: slot.name,
            position,
            bytes,
            mss_bytes: random.random_range(200..3000),
            segment_index,
        };
        let record = send(&frame, (&header).into(), &payload).record().to_vec();
        let twin = |other: &Posted| {
            other.slot == number && d::POSITION.get(&other.record) == u64::from(position)
        };
        if self.open.iter().any(twin) {
            // Its event could not be told from that of the other.
            return None;
        }
        self.open.push_back(Posted {
            number: self.next,
            slot: number,
            name: slot.name,
            base: slot.base,
            record: record.clone(),
            lower: confirmed,
            upper: None,
            cycle,
            frames: Vec::new(),
            event: None,
        });
        self.next += 1;
        Some(record)
    }

    /// The card sent a frame.
    pub fn note_sent(&mut self, frame: Frame, issued: u64) {
        let number = tag_of(&frame.bytes);
        let posted = self.open.iter_mut().find(|posted| posted.number == number);
        let posted = posted.unwrap_or_else(|| panic!("a frame of descriptor {number}"));
        posted.upper.get_or_insert(issued);
        posted.frames.push(frame.bytes);
    }

    /// The card reported a failed send.
    pub fn event(&mut self, entry: &HeaderEntry, issued: u64) {
        let get = |field: abi::field::Field| field.get(&entry.metadata);
        let is_it = |posted: &&mut Posted| {
            let of = |field: abi::field::Field| field.get(&posted.record);
            of(d::FLOW) == get(h::FLOW)
                && of(d::GENERATION) == get(h::GENERATION)
                && of(d::POSITION) == get(h::EVENT_VALUE)
        };
        let posted = self.open.iter_mut().find(is_it);
        let posted = posted.unwrap_or_else(|| panic!("an event of no descriptor: {entry:?}"));
        assert_eq!(posted.event, None, "a second event");
        posted.upper.get_or_insert(issued);
        posted.event = Some(get(h::DISPOSITION));
    }

    /// The oldest state that a judgement still needs.
    pub fn needs_from(&self) -> Option<u64> {
        self.open.iter().map(|posted| posted.lower).min()
    }

    /// Compares what was judged with the counters, when everything has come to rest.
    ///
    /// # Panics
    /// If a descriptor has no end, or a counter says otherwise.
    pub fn conclude(&self, counters: &HashMap<&'static str, u64>) {
        assert!(self.open.is_empty(), "descriptors without an end");
        let failed = self.failed.iter().sum::<u64>() + self.lost;
        let counted = SendError::ALL.iter().map(|error| counters[error.name()]);
        assert_eq!(counted.sum::<u64>(), failed, "failed sends");
        assert_eq!(counters["send_events_lost"], self.lost);
    }

    /// Judges what was posted before a cycle.
    ///
    /// # Panics
    /// If no state explains what came of a descriptor, or that nothing did.
    pub fn judge(&mut self, software: &Software, history: &History, before: u64) {
        while let Some(posted) = self.open.front() {
            if posted.cycle >= before {
                return;
            }
            let is_lost = posted.upper.is_none();
            let upper = posted.upper.unwrap_or(history.issued_count());
            let event = posted.event.and_then(|code| SendError::from_code(code as u8));
            let states = history.seen_by(posted.slot, posted.lower, upper);
            let expected = outcomes(posted, &states, software, history);
            let is_it = |sent: &tx::Sent| {
                let is_told = sent.error == event || (is_lost && sent.error.is_some());
                is_told && sent.frames == posted.frames
            };
            if !expected.iter().any(is_it) {
                posted.explain(&states, &expected);
            }
            if let Some(error) = event {
                self.failed[error as usize] += 1;
            }
            if event == Some(SendError::SendNoSegment) && !is_missing(posted, &states, history) {
                assert_passed(posted, &states, history);
                self.overtaken += 1;
            }
            self.lost += u64::from(is_lost);
            self.judged += 1;
            self.open.pop_front();
        }
    }
}

/// Whether the range of a descriptor has no segment in some state, without any race: it was never
/// posted.
fn is_missing(posted: &Posted, states: &[u64], history: &History) -> bool {
    states.iter().any(|state| {
        let mut read = |_, bytes| Some(vec![0; bytes]);
        let sent = tx::send(history.tables(*state), 0, &posted.record, &mut read);
        sent.error == Some(SendError::SendNoSegment)
    })
}

/// A range that lost its segments between the two look-ups lost them to a send floor beyond its
/// position, which software has asked for.
///
/// # Panics
/// If no floor passed.
fn assert_passed(posted: &Posted, states: &[u64], history: &History) {
    let position = d::POSITION.get(&posted.record) as u32;
    let is_passed = |state: &u64| {
        let flow = history.tables(*state).flow(posted.name.flow);
        flow.is_some_and(|flow| (flow.send_floor.wrapping_sub(position) as i32) > 0)
    };
    assert!(
        states.iter().any(is_passed),
        "descriptor {} of slot {}: no segment at {position:#x}, and no floor passed",
        posted.number,
        posted.slot
    );
}

/// What may come of a descriptor: the flow seen in one state, its list in that or a later one,
/// the regions in that or a later one.
fn outcomes(
    posted: &Posted,
    states: &[u64],
    software: &Software,
    history: &History,
) -> Vec<tx::Sent> {
    let id = posted.name.flow;
    let mut all = Vec::new();
    for (first, flow_state) in states.iter().enumerate() {
        for (second, list_state) in states.iter().enumerate().skip(first) {
            for region_state in &states[second..] {
                let seen = history.tables(*flow_state).flow(id);
                let mut tables = history.tables(*list_state).clone();
                tables.adopt_regions(history.tables(*region_state));
                let content = Content::of(posted, &tables, seen, software);
                let mut read = |address, bytes| content.read(address, bytes);
                let sent = tx::send_seen(seen, &tables, 0, &posted.record, &mut read);
                if !all.contains(&sent) {
                    all.push(sent);
                }
            }
        }
    }
    all
}

/// What lies where: bytes to send stay until the send floor past them is confirmed.
struct Content(Vec<(u64, Vec<u8>)>);

impl Content {
    fn of(posted: &Posted, tables: &Tables, seen: Option<&Flow>, software: &Software) -> Content {
        let memory = software.groups[posted.slot / GROUP_SLOTS].arena.memory;
        let Some(flow) = seen else { return Content(Vec::new()) };
        let now = tables.flow(posted.name.flow);
        let now = now.filter(|now| now.generation == flow.generation);
        let list = &now.unwrap_or(flow).lists[1];
        let mut found = Vec::new();
        let mut index = list.head;
        while index != list.tail {
            if let Some(segment) = list.at(index) {
                let is_there = tables.translate(&segment, 0, 1, flow.domain, false).is_some();
                // Below the floor the memory may hold something else by now.
                let below = flow.send_floor.wrapping_sub(segment.position) as i32;
                let below = (below.max(0) as u32).min(segment.bytes);
                let start = segment.position.wrapping_add(below);
                let (name, bytes) = (posted.name, segment.bytes - below);
                if is_there {
                    let offset = start.wrapping_sub(posted.base);
                    let bytes = content(name, Direction::Send, offset, bytes);
                    let address = memory.address + segment.offset + u64::from(below);
                    found.push((address, bytes));
                }
            }
            index = index.wrapping_add(1);
        }
        Content(found)
    }

    fn read(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.0.iter().find_map(|(start, content)| {
            let from = usize::try_from(address.checked_sub(*start)?).ok()?;
            content.get(from..from + bytes).map(<[u8]>::to_vec)
        })
    }
}
