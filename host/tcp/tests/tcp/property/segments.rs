//! Headers written and read; garbage read; any segment shown to a connection.

use std::net::SocketAddr;

use rand::rngs::SmallRng;
use rand::Rng;
use tcp::config::{Config, Ecn, Law};
use tcp::connection::State;
use tcp::segment::{Codepoint, Flags, Run, SackBlock, Segment, Timestamps};
use tcp::wire::{emit, parse, HEADER_BYTES_MAX};
use tcp::{Endpoint, Limits, Secret, Tuple};

fn segment(random: &mut SmallRng) -> Segment {
    let mut segment = Segment {
        sequence: random.random(),
        acknowledgement: random.random(),
        flags: Flags(random.random()),
        window: random.random(),
        payload_bytes: random.random_range(0..3_000),
        ..Segment::default()
    };
    let options = &mut segment.options;
    options.timestamps = random
        .random_bool(0.5)
        .then(|| Timestamps { value: random.random(), echo: random.random() });
    if random.random_bool(0.3) {
        options.mss_bytes = Some(random.random());
        options.window_scale = Some(random.random());
        options.is_sack_permitted = true;
    }
    let room = if options.mss_bytes.is_some() { 1 } else { 3 };
    for _ in 0..random.random_range(0..=room) {
        options.sack.push(SackBlock { start: random.random(), end: random.random() });
    }
    segment
}

#[test]
fn headers_read_back_as_written() {
    let mut random = super::random();
    let mut bytes = [0; HEADER_BYTES_MAX];
    let mut blocks = 0;
    for _ in 0..5_000 {
        let segment = segment(&mut random);
        let length = emit(&segment, [80, 4_000], &mut bytes);
        assert_eq!(length % 4, 0);
        let read = parse(&bytes[..length], segment.payload_bytes, segment.codepoint);
        assert_eq!(read.as_ref(), Ok(&segment));
        blocks += segment.options.sack.len() as u64;
        assert!(parse(&bytes[..length - 1], 0, Codepoint::NotCapable).is_err());
    }
    seed::enough("SACK blocks", blocks, 3_000);
}

#[test]
fn garbage_is_read_without_a_panic() {
    let mut random = super::random();
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = [0_u8; HEADER_BYTES_MAX];
        random.fill(&mut bytes[..]);
        let length = random.random_range(0..=HEADER_BYTES_MAX);
        read += u64::from(parse(&bytes[..length], 0, Codepoint::NotCapable).is_ok());
    }
    seed::enough("headers read", read, 1_000);
}

/// A number near one that is known, so that it is often plausible.
fn near(random: &mut SmallRng, number: u32) -> u32 {
    let reach = [1, 10, 3_000, 100_000][random.random_range(0..4)];
    number.wrapping_add(random.random_range(0..2 * reach + 1)).wrapping_sub(reach)
}

/// A hostile peer that knows the numbers: no segment makes an endpoint panic, send beyond what was
/// offered, or loop.
#[test]
fn no_peer_makes_it_panic() {
    // Long: one script of a peer, of which every step reads and writes the numbers of both ends.
    let mut random = super::random();
    let tuple = Tuple {
        local: SocketAddr::from(([10, 0, 0, 1], 80)),
        remote: SocketAddr::from(([10, 0, 0, 2], 4_000)),
    };
    let (mut open, mut ended, mut sent_bytes) = (0, 0, 0);
    for run in 0..300_u64 {
        let law = [Law::Cubic, Law::Dctcp, Law::Model][run as usize % 3];
        let ecn = [Ecn::Off, Ecn::Classic, Ecn::Exact][run as usize / 3 % 3];
        let config = Config {
            law,
            ecn,
            is_timestamps_offered: run % 2 == 0,
            challenges_max: 1_000_000,
            ..Config::private_wire()
        };
        let mut endpoint = Endpoint::new(config, Secret([run as u8; 32]), Limits::default());
        let mut now_ns = 1_000;
        let id = endpoint.connect(now_ns, tuple).expect("the tuple is free");
        endpoint.granted(id, 20_000);
        endpoint.offered(id, 60_000);
        let (mut ours, mut theirs) = (0, 1_000_u32);
        let mut stamp = 0;
        for step in 0..200 {
            let mut burst = 0;
            while let Some(departure) = endpoint.transmit(now_ns) {
                let it = departure.outgoing;
                assert!(it.offset + u64::from(it.segment.payload_bytes) <= 60_000);
                ours = it.segment.sequence.wrapping_add(it.segment.length() as u32);
                if it.segment.flags.has(Flags::ACK) && it.segment.acknowledgement != 0 {
                    theirs = it.segment.acknowledgement;
                }
                stamp = it.segment.options.timestamps.map_or(0, |it| it.value);
                sent_bytes += u64::from(it.segment.payload_bytes);
                burst += 1;
                assert!(burst < 2_000, "it goes on for ever");
            }
            let mut segment = segment(&mut random);
            if step == 0 {
                segment.flags = Flags::SYN | Flags::ACK | Flags::ECE;
                segment.acknowledgement = ours;
                segment.options.is_sack_permitted = true;
                segment.options.mss_bytes = Some(random.random_range(1..3_000));
            } else {
                segment.sequence = near(&mut random, theirs);
                segment.acknowledgement = near(&mut random, ours);
                let is_rude = random.random_bool(0.02);
                let plain = Flags::ACK.0 | (segment.flags.0 & 0xe9);
                segment.flags = if is_rude { segment.flags } else { Flags(plain) };
                if random.random_bool(0.95) {
                    segment.flags.0 &= !Flags::FIN.0;
                }
                segment.codepoint = match random.random_range(0..3) {
                    0 => Codepoint::Experienced,
                    _ => Codepoint::Capable0,
                };
                for block in &mut segment.options.sack {
                    block.start = near(&mut random, ours);
                    block.end = near(&mut random, ours);
                }
            }
            if step > 0 && random.random_bool(0.3) {
                segment.run = Some(Run {
                    segment_bytes: [0, 1, 500, u32::MAX][random.random_range(0..4)],
                    acknowledgement: near(&mut random, ours),
                    window: random.random(),
                    timestamps: segment.options.timestamps,
                });
            }
            if let Some(timestamps) = &mut segment.options.timestamps {
                *timestamps = Timestamps { value: step, echo: stamp };
            }
            let has_room = random.random_bool(0.9);
            endpoint.arrive(now_ns, &tuple, &segment, has_room);
            let wait_ns = [0, 100, 100_000, 10_000_000][random.random_range(0..4)];
            now_ns += random.random_range(0..=wait_ns);
            endpoint.advance(now_ns);
            while endpoint.event().is_some() {}
            let state = endpoint.connection(id).map(|it| it.state());
            open += u64::from(state == Some(State::Established));
            ended += u64::from(state >= Some(State::TimeWait));
        }
    }
    seed::enough("steps of open connections", open, 5_000);
    seed::enough("steps of ended connections", ended, 500);
    seed::enough("bytes sent", sent_bytes, 1_000_000);
}
