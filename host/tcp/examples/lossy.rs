//! Two engines in memory: they connect and move a stream over a wire that loses every 20th packet.
//!
//! ```text
//!   client: Endpoint ── headers and lengths ──► wire: 25 us, loses ──► server: Endpoint
//!                    ◄──────────────────────────────────────────────
//! ```
//! No payload exists: what moves is positions. Time is simulated, so a run takes milliseconds.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tcp::segment::Flags;
use tcp::{Config, Endpoint, Event, Limits, Outgoing, Secret, Segment, Tuple};

const STREAM_BYTES: u64 = 10_000_000;
const WINDOW_BYTES: u64 = 1 << 20;
const DELAY_NS: u64 = 25_000;
const LOSS: f64 = 0.05;
/// A packet of 1,500 bytes on a wire of 100 Gb/s.
const PACKET_NS: u64 = 120;
/// Simulated time after which the run is given up: ten seconds.
const LIMIT_NS: u64 = 10_000_000_000;

/// The wire, both directions.
struct Wire {
    /// What is on its way, by the time of its arrival and its number: to which end, and its header.
    packets: BTreeMap<(u64, u64), (usize, Segment)>,
    random: SmallRng,
    /// When each direction is free again.
    free_ns: [u64; 2],
    sent: u64,
    lost: u64,
}

impl Wire {
    fn carry(&mut self, now_ns: u64, from: usize, segment: Segment) {
        self.sent += 1;
        self.free_ns[from] = now_ns.max(self.free_ns[from]) + PACKET_NS;
        if self.random.random_bool(LOSS) {
            self.lost += 1;
            return;
        }
        let at_ns = self.free_ns[from] + DELAY_NS;
        self.packets.insert((at_ns, self.sent), (1 - from, segment));
    }

    /// The next packet that has arrived by now: at which end, and its header.
    fn arrived(&mut self, now_ns: u64) -> Option<(usize, Segment)> {
        let first = self.packets.first_entry().filter(|first| first.key().0 <= now_ns)?;
        Some(first.remove())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let client: SocketAddr = "10.0.0.1:5000".parse()?;
    let server: SocketAddr = "10.0.0.2:80".parse()?;
    let tuples = [Tuple { local: client, remote: server }, Tuple { local: server, remote: client }];
    let end = |key| Endpoint::new(Config::private_wire(), Secret([key; 32]), Limits::default());
    let mut ends = [end(1), end(2)];
    let listener = ends[1].listen(server)?;
    let sending = ends[0].connect(0, tuples[0])?;
    ends[0].offered(sending, STREAM_BYTES);
    ends[0].finish(sending);
    let random = SmallRng::seed_from_u64(1);
    let mut wire = Wire { packets: BTreeMap::new(), random, free_ns: [0; 2], sent: 0, lost: 0 };
    let (mut now_ns, mut accepted, mut has_ended) = (0, 0, false);
    while !has_ended && now_ns < LIMIT_NS {
        while let Some((to, segment)) = wire.arrived(now_ns) {
            ends[to].arrive(now_ns, &tuples[to], &segment, true);
        }
        if let Some(id) = ends[1].accept(listener) {
            ends[1].granted(id, WINDOW_BYTES);
            println!("{now_ns:>9} ns  connected");
        }
        for (from, end) in ends.iter_mut().enumerate() {
            end.advance(now_ns);
            while let Some((id, event)) = end.event() {
                match event {
                    Event::Accepted(to) => {
                        end.granted(id, to + WINDOW_BYTES);
                        if 10 * to / STREAM_BYTES > 10 * accepted / STREAM_BYTES {
                            println!("{now_ns:>9} ns  {to:>8} bytes accepted");
                        }
                        accepted = to;
                    }
                    Event::EndOfStream => has_ended = true,
                    Event::Ended(why) => return Err(format!("end {from}: {why}").into()),
                    Event::Opened | Event::Acknowledged(_) => {}
                }
            }
            while let Some(departure) = end.transmit(now_ns) {
                for segment in cut(&departure.outgoing) {
                    wire.carry(now_ns, from, segment);
                }
            }
        }
        let arrival = wire.packets.keys().next().map(|key| key.0);
        let timers = ends.iter().filter_map(Endpoint::deadline);
        let Some(next_ns) = timers.chain(arrival).min() else { break };
        now_ns = next_ns.max(now_ns + 1);
    }
    let counters = ends[0].connection(sending).ok_or("the connection is gone")?.counters();
    println!("{} packets, {} lost; {accepted} bytes accepted", wire.sent, wire.lost);
    println!("{} bytes sent again, {} timeouts", counters.repeated_bytes, counters.timeouts);
    if !has_ended || accepted != STREAM_BYTES {
        return Err(format!("{accepted} of {STREAM_BYTES} bytes after {now_ns} ns").into());
    }
    Ok(())
}

/// A header for a long payload becomes packets, as a card cuts it.
fn cut(outgoing: &Outgoing) -> Vec<Segment> {
    let (whole, mss_bytes) = (&outgoing.segment, outgoing.mss_bytes.max(1));
    let starts = (0..whole.payload_bytes.max(1)).step_by(mss_bytes as usize);
    let part = |start: u32| {
        let mut part = whole.clone();
        part.payload_bytes = mss_bytes.min(whole.payload_bytes - start);
        part.sequence = whole.sequence.wrapping_add(start);
        if start + part.payload_bytes < whole.payload_bytes {
            part.flags.0 &= !(Flags::FIN.0 | Flags::PSH.0);
        }
        part
    };
    starts.map(part).collect()
}
