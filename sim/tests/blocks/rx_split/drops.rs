//! Frames that are dropped: what is wrong with them, what has stopped, what is full.

use abi::reason::{Disposition, DropReason};
use abi::registers as r;
use golden::checksum::{fold, sum};

use crate::rx_split::frames::Frame;
use crate::rx_split::world::World;
use crate::rx_split::{expect, good, install, region, segment, simple, NO_STALLS};

/// Sends one frame and expects the golden card to drop it for this reason.
fn expect_drop(world: &mut World, frame: &[u8], bad_fcs: bool, reason: DropReason) {
    let before = world.golden.drops[reason as usize];
    world.send(frame, bad_fcs);
    assert_eq!(world.golden.drops[reason as usize], before + 1);
    world.run();
    world.compare();
}

#[test]
fn mac_side_checks_drop() {
    let mut world = simple(NO_STALLS);
    let frame = good(1000, 300).build();
    expect_drop(&mut world, &frame, true, DropReason::BadFcs);
    expect_drop(&mut world, &frame[..59], false, DropReason::Runt);
    expect_drop(&mut world, &[7], false, DropReason::Runt);
    let longest = good(1000, 9216 - 54).build();
    assert_eq!(longest.len(), 9216);
    let mut giant = longest.clone();
    giant.push(0);
    expect_drop(&mut world, &giant, false, DropReason::Giant);
    giant.resize(20_000, 0);
    expect_drop(&mut world, &giant, false, DropReason::Giant);
    world.send(&longest, false);
    world.run();
    world.compare();
    assert_eq!(world.golden.dispositions[0], 1);
}

#[test]
fn malformed_and_wrong_checksums_drop() {
    let mut world = simple(NO_STALLS);
    let v4 = good(1000, 300).build();
    let v6 = Frame { ipv6: true, ..good(1000, 300) }.build();
    let udp = Frame { protocol: 17, ..good(1000, 300) }.build();
    let udp6 = Frame { ipv6: true, protocol: 17, no_checksum: true, ..good(1000, 300) }.build();
    // Places of the headers, behind an Ethernet header of 14 bytes.
    const IP: usize = 14;
    const V4_L4: usize = IP + 20;
    const V6_L4: usize = IP + 40;
    /// The checksum of the IPv4 header, over what was changed.
    const RIGHT: bool = true;
    /// What it was before the change; of IPv6 there is none.
    const AS_IT_WAS: bool = false;
    use DropReason::{IpChecksum, L4Checksum, MalformedIp, MalformedL4};
    #[rustfmt::skip]
    let table = [
        // What is wrong, and in which frame; the byte, its new value, the header's checksum; why.
        ("version 5", &v4, IP, 0x55, RIGHT, MalformedIp),
        ("IP header of 4 words", &v4, IP, 0x44, RIGHT, MalformedIp),
        ("IP length beyond 32 KiB", &v4, IP + 2, 0x80, RIGHT, MalformedIp),
        ("IP length one too large", &v4, IP + 3, 0x55, RIGHT, MalformedIp),
        ("IPv6 of version 4", &v6, IP, 0x40, AS_IT_WAS, MalformedIp),
        ("IPv6 length beyond 4 KiB", &v6, IP + 4, 0x10, AS_IT_WAS, MalformedIp),
        ("another time to live", &v4, IP + 8, 3, AS_IT_WAS, IpChecksum),
        ("TCP header of 4 words", &v4, V4_L4 + 12, 0x40, AS_IT_WAS, MalformedL4),
        ("TCP header of 4 words in IPv6", &v6, V6_L4 + 12, 0x40, AS_IT_WAS, MalformedL4),
        ("UDP length beyond the packet", &udp, V4_L4 + 4, 0xff, AS_IT_WAS, MalformedL4),
        ("last payload byte", &v4, V4_L4 + 319, 0, AS_IT_WAS, L4Checksum),
        ("a payload byte in IPv6", &v6, V6_L4 + 46, 0, AS_IT_WAS, L4Checksum),
        ("another destination port of UDP", &udp, V4_L4 + 2, 0xff, AS_IT_WAS, L4Checksum),
        ("no UDP checksum in IPv6", &udp6, 0, udp6[0], AS_IT_WAS, L4Checksum),
    ];
    for (what, good, at, value, checksum, reason) in table {
        println!("{what}");
        let mut frame = good.clone();
        frame[at] = value;
        if checksum == RIGHT {
            frame[IP + 10..IP + 12].copy_from_slice(&[0, 0]);
            let sum = !fold(sum(&frame[IP..V4_L4]));
            frame[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
        }
        expect_drop(&mut world, &frame, false, reason);
    }
}

#[test]
fn stopped_receive_drops() {
    let mut world = simple(NO_STALLS);
    world.register(r::CONTROL, 0);
    expect_drop(&mut world, &good(1000, 300).build(), false, DropReason::Stopped);
    world.register(r::CONTROL, r::CONTROL_RX);
    expect(&mut world, &good(1000, 300), Disposition::PlacedInOrder);
}

#[test]
fn full_rings_drop_and_return_room() {
    let mut world = World::new(NO_STALLS, 1);
    world.enable(0, 3, 2);
    let long = Frame { connection: 3, options: vec![1; 40], tags: 2, ip_options: 5, ..good(0, 10) };
    for _ in 0..2 {
        world.send(&long.build(), false);
    }
    for _ in 0..3 {
        world.send(&Frame { connection: 3, ..good(0, 10) }.build(), false);
    }
    for _ in 0..3 {
        world.send(&Frame { connection: 3, ..good(0, 0) }.build(), false);
    }
    world.run();
    world.compare();
    assert_eq!(world.golden.drops[DropReason::SlowBufferFull as usize], 1);
    world.send(&long.build(), false);
    world.run();
    world.compare();
    assert_eq!(world.golden.drops[DropReason::HeaderQueueFull as usize], 2);
    world.give_back(0, 8, 4);
    for _ in 0..5 {
        world.send(&long.build(), false);
    }
    world.run();
    world.compare();
    expect_drop(&mut world, &long.build(), false, DropReason::HeaderQueueFull);
}

#[test]
fn dropped_packet_leaves_cursor_and_pieces() {
    let mut world = World::new(NO_STALLS, 1);
    world.enable(1, 2, 2);
    install(&mut world, 0, 1, &good(0, 0), 1000, false);
    region(&mut world, 0, 0, true);
    segment(&mut world, 0, 1000, 0x8000, 0, 0xff0);
    world.settle();
    for number in 0..7 {
        world.send(&good(1000 + 100 * number, 100).build(), false);
    }
    world.run();
    world.compare();
    assert_eq!(world.pulses.cursors.len(), 4);
    world.give_back(1, 4, 0);
    world.send(&good(1400, 100).build(), false);
    world.run();
    world.compare();
}
