//! The commands: how each is checked, in the order of the specification's table, and what it
//! changes.

use abi::command as c;
use abi::config::{FLOW_REACH_BYTES, PAGE_BITS_MAX, PAGE_BITS_MIN, SEGMENTS_BORROWED_BITS_MAX};
use abi::field::Field;
use abi::flow_key::KEY_BYTES;
use abi::reason::CommandStatus as Status;

use crate::tables::{Flow, List, Region, Segment, Tables};

fn is_known(opcode: u8) -> bool {
    matches!(opcode, c::NOP..=c::FLOW_ADVANCE | c::KEY_SET..=c::PAGE_SET)
}

impl Tables {
    /// Carries out one command of an owner. A refused command changes nothing.
    pub fn apply(&mut self, owner: u8, entry: &[u8]) -> Status {
        let opcode = c::OPCODE.get(entry) as u8;
        if !is_known(opcode) {
            return Status::BadOpcode;
        }
        if opcode >= c::PRIVILEGED_FIRST && owner != 0 {
            return Status::NotOwner;
        }
        if !self.indices_exist(opcode, entry) {
            return Status::BadIndex;
        }
        let result = match opcode {
            c::NOP => Ok(()),
            c::KEY_SET | c::KEY_CLEAR => self.key(opcode, entry),
            c::FLOW_INSTALL => self.install(entry),
            c::REGION_INSTALL => self.region(entry),
            c::REGION_REMOVE => self.remove_region(entry),
            c::PAGE_SET => self.page(entry),
            _ => self.of_flow(owner, opcode, entry),
        };
        result.err().unwrap_or(Status::Ok)
    }

    fn indices_exist(&self, opcode: u8, entry: &[u8]) -> bool {
        let config = &self.config;
        let below = |field: Field, bits: usize| field.get(entry) >> bits == 0;
        let flow = below(c::FLOW, config.flow_bits);
        match opcode {
            c::NOP => true,
            c::KEY_SET => flow && below(c::KEY_BUCKET, config.bucket_bits),
            c::KEY_CLEAR => below(c::KEY_BUCKET, config.bucket_bits),
            c::FLOW_INSTALL => flow && below(c::OWNER, config.owner_bits),
            c::SEGMENT_POST => flow && below(c::SEGMENT_REGION, config.region_bits),
            c::FLOW_ADVANCE => {
                let appends = c::APPENDS.get(entry) == 1;
                flow && (!appends || below(c::APPEND_REGION, config.region_bits))
            }
            c::REGION_INSTALL => {
                let page_bytes = 1u64 << c::REGION_PAGE_BITS.get(entry);
                let pages = c::REGION_BYTES.get(entry).div_ceil(page_bytes);
                let last = c::REGION_FIRST_PAGE.get(entry) + pages;
                below(c::REGION, config.region_bits) && last <= 1 << config.page_bits
            }
            c::REGION_REMOVE => below(c::REGION, config.region_bits),
            c::PAGE_SET => below(c::PAGE, config.page_bits),
            _ => flow,
        }
    }

    fn key(&mut self, opcode: u8, entry: &[u8]) -> Result<(), Status> {
        let bucket = c::KEY_BUCKET.get(entry);
        let slot = (c::KEY_BANK.get(entry), bucket, c::KEY_WAY.get(entry));
        self.keys.remove(&slot);
        if opcode == c::KEY_SET {
            let mut key = [0; KEY_BYTES];
            key.copy_from_slice(&entry[c::KEY_AT_BYTES..]);
            self.keys.insert(slot, (key, c::FLOW.get(entry) as u16));
        }
        Ok(())
    }

    /// An empty list at a place, if there is such a place.
    fn list_at(&self, base: u64, bits: u64) -> Result<List, Status> {
        let fits = base + (1 << bits) <= 1 << self.config.segment_bits
            && bits <= SEGMENTS_BORROWED_BITS_MAX as u64;
        let list = List { base: base as u32, bits: bits as u32, ..List::default() };
        fits.then_some(list).ok_or(Status::BadRange)
    }

    fn install(&mut self, entry: &[u8]) -> Result<(), Status> {
        let rx = self.list_at(c::RX_LIST_BASE.get(entry), c::RX_LIST_BITS.get(entry))?;
        let tx = self.list_at(c::TX_LIST_BASE.get(entry), c::TX_LIST_BITS.get(entry))?;
        let floor = c::INSTALL_FLOOR.get(entry) as u32;
        let flow = Flow {
            generation: c::GENERATION.get(entry) as u8,
            owner: c::OWNER.get(entry) as u8,
            profile: c::PROFILE.get(entry) as u8,
            timestamp_check: c::TIMESTAMP_CHECK.get(entry) == 1,
            domain: c::DOMAIN.get(entry) as u16,
            floor,
            cursor: floor,
            ack_low: c::INSTALL_ACK_LOW.get(entry) as u32,
            ack_high: c::INSTALL_ACK_HIGH.get(entry) as u32,
            timestamp_floor: c::INSTALL_TIMESTAMP_FLOOR.get(entry) as u32,
            send_floor: c::INSTALL_SEND_FLOOR.get(entry) as u32,
            lists: [rx, tx],
        };
        self.flows.insert(c::FLOW.get(entry) as u16, flow);
        Ok(())
    }

    fn region(&mut self, entry: &[u8]) -> Result<(), Status> {
        let page_bits = c::REGION_PAGE_BITS.get(entry) as usize;
        if !(PAGE_BITS_MIN..=PAGE_BITS_MAX).contains(&page_bits) {
            return Err(Status::BadRange);
        }
        let region = Region {
            key: c::REGION_KEY.get(entry) as u16,
            domain: c::REGION_DOMAIN.get(entry) as u16,
            write: c::REGION_WRITE.get(entry) == 1,
            read: c::REGION_READ.get(entry) == 1,
            memory: c::REGION_MEMORY.get(entry) as u8,
            page_bits: page_bits as u32,
            first_page: c::REGION_FIRST_PAGE.get(entry) as u16,
            bytes: c::REGION_BYTES.get(entry),
        };
        self.regions.insert(c::REGION.get(entry) as u16, region);
        Ok(())
    }

    /// Another key removes nothing, which is no error.
    fn remove_region(&mut self, entry: &[u8]) -> Result<(), Status> {
        let key = c::REGION_KEY.get(entry) as u16;
        let index = c::REGION.get(entry) as u16;
        if self.regions.get(&index).is_some_and(|r| r.key == key) {
            self.regions.remove(&index);
        }
        Ok(())
    }

    fn page(&mut self, entry: &[u8]) -> Result<(), Status> {
        let address = c::PAGE_ADDRESS.get(entry);
        if address & ((1 << PAGE_BITS_MIN) - 1) != 0 {
            return Err(Status::BadRange);
        }
        self.pages.insert(c::PAGE.get(entry) as u16, address);
        Ok(())
    }

    /// The commands that change an installed flow.
    fn of_flow(&mut self, owner: u8, opcode: u8, entry: &[u8]) -> Result<(), Status> {
        let id = c::FLOW.get(entry) as u16;
        let generation = c::GENERATION.get(entry) as u8;
        let moved = self.list_at(c::LIST_BASE.get(entry), c::LIST_BITS.get(entry));
        let flow = self.flows.get_mut(&id).ok_or(Status::BadFlow)?;
        if flow.generation != generation {
            return Err(Status::BadFlow);
        }
        if owner != 0 && flow.owner != owner {
            return Err(Status::NotOwner);
        }
        match opcode {
            c::FLOOR_SET => set_floor(flow, entry),
            c::SEND_FLOOR_SET => set_send_floor(flow, entry),
            c::SEGMENT_POST => post_segment(flow, entry),
            c::SEGMENT_TRUNCATE => truncate_segment(flow, entry),
            c::FLOW_ADVANCE => advance(flow, entry),
            c::LIST_MOVE => {
                let capacity = 1u32 << c::LIST_BITS.get(entry);
                let list = &mut flow.lists[c::DIRECTION.get(entry) as usize];
                move_list(list, moved, capacity)
            }
            _ => {
                self.flows.remove(&id);
                Ok(())
            }
        }
    }
}

fn within(condition: bool) -> Result<(), Status> {
    condition.then_some(()).ok_or(Status::BadRange)
}

/// A floor moves forward by less than the reach, and the head not past the tail.
fn can_advance(list: &List, head: u16, from: u32, to: u32) -> Result<(), Status> {
    let forward = to.wrapping_sub(from) < FLOW_REACH_BYTES;
    within(forward && head.wrapping_sub(list.head) <= list.resident_count())
}

/// Entries below the head are removed.
fn set_head(list: &mut List, head: u16) {
    while list.head != head {
        list.entries.remove(&list.head);
        list.head = list.head.wrapping_add(1);
    }
}

fn set_floor(flow: &mut Flow, entry: &[u8]) -> Result<(), Status> {
    let floor = c::FLOOR.get(entry) as u32;
    let head = c::HEAD.get(entry) as u16;
    can_advance(&flow.lists[0], head, flow.floor, floor)?;
    flow.floor = floor;
    if (flow.cursor.wrapping_sub(floor) as i32) < 0 {
        flow.cursor = floor;
    }
    flow.ack_low = c::ACK_LOW.get(entry) as u32;
    flow.ack_high = c::ACK_HIGH.get(entry) as u32;
    flow.timestamp_floor = c::TIMESTAMP_FLOOR.get(entry) as u32;
    set_head(&mut flow.lists[0], head);
    Ok(())
}

fn set_send_floor(flow: &mut Flow, entry: &[u8]) -> Result<(), Status> {
    let floor = c::FLOOR.get(entry) as u32;
    let head = c::HEAD.get(entry) as u16;
    can_advance(&flow.lists[1], head, flow.send_floor, floor)?;
    flow.send_floor = floor;
    set_head(&mut flow.lists[1], head);
    Ok(())
}

fn post_segment(flow: &mut Flow, entry: &[u8]) -> Result<(), Status> {
    let direction = c::DIRECTION.get(entry) as usize;
    let floor = [flow.floor, flow.send_floor][direction];
    let segment = Segment {
        position: c::SEGMENT_POSITION.get(entry) as u32,
        bytes: c::SEGMENT_BYTES.get(entry) as u32,
        region: c::SEGMENT_REGION.get(entry) as u16,
        region_key: c::SEGMENT_REGION_KEY.get(entry) as u16,
        offset: c::SEGMENT_OFFSET.get(entry),
    };
    let list = &mut flow.lists[direction];
    append(list, c::SEGMENT_INDEX.get(entry) as u16, segment, floor)
}

/// Both floors and heads, and at the end a segment. All of it or nothing. That there is room for
/// the segment is asked before the head moves.
fn advance(flow: &mut Flow, entry: &[u8]) -> Result<(), Status> {
    let mut after = flow.clone();
    let direction = c::APPEND_DIRECTION.get(entry) as usize;
    let appends = c::APPENDS.get(entry) == 1;
    if appends {
        let segment = Segment {
            position: c::APPEND_POSITION.get(entry) as u32,
            bytes: c::APPEND_BYTES.get(entry) as u32,
            region: c::APPEND_REGION.get(entry) as u16,
            region_key: c::APPEND_REGION_KEY.get(entry) as u16,
            offset: c::APPEND_OFFSET.get(entry),
        };
        let floors = [c::FLOOR.get(entry) as u32, c::SEND_FLOOR.get(entry) as u32];
        let index = c::APPEND_INDEX.get(entry) as u16;
        append(&mut after.lists[direction], index, segment, floors[direction])?;
    }
    // The heads lie within what was there before.
    let head = c::SEND_HEAD.get(entry) as u16;
    let floor = c::SEND_FLOOR.get(entry) as u32;
    can_advance(&flow.lists[0], c::HEAD.get(entry) as u16, flow.floor, c::FLOOR.get(entry) as u32)?;
    can_advance(&flow.lists[1], head, flow.send_floor, floor)?;
    set_floor(&mut after, entry)?;
    after.send_floor = floor;
    set_head(&mut after.lists[1], head);
    *flow = after;
    Ok(())
}

/// Appends a segment to a list, whose direction has its floor at `floor`.
fn append(list: &mut List, index: u16, segment: Segment, floor: u32) -> Result<(), Status> {
    let Segment { position, bytes, offset, .. } = segment;
    if index != list.tail || u32::from(list.resident_count()) >= 1 << list.bits {
        return Err(Status::ListFull);
    }
    let start = i64::from(position.wrapping_sub(floor) as i32);
    let reach = i64::from(FLOW_REACH_BYTES);
    within((1..=FLOW_REACH_BYTES).contains(&bytes))?;
    within(start.abs() <= reach && start + i64::from(bytes) <= reach)?;
    within(offset + u64::from(bytes) <= 1 << 48)?;
    list.entries.insert(index, segment);
    list.tail = list.tail.wrapping_add(1);
    Ok(())
}

fn truncate_segment(flow: &mut Flow, entry: &[u8]) -> Result<(), Status> {
    let bytes = c::SEGMENT_BYTES.get(entry) as u32;
    let list = &mut flow.lists[c::DIRECTION.get(entry) as usize];
    let index = c::SEGMENT_INDEX.get(entry) as u16;
    within(list.at(index).is_some_and(|held| bytes <= held.bytes))?;
    if let Some(segment) = list.entries.get_mut(&index) {
        segment.bytes = bytes;
    }
    Ok(())
}

/// The entries keep their indices; only their place among the entries of all lists changes.
fn move_list(list: &mut List, to: Result<List, Status>, capacity: u32) -> Result<(), Status> {
    if u32::from(list.resident_count()) > capacity {
        return Err(Status::ListFull);
    }
    let to = to?;
    let apart = to.base >= list.base + (1 << list.bits) || list.base >= to.base + capacity;
    within(apart || list.resident_count() == 0)?;
    list.base = to.base;
    list.bits = to.bits;
    Ok(())
}
