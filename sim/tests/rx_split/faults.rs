//! The judges catch faults planted in the Verilog; every scenario here passes without its fault.

use sim::caught::caught_by;
use sim::harness::stall::Stall;

use crate::held::{fences, long_flush, memories, mixed, short_slots, silence};
use crate::shared::{tails, two_memories};
use crate::world::{Stalls, World};
use crate::{good, set_up, tight_fence, NO_STALLS};

const SLOW_SINK: Stalls = Stalls {
    source: Stall::None,
    sink: Stall::Random(0.8),
};

/// Runs a scenario on a prepared card with a fault, expects `checker` to end it, and without it,
/// expects it to pass.
fn caught(
    checker: &str,
    prepare: impl Fn(World) -> World,
    (original, planted): (&str, &str),
    stalls: Stalls,
    scenario: impl Fn(&mut World),
) {
    let mut faulty = prepare(World::with_fault(original, planted, stalls));
    caught_by(checker, planted, || scenario(&mut faulty));
    scenario(&mut prepare(World::new(stalls, 1)));
}

/// With one flow; see [`caught`].
fn catches(checker: &str, fault: (&str, &str), stalls: Stalls, scenario: impl Fn(&mut World)) {
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
fn confirmation_that_overtakes_data_is_caught() {
    catches(
        "confirmation 0",
        (
            "assign direct = waiting_source_valid & (~ahead[7]);",
            "assign direct = waiting_source_valid;",
        ),
        SLOW_SINK,
        tight_fence,
    );
}

#[test]
fn wrong_checksum_that_passes_is_caught() {
    catches(
        "drops",
        ("assign bad_l4 = ", "assign bad_l4 = 1'd0 & "),
        NO_STALLS,
        burst,
    );
}

#[test]
fn cursor_that_stays_is_caught() {
    catches(
        "dispositions",
        (
            "assign cursor_write_valid = accepted & judgement_in_order;",
            "assign cursor_write_valid = 1'd0;",
        ),
        NO_STALLS,
        burst,
    );
}

#[test]
fn bytes_of_other_packets_in_an_entry_are_caught() {
    catches(
        "write 1 to 0x",
        (
            "slot[102:89] = {6'd0, packet[49:42]} + metadata_bytes;",
            "slot[102:89] = slot_bytes;",
        ),
        NO_STALLS,
        burst,
    );
}

#[test]
fn short_slot_that_takes_a_beat_too_many_is_caught() {
    caught(
        "bytes at 0x",
        |world| world,
        (
            "assign is_single = ~(bytes[7] | (bytes[6] & (|bytes[5:0])));",
            "assign is_single = 1'd0;",
        ),
        NO_STALLS,
        short_slots,
    );
}

#[test]
fn metadata_that_are_missing_in_a_shared_beat_are_caught() {
    catches(
        "write 1 to 0x",
        ("beat[1295] = is_shared;", "beat[1295] = 1'd0;"),
        NO_STALLS,
        tails,
    );
}

#[test]
fn beat_that_is_shared_with_a_held_entry_is_caught() {
    caught(
        "a third job in the packet",
        |world| world,
        (
            "routed_payload[439] = job[439] & (~owner_holds);",
            "routed_payload[439] = job[439];",
        ),
        NO_STALLS,
        two_memories,
    );
}

/// On flows in four memories; see [`caught`].
fn catches_held(checker: &str, fault: (&str, &str), scenario: impl Fn(&mut World)) {
    caught(checker, memories, fault, NO_STALLS, scenario);
}

#[test]
fn flush_that_covers_later_writes_too_is_caught() {
    catches_held(
        "before memory 1 was flushed",
        ("ticket = started_count + 24'd1;", "ticket = started_count;"),
        long_flush,
    );
}

#[test]
fn entry_that_passes_those_of_its_owner_is_caught() {
    catches_held(
        "address of write 0",
        (
            "assign queues = (is_slot & ((|memories) | owner_holds))",
            "assign queues = (is_slot & (|memories))",
        ),
        mixed,
    );
}

#[test]
fn fence_that_does_not_wait_for_what_is_held_is_caught() {
    catches_held(
        "owner 0's fence was skipped",
        (
            "assign fences = (is_confirmation & of_owner_0) & any_held;",
            "assign fences = 1'd0;",
        ),
        fences,
    );
}

#[test]
fn silence_of_a_memory_that_is_not_told_is_caught() {
    catches_held(
        "what a silent memory leaves",
        ("gave_up <= failed;", "gave_up <= 1'd0;"),
        silence,
    );
}
