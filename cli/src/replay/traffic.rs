//! The capture, sorted: what goes into the card, what comes out of it, where each stream begins.
//!
//! A frame from the card's Ethernet address is outgoing, any other one is incoming. The address is
//! the flow file's, or that of the first packet of one of its flows.

use std::path::Path;

use abi::config::FRAME_BYTES_MIN;
use host::control::packet::{parse_tcp, TcpHeader};
use host::transport::header::SYN;
use sim::harness::pcapng::read_capture;

use super::flows::{FlowPlan, Plan, Positions};
use crate::options::UsageError;

/// A frame and its number in the capture, counted from 1 as Wireshark does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// Number.
    pub number: usize,
    /// The frame without FCS, padded to the shortest length as its sender's MAC does.
    pub bytes: Vec<u8>,
}

/// A capture, sorted.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Frames to the card.
    pub incoming: Vec<Numbered>,
    /// Frames from the card.
    pub outgoing: Vec<Numbered>,
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the card.
    In,
    /// From the card.
    Out,
}

/// The flow that a packet belongs to.
pub fn flow_of(plan: &Plan, header: &TcpHeader) -> Option<(usize, Way)> {
    let (source, destination) = (header.source, header.destination);
    let index = |local, remote| {
        plan.flows
            .iter()
            .position(|flow| (flow.local, flow.remote) == (local, remote))
    };
    let incoming = index(destination, source).map(|flow| (flow, Way::In));
    incoming.or_else(|| index(source, destination).map(|flow| (flow, Way::Out)))
}

impl Traffic {
    /// Reads a capture.
    pub fn read(path: &Path, plan: &Plan) -> Result<Traffic, UsageError> {
        let at = path.display();
        let frames = read_capture(path).map_err(|error| UsageError(format!("{at}: {error}")))?;
        if frames.is_empty() {
            return Err(UsageError(format!("{at}: the capture has no frames")));
        }
        let mut numbered = Vec::new();
        for (index, frame) in frames.into_iter().enumerate() {
            let number = index + 1;
            let (held, whole) = (frame.bytes.len(), frame.wire_bytes);
            if held < whole as usize {
                return Err(UsageError(format!(
                    "{at}: frame {number} was cut to {held} of {whole} bytes; capture whole frames"
                )));
            }
            if held < 14 {
                return Err(UsageError(format!("{at}: frame {number} has {held} bytes")));
            }
            let mut bytes = frame.bytes;
            bytes.resize(held.max(FRAME_BYTES_MIN), 0);
            numbered.push(Numbered { number, bytes });
        }
        let Some(card) = plan.card.or_else(|| learn(plan, &numbered)) else {
            let message = "no packet of any flow, and the flow file names no card address";
            return Err(UsageError(format!("{at}: {message}")));
        };
        let (outgoing, incoming) = numbered.into_iter().partition(|f| f.bytes[6..12] == card);
        Ok(Traffic { incoming, outgoing })
    }

    /// The sequence number of position 0 of a flow, in one direction.
    pub fn base(&self, flow: &FlowPlan, way: Way) -> Result<u32, UsageError> {
        if flow.positions == Positions::Absolute {
            return Ok(0);
        }
        let (frames, source, destination) = match way {
            Way::In => (&self.incoming, flow.remote, flow.local),
            Way::Out => (&self.outgoing, flow.local, flow.remote),
        };
        let headers = frames.iter().filter_map(|frame| parse_tcp(&frame.bytes));
        let mut of_flow = headers.filter(|h| (h.source, h.destination) == (source, destination));
        let syn = of_flow.find(|header| header.flags & SYN != 0);
        syn.map(|header| header.sequence.wrapping_add(1))
            .ok_or_else(|| {
                let (name, advice) = (&flow.name, "give absolute positions");
                UsageError(format!(
                    "flow '{name}': no SYN from {source} in the capture; {advice}"
                ))
            })
    }
}

fn learn(plan: &Plan, frames: &[Numbered]) -> Option<[u8; 6]> {
    let address = |frame: &Numbered| {
        let (_, way) = flow_of(plan, &parse_tcp(&frame.bytes)?)?;
        let range = if way == Way::Out { 6..12 } else { 0..6 };
        frame.bytes[range].try_into().ok()
    };
    frames.iter().find_map(address)
}
