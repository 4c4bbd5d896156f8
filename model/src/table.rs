//! The table of coefficients, and the rules that it keeps.
//!
//! ```text
//!   [[path]] [[transport]] [[load]] [[host]]    rows
//!      cells: value, unit, spread, basis, source ── what is paid, for what
//! ```
//! Invariants, checked when it is read:
//! 1. The unit of a cell is that of what it pays and what for.
//! 2. Each cell has a source of the list, or is the same as a cell that has one.
//! 3. No row pays twice for the same.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::setup::Coalescing;

const TEXT: &str = include_str!("../paths.toml");

/// What is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pays {
    /// Time of the sender's busiest thread.
    Sender,
    /// Time of the receiver's thread that the application waits for.
    Receiver,
    /// Time of the thread beside it: interrupts, polling, a library.
    Companion,
    /// Bytes written to memory.
    MemoryWrite,
    /// Bytes read from memory.
    MemoryRead,
    /// Bytes read because a line is written in part (write-allocate).
    MemoryAllocate,
    /// Share of all that which stays in the last-level cache.
    Cached,
    /// Bytes that the card writes beside payload, in one write.
    Entry,
    /// Bytes that the card fetches beside payload.
    Fetch,
    /// Register writes of the host.
    Register,
    /// Time until a message is there.
    Latency,
    /// Time of a message in which nothing else goes on.
    Wait,
    /// Share of the line that the transport fills without loss.
    LineShare,
    /// Share of goodput that the first losses take.
    Step,
    /// Loss at which goodput is 1/e.
    Scale,
    /// How suddenly that comes.
    Power,
    /// Speed of a core.
    Speed,
}

/// What for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// A byte of payload.
    Byte,
    /// A packet that the host sees.
    Packet,
    /// A segment after coalescing.
    Segment,
    /// An acknowledgement.
    Ack,
    /// A call that moves a message, or what the application reads at a time.
    Message,
    /// A message that is answered before the next.
    Answer,
    /// A lost packet.
    Lost,
    /// A registration of memory.
    Registration,
    /// A second, whatever is moved.
    Second,
    /// Nothing: a share, a factor.
    One,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Fitted to half of the published points.
    Fitted,
    /// Printed in the source, or arithmetic on what is.
    Published,
    /// Measured with our own command.
    Measured,
    /// Follows from a standard or the contract of the card.
    Standard,
    /// Guessed; drawn so.
    Guessed,
}

/// One coefficient.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// What is paid.
    pub pays: Pays,
    /// What for.
    pub per: Per,
    /// How much, in `unit`.
    #[serde(default)]
    pub value: f64,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// How far it may be off, in `unit`.
    #[serde(default)]
    pub spread: f64,
    /// Where it comes from.
    #[serde(default = "Cell::guessed")]
    pub basis: Basis,
    /// Key of the list of sources.
    #[serde(default)]
    pub source: String,
    /// Name of the hop, of a latency.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hop: String,
    /// `ROW:PAYS:PER` of the cell that this is the same as, with `:HOP` of a latency.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub like: String,
}

/// Which payload a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// What the MTU leaves: a byte stream.
    Stream,
    /// A power of two up to 4096 (InfiniBand Architecture 1.4, 9.4); a message begins a packet.
    PowerOfTwo,
}

/// How goodput falls with loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curve {
    /// (1 - step) exp(-(loss / scale)^power) of what arrives.
    Stretched,
    /// All in flight is sent again: 1 / (1 - loss + loss x packets in flight) of what arrives.
    GoBackN,
}

/// A row: a data path, a transport, a load or a host.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its name in commands.
    pub id: String,
    /// Its name for a reader.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Its coefficients.
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Row of the transport, of a path.
    #[serde(default)]
    pub transport: String,
    /// Headers of an IP packet, bytes, of a path.
    #[serde(default)]
    pub header_bytes: f64,
    /// Payload of a packet, of a path.
    pub fill: Option<Fill>,
    /// Largest segment after coalescing, bytes, of a path.
    #[serde(default)]
    pub segment_bytes: f64,
    /// Who coalesces, of a path.
    pub coalescing: Option<Coalescing>,
    /// Acknowledgements of a segment, of a path.
    #[serde(default)]
    pub acks_per_segment: f64,
    /// Registrations of a message, of a path.
    #[serde(default)]
    pub registrations: f64,
    /// The card writes the headers with the payload, of a path.
    #[serde(default)]
    pub writes_whole_frame: bool,
    /// A message is one call whatever its length, of a path.
    #[serde(default)]
    pub has_whole_messages: bool,
    /// Places that payload passes, for the picture, of a path.
    #[serde(default)]
    pub payload_way: Vec<String>,
    /// Places that headers pass, for the picture, of a path.
    #[serde(default)]
    pub header_way: Vec<String>,
    /// How goodput falls with loss, of a transport.
    pub curve: Option<Curve>,
    /// Bytes of a message that one call of the application moves at most, of a load.
    #[serde(default)]
    pub call_bytes: f64,
    /// A message waits for the answer of the one before, of a load.
    #[serde(default)]
    pub is_answered: bool,
}

/// Where numbers come from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it is.
    pub text: String,
    /// Where it can be read, or the command that measures it.
    pub place: String,
}

/// All coefficients.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Data paths, in the order in which they are shown.
    #[serde(rename = "path")]
    pub paths: Vec<Row>,
    /// Transports.
    #[serde(rename = "transport")]
    pub transports: Vec<Row>,
    /// What applications do.
    #[serde(rename = "load")]
    pub loads: Vec<Row>,
    /// Machines of published points.
    #[serde(rename = "host")]
    pub hosts: Vec<Row>,
    /// Sources by key.
    #[serde(rename = "source")]
    pub sources: BTreeMap<String, Source>,
}

impl Cell {
    fn guessed() -> Basis {
        Basis::Guessed
    }

    /// The unit that such a cell has.
    pub fn unit_of(pays: Pays, per: Per) -> String {
        let quantity = match pays {
            Pays::Sender | Pays::Receiver | Pays::Companion if per == Per::Second => {
                return "cores".to_owned()
            }
            Pays::Sender | Pays::Receiver | Pays::Companion | Pays::Latency | Pays::Wait => "ns",
            Pays::MemoryWrite | Pays::MemoryRead | Pays::MemoryAllocate => "bytes",
            Pays::Entry | Pays::Fetch => "bytes",
            Pays::Register => "writes",
            Pays::Cached | Pays::LineShare | Pays::Step | Pays::Scale => "share",
            Pays::Power | Pays::Speed => "factor",
        };
        match per {
            Per::One => quantity.to_owned(),
            _ => format!("{quantity}/{}", word(per)),
        }
    }
}

/// A name as the file writes it.
fn word(name: impl Serialize) -> String {
    match toml::Value::try_from(name) {
        Ok(toml::Value::String(text)) => text,
        _ => String::new(),
    }
}

impl Row {
    /// The coefficient, or 0 where nothing is paid.
    pub fn value(&self, pays: Pays, per: Per) -> f64 {
        self.cells
            .iter()
            .filter(|cell| cell.pays == pays && cell.per == per)
            .fold(0.0, |sum, cell| sum + cell.value)
    }
}

fn broken(message: String) -> ModelError {
    ModelError::Table { table: "paths.toml", message }
}

/// A row by its name.
fn find<'a>(kind: &'static str, rows: &'a [Row], id: &str) -> Result<&'a Row, ModelError> {
    rows.iter().find(|row| row.id == id).ok_or_else(|| ModelError::Unknown {
        kind,
        name: id.to_owned(),
        known: rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>().join(", "),
    })
}

impl Table {
    /// Reads the table of the crate.
    ///
    /// # Errors
    /// If it breaks its own rules.
    pub fn read() -> Result<Self, ModelError> {
        let mut table: Table =
            toml::from_str(TEXT).map_err(|error| broken(error.message().to_owned()))?;
        table.resolve()?;
        table.check()?;
        Ok(table)
    }

    /// A data path.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn path(&self, id: &str) -> Result<&Row, ModelError> {
        find("path", &self.paths, id)
    }

    /// A transport.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn transport(&self, id: &str) -> Result<&Row, ModelError> {
        find("transport", &self.transports, id)
    }

    /// What an application does.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn load(&self, id: &str) -> Result<&Row, ModelError> {
        find("load", &self.loads, id)
    }

    /// A machine.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn host(&self, id: &str) -> Result<&Row, ModelError> {
        find("host", &self.hosts, id)
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.paths.iter().chain(&self.transports).chain(&self.loads).chain(&self.hosts)
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        let rows = self.paths.iter_mut().chain(&mut self.transports);
        rows.chain(&mut self.loads).chain(&mut self.hosts)
    }

    /// All cells that the fit may change, in the order of the file.
    pub fn fitted(&mut self) -> Vec<&mut Cell> {
        let is_free = |cell: &&mut Cell| cell.basis == Basis::Fitted && cell.like.is_empty();
        self.rows_mut().flat_map(|row| row.cells.iter_mut().filter(is_free)).collect()
    }

    /// Gives cells that are the same as others their values.
    ///
    /// # Errors
    /// If one names a cell that is not there.
    pub fn resolve(&mut self) -> Result<(), ModelError> {
        let key = |row: &Row, cell: &Cell| {
            let hop = if cell.hop.is_empty() { "" } else { ":" };
            format!("{}:{}:{}{hop}{}", row.id, word(cell.pays), word(cell.per), cell.hop)
        };
        let mut known = BTreeMap::new();
        for row in self.rows() {
            for cell in row.cells.iter().filter(|cell| cell.like.is_empty()) {
                known.insert(key(row, cell), cell.clone());
            }
        }
        for row in self.rows_mut() {
            for cell in row.cells.iter_mut().filter(|cell| !cell.like.is_empty()) {
                let same = known.get(&cell.like).ok_or_else(|| {
                    broken(format!("{}: like = {:?} names no cell", row.id, cell.like))
                })?;
                cell.value = same.value;
                cell.spread = same.spread;
                cell.basis = same.basis;
                cell.source.clone_from(&same.source);
                cell.unit = Cell::unit_of(cell.pays, cell.per);
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ModelError> {
        for row in self.rows() {
            let mut paid = BTreeSet::new();
            for cell in &row.cells {
                self.check_cell(row, cell)?;
                if !paid.insert((cell.pays, cell.per, cell.hop.as_str())) {
                    let what = format!("{:?} for {:?}", cell.pays, cell.per);
                    return Err(broken(format!("{} pays {what} twice: join the cells", row.id)));
                }
            }
        }
        self.paths.iter().try_for_each(|path| self.transport(&path.transport).map(|_| ()))
    }

    fn check_cell(&self, row: &Row, cell: &Cell) -> Result<(), ModelError> {
        let unit = Cell::unit_of(cell.pays, cell.per);
        let what = format!("{}: {:?} for {:?}", row.id, cell.pays, cell.per);
        if cell.unit != unit {
            return Err(broken(format!("{what} is in {:?}: give it in {unit:?}", cell.unit)));
        }
        if !self.sources.contains_key(&cell.source) {
            return Err(broken(format!("{what}: no source {:?}: list it", cell.source)));
        }
        match cell.value.is_finite() && cell.value >= 0.0 && cell.spread >= 0.0 {
            true => Ok(()),
            false => Err(broken(format!("{what} is {}: give a number from 0", cell.value))),
        }
    }
}
