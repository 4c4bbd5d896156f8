//! Runs against their packets: two endpoints with the same secret, one of which gets the packets
//! one by one before it sends anything.

use std::net::SocketAddr;

use rand::rngs::SmallRng;
use rand::Rng;
use tcp::segment::{Flags, Run, Segment, Timestamps};
use tcp::{Config, ConnectionId, Endpoint, Limits, Secret, Tuple};

const OFFERED_BYTES: u64 = 1 << 20;

fn tuple() -> Tuple {
    Tuple {
        local: SocketAddr::from(([10, 0, 0, 1], 80)),
        remote: SocketAddr::from(([10, 0, 0, 2], 4_000)),
    }
}

struct End {
    endpoint: Endpoint,
    id: ConnectionId,
    /// The newest ACK number, the window edge, and the end of all data, that it has sent.
    acknowledged: u32,
    edge: u32,
    ours: u32,
}

impl End {
    fn new() -> Self {
        let config = Config { is_timestamps_offered: true, ..Config::private_wire() };
        let mut endpoint = Endpoint::new(config, Secret([3; 32]), Limits::default());
        let id = endpoint.connect(1_000, tuple()).expect("the tuple is free");
        endpoint.granted(id, 200_000);
        endpoint.offered(id, OFFERED_BYTES);
        Self { endpoint, id, acknowledged: 0, edge: 0, ours: 0 }
    }

    fn drain(&mut self, now_ns: u64) {
        self.endpoint.advance(now_ns);
        while let Some(departure) = self.endpoint.transmit(now_ns) {
            let sent = departure.outgoing.segment;
            let end = sent.sequence.wrapping_add(sent.length() as u32);
            if self.ours == 0 || (end.wrapping_sub(self.ours) as i32) > 0 {
                self.ours = end;
            }
            if sent.flags.has(Flags::SYN) {
                continue;
            }
            let shift = Config::private_wire().window_scale;
            let edge = sent.acknowledgement.wrapping_add(u32::from(sent.window) << shift);
            let less = self.edge.wrapping_sub(edge) as i32;
            assert!(less < 1 << shift || self.edge == 0, "it shrinks by {less}");
            (self.acknowledged, self.edge) = (sent.acknowledgement, edge);
        }
    }
}

/// The packets of a run, one by one: what is between its first and last ACK number is not known, so
/// they say the first but for the last.
fn packets(whole: &Segment) -> Vec<Segment> {
    let run = whole.run.expect("a run");
    let lead_bytes = whole.lead_bytes();
    let starts = (0..whole.payload_bytes).step_by(run.segment_bytes as usize);
    starts
        .map(|start| {
            let mut packet = Segment { run: None, ..whole.clone() };
            packet.sequence = whole.sequence.wrapping_add(start);
            packet.payload_bytes = run.segment_bytes.min(whole.payload_bytes - start);
            if start == lead_bytes {
                packet.acknowledgement = run.acknowledgement;
                packet.window = run.window;
                packet.options.timestamps = run.timestamps;
            }
            packet
        })
        .collect()
}

/// A run after what was acknowledged, or around, that acknowledges something below `ours`.
fn random_run(
    random: &mut SmallRng,
    (acknowledged, ours): (u32, u32),
    clock: u32,
    is_in_order: bool,
) -> Segment {
    let segment_bytes = random.random_range(1..3_000_u32);
    let count = random.random_range(2..20_u32);
    let last_bytes = random.random_range(1..=segment_bytes);
    let shift = [0, 0, 0, 0, -5_000, 5_000, 9_000][random.random_range(0..7)];
    let shift = if is_in_order { 0 } else { shift };
    // ACK numbers go up to what was sent, and not down.
    let stamp = |value| Some(Timestamps { value, echo: 0 });
    let mut segment = Segment {
        sequence: acknowledged.wrapping_add(shift as u32),
        acknowledgement: ours.wrapping_sub(random.random_range(0..4_000)),
        flags: Flags::ACK,
        window: random.random_range(2_000..u16::MAX),
        payload_bytes: (count - 1) * segment_bytes + last_bytes,
        ..Segment::default()
    };
    segment.options.timestamps = stamp(clock);
    segment.run = Some(Run {
        segment_bytes,
        acknowledgement: ours.wrapping_sub(random.random_range(0..4_000)),
        window: random.random_range(2_000..u16::MAX),
        timestamps: stamp(clock + random.random_range(0..3)),
    });
    let run = segment.run.as_mut().expect("a run");
    if (run.acknowledgement.wrapping_sub(segment.acknowledgement) as i32) < 0 {
        std::mem::swap(&mut run.acknowledgement, &mut segment.acknowledgement);
    }
    segment
}

/// Both ends come to the same: what is accepted, what is acknowledged, and what they say of it.
#[test]
fn runs_come_to_what_packets_do() {
    let mut random = super::random();
    let (mut accepted, mut held) = (0, 0);
    for at in 0..200 {
        let is_in_order = at % 2 == 0;
        let [mut runs, mut singles] = [End::new(), End::new()];
        let mut now_ns = 1_000;
        for end in [&mut runs, &mut singles] {
            end.drain(now_ns);
            let mut answer = Segment {
                sequence: 1_000,
                acknowledgement: end.ours,
                flags: Flags::SYN | Flags::ACK,
                window: u16::MAX,
                ..Segment::default()
            };
            answer.options.is_sack_permitted = true;
            answer.options.mss_bytes = Some(1_460);
            answer.options.window_scale = Some(2);
            answer.options.timestamps = Some(Timestamps { value: 1, echo: 0 });
            end.endpoint.arrive(now_ns + 1_000, &tuple(), &answer, true);
            end.drain(now_ns + 1_000);
        }
        now_ns += 2_000;
        for step in 0..30 {
            let ours = [runs.ours, singles.ours];
            // What they send may differ a little: losses are looked for at other times.
            let ours = if (ours[0].wrapping_sub(ours[1]) as i32) < 0 { ours[0] } else { ours[1] };
            let numbers = (runs.acknowledged, ours);
            let run = random_run(&mut random, numbers, 10 + step, is_in_order);
            let (_, one) = runs.endpoint.arrive(now_ns, &tuple(), &run, true);
            let each: Vec<_> = packets(&run)
                .iter()
                .map(|packet| singles.endpoint.arrive(now_ns, &tuple(), packet, true).1)
                .collect();
            let last = each.last().expect("packets");
            assert!(one.accepted_to >= last.accepted_to, "{run:?}");
            assert!(one.acknowledged_to >= last.acknowledged_to, "{run:?}");
            if one.accepted_to > last.accepted_to || one.acknowledged_to > last.acknowledged_to {
                // A single packet over several holes fills only the first, and one that lies over
                // what was held before acknowledges nothing.
                assert!(!is_in_order, "{run:?}");
                break;
            }
            for end in [&mut runs, &mut singles] {
                end.endpoint.granted(end.id, one.accepted_to + 200_000);
                end.drain(now_ns);
                // A delayed ACK may have gone with data before.
                end.drain(now_ns + Config::private_wire().ack_delay_ns);
            }
            now_ns += 2 * Config::private_wire().ack_delay_ns;
            assert_eq!(runs.acknowledged, singles.acknowledged, "{run:?}");
            held += u64::from(!is_in_order && run.sequence != numbers.0);
        }
        let (_, last) = runs.endpoint.arrive(now_ns, &tuple(), &Segment::default(), false);
        accepted += last.accepted_to;
    }
    seed::enough("bytes accepted", accepted, 10_000_000);
    seed::enough("runs beside the edge", held, 200);
}
