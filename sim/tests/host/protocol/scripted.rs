//! A peer made by hand: packets that answer ours, and rounds in which ours are looked at.
//!
//! ```text
//!   us ── packets ──► round, until_sent ── header, payload ──► the test
//!   us ◄───────────────────── answer ◄──────────────────────── the test
//! ```

use std::time::Duration;

use host::headers::layout::{tcp_checksum, TcpLayout, ACK, SYN};
use host::headers::packet::{parse_tcp, TcpHeader};
use lab::frame::Frame;
use lab::network_side::NetworkSide;
use sim::harness::traffic::{Addresses, PacketSpec};

use super::World;

/// Sequence number of the peer's SYN.
pub(super) const PEER: u32 = 7000;
const TCP: usize = 34;

/// A packet of the peer that answers one of ours: sequence and ACK number, flags, window,
/// payload.
pub(super) fn answer(
    to: &TcpHeader,
    numbers: (u32, u32),
    flags: u8,
    window: u16,
    payload: &[u8],
) -> Frame {
    let spec = PacketSpec::tcp(
        Addresses::V4([10, 77, 0, 2], [10, 77, 0, 1]),
        (to.destination.port(), to.source.port()),
        numbers,
        flags,
        payload.to_vec(),
    );
    let mut bytes = spec.frame(0);
    bytes[TCP + 14..TCP + 16].copy_from_slice(&window.to_be_bytes());
    bytes[TCP + 16..TCP + 18].fill(0);
    let layout = TcpLayout::parse(&bytes).expect("TCP");
    let checksum = tcp_checksum(&bytes, &layout);
    bytes[TCP + 16..TCP + 18].copy_from_slice(&checksum.to_be_bytes());
    assert_eq!(tcp_checksum(&bytes, &layout), 0);
    Frame { bytes, ..Frame::default() }
}

impl World {
    /// A tenth of a millisecond. Returns the TCP packets that were sent: header, payload.
    pub(super) fn round(&mut self) -> Vec<(TcpHeader, Vec<u8>)> {
        self.machine.pass(Duration::from_micros(100));
        self.machine.host.poll().expect("it polls");
        let sent = self.machine.take_sent();
        let parsed = |frame: &Frame| {
            let layout = TcpLayout::parse(&frame.bytes).ok()?;
            assert_eq!(tcp_checksum(&frame.bytes, &layout), 0);
            let end = layout.payload + layout.payload_bytes;
            let payload = frame.bytes[layout.payload..end].to_vec();
            Some((parse_tcp(&frame.bytes)?, payload))
        };
        sent.iter().filter_map(parsed).collect()
    }

    /// The peer answers our SYN with this window. Returns our SYN.
    pub(super) fn answer_syn(&mut self, window: u16) -> TcpHeader {
        let (syn, _) = self.until_sent().remove(0);
        let numbers = (PEER, syn.sequence.wrapping_add(1));
        self.machine.card.receive(answer(&syn, numbers, SYN | ACK, window, &[]));
        syn
    }

    /// Rounds until something is sent.
    pub(super) fn until_sent(&mut self) -> Vec<(TcpHeader, Vec<u8>)> {
        for _ in 0..100_000 {
            let sent = self.round();
            if !sent.is_empty() {
                return sent;
            }
        }
        panic!("nothing is sent in 10 s");
    }
}
