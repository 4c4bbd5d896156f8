//! A card that confirms late: what the host may do only behind a confirmation waits for it.
//!
//! ```text
//!   request ─► segment ─► confirmed ─► offered to TCP, in the window
//!   bytes acknowledged, accepted ─► floor ─► confirmed ─► completion
//! ```

use host::driver::bus::MemoryKind;
use host::headers::layout::{ACK, SYN};
use host::headers::packet::parse_tcp;
use host::memory::ApplicationMapping;
use host::provider::{ApplicationId, Completion, ConnectionId, ReceiveOptions, RegionId};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use lab::golden_card::Withheld;
use lab::network_side::NetworkSide;

use crate::provider::calls::peer_address;
use crate::provider::rig::{golden, received_completion, sent_completion, GoldenRig};

const FIRST: ApplicationId = ApplicationId::FIRST;
const BYTES: u32 = 1000;
/// Seed of the bytes that the peer of [`connected`] sends.
pub const SEED: u64 = 3;
/// Rounds after which whatever is not withheld has happened.
const ROUNDS: usize = 300;

/// An open connection at rest, its region and memory. The peer sends `send_bytes` when it may.
pub fn connect_idle(send_bytes: u64) -> (GoldenRig, ConnectionId, RegionId, ApplicationMapping) {
    let mut rig = golden();
    let script = Script { send_bytes, seed: SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).expect("a port");
    let region = rig.machine.host.register(FIRST, MemoryKind::Application, 8192).expect("room");
    let memory = rig.machine.host.map(region).expect("it maps");
    let id = rig.machine.host.connect(FIRST, peer_address(5001)).expect("it starts");
    rig.completion(|c| *c == Completion::Opened(id));
    rig.steps(ROUNDS);
    rig.sent.clear();
    (rig, id, region, memory)
}

fn withhold(rig: &mut GoldenRig, withheld: Withheld) {
    rig.machine.card.borrow_mut().withhold(Some(withheld));
}

/// Goes on for a while, without waiting for what is withheld.
fn wait(rig: &mut GoldenRig) {
    (0..ROUNDS).for_each(|_| rig.step());
}

fn release(rig: &mut GoldenRig) {
    rig.machine.card.borrow_mut().withhold(None);
}

/// Bytes of payload that our side has sent.
fn payload_sent(rig: &GoldenRig) -> usize {
    let headers = rig.sent.iter().filter_map(|frame| {
        let header = parse_tcp(frame)?;
        let total_bytes = u16::from_be_bytes([frame[16], frame[17]]);
        let end = header.l3_offset + usize::from(total_bytes);
        let tcp_bytes = 4 * usize::from(frame[header.l4_offset + 12] >> 4);
        Some(end - header.l4_offset - tcp_bytes)
    });
    headers.sum()
}

#[test]
fn nothing_is_sent_before_segment_confirmation() {
    for withheld in [Withheld::Commands, Withheld::Confirmations] {
        let (mut rig, id, region, _) = connect_idle(0);
        withhold(&mut rig, withheld);
        rig.machine.host.send(id, region.span(0, BYTES), 1).expect("a request");
        wait(&mut rig);
        assert_eq!(payload_sent(&rig), 0, "{withheld:?}");
        release(&mut rig);
        rig.completion(|c| *c == sent_completion(id, 1));
        assert!(payload_sent(&rig) >= BYTES as usize);
    }
}

#[test]
fn window_is_offered_after_segment_confirmation() {
    for withheld in [Withheld::Commands, Withheld::Confirmations] {
        let (mut rig, id, region, memory) = connect_idle(u64::from(BYTES));
        withhold(&mut rig, withheld);
        rig.machine.host.recv(id, region.span(0, BYTES), 1).expect("a request");
        wait(&mut rig);
        let open = |frame: &Vec<u8>| parse_tcp(frame).is_some_and(|header| header.window > 0);
        assert!(!rig.sent.iter().any(open), "{withheld:?}");
        assert_eq!(rig.completions, []);
        release(&mut rig);
        rig.completion(|c| *c == received_completion(id, 1, BYTES));
        assert!(rig.sent.iter().any(open));
        let (mut found, mut expected) = (vec![0; BYTES as usize], vec![0; BYTES as usize]);
        memory.read(0, &mut found);
        RandomBytes::new(SEED).fill(&mut expected);
        assert!(found == expected, "a byte in the wrong place");
    }
}

#[test]
fn send_completes_with_floor_confirmation() {
    let (mut rig, id, region, _) = connect_idle(0);
    rig.machine.host.send(id, region.span(0, BYTES), 1).expect("a request");
    rig.until("payload", |rig| payload_sent(rig) > 0);
    withhold(&mut rig, Withheld::Confirmations);
    wait(&mut rig);
    let peer = rig.machine.peer.conversations();
    assert_eq!(peer[0].received_bytes, u64::from(BYTES));
    let is_sent = rig.completions.contains(&sent_completion(id, 1));
    assert!(!is_sent, "before its floor is confirmed");
    release(&mut rig);
    rig.completion(|c| *c == sent_completion(id, 1));
}

#[test]
fn bytes_are_announced_with_floor_confirmation() {
    let (mut rig, id, region, _) = connect_idle(u64::from(BYTES));
    rig.machine.host.recv(id, region.span(0, BYTES), 1).expect("a request");
    rig.until("a window", |rig| {
        let open = |frame: &Vec<u8>| parse_tcp(frame).is_some_and(|header| header.window > 0);
        rig.sent.iter().any(open)
    });
    withhold(&mut rig, Withheld::Confirmations);
    wait(&mut rig);
    let is_received = |c: &Completion| matches!(c, Completion::Received { .. });
    let early = rig.completions.iter().any(is_received);
    assert!(!early, "before the floor is confirmed");
    release(&mut rig);
    rig.completion(|c| *c == received_completion(id, 1, BYTES));
}

/// Right edges of the windows offered, in order.
fn edges(frames: &[Vec<u8>]) -> Vec<u32> {
    let headers = frames.iter().filter_map(|frame| parse_tcp(frame));
    let of_stream = headers.filter(|h| h.flags & (ACK | SYN) == ACK);
    of_stream.map(|h| h.acknowledgement.wrapping_add(h.window.into())).collect()
}

const STREAM_BYTES: u32 = 40_000;
const BUFFER_BYTES: u32 = 2048;
/// Buffers in turn; two of them are open.
const BUFFERS: u64 = 4;

/// Receives a stream by requests that are returned in part, and posted again. Frames of the peer
/// come `rounds` rounds apart. Every byte is right when its buffer is returned, and still right
/// when the buffer is posted again. Returns how many requests were returned with bytes missing.
fn in_parts(rig: &mut GoldenRig, id: ConnectionId, rounds: usize) -> u32 {
    let region = rig.machine.host.register(FIRST, MemoryKind::Application, 8192).expect("room");
    let mut memory = rig.machine.host.map(region).expect("it maps");
    let mut stream = vec![0; STREAM_BYTES as usize];
    RandomBytes::new(SEED).fill(&mut stream);
    rig.hold = (0..10_000).collect();
    let place = |request: u64| (request % BUFFERS) * u64::from(BUFFER_BYTES);
    let (mut request, mut open, mut got, mut partial) = (0, 0, 0, 0);
    let mut returned: Vec<Vec<u8>> = vec![vec![0xa5; BUFFER_BYTES as usize]; BUFFERS as usize];
    memory.write(0, &returned.concat());
    rig.until("the stream", |rig| {
        let content = |request: u64| {
            let mut bytes = vec![0; BUFFER_BYTES as usize];
            memory.read(place(request) as usize, &mut bytes);
            bytes
        };
        while open < 2 {
            let before = &returned[(request % BUFFERS) as usize];
            assert!(content(request) == *before, "a returned buffer was written");
            let at = place(request);
            let recv = rig.machine.host.recv_with(
                id,
                region.span(at, BUFFER_BYTES),
                request,
                ReceiveOptions { partial: true },
            );
            recv.expect("a request");
            (request, open) = (request + 1, open + 1);
        }
        if !rig.held.is_empty() {
            let frame = rig.held.remove(0);
            rig.machine.card.receive(frame);
        }
        (0..rounds).for_each(|_| rig.step());
        for completion in std::mem::take(&mut rig.completions) {
            if let Completion::Received { bytes, request, .. } = completion {
                let now = content(request);
                let expected = &stream[got as usize..][..bytes as usize];
                assert!(now[..bytes as usize] == *expected, "a byte in the wrong place");
                returned[(request % BUFFERS) as usize] = now;
                (got, open) = (got + bytes, open - 1);
                partial += u32::from(bytes < BUFFER_BYTES);
            }
        }
        got == STREAM_BYTES
    });
    partial
}

/// What was offered stays offered.
#[test]
fn right_edge_stays_after_buffer_removal() {
    let (mut rig, id, ..) = connect_idle(u64::from(STREAM_BYTES));
    let partial = in_parts(&mut rig, id, 40);
    assert!(partial > 5, "{partial} requests were returned in part");
    let edges = edges(&rig.sent);
    assert!(edges.len() > 20, "{} windows", edges.len());
    for pair in edges.windows(2) {
        let ahead = pair[1].wrapping_sub(pair[0]) as i32;
        assert!(ahead >= 0, "a right edge {} bytes left of the last", -ahead);
    }
}

/// A buffer is the application's again when its withdrawal is confirmed, and not before.
#[test]
fn returned_buffer_is_not_rewritten() {
    for rounds in [1, 2, 5, 10] {
        let (mut rig, id, ..) = connect_idle(u64::from(STREAM_BYTES));
        in_parts(&mut rig, id, rounds);
    }
}
