//! The demo on a card that another process serves, in the time of the machine.
//!
//! ```text
//!   application ─ Provider ─ CardBus ══ socket ══ zeronic sim-card ─ wire ─ its peer: an echo
//! ```
//! The peer sends back what it receives, so that each byte goes through the card both ways and is
//! judged here.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use host::clock::Clock;
use host::driver::bus::MemoryKind;
use host::observed::Observed;
use host::protocol::Protocol;
use host::provider::Provider;
use host::transport::Transport;
use lab::exchange::{exchange_with_echo, Exchange};
use lab::wire::Disturbance;
use vfio::CardBus;

use super::arguments::{DemoArguments, MemoryName};
use super::ends::{link, remote, stacks};
use super::outputs::Outputs;
use super::report::FarReport;
use super::stacks::{ChosenStack, Stack};
use super::watcher::Watcher;
use crate::shared::awaited::Awaited;
use crate::shared::bus::{self, CardName};
use crate::shared::config::ModelName;
use crate::shared::options::UsageError;
use crate::shared::output::print;
use crate::shared::secret::fresh_secret;

/// How long the first byte may take. A connection to nobody is tried for much longer.
const FIRST_BYTE: Duration = Duration::from_secs(10);

/// Refuses options of what is not here.
pub fn check(arguments: &DemoArguments) -> Result<(), UsageError> {
    let others = [
        ("--wave", arguments.wave.is_some()),
        ("--pcap", arguments.pcap.is_some()),
        ("--memory gpu", arguments.memory == MemoryName::Gpu),
        ("--peer", arguments.peer != Stack::Auto),
        ("--model", arguments.model != ModelName::Rtl),
    ];
    let others = others.iter().filter(|(_, is_said)| *is_said).map(|it| it.0);
    match arguments.faults.option_names().chain(others).next() {
        None => Ok(()),
        Some(option) => Err(UsageError(format!(
            "{option}: card, wire and peer are in the process that serves the card; see `zeronic \
             sim-card --help`, or leave --bus out"
        ))),
    }
}

/// Runs the demo.
pub fn run(arguments: &DemoArguments, outputs: Outputs, name: &CardName) -> Result<bool> {
    // Before anything is said of the transport.
    let card = bus::open(name)?;
    let stacks = stacks(arguments, Clock::Wall { divisor: 1 }, fresh_secret());
    let over = (arguments, outputs);
    let (transport, words): (Box<dyn Transport>, _) = match stacks.transport(&link(1, arguments))? {
        ChosenStack::Own(tcp, words) => return run_over(over, (card, name), *tcp, &words),
        ChosenStack::Smoltcp(smoltcp, words) => (smoltcp, words),
        ChosenStack::Kernel(kernel, words) => (kernel, words),
    };
    run_over(over, (card, name), Observed::new(transport), words)
}

fn run_over<P: Protocol<Remote = SocketAddr>>(
    (arguments, outputs): (&DemoArguments, Outputs),
    (card, name): (CardBus, &CardName),
    protocol: P,
    transport: &str,
) -> Result<bool> {
    let mut provider = Provider::open(card, protocol, arguments.device()).map_err(bus::refusal)?;
    let before = provider.device().counters()?;
    let remote = remote(arguments);
    print(&format!(
        "card: {name}; peer: an echo at {remote}\n\
         transport: {transport}, headers only; time is the machine's, and runs do not repeat from \
         a seed\n"
    ))?;
    let exchange = Exchange {
        bytes: arguments.bytes.0,
        seed: arguments.seed,
        disturbance: Disturbance::default(),
        memory: MemoryKind::Application,
    };
    let mut watcher = Awaited::new(Watcher::new(arguments.bytes.0, None)?, remote, FIRST_BYTE);
    let outcome = exchange_with_echo(&mut provider, remote, &exchange, &mut watcher);
    watcher.inner.finish()?;
    let echo = outcome?;
    let moved = provider.device().counters()?;
    let moved = moved.iter().zip(&before).map(|(now, before)| (now.0, now.1 - before.1)).collect();
    let report = FarReport::new(&echo, provider.counters(), moved);
    // A card that cannot be left as it was found is said after what it has done.
    let closed = provider.shut_down();
    if let Some(json) = outputs.json {
        json.write_json(&report)?;
    }
    print(&report.text())?;
    closed?;
    Ok(report.ok)
}
