//! The null card takes what is right and refuses what is wrong.

mod messages;
mod runs;

use std::time::{Duration, Instant};

use abi::config::{METADATA_BYTES, SMALL};
use abi::field::Field;
use abi::registers::{
    DOORBELLS, DOORBELL_COMMAND, DOORBELL_HEADER, DOORBELL_SEND, DOORBELL_SLOW, DOORBELL_STRIDE,
};
use abi::send_descriptor as d;
use host::driver::bus::Bus;
use host::error::Result;
use host::headers::packet::{parse_tcp, TcpHeader};
use host::protocol::{FlowIndex, HeaderSink, OutgoingHeader, Protocol};
use host::provider::{Completion, ShardId};
use host::records::commands::{floor_set, Acceptance, FlowName};
use host::records::descriptor::{header, send, Descriptor, Payload};
use measure::null_card::rig::{NullRig, RigConfig, FRAME_PAYLOAD_BYTES};
use measure::null_card::{NullCard, Wrong};

const BATCH: usize = 64;
const BURST: u32 = BATCH as u32;

pub fn config(flows: usize) -> RigConfig {
    RigConfig {
        card: SMALL,
        flows,
        send_bytes: FRAME_PAYLOAD_BYTES,
        frame_bytes: FRAME_PAYLOAD_BYTES,
        segments_per_ack: None,
        burst: 1,
        receive: (1 << 18, 4),
        partial: false,
        send: (BATCH as u32 * FRAME_PAYLOAD_BYTES, 0),
        apart: false,
        reads: false,
        run_packets: 1,
    }
}

/// Positions wrap 64 KiB after the start.
#[test]
fn packets_keep_order_every_flow_gets_turn() {
    for (flows, segments_per_ack, burst) in [
        (1, None, 1),
        (1, Some(1), 1),
        (1, Some(2), 1),
        (16, None, 1),
        (16, None, BURST),
        (63, None, 1),
    ] {
        let mut rig =
            NullRig::open(RigConfig { segments_per_ack, burst, ..config(flows) }).unwrap();
        let mut offered = 0;
        for _ in 0..100 {
            rig.step().unwrap();
            offered += rig.card.offer(BATCH, FRAME_PAYLOAD_BYTES, flows);
            assert!(rig.poll().unwrap());
        }
        rig.settle().unwrap();
        assert!(offered > 99 * BATCH, "{flows} flows: {offered} packets");
        let counters = rig.provider.counters();
        assert_eq!(counters.withheld_headers, 0);
        assert_eq!(counters.copied_payload_bytes, 0);
        let acks = rig.card.counters().headers as usize;
        let wanted = match (flows, segments_per_ack, burst) {
            (1, Some(segments), _) => offered / segments as usize,
            // A batch of a flow is longer than 64 KiB.
            (1, ..) | (.., BURST) => 2 * 100,
            _ => flows.min(BATCH) * 100,
        };
        let slack = 16 * flows + 64;
        assert!((wanted..wanted + slack).contains(&acks), "{flows} flows: {acks} ACKs");
    }
}

/// In bursts a poll sends what one flow has, whole, and then the next one's: one ACK for each.
#[test]
fn flows_send_in_bursts_on_request() {
    const FLOWS: usize = 5;
    for (burst, acks) in [(BURST, 1), (1, BATCH)] {
        let mut rig = NullRig::open(RigConfig { burst, ..config(FLOWS) }).unwrap();
        for flow in (0..FLOWS).flat_map(|flow| [flow; 2]) {
            rig.post_send(flow).unwrap();
        }
        rig.settle().unwrap();
        rig.card.acknowledge(usize::MAX, false);
        let before = rig.card.counters();
        rig.poll().unwrap();
        rig.step().unwrap();
        let sends = rig.card.counters().sends - before.sends;
        assert_eq!(sends, BATCH as u64);
        assert_eq!(rig.card.acknowledge(usize::MAX, false), acks, "bursts of {burst}");
    }
}

/// While its buffer fills in order, a flow moves its floor once for each 64 KiB, not for each
/// packet; and an ACK within a buffer that is being sent takes no command.
#[test]
fn alternating_packets_and_acks_share_commands() {
    const FLOWS: usize = 63;
    const ROUNDS: u64 = 90;
    let mut rig = NullRig::open(config(FLOWS)).unwrap();
    let before = rig.card.counters().commands;
    for _ in 0..ROUNDS {
        assert_eq!(rig.card.offer(FLOWS, FRAME_PAYLOAD_BYTES, FLOWS), FLOWS);
        rig.poll().unwrap();
        rig.step().unwrap();
    }
    rig.settle().unwrap();
    let floors = ROUNDS * u64::from(FRAME_PAYLOAD_BYTES) / (64 << 10);
    let commands = rig.card.counters().commands - before;
    assert_eq!(commands, floors * FLOWS as u64);

    for flow in 0..FLOWS {
        rig.post_send(flow).unwrap();
    }
    for _ in 0..BATCH {
        rig.settle().unwrap();
    }
    // All but the last of each flow.
    let all = FLOWS * BATCH;
    assert_eq!(rig.card.counters().sends, all as u64);
    let before = rig.card.counters().commands;
    let mut taken = 0;
    while taken < all - FLOWS {
        taken += rig.card.acknowledge(FLOWS, true);
        rig.poll().unwrap();
        rig.step().unwrap();
    }
    rig.settle().unwrap();
    assert_eq!((rig.card.counters().commands - before, rig.sent_count()), (0, 0));
    rig.card.acknowledge(FLOWS, true);
    rig.settle().unwrap();
    assert_eq!(rig.sent_count(), FLOWS);
}

/// A poll rings the doorbell of what it has taken, and no other.
#[test]
fn slow_buffer_doorbell_rings_for_them_only() {
    let mut rig = NullRig::open(config(1)).unwrap();
    let rung = |rig: &mut NullRig| {
        let bus = rig.provider.device().bus();
        [DOORBELL_HEADER, DOORBELL_SLOW].map(|doorbell| bus.rung(doorbell))
    };
    let before = rung(&mut rig);
    for _ in 0..10 {
        assert_eq!(rig.card.offer(1, FRAME_PAYLOAD_BYTES, 1), 1);
        rig.poll().unwrap();
        rig.step().unwrap();
    }
    assert_eq!(rung(&mut rig), [before[0] + 10, before[1]]);
}

/// The two sides share pages and doorbells alone, so the card may run beside the host.
/// A wrong index stops the ring on this card as on the others: what hangs on it ends.
#[test]
fn stopped_ring_ends_its_connections() {
    let page = DOORBELLS + u32::from(ShardId::FIRST.0) * DOORBELL_STRIDE;
    for (doorbell, ring) in [(DOORBELL_COMMAND, "command ring"), (DOORBELL_SEND, "send ring")] {
        let mut rig = NullRig::open(config(1)).unwrap();
        let bus = rig.provider.device().bus();
        bus.write_register(page + doorbell, 1 << 30).unwrap();
        let begun = Instant::now();
        let reason = loop {
            assert!(begun.elapsed() < Duration::from_secs(20), "{ring}: it goes on");
            rig.card.step();
            rig.card.offer(BATCH, FRAME_PAYLOAD_BYTES, 1);
            rig.provider.poll().unwrap();
            // What was accepted is told before.
            if let Some(Completion::Failed { reason, .. }) = rig.provider.next_completion() {
                break reason.to_string();
            }
        };
        assert!(reason.contains(ring), "{reason}");
    }
}

#[test]
fn card_may_run_in_own_thread() {
    const PACKETS: u64 = 20_000;
    let mut rig = NullRig::open(config(4)).unwrap();
    let (idle, _) = NullCard::new(SMALL);
    let mut card = std::mem::replace(&mut rig.card, idle);
    let from = rig.provider.counters().header_entries;
    let serving = std::thread::spawn(move || {
        while card.counters().packets < PACKETS && card.wrongs().is_empty() {
            card.step();
            card.offer(BATCH, FRAME_PAYLOAD_BYTES, 4);
            std::thread::yield_now();
        }
        card
    });
    while !serving.is_finished() {
        rig.poll().unwrap();
        std::thread::yield_now();
    }
    rig.card = serving.join().unwrap();
    rig.settle().unwrap();
    assert_eq!(rig.card.wrongs(), []);
    let entries = rig.provider.counters().header_entries - from;
    assert_eq!(entries, rig.card.counters().packets);
    assert!(entries >= PACKETS);
}

#[test]
fn sent_bytes_are_taken_and_acknowledged() {
    for each in [false, true] {
        let mut rig = NullRig::open(config(1)).unwrap();
        for round in 1..=100 {
            rig.post_send(0).unwrap();
            rig.settle().unwrap();
            let acks = rig.card.acknowledge(usize::MAX, each);
            assert_eq!(acks, if each { BATCH } else { 1 });
            rig.settle().unwrap();
            assert_eq!(rig.sent_count(), round);
        }
        let counters = rig.card.counters();
        let bytes = 100 * BATCH as u64 * u64::from(FRAME_PAYLOAD_BYTES);
        assert_eq!(counters.sent_bytes, bytes);
        assert_eq!(counters.wrongs, 0);
    }
}

/// A card that judges later acknowledges the same, and finds nothing wrong with what is right.
#[test]
fn late_judgement_is_acknowledged_at_once() {
    const FLOWS: usize = 3;
    let run = |later: bool| {
        let mut rig = NullRig::open(config(FLOWS)).unwrap();
        let mut acks = Vec::new();
        for round in 0..40 {
            if later {
                rig.card.judge_later();
                rig.card.prepare(round, FRAME_PAYLOAD_BYTES, FLOWS);
            }
            assert_eq!(rig.card.offer(round, FRAME_PAYLOAD_BYTES, FLOWS), round);
            rig.settle().unwrap();
            for flow in 0..FLOWS {
                rig.post_send(flow).unwrap();
            }
            rig.settle().unwrap();
            acks.push(rig.card.acknowledge(usize::MAX, round % 2 == 0));
            rig.settle().unwrap();
            if round % 8 == 7 {
                rig.card.judge_at_once();
            }
        }
        rig.card.judge_at_once();
        assert_eq!(rig.card.wrongs(), []);
        let entries = rig.provider.counters().header_entries;
        (acks, rig.sent_count(), entries, rig.card.counters())
    };
    let (acks, sent, entries, counters) = run(true);
    assert_eq!((acks[0], sent), (FLOWS * BATCH, FLOWS * 40));
    assert_eq!((acks, sent, entries, counters), run(false));
}

/// A rig whose card has so many packets of one flow ready, and judges at once or later.
fn with_ready(packets: usize, later: bool) -> NullRig {
    let mut rig = NullRig::open(config(1)).unwrap();
    rig.card.prepare(packets, FRAME_PAYLOAD_BYTES, 1);
    if later {
        rig.card.judge_later();
    }
    rig
}

/// A packet that is ready is not sent: an ACK for it is wrong.
#[test]
fn ack_for_merely_ready_packet_is_caught() {
    for later in [false, true] {
        let mut rig = with_ready(2, later);
        assert_eq!(rig.card.offer(1, FRAME_PAYLOAD_BYTES, 1), 1);
        assert_eq!(rig.card.ready(), 1);
        rig.settle().unwrap();
        let mut bytes = next_ack(&mut rig);
        let parsed = parse_tcp(&bytes).unwrap();
        let right = verdict(&mut rig, header(&bytes, (&parsed).into()));
        assert_eq!(right, None, "later: {later}");
        let number = parsed.acknowledgement.wrapping_add(1);
        let at = parsed.l4_offset + 8;
        bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        let wrong = verdict(&mut rig, header(&bytes, (&parsed).into()));
        let is_number =
            |wrong| matches!(wrong, Wrong::Outside { what, .. } if what == "ACK number");
        assert!(wrong.is_some_and(is_number), "later: {later}: {wrong:?}");
    }
}

/// It acknowledges what was sent when it was made ready; the host's limits have moved on.
#[test]
fn packet_ready_too_long_is_caught() {
    for later in [false, true] {
        let mut rig = with_ready(1, later);
        for _ in 0..2 {
            rig.post_send(0).unwrap();
            rig.settle().unwrap();
            rig.card.acknowledge(usize::MAX, false);
            rig.settle().unwrap();
        }
        assert_eq!(rig.card.offer(1, FRAME_PAYLOAD_BYTES, 1), 1);
        rig.card.judge_at_once();
        let wrong = rig.card.wrongs().first();
        let is_number =
            |wrong: &Wrong| matches!(wrong, Wrong::Outside { what, .. } if *what == "ACK number");
        assert!(wrong.is_some_and(is_number), "later: {later}: {wrong:?}");
    }
}

/// An ACK that is made from the descriptor alone says what the host has acknowledged: that must be
/// all that was offered.
#[test]
fn late_judging_card_needs_drained_host() {
    let (mut rig, bytes, parsed, payload) = about_to_send();
    assert_eq!(rig.card.offer(1, FRAME_PAYLOAD_BYTES, 1), 1);
    rig.card.judge_later();
    let wrong = verdict(&mut rig, send(&bytes, (&parsed).into(), &payload));
    let is_number = |wrong| matches!(wrong, Wrong::Field { what, .. } if what == "ACK number");
    assert!(wrong.is_some_and(is_number), "{wrong:?}");
}

/// Takes one header.
struct First(Option<Vec<u8>>);

impl HeaderSink for First {
    fn has_room(&self) -> bool {
        self.0.is_none()
    }

    fn send(&mut self, header: &OutgoingHeader<'_>) -> Result<()> {
        self.0 = Some(header.bytes.to_vec());
        Ok(())
    }
}

/// The next ACK of the first flow, which the provider does not send.
fn next_ack(rig: &mut NullRig) -> Vec<u8> {
    let protocol = rig.provider.protocol();
    protocol.acknowledge(FlowIndex(0), 1).unwrap();
    let mut first = First(None);
    protocol.transmit(0, &mut first).unwrap();
    first.0.expect("an ACK")
}

/// A rig with 64 frames posted, of which none is sent, and the header that the host would send.
fn about_to_send() -> (NullRig, Vec<u8>, TcpHeader, Payload) {
    let mut rig = NullRig::open(config(1)).unwrap();
    rig.post_send(0).unwrap();
    rig.poll().unwrap();
    rig.step().unwrap();
    let mut bytes = next_ack(&mut rig);
    let parsed = parse_tcp(&bytes).unwrap();
    // No window beyond what was offered at first.
    bytes[parsed.l4_offset + 14..parsed.l4_offset + 16].copy_from_slice(&[0x20, 0]);
    let payload = Payload {
        name: FlowName { flow: 0, generation: 1 },
        position: parsed.sequence,
        bytes: FRAME_PAYLOAD_BYTES,
        mss_bytes: FRAME_PAYLOAD_BYTES as u16,
        segment_index: 0,
    };
    let length = (bytes.len() - parsed.l3_offset) as u16 + FRAME_PAYLOAD_BYTES as u16;
    bytes[16..18].copy_from_slice(&length.to_be_bytes());
    (rig, bytes, parsed, payload)
}

/// What the card finds wrong with a descriptor.
fn verdict(rig: &mut NullRig, descriptor: Descriptor<'_>) -> Option<Wrong> {
    let device = rig.provider.device();
    device.send_of(ShardId::FIRST.0, descriptor).unwrap();
    rig.provider.device().poll().unwrap();
    rig.card.step();
    rig.card.judge_at_once();
    rig.card.wrongs().first().copied()
}

#[test]
fn a_right_descriptor_is_taken() {
    let (mut rig, bytes, parsed, payload) = about_to_send();
    assert_eq!(verdict(&mut rig, send(&bytes, (&parsed).into(), &payload)), None);
    assert_eq!(rig.card.counters().sends, 1);
}

/// At once, or later.
#[test]
fn a_wrong_descriptor_is_caught() {
    let beyond = BATCH as u32 * FRAME_PAYLOAD_BYTES + 1;
    let fields: [(Field, u64); 7] = [
        (d::KIND, 3),
        (d::FLOW, 1),
        (d::GENERATION, 2),
        (d::POSITION, 5),
        (d::SEGMENT_INDEX, 1),
        (d::MSS_BYTES, 0),
        (d::PAYLOAD_BYTES, beyond.into()),
    ];
    let verdict_of = |later: bool, change: &dyn Fn(&mut [u8], usize)| {
        let (mut rig, bytes, parsed, payload) = about_to_send();
        if later {
            rig.card.judge_later();
        }
        let mut record = send(&bytes, (&parsed).into(), &payload).record();
        change(&mut record, METADATA_BYTES + parsed.l4_offset);
        verdict(&mut rig, Descriptor::of(&record))
    };
    for later in [false, true] {
        assert_eq!(verdict_of(later, &|_, _| {}), None, "later: {later}");
        for (field, value) in fields {
            let verdict = verdict_of(later, &|record, _| field.set(record, value));
            assert!(verdict.is_some(), "{}, later: {later}", field.name);
        }
        // Sequence number, ACK number, window, checksum of the header.
        for (at, value) in [(7, 1u8), (11, 0xff), (14, 0xff), (17, 1)] {
            let verdict = verdict_of(later, &|record, tcp| record[tcp + at] ^= value);
            assert!(verdict.is_some(), "byte {at} of TCP, later: {later}");
        }
    }
}

#[test]
fn repeated_or_unposted_range_is_caught() {
    let (mut rig, bytes, parsed, payload) = about_to_send();
    let descriptor = send(&bytes, (&parsed).into(), &payload);
    assert_eq!(verdict(&mut rig, descriptor), None);
    rig.card.judge_later();
    let again = verdict(&mut rig, descriptor).expect("a repetition");
    assert!(matches!(again, Wrong::Field { what: "sequence", .. }), "{again}");
    let (mut rig, mut bytes, parsed, mut payload) = about_to_send();
    payload.bytes = BATCH as u32 * FRAME_PAYLOAD_BYTES;
    let length = (bytes.len() - 14) as u16;
    bytes[16..18].copy_from_slice(&length.to_be_bytes());
    assert!(verdict(&mut rig, send(&bytes, (&parsed).into(), &payload)).is_some());
}

#[test]
fn backward_floor_and_foreign_header_are_caught() {
    let (mut rig, mut bytes, parsed, payload) = about_to_send();
    let acceptance =
        Acceptance { floor: 0x8000_0000, ack_low: 0, ack_high: 0, timestamp_floor: None };
    rig.provider.device().command(floor_set(payload.name, acceptance, 0));
    rig.provider.device().poll().unwrap();
    rig.card.step();
    let wrong = rig.card.wrongs().first().expect("a floor");
    assert!(matches!(wrong, Wrong::Command { status: "bad_range", .. }), "{wrong}");
    let (mut rig, ..) = about_to_send();
    bytes[parsed.l4_offset] ^= 1;
    let length = (bytes.len() - 14) as u16;
    bytes[16..18].copy_from_slice(&length.to_be_bytes());
    let wrong = verdict(&mut rig, header(&bytes, (&parsed).into())).expect("a stranger");
    assert!(matches!(wrong, Wrong::Header { bytes: 66 }), "{wrong}");
}
