//! What an epoch forgets, and what outlives it.

use abi::command::*;
use abi::config::EPOCH_MAX;
use abi::flow_key::{hash, KEY_BYTES, SECRET_WORDS};
use abi::reason::CommandStatus;
use sim::harness::stall::Stall;
use tables::flow_table::toeplitz_fill::REWRITE_CYCLES;

use super::{hits, install_tables, key_set, region, requests, FLOW_ID, KEY};
use crate::tables::model::bench::*;

#[test]
fn nothing_is_valid_before_epochs_install() {
    let mut tables = Tables::new(Stall::None, Stall::None, 1);
    for epoch in 1..=3 {
        for (port, request) in requests() {
            let reply = tables.ask(port, &[request]).remove(0);
            // List states have no epoch of their own: the flow's counts.
            assert!(port == Port::RxSegment || !hits(port, &reply), "{epoch}: {port:?}");
        }
        tables.send_commands(0, 0, &[floor(FLOW_ID, 1_001, 0)], false);
        assert_eq!(tables.wait_for_statuses(0, 0, 1), [CommandStatus::BadFlow]);
        for entry in [install(FLOW_ID, (40, 3)), key_set(FLOW_ID), post(FLOW_ID, 0, 1_000, 500)] {
            tables.execute(entry);
        }
        for entry in region(4096) {
            tables.execute(entry);
        }
        for (port, request) in requests() {
            let reply = tables.ask(port, &[request]).remove(0);
            assert!(hits(port, &reply), "{epoch}: {port:?}");
        }
        tables.start_epoch(epoch + 1);
    }
    tables.assert_clean();
}

#[test]
fn reused_epoch_number_revives_nothing_old() {
    let mut tables = install_tables();
    for epoch in [2, EPOCH_MAX] {
        tables.start_epoch(epoch);
    }
    // Epoch 1 again: its entries of long ago still lie in the memories.
    tables.start_epoch(1);
    let asked_at = tables.bench.now();
    assert_eq!(tables.bench.get("busy"), 1);
    tables.send_commands(0, 0, &[floor(FLOW_ID, 1_001, 0)], false);
    for round in 0..40 {
        for (port, request) in requests() {
            let reply = tables.ask(port, &[request]).remove(0);
            // List states have no epoch of their own: the flow's counts.
            assert!(port == Port::RxSegment || !hits(port, &reply), "round {round}: {port:?}");
        }
    }
    // The command waited until the entries were gone; the lookups did not.
    assert_eq!(tables.wait_for_statuses(0, 0, 1), [CommandStatus::BadFlow]);
    let confirmed_at = *tables.confirmed_at.cycles.last().expect("confirmed");
    assert!(confirmed_at >= asked_at + 256 - 4, "largest table: 256 key slots");
    for entry in [install(FLOW_ID, (40, 3)), key_set(FLOW_ID)] {
        tables.execute(entry);
    }
    let reply = tables.ask(Port::Flow, &[flow_request(&KEY)]).remove(0);
    assert!(flow_answer(&reply).is_some(), "what is new is valid");
    tables.assert_clean();
}

#[test]
fn reset_does_not_end_scrubbing() {
    let mut tables = install_tables();
    tables.start_epoch(EPOCH_MAX);
    tables.start_epoch(1);
    tables.cycles(3);
    tables.start_epoch(2);
    tables.start_epoch(EPOCH_MAX);
    tables.cycles(300);
    tables.start_epoch(1);
    tables.cycles(300);
    for (port, request) in requests() {
        let reply = tables.ask(port, &[request]).remove(0);
        assert!(port == Port::RxSegment || !hits(port, &reply), "{port:?}");
    }
}

#[test]
fn reset_forgets_what_is_in_flight() {
    let mut tables = install_tables();
    for (port, request) in requests() {
        for _ in 0..3 {
            tables.pairs[port as usize].request.push(request.clone());
        }
    }
    tables.cycles(4);
    tables.start_epoch(2);
    tables.cycles(100);
    for (port, request) in requests() {
        tables.pairs[port as usize].reply.messages.clear();
        let reply = tables.ask(port, &[request]).remove(0);
        assert!(port == Port::RxSegment || !hits(port, &reply), "{port:?}");
    }
    tables.assert_clean();
}

/// An epoch begins at moments around the writing of the tables of new secrets; what is installed
/// in it is found by them, whatever stands still.
#[test]
fn hash_secrets_outlive_an_epoch() {
    let key: [u8; KEY_BYTES] = std::array::from_fn(|byte| 5 * byte as u8 + 3);
    let later = (40..REWRITE_CYCLES + 60).step_by(REWRITE_CYCLES as usize / 12);
    let moments = (0..40).step_by(3).chain(later).enumerate();
    let stalls = [Stall::None, Stall::Random(0.7)];
    let mut tables = stalls.map(|stall| Tables::new(stall, stall, 1));
    for (round, moment) in moments {
        let tables = &mut tables[round % 2];
        let words = |bank: u32| {
            std::array::from_fn(|_| 0x9e37_79b9u32.wrapping_mul(2 * round as u32 + bank))
        };
        let secrets: [[u32; SECRET_WORDS]; 2] = [words(1), words(2)];
        tables.write_secrets(&secrets);
        tables.cycles(moment);
        tables.start_epoch(2 + round as u16);
        let bucket = hash(&key, &secrets[0]) & ((1 << abi::config::SMALL.bucket_bits) - 1);
        let mut set = command(KEY_SET, &[(FLOW, FLOW_ID), (KEY_BUCKET, u64::from(bucket))]);
        set[KEY_AT_BYTES..].copy_from_slice(&key);
        tables.execute(install(FLOW_ID, (40, 3)));
        tables.execute(set);
        let reply = tables.ask(Port::Flow, &[flow_request(&key)]).remove(0);
        assert!(hits(Port::Flow, &reply), "{moment} cycles behind the secrets");
        tables.assert_clean();
    }
}
