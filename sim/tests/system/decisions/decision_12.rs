//! Epochs: after a reset, a function reset, the loss of bus mastering or of the link nothing is
//! valid.

use abi::registers as r;
use host::driver::bus::{Bus, MemoryKind};
use host::records::commands::Direction;
use pcie_sim::PcieConfig;
use sim::direct::{Direct, Flow, GUARD};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

/// What begins an epoch.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Register,
    FunctionReset,
    BusMaster,
    LinkDown,
}

fn register(direct: &mut Direct, offset: u32) -> u32 {
    direct.machine.host.device.bus().read_register(offset).expect("it answers")
}

fn write(direct: &mut Direct, offset: u32, value: u32) {
    direct.machine.host.device.bus().write_register(offset, value).expect("a register");
}

fn begin(direct: &mut Direct, cause: Cause) {
    match cause {
        Cause::Register => write(direct, r::CONTROL, r::CONTROL_RESET),
        Cause::FunctionReset => direct.machine.card.borrow_mut().pcie.start_function_reset(),
        Cause::BusMaster => direct.machine.card.borrow_mut().pcie.set_bus_master(false),
        Cause::LinkDown => direct.machine.card.borrow_mut().pcie.link_down(),
    }
    direct.machine.card.borrow_mut().run(2_000);
    let card = &mut direct.machine.card.borrow_mut();
    if !card.pcie.is_link_up() {
        card.pcie.link_up();
        card.run(2_000);
    }
    card.pcie.enable_device();
    card.run(2_000);
}

/// Starts receiving again with the rings of before, and nothing else.
fn start(direct: &mut Direct) {
    write(direct, r::CONTEXTS + r::CONTEXT_ENABLE, 1);
    write(direct, r::CONTROL, r::CONTROL_RX | r::CONTROL_TX);
    direct.machine.card.borrow_mut().run(2_000);
}

fn check(rig: &mut Rig, cause: Cause) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let flow = Flow::new(0, 77);
    let region = direct.region(MemoryKind::Application, 4096, 0);
    direct.install(&flow);
    let segment = flow.segment(Direction::Receive, (0, 0, 4096), (&region, 0));
    direct.done([segment]);
    let before = register(direct, r::EPOCH);
    begin(direct, cause);
    let after = register(direct, r::EPOCH);
    ensure!(after != before && after != 0, "{cause:?}: epoch {before}, then {after}");
    let control = register(direct, r::CONTROL);
    ensure!(control & 3 == 0, "{cause:?}: a direction still runs, {control:#x}");
    direct.receive(flow.packet(0, &pattern(1, 500)).frame(0), false);
    direct.machine.card.borrow_mut().run(2_000);
    start(direct);
    direct.receive(flow.packet(0, &pattern(1, 500)).frame(0), false);
    direct.machine.card.borrow_mut().run(8_000);
    let counters = direct.counters();
    let found = ["stopped", "no_flow"].map(|name| counters[name]);
    ensure!(found == [1, 1], "{cause:?}: {found:?} stopped and no_flow");
    let memory = direct.memory(&region.memory);
    ensure!(
        memory.iter().all(|byte| *byte == GUARD),
        "{cause:?}: an entry of an old epoch is valid"
    );
    direct.conclude();
    Ok(())
}

#[test]
fn decision_12_nothing_survives_its_epoch() {
    for cause in [Cause::Register, Cause::FunctionReset, Cause::BusMaster, Cause::LinkDown] {
        let check = |rig: &mut Rig| check(rig, cause);
        proves(Fault::EpochStuck, &PcieConfig::default(), check);
    }
}
