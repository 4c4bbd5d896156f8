//! The transport is a box with headers in and headers out: the control stack lowers the windows it
//! lets pass to what is posted, and never moves a right edge left.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::config::SMALL;
use host::clock::ManualClock;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::headers::layout::{ACK, SYN};
use host::headers::packet::parse_tcp;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{Exchange, LabError, Observer, Side, Status};
use lab::frame::Frame;
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::Machine;
use lab::wire::Disturbance;

use crate::decisions::rig::Found;
use crate::decisions::wrapped::{Seen, Watching, Wrong};

/// Time that the protocols' clock moves on in a round.
const ROUND: Duration = Duration::from_micros(100);

/// Watches what the card's side offers to its peer.
struct Windows {
    /// The clock of both TCPs.
    time: ManualClock,
    seen: Rc<RefCell<Seen>>,
    shift: u8,
    edge: Option<u32>,
    judged: u32,
    broken: Option<String>,
}

impl Windows {
    fn judge(&mut self, frame: &[u8]) {
        let Some(header) = parse_tcp(frame) else { return };
        if header.flags & SYN != 0 {
            self.shift = header.window_scale.unwrap_or(0);
            return;
        }
        let Some(posted_end) = self.seen.borrow().posted_end else { return };
        if header.flags & ACK == 0 {
            return;
        }
        let window = u32::from(header.window) << self.shift;
        let edge = header.acknowledgement.wrapping_add(window);
        // The last rest below the scale's unit is rounded up; behind it the peer's FIN takes a
        // number, and the window is closed.
        let unit = 1i32 << self.shift;
        let beyond = edge.wrapping_sub(posted_end) as i32;
        if beyond >= unit.max(2) {
            self.broken = Some(format!("a window {beyond} bytes beyond what is posted"));
        }
        let left = self.edge.map_or(0, |before| before.wrapping_sub(edge) as i32);
        // A scaled window cannot name every edge: less than its unit is rounding (RFC 7323, 2.4).
        if left >= unit && window > 0 {
            self.broken = Some(format!("a right edge {left} bytes left of the last"));
        }
        let further = self.edge.is_none_or(|before| edge.wrapping_sub(before) as i32 > 0);
        if further {
            self.edge = Some(edge);
        }
        self.judged += 1;
    }
}

impl Observer for Windows {
    fn round(&mut self, _status: Status) -> Result<(), LabError> {
        self.time.advance(ROUND);
        match &self.broken {
            Some(broken) => Err(LabError::Stopped(broken.clone())),
            None => Ok(()),
        }
    }

    fn frame(&mut self, side: Side, frame: &Frame) {
        if side == Side::ToPeer {
            self.judge(&frame.bytes);
        }
    }
}

/// `late` is the seed of a card that takes its time.
fn check(wrong: Wrong, late: Option<u64>) -> Found {
    let card = match late {
        Some(seed) => GoldenCard::late(SMALL, seed),
        None => GoldenCard::new(SMALL),
    };
    let seen = Rc::new(RefCell::new(Seen::default()));
    let bus = Watching::on(GoldenBus::new(card.clone()), wrong, seen.clone());
    let links = [1, 2].map(|number| LinkConfig::lab(number, 1500, Tuning::REAL_TIME));
    let machine = Machine::with_smoltcp(bus, card, &links, DeviceConfig::with_seed(1));
    let mut machine = machine.expect("a card");
    // Both ends have the time that the judge of windows sets.
    let time = machine.clock.take().expect("a clock");
    let mut windows = Windows { time, seen, shift: 0, edge: None, judged: 0, broken: None };
    let plan = Exchange {
        bytes: 2 << 20,
        seed: 10,
        disturbance: Disturbance::default(),
        memory: MemoryKind::Application,
    };
    let remote = "10.77.0.2:5001".parse().expect("an address");
    match machine.exchange(remote, &plan, &mut windows) {
        Err(LabError::Stopped(broken)) => return Err(broken),
        Err(other) => panic!("{other}"),
        Ok(outcome) => assert!(outcome.is_exact(), "{outcome:?}"),
    }
    seed::enough("windows judged", windows.judged.into(), 100);
    let copied = machine.host.counters().copied_payload_bytes;
    // What comes while a late card has not confirmed its place is deferred.
    ensure!(
        copied == 0 || late.is_some(),
        "the CPU copied {copied} bytes of an undisturbed stream"
    );
    Ok(())
}

#[test]
fn decision_10_windows_match_posted_memory() {
    if let Err(broken) = check(Wrong::Nothing, None) {
        panic!("{broken}");
    }
    let first = seed::seed();
    for seed in first..first + 8 {
        if let Err(broken) = check(Wrong::Nothing, Some(seed)) {
            panic!("card seed {seed}: {broken}");
        }
    }
    let broken = check(Wrong::WindowRaised, None).expect_err("a raised window went unnoticed");
    println!("caught: {broken}");
}
