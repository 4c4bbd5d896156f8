//! The wire of a served card, and who is at its end: a machine that sends back what it receives, or
//! an interface of this one.
//!
//! ```text
//!   card ── wire ──► peer: the kernel's TCP, smoltcp or our own, an echo at each of its addresses
//!        ◄── wire ── or a TAP device, and whatever uses it
//! ```
//! The wire takes no time. What it holds back to be overtaken it lets go when nothing else moves.

use std::net::SocketAddr;
use std::str::FromStr;

use anyhow::Result;
use host::clock::Clock;
use host::tcp::TcpProtocol;
use host::transport::peer::{Conversation, KernelPeer, SmoltcpPeer, TcpPeer, WirePeer};
use host::transport::{LinkConfig, TapPort, TransportError, Tuning};
use lab::frame::Frame;
use lab::wire::{Wire, WireStatistics};
use served::ServedCard;
use tcp::Config;

use super::shown::Shown;
use crate::shared::faults::Faults;
use crate::shared::options::UsageError;
use crate::shared::secret::fresh_secret;
use crate::shared::stack::{kernel, TransportChoice, LINUX, OWN, PORT, SMOLTCP};

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

/// What is at the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerName {
    /// None: what the card sends is lost.
    None,
    /// The kernel's TCP where the machine allows it, otherwise smoltcp.
    Auto,
    /// The Linux kernel's TCP, in a network namespace of its own.
    Linux,
    /// smoltcp, in this process.
    Smoltcp,
    /// Our own TCP, in this process.
    Tcp,
    /// The TAP device of that name.
    Tap(String),
}

impl FromStr for PeerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "none" => Self::None,
            "auto" => Self::Auto,
            "linux" => Self::Linux,
            "smoltcp" => Self::Smoltcp,
            "tcp" => Self::Tcp,
            text => match text.strip_prefix("tap:") {
                Some(name) if (1..=TapPort::NAME_BYTES_MAX).contains(&name.len()) => {
                    Self::Tap(name.to_owned())
                }
                Some(_) => {
                    let most = TapPort::NAME_BYTES_MAX;
                    return Err(format!("'{text}': an interface's name has 1 to {most} bytes"));
                }
                None => {
                    let known = "none, auto, linux, smoltcp, tcp or tap:NAME";
                    return Err(format!("'{text}' is no peer; use {known}"));
                }
            },
        })
    }
}

/// What hands out and takes frames.
enum End {
    Nobody,
    Peer(Box<dyn WirePeer>),
    Tap(TapPort),
}

impl End {
    fn poll_frame(&mut self, buffer: &mut [u8]) -> Result<Option<usize>, TransportError> {
        match self {
            Self::Nobody => Ok(None),
            Self::Peer(peer) => peer.poll_frame(buffer),
            Self::Tap(tap) => tap.poll_frame(buffer),
        }
    }

    fn inject_frame(&mut self, frame: &[u8]) -> Result<(), TransportError> {
        match self {
            Self::Nobody => Ok(()),
            Self::Peer(peer) => peer.inject_frame(frame),
            Self::Tap(tap) => tap.inject_frame(frame),
        }
    }
}

/// How the end of a wire is set up.
pub struct LineConfig<'a> {
    /// What is there.
    pub peer: &'a PeerName,
    /// Largest IP packet, bytes.
    pub mtu: u16,
    /// What the wire does.
    pub faults: &'a Faults,
    /// Seed of that.
    pub seed: u64,
    /// Timers of a peer.
    pub tuning: Tuning,
}

/// The wire of a card, and what is at its end.
pub struct Line {
    end: End,
    to_card: Wire,
    to_peer: Wire,
    /// What is at its end, in words.
    pub description: String,
    buffer: Vec<u8>,
}

impl Line {
    /// Opens what is at the end of a wire.
    pub fn open(config: &LineConfig<'_>) -> Result<Self> {
        let wire = |seed| Wire::new(config.faults.disturbance(), seed);
        let mut line = Self {
            end: End::Nobody,
            to_card: wire(config.seed ^ 1),
            to_peer: wire(config.seed ^ 2),
            description: "nothing is at its wire".to_owned(),
            buffer: vec![0; FRAME_BYTES_MAX],
        };
        match config.peer {
            PeerName::None => {
                if let Some(fault) = config.faults.option_names().next() {
                    let reason = format!("{fault}: nothing is at the wire without --peer");
                    return Err(UsageError(reason).into());
                }
            }
            PeerName::Tap(name) => {
                line.end = End::Tap(tap(name)?);
                line.description = format!("at its wire: interface {name} of this machine");
            }
            _ => line.attach(config)?,
        }
        Ok(line)
    }

    /// Puts a machine at its end.
    fn attach(&mut self, config: &LineConfig<'_>) -> Result<()> {
        let tuning = Tuning {
            receive_buffer_bytes: BUFFER_BYTES,
            send_buffer_bytes: BUFFER_BYTES,
            ..config.tuning
        };
        let link = LinkConfig::lab(NUMBER, config.mtu, tuning);
        let (mut peer, name) = open_peer(config.peer, &link)?;
        let mut places = Vec::new();
        for entry in &link.addresses {
            let local = SocketAddr::new(entry.address, PORT);
            peer.listen_and_echo(local)?;
            places.push(local.to_string());
        }
        let places = places.join(" and ");
        self.description = format!("at its wire: {name}, an echo at {places}");
        self.end = End::Peer(peer);
        Ok(())
    }

    /// Whether somebody is there.
    pub fn has_peer(&self) -> bool {
        !matches!(self.end, End::Nobody)
    }

    /// Moves frames both ways; whether there were any.
    pub fn carry<M: Shown>(&mut self, card: &mut ServedCard<M>) -> Result<bool> {
        let mut moved = false;
        let sent = card.take_sent();
        if !self.has_peer() {
            return Ok(false);
        }
        let (mut to_peer, mut to_card) = (Vec::new(), Vec::new());
        for bytes in sent {
            moved = true;
            self.to_peer.carry(Frame { bytes, ..Frame::default() }, &mut to_peer);
        }
        let frames = if card.model().has_room() { FRAMES_PER_ROUND } else { 0 };
        for _ in 0..frames {
            let Some(bytes) = self.end.poll_frame(&mut self.buffer)? else { break };
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
            self.end.inject_frame(&frame.bytes)?;
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
        match &mut self.end {
            End::Peer(peer) => peer.take_ended(),
            End::Nobody | End::Tap(_) => Vec::new(),
        }
    }
}

/// A TAP device, or what is to be done to have it.
fn tap(name: &str) -> Result<TapPort> {
    TapPort::open(name).map_err(|error| match error.is_refusal() {
        true => {
            let remedy = format!("`ip tuntap add dev {name} mode tap user NAME` as root allows it");
            UsageError(format!("tap:{name}: {error}; {remedy}")).into()
        }
        false => error.into(),
    })
}

/// A peer, and what it is called.
fn open_peer(name: &PeerName, link: &LinkConfig) -> Result<(Box<dyn WirePeer>, &'static str)> {
    let clock = Clock::Wall { divisor: 1 };
    let wish = match name {
        PeerName::Auto => TransportChoice::OrElse(SMOLTCP),
        PeerName::Linux => TransportChoice::Only,
        PeerName::Tcp => {
            let protocol = TcpProtocol::new(link, Config::private_wire(), fresh_secret());
            return Ok((Box::new(TcpPeer::new(protocol, link, clock)), OWN));
        }
        PeerName::None | PeerName::Smoltcp | PeerName::Tap(_) => {
            return Ok((Box::new(SmoltcpPeer::open(link, clock)?), SMOLTCP));
        }
    };
    Ok(match kernel(wish, || KernelPeer::open(link))? {
        Some(linux) => (Box::new(linux), LINUX),
        None => (Box::new(SmoltcpPeer::open(link, clock)?), SMOLTCP),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peer_has_kind_and_interface() {
        assert_eq!("tap:tap0".parse(), Ok(PeerName::Tap("tap0".to_owned())));
        assert_eq!("tcp".parse(), Ok(PeerName::Tcp));
        for wrong in ["tap", "tap:", "tap:sixteen-letters-", "windows", ""] {
            let error = wrong.parse::<PeerName>().expect_err(wrong);
            assert!(error.contains(&format!("'{wrong}'")), "{error}");
        }
    }
}
