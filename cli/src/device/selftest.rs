//! `zeronic device selftest`: a card does what the contract says, as far as it can be seen here.
//!
//! ```text
//!   registers ─► reset ─► rings: commands and their confirmations ─► interrupt
//!   loopback: frames through the MAC, without a wire
//!   wire: random bytes to a peer that sends them back, every byte judged
//! ```
//! Without a peer at its wire the last part is left out, and the report says so.

mod looped;
mod mapping;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use abi::config::COMMAND_BYTES;
use abi::registers as r;
use anyhow::Result;
use clap::Args;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{Device, DeviceConfig};
use host::driver::error::DriverError;
use host::driver::look::CardLook;
use host::provider::Provider;
use host::tcp::TcpProtocol;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{exchange_with_echo, Blind, Exchange, LabError};
use lab::wire::Disturbance;
use tcp::Config;
use vfio::CardBus;

use super::card::{look_at, CardArguments};
use super::report::{conclude, Check, Verdict};
use crate::shared::awaited::Awaited;
use crate::shared::bus::{driver_refusal, refusal};
use crate::shared::failure::STATUSES;
use crate::shared::options::{moved_bytes, Bytes};
use crate::shared::secret::fresh_secret;

/// Commands that go through the ring, several times around it.
const COMMANDS: usize = 2000;
/// How long the card may take for something: it takes microseconds.
const LIMIT: Duration = Duration::from_secs(1);
/// Tries for an interrupt: a confirmation that comes at once needs none.
const INTERRUPT_TRIES: usize = 20;
/// A command that does nothing but be confirmed.
const NOP: [u8; COMMAND_BYTES] = [0; COMMAND_BYTES];
/// How long the peer may take for its first byte.
const ANSWER: Duration = Duration::from_secs(3);

/// Arguments of `zeronic device selftest`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct SelftestArguments {
    #[command(flatten)]
    card: CardArguments,
    /// Bytes to send over the wire and back (plain, or with KiB, MiB or GiB)
    #[arg(long, default_value = "1MiB", value_name = "N", value_parser = moved_bytes)]
    bytes: Bytes,
    /// Peer at the wire that sends back what it receives
    #[arg(long, default_value = "10.77.0.2:5001", value_name = "ADDRESS:PORT")]
    peer: SocketAddr,
    /// Largest IP packet, bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    /// Seed of the bytes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Time how long so much memory takes to be mapped for the card, in large and in small pages
    #[arg(long, value_name = "N", value_parser = moved_bytes)]
    map: Option<Bytes>,
}

/// Runs the command. True where nothing is bad.
pub fn run(arguments: &SelftestArguments) -> Result<bool> {
    let json = arguments.card.json()?;
    let mut card = arguments.card.open()?;
    let look = look_at(&mut card)?;
    let mut checks = vec![registers(&mut card, &look)?];
    let opened = Instant::now();
    let mut device = Device::open(card, DeviceConfig::default()).map_err(driver_refusal)?;
    let opened = opened.elapsed();
    let epoch = look_at(device.bus())?.epoch;
    let found = format!(
        "epoch {epoch}, it was {}; opened in {:.1} ms",
        look.epoch,
        opened.as_secs_f64() * 1e3
    );
    let advice = "the card does not begin an epoch";
    checks.push(Check::new("reset", Verdict::Bad.unless(epoch != look.epoch), found, advice));
    checks.push(rings(&mut device)?);
    checks.push(interrupt(&mut device)?);
    device.close()?;
    if let Some(Bytes(bytes)) = arguments.map {
        checks.push(mapping::mapping(arguments.card.open()?, usize::try_from(bytes)?)?);
    }
    checks.push(looped::looped(arguments.card.open()?, arguments.seed)?);
    checks.push(wire(arguments)?);
    conclude(&checks, json)
}

/// The identity reads the same again and again, and a read-only register is not written.
fn registers(card: &mut CardBus, look: &CardLook) -> Result<Check> {
    let mut wrong = 0;
    for _ in 0..1000 {
        wrong += usize::from(card.read_register(r::ID)? != r::ID_VALUE);
    }
    card.write_register(r::VERSION, !look.version)?;
    wrong += usize::from(card.read_register(r::VERSION)? != look.version);
    let found = format!("1,002 accesses, {wrong} wrong");
    let advice = "the bus or the card changes what is read";
    Ok(Check::new("registers", Verdict::Bad.unless(wrong == 0), found, advice))
}

/// Commands are read by DMA, and confirmed by DMA.
fn rings<B: Bus>(device: &mut Device<B>) -> Result<Check> {
    let begun = Instant::now();
    let mut last = None;
    for _ in 0..COMMANDS {
        last = Some(device.command(NOP));
    }
    let mut is_done = false;
    let mut stopped = None;
    while !is_done && stopped.is_none() && begun.elapsed() < LIMIT {
        stopped = match device.poll() {
            Ok(_) => None,
            Err(error @ DriverError::RingStopped { .. }) => Some(error),
            Err(error) => return Err(driver_refusal(error)),
        };
        is_done = last.is_none_or(|last| device.is_confirmed(last));
    }
    let refused = device.take_refused().is_some();
    let found = match (&stopped, is_done) {
        (Some(error), _) => error.to_string(),
        (None, true) => {
            let each = begun.elapsed().as_nanos() as f64 / 1e3 / COMMANDS as f64;
            format!("{COMMANDS} commands confirmed, {each:.2} us each")
        }
        (None, false) => format!("{} commands not confirmed", device.unconfirmed_count()),
    };
    let advice = "the card does not reach the memory of this process";
    Ok(Check::new("rings, DMA", Verdict::Bad.unless(is_done && !refused), found, advice))
}

/// An armed owner is told of a confirmation.
fn interrupt<B: Bus>(device: &mut Device<B>) -> Result<Check> {
    let mut woken = None;
    for _ in 0..INTERRUPT_TRIES {
        device.command(NOP);
        device.poll()?;
        let begun = Instant::now();
        if device.wait(LIMIT, None)? {
            woken = Some(begun.elapsed());
            break;
        }
        device.poll()?;
    }
    // What a broken card never confirms is left to the end of its use.
    let begun = Instant::now();
    while device.unconfirmed_count() > 0 && begun.elapsed() < LIMIT {
        device.poll()?;
    }
    let found = match woken {
        Some(time) => format!("the host was woken after {:.0} us", time.as_nanos() as f64 / 1e3),
        None => format!("none in {INTERRUPT_TRIES} tries"),
    };
    let advice = "the card does not interrupt: a host that sleeps is not woken";
    Ok(Check::new("interrupt", Verdict::Bad.unless(woken.is_some()), found, advice))
}

/// Bytes over the wire and back.
fn wire(arguments: &SelftestArguments) -> Result<Check> {
    // Opened again: what was set up before is gone.
    let card = arguments.card.open()?;
    let link = LinkConfig::lab(1, arguments.mtu, Tuning::REAL_TIME);
    let protocol = TcpProtocol::new(&link, Config::private_wire(), fresh_secret());
    let mut provider = Provider::open(card, protocol, DeviceConfig::default()).map_err(refusal)?;
    let exchange = Exchange {
        bytes: arguments.bytes.0,
        seed: arguments.seed,
        disturbance: Disturbance::default(),
        memory: MemoryKind::Application,
    };
    let mut watcher = Awaited::new(Blind, arguments.peer, ANSWER);
    let echo = exchange_with_echo(&mut provider, arguments.peer, &exchange, &mut watcher);
    let check = match echo {
        Ok(echo) => {
            let gbps = echo.received.0 as f64 * 8.0 / echo.elapsed.as_nanos().max(1) as f64;
            let bytes = echo.received.0;
            let (verdict, judged) = match echo.is_exact() {
                true => (Verdict::Good, "each as sent"),
                false => (Verdict::Bad, "NOT as sent"),
            };
            let found =
                format!("{bytes} bytes out and back, {judged}; {gbps:.2} Gb/s of wall time");
            Check::new("wire, every byte", verdict, found, "card, wire or peer changes bytes")
        }
        Err(LabError::Stopped(why)) => {
            let found = "not tested: nobody is at the wire";
            Check::new("wire, every byte", Verdict::Unseen, found, why)
        }
        Err(LabError::Host(error)) => return Err(refusal(error)),
        Err(error) => {
            let advice = "look at `device counters`";
            Check::new("wire, every byte", Verdict::Bad, error.to_string(), advice)
        }
    };
    provider.shut_down().map_err(refusal)?;
    Ok(check)
}

#[cfg(test)]
mod tests {
    use abi::config::SMALL;
    use lab::golden_card::{GoldenBus, GoldenCard, Withheld};

    use super::*;

    /// Its commands take effect, and no confirmation is ever seen.
    #[test]
    fn card_without_confirmations_fails_without_hanging() {
        let card = GoldenCard::late(SMALL, 1);
        let bus = GoldenBus::new(card.clone());
        let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("a card");
        card.borrow_mut().withhold(Some(Withheld::Confirmations));
        let begun = Instant::now();
        for check in [rings(&mut device), interrupt(&mut device)] {
            assert_eq!(check.expect("a check").verdict, Verdict::Bad);
        }
        assert!(begun.elapsed() < 10 * LIMIT, "{:?}", begun.elapsed());
    }
}
