//! Many connections at once on the golden card, every byte judged.

use abi::config::{CardConfig, DEFAULT, SMALL};
use lab::golden_card::GoldenCard;
use measure::connections::{Outcome, BYTES};

fn run(config: CardConfig, connections: usize) -> Outcome {
    let mut is_used = false;
    let outcome = measure::connections::run(config, connections, &mut |call| call(), &mut || {
        is_used = true;
    });
    assert!(is_used);
    outcome.unwrap()
}

/// Opened, used both ways and closed, all open at once.
#[test]
fn thousand_connections_open_work_close() {
    let outcome = run(DEFAULT, 1024);
    assert_eq!(outcome.copied_bytes, 0, "every byte is placed");
}

/// As many as a small card has flows: the shard keeps one, so one connection is beyond the table.
#[test]
fn small_cards_flows_are_all_used() {
    let outcome = run(SMALL, 1 << SMALL.flow_bits);
    assert_eq!(outcome.copied_bytes, 2 * u64::from(BYTES), "of one connection");
}

/// The same where the card confirms late, at random.
#[test]
fn late_cards_flows_are_all_used() {
    let card = GoldenCard::late(SMALL, seed::seed());
    let all = 1 << SMALL.flow_bits;
    let outcome = measure::connections::run_on(card, all, &mut |call| call(), &mut || {});
    // Judged byte by byte; what came before its place was confirmed was copied.
    outcome.expect("every connection is served");
}
