//! Random commands that mostly succeed, and questions that mostly hit, drawn from the model.
//!
//! Lists of different flows never share entries, and positions in a list ascend: that is the host's
//! duty, which the tables rely on.

use abi::command::*;
use abi::flow_key::KEY_BYTES;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use sim::coverage::Coverage;

use super::bench::command;
use super::{floor_of, list_of, segments_of, Access, Command, Model};

/// A segment reaches so far above its floor, and begins so far below it.
const REACH: u32 = 1 << 30;

/// What the commands must draw, beside what is between.
pub const DRAWN: [&str; 32] = [
    "bucket beyond",
    "bucket of the key",
    "floor back",
    "floor by 2^30",
    "floor by 2^30 - 1",
    "floor forward",
    "floor of an install, anywhere",
    "floor of an install, near the wrap",
    "floor stays",
    "head beyond the tail",
    "head in the list",
    "list anywhere",
    "list beyond all entries",
    "list of 2^13",
    "page address aligned",
    "page address odd",
    "page beyond",
    "page last",
    "page of others",
    "region beyond",
    "region last",
    "region of others",
    "segment anywhere",
    "segment beyond 2^48 of its region",
    "segment ends 2^30 + 1 above the floor",
    "segment ends 2^30 above the floor",
    "segment ends at 2^48 of its region",
    "segment of 0",
    "segment of 2^28",
    "segment of 2^30",
    "segment of 2^30 + 1",
    "segment starts 2^31 away",
];

/// The source of all choices.
pub struct Traffic {
    pub random: SmallRng,
    pub keys: Vec<[u8; KEY_BYTES]>,
    /// What was drawn.
    pub drawn: Coverage,
}

/// The places that a flow's list may have: committed, borrowed, and for two flows a long one.
pub fn places(flow: u16) -> Vec<(u64, u64)> {
    let flow = u64::from(flow);
    let mut places = vec![(8 * flow, 3), (8 * flow, 2), (512 + 32 * flow, 5)];
    if flow < 2 {
        places.push((2560 + 512 * flow, 9));
    }
    places
}

impl Traffic {
    pub fn new(seed: u64) -> Traffic {
        let mut random = SmallRng::seed_from_u64(seed);
        let keys = (0..96).map(|_| random_key(&mut random)).collect();
        let drawn = Coverage::default();
        Traffic { random, keys, drawn }
    }

    fn rarely(&mut self) -> bool {
        self.random.random_ratio(1, 40)
    }

    /// A flow, mostly an installed one.
    pub fn flow(&mut self, model: &Model) -> u16 {
        let mut installed: Vec<u16> = model.flows.keys().copied().collect();
        installed.sort_unstable();
        match installed.choose(&mut self.random) {
            Some(flow) if !self.random.random_ratio(1, 10) => *flow,
            _ => self.random.random_range(0..16),
        }
    }

    pub fn command(&mut self, model: &Model) -> Command {
        let weights: [(u8, u32); 15] = [
            (NOP, 1),
            (FLOOR_SET, 8),
            (SEGMENT_POST, 16),
            (SEGMENT_TRUNCATE, 3),
            (SEND_FLOOR_SET, 5),
            (FLOW_ADVANCE, 12),
            (KEY_SET, 6),
            (KEY_CLEAR, 1),
            (FLOW_INSTALL, 3),
            (FLOW_REMOVE, 1),
            (LIST_MOVE, 3),
            (REGION_INSTALL, 4),
            (REGION_REMOVE, 1),
            (PAGE_SET, 6),
            (99, 1),
        ];
        let opcode = weights.choose_weighted(&mut self.random, |(_, weight)| *weight).unwrap().0;
        let flow = self.flow(model);
        let mut fields = match opcode {
            FLOOR_SET | SEND_FLOOR_SET => self.floor(opcode, flow, model),
            SEGMENT_POST => self.post(flow, model),
            FLOW_ADVANCE => self.advance(flow, model),
            SEGMENT_TRUNCATE => self.truncate(flow, model),
            KEY_SET | KEY_CLEAR => return self.key(opcode, flow, model),
            FLOW_INSTALL => self.install(flow),
            LIST_MOVE => self.list_move(flow),
            REGION_INSTALL | REGION_REMOVE | PAGE_SET => self.region(opcode),
            _ => Vec::new(),
        };
        if (FLOOR_SET..=FLOW_ADVANCE).contains(&opcode) || opcode >= FLOW_INSTALL {
            let known = model.flows.get(&flow).map_or(3, |flow| flow.generation);
            let wrong = opcode == FLOW_INSTALL || self.rarely();
            let generation = if wrong { self.random.random() } else { known };
            let flow = flow + 64 * u16::from(self.rarely());
            fields.push((GENERATION, generation.into()));
            fields.push((FLOW, flow.into()));
        }
        command(opcode, &fields)
    }

    fn install(&mut self, flow: u16) -> Vec<(abi::field::Field, u64)> {
        let r = &mut self.random;
        let rx = *places(flow).choose(r).unwrap();
        let tx = *places(flow).choose(r).unwrap();
        let (floor, drawn) = match r.random() {
            true => (u32::MAX - r.random_range(0..9_000), "near the wrap"),
            false => (r.random(), "anywhere"),
        };
        self.drawn.count_of("floor of an install,", drawn);
        let mut fields = vec![
            (OWNER, r.random_range(0..4) + 4 * u64::from(r.random_ratio(1, 40))),
            (PROFILE, r.random_range(0..4)),
            (TIMESTAMP_CHECK, r.random_range(0..2)),
            (DOMAIN, r.random_range(0..3)),
            (INSTALL_FLOOR, floor.into()),
            (INSTALL_ACK_LOW, r.random::<u32>().into()),
            (INSTALL_ACK_HIGH, r.random::<u32>().into()),
            (INSTALL_TIMESTAMP_FLOOR, r.random::<u32>().into()),
            (INSTALL_SEND_FLOOR, r.random::<u32>().into()),
            (RX_LIST_BASE, rx.0),
            (RX_LIST_BITS, rx.1),
            (TX_LIST_BASE, tx.0),
            (TX_LIST_BITS, tx.1),
        ];
        if self.rarely() {
            fields[9].1 = 4090;
            fields[10].1 = 3;
        }
        if self.rarely() {
            fields[12].1 = 13;
        }
        fields
    }

    fn floor(&mut self, opcode: u8, flow: u16, model: &Model) -> Vec<(abi::field::Field, u64)> {
        let tx = opcode == SEND_FLOOR_SET;
        let floor = floor_of(model, tx, flow);
        let list = list_of(model, tx, flow);
        let (step, drawn) = match self.random.random_range(0..32) {
            0 => (REACH, "by 2^30"),
            1 => (REACH - 1, "by 2^30 - 1"),
            2 => (u32::MAX, "back"),
            3 => (0, "stays"),
            _ => (self.random.random_range(1..20_000), "forward"),
        };
        self.drawn.count_of("floor", drawn);
        let past = usize::from(self.rarely());
        let drawn = if past == 1 { "beyond the tail" } else { "in the list" };
        self.drawn.count_of("head", drawn);
        let held = usize::from(list.resident_count());
        let head = self.random.random_range(0..=held / 2 + past) + past * held;
        vec![
            (FLOOR, floor.wrapping_add(step).into()),
            (ACK_LOW, self.random.random::<u32>().into()),
            (ACK_HIGH, self.random.random::<u32>().into()),
            (TIMESTAMP_FLOOR, self.random.random::<u32>().into()),
            (HEAD, list.head.wrapping_add(head as u16).into()),
        ]
    }

    fn post(&mut self, flow: u16, model: &Model) -> Vec<(abi::field::Field, u64)> {
        let tx = self.random.random::<bool>();
        let list = list_of(model, tx, flow);
        let floor = floor_of(model, tx, flow);
        let gap = if self.random.random_ratio(1, 4) { self.random.random_range(0..50) } else { 0 };
        let last = list.at(list.tail.wrapping_sub(1));
        let start = last.map_or(floor, |s| s.position.wrapping_add(s.bytes));
        let mut position = start.wrapping_add(gap);
        let mut bytes = self.random.random_range(1..3_000);
        let mut offset = self.random.random::<u64>() >> self.random.random_range(16..40);
        let end_at = |end: u32, bytes: u64| floor.wrapping_add(end).wrapping_sub(bytes as u32);
        // A list spans less than half of all positions: the host passes what it is done with.
        let drawn = match self.random.random_range(0..45) {
            5 if list.resident_count() > 0 => 6,
            9..=11 if list.resident_count() == 0 => 5,
            drawn => drawn,
        };
        match drawn {
            0 => bytes = 0,
            1 => bytes = REACH.into(),
            2 => bytes = u64::from(REACH) + 1,
            3 => position = floor.wrapping_add(1 << 31),
            4 => bytes = 1 << 28,
            5 => position = end_at(REACH, bytes),
            6 => position = end_at(REACH + 1, bytes),
            7 => offset = (1 << 48) - bytes,
            // Of one byte there is no offset of 48 bits from which it would go beyond them.
            8 => {
                bytes = bytes.max(2);
                offset = (1 << 48) - bytes + 1;
            }
            _ => {}
        }
        let drawn = match drawn {
            0 => "of 0",
            1 => "of 2^30",
            2 => "of 2^30 + 1",
            3 => "starts 2^31 away",
            4 => "of 2^28",
            5 => "ends 2^30 above the floor",
            6 => "ends 2^30 + 1 above the floor",
            7 => "ends at 2^48 of its region",
            8 => "beyond 2^48 of its region",
            _ => "anywhere",
        };
        self.drawn.count_of("segment", drawn);
        let index = list.tail.wrapping_add(u16::from(self.rarely()));
        vec![
            (DIRECTION, tx.into()),
            (SEGMENT_INDEX, index.into()),
            (SEGMENT_POSITION, position.into()),
            (SEGMENT_BYTES, bytes),
            (SEGMENT_REGION, if self.rarely() { 64 } else { self.random.random_range(0..64) }),
            (SEGMENT_REGION_KEY, self.random.random::<u16>().into()),
            (SEGMENT_OFFSET, offset),
        ]
    }

    /// Both floors, and mostly a segment, as the commands of their own have them.
    fn advance(&mut self, flow: u16, model: &Model) -> Vec<(abi::field::Field, u64)> {
        let mut fields = self.floor(FLOOR_SET, flow, model);
        // A list spans less than half of all positions.
        let floor = floor_of(model, false, flow);
        if fields[0].1 == u64::from(floor.wrapping_add(REACH - 1)) {
            fields[0].1 = floor.into();
        }
        for (field, value) in self.floor(SEND_FLOOR_SET, flow, model) {
            match field.name {
                "floor" => {
                    let floor = floor_of(model, true, flow);
                    let is_far = value == u64::from(floor.wrapping_add(REACH - 1));
                    fields.push((SEND_FLOOR, if is_far { floor.into() } else { value }));
                }
                "head" => fields.push((SEND_HEAD, value)),
                _ => {}
            }
        }
        fields.push((APPENDS, u64::from(self.random.random_ratio(4, 5))));
        let post = self.post(flow, model);
        // What is too far from the floor may not be from the one that comes with it: a segment
        // follows the last one.
        let list = list_of(model, post[0].1 == 1, flow);
        let last = list.at(list.tail.wrapping_sub(1));
        let next = last.map(|last| last.position.wrapping_add(last.bytes));
        for (field, mut value) in post {
            if let Some(next) = next.filter(|_| field.name == "segment_position") {
                let gap = (value as u32).wrapping_sub(next);
                value = if gap < 64 { value } else { next.into() };
            }
            let field = match field.name {
                "direction" => APPEND_DIRECTION,
                "segment_index" => APPEND_INDEX,
                "segment_position" => APPEND_POSITION,
                "segment_bytes" => APPEND_BYTES,
                "segment_region" => APPEND_REGION,
                "segment_region_key" => APPEND_REGION_KEY,
                _ => APPEND_OFFSET,
            };
            fields.push((field, value));
        }
        fields
    }

    fn truncate(&mut self, flow: u16, model: &Model) -> Vec<(abi::field::Field, u64)> {
        let tx = self.random.random::<bool>();
        let list = list_of(model, tx, flow);
        let at = self.random.random_range(0..=list.resident_count());
        let index = list.head.wrapping_add(at);
        let bytes = list.at(index).map_or(1, |segment| segment.bytes);
        vec![
            (DIRECTION, tx.into()),
            (SEGMENT_INDEX, index.into()),
            (SEGMENT_BYTES, self.random.random_range(0..=bytes + bytes / 8).into()),
        ]
    }

    fn key(&mut self, opcode: u8, flow: u16, model: &Model) -> Command {
        let key = *self.keys.choose(&mut self.random).unwrap();
        let bank = self.random.random_range(0..2);
        let beyond = 32 * u64::from(self.random.random_ratio(1, 16));
        let drawn = if beyond > 0 { "beyond" } else { "of the key" };
        self.drawn.count_of("bucket", drawn);
        let fields = [
            (FLOW, flow.into()),
            (KEY_BANK, bank),
            (KEY_BUCKET, model.bucket(bank, &key) + beyond),
            (KEY_WAY, self.random.random_range(0..4)),
        ];
        let mut entry = command(opcode, &fields);
        entry[KEY_AT_BYTES..].copy_from_slice(&key);
        entry
    }

    fn list_move(&mut self, flow: u16) -> Vec<(abi::field::Field, u64)> {
        let (base, bits) = *places(flow).choose(&mut self.random).unwrap();
        let (base, bits, drawn) = match self.random.random_range(0..8) {
            0 => (4090, 3, "beyond all entries"),
            1 => (0, 13, "of 2^13"),
            _ => (base, bits, "anywhere"),
        };
        self.drawn.count_of("list", drawn);
        vec![(DIRECTION, self.random.random_range(0..2)), (LIST_BASE, base), (LIST_BITS, bits)]
    }

    fn region(&mut self, opcode: u8) -> Vec<(abi::field::Field, u64)> {
        let r = &mut self.random;
        let page_bits = r.random_range(11..=31);
        let pages = r.random_range(0..12u64);
        let bytes = (pages << page_bits).saturating_sub(r.random_range(0..5_000));
        if opcode == PAGE_SET {
            let address = r.random::<u64>() & !((1 << 30) - 1);
            let low = u64::from(r.random_ratio(1, 12));
            let page = index_of_64(r);
            let drawn = ["aligned", "odd"][low as usize];
            self.drawn.count_of("page address", drawn);
            self.drawn.count_of("page", class(page));
            return vec![(PAGE, page), (PAGE_ADDRESS, address | low)];
        }
        let region = index_of_64(r);
        self.drawn.count_of("region", class(region));
        vec![
            (REGION, region),
            (REGION_KEY, r.random_range(0..3)),
            (REGION_DOMAIN, r.random_range(0..3)),
            (REGION_WRITE, u64::from(r.random_ratio(4, 5))),
            (REGION_READ, u64::from(r.random_ratio(4, 5))),
            (REGION_MEMORY, r.random_range(0..4)),
            (REGION_PAGE_BITS, page_bits),
            (REGION_FIRST_PAGE, r.random_range(0..60)),
            (REGION_BYTES, bytes),
        ]
    }

    /// A position at or around the edges of a flow's segments.
    pub fn position(&mut self, tx: bool, flow: u16, model: &Model) -> u32 {
        let list = list_of(model, tx, flow);
        let segments = segments_of(&list);
        let floor = floor_of(model, tx, flow);
        let Some(segment) = segments.choose(&mut self.random) else {
            return floor;
        };
        let inside = self.random.random_range(0..=segment.bytes);
        let edge = [0, segment.bytes, segment.bytes.wrapping_sub(1), u32::MAX, inside];
        segment.position.wrapping_add(*edge.choose(&mut self.random).unwrap())
    }

    /// An access around the edges of a region and its pages.
    pub fn access(&mut self, model: &Model) -> Access {
        let mut installed: Vec<u16> = model.regions.keys().copied().collect();
        installed.sort_unstable();
        let r = &mut self.random;
        let id = match installed.choose(r) {
            Some(id) if !r.random_ratio(1, 20) => *id,
            _ => r.random_range(0..70),
        };
        let (key, domain, end, page_bits) = model
            .regions
            .get(&id)
            .map_or((0, 0, 9, 12), |g| (g.key, g.domain, g.bytes, g.page_bits));
        let page = 1u64 << page_bits;
        let offset = match r.random_range(0..6) {
            // Inside but for one high bit, and around the last offset of all.
            4 => r.random_range(0..=end) | 1 << r.random_range(30..48),
            5 => (1 << 48) - r.random_range(1..9_000),
            0 => r.random_range(0..=end),
            1 => end.saturating_sub(r.random_range(0..3_000)),
            2 => (r.random_range(0..=end) & !(page - 1)).saturating_sub(r.random_range(0..200)),
            _ => r.random::<u64>() >> r.random_range(16..50),
        };
        let whole = end.saturating_sub(offset).clamp(1, 1 << 30) as u32;
        let few = r.random_range(1..9_000);
        let bytes = *[whole, (whole + 1).min(1 << 30), few, few].choose(r).unwrap();
        Access {
            region: id,
            key: key ^ u16::from(r.random_ratio(1, 20)),
            domain: domain ^ u16::from(r.random_ratio(1, 20)),
            write: r.random(),
            offset,
            bytes,
        }
    }
}

/// An index of a table of 64, often its last one or one beyond.
fn index_of_64(random: &mut SmallRng) -> u64 {
    match random.random_range(0..12) {
        0 => 63,
        1 => random.random_range(64..66),
        _ => random.random_range(0..64),
    }
}

/// Where an index lies in a table of 64.
fn class(index: u64) -> &'static str {
    match index {
        0..63 => "of others",
        63 => "last",
        _ => "beyond",
    }
}

pub fn random_key(random: &mut SmallRng) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    random.fill(&mut key[..]);
    key
}
