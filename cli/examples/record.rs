//! Records the captures in `examples/`: Linux TCP at both ends, a bad wire between them.
//!
//! ```text
//!   kernel "card side" ◄── tags ── wire with faults ── tags ──► kernel "peer"
//!                        └ recorded here, as the card sees it
//! ```
//! `cargo run --release -p zeronic --example record -- examples` writes `receive.pcapng`,
//! `send.pcapng` and their flow files. Both kernels run in network namespaces of their own, so this
//! needs root or unprivileged user namespaces. The kernels send untagged frames; VLAN tags are
//! added and taken off here, as the trunk port of a switch does. The bytes of a connection are
//! [`RandomBytes`] of its server port.
//!
//! [`RandomBytes`]: host::transport::peer::RandomBytes

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use clap::Parser;
use host::headers::layout::{ACK, SYN};
use host::headers::packet::{parse_tcp, TcpHeader};
use host::transport::patience::Patience;
use host::transport::peer::{KernelPeer, Progress, Script, WirePeer};
use host::transport::{LinkConfig, Tuning};
use lab::frame::Frame;
use lab::wire::{Disturbance, Wire};
use sim::harness::pcapng::CaptureWriter;

/// One connection: the server's port, the bytes that its data side sends, its VLAN tags.
#[derive(Clone, Copy)]
struct Connection {
    name: &'static str,
    port: u16,
    ipv6: bool,
    bytes: u64,
    tags: &'static [(u16, u16)],
}

/// The connection that the flow files leave out.
const STRANGER_PORT: u16 = 5005;

const CONNECTIONS: [Connection; 5] = [
    Connection { name: "plain", port: 5001, ipv6: false, bytes: 30_000, tags: &[] },
    Connection { name: "tagged", port: 5002, ipv6: false, bytes: 20_011, tags: &[(0x8100, 7)] },
    Connection { name: "six", port: 5003, ipv6: true, bytes: 25_000, tags: &[] },
    Connection {
        name: "double",
        port: 5004,
        ipv6: true,
        bytes: 15_001,
        tags: &[(0x88a8, 100), (0x8100, 200)],
    },
    // No flow in the file: its packets go up whole, and out inline.
    Connection { name: "stranger", port: STRANGER_PORT, ipv6: false, bytes: 100, tags: &[] },
];

/// Lengths of segments, over and over: odd, tiny, whole pages.
const SEGMENT_BYTES: [u64; 5] = [4001, 7, 8192, 1448, 6000];

/// Records Linux TCP over a bad wire: a capture and a flow file for each direction.
#[derive(Parser)]
struct Arguments {
    /// Where the four files go; made if it is not there.
    folder: PathBuf,
}

fn main() -> Result<()> {
    let Arguments { folder } = Arguments::parse();
    std::fs::create_dir_all(&folder)?;
    for side in [Side::Receive, Side::Send] {
        let name = side.name();
        let flows = record(side, &folder.join(format!("{name}.pcapng")))?;
        std::fs::write(folder.join(format!("{name}.toml")), flows)?;
    }
    Ok(())
}

/// Which way the data goes, seen from the card.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Receive,
    Send,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Receive => "receive",
            Side::Send => "send",
        }
    }

    fn disturbance(self) -> Disturbance {
        let loss = if self == Side::Receive { 0.03 } else { 0.05 };
        Disturbance { loss, reorder: 0.1, duplicate: 0.12, ..Disturbance::default() }
    }
}

fn link(host: u8) -> LinkConfig {
    let tuning =
        Tuning { retransmission_timeout_min: Duration::from_millis(20), ..Tuning::REAL_TIME };
    LinkConfig::lab(host, 1500, tuning)
}

fn server(connection: &Connection, host: u8) -> SocketAddr {
    (link(host).addresses[usize::from(connection.ipv6)].address, connection.port).into()
}

/// The two machines, the wire between them, and the capture on the card's side.
struct Recorder {
    card: KernelPeer,
    peer: KernelPeer,
    to_card: Wire,
    to_peer: Wire,
    capture: CaptureWriter<std::io::BufWriter<std::fs::File>>,
    start: Instant,
    /// First packets of both directions, by server port.
    handshakes: Vec<TcpHeader>,
}

fn record(side: Side, path: &Path) -> Result<String> {
    let mut recorder = Recorder {
        card: KernelPeer::open(&link(1)).context("the card's side")?,
        peer: KernelPeer::open(&link(2)).context("the peer")?,
        to_card: Wire::new(side.disturbance(), 3),
        to_peer: Wire::new(side.disturbance(), 4),
        capture: CaptureWriter::create(path, &["wire"])?,
        start: Instant::now(),
        handshakes: Vec::new(),
    };
    for connection in &CONNECTIONS {
        let data = Script {
            send_bytes: connection.bytes,
            seed: connection.port.into(),
            ..Script::default()
        };
        let silence = Script { send_bytes: 0, ..data };
        // The data side connects, so each capture shows handshakes in its own direction.
        if side == Side::Receive {
            recorder.card.listen(server(connection, 1), silence)?;
            recorder.peer.connect(server(connection, 1), data)?;
        } else {
            recorder.peer.listen(server(connection, 2), silence)?;
            recorder.card.connect(server(connection, 2), data)?;
        }
    }
    recorder.run()?;
    recorder.capture.finish()?;
    let card_link = link(1);
    flow_file(side, &card_link, &recorder.handshakes)
}

impl Recorder {
    fn run(&mut self) -> Result<()> {
        let mut idle_since = Instant::now();
        let mut patience = Patience::new(Vec::new());
        while !patience.is_over(self.progress()) {
            if self.carry()? {
                idle_since = Instant::now();
            } else if idle_since.elapsed() > Duration::from_millis(5) {
                self.flush()?;
                let ends = [self.card.conversations(), self.peer.conversations()];
                let count = CONNECTIONS.len();
                let mut all = ends.iter().flatten();
                let done = ends.iter().all(|end| end.len() == count)
                    && all.all(|one| one.progress == Progress::Finished);
                if done && idle_since.elapsed() > Duration::from_millis(100) {
                    return Ok(());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        bail!("the connections do not end")
    }

    /// Bytes that either end has received.
    fn progress(&self) -> Vec<u64> {
        let ends = [self.card.conversations(), self.peer.conversations()];
        ends.iter().flatten().map(|one| one.received_bytes).collect()
    }

    /// Moves the frames that wait. True if there was one.
    fn carry(&mut self) -> Result<bool> {
        let mut buffer = vec![0; 65_600];
        let mut moved = false;
        if let Some(bytes) = self.card.poll_frame(&mut buffer)? {
            moved = true;
            let frame = Frame { bytes: tag(&buffer[..bytes]), ..Frame::default() };
            self.note(&frame)?;
            let mut arrived = Vec::new();
            self.to_peer.carry(frame, &mut arrived);
            self.give_to_peer(arrived)?;
        }
        if let Some(bytes) = self.peer.poll_frame(&mut buffer)? {
            moved = true;
            let frame = Frame { bytes: tag(&buffer[..bytes]), ..Frame::default() };
            let mut arrived = Vec::new();
            self.to_card.carry(frame, &mut arrived);
            self.give_to_card(arrived)?;
        }
        Ok(moved)
    }

    fn flush(&mut self) -> Result<()> {
        let mut frames = Vec::new();
        self.to_peer.flush(&mut frames);
        self.give_to_peer(std::mem::take(&mut frames))?;
        self.to_card.flush(&mut frames);
        self.give_to_card(frames)
    }

    fn give_to_peer(&mut self, frames: Vec<Frame>) -> Result<()> {
        for frame in frames {
            self.peer.inject_frame(&untag(&frame.bytes))?;
        }
        Ok(())
    }

    fn give_to_card(&mut self, frames: Vec<Frame>) -> Result<()> {
        for frame in frames {
            self.note(&frame)?;
            self.card.inject_frame(&untag(&frame.bytes))?;
        }
        Ok(())
    }

    fn note(&mut self, frame: &Frame) -> Result<()> {
        let time_ps = self.start.elapsed().as_nanos() as u64 * 1000;
        self.capture.frame(0, time_ps, &frame.bytes)?;
        self.handshakes.extend(parse_tcp(&frame.bytes).filter(|header| header.flags & SYN != 0));
        Ok(())
    }
}

/// Adds the VLAN tags of the connection that a frame belongs to.
fn tag(frame: &[u8]) -> Vec<u8> {
    let mut bytes = frame.to_vec();
    let Some(header) = parse_tcp(frame) else { return bytes };
    let ports = [header.source.port(), header.destination.port()];
    let found = CONNECTIONS.iter().find(|connection| ports.contains(&connection.port));
    for (kind, id) in found.into_iter().flat_map(|connection| connection.tags.iter().rev()) {
        let tag = [kind.to_be_bytes(), id.to_be_bytes()].concat();
        bytes.splice(12..12, tag);
    }
    bytes
}

fn untag(frame: &[u8]) -> Vec<u8> {
    let mut bytes = frame.to_vec();
    while matches!(bytes.get(12..14), Some([0x81, 0] | [0x88, 0xa8])) {
        bytes.drain(12..16);
    }
    bytes
}

/// The flow file for a capture.
fn flow_file(side: Side, card: &LinkConfig, handshakes: &[TcpHeader]) -> Result<String> {
    let name = side.name();
    let mut text =
        format!("# Flows of {name}.pcapng. Written by `cargo run -p zeronic --example record`.\n");
    text += "# Format: docs/replay.md\n\n";
    text += &format!("card = \"{}\"\n\n", card.mac.map(|byte| format!("{byte:02x}")).join(":"));
    text += "[[region]]\nname = \"dram\"\nbytes = \"64KiB\"\nguard = 0xa5\n\n";
    text += "[[region]]\nname = \"gpu\"\nbytes = \"64KiB\"\nmemory = \"gpu\"\nguard = 0x5a\n";
    let mut offsets = [3, 4090];
    let known = CONNECTIONS.iter().filter(|connection| connection.port != STRANGER_PORT);
    for (index, connection) in known.enumerate() {
        let is_opening = |header: &&TcpHeader| {
            header.destination.port() == connection.port && header.flags & ACK == 0
        };
        let opening = handshakes.iter().find(is_opening).context("no SYN was recorded")?;
        let (local, remote) = match side {
            Side::Receive => (opening.destination, opening.source),
            Side::Send => (opening.source, opening.destination),
        };
        text += &format!("\n[[flow]]\nname = \"{}\"\n", connection.name);
        text += &format!("local = \"{local}\"\nremote = \"{remote}\"\n");
        let mut covered = connection.bytes;
        if side == Side::Send && index == 0 {
            text += "# Consecutive packets become one descriptor, which the card cuts again.\n";
            text += "join_bytes = \"64KiB\"\n";
        }
        if side == Side::Receive && connection.name == "tagged" {
            text += "# Sequence numbers, and a floor that stays.\n";
            text += "positions = \"absolute\"\naccept = \"nothing\"\n";
            text += &format!("floor = {}\n", u64::from(opening.sequence) + 1);
        }
        if side == Side::Receive && connection.name == "double" {
            text += "# No buffer for the end of the stream: it is deferred.\n";
            covered -= 3000;
        }
        let region = index % 2;
        let mut lengths = SEGMENT_BYTES.iter().cycle().skip(index);
        while covered > 0 {
            let bytes = lengths.next().map_or(covered, |bytes| covered.min(*bytes));
            text += "\n[[flow.segment]]\n";
            text += &format!("region = \"{}\"\n", ["dram", "gpu"][region]);
            text += &format!("offset = {}\nbytes = {bytes}\n", offsets[region]);
            offsets[region] += bytes + 13;
            covered -= bytes;
        }
    }
    Ok(text)
}
