//! What a replay sets up on the card: regions, flows, segments.
//!
//! ```text
//!   flow file ─► flows ─┐
//!                       ├─► ReplaySetup ─► rig
//!   capture ──► learn ──┘     └───► write ─► flow file
//! ```
//!
//! Invariants
//! 1. Every segment of a setup lies inside its region, and no two share a byte.
//! 2. The segments of a flow ascend and do not overlap in the stream.

use std::net::SocketAddr;
use std::ops::Range;

use host::driver::bus::MemoryKind;
use serde::Deserialize;

use super::address::CardAddress;

/// The byte that fills memory before the run, when nothing else is asked for.
pub const GUARD: u8 = 0xa5;

/// Most bytes of a region.
pub const REGION_BYTES_MAX: u64 = 1 << 30;

/// What a stream position of a flow counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Positions {
    /// The byte after the first SYN of that direction in the capture.
    #[default]
    Relative,
    /// 0: positions are sequence numbers.
    Absolute,
}

/// Which bytes software accepts while the capture is replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Accept {
    /// All bytes that have landed without a gap: the floor follows each packet, as with a
    /// transport.
    #[default]
    InOrder,
    /// Nothing: the floor stays.
    Nothing,
}

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionSetup {
    /// Its name.
    pub name: String,
    /// Length.
    pub bytes: usize,
    /// Where it lies.
    pub memory: MemoryKind,
    /// The byte that fills it before the run.
    pub guard: u8,
}

/// A segment of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentSetup {
    /// Index in the setup's regions.
    pub region: usize,
    /// Stream position of its first byte, in the flow's counting.
    pub position: u64,
    /// Length.
    pub bytes: u32,
    /// Byte offset in the region.
    pub offset: u64,
}

impl SegmentSetup {
    /// Its bytes in the region.
    pub fn place(&self) -> Range<u64> {
        self.offset..self.offset + u64::from(self.bytes)
    }

    /// Its bytes in the stream.
    pub fn stream(&self) -> Range<u64> {
        self.position..self.position + u64::from(self.bytes)
    }
}

/// A flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSetup {
    /// Its name.
    pub name: String,
    /// The card's side.
    pub local: SocketAddr,
    /// The other side.
    pub remote: SocketAddr,
    /// What positions count from.
    pub positions: Positions,
    /// First position that software has not accepted yet; sending: that the peer has not.
    pub floor: u64,
    /// Bytes that software accepts during the run.
    pub accept: Accept,
    /// Lowest and highest ACK number, counted like positions of the other direction.
    pub acks: Option<(u64, u64)>,
    /// Timestamp floor; packets without a timestamp are then deferred.
    pub timestamp_floor: Option<u32>,
    /// Sending: join consecutive packets to descriptors of up to this many bytes.
    pub join_bytes: u32,
    /// Sending: most payload of a frame, bytes. Longer packets are cut; without it as their
    /// connection's SYN says.
    pub mss_bytes: Option<u16>,
    /// Segments in stream order.
    pub segments: Vec<SegmentSetup>,
}

/// What a replay sets up: the content of a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaySetup {
    /// Addresses of the card; learned from the flows' packets where there are none.
    pub cards: Vec<CardAddress>,
    /// Regions in file order.
    pub regions: Vec<RegionSetup>,
    /// Flows in file order.
    pub flows: Vec<FlowSetup>,
}
