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

use abi::config::DEFAULT;
use serde::Serialize;

use super::error::{Result, StackError};
use super::plan::{Place, Plan};
use super::work::{Worker, Workload, BATCH};
use crate::doorbell::{self, Ring};
use crate::null_card::order::{Order, Outcome};
use crate::null_card::rig::{CardSide, RigError};
use crate::null_card::{NullBus, NullCard};
use crate::timing::cores::Cores;
use crate::timing::statistics::median;

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
pub const GOAL: f64 = 1.3;

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
pub struct Row {
    /// What is done.
    pub name: String,
    /// ns on the card in this process.
    pub near_ns: f64,
    /// ns on that in this process, told by messages.
    pub told_ns: f64,
    /// ns on that behind the socket.
    pub far_ns: f64,
    /// The one over the other, of the same round.
    pub ratio: f64,
    /// The middle half of the ratios over their median.
    pub spread: f64,
    /// Doorbells are stores to mapped pages.
    pub is_mapped: bool,
}

/// What is measured over a socket.
#[derive(Clone, Debug, Serialize)]
pub struct FarReport {
    /// Everything that the card took was right.
    pub ok: bool,
    /// What is done, by stores and by messages.
    pub rows: Vec<Row>,
    /// What a doorbell costs, by a store and by a message.
    pub doorbells: Vec<doorbell::Costs>,
}

impl Plan {
    /// Measures everything on a card that `open` opens anew for each row, to be rung in one way.
    pub(super) fn measure_far<C: CardSide, E: From<StackError>>(
        &self,
        open: &mut dyn FnMut(Ring) -> Result<(C, C::Bus), E>,
    ) -> Result<FarReport, E> {
        let cores = Cores::find();
        let _kept = cores.keep(0);
        let place = &mut Place::new(&cores);
        let mut rows = Vec::new();
        for ring in [Ring::Store, Ring::Message] {
            for row in ROWS {
                let far = open(ring)?;
                rows.push(self.compare((place, &cores), far, row, ring == Ring::Store)?);
            }
        }
        for row in &mut rows {
            row.near_ns *= place.median_ns();
            row.told_ns *= place.median_ns();
            row.far_ns *= place.median_ns();
        }
        let mut doorbells = Vec::new();
        for ring in [Ring::Store, Ring::Message] {
            let (_, mut bus) = open(ring)?;
            let costs = doorbell::measure_doorbell(&mut bus, ring).map_err(StackError::from)?;
            doorbells.push(costs);
        }
        Ok(FarReport { ok: true, rows, doorbells })
    }

    fn compare<C: CardSide>(
        &self,
        (place, cores): (&mut Place, &Cores),
        (card, bus): (C, C::Bus),
        (what, work, flows): (&str, Workload, usize),
        is_mapped: bool,
    ) -> Result<Row> {
        let mut near = Worker::open(work, flows)?;
        let mut far = Worker::open_on(card, bus, work, flows)?;
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
