//! Faults in the stage of runs, each with the judge that finds it.

use abi::command as c;
use sim::caught::caught_by;
use sim::switched::TextFault;

use super::expand::{entries, same_packets, writes_of};
use super::hostile::join_past_17_bits;
use super::{beyond_floor, kinds, pushed, row, small_queue, switch_on, with_runs, LONG};
use crate::rx_split::frames::Frame;
use crate::rx_split::world::{command, World};
use crate::rx_split::{install_at, region, segment, set_up, NO_STALLS};

pub const RUN_OVER_MARKS: TextFault = (
    "(facts[159:96] == first[191:128]) & (facts[191:160] == first[223:192])",
    "(facts[159:96] == first[191:128])",
);
pub const RUN_OVER_OLDER_ACKS: TextFault =
    ("assign ascends = (~compared[9]) & (~compared[10]);", "assign ascends = ~compared[10];");
pub const RUN_OVER_LARGER_PACKETS: TextFault = (
    "assign fits = (((compared[3] & compared[4]) & compared[5]) & compared[6]) & (~compared[8]);",
    "assign fits = ((compared[3] & compared[4]) & compared[5]) & compared[6];",
);
pub const RUN_OVER_A_FLOOR: TextFault = (
    "assign fits = (((compared[3] & compared[4]) & compared[5]) & compared[6]) & (~compared[8]);",
    "assign fits = ((compared[3] & compared[4]) & compared[5]) & (~compared[8]);",
);
pub const RUN_PAST_64_PACKETS: TextFault = (
    "assign last = takes_in & ((facts[193] | compared[7]) | compared[14]);",
    "assign last = takes_in & (facts[193] | compared[7]);",
);
pub const RUN_THAT_OUTLIVES_A_COMMAND: TextFault =
    ("& compared[12]) & own_run);", "& compared[12]) & 1'd0);");
pub const RUN_THAT_OUTLIVES_ITS_OWNERS_FENCE: TextFault =
    ("assign holds = offered[299] & (~is_swept);", "assign holds = 1'd0;");
pub const RUN_WITHOUT_TIME: TextFault =
    ("assign timer_end = is_run & (~compared[13]);", "assign timer_end = 1'd0;");
pub const SLOT_THAT_IS_NOT_GIVEN_BACK: TextFault =
    ("given_after = given_0_read_data + one;", "given_after = given_0_read_data;");
pub const SLOTS_GIVEN_BACK_THAT_WRAP: TextFault = (
    "given_after = given_0_read_data + one;",
    "given_after = (given_0_read_data + one) & 32'd131071;",
);
pub const HEADER_OF_ANOTHER_RUN: TextFault =
    ("assign waits = reads & (read_keeps | held_keeps);", "assign waits = 1'd0;");

/// Runs a scenario on a card with a fault, expects `checker` to end it, and without it, expects it
/// to pass.
fn caught(
    checker: &str,
    fault: TextFault,
    prepare: impl Fn(World) -> World,
    scenario: impl Fn(&mut World),
) {
    let mut faulty = prepare(World::with_fault(fault, NO_STALLS));
    caught_by(checker, fault.1, || scenario(&mut faulty));
    scenario(&mut prepare(World::new(NO_STALLS, 1)));
}

fn changed(change: impl Fn(&mut Frame)) -> Vec<Frame> {
    let mut frames = row(&[300; 4]);
    change(&mut frames[2]);
    frames
}

#[test]
fn run_over_marks_is_caught() {
    caught("address of write", RUN_OVER_MARKS, with_runs, |world| {
        kinds(world, &changed(|frame| frame.class = 3));
    });
}

#[test]
fn run_over_older_acks_is_caught() {
    caught("address of write", RUN_OVER_OLDER_ACKS, with_runs, |world| {
        kinds(world, &changed(|frame| frame.acknowledgement -= 1));
    });
}

#[test]
fn run_over_larger_packets_is_caught() {
    caught("address of write", RUN_OVER_LARGER_PACKETS, with_runs, |world| {
        kinds(world, &row(&[300, 300, 301, 301]));
    });
}

#[test]
fn run_over_floor_is_caught() {
    caught("address of write", RUN_OVER_A_FLOOR, with_runs, |world| {
        beyond_floor(world);
    });
}

#[test]
fn run_past_64_packets_is_caught() {
    caught("address of write", RUN_PAST_64_PACKETS, with_runs, |world| {
        kinds(world, &row(&[100; 66]));
    });
}

#[test]
fn run_outliving_command_is_caught() {
    caught("writes, all", RUN_THAT_OUTLIVES_A_COMMAND, with_runs, |world| {
        for frame in row(&[300; 2]) {
            world.send(&frame.build(), false);
        }
        world.run();
        world.end_command(0, 7, &command(c::FLOW_REMOVE, &[(c::FLOW, 0)]));
        world.run();
        world.compare();
    });
}

#[test]
fn run_outliving_fence_is_caught() {
    caught("writes, all", RUN_THAT_OUTLIVES_ITS_OWNERS_FENCE, with_runs, |world| {
        kinds(world, &row(&[300; 2]));
    });
}

#[test]
fn run_without_time_is_caught() {
    let prepare = |world| {
        let mut world = set_up(world);
        switch_on(&mut world, 1, 20, false);
        world.drain();
        world
    };
    caught("packets", RUN_WITHOUT_TIME, prepare, |world| {
        for frame in row(&[300; 2]) {
            world.send(&frame.build(), false);
        }
        world.run();
        (0..300).for_each(|_| world.cycle());
        let card = writes_of(&world.outputs);
        same_packets(&entries(&card, 1), &entries(&world.expected.0, 1));
    });
}

#[test]
fn slot_not_given_back_is_caught() {
    caught("drops", SLOT_THAT_IS_NOT_GIVEN_BACK, small_queue, |world| {
        for frame in pushed(row(&[100; 20])) {
            world.send(&frame.build(), false);
            world.run();
        }
        world.compare();
    });
}

#[test]
fn wrapping_slots_given_back_are_caught() {
    caught("drops", SLOTS_GIVEN_BACK_THAT_WRAP, small_queue, join_past_17_bits);
}

/// A run of one packet that ends at once, where another was before.
#[test]
fn header_of_another_run_is_caught() {
    let prepare = |world: World| {
        let mut world = with_runs(world);
        let other = Frame { connection: 1, ..row(&[10]).remove(0) };
        install_at(&mut world, (32, 1), 1, &other, 1000, false);
        region(&mut world, 1, 0, true);
        segment(&mut world, 32, 1000, 0x8000, 1, 0x123);
        world.settle();
        switch_on(&mut world, 1, LONG, true);
        world.drain();
        world
    };
    caught("write ", HEADER_OF_ANOTHER_RUN, prepare, |world| {
        let mut frames = row(&[10; 6]);
        let others = row(&[10; 6]).into_iter().map(|frame| Frame { connection: 1, ..frame });
        let both = frames.drain(..).zip(others).flat_map(|(one, other)| [one, other]);
        kinds(world, &both.collect::<Vec<_>>());
    });
}
