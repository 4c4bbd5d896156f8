//! The crossings between two clocks, Verilated, at unrelated rates and phases.
//!
//! ```text
//!   random traffic, stalls ──► AsyncFifo, ValueCrossing, PeakCrossing ──► judge: order, content
//!        write_clock               │ bits late at random │               read_clock
//! ```
//! Proven, for the rates of the card both ways, equal, nearly equal, far apart and random ones:
//! what each block's head says of order, content and time. As emitted, and with bits that arrive
//! late (`crossings/skew.rs`): a simulation without delays lets a binary pointer pass, and
//! what goes around its synchronizer. Such faults and others, planted in the text, are found.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rust_hdl_core::prelude::*;
use seed::seed;
use sim::harness::stall::Stall;
use stream::async_fifo::AsyncFifo;
use stream::peak_crossing::PeakCrossing;
use stream::value_crossing::ValueCrossing;
use verilate::block::design_of;
use verilate::design::Design;
use verilate::options::Options;
use verilate::verilated::Model;

mod judges;
mod skew;

use judges::{Levels, Messages, Values};
use skew::{build, run, Change, Rates};

/// Messages, values or levels of each run.
const COUNT: usize = 1_000;
/// Slower cycles that the first message takes, and the last.
const ON_THE_WAY_CYCLES: u64 = 8;

/// Of eight messages: each of its places is used again soon.
type SmallFifo = AsyncFifo<Bits<32>, 3, 4>;
/// As deep as the deepest of the card.
type DeepFifo = AsyncFifo<Bits<32>, 6, 7>;
type Value = ValueCrossing<Bits<32>>;

/// A crossing at every rate, bits late or not; what is wrong, with the seed.
type Check = fn(&Design, bool, u64) -> Result<(), String>;

/// What is late in a FIFO of eight: a bit of a pointer, and the entry that was written last.
fn late_fifo() -> Vec<Change> {
    let late =
        |name: &str, port: &str| format!("({name} & ~{port}[3:0]) | ({name}_before & {port}[3:0])");
    vec![
        Change::new(
            "    initial begin",
            "    reg [3:0] write_gray_before = 4'd0;
    reg [3:0] read_gray_before = 4'd0;
    reg stored = 1'd0;
    reg [2:0] stored_at = 3'd0;
    wire on_its_way = stored & (stored_at == read_pointer[2:0]);
    wire [31:0] entry = memory_read_data ^ {32{late_to_read[63] & on_its_way}};
    always @(posedge write_clock) begin
        write_gray_before <= write_gray;
        stored <= stores;
        stored_at <= write_pointer[2:0];
    end
    always @(posedge read_clock) read_gray_before <= read_gray;
    initial begin",
        ),
        Change::new("head <= memory_read_data;", "head <= entry;"),
        Change::new(".d(write_gray)", &format!(".d({})", late("write_gray", "late_to_read"))),
        Change::new(".d(read_gray)", &format!(".d({})", late("read_gray", "late_to_write"))),
    ]
}

/// What is late in a crossing for values: bits of the value, the toggle and its acknowledge.
fn late_value(module: Option<&'static str>, top: &str, bits: usize) -> Vec<Change> {
    let last = bits - 1;
    let beside = format!(
        "    reg [{last}:0] held_before = 0;
    reg toggle_before = 1'd0;
    reg acknowledge_before = 1'd0;
    always @(posedge write_clock) begin
        held_before <= held;
        toggle_before <= toggle;
    end
    always @(posedge read_clock) acknowledge_before <= acknowledge;
    initial begin"
    );
    let late = format!("{top}.late_to_read[{last}:0]");
    let seen = format!("seen <= (held & ~{late}) | (held_before & {late});");
    let toggle = format!(".d({top}.late_to_read[63] ? toggle_before : toggle)");
    let acknowledge = format!(".d({top}.late_to_write[63] ? acknowledge_before : acknowledge)");
    let changes = [
        ("    initial begin", beside),
        ("seen <= held;", seen),
        (".d(toggle)", toggle),
        (".d(acknowledge)", acknowledge),
    ];
    let changes = changes.into_iter().map(|(from, to)| Change { module, ..Change::new(from, &to) });
    changes.collect()
}

/// A model at each rate and with each pair of stalls, until `run_one` finds something wrong.
fn at_all_rates(
    design: &Design,
    is_late: bool,
    seed: u64,
    mut run_one: impl FnMut(&mut Model, Rates, [Stall; 2], &mut SmallRng) -> Result<(), String>,
) -> Result<(), String> {
    let random = &mut SmallRng::seed_from_u64(seed);
    for mut rates in Rates::sweep(random) {
        rates.skew_ps = if is_late { rates.skew_ps } else { 0 };
        for source in Stall::ALL {
            for sink in Stall::ALL {
                let (mut model, stalls) = (design.model(), [source, sink]);
                model.clear_inputs();
                run_one(&mut model, rates, stalls, random)
                    .map_err(|what| format!("{what}, stalls {stalls:?}, seed {seed}"))?;
            }
        }
    }
    Ok(())
}

fn messages_cross(design: &Design, is_late: bool, seed: u64) -> Result<(), String> {
    at_all_rates(design, is_late, seed, |model, rates, stalls, random| {
        let mut messages = Messages::new(model, COUNT, stalls, random.random());
        run(model, rates, random, &mut messages)?;
        let cycles = messages.end_ps / rates.slower_ps();
        let is_free = stalls == [Stall::None; 2];
        match is_free && cycles > COUNT as u64 + ON_THE_WAY_CYCLES {
            true => Err(format!("{COUNT} messages took {cycles} cycles, {rates:?}")),
            false => Ok(()),
        }
    })
}

fn values_cross(design: &Design, is_late: bool, seed: u64) -> Result<(), String> {
    at_all_rates(design, is_late, seed, |model, rates, [stall, _], random| {
        let mut values = Values::new(model, COUNT, stall, rates, random.random());
        run(model, rates, random, &mut values)
    })
}

fn levels_cross(design: &Design, is_late: bool, seed: u64) -> Result<(), String> {
    at_all_rates(design, is_late, seed, |model, rates, [stall, _], random| {
        let mut levels = Levels::new(model, COUNT, stall, rates, random.random());
        run(model, rates, random, &mut levels)
    })
}

fn small_fifo(faults: Vec<Change>) -> Design {
    let changes = [late_fifo(), faults].concat();
    build(&mut SmallFifo::default(), "late_fifo", &changes)
}

fn value(faults: Vec<Change>) -> Design {
    let changes = [late_value(None, "late_value", 32), faults].concat();
    build(&mut Value::default(), "late_value", &changes)
}

fn levels(faults: Vec<Change>) -> Design {
    let changes = [late_value(Some("value_crossing"), "late_peak", 16), faults].concat();
    build(&mut PeakCrossing::default(), "late_peak", &changes)
}

fn emit_block<B: Block>(mut block: B, top: &str) -> Design {
    design_of(&mut block, top, Options::default()).expect("builds")
}

#[test]
fn messages_cross_in_order_unrelated_rates() {
    let seed = seed();
    for (design, is_late) in [
        (emit_block(SmallFifo::default(), "fifo_of_8"), false),
        (emit_block(DeepFifo::default(), "fifo_of_64"), false),
        (small_fifo(vec![]), true),
    ] {
        assert_eq!(messages_cross(&design, is_late, seed), Ok(()));
    }
}

#[test]
fn values_cross_in_order_at_unrelated_rates() {
    let seed = seed();
    let design = emit_block(Value::default(), "value_of_32");
    assert_eq!(values_cross(&design, false, seed), Ok(()));
    assert_eq!(values_cross(&value(vec![]), true, seed), Ok(()));
}

#[test]
fn every_level_crosses_at_unrelated_rates() {
    let seed = seed();
    let design = emit_block(PeakCrossing::default(), "peak_of_16");
    assert_eq!(levels_cross(&design, false, seed), Ok(()));
    assert_eq!(levels_cross(&levels(vec![]), true, seed), Ok(()));
}

/// Pointers that count in binary on both sides: right, but for their bits on the way.
fn binary_pointers() -> Vec<Change> {
    let plain = ["gray_ahead <= write_next", "gray_ahead <= write_after", "read_gray <= read_next"];
    let mut changes = Vec::new();
    for to in plain {
        let (_, next) = to.split_once(" <= ").expect("an assignment");
        changes.push(Change::new(&format!("{to} ^ ({next} >> 1);"), &format!("{to};")));
    }
    for (to, from, shift) in [
        ("assign read_pairs =", "read_seen_q", 1),
        ("assign read_fours =", "read_pairs", 2),
        ("read_known <=", "read_fours", 4),
    ] {
        let gray = format!("{to} {from} ^ ({from} >> {shift});");
        changes.push(Change::new(&gray, &format!("{to} {from};")));
    }
    // A lap ahead: the top bit alone differs.
    changes.push(Change::within("gray_lap", "top = 4'd12", "top = 4'd8"));
    changes
}

#[test]
fn fault_in_each_crossing_is_found() {
    let seed = seed();
    let fault = |from: &str, to: &str| vec![Change::new(from, to)];
    let around = vec![
        Change::new("toggle_seen_q != acknowledge", "toggle != acknowledge"),
        Change::new("acknowledge <= toggle_seen_q", "acknowledge <= toggle"),
    ];
    let unsynchronized = Change::within("synchronizer", "q = second", "q = d");
    let is_higher = "crossing_taken | (level > highest)";
    let messages = (small_fifo as fn(Vec<Change>) -> Design, messages_cross as Check);
    let values = (value as fn(Vec<Change>) -> Design, values_cross as Check);
    let peaks = (levels as fn(Vec<Change>) -> Design, levels_cross as Check);
    for ((build, check), what, changes, found_without_delay) in [
        (messages, "room", fault("<= ~fills_is_full", "<= 1'd1"), true),
        (messages, "binary", binary_pointers(), false),
        (messages, "bare", vec![unsynchronized], false),
        (values, "turns", fault("acknowledge_seen_q == toggle) begin", "1'd1) begin"), true),
        (values, "around", around, false),
        (peaks, "for ever", fault(is_higher, "level > highest"), true),
        (
            peaks,
            "lost",
            fault("highest <= level", "highest <= crossing_taken ? 16'd0 : level"),
            true,
        ),
    ] {
        let design = build(changes);
        let without = check(&design, false, seed);
        println!("{what}: without delay {without:?}");
        assert_eq!(without.is_err(), found_without_delay, "{what}: {without:?}");
        let late = check(&design, true, seed);
        println!("{what}: with bits late {late:?}");
        assert!(late.is_err(), "{what} is not found");
    }
}
