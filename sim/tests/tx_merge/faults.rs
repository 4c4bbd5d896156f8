//! The judge catches faults planted in the Verilog: every scenario here passes without its fault
//! (the other tests of this folder) and must fail with it.

use abi::reason::SendError;
use sim::caught::caught_by;

use crate::records::{plain_memory, Pattern, World};
use crate::rig::{Fault, Rig};

/// Runs a scenario against the block with a fault; `checker` must end it.
fn must_be_caught(
    checker: &str,
    world: &World,
    memory: Pattern,
    fault: &Fault,
    scenario: impl Fn(&mut Rig<Pattern>),
) {
    let mut rig = Rig::with_fault(world.tables(), memory, fault);
    caught_by(checker, fault.planted, || scenario(&mut rig));
}

#[test]
fn confirmation_that_skips_the_fence() {
    let fault = Fault {
        original: "passed <= ((queue_source_valid & (~ahead[15]))",
        planted: "passed <= (queue_source_valid",
    };
    let world = World::one_segment(1 << 16, 0);
    let record = world.tcp_send(9_000, 1448).bytes();
    must_be_caught(
        "it overtook a read",
        &world,
        plain_memory(),
        &fault,
        |rig| {
            rig.post(&record, 1);
            rig.assert_confirmation_waits();
        },
    );
}

#[test]
fn refused_range_that_is_read() {
    let fault = Fault {
        original: "assign pieces_commit = ends & (~refused);",
        planted: "assign pieces_commit = ends;",
    };
    let mut world = World::crumbs(4);
    world.flow.segments[3].region_key ^= 1;
    let record = world.tcp_send(4, 1448).bytes();
    must_be_caught(
        "reads of a refused range",
        &world,
        plain_memory(),
        &fault,
        |rig| {
            rig.post(&record, 1);
            assert_eq!(rig.judge(5_000), [Some(SendError::SendRegionRefused)]);
            assert_eq!(rig.reads.jobs_seen, 0, "reads of a refused range");
        },
    );
}

#[test]
fn payload_that_was_not_read_but_sent() {
    let fault = Fault {
        original: "assign abort = frame_failed | ((~frame_in_header) & read_failed);",
        planted: "assign abort = frame_failed;",
    };
    let world = World::one_segment(1 << 16, 0);
    let address = world.regions[0].address(17);
    let memory = Pattern {
        bad: vec![(address, address + 1)],
    };
    let record = world.tcp_send(1_000, 1448).bytes();
    must_be_caught("an event", &world, memory, &fault, |rig| {
        rig.post(&record, 1);
        rig.judge(5_000);
    });
}

#[test]
fn checksum_that_is_not_inverted() {
    let fault = Fault {
        original: "{~l4_fold_2,",
        planted: "{l4_fold_2,",
    };
    let world = World::one_segment(1 << 16, 0);
    let record = world.tcp_send(1_000, 1448).bytes();
    must_be_caught(
        "frame 0 of descriptor",
        &world,
        plain_memory(),
        &fault,
        |rig| {
            rig.post(&record, 1);
            rig.judge(5_000);
        },
    );
}
