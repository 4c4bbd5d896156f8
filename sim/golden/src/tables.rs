//! The card's state: flows, lists and regions, and how each is looked up. `commands` changes it.

use abi::config::{CardConfig, BUCKET_WAYS, FLOW_BANKS};
use abi::flow_key::{Secret, KEY_BYTES, SECRET_WORDS};
use ahash::HashMap;

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
    /// First entry of the list among the entries of all lists.
    pub base: u32,
    /// Entries that fit, log2.
    pub bits: u32,
    /// First index in use.
    pub head: u16,
    /// First index not in use.
    pub tail: u16,
    pub(crate) entries: HashMap<u16, Segment>,
}

impl List {
    /// How many segments are resident.
    pub fn resident_count(&self) -> u16 {
        self.tail.wrapping_sub(self.head)
    }

    /// The index that a request by index means: one before the head counts as the head.
    pub fn clamp(&self, index: u16) -> u16 {
        if (index.wrapping_sub(self.head) as i16) < 0 {
            return self.head;
        }
        index
    }

    /// The entry at an index.
    pub fn at(&self, index: u16) -> Option<Segment> {
        let held = index.wrapping_sub(self.head) < self.resident_count();
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
    /// A packet must have a timestamp that is not below its floor.
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
    /// Key.
    pub key: u16,
    /// Protection domain.
    pub domain: u16,
    /// The card may write.
    pub write: bool,
    /// The card may read.
    pub read: bool,
    /// Memory that holds it.
    pub memory: u8,
    /// log2 bytes of a page.
    pub page_bits: u32,
    /// First page entry.
    pub first_page: u16,
    /// Length.
    pub bytes: u64,
}

/// Where an access goes: bus address, contiguous bytes, memory.
pub type Grant = (u64, u64, u8);

/// All tables of the card in one epoch.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(crate) config: CardConfig,
    /// Hash secrets of both banks.
    pub secrets: [Secret; FLOW_BANKS],
    /// Header profiles.
    pub profiles: [Profile; 4],
    /// Key slots by bank, bucket and way.
    pub(crate) keys: HashMap<(u64, u64, u64), ([u8; KEY_BYTES], u16)>,
    /// Valid flows.
    pub flows: HashMap<u16, Flow>,
    /// Valid regions.
    pub regions: HashMap<u16, Region>,
    pub(crate) pages: HashMap<u16, u64>,
}

impl Tables {
    /// Empty tables of a configuration.
    pub fn new(config: CardConfig) -> Tables {
        config.assert_possible();
        Tables {
            config,
            secrets: [Secret::new([0; SECRET_WORDS]); FLOW_BANKS],
            profiles: [Profile::default(); 4],
            keys: HashMap::default(),
            flows: HashMap::default(),
            regions: HashMap::default(),
            pages: HashMap::default(),
        }
    }

    /// A new epoch: nothing stays valid, settings stay.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.flows.clear();
        self.regions.clear();
        self.pages.clear();
    }

    /// Takes regions and pages over from tables of another time: for an access that was checked
    /// later than the flow was looked up.
    pub fn adopt_regions(&mut self, other: &Tables) {
        self.regions.clone_from(&other.regions);
        self.pages.clone_from(&other.pages);
    }

    /// The bucket of a key in a bank.
    pub fn bucket(&self, bank: u64, key: &[u8; KEY_BYTES]) -> u64 {
        let mask = (1u64 << self.config.bucket_bits) - 1;
        u64::from(self.secrets[bank as usize].hash(key)) & mask
    }

    /// The flow that a key leads to: of several slots with the key the highest counts.
    pub fn lookup(&self, key: &[u8; KEY_BYTES]) -> Option<u16> {
        let buckets = (0..FLOW_BANKS as u64).map(|bank| (bank, self.bucket(bank, key)));
        let slots = buckets.rev().flat_map(|(bank, bucket)| {
            let ways = (0..BUCKET_WAYS as u64).rev();
            ways.map(move |way| (bank, bucket, way))
        });
        let (_, flow) =
            slots.filter_map(|slot| self.keys.get(&slot)).find(|(stored, _)| stored == key)?;
        self.flows.contains_key(flow).then_some(*flow)
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
        let inside = at >> 48 == 0 && at + bytes <= region.bytes;
        if region.key != segment.region_key || region.domain != domain || !right || !inside {
            return None;
        }
        let number = u16::try_from(at >> region.page_bits).ok()?;
        let page = region.first_page.wrapping_add(number);
        let within = at & ((1 << region.page_bits) - 1);
        // A page entry that was never set, or is set for a smaller page, is the host's error; the
        // access must stay within the page's own address.
        let address = self.pages.get(&page)? | within;
        Some((address, bytes.min((1 << region.page_bits) - within), region.memory))
    }
}
