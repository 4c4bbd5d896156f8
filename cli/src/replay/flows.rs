//! The flow file: flows, their segments, and the regions that hold them.
//!
//! ```text
//!   flows.toml ── parse ──► FlowFile ── check ──► Plan     errors: file, line, value
//! ```
//!
//! Invariants
//! 1. Every segment of a plan lies inside its region, and no two share a byte.
//! 2. The segments of a flow ascend and do not overlap in the stream.
//!
//! The format is described in `docs/replay.md`.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;

use abi::config::{FLOW_REACH_BYTES, SEGMENTS_BORROWED_BITS_MAX};
use host::driver::bus::MemoryKind;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::options::{size, UsageError};

/// The byte that fills memory before the run, when the file names none.
const GUARD: u8 = 0xa5;

/// Longest name of a flow: file systems take names of 255 bytes.
const FLOW_NAME_BYTES_MAX: usize = 64;

/// Bytes below the floor from which on sequence numbers are those of bytes beyond it.
const BELOW_BYTES: u64 = 1 << 31;

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
pub struct RegionPlan {
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
pub struct SegmentPlan {
    /// Index in the plan's regions.
    pub region: usize,
    /// Stream position of its first byte, in the flow's counting.
    pub position: u64,
    /// Length.
    pub bytes: u32,
    /// Byte offset in the region.
    pub offset: u64,
}

impl SegmentPlan {
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
pub struct FlowPlan {
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
    /// Segments in stream order.
    pub segments: Vec<SegmentPlan>,
}

/// The content of a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Ethernet address of the card; learned from the flows' packets if the file names none.
    pub card: Option<[u8; 6]>,
    /// Regions in file order.
    pub regions: Vec<RegionPlan>,
    /// Flows in file order.
    pub flows: Vec<FlowPlan>,
}

/// A number of bytes, plain or with a unit.
#[derive(Clone, Copy, Debug)]
struct Size(u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of bytes, like 4096 or \"4KiB\"")
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Size, E> {
                let size = u64::try_from(value);
                size.map(Size)
                    .map_err(|_| E::custom(format!("{value} is negative")))
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Size, E> {
                size(value).map(Size).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Text)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Memory {
    Dram,
    Gpu,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    card: Option<Spanned<String>>,
    #[serde(default)]
    region: Vec<RegionText>,
    #[serde(default)]
    flow: Vec<FlowText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegionText {
    name: Spanned<String>,
    bytes: Spanned<Size>,
    memory: Option<Memory>,
    guard: Option<u8>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlowText {
    name: Spanned<String>,
    local: Spanned<SocketAddr>,
    remote: Spanned<SocketAddr>,
    #[serde(default)]
    positions: Positions,
    floor: Option<Spanned<u64>>,
    #[serde(default)]
    accept: Accept,
    ack_low: Option<Spanned<u64>>,
    ack_high: Option<Spanned<u64>>,
    timestamp_floor: Option<u32>,
    join_bytes: Option<Spanned<Size>>,
    #[serde(default)]
    segment: Vec<SegmentText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentText {
    region: Spanned<String>,
    bytes: Spanned<Size>,
    offset: Spanned<Size>,
    position: Option<Spanned<u64>>,
}

/// Reads and checks a flow file.
pub fn read_plan(path: &Path) -> Result<Plan, UsageError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| UsageError(format!("flow file {}: {error}", path.display())))?;
    let checker = Checker {
        name: path.display().to_string(),
        text: &text,
    };
    checker.plan()
}

/// The name and text of the file, so that errors name their line.
struct Checker<'a> {
    name: String,
    text: &'a str,
}

impl Checker<'_> {
    fn error(&self, span: Range<usize>, message: impl fmt::Display) -> UsageError {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        UsageError(format!("{}:{line}: {message}", self.name))
    }

    fn plan(&self) -> Result<Plan, UsageError> {
        let file: FileText = toml::from_str(self.text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            self.error(error.span().unwrap_or_default(), message)
        })?;
        let card = file
            .card
            .as_ref()
            .map(|text| self.ethernet(text))
            .transpose()?;
        let mut regions: Vec<RegionPlan> = Vec::new();
        for region in &file.region {
            if regions
                .iter()
                .any(|other| other.name == *region.name.get_ref())
            {
                let message = format!("region '{}' is there twice", region.name.get_ref());
                return Err(self.error(region.name.span(), message));
            }
            regions.push(self.region(region)?);
        }
        let mut plan = Plan {
            card,
            regions,
            flows: Vec::new(),
        };
        for flow in &file.flow {
            let flow = self.flow(flow, &plan)?;
            plan.flows.push(flow);
        }
        if plan.flows.is_empty() {
            return Err(self.error(0..0, "no flow; write at least one [[flow]]"));
        }
        Ok(plan)
    }

    fn ethernet(&self, text: &Spanned<String>) -> Result<[u8; 6], UsageError> {
        let parts: Vec<_> = text
            .get_ref()
            .split(':')
            .map(|p| u8::from_str_radix(p, 16))
            .collect();
        let bytes: Result<Vec<u8>, _> = parts.into_iter().collect();
        bytes
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| {
                let message = format!("'{}' is not an Ethernet address", text.get_ref());
                self.error(text.span(), message)
            })
    }

    fn region(&self, region: &RegionText) -> Result<RegionPlan, UsageError> {
        let bytes = region.bytes.get_ref().0;
        let most = 1 << 30;
        if bytes == 0 || bytes > most {
            let message = format!("region of {bytes} bytes; 1 to {most} are possible");
            return Err(self.error(region.bytes.span(), message));
        }
        Ok(RegionPlan {
            name: region.name.get_ref().clone(),
            bytes: bytes as usize,
            memory: match region.memory {
                Some(Memory::Gpu) => MemoryKind::Gpu,
                Some(Memory::Dram) | None => MemoryKind::Application,
            },
            guard: region.guard.unwrap_or(GUARD),
        })
    }

    fn flow(&self, text: &FlowText, plan: &Plan) -> Result<FlowPlan, UsageError> {
        let (local, remote) = (*text.local.get_ref(), *text.remote.get_ref());
        if local.is_ipv4() != remote.is_ipv4() {
            let message = format!("{local} and {remote} are not of one family");
            return Err(self.error(text.remote.span(), message));
        }
        let name = self.flow_name(&text.name)?;
        let mut names = plan.flows.iter().map(|flow| &flow.name);
        if names.any(|other| other == name) {
            return Err(self.error(text.name.span(), format!("flow '{name}' is there twice")));
        }
        let mut pairs = plan.flows.iter().map(|flow| (flow.local, flow.remote));
        if pairs.any(|pair| pair == (local, remote)) {
            let message = format!("flow '{name}': another flow has these addresses");
            return Err(self.error(text.local.span(), message));
        }
        let floor = self.position("floor", &text.floor)?.unwrap_or(0);
        let mut flow = FlowPlan {
            name: name.to_owned(),
            local,
            remote,
            positions: text.positions,
            floor,
            accept: text.accept,
            acks: self.acks(text)?,
            timestamp_floor: text.timestamp_floor,
            join_bytes: self.join_bytes(text)?,
            segments: Vec::new(),
        };
        for segment in &text.segment {
            let segment = self.segment(segment, &flow, plan)?;
            flow.segments.push(segment);
        }
        let most = 1 << SEGMENTS_BORROWED_BITS_MAX;
        if flow.segments.len() > most {
            let message = format!(
                "flow '{name}': {} segments, limit {most}",
                flow.segments.len()
            );
            return Err(self.error(text.name.span(), message));
        }
        Ok(flow)
    }

    /// A name is part of the names of files that a replay writes.
    fn flow_name<'b>(&self, name: &'b Spanned<String>) -> Result<&'b str, UsageError> {
        let (text, most) = (name.get_ref(), FLOW_NAME_BYTES_MAX);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if text.is_empty() || text.starts_with('.') || !text.chars().all(is_plain) {
            let message = format!(
                "flow name {text:?} names files: letters, digits, '-', '_', '.' after the first"
            );
            return Err(self.error(name.span(), message));
        }
        if text.len() > most {
            let message = format!("a flow name of {} bytes; at most {most}", text.len());
            return Err(self.error(name.span(), message));
        }
        Ok(text)
    }

    /// A floor or an ACK number: sequence numbers have 32 bits, and so has what is counted from
    /// one.
    fn position(&self, key: &str, text: &Option<Spanned<u64>>) -> Result<Option<u64>, UsageError> {
        let Some(text) = text else { return Ok(None) };
        let (position, most) = (*text.get_ref(), u32::MAX);
        if position > u64::from(most) {
            return Err(self.error(text.span(), format!("{key} {position} is above {most}")));
        }
        Ok(Some(position))
    }

    fn acks(&self, text: &FlowText) -> Result<Option<(u64, u64)>, UsageError> {
        self.position("ack_low", &text.ack_low)?;
        self.position("ack_high", &text.ack_high)?;
        match (&text.ack_low, &text.ack_high) {
            (None, None) => Ok(None),
            (Some(low), Some(high)) if low.get_ref() <= high.get_ref() => {
                Ok(Some((*low.get_ref(), *high.get_ref())))
            }
            (Some(low), Some(high)) => {
                let message = format!("ack_low {} is above {}", low.get_ref(), high.get_ref());
                Err(self.error(low.span(), message))
            }
            (Some(one), None) | (None, Some(one)) => {
                let message = "ack_low and ack_high belong together";
                Err(self.error(one.span(), message))
            }
        }
    }

    fn join_bytes(&self, text: &FlowText) -> Result<u32, UsageError> {
        let Some(join) = &text.join_bytes else {
            return Ok(0);
        };
        let (bytes, most) = (join.get_ref().0, abi::send_descriptor::PAYLOAD_BYTES.max());
        if bytes > most {
            let message = format!("join_bytes {bytes} is above {most}");
            return Err(self.error(join.span(), message));
        }
        Ok(bytes as u32)
    }

    fn segment(
        &self,
        text: &SegmentText,
        flow: &FlowPlan,
        plan: &Plan,
    ) -> Result<SegmentPlan, UsageError> {
        let wanted = text.region.get_ref();
        let found = plan
            .regions
            .iter()
            .position(|region| region.name == *wanted);
        let Some(region) = found else {
            return Err(self.error(text.region.span(), format!("no region '{wanted}'")));
        };
        let (bytes, offset) = (text.bytes.get_ref().0, text.offset.get_ref().0);
        let room = plan.regions[region].bytes as u64;
        if bytes == 0 || offset.checked_add(bytes).is_none_or(|end| end > room) {
            let message =
                format!("{bytes} bytes at offset {offset} do not lie in '{wanted}' ({room} bytes)");
            return Err(self.error(text.bytes.span(), message));
        }
        let end = flow
            .segments
            .last()
            .map_or(flow.floor, |last| last.stream().end);
        let position = text
            .position
            .as_ref()
            .map_or(end, |position| *position.get_ref());
        let span = text
            .position
            .as_ref()
            .map_or(text.bytes.span(), Spanned::span);
        if !flow.segments.is_empty() && position < end {
            let message = format!("position {position} lies before {end}, where the last one ends");
            return Err(self.error(span, message));
        }
        self.reach(span, position, bytes, flow.floor)?;
        let segment = SegmentPlan {
            region,
            position,
            bytes: bytes as u32,
            offset,
        };
        let others = plan
            .flows
            .iter()
            .flat_map(|flow| &flow.segments)
            .chain(&flow.segments);
        let shares = |other: &SegmentPlan| {
            let (a, b) = (other.place(), segment.place());
            other.region == region && a.start < b.end && b.start < a.end
        };
        if others.into_iter().any(shares) {
            let message = format!("{bytes} bytes at offset {offset} overlap another segment");
            return Err(self.error(text.offset.span(), message));
        }
        Ok(segment)
    }

    /// Whether the sequence numbers of a segment are unique in the flow.
    fn reach(
        &self,
        span: Range<usize>,
        position: u64,
        bytes: u64,
        floor: u64,
    ) -> Result<(), UsageError> {
        let limit = u64::from(FLOW_REACH_BYTES);
        let message = if position.saturating_add(bytes).saturating_sub(floor) >= limit {
            format!("position {position} + {bytes} is {limit} bytes or more beyond the floor")
        } else if floor.saturating_sub(position) >= BELOW_BYTES {
            format!("position {position} is {BELOW_BYTES} bytes or more below the floor")
        } else {
            return Ok(());
        };
        Err(self.error(span, message))
    }
}
