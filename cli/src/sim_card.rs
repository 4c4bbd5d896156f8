//! `zeronic sim-card`: a card in a process of its own, which other programs open.
//!
//! ```text
//!   host, QEMU ─► vfio-user socket ─► served::ServedCard ─► golden device ─► wire ─► a peer
//! ```

mod line;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};
use host::transport::peer::{Conversation, Progress};
use served::{Served, ServedCard};

use self::line::{Line, PeerName};
use crate::shared::config::ConfigName;
use crate::shared::failure::STATUSES;
use crate::shared::faults::Faults;
use crate::shared::output::print;

/// How long the process sleeps at most when only a client can wake it.
const LIMIT: Duration = Duration::from_secs(3600);
/// How long it sleeps at most while a client has the card: neither the peer nor a doorbell that is
/// mapped wakes it.
const NAP: Duration = Duration::from_micros(50);
const LONG_NAP: Duration = Duration::from_millis(1);
/// Time without anything to do before it sleeps while a client has the card, and before it sleeps
/// longer.
const SPIN_TIME: Duration = Duration::from_millis(2);
const NAP_TIME: Duration = Duration::from_millis(50);

/// What does the work behind the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Model {
    /// The golden model: exact by the contract, and without any time of its own
    Golden,
}

/// How a client rings a doorbell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DoorbellName {
    /// By a store to a page that it maps, and the card looks at all the time
    Mapped,
    /// By a message
    Messages,
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

    /// How a client rings a doorbell
    #[arg(long, value_enum, default_value = "mapped")]
    doorbells: DoorbellName,

    /// Who is at the wire: a TCP that sends back what it receives, at 10.77.0.2 port 5001, and at
    /// fd77::2 where the MTU allows IPv6
    #[arg(long, value_enum, default_value = "none")]
    peer: PeerName,

    /// Largest IP packet of the peer, bytes
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    mtu: u16,

    /// What the wire does.
    #[command(flatten)]
    faults: Faults,

    /// Seed of the wire's faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the command.
pub fn run(arguments: &SimCardArguments) -> Result<bool> {
    let socket = &arguments.vfio_user;
    let Model::Golden = arguments.model;
    let mut line = Line::open(arguments.peer, arguments.mtu, (&arguments.faults, arguments.seed))?;
    let sizes = arguments.config.sizes();
    let mut card = match arguments.doorbells {
        DoorbellName::Mapped => ServedCard::bind_mapped(socket, sizes)?,
        DoorbellName::Messages => ServedCard::bind(socket, sizes)?,
    };
    print(&format!(
        "serving a golden card ({}) at {}; {}\n\
         clocks run free: time is the machine's, and runs do not repeat from a seed; ctrl-C ends\n",
        arguments.config.name(),
        socket.display(),
        line.description
    ))?;
    let is_polled = card.has_mapped_doorbells() || line.has_peer();
    let mut busy = Instant::now();
    loop {
        let served = card.serve()?;
        say(&served)?;
        let mut moved = served.messages > 0;
        moved |= card.look();
        moved |= line.carry(&mut card)?;
        for conversation in line.take_ended() {
            print(&describe_end(&conversation))?;
            print(&line.harm())?;
        }
        if moved {
            busy = Instant::now();
        } else if !(is_polled && card.has_client()) {
            card.wait(LIMIT)?;
        } else {
            match busy.elapsed() {
                idle if idle < SPIN_TIME => std::thread::yield_now(),
                idle if idle < NAP_TIME => card.wait(NAP)?,
                _ => card.wait(LONG_NAP)?,
            }
        }
    }
}

/// Says who has come and gone.
fn say(served: &Served) -> Result<()> {
    if served.has_joined {
        print("a client has the card\n")?;
    }
    if let Some(reason) = &served.left {
        print(&format!("the client has gone: {reason}; the card is empty, in a new epoch\n"))?;
    }
    for _ in 0..served.refused {
        print("another client was refused: the card is taken\n")?;
    }
    Ok(())
}

/// What is said of a conversation of the peer.
fn describe_end(conversation: &Conversation) -> String {
    let Conversation { remote, received_bytes, sent_bytes, received_digest, .. } = conversation;
    let digest: String = received_digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let how = match conversation.progress {
        Progress::Failed(error) => format!("failed with error {error}"),
        _ => "has ended".to_owned(),
    };
    format!(
        "the peer's connection with {remote} {how}: {received_bytes} bytes received, \
         {sent_bytes} sent back, SHA-256 {digest}\n"
    )
}
