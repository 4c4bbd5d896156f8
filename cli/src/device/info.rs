//! `zeronic device info`: what a card is.

use abi::registers as r;
use anyhow::Result;
use clap::Args;
use host::driver::look::CardLook;
use host_board::identity::{identity, Identity};
use host_board::window::WindowError;
use serde::Serialize;
use vfio::CardBus;

use super::card::{contract, look_at, BusWindow, CardArguments};
use super::express::{Express, Ids};
use crate::shared::config::configuration;
use crate::shared::failure::STATUSES;
use crate::shared::output::print;
use crate::shared::table::table;

/// Arguments of `zeronic device info`.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct InfoArguments {
    #[command(flatten)]
    card: CardArguments,
}

/// What a card is.
#[derive(Clone, Debug, Serialize)]
struct Info {
    bus: String,
    ids: Ids,
    contract: String,
    /// The configuration whose sizes it has; none: sizes of its own.
    configuration: Option<&'static str>,
    flows: u64,
    segments: u64,
    regions: u64,
    pages: u64,
    owners: u64,
    features: Vec<&'static str>,
    epoch: u32,
    wire_up: bool,
    interrupts: u32,
    link: Option<Express>,
    board: Option<BoardInfo>,
}

/// What a board says of itself.
#[derive(Clone, Debug, Serialize)]
struct BoardInfo {
    board: String,
    image_contract: String,
    configuration: String,
    git: String,
    built: u32,
    slot: &'static str,
}

impl From<Identity> for BoardInfo {
    fn from(identity: Identity) -> Self {
        let known = ::board::boards::BOARDS.iter().find(|it| it.number == identity.board);
        let board = match (identity.board, known) {
            (0, _) => "simulated".to_owned(),
            (_, Some(board)) => board.name.to_owned(),
            (number, None) => format!("number {number}"),
        };
        Self {
            board,
            image_contract: format!("{}.{}", identity.contract.0, identity.contract.1),
            configuration: identity.config,
            git: identity.git,
            built: identity.built,
            slot: ["golden", "user"].get(identity.slot as usize).unwrap_or(&"unknown"),
        }
    }
}

/// Names of features.
const FEATURES: [(u32, &str); 6] = [
    (r::FEATURE_IPV6, "IPv6"),
    (r::FEATURE_TSO, "TSO"),
    (r::FEATURE_PROFILES, "header profiles"),
    (r::FEATURE_PUSH, "pushed slots"),
    (r::FEATURE_ARM, "interrupts of all rings"),
    (r::FEATURE_COALESCE, "runs of received packets"),
];

impl Info {
    fn new(bus: String, card: &mut CardBus, look: &CardLook) -> Result<Self> {
        let board = match identity(&mut BusWindow(card)) {
            Ok(identity) => Some(identity.into()),
            // A simulated card has no board around it.
            Err(WindowError::NoDirectory { .. } | WindowError::NoBlock { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let sizes = look.sizes;
        let has = |(bit, _): &&(u32, &'static str)| look.features & bit != 0;
        Ok(Self {
            bus,
            ids: Ids::read(card)?,
            contract: contract(look.version),
            configuration: configuration(&sizes),
            flows: 1 << sizes.flow_bits,
            segments: 1 << sizes.segment_bits,
            regions: 1 << sizes.region_bits,
            pages: 1 << sizes.page_bits,
            owners: 1 << sizes.owner_bits,
            features: FEATURES.iter().filter(has).map(|(_, name)| *name).collect(),
            epoch: look.epoch,
            wire_up: look.wire.is_up,
            interrupts: card.vectors(),
            link: Express::read(card)?,
            board,
        })
    }

    fn text(&self) -> String {
        let mut table = table(&[]);
        let mut row = |name: &str, value: String| {
            table.add_row([name.to_owned(), value]);
        };
        row("bus", self.bus.clone());
        row("device", self.ids.text());
        row("contract", self.contract.clone());
        let sizes = format!(
            "{} flows, {} segments, {} regions, {} pages, {} owners",
            self.flows, self.segments, self.regions, self.pages, self.owners
        );
        let named = self.configuration.unwrap_or("none that is known by name");
        row("configuration", format!("{named}: {sizes}"));
        row("features", self.features.join(", "));
        row("epoch", self.epoch.to_string());
        row("wire", if self.wire_up { "up" } else { "down" }.to_owned());
        row("interrupts", format!("{} MSI-X vectors", self.interrupts));
        let link = self.link.as_ref().map_or("not seen".to_owned(), Express::text);
        row("PCIe", link);
        match &self.board {
            None => row("board", "none: a simulated card has no board window".to_owned()),
            Some(board) => {
                row("board", board.board.clone());
                let BoardInfo { configuration, image_contract, git, slot, .. } = board;
                let image = format!("{configuration}, contract {image_contract}, {git}");
                row("image", image);
                row("slot", (*slot).to_owned());
            }
        }
        format!("{table}\n")
    }
}

/// Runs the command.
pub fn run(arguments: &InfoArguments) -> Result<bool> {
    let json = arguments.card.json()?;
    let mut card = arguments.card.open()?;
    let look = look_at(&mut card)?;
    let info = Info::new(arguments.card.name(), &mut card, &look)?;
    if let Some(json) = json {
        json.write_json(&info)?;
    }
    print(&info.text())?;
    Ok(true)
}
