//! Published measurements, and which of them the model may see.
//!
//! ```text
//!   a series, sorted by the hash of its points' names:  fit, held back, fit, held back, ...
//! ```
//! So the split follows from the names alone, each series is in both halves, and a series of one
//! point goes by a bit of its hash.

use serde::Deserialize;

use crate::error::ModelError;
use crate::setup::Coalescing;

const TEXT: &str = include_str!("../published.toml");

/// What a point measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Payload, Gb/s.
    Goodput,
    /// Time of the receiver's cores, s for a GB.
    Cpu,
    /// Packets a second, millions.
    Packets,
    /// Goodput over the line's less what is lost, percent.
    Arriving,
}

/// Which half of the points one is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The coefficients are fitted to it.
    Fit,
    /// It judges them.
    Held,
    /// It is shown, with what the model leaves out.
    Outside,
}

/// Conditions of a point; what is absent is that of its series, or the usual.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Row of the table.
    pub path: Option<String>,
    /// Machine.
    pub host: Option<String>,
    /// What the application does.
    pub load: Option<String>,
    /// What was measured.
    pub metric: Option<Metric>,
    /// Link, Gb/s.
    pub rate: Option<f64>,
    /// Largest IP packet, bytes.
    pub mtu: Option<f64>,
    /// Length of a message, bytes.
    pub message: Option<f64>,
    /// Share of packets lost.
    pub loss: Option<f64>,
    /// PCIe generation.
    pub generation: Option<u32>,
    /// PCIe lanes.
    pub lanes: Option<u32>,
    /// Headers of an IP packet, bytes.
    pub header: Option<f64>,
    /// What the memory at the end takes, Gb/s.
    pub endpoint: Option<f64>,
    /// Both threads of the receiver share a core.
    pub one_core: Option<bool>,
    /// Who coalesces received packets.
    pub coalescing: Option<Coalescing>,
    /// Payload ends in the card: only headers reach the host.
    pub discards: Option<bool>,
}

/// One published number.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its name; the split follows from it.
    pub name: String,
    /// Key of the source in the table of coefficients.
    pub source: String,
    /// Where in the source.
    pub place: String,
    /// Its conditions.
    pub given: Given,
    /// The number, in the unit of its metric.
    pub value: f64,
    /// Why it is shown and not counted.
    pub outside: Option<String>,
    /// Which half it is in.
    pub half: Half,
}

#[derive(Deserialize)]
struct File {
    series: Vec<RawSeries>,
}

#[derive(Deserialize)]
struct RawSeries {
    name: String,
    source: String,
    #[serde(rename = "where")]
    place: String,
    #[serde(flatten)]
    given: Loose,
    points: Vec<RawPoint>,
}

#[derive(Deserialize)]
struct RawPoint {
    name: String,
    value: f64,
    outside: Option<String>,
    #[serde(flatten)]
    given: Loose,
}

/// [`Given`] behind `flatten`, which cannot refuse unknown keys by itself.
#[derive(Deserialize)]
struct Loose(toml::Table);

impl Loose {
    fn read(self) -> Result<Given, ModelError> {
        self.0.try_into().map_err(|error| broken(&format!("{error}")))
    }
}

fn broken(message: &str) -> ModelError {
    ModelError::Table { table: "published.toml", message: message.trim().replace('\n', " ") }
}

impl Given {
    /// These conditions; where they say nothing, the others'.
    fn or(self, other: &Given) -> Given {
        Given {
            path: self.path.or_else(|| other.path.clone()),
            host: self.host.or_else(|| other.host.clone()),
            load: self.load.or_else(|| other.load.clone()),
            metric: self.metric.or(other.metric),
            rate: self.rate.or(other.rate),
            mtu: self.mtu.or(other.mtu),
            message: self.message.or(other.message),
            loss: self.loss.or(other.loss),
            generation: self.generation.or(other.generation),
            lanes: self.lanes.or(other.lanes),
            header: self.header.or(other.header),
            endpoint: self.endpoint.or(other.endpoint),
            one_core: self.one_core.or(other.one_core),
            coalescing: self.coalescing.or(other.coalescing),
            discards: self.discards.or(other.discards),
        }
    }
}

/// Hash of a name: FNV-1a of 64 bits, its bits mixed once more so that the last letters count.
pub fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

/// Gives each point that counts its half.
fn split(points: &mut [Point]) {
    let mut counted: Vec<&mut Point> =
        points.iter_mut().filter(|point| point.outside.is_none()).collect();
    counted.sort_by_key(|point| hash(&point.name));
    let offset = match counted.as_slice() {
        [only] => (hash(&only.name) & 1) as usize,
        _ => 0,
    };
    for (place, point) in counted.iter_mut().enumerate() {
        point.half = if (place + offset) % 2 == 0 { Half::Fit } else { Half::Held };
    }
}

fn points_of(series: RawSeries) -> Result<Vec<Point>, ModelError> {
    let common = series.given.read()?;
    let point = |raw: RawPoint| -> Result<Point, ModelError> {
        let given = raw.given.read()?.or(&common);
        if given.path.is_none() || given.metric.is_none() || given.host.is_none() {
            return Err(broken(&format!("{}: give path, host and metric", raw.name)));
        }
        Ok(Point {
            name: raw.name,
            source: series.source.clone(),
            place: series.place.clone(),
            given,
            value: raw.value,
            outside: raw.outside,
            half: Half::Outside,
        })
    };
    let mut points = series.points.into_iter().map(point).collect::<Result<Vec<_>, _>>()?;
    split(&mut points);
    match points.is_empty() {
        true => Err(broken(&format!("{}: give a point", series.name))),
        false => Ok(points),
    }
}

/// All points, in the order of the file.
///
/// # Errors
/// If the file breaks its own rules.
pub fn points() -> Result<Vec<Point>, ModelError> {
    let file: File = toml::from_str(TEXT).map_err(|error| broken(error.message()))?;
    let series = file.series.into_iter().map(points_of).collect::<Result<Vec<_>, _>>()?;
    Ok(series.into_iter().flatten().collect())
}
