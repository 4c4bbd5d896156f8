//! The wire of a served card, and who is at its end: a machine that sends back what it receives.
//!
//! ```text
//!   card ── wire ──► peer: kernel TCP or smoltcp, an echo at each of its addresses
//!        ◄── wire ──
//! ```
//! The wire takes no time. What it holds back to be overtaken it lets go when nothing else moves.

use std::net::SocketAddr;

use anyhow::Result;
use clap::ValueEnum;
use host::clock::Clock;
use host::transport::peer::{Conversation, KernelPeer, SmoltcpPeer, WirePeer};
use host::transport::{LinkConfig, Tuning};
use lab::frame::Frame;
use lab::wire::{Wire, WireStatistics};
use served::ServedCard;

use crate::shared::faults::Faults;
use crate::shared::options::UsageError;
use crate::shared::stack::{kernel, TransportChoice, LINUX, PORT, SMOLTCP};

/// Longest frame that a peer hands out.
const FRAME_BYTES_MAX: usize = 65_600;
/// Shortest frame on a wire, without its check sequence.
const FRAME_BYTES_MIN: usize = 60;
/// Frames of the peer between two looks at the client, at most.
const FRAMES_PER_ROUND: usize = 32;
/// The peer's number in the lab's network. The host of the card is 1.
const NUMBER: u8 = 2;
/// What a connection holds: the memory of many connections is the peer's.
const BUFFER_BYTES: u32 = 1 << 20;

/// Which machine is at the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PeerName {
    /// None: what the card sends is lost
    None,
    /// The kernel's TCP where the machine allows it, otherwise smoltcp
    Auto,
    /// The Linux kernel's TCP, in a network namespace of its own
    Linux,
    /// smoltcp, in this process
    Smoltcp,
}

/// The wire of a card, and what is at its end.
pub struct Line {
    peer: Option<Box<dyn WirePeer>>,
    to_card: Wire,
    to_peer: Wire,
    /// What is at its end, in words.
    pub description: String,
    buffer: Vec<u8>,
}

impl Line {
    /// Opens the peer, at a wire with these faults and their seed.
    pub fn open(name: PeerName, mtu: u16, (faults, seed): (&Faults, u64)) -> Result<Self> {
        let wire = |seed| Wire::new(faults.disturbance(), seed);
        let mut line = Self {
            peer: None,
            to_card: wire(seed ^ 1),
            to_peer: wire(seed ^ 2),
            description: "nothing is at its wire".to_owned(),
            buffer: vec![0; FRAME_BYTES_MAX],
        };
        let wish = match name {
            PeerName::None => {
                return match faults.option_names().next() {
                    None => Ok(line),
                    Some(fault) => {
                        let reason = format!("{fault}: nothing is at the wire without --peer");
                        Err(UsageError(reason).into())
                    }
                }
            }
            PeerName::Auto => Some(TransportChoice::OrElse(SMOLTCP)),
            PeerName::Linux => Some(TransportChoice::Only),
            PeerName::Smoltcp => None,
        };
        line.attach(wish, mtu)?;
        Ok(line)
    }

    /// Puts a machine at its end: a kernel as it is wished for, or smoltcp.
    fn attach(&mut self, wish: Option<TransportChoice>, mtu: u16) -> Result<()> {
        let tuning = Tuning {
            receive_buffer_bytes: BUFFER_BYTES,
            send_buffer_bytes: BUFFER_BYTES,
            ..Tuning::REAL_TIME
        };
        let link = LinkConfig::lab(NUMBER, mtu, tuning);
        let linux = match wish {
            Some(wish) => kernel(wish, || KernelPeer::open(&link))?,
            None => None,
        };
        let (mut peer, name): (Box<dyn WirePeer>, _) = match linux {
            Some(linux) => (Box::new(linux), LINUX),
            None => (Box::new(SmoltcpPeer::open(&link, Clock::Wall { divisor: 1 })?), SMOLTCP),
        };
        let mut places = Vec::new();
        for entry in &link.addresses {
            let local = SocketAddr::new(entry.address, PORT);
            peer.listen_and_echo(local)?;
            places.push(local.to_string());
        }
        let places = places.join(" and ");
        self.description = format!("at its wire: {name}, an echo at {places}");
        self.peer = Some(peer);
        Ok(())
    }

    /// Whether somebody is there.
    pub fn has_peer(&self) -> bool {
        self.peer.is_some()
    }

    /// Moves frames both ways; whether there were any.
    pub fn carry(&mut self, card: &mut ServedCard) -> Result<bool> {
        let mut moved = false;
        let sent = card.take_sent();
        let Some(peer) = &mut self.peer else { return Ok(false) };
        let (mut to_peer, mut to_card) = (Vec::new(), Vec::new());
        for bytes in sent {
            moved = true;
            self.to_peer.carry(Frame { bytes, ..Frame::default() }, &mut to_peer);
        }
        for _ in 0..FRAMES_PER_ROUND {
            let Some(bytes) = peer.poll_frame(&mut self.buffer)? else { break };
            moved = true;
            let mut bytes = self.buffer[..bytes].to_vec();
            bytes.resize(bytes.len().max(FRAME_BYTES_MIN), 0);
            self.to_card.carry(Frame { bytes, ..Frame::default() }, &mut to_card);
        }
        if !moved {
            self.to_peer.flush(&mut to_peer);
            self.to_card.flush(&mut to_card);
        }
        // The peer's own MAC drops frames with a bad check sequence.
        for frame in to_peer.iter().filter(|frame| !frame.is_bad) {
            peer.inject_frame(&frame.bytes)?;
        }
        for frame in to_card {
            card.receive(&frame.bytes, frame.is_bad);
        }
        Ok(moved)
    }

    /// What the wire has done to frames so far, in a line; nothing where it has spared them.
    pub fn harm(&self) -> String {
        let all = [self.to_card.statistics(), self.to_peer.statistics()];
        let sum = |of: fn(&WireStatistics) -> u64| all.iter().map(of).sum::<u64>();
        let counts = [
            (sum(|it| it.lost), "lost"),
            (sum(|it| it.reordered), "overtaken"),
            (sum(|it| it.duplicated), "doubled"),
            (sum(|it| it.corrupted + it.corrupted_unseen), "damaged"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        match counts.is_empty() {
            true => String::new(),
            false => format!("frames on the wire so far: {}\n", counts.join(", ")),
        }
    }

    /// Conversations that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Conversation> {
        self.peer.as_mut().map(|peer| peer.take_ended()).unwrap_or_default()
    }
}
