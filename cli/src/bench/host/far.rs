//! The same work on a card that another process serves, beside one in this process.
//!
//! ```text
//!   round:  card in this process │ the same, told by messages │ card behind the socket
//!                 └── over it: ◄────────────────────────────────────────┘        21 rounds
//! ```
//! The card of `zeronic sim-card --model null` does its part where the one in this process does it:
//! between the measured calls, told by messages that are not measured. What is measured is the time
//! of the host's thread, whose doorbells are stores to mapped pages, or messages. The rings are
//! written by another process, on another core if there is one: reading them is part of it.
//!
//! The messages are the bench's, and no card has them: the thread sleeps for each reply, and finds
//! its core colder. So a card in this process is told by messages too, to a thread on another core:
//! what that costs is no cost of the bus.
//!
//! The ratio is that to the card in this process, of the same round; the median of these counts,
//! and the middle half is the spread.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use abi::config::DEFAULT;
use anyhow::Result;
use measure::null_card::order::{Order, Outcome, OUTCOME_BYTES};
use measure::null_card::rig::{CardSide, RigError};
use measure::null_card::{NullBus, NullCard};
use serde::Serialize;
use served::REGION_CONTROL;
use vfio::{CardBus, SocketBus};

use super::plan::{Place, Plan};
use super::work::{Worker, Workload, BATCH};
use crate::bench::doorbell::{self, Ring};
use crate::shared::bus::{self, CardName};
use crate::shared::options::UsageError;
use crate::shared::table::table;
use measure::timing::cores::Cores;
use measure::timing::statistics::median;

/// What is done on how many flows.
const ROWS: [(&str, Workload, usize); 4] = [
    ("packet of 1448 B received, 1 flow", Workload::Receive, 1),
    ("descriptor of 1448 B sent, 1 flow", Workload::Send, 1),
    ("packet received, 16 flows", Workload::ReceiveBursts, 16),
    ("descriptor sent, 16 flows", Workload::SendBursts, 16),
];
/// Bytes of a message to the thread that answers, and messages of an order.
const MESSAGE_BYTES: usize = 64;
const MESSAGES: usize = 2;
/// Time over that on the card in this process, to reach: with mapped doorbells.
const GOAL: f64 = 1.3;

/// A null card behind a socket.
struct FarCard;

impl CardSide for FarCard {
    type Bus = SocketBus;

    fn carry_out(&mut self, bus: &mut SocketBus, order: Order) -> Result<Outcome, RigError> {
        let mut said = [0; OUTCOME_BYTES];
        bus.write_region(REGION_CONTROL, 0, &order.encode())?;
        bus.read_region(REGION_CONTROL, 0, &mut said)?;
        let outcome = Outcome::decode(&said);
        match outcome.wrong.is_empty() || order != Order::Step {
            true => Ok(outcome),
            false => Err(RigError::FarWrong(outcome.wrong)),
        }
    }
}

/// A card in this process whose orders are told as those of the far one are: by two messages, each
/// with a reply, to a thread on another core.
struct ToldCard {
    card: NullCard,
    other: UnixStream,
}

impl ToldCard {
    /// One beside a thread that answers, and ends with it.
    fn new(card: NullCard, cores: &Cores) -> Result<Self> {
        let (other, mut answering) = UnixStream::pair()?;
        let cores = cores.clone();
        std::thread::spawn(move || {
            let _kept = cores.keep(1);
            let mut message = [0; MESSAGE_BYTES];
            while answering.read_exact(&mut message).is_ok() {
                if answering.write_all(&message).is_err() {
                    break;
                }
            }
        });
        Ok(Self { card, other })
    }

    fn tell(&mut self) -> std::io::Result<()> {
        let mut message = [0; MESSAGE_BYTES];
        for _ in 0..MESSAGES {
            self.other.write_all(&message)?;
            self.other.read_exact(&mut message)?;
        }
        Ok(())
    }
}

impl CardSide for ToldCard {
    type Bus = NullBus;

    fn carry_out(&mut self, bus: &mut NullBus, order: Order) -> Result<Outcome, RigError> {
        self.tell().map_err(|error| RigError::FarWrong(error.to_string()))?;
        CardSide::carry_out(&mut self.card, bus, order)
    }
}

/// A row.
#[derive(Clone, Debug, Serialize)]
struct Row {
    name: String,
    /// ns on the card in this process.
    near_ns: f64,
    /// ns on that in this process, told by messages.
    told_ns: f64,
    /// ns on that behind the socket.
    far_ns: f64,
    /// The one over the other, of the same round.
    ratio: f64,
    spread: f64,
    /// Doorbells are stores to mapped pages.
    is_mapped: bool,
}

/// What is measured over a socket.
#[derive(Clone, Debug, Serialize)]
pub struct FarReport {
    /// Everything that the card took was right.
    pub ok: bool,
    rows: Vec<Row>,
    doorbells: Vec<doorbell::Costs>,
}

/// Opens a card that takes orders, with mapped doorbells or without.
fn open(name: &CardName, is_mapped: bool) -> Result<SocketBus> {
    let socket: &Path = match name {
        CardName::Socket(socket) => socket,
        CardName::Slot(slot) => {
            let reason = format!(
                "vfio:{slot}: a card in a slot takes no orders; start `zeronic sim-card --model \
                 null`, or use `zeronic bench doorbell`"
            );
            return Err(UsageError(reason).into());
        }
    };
    let opened = bus::open(name)?;
    let CardBus::Socket(opened) = opened else { unreachable!("a socket is opened as one") };
    // A model with a clock has a shorter one.
    if opened.region_bytes(REGION_CONTROL) < OUTCOME_BYTES as u64 {
        let reason = format!("{name}: no null card; start `zeronic sim-card --model null`");
        return Err(UsageError(reason).into());
    }
    match is_mapped {
        true if !opened.has_mapped_doorbells() => {
            let reason = format!("{name}: its doorbells are messages; leave --doorbells out there");
            Err(UsageError(reason).into())
        }
        true => Ok(*opened),
        false => {
            drop(opened);
            Ok(doorbell::open_by_messages(socket)?)
        }
    }
}

impl Plan {
    /// Measures everything over the socket.
    pub fn measure_far(&self, name: &CardName) -> Result<FarReport> {
        let cores = Cores::find();
        let _kept = cores.keep(0);
        let place = &mut Place::new(&cores);
        let mut rows = Vec::new();
        for is_mapped in [true, false] {
            for (what, work, flows) in ROWS {
                let bus = open(name, is_mapped)?;
                rows.push(self.compare((place, &cores), bus, (what, work, flows), is_mapped)?);
            }
        }
        for row in &mut rows {
            row.near_ns *= place.median_ns();
            row.told_ns *= place.median_ns();
            row.far_ns *= place.median_ns();
        }
        let mut doorbells = Vec::new();
        for ring in [Ring::Store, Ring::Message] {
            let mut bus = open(name, ring == Ring::Store)?;
            doorbells.push(doorbell::measure_doorbell(&mut bus, ring)?);
        }
        Ok(FarReport { ok: true, rows, doorbells })
    }

    fn compare(
        &self,
        (place, cores): (&mut Place, &Cores),
        bus: SocketBus,
        (what, work, flows): (&str, Workload, usize),
        is_mapped: bool,
    ) -> Result<Row> {
        let mut near = Worker::open(work, flows)?;
        let mut far = Worker::open_on(FarCard, bus, work, flows)?;
        let (card, null_bus) = NullCard::new(DEFAULT);
        let mut told = Worker::open_on(ToldCard::new(card, cores)?, null_bus, work, flows)?;
        self.warm_up(&mut told, work, flows)?;
        self.warm_up(&mut near, work, flows)?;
        self.warm_up(&mut far, work, flows)?;
        let (mut nears, mut tolds, mut fars) = (Vec::new(), Vec::new(), Vec::new());
        let mut timed = Default::default();
        for _ in 0..self.runs {
            nears.push(self.run(place, &mut near, (work, flows), &mut timed)?);
            tolds.push(self.run(place, &mut told, (work, flows), &mut timed)?);
            fars.push(self.run(place, &mut far, (work, flows), &mut timed)?);
        }
        let ratios = nears.iter().zip(&fars).map(|(near, far)| far / near).collect();
        let (ratio, spread) = median(ratios);
        let how = if is_mapped { "stores" } else { "messages" };
        Ok(Row {
            name: format!("{what}, bursts of {BATCH}, doorbells by {how}"),
            near_ns: median(nears).0,
            told_ns: median(tolds).0,
            far_ns: median(fars).0,
            ratio,
            spread,
            is_mapped,
        })
    }
}

impl FarReport {
    /// The table.
    pub fn text(&self) -> String {
        let mut rows = table(&[
            "cost",
            "in process ns",
            "told by messages ns",
            "over the socket ns",
            "ratio",
            "spread",
        ]);
        for row in &self.rows {
            let verdict = match (row.is_mapped, row.ratio <= GOAL) {
                (false, _) => String::new(),
                (true, true) => format!(" ({GOAL}: yes)"),
                (true, false) => format!(" ({GOAL}: no)"),
            };
            rows.add_row([
                row.name.clone(),
                format!("{:.0}", row.near_ns),
                format!("{:.0}", row.told_ns),
                format!("{:.0}", row.far_ns),
                format!("{:.2}{verdict}", row.ratio),
                format!("{:.1} %", 100.0 * row.spread),
            ]);
        }
        let doorbells: Vec<String> = self.doorbells.iter().map(ToString::to_string).collect();
        format!(
            "{rows}\n{}\nin a guest: zeronic bench doorbell --bus vfio:SLOT\nevery descriptor is \
             right; times are the machine's, and runs do not repeat from a seed\n",
            doorbells.join("\n")
        )
    }
}
