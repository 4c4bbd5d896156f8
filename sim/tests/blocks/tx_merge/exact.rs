//! Checksums at the ends of their range, each made on purpose.

use abi::send_descriptor as at;

use crate::tx_merge::records::{plain_memory, Record};
use crate::tx_merge::rig::{Rig, CALM};
use crate::tx_merge::world::Tables;

const L3: usize = 14;
const L4: usize = 34;

/// Ones' complement sum of big-endian words, in one division: nothing is carried by hand.
fn ones_complement_sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(2);
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
    words.map(word).sum::<u64>() % 0xffff
}

/// A frame of TCP or UDP over IPv4 whose last word is `last`, its checksums left out.
fn frame(protocol: u8, last: u16) -> Vec<u8> {
    let header_bytes = if protocol == 6 { 20 } else { 8 };
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    frame.extend((20 + header_bytes as u16 + 4).to_be_bytes());
    frame.extend([0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0x30, 0x39, 0x00, 0x50]);
    match protocol {
        6 => frame.extend([1, 2, 3, 4, 5, 6, 7, 8, 0x50, 0x18, 0x10, 0, 0, 0, 0, 0]),
        _ => frame.extend([0, header_bytes + 4, 0, 0]),
    }
    frame.extend([0xff, 0xff]);
    frame.extend(last.to_be_bytes());
    frame
}

/// The sum over pseudo header and L4 part (RFC 9293, 3.1; RFC 768).
fn l4_sum(frame: &[u8]) -> u64 {
    let mut covered = frame[L3 + 12..L4].to_vec();
    covered.extend([0, frame[L3 + 9]]);
    covered.extend(((frame.len() - L4) as u16).to_be_bytes());
    covered.extend(&frame[L4..]);
    ones_complement_sum(&covered)
}

/// Where the sum of the rest leaves `wanted` for the field, it is that, but for UDP's 0.
#[test]
fn checksums_at_range_ends_are_inserted() {
    for (protocol, field) in [(6, L4 + 16), (17, L4 + 6)] {
        let mut rig = Rig::new(Tables::default(), plain_memory(), 20, CALM, 1);
        let mut wanted = Vec::new();
        for checksum in [0u16, 1, 2, 0x00ff, 0x0100, 0x8000, 0xfffd, 0xfffe] {
            let rest = l4_sum(&frame(protocol, 0));
            let last = (2 * 0xffff - rest - u64::from(checksum)) % 0xffff;
            let frame = frame(protocol, last as u16);
            let mut record = Record::raw(&frame);
            record.set(at::IP_CHECKSUM, 1);
            record.set(at::L4_CHECKSUM, 1);
            record.set(at::L3_OFFSET, L3 as u64);
            record.set(at::L4_OFFSET, L4 as u64);
            record.set(at::UDP, u64::from(protocol == 17));
            rig.post(&record.bytes(), 3);
            wanted.push(match (protocol, checksum) {
                (17, 0) => 0xffff,
                _ => checksum,
            });
        }
        rig.run_until_done(wanted.len(), 5_000);
        let sent = rig.frames.packets.iter();
        let found = sent.map(|sent| u16::from_be_bytes([sent.bytes[field], sent.bytes[field + 1]]));
        assert_eq!(found.collect::<Vec<_>>(), wanted, "protocol {protocol}");
        let errors = rig.judge(5_000);
        assert!(errors.iter().all(Option::is_none), "{errors:?}");
    }
}
