//! Placement of keys in the flow table: the host places and moves keys, the card only looks them
//! up.
//!
//! The table is a cuckoo hash table: two banks of buckets with four ways each. A key goes to the
//! emptier of its two buckets. When both are full, keys move to their other bucket along the
//! shortest path to a free way. A move writes the copy before it clears the original, so that no
//! lookup misses.

use std::collections::{HashMap, VecDeque};

use abi::config::BUCKET_WAYS;
use abi::flow_key::{Secret, KEY_BYTES};

use crate::records::commands::{key_clear, key_set, Entry, KeySlot};

/// Buckets searched for a path before a key is refused.
const BUCKETS_VISITED_MAX: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Placed {
    flow: u16,
    key: [u8; KEY_BYTES],
}

/// The host's copy of the key slots.
#[derive(Debug)]
pub struct KeyTable {
    secrets: [Secret; 2],
    mask: u16,
    slots: HashMap<KeySlot, Placed>,
    of_flow: HashMap<u16, KeySlot>,
}

impl KeyTable {
    /// An empty table of 2^`bucket_bits` buckets per bank.
    pub fn new(secrets: [Secret; 2], bucket_bits: u32) -> Self {
        let mask = ((1u32 << bucket_bits) - 1) as u16;
        Self { secrets, mask, slots: HashMap::new(), of_flow: HashMap::new() }
    }

    fn bucket(&self, bank: u8, key: &[u8; KEY_BYTES]) -> u16 {
        self.secrets[usize::from(bank)].hash(key) & self.mask
    }

    fn free_way(&self, bank: u8, bucket: u16) -> Option<KeySlot> {
        (0..BUCKET_WAYS as u8)
            .map(|way| KeySlot { bank, bucket, way })
            .find(|slot| !self.slots.contains_key(slot))
    }

    fn load(&self, bank: u8, bucket: u16) -> usize {
        (0..BUCKET_WAYS as u8)
            .filter(|&way| self.slots.contains_key(&KeySlot { bank, bucket, way }))
            .count()
    }

    /// Whether a key is placed.
    pub fn holds(&self, key: &[u8; KEY_BYTES]) -> bool {
        (0..2).any(|bank| {
            let bucket = self.bucket(bank, key);
            (0..BUCKET_WAYS as u8).any(|way| {
                let placed = self.slots.get(&KeySlot { bank, bucket, way });
                placed.is_some_and(|placed| placed.key == *key)
            })
        })
    }

    /// Places a key. Returns the commands in order, or `None` when no path to a free way was found.
    pub fn insert(&mut self, key: [u8; KEY_BYTES], flow: u16) -> Option<Vec<Entry>> {
        let buckets = [self.bucket(0, &key), self.bucket(1, &key)];
        let mut commands = Vec::new();
        let bank = u8::from(self.load(1, buckets[1]) < self.load(0, buckets[0]));
        let slot = match self.free_way(bank, buckets[usize::from(bank)]) {
            Some(slot) => slot,
            None => self.make_room(buckets, &mut commands)?,
        };
        self.put(slot, Placed { flow, key });
        commands.push(key_set(slot, flow, &key));
        Some(commands)
    }

    fn put(&mut self, slot: KeySlot, placed: Placed) {
        self.slots.insert(slot, placed);
        self.of_flow.insert(placed.flow, slot);
    }

    /// Breadth-first search over the buckets that keys could move to; then moves the keys, last one
    /// first.
    fn make_room(&mut self, buckets: [u16; 2], commands: &mut Vec<Entry>) -> Option<KeySlot> {
        let mut came_from: HashMap<(u8, u16), KeySlot> = HashMap::new();
        let mut queue = VecDeque::from([(0u8, buckets[0]), (1u8, buckets[1])]);
        let mut visited = 0;
        while let Some((bank, bucket)) = queue.pop_front() {
            if let Some(free) = self.free_way(bank, bucket) {
                return Some(self.shift(free, &came_from, buckets, commands));
            }
            visited += 1;
            if visited > BUCKETS_VISITED_MAX {
                return None;
            }
            for way in 0..BUCKET_WAYS as u8 {
                let slot = KeySlot { bank, bucket, way };
                let other = 1 - bank;
                let target = (other, self.bucket(other, &self.slots[&slot].key));
                let is_start = target.1 == buckets[usize::from(other)];
                if !is_start && !came_from.contains_key(&target) {
                    came_from.insert(target, slot);
                    queue.push_back(target);
                }
            }
        }
        None
    }

    fn shift(
        &mut self,
        free: KeySlot,
        came_from: &HashMap<(u8, u16), KeySlot>,
        buckets: [u16; 2],
        commands: &mut Vec<Entry>,
    ) -> KeySlot {
        let mut free = free;
        while free.bucket != buckets[usize::from(free.bank)] {
            let from = came_from[&(free.bank, free.bucket)];
            if let Some(placed) = self.slots.remove(&from) {
                commands.push(key_set(free, placed.flow, &placed.key));
                commands.push(key_clear(from));
                self.put(free, placed);
            }
            free = from;
        }
        free
    }

    /// The same keys under other secrets; `None` when not all of them have room.
    pub fn under(&self, secrets: [Secret; 2]) -> Option<Self> {
        let mut other =
            Self { secrets, mask: self.mask, slots: HashMap::new(), of_flow: HashMap::new() };
        for placed in self.in_order() {
            other.insert(placed.1.key, placed.1.flow)?;
        }
        Some(other)
    }

    /// The commands that clear all slots.
    pub fn clear_all(&self) -> Vec<Entry> {
        let slots = self.in_order().into_iter();
        slots.map(|(slot, _)| key_clear(slot)).collect()
    }

    /// The commands that set all slots, which hold nothing.
    pub fn set_all(&self) -> Vec<Entry> {
        let slots = self.in_order().into_iter();
        slots.map(|(slot, placed)| key_set(slot, placed.flow, &placed.key)).collect()
    }

    /// All keys in the order of their flows, so that a run follows from its seed.
    fn in_order(&self) -> Vec<(KeySlot, Placed)> {
        let mut placed: Vec<_> = self.slots.iter().map(|(slot, placed)| (*slot, *placed)).collect();
        placed.sort_unstable_by_key(|(_, placed)| placed.flow);
        placed
    }

    /// Removes the key of a flow. Returns the command that clears its slot.
    pub fn remove(&mut self, flow: u16) -> Option<Entry> {
        let slot = self.of_flow.remove(&flow)?;
        self.slots.remove(&slot);
        Some(key_clear(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abi::command;

    /// Fills half of all ways, as the default sizes do, and follows the commands slot by slot.
    #[test]
    fn tuples_fit_at_half_load_without_miss() {
        let mut state = 0x1234_5678_9abc_def1u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut secret = || Secret::new(std::array::from_fn(|_| next() as u32));
        let secrets = [secret(), secret()];
        let bits = 6;
        let mut table = KeyTable::new(secrets, bits);
        let mut card: HashMap<(u64, u64, u64), (u64, Vec<u8>)> = HashMap::new();
        let mut keys = Vec::new();
        for flow in 0..(4 << bits) as u16 {
            let mut key = [0; KEY_BYTES];
            key[..8].copy_from_slice(&next().to_le_bytes());
            keys.push(key);
            for entry in table.insert(key, flow).expect("fits") {
                let slot = (
                    command::KEY_BANK.get(&entry),
                    command::KEY_BUCKET.get(&entry),
                    command::KEY_WAY.get(&entry),
                );
                if command::OPCODE.get(&entry) == u64::from(command::KEY_SET) {
                    let old = card.insert(slot, (command::FLOW.get(&entry), entry[16..].to_vec()));
                    assert!(old.is_none(), "slot {slot:?} overwritten");
                } else {
                    assert!(card.remove(&slot).is_some());
                }
                // After every single command each earlier key is found in one of its two buckets.
                for (flow, key) in keys.iter().enumerate().take(keys.len() - 1) {
                    let found = (0..2u64).any(|bank| {
                        let bucket = u64::from(table.bucket(bank as u8, key));
                        (0..4).any(|way| {
                            card.get(&(bank, bucket, way))
                                .is_some_and(|(id, at)| *id == flow as u64 && at == key)
                        })
                    });
                    assert!(found, "flow {flow} misses");
                }
            }
        }
    }
}
