//! The judge catches faults planted in the Verilog: every scenario here passes without its fault
//! (the other tests of this folder) and must fail with it.

use abi::reason::SendError;
use sim::caught::caught_by;
use sim::switched::{TextFault, NO_FAULT};

use crate::tx_merge::records::{plain_memory, Pattern, World};
use crate::tx_merge::rig::Rig;

/// All of this file: one model holds them.
pub const FAULTS: [TextFault; 4] = [
    CONFIRMATION_THAT_SKIPS_THE_FENCE,
    REFUSED_RANGE_THAT_IS_READ,
    PAYLOAD_THAT_WAS_NOT_READ_BUT_SENT,
    CHECKSUM_THAT_IS_NOT_INVERTED,
];

/// Runs a scenario against the block with a fault; `checker` must end it.
fn must_be_caught(
    checker: &str,
    world: &World,
    memory: Pattern,
    fault: TextFault,
    scenario: impl Fn(&mut Rig<Pattern>),
) {
    let mut rig = Rig::with_fault(world.tables(), memory, fault);
    caught_by(checker, fault.1, || scenario(&mut rig));
}

#[test]
fn model_without_faults_passes() {
    let world = World::one_segment(1 << 16, 0);
    let mut rig = Rig::with_fault(world.tables(), plain_memory(), NO_FAULT);
    rig.post(&world.tcp_send(9_000, 1448).bytes(), 1);
    assert_eq!(rig.judge(5_000), [None]);
}

const CONFIRMATION_THAT_SKIPS_THE_FENCE: TextFault =
    ("passed <= ((queue_source_valid & (~ahead[15]))", "passed <= (queue_source_valid");

#[test]
fn confirmation_that_skips_the_fence() {
    let world = World::one_segment(1 << 16, 0);
    let record = world.tcp_send(9_000, 1448).bytes();
    must_be_caught(
        "it overtook a read",
        &world,
        plain_memory(),
        CONFIRMATION_THAT_SKIPS_THE_FENCE,
        |rig| {
            rig.post(&record, 1);
            rig.assert_confirmation_waits();
        },
    );
}

const REFUSED_RANGE_THAT_IS_READ: TextFault =
    ("assign pieces_commit = ends & (~refused);", "assign pieces_commit = ends;");

#[test]
fn refused_range_that_is_read() {
    let mut world = World::crumbs(4);
    world.flow.segments[3].region_key ^= 1;
    let record = world.tcp_send(4, 1448).bytes();
    must_be_caught(
        "reads of a refused range",
        &world,
        plain_memory(),
        REFUSED_RANGE_THAT_IS_READ,
        |rig| {
            rig.post(&record, 1);
            assert_eq!(rig.judge(5_000), [Some(SendError::SendRegionRefused)]);
            assert_eq!(rig.reads.jobs_seen, 0, "reads of a refused range");
        },
    );
}

const PAYLOAD_THAT_WAS_NOT_READ_BUT_SENT: TextFault = (
    "assign abort = frame_failed | ((~frame_in_header) & read_failed);",
    "assign abort = frame_failed;",
);

#[test]
fn unread_payload_sent_is_caught() {
    let world = World::one_segment(1 << 16, 0);
    let address = world.regions[0].address(17);
    let memory = Pattern { bad: vec![(address, address + 1)] };
    let record = world.tcp_send(1_000, 1448).bytes();
    must_be_caught("an event", &world, memory, PAYLOAD_THAT_WAS_NOT_READ_BUT_SENT, |rig| {
        rig.post(&record, 1);
        rig.judge(5_000);
    });
}

const CHECKSUM_THAT_IS_NOT_INVERTED: TextFault = ("{~l4_fold_2,", "{l4_fold_2,");

#[test]
fn checksum_that_is_not_inverted() {
    let world = World::one_segment(1 << 16, 0);
    let record = world.tcp_send(1_000, 1448).bytes();
    must_be_caught(
        "frame 0 of descriptor",
        &world,
        plain_memory(),
        CHECKSUM_THAT_IS_NOT_INVERTED,
        |rig| {
            rig.post(&record, 1);
            rig.judge(5_000);
        },
    );
}
