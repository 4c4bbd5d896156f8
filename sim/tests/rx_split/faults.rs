//! The judges catch faults planted in the Verilog; every scenario here passes without its fault.

use std::panic::{catch_unwind, AssertUnwindSafe};

use sim::stall::Stall;

use crate::world::{Stalls, World};
use crate::{fence, good, set_up, NO_STALLS};

const SLOW_SINK: Stalls = Stalls {
    source: Stall::None,
    sink: Stall::Random(0.8),
};

/// Runs a scenario with a fault, expects it to fail, and without it, expects it to pass.
fn catches(original: &str, planted: &str, stalls: Stalls, scenario: impl Fn(&mut World)) {
    let mut faulty = set_up(World::with_fault(original, planted, stalls));
    let outcome = catch_unwind(AssertUnwindSafe(|| scenario(&mut faulty)));
    assert!(outcome.is_err(), "the fault `{planted}` went unnoticed");
    scenario(&mut set_up(World::new(stalls, 1)));
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
        "assign drained = (offered & feed_idle) & align_idle;",
        "assign drained = offered;",
        SLOW_SINK,
        |world| fence(world, 7),
    );
}

#[test]
fn wrong_checksum_that_passes_is_caught() {
    catches(
        "assign bad_l4 = ",
        "assign bad_l4 = 1'd0 & ",
        NO_STALLS,
        burst,
    );
}

#[test]
fn cursor_that_stays_is_caught() {
    catches(
        "assign cursor_write_valid = accepted & judgement_in_order;",
        "assign cursor_write_valid = 1'd0;",
        NO_STALLS,
        burst,
    );
}

#[test]
fn bytes_of_other_packets_in_an_entry_are_caught() {
    catches(
        "assign keep_mask = ~drop_mask;",
        "assign keep_mask = ~512'd0;",
        NO_STALLS,
        burst,
    );
}
