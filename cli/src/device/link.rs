//! `zeronic device link`: the MAC's link, up and down, and what stands in its way.
//!
//! ```text
//!   up ─────► settings, resets, alignment, send ─┐
//!   down ───► nothing is sent or received ───────┼─► state of the MAC, obstacle and remedy
//!   status ─► nothing is changed ────────────────┘
//! ```
//! The link stays as it is when the program ends, and through every reset of the card.

use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use host_board::mac::{bring_down, bring_up, mac_state, LinkError, LinkPlan, MacState, Obstacle};
use host_board::window::WindowError;
use serde::Serialize;

use super::card::{look_at, BusWindow, CardArguments};
use crate::shared::failure::STATUSES;
use crate::shared::options::UsageError;
use crate::shared::output::print;
use crate::shared::table::table;

/// Arguments of `zeronic device link`.
#[derive(Debug, Args)]
pub struct LinkArguments {
    #[command(subcommand)]
    what: LinkCommand,
}

#[derive(Debug, Subcommand)]
enum LinkCommand {
    /// Bring the link up, and wait for it; status 1 and the reason where it does not come
    Up(UpArguments),
    /// Switch the link off: nothing is sent or received
    Down(StateArguments),
    /// Show the link, and what stands in its way; status 1 while it is down
    Status(StateArguments),
}

/// Arguments of `down` and `status`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
struct StateArguments {
    #[command(flatten)]
    card: CardArguments,
}

/// Arguments of `up`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
struct UpArguments {
    #[command(flatten)]
    card: CardArguments,
    /// Forward error correction, as the other end has it
    #[arg(long, value_enum, default_value_t = Fec::Rs)]
    fec: Fec,
    /// Receive what is sent, in the transceivers: without a cable, for tests
    #[arg(long)]
    loopback: bool,
    /// Neither send nor hear pauses (802.3x)
    #[arg(long)]
    no_pause: bool,
    /// How long the link may take, seconds
    #[arg(long, default_value_t = 5, value_name = "SECONDS",
          value_parser = clap::value_parser!(u64).range(1..=600))]
    wait: u64,
}

/// Forward error correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Fec {
    /// RS-FEC (IEEE 802.3, clause 91): most optics and cables of 100 Gb/s need it
    Rs,
    /// None
    None,
}

/// What stands in the way.
#[derive(Clone, Debug, Serialize)]
struct Way {
    what: String,
    remedy: &'static str,
}

/// The link, for programs.
#[derive(Clone, Debug, Serialize)]
struct LinkFacts {
    bus: String,
    up: bool,
    obstacle: Option<Way>,
    clock_khz: u32,
    module: Option<bool>,
    core: String,
    rs_fec: bool,
    fec_aligned: bool,
    lanes_locked: u32,
    aligned: bool,
    high_ber: bool,
    local_fault: bool,
    remote_fault: bool,
    loopback: bool,
    pause: bool,
    receives: bool,
    sends: bool,
    codewords_corrected: u64,
    codewords_uncorrected: u64,
    bad_fcs: u64,
    card_up: bool,
}

impl LinkFacts {
    fn new(bus: String, state: &MacState, obstacle: Option<Obstacle>) -> Self {
        let way = |it: Obstacle| Way { what: it.to_string(), remedy: it.remedy() };
        Self {
            bus,
            up: obstacle.is_none(),
            obstacle: obstacle.map(way),
            clock_khz: state.clock_khz,
            module: state.has_module,
            core: format!("{}.{}", state.core.0, state.core.1),
            rs_fec: state.has_fec,
            fec_aligned: state.fec_aligned,
            lanes_locked: state.locked_lanes,
            aligned: state.is_aligned,
            high_ber: state.high_ber,
            local_fault: state.local_fault,
            remote_fault: state.remote_fault,
            loopback: state.loops,
            pause: state.has_pause,
            receives: state.rx_enabled,
            sends: state.tx_enabled && !state.sends_fault,
            codewords_corrected: state.corrected,
            codewords_uncorrected: state.uncorrected,
            bad_fcs: state.bad_fcs,
            card_up: state.card_up,
        }
    }

    fn text(&self) -> String {
        let word = |holds: bool, yes: &str, no: &str| if holds { yes } else { no }.to_owned();
        let mut table = table(&[]);
        let mut row = |name: &str, value: String| {
            table.add_row([name.to_owned(), value]);
        };
        row("clock", format!("{} kHz", self.clock_khz));
        let module = self.module.map(|has| word(has, "there", "none"));
        row("module", module.unwrap_or_else(|| "the board does not say".to_owned()));
        row("MAC", format!("core {}", self.core));
        row(
            "RS-FEC",
            match (self.rs_fec, self.fec_aligned) {
                (false, _) => "off".to_owned(),
                (true, false) => "on, not aligned".to_owned(),
                (true, true) => "on, aligned".to_owned(),
            },
        );
        let aligned = word(self.aligned, "aligned", "not aligned");
        row("lanes", format!("{} of 20 find blocks, {aligned}", self.lanes_locked));
        let faults = [
            (self.local_fault, "local fault"),
            (self.remote_fault, "remote fault"),
            (self.high_ber, "too many errors"),
        ];
        let faults: Vec<&str> = faults.iter().filter(|(holds, _)| *holds).map(|it| it.1).collect();
        row("faults", if faults.is_empty() { "none".to_owned() } else { faults.join(", ") });
        let receives = word(self.receives, "on", "off");
        row("receive, send", format!("{receives}, {}", word(self.sends, "on", "off")));
        row("loopback", word(self.loopback, "near end: what is sent is received", "off"));
        row("pause", word(self.pause, "sent and heard", "off"));
        let Self { codewords_corrected, codewords_uncorrected, bad_fcs, .. } = self;
        let counted = format!(
            "{codewords_corrected} codewords corrected, {codewords_uncorrected} not; {bad_fcs} \
             frames with a wrong check sequence"
        );
        row("since the last look", counted);
        let verdict = match &self.obstacle {
            None => "the link is up".to_owned(),
            Some(Way { what, remedy }) => format!("the link is down: {what}; {remedy}"),
        };
        format!("{table}\n{verdict}\n")
    }
}

/// What the window says that has no MAC.
fn refusal(error: WindowError) -> anyhow::Error {
    match error {
        WindowError::NoDirectory { .. } | WindowError::NoBlock { .. } => UsageError(format!(
            "{error}: this card's MAC is not in its window, and is up as long as its wire is"
        ))
        .into(),
        WindowError::Gone { .. } => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}

/// Runs the command. True where the link is as it was asked for.
pub fn run(arguments: &LinkArguments) -> Result<bool> {
    let card_arguments = match &arguments.what {
        LinkCommand::Up(arguments) => &arguments.card,
        LinkCommand::Down(arguments) | LinkCommand::Status(arguments) => &arguments.card,
    };
    let json = card_arguments.json()?;
    let mut card = card_arguments.open()?;
    look_at(&mut card)?;
    let window = &mut BusWindow(&mut card);
    let (state, obstacle) = match &arguments.what {
        LinkCommand::Up(arguments) => {
            let plan = LinkPlan {
                fec: arguments.fec == Fec::Rs,
                loops: arguments.loopback,
                pause: !arguments.no_pause,
                limit: Duration::from_secs(arguments.wait),
            };
            match bring_up(window, &plan) {
                Ok(state) => (state, None),
                Err(LinkError::Down { obstacle, state }) => (*state, Some(obstacle)),
                Err(LinkError::Window(error)) => return Err(refusal(error)),
            }
        }
        LinkCommand::Down(_) => {
            let state = bring_down(window).map_err(refusal)?;
            (state, state.obstacle())
        }
        LinkCommand::Status(_) => {
            let state = mac_state(window).map_err(refusal)?;
            (state, state.obstacle())
        }
    };
    let report = LinkFacts::new(card_arguments.name(), &state, obstacle);
    if let Some(json) = json {
        json.write_json(&report)?;
    }
    print(&report.text())?;
    Ok(report.up != matches!(arguments.what, LinkCommand::Down(_)))
}
