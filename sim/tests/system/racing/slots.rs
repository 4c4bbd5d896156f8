//! The flows as software knows them: names, streams, lists.

use std::collections::VecDeque;
use std::ops::Range;

use abi::config::CardConfig;
use abi::flow_key::KEY_BYTES;
use host::records::commands::{Acceptance, Direction, FlowName};
use rand::rngs::SmallRng;
use rand::Rng;
use sim::harness::traffic::Addresses;

/// Flows.
pub const SLOTS: usize = 64;
/// Bytes of a slot's part of its region: what is received, then what is sent.
pub const SLOT_BYTES: usize = 24 << 10;
/// Bytes of it for what is received.
pub const RECEIVE_BYTES: usize = 16 << 10;
/// A list that is borrowed from the pool has 2^BORROWED_BITS entries.
const BORROWED_BITS: u8 = 5;

/// From the first position of one generation to that of the next.
pub const GENERATION_STEP: u32 = 0x0c00_0000;

/// What a flow speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Profile 0.
    Tcp,
    /// A header profile over UDP.
    Profile(u8),
}

/// A segment in a list.
#[derive(Clone, Debug)]
pub struct Posted {
    /// List index.
    pub index: u16,
    /// Offset of its first byte in the stream.
    pub start: u32,
    /// Length.
    pub bytes: u32,
    /// Where it lies in the region.
    pub offset: usize,
    /// Bytes of it that no command has taken back.
    pub live: Range<u32>,
}

/// One direction of a flow.
#[derive(Clone, Debug, Default)]
pub struct Half {
    /// Stream offset of the floor.
    pub floor: u32,
    /// Stream offset behind the last segment.
    pub posted: u32,
    /// Segments, oldest first.
    pub list: VecDeque<Posted>,
    /// First index not in use.
    pub tail: u16,
}

impl Half {
    /// First index in use.
    pub fn head(&self) -> u16 {
        self.list.front().map_or(self.tail, |posted| posted.index)
    }

    /// Moves the floor; the bytes that are taken back.
    pub fn move_floor(&mut self, floor: u32, lazy: bool) -> Vec<Range<usize>> {
        self.floor = floor;
        let mut back = Vec::new();
        for posted in &mut self.list {
            let end = floor.saturating_sub(posted.start);
            let end = end.clamp(posted.live.start, posted.live.end);
            back.push(posted.offset + posted.live.start as usize..posted.offset + end as usize);
            posted.live.start = end;
        }
        let keep = usize::from(lazy);
        while self.list.len() > keep && self.list[keep].start + self.list[keep].bytes <= floor {
            self.list.pop_front();
        }
        if keep == 0 {
            while self.list.front().is_some_and(|p| p.start + p.bytes <= floor) {
                self.list.pop_front();
            }
        }
        back
    }

    /// Takes everything back.
    pub fn end(&mut self) -> Vec<Range<usize>> {
        let rest = self.list.iter_mut().map(|posted| {
            let live = std::mem::replace(&mut posted.live, 0..0);
            posted.offset + live.start as usize..posted.offset + live.end as usize
        });
        rest.collect()
    }
}

/// Whether a flow or a region is on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not there.
    Away,
    /// Installed, or being installed.
    There,
    /// Its removal is not confirmed.
    Leaving,
}

/// One flow, in all its generations.
pub struct Slot {
    /// Flow and generation.
    pub name: FlowName,
    /// Its transport.
    pub transport: Transport,
    /// Peer's and own address.
    pub addresses: Addresses,
    /// Peer's and own port.
    pub ports: (u16, u16),
    /// Message key of a profile that has one.
    pub message_key: [u8; 8],
    /// Key in the flow table.
    pub key: [u8; KEY_BYTES],
    /// Position of the first byte of the stream.
    pub base: u32,
    /// Whether it is on the card.
    pub phase: Phase,
    /// Receive side.
    pub receive: Half,
    /// Send side.
    pub send: Half,
    /// Where an in-order sender goes on.
    pub next: u32,
    /// First entry of both lists.
    pub list_base: u32,
    /// Their entries, log2.
    pub list_bits: u8,
}

impl Slot {
    /// One direction.
    pub fn half(&mut self, direction: Direction) -> &mut Half {
        match direction {
            Direction::Receive => &mut self.receive,
            Direction::Send => &mut self.send,
        }
    }

    /// What it accepts now.
    pub fn acceptance(&self) -> Acceptance {
        Acceptance {
            floor: self.base.wrapping_add(self.receive.floor),
            ack_low: 1000,
            ack_high: 2000,
            ..Acceptance::default()
        }
    }
}

/// Content of a stream from an offset on, another one in each generation and direction.
pub fn content(name: FlowName, direction: Direction, from: u32, bytes: u32) -> Vec<u8> {
    let salt = u64::from(name.generation) << 1 | u64::from(direction == Direction::Send);
    let stream = u64::from(name.flow) << 44 | salt << 34;
    let byte = |at: u32| (stream | u64::from(at)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    (from..from + bytes).map(|at| byte(at) as u8).collect()
}

/// The slots of a card, none installed.
pub fn slots(config: &CardConfig, random: &mut SmallRng) -> Vec<Slot> {
    let stride = (1usize << config.flow_bits) / SLOTS;
    let pool = 8u32 << config.flow_bits;
    let make = |number: usize| {
        let flow = (number * stride + number * 7 % stride) as u16;
        let borrows = number % 8 == 5;
        let list_base = match borrows {
            true => pool + ((number as u32) << BORROWED_BITS),
            false => u32::from(flow) * 8,
        };
        let transport = match number % 4 {
            1 => Transport::Profile(1 + (number / 4 % 2) as u8),
            _ => Transport::Tcp,
        };
        let id = number as u8;
        let addresses = if number.is_multiple_of(3) {
            let (mut source, mut destination) = ([0xfd; 16], [0xfd; 16]);
            (source[15], destination[15]) = (id, 1);
            Addresses::V6(source, destination)
        } else {
            Addresses::V4([10, 0, 1, id], [10, 0, 0, 1])
        };
        Slot {
            name: FlowName { flow, generation: random.random() },
            transport,
            addresses,
            ports: (random.random(), 4000 + u16::from(transport_number(transport))),
            message_key: random.random(),
            key: [0; KEY_BYTES],
            // In the first generation, some streams wrap.
            base: match number % 4 {
                0 => 0u32.wrapping_sub(GENERATION_STEP + 3000),
                _ => random.random(),
            },
            phase: Phase::Away,
            receive: Half::default(),
            send: Half::default(),
            next: 0,
            list_base,
            list_bits: if borrows { BORROWED_BITS } else { 3 },
        }
    };
    (0..SLOTS).map(make).collect()
}

fn transport_number(transport: Transport) -> u8 {
    match transport {
        Transport::Tcp => 0,
        Transport::Profile(number) => number,
    }
}
