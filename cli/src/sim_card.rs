//! `zeronic sim-card`: a card in a process of its own, which other programs open.
//!
//! ```text
//!   host, QEMU ─► vfio-user socket ─► served::ServedCard ─► Verilog or model ─► wire ─► a peer
//! ```
//! One thread does all of it: each round looks at the client, lets the model's time pass, and moves
//! frames.

mod line;
mod null;
mod rtl;
mod shown;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};
use host::transport::peer::{Conversation, Progress};
use host::transport::Tuning;
use served::{GoldenModel, Served, ServedCard};

use self::line::{Line, LineConfig, PeerName};
use self::null::NullModel;
use self::rtl::RtlModel;
use self::shown::Shown;
use crate::shared::config::ConfigName;
use crate::shared::failure::STATUSES;
use crate::shared::faults::Faults;
use crate::shared::options::UsageError;
use crate::shared::output::{print, Begun, ResultFile};

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
enum ModelName {
    /// The golden model: exact by the contract, and without any time of its own
    Golden,
    /// The emitted Verilog, in Verilator
    Rtl,
    /// Nothing but the contract of the rings: what `zeronic bench host --bus` measures on
    Null,
}

impl ModelName {
    fn name(self) -> &'static str {
        match self {
            ModelName::Golden => "golden",
            ModelName::Rtl => "Verilated",
            ModelName::Null => "null",
        }
    }
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
    model: ModelName,

    /// Sizes of the card's tables
    #[arg(long, value_enum, default_value = "lab")]
    config: ConfigName,

    /// How a client rings a doorbell
    #[arg(long, value_enum, default_value = "mapped")]
    doorbells: DoorbellName,

    /// Who is at the wire: a TCP that sends back what it receives, at 10.77.0.2 port 5001, and at
    /// fd77::2 where the MTU allows IPv6 (`linux`, `smoltcp`, `tcp`; `auto`: the first that this
    /// machine allows); an interface of this machine (`tap:NAME`); `none`
    #[arg(long, default_value = "none", value_name = "PEER")]
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

    /// Record waveforms until the first client goes (FST, for GTKWave or Surfer); needs --model rtl
    #[arg(long, value_name = "F.fst")]
    wave: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &SimCardArguments) -> Result<bool> {
    if arguments.wave.is_some() && arguments.model != ModelName::Rtl {
        let message = "--wave needs --model rtl: no other model has signals";
        return Err(UsageError(message.to_owned()).into());
    }
    let wave = arguments.wave.as_deref();
    let wave = wave.map(|path| ResultFile::prepare("--wave", path)).transpose()?;
    let tuning = match (arguments.model, &wave) {
        (ModelName::Rtl, None) => Tuning::SIMULATION,
        (ModelName::Rtl, Some(_)) => Tuning::TRACED_SIMULATION,
        _ => Tuning::REAL_TIME,
    };
    let line = Line::open(&LineConfig {
        peer: &arguments.peer,
        mtu: arguments.mtu,
        faults: &arguments.faults,
        seed: arguments.seed,
        tuning,
    })?;
    let sizes = arguments.config.sizes();
    match arguments.model {
        ModelName::Golden => serve(arguments, GoldenModel::new(sizes), line, None),
        ModelName::Null => serve(arguments, NullModel::new(sizes), line, None),
        ModelName::Rtl => {
            let mut model = RtlModel::new(sizes, wave.is_some())?;
            let wave = wave.as_ref().map(ResultFile::begin).transpose()?;
            if let Some(path) = wave.as_ref().map(Begun::path) {
                model.open_wave(path)?;
            }
            serve(arguments, model, line, wave)
        }
    }
}

/// Serves a model until the process is ended.
fn serve<M: Shown>(
    arguments: &SimCardArguments,
    model: M,
    mut line: Line,
    mut wave: Option<Begun>,
) -> Result<bool> {
    let (socket, has_time) = (&arguments.vfio_user, model.has_time());
    let is_mapped = arguments.doorbells == DoorbellName::Mapped;
    let mut card = ServedCard::bind_model(socket, model, is_mapped)?;
    print(&format!(
        "serving a {} card ({}) at {}; {}\n\
         clocks run free: time is the machine's, and runs do not repeat from a seed; ctrl-C ends\n",
        arguments.model.name(),
        arguments.config.name(),
        socket.display(),
        line.description
    ))?;
    let is_polled = card.has_mapped_doorbells() || line.has_peer();
    let mut busy = Instant::now();
    loop {
        let served = card.serve()?;
        if served.left.is_some() {
            print(&card.model().leave()?)?;
            if let (Some(wave), Some(path)) = (wave.take(), &arguments.wave) {
                wave.finish()?;
                print(&format!("waveform: {}\n", path.display()))?;
            }
        }
        if served.has_joined {
            card.model().join();
        }
        say(&served)?;
        let mut moved = served.messages > 0;
        moved |= card.look();
        card.run();
        card.model().check()?;
        moved |= line.carry(&mut card)?;
        for conversation in line.take_ended() {
            print(&describe_end(&conversation))?;
            print(&line.harm())?;
        }
        let has_client = card.has_client();
        if moved || has_time && has_client {
            busy = Instant::now();
        } else if !(is_polled && has_client) {
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
