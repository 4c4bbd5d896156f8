//! How fast the receive path is, in cycles of 250 MHz, and what it drops when it is too slow.

use abi::reason::DropReason;
use sim::harness::stall::Stall;

use crate::rx_split::frames::Frame;
use crate::rx_split::world::{Output, Pace, Stalls, World};
use crate::rx_split::{install, region, segment, NO_STALLS};

/// Segments of 60 KiB behind every flow, one for each region.
const SEGMENT_BYTES: u32 = 0xf000;

fn frame(flow: u16, position: usize, bytes: usize) -> Vec<u8> {
    Frame {
        connection: flow,
        sequence: position as u32,
        acknowledgement: 150,
        payload: vec![flow as u8 + 1; bytes],
        ..Frame::default()
    }
    .build()
}

/// Flow n belongs to owner n modulo 4 and has four segments in regions of host memory.
fn build(flows: u16, stalls: Stalls) -> World {
    let mut world = World::new(stalls, 1);
    for owner in 0..4 {
        world.enable(owner, 12, 9);
    }
    for id in 0..4 {
        region(&mut world, id, 0, true);
    }
    for id in 0..flows {
        let connection = Frame { connection: id, acknowledgement: 150, ..Frame::default() };
        install(&mut world, id, (id % 4) as u8, &connection, 0, false);
        for number in 0..4 {
            segment(&mut world, id, SEGMENT_BYTES * u32::from(number), SEGMENT_BYTES, number, 0);
        }
    }
    world.settle();
    world
}

/// Sends frames of so many payload bytes, round robin over the flows; within a window of
/// `permute` frames of a flow in another order. Gives the cycles between entries, once the path is
/// full.
fn cycles_per_packet(bytes: usize, flows: u16, permute: usize) -> f64 {
    let mut world = build(flows, NO_STALLS);
    // Just below the share of one owner.
    let (packets, beats) = if bytes > 2000 { (24, 290) } else { (96, 240) };
    world.pace = Pace::UnderWay(beats);
    for number in 0..packets {
        let of_flow = number / usize::from(flows);
        let within = of_flow % permute;
        // Every window of the flow backwards.
        let place = of_flow - within + (permute - 1 - within);
        world.send(&frame((number % usize::from(flows)) as u16, place * bytes, bytes), false);
    }
    let full = packets / 3;
    let mut start = 0;
    while world.pulses.produced.len() < packets {
        world.cycle();
        if world.pulses.produced.len() < full {
            start = world.pulses.cycles;
        }
    }
    let cycles = world.pulses.cycles - start;
    world.run();
    world.compare();
    cycles as f64 / (packets - full) as f64
}

/// A frame of 1500 bytes lasts 30.8 cycles on the wire, one of 9000 bytes 180.
#[test]
fn frames_keep_wire_and_link_rate() {
    for (bytes, flows, permute, cycles_max) in [
        (0, 1, 1, 2.5),
        (0, 8, 1, 2.5),
        (6, 1, 1, 5.0),
        (10, 1, 1, 5.0),
        (64, 1, 1, 5.0),
        (64, 8, 1, 5.0),
        (202, 1, 1, 8.0),
        (458, 1, 1, 12.0),
        (1446, 1, 1, 28.0),
        (1446, 8, 1, 28.0),
        (1446, 1, 8, 28.0),
        (1446, 8, 4, 28.0),
        // Two under way, as more would be beyond the share: the next comes in while one goes out.
        (8946, 1, 1, 180.0),
    ] {
        let cycles = cycles_per_packet(bytes, flows, permute);
        println!("{bytes} bytes, {flows} flows, order {permute}: {cycles:.2} cycles a packet");
        assert!(cycles <= cycles_max, "{bytes} bytes: {cycles} cycles");
    }
}

/// At wire speed nothing is lost that the link can carry.
#[test]
fn wire_speed_is_taken_without_loss() {
    for bytes in [202, 458, 970, 1446, 4000, 8946] {
        let mut world = build(4, NO_STALLS);
        world.pace = Pace::Wire(1.0);
        for number in 0..48 {
            world.send(&frame(number % 4, usize::from(number / 4) * bytes, bytes), false);
        }
        world.run();
        world.compare();
    }
}

/// 64-byte frames come faster than their entries can go: what is too much is dropped whole, for
/// its queue and nowhere else.
#[test]
fn excess_small_frames_hit_own_queue() {
    let mut world = build(4, Stalls { source: Stall::None, sink: Stall::Random(0.5) });
    // The flow table takes a look-up every other cycle here, the writes a beat.
    world.pace = Pace::Wire(0.7);
    for number in 0..1280 {
        // Owner 1 gets all but one frame of 64.
        let flow = if number % 64 == 0 { 2 } else { 1 };
        world.send(&frame(flow, 0, 0), false);
    }
    world.run();
    let full = world.pulses.drops[DropReason::BufferShareFull as usize];
    assert_eq!(world.pulses.drops.iter().sum::<u64>(), full, "no other reason");
    let entries = |owner| {
        let produced = &world.pulses.produced;
        produced.iter().filter(|entry| entry.0 == owner).count() as u64
    };
    println!("{} of 1280 entries", entries(1) + entries(2));
    assert!(full > 0, "the link is too slow for all");
    assert_eq!(entries(2), 20, "the other owner loses nothing");
    assert_eq!(entries(1) + entries(2) + full, 1280);
}

/// Frames that were dropped or have a disposition.
fn count_frames(world: &World) -> u64 {
    let counts = [&world.pulses.drops, &world.pulses.dispositions];
    counts.into_iter().flatten().sum()
}

/// Sends of an owner whose queue is full fail as fast as they can, among the packets of others: of
/// 64 bytes nearly as fast as they can be admitted, or more than can be written. Gives the cycles
/// that a packet took.
fn failed_sends_among_packets(sink: Stall, pace: Pace) -> f64 {
    const FRAMES: u16 = 600;
    const EVENTS: u32 = 2500;
    let source = Stall::None;
    let mut world = build(3, Stalls { source, sink });
    world.enable(3, 2, 2);
    (0..EVENTS).for_each(|position| world.fail_send(3, position));
    while world.pulses.produced.len() < 4 {
        world.cycle();
    }
    world.pace = pace;
    for number in 0..FRAMES {
        world.send(&frame(number % 3, 0, 0), false);
    }
    let (lost, start) = (world.pulses.events_lost, world.pulses.cycles);
    while count_frames(&world) < u64::from(FRAMES) {
        world.cycle();
    }
    let between = world.pulses.events_lost - lost;
    let cycles = (world.pulses.cycles - start) as f64 / f64::from(FRAMES);
    println!("{between} failed sends among {FRAMES} packets, one in {cycles:.3} cycles");
    // Two cycles for each packet at least, and three until the event is next.
    let items = (rx_split::admit::admit_arbiter::EVENT_CYCLES as u64 + 3) / 2;
    assert!(between >= u64::from(FRAMES) / items, "{between}");
    let all_lost = u64::from(EVENTS) - 4;
    assert!(world.pulses.events_lost < all_lost, "too few");
    world.run();
    world.compare();
    cycles
}

/// Frames come every 2.15 cycles; 15 of 16 items are admitted every 2.13, 7 of 8 every 2.29.
#[test]
fn failed_sends_cost_no_packet() {
    let cycles = failed_sends_among_packets(Stall::None, Pace::Wire(0.78));
    // The first takes longer by what lies between the wire and its admission.
    assert!(cycles < 2.22, "{cycles} cycles a packet");
}

#[test]
fn packets_hold_no_failed_send() {
    // Some 37 frames, less than the share of any owner.
    failed_sends_among_packets(Stall::Random(0.5), Pace::UnderWay(300));
}

/// Where packets leave slowly a failed send waits for time to pass, not for so many of them: sends
/// of others wait behind it.
#[test]
fn slow_packets_hold_no_failed_send() {
    const FRAMES: u16 = 200;
    let source = Stall::None;
    let sink = Stall::Random(0.95);
    let mut world = build(3, Stalls { source, sink });
    world.enable(3, 2, 2);
    (0..3000).for_each(|position| world.fail_send(3, position));
    while world.pulses.produced.len() < 4 {
        world.cycle();
    }
    world.pace = Pace::UnderWay(300);
    for number in 0..FRAMES {
        world.send(&frame(number % 3, 0, 0), false);
    }
    let (begin, lost) = (world.pulses.cycles, world.pulses.events_lost);
    while count_frames(&world) < u64::from(FRAMES) {
        world.cycle();
    }
    let each = (world.pulses.cycles - begin) / u64::from(FRAMES);
    let between = world.pulses.events_lost - lost;
    println!("{between} failed sends among {FRAMES} packets of {each} cycles each");
    assert!(each > 30, "{each} cycles: packets do not leave slowly");
    // Nearly one for each packet.
    assert!(between > u64::from(FRAMES) / 2, "{between}");
    world.run();
    world.compare();
}

/// While the flow table does not answer, packets wait to be classified, then frames are dropped
/// where they come in; each whole, and nothing of the others.
#[test]
fn frames_without_room_drop_whole_early() {
    const FRAMES: usize = 200;
    const BYTES: usize = 600;
    let mut world = build(4, NO_STALLS);
    world.pace = Pace::Wire(1.0);
    for round in 0..3 {
        let dropped = world.pulses.drops[DropReason::RxFifoFull as usize];
        world.flows_answer = false;
        for number in 0..FRAMES {
            let flow = (number % 4) as u16;
            world.send(&frame(flow, number / 4 * BYTES, BYTES), false);
        }
        for _ in 0..FRAMES * (BYTES + 100) / 50 {
            world.cycle();
        }
        world.flows_answer = true;
        world.run();
        let full = world.pulses.drops[DropReason::RxFifoFull as usize];
        println!("round {round}: {} of {FRAMES} frames found no room", full - dropped);
        assert!(full > dropped, "the store has room for all");
        // Those that waited come to the share check all at once.
        let shed = world.pulses.drops[DropReason::BufferShareFull as usize];
        let drops: u64 = world.pulses.drops.iter().sum();
        let entries: u64 = world.pulses.dispositions.iter().sum();
        assert_eq!(drops, full + shed, "no other reason");
        assert_eq!(drops + entries, world.pulses.frames);
        assert!(entries > 0, "packets waited");
    }
    // Payload is the flow's number in every byte: a frame that lost beats would have failed its
    // checksum, one that took those of another would show here.
    let payloads = world.outputs.iter().filter_map(|output| match output {
        Output::Write(_, bytes, true) => Some(bytes),
        _ => None,
    });
    for bytes in payloads {
        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "bytes of two frames");
    }
}

/// The real tables answer 17 cycles later than the ones here, over all three look-ups.
#[test]
fn first_write_follows_within_300_ns() {
    let mut world = build(1, NO_STALLS);
    for number in 0..8 {
        world.send(&frame(0, 64 * number, 64), false);
        let (beats, jobs) = (world.beats(), world.handshakes("write_job"));
        while world.beats() < beats + 2 {
            world.cycle();
        }
        let last_beat = world.pulses.cycles;
        while world.handshakes("write_job") == jobs {
            world.cycle();
        }
        let cycles = world.pulses.cycles - last_beat + 17;
        println!("{cycles} cycles from the last beat to the payload's write job");
        assert!(4 * cycles <= 300, "{cycles} cycles of 4 ns");
        world.run();
    }
    world.compare();
}
