//! The entries of the card, expanded, against those of the golden card.
//!
//! ```text
//!   writes to a queue ─► slots in order ─► entries ─► packets ─► compared, flow by flow
//! ```

use abi::header_entry as h;
use golden::expand::{expand, Packet};

use crate::rx_split::world::{header_base, slow_base, Output};

/// A write: address and bytes.
pub type Written = (u64, Vec<u8>);

/// All writes of the card, in order.
pub fn writes_of(outputs: &[Output]) -> Vec<Written> {
    let writes = outputs.iter().filter_map(|output| match output {
        Output::Write(address, bytes, _) => Some((*address, bytes.clone())),
        _ => None,
    });
    writes.collect()
}

fn is_entry(address: u64) -> bool {
    (header_base(0)..slow_base(0)).contains(&address)
}

/// Payload, placed and deferred, is the same in the same order.
pub fn same_payload(ours: &[Written], theirs: &[Written]) {
    let payload = |writes: &[Written]| -> Vec<Written> {
        writes.iter().filter(|(address, _)| !is_entry(*address)).cloned().collect()
    };
    assert!(payload(ours) == payload(theirs), "payload differs");
}

/// The entries of an owner's queue in the order of their slots: metadata and header. Checks that
/// slots are written in order, without a gap, with the phase of the first pass.
pub fn entries(writes: &[Written], owner: u32) -> Vec<Vec<u8>> {
    let queue = header_base(owner)..header_base(owner + 1);
    let slots = writes.iter().filter(|(address, _)| queue.contains(address));
    let mut entries = Vec::new();
    let mut next = 0;
    let mut second: Option<&[u8]> = None;
    for (address, bytes) in slots {
        let slot = (address - queue.start) / 128;
        assert_eq!(h::PHASE.get(bytes), 1, "these queues do not wrap");
        let two_slots = h::TWO_SLOTS.get(bytes) == 1;
        if two_slots && slot == next + 1 {
            second = Some(&bytes[32..]);
            continue;
        }
        assert_eq!(slot, next, "the entry's slot");
        next += 1 + u64::from(two_slots);
        let mut entry = bytes.clone();
        if two_slots {
            entry.truncate(32 + h::SECOND_SLOT_HEADER_AT);
            entry.extend(second.take().expect("the second slot came first"));
        }
        entries.push(entry);
    }
    entries
}

/// Expanded, entries are the others flow by flow, in order. Those without a flow are of flow
/// 0xffff.
pub fn same_packets(ours: &[Vec<u8>], theirs: &[Vec<u8>]) {
    let packets = expand(ours).expect("runs of packets");
    assert_eq!(packets.len(), theirs.len(), "packets");
    let mut flows: Vec<u64> = theirs.iter().map(|entry| h::FLOW.get(entry)).collect();
    flows.sort_unstable();
    flows.dedup();
    for flow in flows {
        let is_of = |entry: &[u8]| h::FLOW.get(entry) == flow;
        let ours: Vec<&Packet> = packets.iter().filter(|it| is_of(&it.entry)).collect();
        let theirs: Vec<&Vec<u8>> = theirs.iter().filter(|it| is_of(it)).collect();
        assert_eq!(ours.len(), theirs.len(), "packets of flow {flow}");
        for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let checked = ours.check(theirs);
            assert!(checked.is_ok(), "packet {number} of flow {flow}: {checked:?}");
        }
    }
}
