//! Values that traffic meets once in a million frames, each made on purpose. The verdicts are those
//! of the specification, not of the golden card alone.

use abi::reason::{Disposition, DropReason};

use crate::rx_split::frames::Frame;
use crate::rx_split::world::World;
use crate::rx_split::{expect, good, install, region, segment, simple, NO_STALLS};

/// Sends bytes and expects this disposition.
fn expect_bytes(world: &mut World, frame: &[u8], disposition: Disposition) {
    let mut wanted = world.golden.dispositions;
    wanted[disposition as usize] += 1;
    world.send(frame, false);
    let drops = world.golden.drops;
    assert_eq!(world.golden.dispositions, wanted, "{drops:?} {frame:02x?}");
}

/// Sends bytes and expects this drop.
fn expect_dropped(world: &mut World, frame: &[u8], reason: DropReason) {
    let before = world.golden.drops[reason as usize];
    world.send(frame, false);
    assert_eq!(world.golden.drops[reason as usize], before + 1, "{frame:02x?}");
}

/// Ones' complement sum of big-endian words, in one division: nothing is carried by hand.
fn ones_complement_sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2);
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
    let total: u64 = words.map(word).sum();
    match (total, total % 0xffff) {
        (0, _) => 0,
        (_, 0) => 0xffff,
        (_, rest) => rest as u16,
    }
}

const L4: usize = 34;

/// The checksum field of a frame without tags and options, IPv4.
fn field_at(protocol: u8) -> usize {
    L4 + if protocol == 6 { 16 } else { 6 }
}

/// Whether the checksum over a frame's pseudo header and L4 part is right (RFC 9293, 3.1).
fn is_right(frame: &[u8]) -> bool {
    let end = 14 + usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    let mut covered = frame[26..34].to_vec();
    covered.extend([0, frame[23]]);
    covered.extend(((end - L4) as u16).to_be_bytes());
    covered.extend(&frame[L4..end]);
    ones_complement_sum(&covered) == 0xffff
}

/// A frame whose last two bytes of payload bring its checksum field to `wanted`.
fn with_checksum(protocol: u8, payload: Vec<u8>, wanted: u16) -> Vec<u8> {
    let mut frame = good(1000, 0);
    (frame.protocol, frame.payload) = (protocol, [payload, vec![0, 0]].concat());
    let at = field_at(protocol);
    let bytes = frame.build();
    let checksum = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    // The sum of everything else is the complement of the field: the word makes up the difference.
    let word = (u32::from(checksum) + 0xffff - u32::from(wanted)) % 0xffff;
    let last = frame.payload.len() - 2;
    frame.payload[last..].copy_from_slice(&(word as u16).to_be_bytes());
    let mut bytes = frame.build();
    bytes[at..at + 2].copy_from_slice(&wanted.to_be_bytes());
    assert!(is_right(&bytes), "{protocol} {wanted:#06x}");
    bytes
}

#[test]
fn checksums_at_range_ends_are_exact() {
    for protocol in [6, 17] {
        for payload in [vec![], vec![0xff; 62], vec![0xff; 1460], vec![0xff; 8900]] {
            let mut world = simple(NO_STALLS);
            for wanted in [1, 2, 3, 0x00ff, 0x0100, 0x7fff, 0x8000, 0xfffd, 0xfffe, 0xffff] {
                let frame = with_checksum(protocol, payload.clone(), wanted);
                // All packets but the first are repetitions, or of no flow: they are verified.
                let before = world.golden.drops;
                world.send(&frame, false);
                assert_eq!(world.golden.drops, before, "{protocol} {wanted:#06x}");
                for other in [wanted - 1, wanted.wrapping_add(1)] {
                    let mut spoilt = frame.clone();
                    let at = field_at(protocol);
                    spoilt[at..at + 2].copy_from_slice(&other.to_be_bytes());
                    // 0 and 0xffff are one number; a UDP checksum of 0 is none.
                    if other != 0 && !is_right(&spoilt) {
                        expect_dropped(&mut world, &spoilt, DropReason::L4Checksum);
                    }
                }
            }
            world.run();
            world.compare();
        }
    }
}

#[test]
fn zero_checksum_differs_for_udp_tcp() {
    let mut world = simple(NO_STALLS);
    // TCP's sum may be zero.
    expect_bytes(&mut world, &with_checksum(6, vec![5; 20], 0), Disposition::PlacedInOrder);
    let udp = |ipv6, no_checksum| Frame {
        protocol: 17,
        ipv6,
        no_checksum,
        payload: vec![7; 30],
        ..good(0, 0)
    };
    let unverified = udp(false, true).build();
    expect_bytes(&mut world, &unverified, Disposition::Unverified);
    expect_dropped(&mut world, &udp(true, true).build(), DropReason::L4Checksum);
    expect_bytes(&mut world, &udp(true, false).build(), Disposition::NoFlow);
    // A sum of zero is sent as 0xffff.
    let full = with_checksum(17, vec![5; 20], 0xffff);
    expect_bytes(&mut world, &full, Disposition::NoFlow);
    world.run();
    world.compare();
}

/// An IPv4 header of `words` words, with nothing behind it but padding.
fn ipv4_alone(words: u8, protocol: u8, fragment: u16) -> Vec<u8> {
    let mut ip = vec![0x40 | words, 0, 0, 4 * words, 0x12, 0x34];
    ip.extend(fragment.to_be_bytes());
    ip.extend([64, protocol, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1]);
    ip.resize(4 * usize::from(words), 1);
    let checksum = !ones_complement_sum(&ip);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend(ip);
    frame.resize(frame.len().max(60), 0x5a);
    frame
}

fn ipv6_alone(next_header: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd];
    frame.extend([0x60, 0, 0, 0, 0, 0, next_header, 64]);
    frame.extend([0xfd; 32]);
    frame.resize(60, 0x5a);
    frame
}

#[test]
fn header_only_ip_is_judged_by_protocol() {
    let mut world = simple(NO_STALLS);
    for words in [5, 6, 14, 15] {
        for protocol in [6, 17] {
            let frame = ipv4_alone(words, protocol, 0);
            expect_dropped(&mut world, &frame, DropReason::MalformedL4);
            let fragment = ipv4_alone(words, protocol, 0x2000);
            expect_bytes(&mut world, &fragment, Disposition::Unverified);
        }
        let other = ipv4_alone(words, 47, 0);
        expect_bytes(&mut world, &other, Disposition::NotTransport);
    }
    // One byte less than the header.
    let mut short = ipv4_alone(5, 47, 0);
    short[17] -= 1;
    expect_dropped(&mut world, &short, DropReason::MalformedIp);
    for next_header in [6, 17] {
        expect_dropped(&mut world, &ipv6_alone(next_header), DropReason::MalformedL4);
    }
    expect_bytes(&mut world, &ipv6_alone(59), Disposition::NotTransport);
    expect_bytes(&mut world, &ipv6_alone(44), Disposition::Unverified);
    world.run();
    world.compare();
}

/// The byte at a distance of 2^30 from the floor is beyond reach, the one before it is not.
#[test]
fn flow_reaches_below_2_30_beyond_floor() {
    const REACH: u32 = 1 << 30;
    for floor in [1000, u32::MAX - 50, 0u32.wrapping_sub(REACH)] {
        let mut world = World::new(NO_STALLS, 1);
        world.enable(1, 6, 4);
        world.enable(0, 6, 4);
        install(&mut world, 0, 1, &good(0, 0), floor, false);
        region(&mut world, 0, 0, true);
        let start = floor.wrapping_add(REACH - 100);
        segment(&mut world, 0, start, 100, 0, 0x123);
        world.settle();
        expect(&mut world, &good(start, 99), Disposition::PlacedAhead);
        expect(&mut world, &good(start, 100), Disposition::AheadOfWindow);
        let last = floor.wrapping_add(REACH - 2);
        expect(&mut world, &good(last, 1), Disposition::PlacedAhead);
        expect(&mut world, &good(last, 2), Disposition::AheadOfWindow);
    }
}

/// Every type of VLAN tag inside and outside every other, and types that are none.
#[test]
fn vlan_types_stand_in_any_order() {
    const TYPES: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
    for tags in 1..=2 {
        let mut world = simple(NO_STALLS);
        for choice in 0..1 << tags {
            let mut frame = good(1000, 100);
            frame.tags = tags;
            let mut bytes = frame.build();
            for tag in 0..tags {
                let at = 12 + 4 * tag;
                bytes[at..at + 2].copy_from_slice(&TYPES[choice >> tag & 1]);
            }
            let parsed = golden::packet::parse(&bytes, &world.golden.tables.profiles);
            let header_bytes = parsed.expect("a good frame").header_bytes;
            assert_eq!(header_bytes, 14 + 4 * tags + 40);
            // The first one is in order, the others come again.
            let before = world.golden.drops;
            world.send(&bytes, false);
            assert_eq!(world.golden.drops, before);
            // Another type there is no tag: what follows is no IP.
            for other in [[0x81, 0x01], [0x91, 0x00], [0x88, 0xa9]] {
                bytes[12..14].copy_from_slice(&other);
                expect_bytes(&mut world, &bytes, Disposition::NotTransport);
            }
        }
        world.run();
        world.compare();
    }
}
