//! The card's state and the commands that change it.

use std::collections::HashMap;

use abi::command as c;
use abi::config::{
    CardConfig, BUCKET_WAYS, FLOW_BANKS, FLOW_REACH_BYTES, PAGE_BITS_MAX, PAGE_BITS_MIN,
};
use abi::flow_key::{hash, KEY_BYTES, SECRET_WORDS};
use abi::reason::CommandStatus as Status;

use crate::packet::Profile;

/// One segment of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Stream position of the first byte.
    pub position: u32,
    /// Length.
    pub bytes: u32,
    /// Region index.
    pub region: u16,
    /// Region key.
    pub region_key: u16,
    /// Offset in the region.
    pub offset: u64,
}

/// A flow's list: a ring of entries, indices modulo 2^16.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// Entries that fit, log2.
    pub bits: u32,
    /// First index in use.
    pub head: u16,
    /// First index not in use.
    pub tail: u16,
    entries: HashMap<u16, Segment>,
}

impl List {
    /// The entry at an index.
    pub fn at(&self, index: u16) -> Option<Segment> {
        let held = index.wrapping_sub(self.head) < self.tail.wrapping_sub(self.head);
        self.entries.get(&index).copied().filter(|_| held)
    }

    /// The index of the entry that holds a position; `Err(true)` when it lies beyond the list.
    pub fn find(&self, position: u32) -> Result<u16, bool> {
        let mut index = self.head;
        let mut beyond = true;
        while index != self.tail {
            if let Some(segment) = self.at(index) {
                let ahead = position.wrapping_sub(segment.position) as i32;
                if ahead >= 0 && (ahead as u32) < segment.bytes {
                    return Ok(index);
                }
                beyond = ahead >= 0 && ahead as u32 >= segment.bytes;
            }
            index = index.wrapping_add(1);
        }
        Err(beyond)
    }

    /// Moves the head on; what lies before it is gone.
    fn drop_before(&mut self, head: u16) {
        while self.head != head {
            self.entries.remove(&self.head);
            self.head = self.head.wrapping_add(1);
        }
    }
}

/// A flow entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Generation.
    pub generation: u8,
    /// Owner.
    pub owner: u8,
    /// Header profile.
    pub profile: u8,
    /// A timestamp is demanded.
    pub timestamp_check: bool,
    /// Protection domain.
    pub domain: u16,
    /// Receive floor.
    pub floor: u32,
    /// Next in-order byte.
    pub cursor: u32,
    /// Lowest ACK number.
    pub ack_low: u32,
    /// Highest ACK number.
    pub ack_high: u32,
    /// Timestamp floor.
    pub timestamp_floor: u32,
    /// Send floor.
    pub send_floor: u32,
    /// Receive and send list.
    pub lists: [List; 2],
}

/// A region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    key: u16,
    domain: u16,
    write: bool,
    read: bool,
    memory: u8,
    page_bits: u32,
    first_page: u16,
    bytes: u64,
}

/// Where an access goes: bus address, contiguous bytes, memory.
pub type Grant = (u64, u64, u8);

/// All tables of the card in one epoch.
#[derive(Clone, Debug)]
pub struct Tables {
    config: CardConfig,
    /// Hash secrets of both banks.
    pub secrets: [[u32; SECRET_WORDS]; FLOW_BANKS],
    /// Header profiles.
    pub profiles: [Profile; 4],
    keys: HashMap<(u64, u64, u64), ([u8; KEY_BYTES], u16)>,
    flows: HashMap<u16, Flow>,
    regions: HashMap<u16, Region>,
    pages: HashMap<u16, u64>,
}

impl Tables {
    /// Empty tables of a configuration.
    pub fn new(config: CardConfig) -> Tables {
        Tables {
            config,
            secrets: [[0; SECRET_WORDS]; FLOW_BANKS],
            profiles: [Profile::default(); 4],
            keys: HashMap::new(),
            flows: HashMap::new(),
            regions: HashMap::new(),
            pages: HashMap::new(),
        }
    }

    /// A new epoch: nothing stays valid, settings stay.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.flows.clear();
        self.regions.clear();
        self.pages.clear();
    }

    /// Takes regions and pages over from tables of another moment: for an access that was checked
    /// later than the flow was looked up.
    pub fn adopt_regions(&mut self, other: &Tables) {
        self.regions.clone_from(&other.regions);
        self.pages.clone_from(&other.pages);
    }

    /// The flow that a key leads to.
    pub fn lookup(&self, key: &[u8; KEY_BYTES]) -> Option<u16> {
        let mask = (1u64 << self.config.bucket_bits) - 1;
        for bank in 0..FLOW_BANKS as u64 {
            let bucket = u64::from(hash(key, &self.secrets[bank as usize])) & mask;
            for way in 0..BUCKET_WAYS as u64 {
                if let Some((stored, flow)) = self.keys.get(&(bank, bucket, way)) {
                    if stored == key && self.flows.contains_key(flow) {
                        return Some(*flow);
                    }
                }
            }
        }
        None
    }

    /// A valid flow.
    pub fn flow(&self, flow: u16) -> Option<&Flow> {
        self.flows.get(&flow)
    }

    /// A valid flow, to move its cursor.
    pub fn flow_mut(&mut self, flow: u16) -> Option<&mut Flow> {
        self.flows.get_mut(&flow)
    }

    /// Checks and translates an access of `bytes` bytes.
    pub fn translate(
        &self,
        segment: &Segment,
        offset: u64,
        bytes: u64,
        domain: u16,
        write: bool,
    ) -> Option<Grant> {
        let region = self.regions.get(&segment.region)?;
        let right = if write { region.write } else { region.read };
        let at = segment.offset + offset;
        let inside = at.checked_add(bytes).is_some_and(|end| end <= region.bytes);
        if region.key != segment.region_key || region.domain != domain || !right || !inside {
            return None;
        }
        let page = region
            .first_page
            .wrapping_add((at >> region.page_bits) as u16);
        let within = at & ((1 << region.page_bits) - 1);
        let address = self.pages.get(&page).copied().unwrap_or(0) + within;
        Some((
            address,
            bytes.min((1 << region.page_bits) - within),
            region.memory,
        ))
    }

    /// Carries out one command of an owner.
    pub fn apply(&mut self, owner: u8, entry: &[u8]) -> Status {
        let opcode = c::OPCODE.get(entry) as u8;
        let flow = c::FLOW.get(entry);
        let known = matches!(opcode, c::NOP..=c::SEND_FLOOR_SET | c::KEY_SET..=c::PAGE_SET);
        if !known {
            return Status::BadOpcode;
        }
        if opcode >= c::PRIVILEGED_FIRST && owner != 0 {
            return Status::NotOwner;
        }
        if flow >> self.config.flow_bits != 0 {
            return Status::BadIndex;
        }
        match opcode {
            c::NOP => Status::Ok,
            c::KEY_SET | c::KEY_CLEAR => self.key(entry),
            c::FLOW_INSTALL => self.install(entry),
            c::REGION_INSTALL | c::REGION_REMOVE => self.region(entry),
            c::PAGE_SET => self.page(entry),
            _ => self.of_flow(owner, opcode, entry),
        }
    }

    fn key(&mut self, entry: &[u8]) -> Status {
        let bucket = c::KEY_BUCKET.get(entry);
        if bucket >> self.config.bucket_bits != 0 {
            return Status::BadIndex;
        }
        let slot = (c::KEY_BANK.get(entry), bucket, c::KEY_WAY.get(entry));
        if c::OPCODE.get(entry) == u64::from(c::KEY_CLEAR) {
            self.keys.remove(&slot);
        } else {
            let mut key = [0; KEY_BYTES];
            key.copy_from_slice(&entry[c::KEY_AT_BYTES..]);
            self.keys.insert(slot, (key, c::FLOW.get(entry) as u16));
        }
        Status::Ok
    }

    fn install(&mut self, entry: &[u8]) -> Status {
        if c::OWNER.get(entry) >> self.config.owner_bits != 0 {
            return Status::BadIndex;
        }
        let list = |base: abi::field::Field, bits: abi::field::Field| {
            let (base, bits) = (base.get(entry), bits.get(entry));
            let fits = base + (1 << bits) <= 1 << self.config.segment_bits && bits <= 12;
            fits.then(|| List {
                bits: bits as u32,
                ..List::default()
            })
        };
        let rx = list(c::RX_LIST_BASE, c::RX_LIST_BITS);
        let tx = list(c::TX_LIST_BASE, c::TX_LIST_BITS);
        let (Some(rx), Some(tx)) = (rx, tx) else {
            return Status::BadRange;
        };
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
        Status::Ok
    }

    fn region(&mut self, entry: &[u8]) -> Status {
        let index = c::REGION.get(entry);
        if index >> self.config.region_bits != 0 {
            return Status::BadIndex;
        }
        if c::OPCODE.get(entry) == u64::from(c::REGION_REMOVE) {
            let key = c::REGION_KEY.get(entry) as u16;
            if self
                .regions
                .get(&(index as u16))
                .is_some_and(|region| region.key == key)
            {
                self.regions.remove(&(index as u16));
            }
            return Status::Ok;
        }
        let page_bits = c::REGION_PAGE_BITS.get(entry) as usize;
        if !(PAGE_BITS_MIN..=PAGE_BITS_MAX).contains(&page_bits) {
            return Status::BadRange;
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
        self.regions.insert(index as u16, region);
        Status::Ok
    }

    fn page(&mut self, entry: &[u8]) -> Status {
        let page = c::PAGE.get(entry);
        if page >> self.config.page_bits != 0 {
            return Status::BadIndex;
        }
        self.pages.insert(page as u16, c::PAGE_ADDRESS.get(entry));
        Status::Ok
    }

    fn of_flow(&mut self, owner: u8, opcode: u8, entry: &[u8]) -> Status {
        let id = c::FLOW.get(entry) as u16;
        let generation = c::GENERATION.get(entry) as u8;
        let Some(flow) = self.flows.get_mut(&id) else {
            return Status::BadFlow;
        };
        if flow.generation != generation {
            return Status::BadFlow;
        }
        if owner != 0 && flow.owner != owner {
            return Status::NotOwner;
        }
        match opcode {
            c::FLOW_REMOVE => {
                self.flows.remove(&id);
                Status::Ok
            }
            c::FLOOR_SET => set_floor(flow, entry),
            c::SEND_FLOOR_SET => set_send_floor(flow, entry),
            c::SEGMENT_POST => post_segment(flow, entry),
            c::SEGMENT_TRUNCATE => truncate_segment(flow, entry),
            _ => Status::Ok,
        }
    }
}

fn moves_forward(from: u32, to: u32) -> bool {
    to.wrapping_sub(from) < FLOW_REACH_BYTES
}

fn head_is_held(list: &List, head: u16) -> bool {
    head.wrapping_sub(list.head) <= list.tail.wrapping_sub(list.head)
}

fn set_floor(flow: &mut Flow, entry: &[u8]) -> Status {
    let floor = c::FLOOR.get(entry) as u32;
    let head = c::HEAD.get(entry) as u16;
    if !moves_forward(flow.floor, floor) || !head_is_held(&flow.lists[0], head) {
        return Status::BadRange;
    }
    flow.floor = floor;
    if (flow.cursor.wrapping_sub(floor) as i32) < 0 {
        flow.cursor = floor;
    }
    flow.ack_low = c::ACK_LOW.get(entry) as u32;
    flow.ack_high = c::ACK_HIGH.get(entry) as u32;
    flow.timestamp_floor = c::TIMESTAMP_FLOOR.get(entry) as u32;
    flow.lists[0].drop_before(head);
    Status::Ok
}

fn set_send_floor(flow: &mut Flow, entry: &[u8]) -> Status {
    let floor = c::FLOOR.get(entry) as u32;
    let head = c::HEAD.get(entry) as u16;
    if !moves_forward(flow.send_floor, floor) || !head_is_held(&flow.lists[1], head) {
        return Status::BadRange;
    }
    flow.send_floor = floor;
    flow.lists[1].drop_before(head);
    Status::Ok
}

fn post_segment(flow: &mut Flow, entry: &[u8]) -> Status {
    let bytes = c::SEGMENT_BYTES.get(entry) as u32;
    let list = &mut flow.lists[c::DIRECTION.get(entry) as usize];
    let index = c::SEGMENT_INDEX.get(entry) as u16;
    let held = u32::from(list.tail.wrapping_sub(list.head));
    if index != list.tail || held >= 1 << list.bits {
        return Status::ListFull;
    }
    if bytes == 0 || bytes > FLOW_REACH_BYTES {
        return Status::BadRange;
    }
    let segment = Segment {
        position: c::SEGMENT_POSITION.get(entry) as u32,
        bytes,
        region: c::SEGMENT_REGION.get(entry) as u16,
        region_key: c::SEGMENT_REGION_KEY.get(entry) as u16,
        offset: c::SEGMENT_OFFSET.get(entry),
    };
    list.entries.insert(index, segment);
    list.tail = list.tail.wrapping_add(1);
    Status::Ok
}

fn truncate_segment(flow: &mut Flow, entry: &[u8]) -> Status {
    let bytes = c::SEGMENT_BYTES.get(entry) as u32;
    let list = &mut flow.lists[c::DIRECTION.get(entry) as usize];
    let index = c::SEGMENT_INDEX.get(entry) as u16;
    if list.at(index).is_none() {
        return Status::BadRange;
    }
    match list.entries.get_mut(&index) {
        Some(segment) if bytes <= segment.bytes => {
            segment.bytes = bytes;
            Status::Ok
        }
        _ => Status::BadRange,
    }
}
