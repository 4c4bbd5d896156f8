//! `zeronic device top`: a card at work, on the whole screen.
//!
//! ```text
//!   traffic: flows of several owners to a peer that sends back ─┐
//!   counters of the card ───────────────────────────────────────┴─► page ─► screen
//! ```
//! A card has one client: what another program does with it is not seen from outside. So this one
//! brings flows of its own, judges every byte, and shows what becomes of them.

mod page;
mod screen;
mod traffic;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use host::driver::counters::read_counters;
use host::driver::wire::WireState;
use serde::Serialize;

use self::page::{page, CardPart, Sample};
use self::screen::{Key, Screen};
use self::traffic::{Traffic, TrafficSetup};
use super::card::{look_at, CardArguments};
use crate::shared::bus::driver_refusal;
use crate::shared::failure::STATUSES;
use crate::shared::options::UsageError;
use crate::shared::output::print;

/// How long the first byte may take, on a machine that does much else.
const ANSWER: Duration = Duration::from_secs(10);

/// Arguments of `zeronic device top`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct TopArguments {
    #[command(flatten)]
    card: CardArguments,
    /// Owners, each with rings of its own
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=15))]
    owners: u8,
    /// Flows, shared out among the owners
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    flows: u16,
    /// Peer at the wire that sends back what it receives
    #[arg(long, default_value = "10.77.0.2:5001", value_name = "ADDRESS:PORT")]
    peer: SocketAddr,
    /// Largest IP packet, bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    /// Seconds between two looks
    #[arg(long, default_value_t = 1, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
    /// End so many seconds after the first byte; without it `q` ends it
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// Seed of the bytes
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What is written as JSON: the last look.
#[derive(Serialize)]
struct LastSample<'a> {
    ok: bool,
    sample: &'a Sample,
}

/// Looks at the card.
fn look(traffic: &mut Traffic, name: &str, begun: Instant) -> Result<Sample> {
    let (owners, flows) = traffic.parts();
    let bus = traffic.bus();
    let look = look_at(bus)?;
    let counters = read_counters(bus).map_err(driver_refusal)?;
    let WireState { is_up, remote_fault, local_fault, .. } = look.wire;
    Ok(Sample {
        card: CardPart {
            bus: name.to_owned(),
            epoch: look.epoch,
            wire_up: is_up,
            fault: remote_fault || local_fault,
        },
        elapsed: begun.elapsed(),
        owners,
        flows,
        counters: counters.into_iter().map(Into::into).collect(),
    })
}

/// Runs the command. True where every byte that came back was right, and no flow has failed.
pub fn run(arguments: &TopArguments) -> Result<bool> {
    let json = arguments.card.json()?;
    let mut card = arguments.card.open()?;
    look_at(&mut card)?;
    let name = arguments.card.name();
    let TopArguments { owners, flows, peer, mtu, seed, .. } = *arguments;
    let mut traffic = Traffic::open(card, &TrafficSetup { owners, flows, peer, mtu, seed })?;
    let every = Duration::from_secs(arguments.every);
    let begun = Instant::now();
    let mut before = look(&mut traffic, &name, begun)?;
    let mut screen = Screen::open()?;
    let mut shown = begun;
    let mut moved = None;
    loop {
        traffic.step()?;
        if moved.is_none() && traffic.has_moved() {
            moved = Some(Instant::now());
        }
        if moved.is_none() && begun.elapsed() > ANSWER {
            drop(screen);
            return Err(UsageError(format!(
                "{peer} does not answer: at the wire must be a machine that sends back what it \
                 receives, such as that of `zeronic sim-card --peer smoltcp`"
            ))
            .into());
        }
        let limit = arguments.seconds.map(Duration::from_secs);
        let is_over = moved.zip(limit).is_some_and(|(moved, limit)| moved.elapsed() >= limit);
        if moved.is_some() && (shown.elapsed() >= every || is_over) {
            shown = Instant::now();
            let now = look(&mut traffic, &name, begun)?;
            screen.show(&page(&before, &now, screen.size()))?;
            before = now;
        }
        if is_over || screen.key() == Some(Key::Quit) {
            break;
        }
    }
    let last = look(&mut traffic, &name, begun)?;
    drop(screen);
    let back: u64 = last.flows.iter().map(|flow| flow.received).sum();
    let is_right = last.flows.iter().all(|flow| flow.wrong_bytes == 0 && flow.failed.is_none());
    let ok = back > 0 && is_right;
    traffic.close()?;
    if let Some(json) = json {
        json.write_json(&LastSample { ok, sample: &last })?;
    }
    let verdict = if ok { "each as sent" } else { "NOT all as sent, or a flow failed" };
    let seconds = last.elapsed.as_secs_f64();
    print(&format!("{back} bytes out and back in {seconds:.1} s, {verdict}\n"))?;
    Ok(ok)
}
