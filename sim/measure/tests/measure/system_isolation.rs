//! Two owners on one wire: what one has no room for costs the other nothing.
//!
//! ```text
//!   wire speed, 64-byte frames ──► card ──┬──► header queue of owner 0, emptied: every frame
//!     of both owners                      └──► of owner 1, the rival: what does not fit is counted
//! ```
//! Proven: with a rival that never empties its queue, and with one that is sent more than the link
//! carries, the first owner gets an entry for every frame, and every other frame is counted: most
//! of them as `header_queue_full` where the rival's queue has no free slot, as `buffer_share_full`
//! where its packets hold their share of the packet buffer. With either rule broken in the card,
//! packets judged by the free space of the rival, the same check fails.

use abi::reason::DropReason;
use measure::limits::tightest_limit;
use measure::run::{Measurement, Outcome};
use measure::scenario::{Rival, Scenario, Size};
use sim::card::SimulatedCard;
use sim::faults::{build_with_faults, Fault};
use sim::switched::FAULT_PORT;
use verilate::design::Design;

/// Looks of the host until the rival's 4,096 slots are full: 102 us at some 60 million a second.
const FILL_STEPS: u32 = 400;

fn run(design: &Design, rival: Rival, fault: Option<Fault>) -> Outcome {
    let scenario = Scenario {
        card: "small".to_owned(),
        receive: true,
        flows: 2,
        rival: Some(rival),
        time_ns: 40_000,
        wraps_min: 0,
        packets_min: 1,
        ..Scenario::new(Size::Frame(64))
    };
    let build = |pcie| SimulatedCard::of(design, pcie);
    let mut measurement = Measurement::with_card(&scenario, build).expect("it opens");
    for _ in 0..FILL_STEPS {
        measurement.step().expect("a step");
    }
    {
        let model = &mut measurement.host.machine.card.borrow_mut().model;
        let port = model.port(FAULT_PORT);
        model.set(port, fault.map_or(0, |fault| fault as u64));
    }
    measurement.run(&mut |_| {}).expect("a verdict")
}

fn isolates(design: &Design, rival: Rival, reason: DropReason, fault: Fault) {
    let outcome = run(design, rival, None);
    assert!(outcome.is_ok(), "{rival:?}: {:#?}", outcome.problems.first);
    assert_eq!(outcome.frames_lost, 0);
    let of_rival = outcome.rival.expect("figures of the rival");
    let count = |reason: DropReason| {
        let found = outcome.counters.iter().find(|c| c.0 == reason.name());
        found.map_or(0, |counter| counter.1)
    };
    let overload = [DropReason::HeaderQueueFull, DropReason::BufferShareFull].map(count);
    assert_eq!(overload.iter().sum::<u64>(), of_rival.frames_lost);
    assert!(
        2 * count(reason) > of_rival.frames_lost,
        "{rival:?}: {overload:?} of {}",
        of_rival.frames_lost
    );
    let (reached, limit) = (outcome.receive.expect("figures"), tightest_limit(&outcome.limits));
    assert!(
        (0.99..1.01).contains(&(reached.mpps / limit.mpps)),
        "{rival:?}: {reached:?}, {limit:?}"
    );

    let outcome = run(design, rival, Some(fault));
    assert!(outcome.frames_lost > 0, "{fault:?} went unnoticed");
    assert!(!outcome.is_ok());
    println!("{fault:?} is caught: {} frames lost", outcome.frames_lost);
}

#[test]
fn full_header_queue_costs_owner_alone() {
    let design = build_with_faults();
    isolates(&design, Rival::Undrained, DropReason::HeaderQueueFull, Fault::RivalsQueue);
    isolates(&design, Rival::Greedy, DropReason::BufferShareFull, Fault::RivalsShare);
}
