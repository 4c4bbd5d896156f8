//! The commands that software issues of its own accord, at random.
//!
//! Floors, segments, truncations, send floors, removals and new generations, regions removed and
//! registered again: each is issued when it comes up, whatever is on the wire.

use std::collections::HashMap;
use std::ops::Range;

use abi::command as c;
use abi::config::CardConfig;
use abi::flow_key::KEY_BYTES;
use host::control::placement::KeyTable;
use host::control::regions::Regions;
use host::records::commands::{self as cmd, Direction, Entry, FlowInstall};
use rand::rngs::SmallRng;
use rand::Rng;
use sim::card::SimulatedCard;

use crate::racing::arena::Arena;
use crate::racing::history::{Touch, GROUP_SLOTS};
use crate::racing::slots::{
    content, Phase, Posted, Slot, Transport, GENERATION_STEP, RECEIVE_BYTES, SLOTS, SLOT_BYTES,
};

/// A region with the slots that share it.
pub struct Group {
    /// Its memory.
    pub arena: Arena,
    phase: Phase,
    index: u16,
    key: u16,
}

/// What becomes true with a confirmation.
#[derive(Debug)]
pub enum Effect {
    /// These bytes of a group are the application's again.
    Back(usize, Vec<Range<usize>>),
    /// A flow has left.
    SlotGone(usize),
    /// A region has left.
    GroupGone(usize),
}

/// A command with what it changes.
pub struct Issue {
    /// The command.
    pub entry: Entry,
    /// Whose packets it can change.
    pub touch: Touch,
    /// What becomes true with its confirmation.
    pub effect: Option<Effect>,
}

/// Software's picture of the card. See the module's head.
pub struct Software {
    /// The flows.
    pub slots: Vec<Slot>,
    /// The regions.
    pub groups: Vec<Group>,
    /// Slot of a key.
    pub of_key: HashMap<[u8; KEY_BYTES], usize>,
    keys: KeyTable,
    regions: Regions,
}

impl Software {
    /// Nothing on the card yet.
    pub fn new(config: &CardConfig, keys: KeyTable, slots: Vec<Slot>, arenas: Vec<Arena>) -> Self {
        let group = |arena| Group { arena, phase: Phase::Away, index: 0, key: 0 };
        let of_key = slots.iter().enumerate().map(|(n, s)| (s.key, n)).collect();
        Software {
            slots,
            groups: arenas.into_iter().map(group).collect(),
            of_key,
            keys,
            regions: Regions::new(config.region_bits as u32, config.page_bits as u32),
        }
    }

    /// What it does next, of its own accord.
    pub fn act(&mut self, random: &mut SmallRng, card: &mut SimulatedCard) -> Vec<Issue> {
        let number = random.random_range(0..SLOTS);
        let group = number / GROUP_SLOTS;
        match (self.groups[group].phase, self.slots[number].phase) {
            (Phase::Away, _) => return self.register(group),
            (_, Phase::Away) => return self.install(number, random),
            (_, Phase::Leaving) => return Vec::new(),
            (_, Phase::There) => {}
        }
        match random.random_range(0..1000) {
            0..450 => self.post(number, Direction::Receive, random, card),
            450..650 => self.set_floor(number, random),
            650..730 => self.truncate(number, random),
            730..850 => self.post(number, Direction::Send, random, card),
            850..950 => self.set_send_floor(number, random),
            950..980 => self.remove(number, random),
            980..990 => self.deregister(group),
            _ => self.plain(cmd::page_set(0xffff, 0), Touch::All),
        }
    }

    fn plain(&self, entry: Entry, touch: Touch) -> Vec<Issue> {
        vec![Issue { entry, touch, effect: None }]
    }

    fn with(&self, entry: Entry, slot: usize, ranges: Vec<Range<usize>>) -> Vec<Issue> {
        vec![Issue {
            entry,
            touch: Touch::Slot(slot),
            effect: Some(Effect::Back(slot / GROUP_SLOTS, ranges)),
        }]
    }

    fn register(&mut self, number: usize) -> Vec<Issue> {
        let group = &mut self.groups[number];
        let Ok((region, commands)) = self.regions.register(group.arena.memory, 0) else {
            return Vec::new();
        };
        (group.phase, group.index, group.key) = (Phase::There, region.index, region.key);
        let touch = Touch::Group(number);
        commands.into_iter().flat_map(|entry| self.plain(entry, touch)).collect()
    }

    fn deregister(&mut self, number: usize) -> Vec<Issue> {
        let group = &mut self.groups[number];
        if group.phase != Phase::There {
            return Vec::new();
        }
        group.phase = Phase::Leaving;
        let entry = self.regions.removal(group.index).expect("it is there");
        // Everything of its slots goes back at once; their lists keep the segments.
        for slot in &mut self.slots[number * GROUP_SLOTS..][..GROUP_SLOTS] {
            slot.receive.end();
            slot.send.end();
        }
        vec![Issue { entry, touch: Touch::Group(number), effect: Some(Effect::GroupGone(number)) }]
    }

    fn install(&mut self, number: usize, random: &mut SmallRng) -> Vec<Issue> {
        let slot = &mut self.slots[number];
        slot.name.generation = slot.name.generation.wrapping_add(1);
        // Far from the generation before, so that its late packets are of no stream of this one.
        slot.base = slot.base.wrapping_add(GENERATION_STEP);
        (slot.receive, slot.send, slot.next) = Default::default();
        slot.phase = Phase::There;
        let mut entry = cmd::flow_install(&FlowInstall {
            name: slot.name,
            owner: 0,
            domain: 0,
            acceptance: slot.acceptance(),
            send_floor: slot.base,
            lists: [(slot.list_base, slot.list_bits); 2],
        });
        if let Transport::Profile(profile) = slot.transport {
            c::PROFILE.set(&mut entry, profile.into());
        }
        c::TIMESTAMP_CHECK.set(&mut entry, u64::from(number % 16 == 2));
        let (key, flow) = (slot.key, slot.name.flow);
        let mut issues = self.plain(entry, Touch::Slot(number));
        for entry in self.keys.insert(key, flow).expect("it fits") {
            issues.extend(self.plain(entry, Touch::All));
        }
        if random.random_bool(0.3) {
            // The key may come first: it leads to nothing then.
            issues.rotate_left(1);
        }
        issues
    }

    fn remove(&mut self, number: usize, random: &mut SmallRng) -> Vec<Issue> {
        let slot = &mut self.slots[number];
        slot.phase = Phase::Leaving;
        let mut ranges = slot.receive.end();
        ranges.extend(slot.send.end());
        let name = slot.name;
        let key = self.keys.remove(name.flow).expect("it has a key");
        let mut issues = self.plain(key, Touch::All);
        let flow = self.with(cmd::flow_remove(name), number, ranges);
        if random.random_bool(0.5) {
            issues.extend(flow);
        } else {
            issues.splice(0..0, flow);
        }
        issues.extend(vec![Issue {
            entry: [0; 64],
            touch: Touch::Slot(number),
            effect: Some(Effect::SlotGone(number)),
        }]);
        issues
    }

    fn post(
        &mut self,
        number: usize,
        direction: Direction,
        random: &mut SmallRng,
        card: &mut SimulatedCard,
    ) -> Vec<Issue> {
        let (slot, group) = (&mut self.slots[number], &mut self.groups[number / GROUP_SLOTS]);
        let capacity = 1 << slot.list_bits;
        let half = slot.half(direction);
        let held = half.tail.wrapping_sub(half.head());
        if held >= capacity && random.random_bool(0.9) {
            return Vec::new();
        }
        let part = number % GROUP_SLOTS * SLOT_BYTES;
        let (within, bytes) = match direction {
            Direction::Receive => (part..part + RECEIVE_BYTES, random.random_range(1..4000)),
            Direction::Send => {
                (part + RECEIVE_BYTES..part + SLOT_BYTES, random.random_range(1..3000))
            }
        };
        let is_stale = group.phase != Phase::There;
        let place = match is_stale {
            true => within.start..within.start + bytes,
            false => match group.arena.room(random, within, bytes) {
                Some(place) => place,
                None => return Vec::new(),
            },
        };
        let (index, start, length) = (half.tail, half.posted, bytes as u32);
        let is_refused = held >= capacity;
        if !is_refused {
            half.tail = half.tail.wrapping_add(1);
            half.posted += length;
            half.list.push_back(Posted {
                index,
                start,
                bytes: length,
                offset: place.start,
                live: if is_stale { 0..0 } else { 0..length },
            });
        }
        let segment = cmd::Segment {
            index,
            position: slot.base.wrapping_add(start),
            bytes: length,
            region: group.index,
            region_key: group.key,
            offset: place.start as u64,
        };
        if !is_stale && !is_refused {
            match direction {
                Direction::Receive => group.arena.open(place),
                Direction::Send => {
                    let bytes = content(slot.name, direction, start, length);
                    group.arena.lend(card, place, &bytes);
                }
            }
        }
        let entry = cmd::segment_post(slot.name, direction, &segment);
        self.plain(entry, Touch::Slot(number))
    }

    fn set_floor(&mut self, number: usize, random: &mut SmallRng) -> Vec<Issue> {
        let slot = &mut self.slots[number];
        let half = &mut slot.receive;
        let floor = random.random_range(half.floor..=half.posted.max(half.floor));
        let back = half.move_floor(floor, random.random_bool(0.2));
        let head = half.head();
        let entry = cmd::floor_set(slot.name, slot.acceptance(), head);
        self.with(entry, number, back)
    }

    fn set_send_floor(&mut self, number: usize, random: &mut SmallRng) -> Vec<Issue> {
        let slot = &mut self.slots[number];
        let half = &mut slot.send;
        let floor = random.random_range(half.floor..=half.posted.max(half.floor));
        let back = half.move_floor(floor, random.random_bool(0.2));
        let (position, head) = (slot.base.wrapping_add(floor), half.head());
        let entry = cmd::send_floor_set(slot.name, position, head);
        self.with(entry, number, back)
    }

    fn truncate(&mut self, number: usize, random: &mut SmallRng) -> Vec<Issue> {
        let slot = &mut self.slots[number];
        let half = &mut slot.receive;
        if half.list.is_empty() {
            return Vec::new();
        }
        let at = match random.random_bool(0.6) {
            true => half.list.len() - 1,
            false => random.random_range(0..half.list.len()),
        };
        let is_last = at == half.list.len() - 1;
        let posted = &mut half.list[at];
        let bytes = random.random_range(0..=posted.bytes);
        let from = bytes.clamp(posted.live.start, posted.live.end);
        let back = posted.offset + from as usize..posted.offset + posted.live.end as usize;
        posted.live.end = from;
        posted.bytes = bytes;
        if is_last {
            half.posted = (posted.start + bytes).max(half.floor);
        }
        let entry = cmd::segment_truncate(slot.name, posted.index, bytes);
        self.with(entry, number, vec![back])
    }

    /// A confirmation makes this true.
    pub fn apply_confirmed(&mut self, effect: Effect, pattern: u8, card: &mut SimulatedCard) {
        match effect {
            Effect::Back(group, ranges) => {
                for range in ranges.into_iter().filter(|range| !range.is_empty()) {
                    self.groups[group].arena.close(card, range, pattern);
                }
            }
            Effect::SlotGone(slot) => self.slots[slot].phase = Phase::Away,
            Effect::GroupGone(number) => {
                let group = &mut self.groups[number];
                group.phase = Phase::Away;
                let all = 0..group.arena.memory.bytes;
                group.arena.close(card, all, pattern);
                self.regions.forget(group.index);
            }
        }
    }
}
