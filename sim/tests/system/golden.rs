//! The driver against the golden device: everything of the host but no RTL.
//!
//! ```text
//!   application ─ Provider ─ GoldenBus ─ golden device ── wire with faults ── peer
//!                    └ Linux TCP or smoltcp on headers only
//! ```
//! Proven: the control stack moves every byte both ways through the contract, whatever the wire
//! does.

use std::time::Duration;

use abi::config::SMALL;
use host::driver::bus::MemoryKind;
use host::driver::device::DeviceConfig;
use host::observed::Observed;
use host::transport::peer::KernelPeer;
use host::transport::{LinkConfig, LinuxTransport, TransportError, Tuning};
use lab::exchange::{Blind, Exchange};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::machine::Machine;
use lab::wire::Disturbance;
use skip::skip_if_refused;

/// The kernel's loss timers, shortened as far as a virtual machine allows.
const TUNING: Tuning =
    Tuning { retransmission_timeout_min: Duration::from_millis(20), ..Tuning::REAL_TIME };

fn exchange(remote: &str, mtu_bytes: u16, bytes: u64, disturbance: Disturbance) {
    let seed = seed::seed_or(11);
    let Some(transport) = skip_if_refused(
        LinuxTransport::open(&LinkConfig::lab(1, mtu_bytes, TUNING)),
        TransportError::is_refusal,
    ) else {
        return;
    };
    let Some(peer) = skip_if_refused(
        KernelPeer::open(&LinkConfig::lab(2, mtu_bytes, TUNING)),
        TransportError::is_refusal,
    ) else {
        return;
    };
    let card = GoldenCard::late(SMALL, seed);
    let bus = GoldenBus::new(card.clone());
    let protocol = (Observed::new(transport), DeviceConfig::with_seed(1));
    let mut machine = Machine::provided(bus, protocol, card, peer, None).expect("the device opens");
    let plan = Exchange { bytes, seed, disturbance, memory: MemoryKind::Application };
    let remote = remote.parse().expect("an address");
    let outcome = machine.exchange(remote, &plan, &mut Blind).expect("it ends");
    println!("{:?}", machine.host.counters());
    for (name, count) in machine.host.device().counters().expect("counters") {
        if count > 0 {
            println!("{name:>20} {count}");
        }
    }
    assert!(outcome.is_exact(), "{outcome:?}");
}

#[test]
fn every_byte_over_ipv4() {
    exchange("10.77.0.2:5001", 1500, 4 << 20, Disturbance::default());
}

#[test]
fn ipv6_jumbo_frames_carry_every_byte() {
    exchange("[fd77::2]:5001", 9000, 4 << 20, Disturbance::default());
}

#[test]
fn every_byte_over_a_bad_wire() {
    let disturbance = Disturbance {
        loss: 0.01,
        reorder: 0.01,
        duplicate: 0.01,
        corrupt: 0.01,
        ..Disturbance::default()
    };
    exchange("10.77.0.2:5001", 1500, 1 << 20, disturbance);
}
