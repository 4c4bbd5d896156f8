//! Small messages on the null card: commands for each, and buffers that are cut.

use std::time::Duration;

use host::clock::{Clock, ManualClock};
use measure::null_card::rig::{NullRig, RigConfig};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::config;

/// Payload of a message, bytes.
const MESSAGE_BYTES: u32 = 64;

/// Connections that receive and send messages, each with so many buffers of so many bytes posted.
fn messages(flows: usize, receive: (u32, usize), sends: usize) -> RigConfig {
    RigConfig {
        frame_bytes: MESSAGE_BYTES,
        send_bytes: MESSAGE_BYTES,
        receive,
        partial: true,
        send: (MESSAGE_BYTES, sends),
        ..config(flows)
    }
}

/// Receives one message on each of `flows` connections in each round. Returns commands and
/// messages.
fn receive_messages(flows: usize, receive: (u32, usize)) -> (u64, u64) {
    const ROUNDS: u64 = 200;
    let mut rig = NullRig::open(messages(flows, receive, 0)).unwrap();
    let before = (rig.card.counters().commands, rig.received_count());
    for round in 0..ROUNDS {
        let offered = rig.card.offer(flows, MESSAGE_BYTES, flows);
        assert_eq!(offered, flows, "{receive:?}: a window is closed in round {round}");
        rig.poll().unwrap();
        rig.step().unwrap();
    }
    let commands = rig.card.counters().commands - before.0;
    rig.settle().unwrap();
    assert_eq!(rig.provider.counters().copied_payload_bytes, 0, "{receive:?}");
    assert_eq!(rig.provider.counters().withheld_headers, 0);
    let received = (rig.received_count() - before.1) as u64;
    let messages = ROUNDS * flows as u64;
    assert!(received > messages / 2, "{receive:?}: {received} requests for {messages}");
    if receive.1 > 2 {
        assert!(received >= messages - 2 * flows as u64, "{receive:?}: each is its own");
    }
    (commands, messages)
}

/// The floor of a message, the end of its buffer and the segment of the next one are one command,
/// and no message is refused while its fence is awaited.
#[test]
fn small_message_takes_one_command_window_open() {
    for flows in [1, 63] {
        for receive in [(2048, 2), (2048, 3), (1 << 20, 4), (MESSAGE_BYTES, 32), (4095, 8)] {
            let (commands, messages) = receive_messages(flows, receive);
            let most = messages + 2 * flows as u64;
            assert!(commands <= most, "{receive:?}: {commands} commands, {messages} messages");
        }
    }
}

/// Sends messages: all that is acknowledged comes back and is sent again. Returns commands and
/// messages.
fn send_messages(flows: usize, sends: usize, acks: usize) -> (u64, u64) {
    const ROUNDS: usize = 200;
    let mut rig = NullRig::open(messages(flows, (2048, 2), sends)).unwrap();
    let clock = ManualClock::default();
    rig.provider.set_clock(Clock::Manual(clock.clone()));
    rig.settle().unwrap();
    let before = (rig.card.counters().commands, rig.sent_count());
    for _ in 0..ROUNDS {
        clock.advance(Duration::from_micros(1));
        rig.card.acknowledge(acks, true);
        rig.poll().unwrap();
        rig.step().unwrap();
    }
    // What waits for another floor does not wait for long.
    clock.advance(Duration::from_millis(2));
    rig.settle().unwrap();
    let commands = rig.card.counters().commands - before.0;
    assert_eq!(rig.card.wrongs(), []);
    let messages = (rig.sent_count() - before.1) as u64;
    assert!(messages as usize > ROUNDS / 4, "{flows} flows, {sends} sends: {messages}");
    (commands, messages)
}

/// Buffers that follow each other in memory share a segment, floors ride on segments, and the floor
/// of one message waits a little for that of the next.
#[test]
fn small_message_takes_one_command() {
    for flows in [1, 63] {
        for sends in [2, 4, 16] {
            for acks in [1, flows, usize::MAX] {
                let (commands, messages) = send_messages(flows, sends, acks);
                let most = messages + 2 * flows as u64;
                let what = format!("{flows} flows, {sends} sends, {acks} ACKs");
                assert!(commands <= most, "{what}: {commands} commands, {messages} messages");
            }
        }
    }
}

/// Every message of every size is the application's, whole and once, whatever the card has placed
/// where, while commands are under way.
#[test]
fn messages_during_buffer_cut_stay_placed() {
    let seed = seed::seed();
    let mut copied = 0;
    for case in 0..40 {
        let mut random = SmallRng::seed_from_u64(seed.wrapping_add(case));
        let receive = (random.random_range(1024..4000), random.random_range(3..=6));
        let config = RigConfig {
            frame_bytes: 256,
            reads: true,
            segments_per_ack: Some(1),
            ..messages(1, receive, 0)
        };
        let mut rig = NullRig::open(config).unwrap();
        let mut offered = 0;
        for _ in 0..300 {
            for _ in 0..random.random_range(0..4) {
                let bytes = random.random_range(1..=receive.0.min(256));
                offered += rig.card.offer(1, bytes, 1);
            }
            rig.poll().unwrap_or_else(|why| panic!("seed {seed}, case {case}, {receive:?}: {why}"));
            if random.random_ratio(1, 3) {
                rig.step().unwrap_or_else(|why| panic!("seed {seed}, case {case}: {why}"));
            }
        }
        rig.settle().unwrap();
        assert!(offered > 100, "seed {seed}, case {case}, {receive:?}: {offered} packets");
        assert_eq!(rig.provider.counters().withheld_headers, 0, "seed {seed}, case {case}");
        copied += rig.provider.counters().copied_payload_bytes;
    }
    assert!(copied > 0, "no message has come behind a cut");
}
