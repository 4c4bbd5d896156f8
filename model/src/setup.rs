//! What a stream is asked to do, and on which machine.

use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::pcie::Slot;

/// Who coalesces received packets into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coalescing {
    /// Nobody: each packet is a segment.
    None,
    /// The host (GRO): it sees each packet once.
    Software,
    /// The card (LRO, GRO in hardware): the host sees segments.
    Hardware,
}

/// The sliders, and what only published points set.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Link, Gb/s.
    pub rate_gbps: f64,
    /// Largest IP packet, bytes.
    pub mtu_bytes: f64,
    /// Length of a message, bytes.
    pub message_bytes: f64,
    /// Share of packets lost, each on its own.
    pub loss: f64,
    /// PCIe generation.
    pub generation: u32,
    /// PCIe lanes.
    pub lanes: u32,
    /// Speed of a core; 1 is the one that the table's times are of.
    pub core_factor: f64,
    /// Bandwidth of the memory, GB/s.
    pub memory_gbytes_per_s: f64,
    /// Round trip of the path, us.
    pub round_trip_us: f64,
    /// Who coalesces received packets, where that is not as usual on the path.
    pub coalescing: Option<Coalescing>,
    /// What the application does: a load of the table.
    pub load: String,
    /// Headers of an IP packet, bytes, where they are not those of the path.
    pub header_bytes: Option<f64>,
    /// What the memory at the end takes, Gb/s.
    pub endpoint_gbps: Option<f64>,
    /// Both threads of the receiver share a core.
    pub has_one_core: bool,
    /// Payload ends in the card: only headers reach the host.
    pub discards: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            rate_gbps: 100.0,
            mtu_bytes: 9000.0,
            message_bytes: 131_072.0,
            loss: 0.0,
            generation: 4,
            lanes: 16,
            core_factor: 1.0,
            // Eight channels of DDR4-3200 (EPYC 7502).
            memory_gbytes_per_s: 204.8,
            round_trip_us: 50.0,
            coalescing: None,
            load: "stream".to_owned(),
            header_bytes: None,
            endpoint_gbps: None,
            has_one_core: false,
            discards: false,
        }
    }
}

/// A number, its range and its unit.
pub struct Range {
    /// Its name.
    pub what: &'static str,
    /// Least that is taken.
    pub least: f64,
    /// Most that is taken.
    pub most: f64,
    /// Its unit, or nothing.
    pub unit: &'static str,
}

/// What a person may set: the sliders' ends are these.
pub const RANGES: [Range; 5] = [
    Range { what: "the rate", least: 25.0, most: 800.0, unit: "Gb/s" },
    Range { what: "the MTU", least: 576.0, most: 9216.0, unit: "bytes" },
    Range { what: "the message", least: 64.0, most: 67_108_864.0, unit: "bytes" },
    Range { what: "the loss", least: 0.0, most: 0.1, unit: "of the packets" },
    Range { what: "the core's speed", least: 0.2, most: 5.0, unit: "" },
];

impl Range {
    /// Refuses what is outside; a number that is none as well.
    ///
    /// # Errors
    /// If it is outside.
    pub fn check(&self, value: f64) -> Result<(), ModelError> {
        match value >= self.least && value <= self.most {
            true => Ok(()),
            false => Err(ModelError::OutOfRange {
                what: self.what,
                value,
                least: self.least,
                most: self.most,
                unit: self.unit,
            }),
        }
    }
}

impl Setup {
    /// Refuses what no slider can show.
    ///
    /// # Errors
    /// If a number is outside its range, or PCIe has no such slot.
    pub fn check(&self) -> Result<(), ModelError> {
        let values =
            [self.rate_gbps, self.mtu_bytes, self.message_bytes, self.loss, self.core_factor];
        RANGES.iter().zip(values).try_for_each(|(range, value)| range.check(value))?;
        Slot::new(self.generation, self.lanes).map(|_| ())
    }
}
