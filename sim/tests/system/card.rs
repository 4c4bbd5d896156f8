//! The whole card: driver, simulated PCIe, Verilated RTL, wire and a Linux peer.
//!
//! ```text
//!   application ─ Provider ─ SimulatedBus ─ pcie_sim ══ card (Verilator) ── wire ── peer
//!                    └ Linux TCP on headers only
//! ```
//! Proven: registers answer, commands are confirmed, and every byte of a TCP connection arrives
//! both ways, with no rule of a link broken and every frame accounted for.

use std::cell::RefCell;
use std::rc::Rc;

use abi::reason::{Disposition, DropReason};
use abi::registers;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::device::{Device, DeviceConfig};
use host::observed::Observed;
use host::transport::peer::KernelPeer;
use host::transport::{LinkConfig, LinuxTransport, TransportError, Tuning};
use lab::exchange::{Blind, Exchange};
use lab::machine::Machine;
use lab::wire::Disturbance;
use pcie_sim::PcieConfig;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use sim::harness::bench::options_from_environment;
use skip::skip_if_refused;

fn card() -> Rc<RefCell<SimulatedCard>> {
    let options = options_from_environment();
    let card = SimulatedCard::new("small", PcieConfig::default(), options).expect("it builds");
    Rc::new(RefCell::new(card))
}

fn assert_clean(card: &Rc<RefCell<SimulatedCard>>) {
    let violations = card.borrow().violations();
    assert!(violations.is_empty(), "{} violations: {:#?}", violations.len(), &violations[..1]);
}

#[test]
fn registers_answer_and_commands_are_confirmed() {
    let card = card();
    let mut bus = SimulatedBus::new(card.clone(), &PcieConfig::default()).expect("a bus");
    assert_eq!(bus.read_register(registers::ID).expect("an answer"), registers::ID_VALUE);
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    // An open card carries the first command out at once: its tables are written.
    let ticket = device.command([0; 64]);
    for _ in 0..5 {
        device.poll().expect("it polls");
        device.bus().advance().expect("time passes");
    }
    device.poll().expect("it polls");
    assert!(device.is_confirmed(ticket), "a nop is not confirmed within 5 us");
    assert_eq!(device.take_refused(), None);
    assert_clean(&card);
}

#[test]
fn raw_frame_leaves_as_given() {
    let card = card();
    let bus = SimulatedBus::new(card.clone(), &PcieConfig::default()).expect("a bus");
    let mut device = Device::open(bus, DeviceConfig::with_seed(1)).expect("it opens");
    if let Some(folder) = std::env::var_os("ZERONIC_WAVES") {
        let path = std::path::Path::new(&folder).join("raw_frame.fst");
        card.borrow_mut().model.open_wave(&path).expect("a waveform");
    }
    let frames: Vec<Vec<u8>> = (14..=224u8).step_by(7).map(|bytes| (0..bytes).collect()).collect();
    for frame in &frames {
        device.send(host::records::descriptor::raw(frame));
    }
    for _ in 0..60 {
        device.poll().expect("it polls");
        device.bus().advance().expect("time passes");
    }
    card.borrow_mut().model.close_wave().expect("a waveform");
    let sent: Vec<Vec<u8>> = card.borrow_mut().mac.sent.drain(..).map(|f| f.bytes).collect();
    assert_clean(&card);
    assert_eq!(sent.len(), frames.len());
    for (sent, frame) in sent.iter().zip(frames) {
        let mut padded = frame;
        padded.resize(padded.len().max(60), 0);
        assert_eq!(*sent, padded);
    }
}

fn exchange(remote: &str, bytes: u64, disturbance: Disturbance, memory: MemoryKind) {
    let seed = seed::seed();
    let Some(transport) = skip_if_refused(
        LinuxTransport::open(&LinkConfig::lab(1, 1500, Tuning::SIMULATION)),
        TransportError::is_refusal,
    ) else {
        return;
    };
    let Some(peer) = skip_if_refused(
        KernelPeer::open(&LinkConfig::lab(2, 1500, Tuning::SIMULATION)),
        TransportError::is_refusal,
    ) else {
        return;
    };
    let card = card();
    let bus = SimulatedBus::new(card.clone(), &PcieConfig::default()).expect("a bus");
    let protocol = (Observed::new(transport), DeviceConfig::with_seed(1));
    let machine = Machine::provided(bus, protocol, card.clone(), peer, None);
    let mut machine = machine.expect("the device opens");
    let plan = Exchange { bytes, seed, disturbance, memory };
    let outcome = machine.exchange(remote.parse().expect("an address"), &plan, &mut Blind);
    card.borrow_mut().run(2_000);
    let counters = machine.host.device().counters().expect("counters");
    for (name, count) in counters.iter().filter(|(_, count)| *count > 0) {
        println!("{name:>20} {count}");
    }
    println!("{:?}, {} cycles", machine.host.counters(), card.borrow().cycles());
    let total = |names: &[&str]| -> u64 {
        let counted = counters.iter().filter(|(name, _)| names.contains(name));
        counted.map(|(_, count)| count).sum()
    };
    let ends: Vec<&str> = Disposition::ALL.iter().map(|d| d.name()).collect();
    let drops: Vec<&str> = DropReason::ALL.iter().map(|d| d.name()).collect();
    let frames_in = card.borrow().mac.received_count().frames;
    assert_eq!(frames_in, total(&ends) + total(&drops), "frames are not conserved");
    assert_clean(&card);
    let outcome = outcome.expect("it ends");
    assert!(outcome.is_exact(), "{outcome:?}");
}

#[test]
fn every_linux_connection_byte_arrives() {
    exchange("10.77.0.2:5001", 256 << 10, Disturbance::default(), MemoryKind::Application);
}

#[test]
fn every_byte_survives_a_hostile_wire() {
    let disturbance = Disturbance {
        loss: 0.01,
        reorder: 0.01,
        duplicate: 0.01,
        corrupt: 0.005,
        corrupt_unseen: 0.005,
        delay_ps: 0,
    };
    exchange("10.77.0.2:5001", 256 << 10, disturbance, MemoryKind::Application);
}

#[test]
fn every_byte_arrives_over_ipv6() {
    exchange("[fd77::2]:5001", 128 << 10, Disturbance::default(), MemoryKind::Application);
}

#[test]
fn every_byte_arrives_in_gpu_memory() {
    exchange("10.77.0.2:5001", 128 << 10, Disturbance::default(), MemoryKind::Gpu);
}
