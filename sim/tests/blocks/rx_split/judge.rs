//! Judges of what left the receive path while entries were held.
//!
//! ```text
//!   writes of the card  ─┐  payload in order; each owner's entries in order, behind their payload;
//!   writes of the model ─┴─► each entry behind a flush read that began behind its payload
//! ```

use abi::header_entry as h;

use crate::rx_split::world::{flush_address, header_base, slow_base, Output};

/// A write: address and bytes.
pub type WriteOf<'a> = (u64, &'a [u8]);

/// Whose header queue an address lies in.
fn header_owner(address: u64) -> Option<u64> {
    let queues = header_base(0)..slow_base(0);
    queues.contains(&address).then(|| (address - header_base(0)) >> 24)
}

/// The memory of a payload address: each region lies in the memory of its own number.
fn memory_of(address: u64) -> u32 {
    (address >> 32).saturating_sub(0x50) as u32
}

/// All writes that left, in the order of their jobs; checks that payload alone is relaxed.
pub fn writes(outputs: &[Output]) -> Vec<WriteOf<'_>> {
    let mut found = Vec::new();
    for output in outputs {
        let Output::Write(address, bytes, relaxed) = output else {
            continue;
        };
        let is_payload = header_owner(*address).is_none();
        assert_eq!(*relaxed, is_payload, "relaxed ordering at {address:#x}");
        found.push((*address, bytes.as_slice()));
    }
    found
}

/// The same writes in the same order.
pub fn same_writes(got: &[WriteOf], want: &[WriteOf], which: &str) {
    for (number, (got, want)) in got.iter().zip(want).enumerate() {
        assert_eq!(got.0, want.0, "address of write {number}, {which}");
        assert_eq!(got.1, want.1, "write {number} to {:#x}, {which}", want.0);
    }
    assert_eq!(got.len(), want.len(), "writes, {which}");
}

/// The writes to an owner's queue, or those of payload, and how much payload came before each.
fn of_owner<'a>(writes: &[WriteOf<'a>], owner: Option<u64>) -> (Vec<WriteOf<'a>>, Vec<u64>) {
    let mut payloads = 0;
    let mut found = (Vec::new(), Vec::new());
    for write in writes {
        if header_owner(write.0) == owner {
            found.0.push(*write);
            found.1.push(payloads);
        }
        payloads += u64::from(header_owner(write.0).is_none());
    }
    found
}

/// Payload in order, each owner's entries in order, and every entry behind the payload that comes
/// before it.
pub fn same_by_owner(got: &[WriteOf], want: &[WriteOf]) {
    for owner in [None].into_iter().chain((0..4).map(Some)) {
        let (ours, before) = of_owner(got, owner);
        let (theirs, least) = of_owner(want, owner);
        same_writes(&ours, &theirs, &format!("owner {owner:?}"));
        let behind = before.iter().zip(&least).all(|(b, l)| b >= l);
        assert!(behind, "an entry of owner {owner:?} before its payload");
    }
}

/// Where the nth flush read of a memory began and ended.
fn flushes_of(outputs: &[Output], memory: u32) -> Vec<(usize, usize)> {
    let wanted = flush_address(memory);
    let at = |test: &dyn Fn(&Output) -> bool| -> Vec<usize> {
        let hits = outputs.iter().enumerate().filter(|(_, o)| test(o));
        hits.map(|(at, _)| at).collect()
    };
    let begun = at(&|o| matches!(o, Output::Flush(a) if *a == wanted));
    let ended = at(&|o| matches!(o, Output::Flushed(a, _) if *a == wanted));
    begun.into_iter().zip(ended).collect()
}

/// Every entry is behind an answered flush read, begun behind its payload, of every memory but 0
/// that its payload lies in. `want` tells which payload belongs to which entry.
pub fn behind_their_flushes(outputs: &[Output], want: &[WriteOf]) {
    let flushes: Vec<_> = (0..4).map(|memory| flushes_of(outputs, memory)).collect();
    let places = |owner: Option<u64>| -> Vec<usize> {
        let hit = |o: &Output| matches!(o, Output::Write(a, ..) if header_owner(*a) == owner);
        let hits = outputs.iter().enumerate().filter(|(_, o)| hit(o));
        hits.map(|(at, _)| at).collect()
    };
    let payloads = places(None);
    let entries: Vec<_> = (0..4).map(|owner| places(Some(owner))).collect();
    let (mut payload, mut entry) = (0, [0; 4]);
    let mut landed: Vec<(u32, usize)> = Vec::new();
    // A packet's payload comes right before its one or two slots.
    let mut slots = 0;
    for (address, bytes) in want {
        let Some(owner) = header_owner(*address) else {
            landed.push((memory_of(*address), payloads[payload]));
            payload += 1;
            continue;
        };
        let owner = owner as usize;
        let at = entries[owner][entry[owner]];
        entry[owner] += 1;
        slots += 1;
        for (memory, behind) in landed.iter().filter(|(memory, _)| *memory != 0) {
            let mut of_memory = flushes[*memory as usize].iter();
            assert!(
                of_memory.any(|(begun, ended)| begun > behind && *ended < at),
                "entry {} of owner {owner} before memory {memory} was flushed",
                entry[owner] - 1
            );
        }
        if slots > h::TWO_SLOTS.get(bytes) {
            landed.clear();
            slots = 0;
        }
    }
}
