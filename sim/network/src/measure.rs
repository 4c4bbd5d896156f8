//! What is measured: goodput over loss, fairness, incast. Parameters in one struct, printed with
//! every result.
//!
//! ```text
//!   Parameters ─► cases ─► measure, one by one, anywhere ─► Outcome ─► report, in their order
//! ```
//! A case has its seed, so it gives the same outcome on any machine; a report depends on the
//! outcomes alone.

pub mod fairness;
pub mod incast;
pub mod loss;
pub mod statistics;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tcp::config::{Config, Ecn, Law};

use crate::flow::FlowParameters;
use crate::link::LinkParameters;
use crate::network::Network;
use crate::topology::{HostId, TopologyError};
use crate::units::{MS_PS, US_PS};

/// Payload of a full segment with timestamps: MTU 1500 (RFC 7323, 3.2).
pub const SEGMENT_BYTES: u64 = 1_448;
/// What it takes on the wire.
pub const SEGMENT_WIRE_BYTES: u64 = 1_538;
/// Payload that 100 Gb/s carry in such segments: 94.15 Gb/s.
pub const LINE_GBPS: f64 = 100.0 * SEGMENT_BYTES as f64 / SEGMENT_WIRE_BYTES as f64;

/// Something that is measured in many runs, each apart from the others.
pub trait Measurement:
    Clone + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// Its name on the command line.
    const NAME: &'static str;
    /// One run.
    type Case: Copy + Send + Sync;
    /// What a run has shown.
    type Outcome: Serialize + DeserializeOwned + Send;
    /// All of it.
    type Report: Serialize;

    /// What all measurements have in common.
    fn common_mut(&mut self) -> &mut Common;

    /// All runs, in the order of the report.
    fn cases(&self) -> Vec<Self::Case>;

    /// Runs a case.
    fn measure(&self, case: &Self::Case) -> Result<Self::Outcome, TopologyError>;

    /// The report of all outcomes, in the order of the cases.
    fn report(&self, outcomes: &[Self::Outcome]) -> Self::Report;

    /// Whether a run is exact and every packet accounted for, whatever goal it is below.
    fn is_exact(outcome: &Self::Outcome) -> bool;

    /// Whether every run is exact, every packet accounted for and every goal reached.
    fn is_ok(report: &Self::Report) -> bool;
}

/// What a measurement of rows has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowReport<R, P> {
    /// Every run is exact, every packet accounted for, every goal reached.
    pub ok: bool,
    /// The rows.
    pub rows: Vec<R>,
    /// What was measured.
    pub parameters: P,
}

/// A congestion controller, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Controller {
    /// The model-based one (draft-ietf-ccwg-bbr).
    Model,
    /// DCTCP (RFC 8257).
    Dctcp,
    /// CUBIC (RFC 9438).
    Cubic,
}

impl Controller {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Dctcp => "dctcp",
            Self::Cubic => "cubic",
        }
    }

    /// Settings of both ends: those of a private wire. CUBIC takes marks as RFC 3168 says, the
    /// others count them.
    pub fn config(self) -> Config {
        let (law, ecn) = match self {
            Self::Model => (Law::Model, Ecn::Exact),
            Self::Dctcp => (Law::Dctcp, Ecn::Exact),
            Self::Cubic => (Law::Cubic, Ecn::Classic),
        };
        Config { law, ecn, ..Config::private_wire() }
    }
}

/// What all measurements have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Common {
    /// Round trip of the wires, without hosts.
    pub round_trip_us: u64,
    /// Largest IP packet.
    pub mtu_bytes: u64,
    /// Time that is not counted.
    pub warm_ms: u64,
    /// Time that is counted.
    pub measured_ms: u64,
    /// Seeds, from 1.
    pub seeds: u64,
}

impl Default for Common {
    fn default() -> Self {
        Self { round_trip_us: 50, mtu_bytes: 1_500, warm_ms: 2, measured_ms: 20, seeds: 10 }
    }
}

impl Common {
    /// A link that is one part of so many of a round trip.
    fn link(&self, parts: u64) -> LinkParameters {
        LinkParameters::clean(self.round_trip_us * US_PS / parts)
    }

    fn measured_ps(&self) -> u64 {
        self.measured_ms * MS_PS
    }
}

/// A stream without end from the start of a run.
fn stream(client: HostId, server: HostId, window_bytes: u64) -> FlowParameters {
    FlowParameters {
        client,
        server,
        open_ps: 0,
        send_ps: 0,
        bytes: [None, Some(0)],
        window_bytes,
        is_repeated: false,
    }
}

/// Goodput of so many bytes in so long.
fn gbps(bytes: u64, ps: u64) -> f64 {
    bytes as f64 * 8_000.0 / ps as f64
}

/// Whether every packet is accounted for.
fn is_conserved(network: &Network) -> bool {
    let counts = network.counts();
    counts.sent + counts.doubled == counts.delivered + counts.lost_packets() + network.under_way()
}
