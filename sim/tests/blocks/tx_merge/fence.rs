//! Confirmations against the reads in flight, and what stop and reset leave behind.

use abi::registers::CONTROL_TX;
use seed::seed;
use sim::harness::stall::Stall;
use stream::messages::CONFIRMATIONS_MAX;

use crate::tx_merge::records::{plain_memory, World};
use crate::tx_merge::rig::{Rig, CALM};

#[test]
fn confirmation_waits_for_the_last_answer() {
    let world = World::one_segment(1 << 16, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    rig.post(&world.tcp_send(9_000, 1448).bytes(), 1);
    rig.assert_confirmation_waits();
}

#[test]
fn confirmation_passes_without_flight() {
    let mut rig = Rig::new(World::one_segment(64, 0).tables(), plain_memory(), 0, CALM, 1);
    (0..40).for_each(|index| rig.confirm(index));
    (0..100).for_each(|_| rig.cycle());
    assert_eq!(rig.confirmed_indices(), (0..40).collect::<Vec<u64>>());
}

#[test]
fn confirmations_follow_only_earlier_work() {
    Stall::matrix(seed(), |source, sink, seed| {
        let world = World::one_segment(1 << 16, 11);
        let mut rig = Rig::new(world.tables(), plain_memory(), 200, (source, sink), seed);
        for number in 0..120 {
            rig.post(&world.tcp_send(1 + 37 * number, 1448).bytes(), 1);
        }
        let (mut arrived, mut left) = (Vec::new(), 0);
        let mut done_at_leave = Vec::new();
        while rig.done.seen.len() < 120 {
            if rig.confirmations_in.is_done() {
                rig.confirm(arrived.len() as u32);
            }
            let waited = rig.flow_requests();
            rig.cycle();
            if rig.confirmations_in.is_done() {
                arrived.push(waited);
            }
            let left_now = rig.confirmations_out.messages.len();
            for waited in arrived.iter().take(left_now).skip(left) {
                let done = rig.done.seen.len() as u64;
                assert!(done >= *waited, "{done} of {waited} descriptors");
                done_at_leave.push(done);
            }
            left = left_now;
            assert!(rig.bench.now() < 200_000);
        }
        assert!(rig.confirmed_indices().iter().copied().eq(0..left as u64), "order");
        assert!(done_at_leave[0] < 60, "traffic held the first one back");
        rig.confirmations_out.messages.clear();
        rig.judge(200_000);
    });
}

/// Look-ups run ahead of the reads by 32 KiB, of the frames by the payload buffer's 32 KiB more.
#[test]
fn confirmation_waits_about_one_descriptor() {
    const PAYLOAD: u32 = 45 * 1448;
    let world = World::one_segment(1 << 18, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 250, CALM, 1);
    for _ in 0..12 {
        rig.post(&world.tcp_send(PAYLOAD, 1448).bytes(), 1);
    }
    let mut longest = 0;
    while rig.done.seen.len() < 10 {
        let (begin, seen) = (rig.bench.now(), rig.confirmed_indices().len());
        rig.confirm(0);
        while rig.confirmed_indices().len() == seen {
            rig.cycle();
            assert!(rig.bench.now() < 50_000);
        }
        longest = longest.max(rig.bench.now() - begin);
        (0..211).for_each(|_| rig.cycle());
    }
    // A frame of 1,448 bytes takes 25 cycles, a read 250.
    let frames = u64::from((64 << 10) + PAYLOAD).div_ceil(1448);
    assert!(longest <= frames * 25 + 300, "{longest} cycles");
    assert!(longest >= u64::from(PAYLOAD) / 1448 * 25, "{longest} cycles");
}

#[test]
fn stopped_direction_takes_nothing() {
    let world = World::one_segment(4096, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    rig.control(0);
    rig.post(&world.tcp_send(100, 1448).bytes(), 1);
    (0..200).for_each(|_| rig.cycle());
    assert!(rig.taken.seen.is_empty());
    rig.control(CONTROL_TX);
    assert_eq!(rig.judge(1_000), [None]);
}

/// What was received behind a confirmation must not wait for what is sent.
#[test]
fn every_pending_confirmation_finds_place() {
    let world = World::one_segment(1 << 16, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    rig.reads.held = true;
    rig.post(&world.tcp_send(9_000, 1448).bytes(), 1);
    while rig.reads.jobs_seen < 3 {
        rig.cycle();
    }
    let count = CONFIRMATIONS_MAX as u32;
    (0..count).for_each(|index| rig.confirm(index));
    (0..count + 8).for_each(|_| rig.cycle());
    assert!(rig.confirmations_in.is_done(), "one has no place");
    assert!(rig.confirmed_indices().is_empty(), "one overtook a read");
    rig.reads.held = false;
    (0..2_000).for_each(|_| rig.cycle());
    let all = 0..u64::from(count);
    assert!(rig.confirmed_indices().into_iter().eq(all), "order");
    rig.confirmations_out.messages.clear();
    rig.judge(5_000);
}

#[test]
fn reset_leaves_nothing_in_flight() {
    let world = World::one_segment(1 << 16, 0);
    let mut rig = Rig::new(world.tables(), plain_memory(), 10, CALM, 1);
    rig.reads.held = true;
    rig.post(&world.tcp_send(20_000, 1448).bytes(), 1);
    rig.post(&world.tcp_send(64, 1448).bytes(), 1);
    rig.confirm(3);
    (0..300).for_each(|_| rig.cycle());
    rig.reset();
    rig.reads.held = false;
    (0..300).for_each(|_| rig.cycle());
    assert!(rig.done.seen.is_empty() && rig.frames.packets.is_empty());
    rig.confirmations_out.messages.clear();
    rig.control(CONTROL_TX);
    for payload in [1448, 20_000, 3] {
        rig.post(&world.tcp_send(payload, 1448).bytes(), 1);
    }
    rig.confirm(4);
    assert_eq!(rig.judge(5_000), [None; 3]);
    assert_eq!(rig.confirmed_indices(), [4]);
}
