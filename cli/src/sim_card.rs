//! `zeronic sim-card`: a card in a process of its own, which other programs open.
//!
//! ```text
//!   host, QEMU ─► vfio-user socket ─► served::ServedCard ─► golden device
//! ```

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use served::ServedCard;

use crate::shared::config::ConfigName;
use crate::shared::failure::STATUSES;
use crate::shared::output::print;

/// How long the process sleeps at most: it has nothing else to do.
const LIMIT: Duration = Duration::from_secs(3600);

/// What does the work behind the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Model {
    /// The golden model: exact by the contract, and without any time of its own
    Golden,
}

/// Serve a card to another process, at a vfio-user socket, until it is interrupted.
#[derive(Debug, Args)]
#[command(after_help = STATUSES)]
pub struct SimCardArguments {
    /// Socket to serve the card at; one client at a time
    #[arg(long, value_name = "SOCKET")]
    vfio_user: PathBuf,

    /// What does the work
    #[arg(long, value_enum, default_value = "golden")]
    model: Model,

    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value = "lab")]
    config: ConfigName,
}

/// Runs the command.
pub fn run(arguments: &SimCardArguments) -> Result<bool> {
    let socket = &arguments.vfio_user;
    let Model::Golden = arguments.model;
    let mut card = ServedCard::bind(socket, arguments.config.sizes())?;
    print(&format!(
        "serving a golden card ({}) at {}; nothing is at its wire\n\
         time is the machine's: runs do not repeat from a seed; ctrl-C ends\n",
        arguments.config.name(),
        socket.display()
    ))?;
    loop {
        card.wait(LIMIT)?;
        let served = card.serve()?;
        if served.has_joined {
            print("a client has the card\n")?;
        }
        if let Some(reason) = served.left {
            print(&format!("the client has gone: {reason}\n"))?;
        }
        for _ in 0..served.refused {
            print("another client was refused: the card is taken\n")?;
        }
        // Nobody is at the wire: what the card sends is lost there.
        drop(card.take_sent());
    }
}
