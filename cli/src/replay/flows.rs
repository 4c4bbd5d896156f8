//! The flow file: flows, their segments, and the regions that hold them.
//!
//! ```text
//!   flows.toml ── parse ──► FlowFile ── check ──► ReplaySetup     errors: file, line, value
//! ```
//!
//! The format is described in `docs/replay.md`.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Range;
use std::path::Path;

use abi::config::{FLOW_REACH_BYTES, FRAME_PAYLOAD_BYTES_MAX, SEGMENTS_BORROWED_BITS_MAX};
use host::driver::bus::MemoryKind;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use toml::{Spanned, Value};

use super::address::CardAddress;
use super::setup::{
    Accept, FlowSetup, Positions, RegionSetup, ReplaySetup, SegmentSetup, GUARD, REGION_BYTES_MAX,
};
use crate::shared::options::{size, UsageError};

/// Longest name of a flow: file systems take names of 255 bytes.
const FLOW_NAME_BYTES_MAX: usize = 64;

/// Bytes below the floor from which on sequence numbers are those of bytes beyond it.
const BELOW_BYTES: u64 = 1 << 31;

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
                size.map(Size).map_err(|_| E::custom(format!("{value} is negative")))
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
    card: Option<Spanned<Value>>,
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
    mss_bytes: Option<Spanned<Size>>,
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
pub fn read_setup(path: &Path) -> Result<ReplaySetup, UsageError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| UsageError(format!("flow file {}: {error}", path.display())))?;
    let checker = Checker { name: path.display().to_string(), text: &text };
    checker.read()
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

    fn read(&self) -> Result<ReplaySetup, UsageError> {
        let file: FileText = toml::from_str(self.text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            self.error(error.span().unwrap_or_default(), message)
        })?;
        let cards = file.card.as_ref().map(|value| self.cards(value));
        let cards = cards.transpose()?.unwrap_or_default();
        let mut regions: Vec<RegionSetup> = Vec::new();
        for region in &file.region {
            if regions.iter().any(|other| other.name == *region.name.get_ref()) {
                let message = format!("region '{}' is there twice", region.name.get_ref());
                return Err(self.error(region.name.span(), message));
            }
            regions.push(self.region(region)?);
        }
        let mut setup = ReplaySetup { cards, regions, flows: Vec::new() };
        for flow in &file.flow {
            let flow = self.flow(flow, &setup)?;
            setup.flows.push(flow);
        }
        if setup.flows.is_empty() && setup.cards.is_empty() {
            let message = "no flow; write at least one [[flow]], or the address of the card";
            return Err(self.error(0..0, message));
        }
        Ok(setup)
    }

    /// One address of the card, or a list of them.
    fn cards(&self, value: &Spanned<Value>) -> Result<Vec<CardAddress>, UsageError> {
        let one = std::slice::from_ref(value.get_ref());
        let all = value.get_ref().as_array().map_or(one, Vec::as_slice);
        let address = |value: &Value| match value.as_str() {
            Some(text) => text.parse(),
            None => Err(format!("{value} is no address of a card")),
        };
        let addresses = all.iter().map(address).collect::<Result<_, String>>();
        addresses.map_err(|message| self.error(value.span(), message))
    }

    fn region(&self, region: &RegionText) -> Result<RegionSetup, UsageError> {
        let bytes = region.bytes.get_ref().0;
        let most = REGION_BYTES_MAX;
        if bytes == 0 || bytes > most {
            let message = format!("region of {bytes} bytes; 1 to {most} are possible");
            return Err(self.error(region.bytes.span(), message));
        }
        Ok(RegionSetup {
            name: region.name.get_ref().clone(),
            bytes: bytes as usize,
            memory: match region.memory {
                Some(Memory::Gpu) => MemoryKind::Gpu,
                Some(Memory::Dram) | None => MemoryKind::Application,
            },
            guard: region.guard.unwrap_or(GUARD),
        })
    }

    fn flow(&self, text: &FlowText, setup: &ReplaySetup) -> Result<FlowSetup, UsageError> {
        let (local, remote) = (*text.local.get_ref(), *text.remote.get_ref());
        if local.is_ipv4() != remote.is_ipv4() {
            let message = format!("{local} and {remote} are not of one family");
            return Err(self.error(text.remote.span(), message));
        }
        let name = self.flow_name(&text.name)?;
        let mut names = setup.flows.iter().map(|flow| &flow.name);
        if names.any(|other| other == name) {
            return Err(self.error(text.name.span(), format!("flow '{name}' is there twice")));
        }
        let mut pairs = setup.flows.iter().map(|flow| (flow.local, flow.remote));
        if pairs.any(|pair| pair == (local, remote)) {
            let message = format!("flow '{name}': another flow has these addresses");
            return Err(self.error(text.local.span(), message));
        }
        let floor = self.position("floor", &text.floor)?.unwrap_or(0);
        let mut flow = FlowSetup {
            name: name.to_owned(),
            local,
            remote,
            positions: text.positions,
            floor,
            accept: text.accept,
            acks: self.acks(text)?,
            timestamp_floor: text.timestamp_floor,
            join_bytes: self.join_bytes(text)?,
            mss_bytes: self.mss_bytes(text)?,
            segments: Vec::new(),
        };
        for segment in &text.segment {
            let segment = self.segment(segment, &flow, setup)?;
            flow.segments.push(segment);
        }
        let most = 1 << SEGMENTS_BORROWED_BITS_MAX;
        if flow.segments.len() > most {
            let message = format!("flow '{name}': {} segments, limit {most}", flow.segments.len());
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
        let Some(join) = &text.join_bytes else { return Ok(0) };
        let (bytes, most) = (join.get_ref().0, abi::send_descriptor::PAYLOAD_BYTES.max());
        if bytes > most {
            let message = format!("join_bytes {bytes} is above {most}");
            return Err(self.error(join.span(), message));
        }
        Ok(bytes as u32)
    }

    fn mss_bytes(&self, text: &FlowText) -> Result<Option<u16>, UsageError> {
        let Some(mss) = &text.mss_bytes else { return Ok(None) };
        let (bytes, most) = (mss.get_ref().0, FRAME_PAYLOAD_BYTES_MAX as u64);
        if bytes == 0 || bytes > most {
            let message = format!("mss_bytes {bytes}: a frame has 1 to {most} bytes of payload");
            return Err(self.error(mss.span(), message));
        }
        Ok(Some(bytes as u16))
    }

    fn segment(
        &self,
        text: &SegmentText,
        flow: &FlowSetup,
        setup: &ReplaySetup,
    ) -> Result<SegmentSetup, UsageError> {
        let wanted = text.region.get_ref();
        let found = setup.regions.iter().position(|region| region.name == *wanted);
        let Some(region) = found else {
            return Err(self.error(text.region.span(), format!("no region '{wanted}'")));
        };
        let (bytes, offset) = (text.bytes.get_ref().0, text.offset.get_ref().0);
        let room = setup.regions[region].bytes as u64;
        if bytes == 0 || offset.checked_add(bytes).is_none_or(|end| end > room) {
            let message =
                format!("{bytes} bytes at offset {offset} do not lie in '{wanted}' ({room} bytes)");
            return Err(self.error(text.bytes.span(), message));
        }
        let end = flow.segments.last().map_or(flow.floor, |last| last.stream().end);
        let position = text.position.as_ref().map_or(end, |position| *position.get_ref());
        let span = text.position.as_ref().map_or(text.bytes.span(), Spanned::span);
        if !flow.segments.is_empty() && position < end {
            let message = format!("position {position} lies before {end}, where the last one ends");
            return Err(self.error(span, message));
        }
        self.reach(span, position, bytes, flow.floor)?;
        let segment = SegmentSetup { region, position, bytes: bytes as u32, offset };
        let others = setup.flows.iter().flat_map(|flow| &flow.segments).chain(&flow.segments);
        let shares = |other: &SegmentSetup| {
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
