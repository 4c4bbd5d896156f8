//! `zeronic scenario`: many connections of our own TCP on a late golden card, of which some end
//! early, beside forged packets and an application that misbehaves.
//!
//! Everything follows from the options: the same command does the same, on any machine.

use anyhow::Result;
use clap::{Args, ValueEnum};
use host::clock::{Clock, ManualClock};
use host::driver::device::{DeviceConfig, COALESCE_TIME};
use host::provider::Provider;
use host::tcp::TcpProtocol;
use host::transport::peer::TcpPeer;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Harm, Scenario};
use lab::golden_card::{GoldenBus, GoldenCard};
use tcp::{Config, Secret};

use crate::shared::config::ConfigName;
use crate::shared::failure::{self, STATUSES};
use crate::shared::faults::Faults;
use crate::shared::options::probability;
use crate::shared::output::print;
use crate::shared::stack::Controller;

/// What the application does that misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HarmName {
    /// Its command ring cannot be read
    Commands,
    /// Its send ring cannot be read
    Sends,
    /// The card takes nothing out of its send ring
    Full,
}

/// Arguments of `zeronic scenario`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct ScenarioArguments {
    /// Connections of the application that behaves
    #[arg(long, default_value_t = 4, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=32))]
    connections: u16,
    /// Bytes each way of each connection
    #[arg(long, default_value_t = 10_000, value_name = "BYTES",
          value_parser = clap::value_parser!(u64).range(1..=16 << 20))]
    bytes: u64,
    /// Bytes of a buffer; four are posted each way, which bounds the window
    #[arg(long, default_value_t = 4096, value_name = "BYTES",
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    buffer: u32,
    /// Close every second connection when so many bytes have come
    #[arg(long, value_name = "BYTES")]
    close_at: Option<u64>,
    #[command(flatten)]
    faults: Faults,
    /// Probability that a round of the host brings a forged packet
    #[arg(long, default_value = "0", value_parser = probability, value_name = "P")]
    forged: f64,
    /// Let a second application misbehave
    #[arg(long, value_enum)]
    harm: Option<HarmName>,
    /// How both ends find their rate
    #[arg(long, value_enum, default_value_t = Controller::Model)]
    controller: Controller,
    /// Largest IP packet
    #[arg(long, default_value_t = 1500, value_name = "BYTES",
          value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,
    /// One header entry for a run of received packets
    #[arg(long)]
    coalesce: bool,
    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value_t = ConfigName::Small)]
    config: ConfigName,
    /// Seed of bytes, faults, forgeries, and of what the card does late
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the scenario. True: an error says what is wrong.
pub fn run(arguments: &ScenarioArguments) -> Result<bool> {
    let scenario = Scenario {
        seed: arguments.seed,
        connections: arguments.connections.into(),
        bytes: arguments.bytes,
        buffer_bytes: arguments.buffer,
        close_at: arguments.close_at,
        disturbance: arguments.faults.disturbance(),
        forged: arguments.forged,
        harm: arguments.harm.map(|harm| match harm {
            HarmName::Commands => Harm::Commands,
            HarmName::Sends => Harm::Sends,
            HarmName::Full => Harm::Full,
        }),
    };
    let clock = ManualClock::default();
    let links = [1, 2].map(|number| {
        let mut link = LinkConfig::lab(number, arguments.mtu, Tuning::SIMULATION);
        link.addresses.retain(|own| own.address.is_ipv4());
        link
    });
    let protocol = |link: &LinkConfig| {
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&arguments.seed.to_le_bytes());
        secret[8..14].copy_from_slice(&link.mac);
        let config = Config { law: arguments.controller.law(), ..Config::private_wire() };
        TcpProtocol::new(link, config, Secret(secret))
    };
    let mut card = GoldenCard::late(arguments.config.sizes(), arguments.seed);
    let bus = GoldenBus::new(card.clone());
    let device = DeviceConfig {
        coalesce: arguments.coalesce.then_some(COALESCE_TIME),
        ..DeviceConfig::with_seed(arguments.seed)
    };
    let mut provider = Provider::open(bus, protocol(&links[0]), device)?;
    provider.set_clock(Clock::Manual(clock.clone()));
    let mut peer = TcpPeer::new(protocol(&links[1]), &links[1], Clock::Manual(clock.clone()));
    scenario
        .run(&mut provider, &mut card, &mut peer, clock)
        .map_err(|error| failure::wrong(error.to_string()))?;
    print(&format!("all {} connections are as they should be\n", arguments.connections))?;
    Ok(true)
}
