//! Checks of a card: its state, its wire, its board, what it has counted of faults.

use abi::counters::COUNTER_GROUPS;
use abi::registers as r;
use anyhow::Result;
use host::driver::counters::{read_counters, CounterKind, CounterValue};
use host::driver::look::CardLook;
use vfio::CardBus;

use super::board;
use crate::device::card::{contract, BusWindow};
use crate::device::report::{Check, Verdict};
use crate::shared::bus::driver_refusal;
use crate::shared::config::configuration;

/// STATUS bits beside those of the wire.
const TAG_QUARANTINED: u32 = 1 << 0;
const BUS_MASTERING: u32 = 1 << 1;
const LINK_UP: u32 = 1 << 2;

/// Stage counters that tell of a fault, beside the group of faults.
const FAULTS: [&str; 12] = [
    "read_timeouts",
    "read_errors",
    "send_events_lost",
    "tx_frames_unsent",
    "tx_frames_cut",
    "link_losses",
    "mac_overflows",
    "mac_underflows",
    "window_errors",
    "window_timeouts",
    "window_refused",
    "pcie_local_errors",
];
/// The group of counters of which each is one of a fault.
const FAULT_GROUP: &str = "faults";

/// The checks.
pub fn checks(card: &mut CardBus, look: &CardLook) -> Result<Vec<Check>> {
    let named = configuration(&look.sizes).unwrap_or("sizes of its own");
    let found = format!("contract {}, {named}, epoch {}", contract(look.version), look.epoch);
    let mut checks = vec![Check::new("card", Verdict::Good, found, "")];
    checks.extend(of_status(look));
    checks.extend(board::checks(&mut BusWindow(card))?);
    checks.push(counted(&read_counters(card).map_err(driver_refusal)?));
    Ok(checks)
}

fn of_status(look: &CardLook) -> Vec<Check> {
    let has = |bit: u32| look.status & bit != 0;
    let state = |is_set: bool| if is_set { "yes" } else { "no" };
    let (wire, fault) = (look.wire, look.wire.local_fault || look.wire.remote_fault);
    vec![
        Check::new(
            "the card sees its link",
            Verdict::Bad.unless(has(LINK_UP) && has(BUS_MASTERING)),
            format!("link {}, bus mastering {}", state(has(LINK_UP)), state(has(BUS_MASTERING))),
            "nothing is read from memory or written to it: see to the link, then to the command \
             word",
        ),
        Check::new(
            "tables and requests",
            Verdict::Look.unless(!has(r::STATUS_TABLES_BUSY) && !has(r::STATUS_REQUESTS_PENDING)),
            format!("status {:#010x}", look.status),
            "the card clears its tables or waits for requests of an earlier epoch: look again",
        ),
        Check::new(
            "read tags",
            Verdict::Look.unless(!has(TAG_QUARANTINED)),
            format!("one is in quarantine: {}", state(has(TAG_QUARANTINED))),
            "memory has not answered a read: `device reset`, then look at `read_timeouts`",
        ),
        Check::new(
            "wire",
            Verdict::Look.unless(wire.is_up),
            format!(
                "up: {}; clock: {}; aligned: {}; fault: {}",
                state(wire.is_up),
                state(wire.clock_runs),
                state(wire.is_aligned),
                state(fault)
            ),
            "cable, module, FEC of both ends; a remote fault is the other end's",
        ),
    ]
}

/// Whether a counter that is not zero tells of a fault.
fn is_fault(counter: &CounterValue) -> bool {
    let of_group = || {
        let mut groups = COUNTER_GROUPS.iter().filter(|group| group.name == FAULT_GROUP);
        groups.any(|group| group.counters.iter().any(|it| it.name == counter.name))
    };
    match counter.kind {
        CounterKind::Drop | CounterKind::SendError => true,
        CounterKind::Stage => FAULTS.contains(&counter.name) || of_group(),
        CounterKind::Disposition | CounterKind::Peak => false,
    }
}

fn counted(counters: &[CounterValue]) -> Check {
    let faults = counters.iter().filter(|counter| counter.value > 0 && is_fault(counter));
    let faults: Vec<String> = faults.map(|it| format!("{} {}", it.name, it.value)).collect();
    let found = match faults.is_empty() {
        true => "none since power-up".to_owned(),
        false => faults.join(", "),
    };
    let advice = "`device counters` says what each counts, docs/troubleshooting.md what to do";
    Check::new("faults counted", Verdict::Look.unless(faults.is_empty()), found, advice)
}

#[cfg(test)]
mod tests {
    use abi::counters::stage_counters;

    use super::*;

    #[test]
    fn drops_and_faults_are_named_packets_not() {
        let counter = |kind, name, value| CounterValue { kind, name, meaning: "", value };
        let check = counted(&[
            counter(CounterKind::Disposition, "no_flow", 5),
            counter(CounterKind::Drop, "runt", 2),
            counter(CounterKind::Drop, "giant", 0),
            counter(CounterKind::Stage, "registers_malformed", 1),
            counter(CounterKind::Stage, "commands", 7),
            counter(CounterKind::Stage, "read_timeouts", 3),
        ]);
        assert_eq!(check.found, "runt 2, registers_malformed 1, read_timeouts 3");
        assert_eq!(check.verdict, Verdict::Look);
        assert_eq!(counted(&[counter(CounterKind::Drop, "runt", 0)]).verdict, Verdict::Good);
    }

    #[test]
    fn every_name_is_a_counter() {
        for name in FAULTS {
            let mut all = stage_counters(u32::MAX, u32::MAX);
            assert!(all.any(|(_, counter)| counter.name == name), "{name}");
        }
        assert!(COUNTER_GROUPS.iter().any(|group| group.name == FAULT_GROUP));
    }
}
