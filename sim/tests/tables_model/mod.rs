//! What the tables must answer: plain functions on maps, with no clock. Independent of the RTL.

// Each test file uses a part of it.
#![allow(dead_code)]

pub mod bench;
pub mod traffic;

use std::collections::HashMap;

use abi::command::*;
use abi::config::CardConfig;
use abi::field::Field;
use abi::flow_key::{self, KEY_BYTES, SECRET_WORDS};
use abi::reason::CommandStatus;

/// One command as the ring holds it.
pub type Command = [u8; 64];

/// A flow's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    pub generation: u8,
    pub owner: u8,
    pub profile: u8,
    pub timestamp_check: bool,
    pub domain: u16,
    pub floor: u32,
    pub cursor: u32,
    pub ack_low: u32,
    pub ack_high: u32,
    pub timestamp_floor: u32,
    pub send_floor: u32,
}

/// A posted segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    pub position: u32,
    pub bytes: u32,
    pub region: u16,
    pub region_key: u16,
    pub offset: u64,
}

/// One flow's list of one direction: the resident segments, the first with index `head`.
#[derive(Clone, Debug, Default)]
pub struct List {
    pub base: u32,
    pub capacity: usize,
    pub head: u16,
    pub segments: std::collections::VecDeque<Segment>,
}

/// The answer to a segment request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SegmentAnswer {
    Found(u16, Segment),
    Beyond,
    Missing,
}

/// A region.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    pub key: u16,
    pub domain: u16,
    pub write: bool,
    pub read: bool,
    pub memory: u8,
    pub page_bits: u32,
    pub first_page: u64,
    pub bytes: u64,
}

/// An access to a region.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub region: u16,
    pub key: u16,
    pub domain: u16,
    pub write: bool,
    pub offset: u64,
    pub bytes: u32,
}

/// All tables.
pub struct Model {
    pub config: CardConfig,
    pub secrets: [[u32; SECRET_WORDS]; 2],
    pub keys: HashMap<(u8, u16, u8), (u16, [u8; KEY_BYTES])>,
    pub flows: HashMap<u16, Flow>,
    pub lists: [HashMap<u16, List>; 2],
    pub regions: HashMap<u16, Region>,
    pub pages: HashMap<u64, u64>,
}

fn list_fits(config: &CardConfig, base: u64, bits: u64) -> bool {
    bits <= 12 && base + (1 << bits) <= 1 << config.segment_bits
}

fn signed(difference: u32) -> i64 {
    i64::from(difference as i32)
}

impl Model {
    pub fn new(config: CardConfig, secrets: [[u32; SECRET_WORDS]; 2]) -> Model {
        Model {
            config,
            secrets,
            keys: HashMap::new(),
            flows: HashMap::new(),
            lists: Default::default(),
            regions: HashMap::new(),
            pages: HashMap::new(),
        }
    }

    /// A new epoch: nothing is valid.
    pub fn reset(&mut self) {
        *self = Model::new(self.config, self.secrets);
    }

    pub fn bucket(&self, bank: u8, key: &[u8; KEY_BYTES]) -> u16 {
        let hash = flow_key::hash(key, &self.secrets[bank as usize]);
        hash & ((1 << self.config.bucket_bits) - 1)
    }

    pub fn lookup(&self, key: &[u8; KEY_BYTES]) -> Option<(u16, Flow)> {
        let slots = (0..2u8).flat_map(|bank| (0..4u8).map(move |way| (bank, way)));
        // Of several slots with the key the highest answers.
        let (id, _) = slots
            .rev()
            .filter_map(|(bank, way)| self.keys.get(&(bank, self.bucket(bank, key), way)))
            .find(|(_, stored)| stored == key)?;
        Some((*id, self.flows.get(id)?.with_cursor()))
    }

    pub fn set_cursor(&mut self, flow: u16, cursor: u32) {
        if let Some(flow) = self.flows.get_mut(&flow) {
            flow.cursor = cursor;
        }
    }

    pub fn segment_at(&self, tx: bool, flow: u16, position: u32) -> SegmentAnswer {
        let Some(list) = self.lists[usize::from(tx)].get(&flow) else {
            return SegmentAnswer::Beyond;
        };
        let inside = |s: &Segment| {
            let ahead = signed(position.wrapping_sub(s.position));
            ahead >= 0 && ahead < i64::from(s.bytes)
        };
        if let Some(at) = list.segments.iter().position(inside) {
            let index = list.head.wrapping_add(at as u16);
            return SegmentAnswer::Found(index, list.segments[at]);
        }
        match list.segments.back() {
            None => SegmentAnswer::Beyond,
            Some(last) => {
                let end = last.position.wrapping_add(last.bytes);
                if signed(position.wrapping_sub(end)) >= 0 {
                    SegmentAnswer::Beyond
                } else {
                    SegmentAnswer::Missing
                }
            }
        }
    }

    pub fn segment_by_index(&self, tx: bool, flow: u16, index: u16) -> SegmentAnswer {
        let Some(list) = self.lists[usize::from(tx)].get(&flow) else {
            return SegmentAnswer::Beyond;
        };
        let before_head = (index.wrapping_sub(list.head) as i16) < 0;
        let index = if before_head { list.head } else { index };
        match list
            .segments
            .get(usize::from(index.wrapping_sub(list.head)))
        {
            Some(segment) => SegmentAnswer::Found(index, *segment),
            None => SegmentAnswer::Beyond,
        }
    }

    /// Bus address, contiguous bytes and memory of a granted access.
    pub fn translate(&self, access: &Access) -> Option<(u64, u32, u8)> {
        let region = self.regions.get(&access.region)?;
        let right = if access.write {
            region.write
        } else {
            region.read
        };
        let end = u128::from(access.offset) + u128::from(access.bytes);
        if region.key != access.key
            || region.domain != access.domain
            || !right
            || end > u128::from(region.bytes)
        {
            return None;
        }
        let page_bytes = 1u64 << region.page_bits;
        let page = region.first_page + access.offset / page_bytes;
        let address = self.pages.get(&page)?;
        let inside = access.offset % page_bytes;
        let bytes = u64::from(access.bytes).min(page_bytes - inside);
        Some((address + inside, bytes as u32, region.memory))
    }

    /// Carries a command out, or refuses it.
    pub fn apply(&mut self, owner: u8, command: &Command) -> CommandStatus {
        let opcode = OPCODE.get(command) as u8;
        let known = [
            NOP,
            FLOOR_SET,
            SEGMENT_POST,
            SEGMENT_TRUNCATE,
            SEND_FLOOR_SET,
            KEY_SET,
            KEY_CLEAR,
            FLOW_INSTALL,
            FLOW_REMOVE,
            LIST_MOVE,
            REGION_INSTALL,
            REGION_REMOVE,
            PAGE_SET,
        ];
        if !known.contains(&opcode) {
            return CommandStatus::BadOpcode;
        }
        if opcode >= PRIVILEGED_FIRST && owner != 0 {
            return CommandStatus::NotOwner;
        }
        if !self.indices_exist(opcode, command) {
            return CommandStatus::BadIndex;
        }
        let of_flow = [
            FLOOR_SET,
            SEGMENT_POST,
            SEGMENT_TRUNCATE,
            SEND_FLOOR_SET,
            FLOW_REMOVE,
            LIST_MOVE,
        ];
        if of_flow.contains(&opcode) {
            let Some(flow) = self.flows.get(&(FLOW.get(command) as u16)) else {
                return CommandStatus::BadFlow;
            };
            if u64::from(flow.generation) != GENERATION.get(command) {
                return CommandStatus::BadFlow;
            }
            if owner != 0 && owner != flow.owner {
                return CommandStatus::NotOwner;
            }
        }
        match opcode {
            NOP => CommandStatus::Ok,
            KEY_SET | KEY_CLEAR => self.change_key(opcode, command),
            FLOW_INSTALL => self.install(command),
            FLOW_REMOVE => {
                self.flows.remove(&(FLOW.get(command) as u16));
                CommandStatus::Ok
            }
            REGION_INSTALL | REGION_REMOVE | PAGE_SET => self.change_region(opcode, command),
            _ => self.change_list(opcode, command),
        }
    }

    fn indices_exist(&self, opcode: u8, command: &Command) -> bool {
        let c = &self.config;
        let below = |field: &Field, bits: usize| field.get(command) < 1 << bits;
        let flow = below(&FLOW, c.flow_bits);
        match opcode {
            NOP => true,
            KEY_SET => flow && below(&KEY_BUCKET, c.bucket_bits),
            KEY_CLEAR => below(&KEY_BUCKET, c.bucket_bits),
            SEGMENT_POST => flow && below(&SEGMENT_REGION, c.region_bits),
            REGION_INSTALL => {
                let page_bytes = 1u64 << REGION_PAGE_BITS.get(command);
                let pages = REGION_BYTES.get(command).div_ceil(page_bytes);
                below(&REGION, c.region_bits)
                    && REGION_FIRST_PAGE.get(command) + pages <= 1 << c.page_bits
            }
            REGION_REMOVE => below(&REGION, c.region_bits),
            PAGE_SET => below(&PAGE, c.page_bits),
            _ => flow,
        }
    }

    fn change_key(&mut self, opcode: u8, command: &Command) -> CommandStatus {
        let slot = (
            KEY_BANK.get(command) as u8,
            KEY_BUCKET.get(command) as u16,
            KEY_WAY.get(command) as u8,
        );
        self.keys.remove(&slot);
        if opcode == KEY_SET {
            let key = command[KEY_AT_BYTES..].try_into().unwrap();
            self.keys.insert(slot, (FLOW.get(command) as u16, key));
        }
        CommandStatus::Ok
    }

    fn install(&mut self, command: &Command) -> CommandStatus {
        let fits = |base: Field, bits: Field| {
            list_fits(&self.config, base.get(command), bits.get(command))
        };
        if !fits(RX_LIST_BASE, RX_LIST_BITS) || !fits(TX_LIST_BASE, TX_LIST_BITS) {
            return CommandStatus::BadRange;
        }
        let id = FLOW.get(command) as u16;
        let word = |field: Field| field.get(command) as u32;
        self.flows.insert(
            id,
            Flow {
                generation: GENERATION.get(command) as u8,
                owner: OWNER.get(command) as u8,
                profile: PROFILE.get(command) as u8,
                timestamp_check: TIMESTAMP_CHECK.get(command) == 1,
                domain: DOMAIN.get(command) as u16,
                floor: word(INSTALL_FLOOR),
                cursor: word(INSTALL_FLOOR),
                ack_low: word(INSTALL_ACK_LOW),
                ack_high: word(INSTALL_ACK_HIGH),
                timestamp_floor: word(INSTALL_TIMESTAMP_FLOOR),
                send_floor: word(INSTALL_SEND_FLOOR),
            },
        );
        let list = |base: Field, bits: Field| List {
            base: base.get(command) as u32,
            capacity: 1 << bits.get(command),
            ..List::default()
        };
        self.lists[0].insert(id, list(RX_LIST_BASE, RX_LIST_BITS));
        self.lists[1].insert(id, list(TX_LIST_BASE, TX_LIST_BITS));
        CommandStatus::Ok
    }

    fn change_region(&mut self, opcode: u8, command: &Command) -> CommandStatus {
        let id = REGION.get(command) as u16;
        match opcode {
            REGION_REMOVE => {
                let key = REGION_KEY.get(command) as u16;
                if self
                    .regions
                    .get(&id)
                    .is_some_and(|region| region.key == key)
                {
                    self.regions.remove(&id);
                }
            }
            PAGE_SET => {
                let address = PAGE_ADDRESS.get(command);
                if !address.is_multiple_of(4096) {
                    return CommandStatus::BadRange;
                }
                self.pages.insert(PAGE.get(command), address);
            }
            _ => {
                let page_bits = REGION_PAGE_BITS.get(command) as u32;
                if !(12..=30).contains(&page_bits) {
                    return CommandStatus::BadRange;
                }
                let region = Region {
                    key: REGION_KEY.get(command) as u16,
                    domain: REGION_DOMAIN.get(command) as u16,
                    write: REGION_WRITE.get(command) == 1,
                    read: REGION_READ.get(command) == 1,
                    memory: REGION_MEMORY.get(command) as u8,
                    page_bits,
                    first_page: REGION_FIRST_PAGE.get(command),
                    bytes: REGION_BYTES.get(command),
                };
                self.regions.insert(id, region);
            }
        }
        CommandStatus::Ok
    }

    fn change_list(&mut self, opcode: u8, command: &Command) -> CommandStatus {
        let id = FLOW.get(command) as u16;
        let tx = match opcode {
            FLOOR_SET => false,
            SEND_FLOOR_SET => true,
            _ => DIRECTION.get(command) == 1,
        };
        let flow = self.flows.get_mut(&id).expect("checked by the caller");
        let list = self.lists[usize::from(tx)].get_mut(&id).expect("installed");
        let floor = if tx { flow.send_floor } else { flow.floor };
        match opcode {
            FLOOR_SET | SEND_FLOOR_SET => {
                let new = FLOOR.get(command) as u32;
                let gone = (HEAD.get(command) as u16).wrapping_sub(list.head);
                if new.wrapping_sub(floor) >= 1 << 30 || usize::from(gone) > list.segments.len() {
                    return CommandStatus::BadRange;
                }
                list.head = list.head.wrapping_add(gone);
                list.segments.drain(..usize::from(gone));
                if tx {
                    flow.send_floor = new;
                } else {
                    flow.cursor = flow.with_cursor().cursor;
                    flow.floor = new;
                    flow.ack_low = ACK_LOW.get(command) as u32;
                    flow.ack_high = ACK_HIGH.get(command) as u32;
                    flow.timestamp_floor = TIMESTAMP_FLOOR.get(command) as u32;
                    flow.cursor = flow.with_cursor().cursor;
                }
                CommandStatus::Ok
            }
            SEGMENT_POST => list.post(command, floor),
            SEGMENT_TRUNCATE => {
                let at = (SEGMENT_INDEX.get(command) as u16).wrapping_sub(list.head);
                let bytes = SEGMENT_BYTES.get(command) as u32;
                match list.segments.get_mut(usize::from(at)) {
                    Some(segment) if bytes <= segment.bytes => {
                        segment.bytes = bytes;
                        CommandStatus::Ok
                    }
                    _ => CommandStatus::BadRange,
                }
            }
            _ => {
                let (base, bits) = (LIST_BASE.get(command), LIST_BITS.get(command));
                list.move_to(
                    base as u32,
                    bits as usize,
                    list_fits(&self.config, base, bits),
                )
            }
        }
    }
}

impl Flow {
    /// The flow with the cursor lifted to the floor when the floor was moved past it.
    fn with_cursor(mut self) -> Flow {
        if signed(self.cursor.wrapping_sub(self.floor)) < 0 {
            self.cursor = self.floor;
        }
        self
    }
}

impl List {
    pub fn tail(&self) -> u16 {
        self.head.wrapping_add(self.segments.len() as u16)
    }

    fn post(&mut self, command: &Command, floor: u32) -> CommandStatus {
        let index = SEGMENT_INDEX.get(command) as u16;
        if index != self.tail() || self.segments.len() >= self.capacity {
            return CommandStatus::ListFull;
        }
        let position = SEGMENT_POSITION.get(command) as u32;
        let bytes = SEGMENT_BYTES.get(command);
        let start = signed(position.wrapping_sub(floor));
        let reach = 1 << 30;
        if !(1..=1 << 30).contains(&bytes) || start.abs() > reach || start + bytes as i64 > reach {
            return CommandStatus::BadRange;
        }
        self.segments.push_back(Segment {
            position,
            bytes: bytes as u32,
            region: SEGMENT_REGION.get(command) as u16,
            region_key: SEGMENT_REGION_KEY.get(command) as u16,
            offset: SEGMENT_OFFSET.get(command),
        });
        CommandStatus::Ok
    }

    fn move_to(&mut self, base: u32, bits: usize, fits: bool) -> CommandStatus {
        let capacity = 1usize << bits;
        if self.segments.len() > capacity {
            return CommandStatus::ListFull;
        }
        let overlap = u64::from(base) < u64::from(self.base) + self.capacity as u64
            && u64::from(self.base) < u64::from(base) + capacity as u64;
        if !fits || (overlap && !self.segments.is_empty()) {
            return CommandStatus::BadRange;
        }
        self.base = base;
        self.capacity = capacity;
        CommandStatus::Ok
    }
}
