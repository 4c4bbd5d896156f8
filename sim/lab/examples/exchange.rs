//! A card without hardware moves a stream each way over a wire that loses one packet in a hundred.
//!
//! ```text
//!   application ─ Provider ─ TcpProtocol ─ golden card ── wire: loses, reorders ── smoltcp
//! ```
//! Optional arguments: MiB each way (4 otherwise) and a seed (1 otherwise); a run repeats exactly.
//! Two TCPs meet the same losses: what the card sends is repaired at once, what smoltcp sends often
//! waits for its timer. So each direction has a rate of its own. It is that of the TCPs: the golden
//! card and this wire take no time, so it may be above any cable's.

use std::error::Error;
use std::time::Instant;

use abi::config::SMALL;
use host::clock::{Clock, ManualClock};
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::tcp::TcpProtocol;
use host::transport::peer::SmoltcpPeer;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Exchange, LabError, Observer, Side, Status};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::Machine;
use lab::wire::Disturbance;
use tcp::{Config, Secret};

/// Notes when each direction was through.
struct Watch {
    clock: ManualClock,
    bytes: u64,
    sent_ns: Option<u64>,
    received_ns: Option<u64>,
}

impl Observer for Watch {
    fn round(&mut self, status: Status) -> Result<(), LabError> {
        let now_ns = self.clock.now_ns();
        if status.sent == self.bytes {
            self.sent_ns.get_or_insert(now_ns);
        }
        if status.received == self.bytes {
            self.received_ns.get_or_insert(now_ns);
        }
        Ok(())
    }

    fn frame(&mut self, _: Side, _: &Frame) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mebibytes: u64 = arguments.next().as_deref().unwrap_or("4").parse()?;
    let seed: u64 = arguments.next().as_deref().unwrap_or("1").parse()?;
    if !(1..=1 << 20).contains(&mebibytes) {
        return Err(format!("{mebibytes} MiB: choose 1 to 1048576").into());
    }

    // The other machine. Everybody's time is the card's.
    let clock = ManualClock::default();
    let link = LinkConfig::lab(2, 1500, Tuning::SIMULATION);
    let peer = SmoltcpPeer::open(&link, Clock::Manual(clock.clone()))?;

    // The card, and a driver with our own TCP on it.
    let card = GoldenCard::new(SMALL);
    let link = LinkConfig::lab(1, 1500, Tuning::SIMULATION);
    let tcp = TcpProtocol::new(&link, Config::private_wire(), Secret([seed as u8; 32]));
    let bus = GoldenBus::new(card.clone());
    let protocol = (tcp, DeviceConfig::with_seed(seed));
    let mut machine = Machine::provided(bus, protocol, card, peer, Some(clock.clone()))?;

    let disturbance =
        Disturbance { loss: 0.01, reorder: 0.01, delay_ps: 5_000_000, ..Disturbance::default() };
    let exchange =
        Exchange { bytes: mebibytes << 20, seed, disturbance, memory: MemoryKind::Application };
    let bytes = exchange.bytes;
    let mut watch = Watch { clock, bytes, sent_ns: None, received_ns: None };
    let start = Instant::now();
    let outcome = machine.exchange("10.77.0.2:5001".parse()?, &exchange, &mut watch)?;

    println!("{mebibytes} MiB each way, {} frames lost by the wire", outcome.lost);
    for (what, ns) in [("card to peer", watch.sent_ns), ("peer to card", watch.received_ns)] {
        let ns = ns.ok_or(format!("{what}: never through"))?;
        let gigabits = 8.0 * bytes as f64 / ns as f64;
        println!("{what}: {gigabits:.3} Gb/s in {:.3} ms of simulated time", ns as f64 / 1e6);
    }
    println!("simulated {:.1?}", outcome.simulated);
    println!("skipped   {:.1?}, in which nothing could happen", outcome.skipped);
    println!("computed in {:.1?}", start.elapsed());
    for (name, count) in machine.host.device().counters()? {
        if count > 0 {
            println!("{name:>20} {count}");
        }
    }
    if !outcome.is_exact() || outcome.lost == 0 {
        return Err(format!("not every byte is right, or the wire lost none: {outcome:?}").into());
    }
    println!("every byte is right, both ways");
    Ok(())
}
