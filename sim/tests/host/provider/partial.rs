//! Listening, accepting, and receives that end early.

use host::driver::bus::{Bus, MemoryKind};
use host::error::Result;
use host::provider::{ApplicationId, Completion, ConnectionId, ReceiveOptions, RegionId};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use lab::network_side::NetworkSide;

use crate::provider::existing::Arena;
use crate::provider::rig::{
    assert_clean, prompt, received_completion, verilated_rig, GoldenRig, Rig,
};

const SEED: u64 = 3;
const BUFFER_BYTES: u32 = 64 << 10;
const REGION_BYTES: usize = 4 * BUFFER_BYTES as usize;
/// Bytes that come before, so that the peer sends several packets at once.
const WARM_UP_BYTES: usize = 64 << 10;
/// Three full packets of smoltcp over Ethernet: a shorter last one would wait for the second.
const STREAM_BYTES: usize = 3 * PACKET_BYTES;
const PACKET_BYTES: usize = 1460;

fn is_received(request: u64) -> impl Fn(&Completion) -> bool {
    move |c| matches!(c, Completion::Received { request: r, .. } if *r == request)
}

/// Accepts the peer's connection and, warmed up, asks for bytes with `posted` buffers: the
/// peer's second packet is late, so its third one lands beyond the end of the first buffer's bytes.
fn early_end<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>, posted: u64) {
    let register = |rig: &mut Rig<B, C>| {
        rig.machine.host.register(ApplicationId::FIRST, MemoryKind::Application, REGION_BYTES)
    };
    early_end_in(rig, posted, register);
}

/// Accepts a connection of the peer, which sends and ends.
fn accept<B: Bus, C: NetworkSide>(rig: &mut Rig<B, C>) -> ConnectionId {
    let local = ([10, 77, 0, 1], 80).into();
    let listener = rig.machine.host.listen(ApplicationId::FIRST, local).expect("a port");
    let script = Script {
        send_bytes: (WARM_UP_BYTES + STREAM_BYTES) as u64,
        seed: SEED,
        receive_bytes_max: None,
    };
    rig.machine.peer.connect(local, script).expect("it starts");
    let mut accepted: Option<ConnectionId> = None;
    rig.until("a connection", |rig| {
        accepted = rig.machine.host.accept(listener).expect("a listener");
        accepted.is_some()
    });
    accepted.expect("accepted")
}

/// The same, in a region of [`REGION_BYTES`] that is registered so.
fn early_end_in<B: Bus, C: NetworkSide>(
    rig: &mut Rig<B, C>,
    posted: u64,
    register: impl FnOnce(&mut Rig<B, C>) -> Result<RegionId>,
) {
    let id = accept(rig);
    let region = register(rig).expect("room");
    let mut memory = rig.machine.host.map(region).expect("a mapping");
    memory.write(0, &vec![0xa5; REGION_BYTES]);
    let (offset, bytes) = (3 * u64::from(BUFFER_BYTES), WARM_UP_BYTES as u32);
    rig.machine.host.recv(id, region.span(offset, bytes), 9).expect("a request");
    let warm = rig.completion(is_received(9));
    assert_eq!(warm, received_completion(id, 9, bytes));
    rig.hold = vec![rig.payload_frames + 1];
    for request in 0..posted {
        let offset = request * u64::from(BUFFER_BYTES);
        rig.machine
            .host
            .recv_with(
                id,
                region.span(offset, BUFFER_BYTES),
                request,
                ReceiveOptions { partial: true },
            )
            .expect("a request");
    }
    let first = rig.completion(is_received(0));
    let (request, bytes) = (0, PACKET_BYTES as u32);
    assert_eq!(first, received_completion(id, request, bytes));
    let landed_beyond = (STREAM_BYTES - 2 * PACKET_BYTES) as u64;
    assert_eq!(rig.machine.host.counters().copied_payload_bytes, landed_beyond);
    let mut returned = vec![0; BUFFER_BYTES as usize];
    memory.read(0, &mut returned);
    if posted == 1 {
        let offset = u64::from(BUFFER_BYTES);
        rig.machine
            .host
            .recv_with(id, region.span(offset, BUFFER_BYTES), 1, ReceiveOptions { partial: true })
            .expect("a request");
    }
    rig.until("the late packet", |rig| !rig.held.is_empty());
    // The next buffer is on the card when it comes.
    (0..20).for_each(|_| rig.step());
    let late = rig.held.remove(0);
    rig.machine.card.receive(late);
    let second = rig.completion(is_received(1));
    let (request, bytes) = (1, (STREAM_BYTES - PACKET_BYTES) as u32);
    assert_eq!(second, received_completion(id, request, bytes));
    rig.completion(|c| *c == Completion::EndOfStream(id));
    // What had landed beyond was moved to the second buffer: copied out and in.
    let copied = rig.machine.host.counters().copied_payload_bytes;
    assert_eq!(copied, 2 * landed_beyond);
    let mut expected = vec![0; WARM_UP_BYTES + STREAM_BYTES];
    RandomBytes::new(SEED).fill(&mut expected);
    let expected = &expected[WARM_UP_BYTES..];
    assert_eq!(returned[..PACKET_BYTES], expected[..PACKET_BYTES]);
    let mut rest = vec![0; STREAM_BYTES - PACKET_BYTES];
    memory.read(BUFFER_BYTES as usize, &mut rest);
    assert_eq!(rest, expected[PACKET_BYTES..]);
    // The first buffer is the application's again: nothing was written to it since.
    let mut now = vec![0; BUFFER_BYTES as usize];
    memory.read(0, &mut now);
    assert!(now == returned, "a buffer was written after its completion");
}

#[test]
fn single_buffer_is_cut_on_golden() {
    early_end(&mut prompt(), 1);
}

#[test]
fn golden_card_passes_several_buffers() {
    early_end(&mut prompt(), 3);
}

#[test]
fn single_buffer_is_cut_on_verilated() {
    let mut rig = verilated_rig();
    early_end(&mut rig, 1);
    assert_clean(&rig.machine.card);
}

#[test]
fn verilated_card_passes_several_buffers() {
    let mut rig = verilated_rig();
    early_end(&mut rig, 3);
    assert_clean(&rig.machine.card);
}

/// What is copied out of memory at an address of the program, and into it, is copied where the
/// program sees it.
#[test]
fn addressed_buffers_are_copied_on_golden() {
    let arena = Arena::new(REGION_BYTES);
    let range = arena.range(0, REGION_BYTES);
    let register =
        |rig: &mut GoldenRig| rig.machine.host.register_existing(ApplicationId::FIRST, range);
    early_end_in(&mut prompt(), 1, register);
    let mut expected = vec![0; WARM_UP_BYTES + STREAM_BYTES];
    RandomBytes::new(SEED).fill(&mut expected);
    let found = arena.bytes().to_vec(BUFFER_BYTES as usize, STREAM_BYTES - PACKET_BYTES);
    assert!(found == expected[WARM_UP_BYTES + PACKET_BYTES..], "not where the program sees it");
}
