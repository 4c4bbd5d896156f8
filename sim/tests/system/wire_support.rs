//! The whole card at a wire that fails: resets of the MAC, lost links, clocks that stand, resets
//! of the function meanwhile.
//!
//! ```text
//!   Direct ══ card ══ WireState, MAC clock ══ wire
//! ```
//! Each scenario ends with frames that go both ways, and with no frame glued, stale or lost without
//! a count. The card is that of who calls: alone, or in a board's top.

use abi::reason::{DropReason, SendError};
use abi::{header_entry as h, registers as r};
use host::driver::bus::Bus;
use host::driver::device::DeviceConfig;
use host::driver::wire::{WireSettings, WireState as Seen};
use host::records::descriptor::raw;
use lab::machine::{Driver, Machine};
use pcie_sim::{MemoryId, PcieConfig};
use sim::card::SimulatedCard;
use sim::direct::Direct;
use sim::harness::mac_pins::WireState;

/// Makes a card for this machine.
pub type Cards<'a> = &'a dyn Fn(PcieConfig) -> SimulatedCard;

/// A machine without a GPU: a closed driver leaves nothing mapped.
fn config() -> PcieConfig {
    PcieConfig { gpus: Vec::new(), ..PcieConfig::default() }
}

fn open(cards: Cards<'_>) -> Direct {
    let config = config();
    Direct::open(cards(config.clone()), &config, DeviceConfig::with_seed(1))
}

fn reopen(direct: Direct) -> Direct {
    let Machine { host: Driver { device, .. }, card, .. } = direct.machine;
    device.close().expect("it closes");
    card.borrow_mut().mac.sent.clear();
    let card = std::rc::Rc::try_unwrap(card).ok().expect("one owner of the card");
    let mut card = card.into_inner();
    // The memory of a driver that starts is empty.
    let empty = vec![0; 4 << 20];
    card.pcie.write_memory(MemoryId::Dram, 0, &empty).expect("memory");
    Direct::open(card, &config(), DeviceConfig::with_seed(2))
}

fn frame(id: u8, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at as u8).wrapping_mul(3) ^ id).collect()
}

fn set_wire(direct: &Direct, state: WireState) {
    direct.machine.card.borrow_mut().wire = state;
}

fn send(direct: &mut Direct, frame: &[u8]) {
    direct.machine.host.device.send(raw(frame));
    direct.machine.host.device.poll().expect("it polls");
}

/// Frames both ways, and nothing else.
fn goes_on(direct: &mut Direct) {
    direct.run(2_000);
    direct.entries();
    direct.sent();
    send(direct, &frame(0x77, 200));
    direct.receive(frame(0x55, 300), false);
    direct.run(4_000);
    assert_eq!(direct.sent(), [frame(0x77, 200)]);
    let entries = direct.entries();
    assert_eq!(entries.len(), 1, "one packet arrives");
    assert_eq!(h::FRAME_BYTES.get(&entries[0].metadata), 300);
    direct.conclude();
}

/// A frame that a reset of the MAC cuts off, at each of 40 moments.
pub fn cut_off(cards: Cards<'_>) {
    let mut direct = open(cards);
    for wait in 0..40 {
        let before = direct.dropped(DropReason::MacReset);
        direct.receive(frame(1, 3000), false);
        direct.machine.card.borrow_mut().run(20 + wait);
        set_wire(&direct, WireState { rx_reset: true, ..WireState::UP });
        direct.machine.card.borrow_mut().run(8);
        set_wire(&direct, WireState::UP);
        direct.receive(frame(2, 100), false);
        direct.run(2_000);
        let entries = direct.entries();
        let lengths: Vec<u64> = entries
            .iter()
            .filter(|entry| h::KIND.get(&entry.metadata) == u64::from(h::KIND_PACKET))
            .map(|entry| h::FRAME_BYTES.get(&entry.metadata))
            .collect();
        let cut = direct.dropped(DropReason::MacReset) - before;
        match cut {
            0 => assert_eq!(lengths, [3000, 100], "after {wait} cycles"),
            _ => assert_eq!(lengths, [100], "after {wait} cycles"),
        }
    }
    assert!(direct.dropped(DropReason::MacReset) > 10);
    goes_on(&mut direct);
}

/// The wire goes down: no cable, a fault, no alignment, no clock.
pub fn goes_down(cards: Cards<'_>) {
    let mut direct = open(cards);
    assert!(direct.machine.host.device.wire().expect("a register").is_up);
    for kind in 0..4 {
        direct.entries();
        let down = match kind {
            0 => WireState::DOWN,
            1 => WireState { remote_fault: true, ..WireState::UP },
            2 => WireState { aligned: false, ..WireState::UP },
            _ => WireState::UP,
        };
        set_wire(&direct, down);
        direct.machine.card.borrow_mut().set_mac_clock(kind != 3);
        // 1 ms is 250,000 cycles; it takes one microsecond.
        direct.run(400);
        let seen = direct.machine.host.device.wire().expect("a register");
        assert!(!seen.is_up, "kind {kind}: {seen:?}");
        assert_eq!(seen.clock_runs, kind != 3);
        if kind != 3 {
            let faults = (seen.is_aligned, seen.local_fault, seen.remote_fault);
            assert_eq!(faults, (down.aligned, down.local_fault, down.remote_fault));
        }
        direct.run(400);
        let told = direct.entries();
        assert_eq!(told.len(), 1, "kind {kind}: one event");
        let metadata = &told[0].metadata;
        assert_eq!(h::KIND.get(metadata), u64::from(h::KIND_EVENT));
        assert_eq!(h::FLOW.get(metadata), u64::from(h::FLOW_NONE));
        assert_eq!(h::DISPOSITION.get(metadata), SendError::LinkDown as u64);
        assert_eq!(Seen::of_event(h::EVENT_VALUE.get(metadata) as u32), seen);

        // Sends are dropped and counted, or fail.
        let before = direct.counters();
        for id in 0..5 {
            send(&mut direct, &frame(id, 220));
        }
        direct.run(2_000);
        let settings = WireSettings { sends_fail: true, ..Default::default() };
        direct.machine.host.device.set_wire(&settings).expect("registers");
        for id in 0..3 {
            send(&mut direct, &frame(id, 220));
        }
        direct.run(2_000);
        let after = direct.counters();
        let moved = |name: &str| after[name] - before[name];
        assert_eq!(moved("tx_frames_unsent"), 5);
        assert_eq!(moved(SendError::LinkDown.name()), 3);
        assert_eq!(moved("tx_frames"), 0);
        let events = direct.entries();
        assert_eq!(events.len(), 3, "each failed send has its event");
        direct.machine.host.device.set_wire(&WireSettings::default()).expect("registers");

        set_wire(&direct, WireState::UP);
        direct.machine.card.borrow_mut().set_mac_clock(true);
        direct.run(1_000);
        let told = direct.entries();
        assert_eq!(told.len(), 1, "kind {kind}: up again");
        let value = h::EVENT_VALUE.get(&told[0].metadata) as u32;
        assert!(Seen::of_event(value).is_up);
        goes_on(&mut direct);
    }
    assert_eq!(direct.counters()["link_losses"], 4);
}

/// What begins an epoch while the MAC's clock stands or its sender is blocked.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    Command,
    FunctionReset,
    LinkDown,
    HotReset,
    D3hot,
    /// The slot's reset, at the pad of a top.
    #[allow(dead_code)]
    Perst,
}

/// What a card sees at its own ports.
pub const CAUSES: [Cause; 5] =
    [Cause::Command, Cause::FunctionReset, Cause::LinkDown, Cause::HotReset, Cause::D3hot];

fn pin(direct: &Direct, name: &str, value: u64) {
    let mut card = direct.machine.card.borrow_mut();
    let port = card.model.port(name);
    card.model.set(port, value);
}

fn run(direct: &Direct, cycles: u64) {
    direct.machine.card.borrow_mut().run(cycles);
}

/// Begins an epoch; the driver does not know.
fn begin(direct: &mut Direct, cause: Cause) {
    let epoch = |direct: &mut Direct| {
        let value = direct.machine.host.device.bus().read_register(r::EPOCH);
        value.expect("a register")
    };
    let before = epoch(direct);
    cause_epoch(direct, cause);
    assert_ne!(epoch(direct), before, "{cause:?} begins no epoch");
}

fn cause_epoch(direct: &mut Direct, cause: Cause) {
    direct.machine.card.borrow_mut().mac.allow_cuts();
    match cause {
        Cause::Command => {
            let bus = direct.machine.host.device.bus();
            bus.write_register(r::CONTROL, r::CONTROL_RESET).expect("a register");
            run(direct, 200);
        }
        Cause::FunctionReset => {
            direct.machine.card.borrow_mut().pcie.start_function_reset();
            run(direct, 400);
            let running = direct.machine.card.borrow().pcie.function_reset_running();
            assert!(!running, "a function reset waits for the MAC");
            direct.machine.card.borrow_mut().pcie.enable_device();
        }
        Cause::LinkDown => {
            direct.machine.card.borrow_mut().pcie.link_down();
            run(direct, 400);
            direct.machine.card.borrow_mut().pcie.link_up();
            run(direct, 4_000);
            direct.machine.card.borrow_mut().pcie.enable_device();
        }
        Cause::Perst => {
            // The pad alone: nobody but the top can make a reset of it.
            pin(direct, "perst", 1);
            run(direct, 400);
            pin(direct, "perst", 0);
            run(direct, 400);
        }
        Cause::HotReset => {
            pin(direct, "cfg_hot_reset_out", 1);
            run(direct, 50);
            pin(direct, "cfg_hot_reset_out", 0);
            run(direct, 100);
        }
        Cause::D3hot => {
            pin(direct, "cfg_function_power_state", 4);
            run(direct, 100);
            let before = direct.machine.card.borrow().pcie.statistics().upstream.tlps;
            run(direct, 2_000);
            let after = direct.machine.card.borrow().pcie.statistics().upstream.tlps;
            assert_eq!(after, before, "the card is not silent in D3hot");
            pin(direct, "cfg_function_power_state", 1);
            run(direct, 100);
        }
    }
}

/// Each cause of an epoch, with a blocked MAC and with one whose clock stands.
pub fn old_frames(cards: Cards<'_>, causes: &[Cause]) {
    for &cause in causes {
        for stopped in [false, true] {
            let mut direct = open(cards);
            direct.machine.card.borrow_mut().mac.block_send(true);
            for id in 0..40 {
                send(&mut direct, &frame(id, 220));
            }
            direct.run(1_000);
            direct.machine.card.borrow_mut().set_mac_clock(!stopped);
            direct.machine.card.borrow_mut().run(100);
            direct.sent();
            begin(&mut direct, cause);
            // The driver notices, and starts again.
            direct.machine.card.borrow_mut().set_mac_clock(true);
            let mut direct = reopen(direct);
            direct.machine.card.borrow_mut().mac.block_send(false);
            direct.run(4_000);
            let sent = direct.sent();
            assert!(sent.is_empty(), "{cause:?}: {} old frames left", sent.len());
            goes_on(&mut direct);
        }
    }
}

/// A frame that stands still for any number of epochs.
pub fn stands_still(cards: Cards<'_>) {
    for epochs in [1, 2, 14, 15, 16, 17, 31] {
        let mut direct = open(cards);
        direct.receive(frame(1, 6000), false);
        run(&direct, 50);
        direct.machine.card.borrow_mut().set_mac_clock(false);
        for _ in 0..epochs {
            begin(&mut direct, Cause::Command);
        }
        let mut direct = reopen(direct);
        direct.machine.card.borrow_mut().set_mac_clock(true);
        direct.run(2_000);
        let packets = direct
            .entries()
            .into_iter()
            .filter(|entry| h::KIND.get(&entry.metadata) == u64::from(h::KIND_PACKET));
        assert_eq!(packets.count(), 0, "after {epochs} epochs");
        assert_eq!(direct.dropped(DropReason::Stopped), 1);
        goes_on(&mut direct);
    }
}
