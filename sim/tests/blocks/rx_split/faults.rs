//! The judges catch faults planted in the Verilog; every scenario here passes without its fault.

use sim::caught::caught_by;
use sim::harness::stall::Stall;
use sim::switched::{TextFault, NO_FAULT};

use crate::rx_split::confirmations::tight_fence;
use crate::rx_split::held::{fences, long_flush, memories, send_mixed, short_slots, silence};
use crate::rx_split::runs::faults::*;
use crate::rx_split::shared::{tails, two_memories};
use crate::rx_split::world::{Stalls, World};
use crate::rx_split::{good, set_up, NO_STALLS};

/// All of this file: one model holds them.
pub const FAULTS: [TextFault; 22] = [
    CONFIRMATION_THAT_OVERTAKES_DATA,
    WRONG_CHECKSUM_THAT_PASSES,
    CURSOR_THAT_STAYS,
    BYTES_OF_OTHER_PACKETS_IN_AN_ENTRY,
    SHORT_SLOT_THAT_TAKES_A_BEAT_TOO_MANY,
    METADATA_THAT_ARE_MISSING_IN_A_SHARED_BEAT,
    BEAT_THAT_IS_SHARED_WITH_A_HELD_ENTRY,
    FLUSH_THAT_COVERS_LATER_WRITES_TOO,
    ENTRY_THAT_PASSES_THOSE_OF_ITS_OWNER,
    FENCE_THAT_DOES_NOT_WAIT_FOR_WHAT_IS_HELD,
    SILENCE_OF_A_MEMORY_THAT_IS_NOT_TOLD,
    RUN_OVER_MARKS,
    RUN_OVER_OLDER_ACKS,
    RUN_OVER_LARGER_PACKETS,
    RUN_OVER_A_FLOOR,
    RUN_PAST_64_PACKETS,
    RUN_THAT_OUTLIVES_A_COMMAND,
    RUN_THAT_OUTLIVES_ITS_OWNERS_FENCE,
    RUN_WITHOUT_TIME,
    SLOT_THAT_IS_NOT_GIVEN_BACK,
    SLOTS_GIVEN_BACK_THAT_WRAP,
    HEADER_OF_ANOTHER_RUN,
];

const SLOW_SINK: Stalls = Stalls { source: Stall::None, sink: Stall::Random(0.8) };

/// Runs a scenario on a prepared card with a fault, expects `checker` to end it, and without it,
/// expects it to pass.
fn caught(
    checker: &str,
    prepare: impl Fn(World) -> World,
    fault: TextFault,
    stalls: Stalls,
    scenario: impl Fn(&mut World),
) {
    let mut faulty = prepare(World::with_fault(fault, stalls));
    caught_by(checker, fault.1, || scenario(&mut faulty));
    scenario(&mut prepare(World::new(stalls, 1)));
}

/// With one flow; see [`caught`].
fn catches(checker: &str, fault: TextFault, stalls: Stalls, scenario: impl Fn(&mut World)) {
    caught(checker, set_up, fault, stalls, scenario);
}

fn burst(world: &mut World) {
    for number in 0..4 {
        world.send(&good(1000 + 100 * number, 100).build(), false);
    }
    let mut spoiled = good(1400, 100).build();
    spoiled[150] ^= 1;
    world.send(&spoiled, false);
    world.run();
    world.compare();
}

#[test]
fn model_without_faults_passes() {
    burst(&mut set_up(World::with_fault(NO_FAULT, SLOW_SINK)));
    send_mixed(&mut memories(World::with_fault(NO_FAULT, NO_STALLS)));
}

const CONFIRMATION_THAT_OVERTAKES_DATA: TextFault = (
    "assign direct = waiting_source_valid & (~ahead[7]);",
    "assign direct = waiting_source_valid;",
);

#[test]
fn confirmation_that_overtakes_data_is_caught() {
    catches("confirmation 0", CONFIRMATION_THAT_OVERTAKES_DATA, SLOW_SINK, tight_fence);
}

const WRONG_CHECKSUM_THAT_PASSES: TextFault = ("assign bad_l4 = ", "assign bad_l4 = 1'd0 & ");

#[test]
fn wrong_checksum_that_passes_is_caught() {
    catches("drops", WRONG_CHECKSUM_THAT_PASSES, NO_STALLS, burst);
}

const CURSOR_THAT_STAYS: TextFault = (
    "assign cursor_write_valid = accepted & judgement_in_order;",
    "assign cursor_write_valid = 1'd0;",
);

#[test]
fn cursor_that_stays_is_caught() {
    catches("dispositions", CURSOR_THAT_STAYS, NO_STALLS, burst);
}

const BYTES_OF_OTHER_PACKETS_IN_AN_ENTRY: TextFault =
    ("slot[102:89] = {6'd0, packet[50:43]} + metadata_bytes;", "slot[102:89] = slot_bytes;");

#[test]
fn foreign_bytes_in_entry_are_caught() {
    catches("write 1 to 0x", BYTES_OF_OTHER_PACKETS_IN_AN_ENTRY, NO_STALLS, burst);
}

const SHORT_SLOT_THAT_TAKES_A_BEAT_TOO_MANY: TextFault =
    ("assign is_single = ~(bytes[7] | (bytes[6] & (|bytes[5:0])));", "assign is_single = 1'd0;");

#[test]
fn short_slot_taking_extra_beat_is_caught() {
    caught(
        "bytes at 0x",
        |world| world,
        SHORT_SLOT_THAT_TAKES_A_BEAT_TOO_MANY,
        NO_STALLS,
        short_slots,
    );
}

const METADATA_THAT_ARE_MISSING_IN_A_SHARED_BEAT: TextFault =
    ("beat[1295] = is_shared;", "beat[1295] = 1'd0;");

#[test]
fn missing_metadata_in_shared_beat_is_caught() {
    catches("write 1 to 0x", METADATA_THAT_ARE_MISSING_IN_A_SHARED_BEAT, NO_STALLS, tails);
}

const BEAT_THAT_IS_SHARED_WITH_A_HELD_ENTRY: TextFault =
    ("routed_payload[439] = job[439] & (~owner_holds);", "routed_payload[439] = job[439];");

#[test]
fn beat_shared_with_held_is_caught() {
    caught(
        "a third job in the packet",
        |world| world,
        BEAT_THAT_IS_SHARED_WITH_A_HELD_ENTRY,
        NO_STALLS,
        two_memories,
    );
}

/// On flows in four memories; see [`caught`].
fn catches_held(checker: &str, fault: TextFault, scenario: impl Fn(&mut World)) {
    caught(checker, memories, fault, NO_STALLS, scenario);
}

const FLUSH_THAT_COVERS_LATER_WRITES_TOO: TextFault =
    ("ticket = started_count + 24'd1;", "ticket = started_count;");

#[test]
fn flush_covering_later_writes_is_caught() {
    catches_held("before memory 1 was flushed", FLUSH_THAT_COVERS_LATER_WRITES_TOO, long_flush);
}

const ENTRY_THAT_PASSES_THOSE_OF_ITS_OWNER: TextFault = (
    "assign queues = (is_slot & ((|memories) | owner_holds))",
    "assign queues = (is_slot & (|memories))",
);

#[test]
fn entry_passing_own_owner_is_caught() {
    catches_held("address of write 0", ENTRY_THAT_PASSES_THOSE_OF_ITS_OWNER, send_mixed);
}

const FENCE_THAT_DOES_NOT_WAIT_FOR_WHAT_IS_HELD: TextFault =
    ("assign fences = (is_confirmation & of_owner_0) & any_held;", "assign fences = 1'd0;");

#[test]
fn fence_not_awaiting_held_is_caught() {
    catches_held("owner 0's fence was skipped", FENCE_THAT_DOES_NOT_WAIT_FOR_WHAT_IS_HELD, fences);
}

const SILENCE_OF_A_MEMORY_THAT_IS_NOT_TOLD: TextFault = ("gave_up <= failed;", "gave_up <= 1'd0;");

#[test]
fn untold_memory_silence_is_caught() {
    catches_held("what a silent memory leaves", SILENCE_OF_A_MEMORY_THAT_IS_NOT_TOLD, silence);
}
