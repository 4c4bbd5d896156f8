//! Who is at the wire of a served card: another machine that sends back what it receives.
//!
//! ```text
//!   card ── frames ──► peer: kernel TCP or smoltcp, an echo at each of its addresses
//!        ◄── frames ──
//! ```
//! The wire is perfect and takes no time.

use std::net::SocketAddr;

use anyhow::Result;
use clap::ValueEnum;
use host::clock::Clock;
use host::transport::peer::{Conversation, KernelPeer, SmoltcpPeer, WirePeer};
use host::transport::{LinkConfig, Tuning};
use served::ServedCard;

use crate::shared::stack::{choose, Stack, PORT};

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

impl PeerName {
    fn stack(self) -> Option<Stack> {
        match self {
            Self::None => None,
            Self::Auto => Some(Stack::Auto),
            Self::Linux => Some(Stack::Linux),
            Self::Smoltcp => Some(Stack::Smoltcp),
        }
    }
}

/// The wire of a card, and what is at its end.
pub struct Wire {
    peer: Option<Box<dyn WirePeer>>,
    /// What is at its end, in words.
    pub description: String,
    buffer: Vec<u8>,
}

impl Wire {
    /// Opens the peer.
    pub fn open(name: PeerName, mtu: u16) -> Result<Self> {
        let buffer = vec![0; FRAME_BYTES_MAX];
        let Some(stack) = name.stack() else {
            let description = "nothing is at its wire".to_owned();
            return Ok(Self { peer: None, description, buffer });
        };
        let tuning = Tuning {
            receive_buffer_bytes: BUFFER_BYTES,
            send_buffer_bytes: BUFFER_BYTES,
            ..Tuning::REAL_TIME
        };
        let link = LinkConfig::lab(NUMBER, mtu, tuning);
        let (mut peer, name) = choose::<Box<dyn WirePeer>>(
            stack,
            || Ok(Box::new(KernelPeer::open(&link)?)),
            || Ok(Box::new(SmoltcpPeer::open(&link, Clock::Wall { divisor: 1 })?)),
        )?;
        let mut places = Vec::new();
        for entry in &link.addresses {
            let local = SocketAddr::new(entry.address, PORT);
            peer.listen_and_echo(local)?;
            places.push(local.to_string());
        }
        let places = places.join(" and ");
        let description = format!("at its wire: {name}, an echo at {places}");
        Ok(Self { peer: Some(peer), description, buffer })
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
        for frame in sent {
            moved = true;
            peer.inject_frame(&frame)?;
        }
        for _ in 0..FRAMES_PER_ROUND {
            let Some(bytes) = peer.poll_frame(&mut self.buffer)? else { break };
            moved = true;
            let on_wire = bytes.max(FRAME_BYTES_MIN);
            self.buffer[bytes..on_wire].fill(0);
            card.receive(&self.buffer[..on_wire], false);
        }
        Ok(moved)
    }

    /// Conversations that have ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Conversation> {
        self.peer.as_mut().map(|peer| peer.take_ended()).unwrap_or_default()
    }
}
