//! Judges every header entry: is it what the golden model makes of that packet in some state that
//! the card could see?
//!
//! A packet asks the tables several times: for its flow, for each segment, for each region. Each
//! request may see a later state than the one before; none may see a state older than the last
//! that was confirmed before the packet came, or whose confirmation was seen while the packet's
//! entry was not.

use std::collections::HashMap;

use abi::config::{FLOW_REACH_BYTES, PIECES_MAX};
use abi::header_entry as h;
use abi::reason::{Disposition, DropReason};
use golden::device::metadata;
use golden::packet::parse;
use golden::rx::{self, Delivery, Piece};
use golden::tables::{Flow, Segment, Tables};
use host::driver::rings::HeaderEntry;

use crate::racing::history::History;
use crate::racing::software::Software;
use crate::racing::traffic::profiles;

/// A frame that the card was given.
pub struct Given {
    /// Its bytes; empty once its entry is judged.
    pub bytes: Vec<u8>,
    /// The MAC marked it bad.
    pub is_bad: bool,
    /// Commands confirmed before it came.
    pub confirmed: u64,
    /// Its entry was seen.
    pub is_judged: bool,
}

/// The judge. See the module's head.
#[derive(Default)]
pub struct Receives {
    /// Every frame given to the card, by its number.
    pub given: Vec<Given>,
    /// Packets by disposition.
    pub dispositions: HashMap<Disposition, u64>,
    /// Packets whose outcome could have been another one in a state next to theirs.
    pub raced: u64,
    /// By slot: number of the last frame, state in which its flow was looked up.
    last: HashMap<usize, (u64, u64)>,
    /// By slot and generation: the cursor.
    cursors: HashMap<(usize, u8), u32>,
}

/// One way in which a packet may have gone.
struct Outcome {
    delivery: Delivery,
    /// The state in which the flow was looked up.
    looked_up: u64,
    cursor: u32,
}

impl Receives {
    /// Judges an entry that was not there when `lower` commands were confirmed already, and is now,
    /// when `upper` commands have been issued. Returns what was placed.
    ///
    /// # Panics
    /// If no state explains the entry.
    pub fn judge(
        &mut self,
        entry: &HeaderEntry,
        (lower, upper): (u64, u64),
        history: &History,
        software: &Software,
    ) -> Vec<Piece> {
        let number = crate::racing::traffic::tag_of(&entry.header);
        let given = &mut self.given[number as usize];
        let frame = std::mem::take(&mut given.bytes);
        assert!(!given.is_bad && !given.is_judged, "an entry of frame {number}");
        given.is_judged = true;
        let lower = lower.max(given.confirmed);
        let packet = parse(&frame, &profiles());
        let packet = packet.unwrap_or_else(|why| panic!("frame {number}: {}", why.name()));
        let slot = software.of_key.get(&packet.key).copied();
        let slot = slot.filter(|_| packet.l4_offset != 0);
        let states = match slot {
            Some(slot) => history.seen_by(slot, lower, upper),
            None => vec![lower],
        };
        let last = slot.and_then(|slot| self.last.get(&slot).copied());
        if let Some((before, _)) = last {
            assert!(before < number, "frame {number} after frame {before}");
        }
        let mut outcomes = Vec::new();
        for (at, state) in states.iter().enumerate() {
            if last.is_none_or(|(_, looked_up)| *state >= looked_up) {
                self.outcomes(&frame, slot, &states[at..], history, &mut outcomes);
            }
        }
        let is_it = |outcome: &&Outcome| agrees(entry, &frame, &outcome.delivery);
        let Some(outcome) = outcomes.iter().find(is_it) else {
            self.explain(entry, number, slot, &states, &outcomes);
        };
        let differs = |other: &Outcome| other.delivery != outcome.delivery;
        self.raced += u64::from(outcomes.iter().any(differs));
        let delivery = &outcome.delivery;
        if let Some(slot) = slot {
            let looked_up = last.map_or(0, |(_, state)| state).max(outcome.looked_up);
            self.last.insert(slot, (number, looked_up));
            if delivery.flow.is_some() {
                self.cursors.insert((slot, delivery.generation), outcome.cursor);
            }
        }
        *self.dispositions.entry(delivery.disposition).or_default() += 1;
        delivery.pieces.clone()
    }

    fn explain(
        &self,
        entry: &HeaderEntry,
        number: u64,
        slot: Option<usize>,
        states: &[u64],
        outcomes: &[Outcome],
    ) -> ! {
        let found: Vec<String> = h::FIELDS
            .iter()
            .map(|field| format!("{} {:#x}", field.name, field.get(&entry.metadata)))
            .collect();
        for outcome in outcomes {
            let mut delivery = outcome.delivery.clone();
            delivery.deferred = None;
            delivery.pieces.iter_mut().for_each(|p| p.bytes.truncate(4));
            println!("in state {}: {delivery:?}", outcome.looked_up);
        }
        panic!("frame {number} of slot {slot:?}, states {states:?}: {}", found.join(", "));
    }

    /// The cursors that a packet of `flow` may see: the card reads it last, so a floor that has
    /// lifted it since the look-up, or a new flow in its place, shows.
    fn cursors_seen(
        &self,
        slot: usize,
        (id, flow): (u16, &Flow),
        states: &[u64],
        history: &History,
    ) -> Vec<u32> {
        let lifted = |cursor: u32, floor: u32| match (cursor.wrapping_sub(floor) as i32) < 0 {
            true => floor,
            false => cursor,
        };
        let carried = self.cursors.get(&(slot, flow.generation)).copied();
        let carried = lifted(carried.unwrap_or(flow.floor), flow.floor);
        let seen = |number: &u64| match history.tables(*number).flow(id) {
            Some(later) if later.generation == flow.generation => lifted(carried, later.floor),
            Some(later) => lifted(later.floor, flow.floor),
            None => carried,
        };
        let mut cursors: Vec<u32> = states.iter().map(seen).collect();
        cursors.dedup();
        cursors
    }

    /// What may become of a frame whose flow is looked up in the first of `states`.
    fn outcomes(
        &self,
        frame: &[u8],
        slot: Option<usize>,
        states: &[u64],
        history: &History,
        outcomes: &mut Vec<Outcome>,
    ) {
        let tables = history.tables(states[0]);
        let key = parse(frame, &profiles()).expect("it was good").key;
        let flow = slot.and_then(|slot| {
            let id = tables.lookup(&key)?;
            Some((slot, id, tables.flow(id)?))
        });
        let Some((slot, id, flow)) = flow else {
            let delivery = rx::receive(&mut tables.clone(), frame).expect("it was good");
            outcomes.push(Outcome { delivery, looked_up: states[0], cursor: 0 });
            return;
        };
        for cursor in self.cursors_seen(slot, (id, flow), states, history) {
            let mut flow = flow.clone();
            flow.cursor = cursor;
            outcomes_of(frame, (id, flow), states, history, outcomes);
        }
    }

    /// Every frame without an entry was dropped for a reason, and the card's counters say so.
    pub fn conclude(&self, counters: &HashMap<&'static str, u64>) {
        let mut wrong: HashMap<DropReason, u64> = HashMap::new();
        let mut unseen = 0;
        for given in self.given.iter().filter(|given| !given.is_judged) {
            let reason = match golden::packet::check_length(&given.bytes) {
                Err(reason) => Some(reason),
                Ok(()) if given.is_bad => Some(DropReason::BadFcs),
                Ok(()) => parse(&given.bytes, &profiles()).err(),
            };
            match reason {
                Some(reason) => *wrong.entry(reason).or_default() += 1,
                None => unseen += 1,
            }
        }
        let count = |name: &str| counters[name];
        for disposition in Disposition::ALL {
            let judged = self.dispositions.get(disposition).copied().unwrap_or(0);
            assert_eq!(count(disposition.name()), judged, "{}", disposition.name());
        }
        let overrun = count(DropReason::RxFifoFull.name());
        let mut left = overrun;
        for (reason, expected) in wrong {
            let missing = expected.checked_sub(count(reason.name()));
            let missing = missing.unwrap_or_else(|| panic!("{} counted twice", reason.name()));
            assert!(missing <= left, "{missing} {} uncounted", reason.name());
            left -= missing;
        }
        let full =
            count("header_queue_full") + count("slow_buffer_full") + count("buffer_share_full");
        assert_eq!(unseen, full + left, "good frames that vanished");
        let drops = DropReason::ALL.iter().map(|reason| count(reason.name()));
        let ends = Disposition::ALL.iter().map(|end| count(end.name()));
        assert_eq!(drops.chain(ends).sum::<u64>(), self.given.len() as u64);
    }
}

/// What may become of a frame of a flow that is looked up, as it stands, in the first of `states`.
fn outcomes_of(
    frame: &[u8],
    (id, flow): (u16, Flow),
    states: &[u64],
    history: &History,
    outcomes: &mut Vec<Outcome>,
) {
    let looked_up = states[0];
    let plain = |delivery: Delivery, cursor| Outcome { delivery, looked_up, cursor };
    let mut tables = history.tables(looked_up).clone();
    if let Some(stored) = tables.flow_mut(id) {
        stored.cursor = flow.cursor;
    }
    let delivery = rx::receive(&mut tables, frame).expect("it was good");
    let cursor = tables.flow(id).map_or(0, |flow| flow.cursor);
    if !walks(&delivery, &flow) {
        outcomes.push(plain(delivery, cursor));
        return;
    }
    let walk = Walk { id, flow: &flow, views: states.iter().map(|n| history.tables(*n)).collect() };
    let mut found = Vec::new();
    let packet = &delivery.packet;
    let payload = &frame[packet.header_bytes..][..packet.payload_bytes];
    walk.start(packet.position, payload, &mut found);
    let whole = |end: &End| end.delivery(&delivery, &flow, payload);
    if states.len() == 1 {
        let agreed = found.iter().any(|end| whole(end) == delivery);
        assert!(agreed, "the walk is not that of the golden model");
    }
    for end in &found {
        let delivery = whole(end);
        let cursor = delivery.cursor;
        outcomes.push(plain(delivery, cursor));
    }
}

/// The golden model got as far as the segments.
fn walks(delivery: &Delivery, flow: &Flow) -> bool {
    let packet = &delivery.packet;
    let end = packet.position.wrapping_add(packet.payload_bytes as u32);
    match delivery.disposition {
        Disposition::PlacedInOrder
        | Disposition::PlacedAhead
        | Disposition::NoSegment
        | Disposition::RegionRefused
        | Disposition::TooManyPieces => true,
        Disposition::AheadOfWindow => end.wrapping_sub(flow.floor) < FLOW_REACH_BYTES,
        _ => false,
    }
}

/// The entry says what the golden model says, and the payload in its slow buffer is right.
fn agrees(entry: &HeaderEntry, frame: &[u8], delivery: &Delivery) -> bool {
    let mut expected = metadata(frame, delivery, h::SLOW_BUFFER_NONE);
    for field in [h::PHASE, h::TWO_SLOTS] {
        field.set(&mut expected, field.get(&entry.metadata));
    }
    if delivery.deferred.is_some() {
        h::SLOW_BUFFER.set(&mut expected, h::SLOW_BUFFER.get(&entry.metadata));
    }
    expected == entry.metadata
        && entry.header[..] == frame[..delivery.packet.header_bytes]
        && entry.deferred == delivery.deferred
}

/// How a walk through the segments ends.
#[derive(Clone)]
struct End {
    result: Result<(), Disposition>,
    first_index: u16,
    pieces: Vec<Piece>,
    start: u32,
}

impl End {
    /// The whole outcome, when the rest is that of `base`.
    fn delivery(&self, base: &Delivery, flow: &Flow, payload: &[u8]) -> Delivery {
        let mut delivery = base.clone();
        let packet = &delivery.packet;
        let trim = self.start.wrapping_sub(packet.position) as usize;
        delivery.cursor = flow.cursor;
        match self.result {
            Ok(()) => {
                let is_next = self.start == flow.cursor;
                if is_next {
                    let end = packet.position.wrapping_add(packet.payload_bytes as u32);
                    delivery.cursor = end;
                }
                delivery.disposition = match is_next {
                    true => Disposition::PlacedInOrder,
                    false => Disposition::PlacedAhead,
                };
                delivery.trimmed_bytes = trim;
                delivery.segment_index = self.first_index;
                delivery.pieces = self.pieces.clone();
                delivery.deferred = None;
            }
            Err(disposition) => {
                delivery.disposition = disposition;
                delivery.trimmed_bytes = 0;
                delivery.pieces.clear();
                delivery.segment_index = self.first_index;
                delivery.deferred = Some(payload.to_vec());
            }
        }
        delivery
    }
}

/// Rule 11 with every request free to see any state from that of the one before on.
struct Walk<'a> {
    id: u16,
    flow: &'a Flow,
    views: Vec<&'a Tables>,
}

impl Walk<'_> {
    fn start(&self, position: u32, payload: &[u8], found: &mut Vec<End>) {
        let trim = (self.flow.floor.wrapping_sub(position) as i32).max(0) as usize;
        let end = End {
            result: Ok(()),
            first_index: 0,
            pieces: Vec::new(),
            start: position.wrapping_add(trim as u32),
        };
        for at in 0..self.views.len() {
            for reply in self.replies(at, |list| list.find(end.start).map(|i| (i, list.at(i)))) {
                match reply {
                    Ok((index, Some(segment))) => {
                        let mut end = end.clone();
                        end.first_index = index;
                        self.pieces(at, segment, index, &payload[trim..], end, found);
                    }
                    Ok((_, None)) => {}
                    Err(beyond) => found.push(End {
                        result: Err(match beyond {
                            true => Disposition::AheadOfWindow,
                            false => Disposition::NoSegment,
                        }),
                        ..end.clone()
                    }),
                }
            }
        }
    }

    /// What a list says in a view. Where the flow has left, its segments may be gone or not yet.
    fn replies<T>(
        &self,
        at: usize,
        ask: impl Fn(&golden::tables::List) -> Result<T, bool>,
    ) -> Vec<Result<T, bool>> {
        match self.views[at].flow(self.id) {
            Some(flow) if flow.generation == self.flow.generation => vec![ask(&flow.lists[0])],
            _ => vec![ask(&self.flow.lists[0]), Err(true), Err(false)],
        }
    }

    /// Goes on with `rest` in a segment that was seen in view `at`.
    fn pieces(
        &self,
        at: usize,
        segment: Segment,
        index: u16,
        rest: &[u8],
        end: End,
        found: &mut Vec<End>,
    ) {
        let done: usize = end.pieces.iter().map(|piece| piece.bytes.len()).sum();
        let position = end.start.wrapping_add(done as u32);
        let within = position.wrapping_sub(segment.position);
        if rest.is_empty() {
            found.push(end);
            return;
        }
        if within >= segment.bytes {
            self.next(at, index, position, rest, end, found);
            return;
        }
        let wanted = rest.len().min((segment.bytes - within) as usize);
        let mut grants = Vec::new();
        for view in &self.views[at..] {
            let grant =
                view.translate(&segment, within.into(), wanted as u64, self.flow.domain, true);
            if !grants.contains(&grant) {
                grants.push(grant);
            }
        }
        for grant in grants {
            let mut end = end.clone();
            let Some((address, contiguous, memory)) = grant else {
                end.result = Err(Disposition::RegionRefused);
                found.push(end);
                continue;
            };
            if end.pieces.len() == PIECES_MAX {
                end.result = Err(Disposition::TooManyPieces);
                found.push(end);
                continue;
            }
            let (bytes, later) = rest.split_at(contiguous as usize);
            end.pieces.push(Piece { address, bytes: bytes.to_vec(), memory });
            self.pieces(at, segment, index, later, end, found);
        }
    }

    /// Goes on in the segment behind `index`.
    fn next(
        &self,
        at: usize,
        index: u16,
        position: u32,
        rest: &[u8],
        end: End,
        found: &mut Vec<End>,
    ) {
        let index = index.wrapping_add(1);
        let mut seen = Vec::new();
        for view in at..self.views.len() {
            for reply in self.replies(view, |list| list.at(index).ok_or(true)) {
                if seen.contains(&reply) {
                    continue;
                }
                seen.push(reply);
                let mut end = end.clone();
                match reply {
                    Ok(segment) if segment.position == position => {
                        self.pieces(view, segment, index, rest, end, found);
                        continue;
                    }
                    Ok(_) | Err(false) => end.result = Err(Disposition::NoSegment),
                    Err(true) => end.result = Err(Disposition::AheadOfWindow),
                }
                found.push(end);
            }
        }
    }
}
