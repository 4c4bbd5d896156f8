//! A TCP packet of a flow, and the frames that the card has to make of it.

use super::super::cut::{cut, mss};
use super::super::packet::Packet;
use super::super::setup::FlowSetup;
use super::super::traffic::Numbered;

/// A TCP packet of a flow, with payload.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Index of the flow.
    pub flow: usize,
    /// What it says.
    pub packet: Packet,
    /// Its frame.
    pub frame: Numbered,
    /// Position of its first byte; below 0 if it lies before the first byte of the stream.
    pub position: i64,
    /// Payload bytes that lie below the flow's floor, which the card leaves out.
    pub below_floor: usize,
    /// Most payload of a frame.
    pub mss: usize,
}

impl Outgoing {
    /// Takes a packet of a flow apart. Positions have more bits than sequence numbers, so a
    /// packet's is the one closest to the flow's floor. `base` is the sequence number of position
    /// 0, `syn_mss` what the other side allows.
    pub fn new(
        (flow, setup): (usize, &FlowSetup),
        (frame, packet): (&Numbered, Packet),
        base: u32,
        syn_mss: Option<u16>,
    ) -> Self {
        let floor_sequence = base.wrapping_add(setup.floor as u32);
        let distance = packet.sequence().wrapping_sub(floor_sequence) as i32;
        let below_floor = 0.max(-i64::from(distance)) as usize;
        Self {
            flow,
            frame: frame.clone(),
            position: setup.floor as i64 + i64::from(distance),
            below_floor: below_floor.min(packet.payload.len()),
            mss: mss(&packet, setup.mss_bytes, syn_mss),
            packet,
        }
    }

    /// Its payload.
    pub fn payload(&self) -> &[u8] {
        &self.frame.bytes[self.packet.payload.clone()]
    }

    /// Its headers.
    pub fn header(&self) -> &[u8] {
        &self.frame.bytes[..self.packet.header_bytes]
    }

    /// Whether the card makes exactly one frame of it, with all of its payload.
    pub fn is_one_frame(&self) -> bool {
        self.below_floor == 0 && self.packet.payload.len() <= self.mss
    }

    /// The frames that the card has to send.
    pub fn frames(&self) -> Vec<Numbered> {
        let frames = cut(&self.frame.bytes, &self.packet, self.below_floor, self.mss);
        let number = self.frame.number;
        let frames = frames.into_iter().map(|bytes| Numbered { number, bytes });
        frames.collect()
    }
}
