//! Commands, not pokes: every owner has its own rings and doorbells, and changes what is its own.

use abi::command as c;
use abi::config::COMMAND_BYTES;
use abi::reason::{CommandStatus, Disposition};
use abi::registers as r;
use host::driver::bus::{Bus, MemoryKind};
use host::driver::rings::{Completion, CompletionRing, PostRing, COMMAND_WORDS};
use host::records::commands::{self as cmd, Direction, Entry};
use pcie_sim::PcieConfig;
use sim::direct::{disposition, Direct, Flow};
use sim::faults::Fault;

use crate::decisions::rig::{pattern, proves, Found, Rig};

const RING_BITS: u32 = 4;
const OWNER: u32 = 1;

/// The rings of a second owner.
struct Rings {
    commands: PostRing<COMMAND_WORDS>,
    completions: CompletionRing,
}

impl Rings {
    fn open(direct: &mut Direct) -> Rings {
        let context = r::CONTEXTS + OWNER * r::CONTEXT_STRIDE;
        let bus = direct.machine.host.device.bus();
        let mut ring = |register: u32, bytes: usize| {
            let align = bytes.max(4096).next_power_of_two();
            let memory = bus.allocate_control(bytes.max(4096), align);
            let memory = memory.expect("memory");
            for (word, half) in [memory.address(), memory.address() >> 32].into_iter().enumerate() {
                let at = context + register + 4 * word as u32;
                bus.write_register(at, half as u32).expect("a register");
            }
            memory
        };
        let commands = ring(r::CONTEXT_COMMAND_BASE, COMMAND_BYTES << RING_BITS);
        let completions = ring(r::CONTEXT_COMPLETION_BASE, 4096);
        ring(r::CONTEXT_SEND_BASE, 4096);
        ring(r::CONTEXT_SEND_STATUS, 4096);
        ring(r::CONTEXT_HEADER_BASE, 4096);
        ring(r::CONTEXT_SLOW_BASE, 16_384 << RING_BITS);
        let sizes = RING_BITS * 0x0101_0101;
        for (register, value) in [(r::CONTEXT_SIZES, sizes), (r::CONTEXT_ENABLE, 1)] {
            bus.write_register(context + register, value).expect("a register");
        }
        Rings {
            commands: PostRing::new(commands, RING_BITS),
            completions: CompletionRing::new(completions, RING_BITS),
        }
    }

    /// Posts commands with one doorbell; the completions that come.
    fn run(&mut self, direct: &mut Direct, entries: &[Entry]) -> Vec<Completion> {
        for entry in entries {
            self.commands.post(&[], entry);
        }
        let doorbell = r::DOORBELLS + OWNER * r::DOORBELL_STRIDE + r::DOORBELL_COMMAND;
        let produced = self.commands.announce().expect("a command");
        let bus = direct.machine.host.device.bus();
        bus.write_register(doorbell, produced).expect("a register");
        direct.rest();
        std::iter::from_fn(|| self.completions.poll()).collect()
    }
}

fn check(rig: &mut Rig) -> Found {
    rig.arm();
    let direct = &mut rig.direct;
    let (first, mut second) = (Flow::new(0, 9), Flow::new(1, 9));
    second.name.generation = 4;
    let region = direct.region(MemoryKind::Application, 4096, 0);
    direct.install(&first);
    let mut entry = second.install();
    c::OWNER.set(&mut entry, OWNER.into());
    direct.done([entry, first.segment(Direction::Receive, (0, 0, 4096), (&region, 0))]);
    let mut rings = Rings::open(direct);
    let refused = [
        first.floor(100, 0),
        first.segment(Direction::Receive, (1, 4096, 10), (&region, 0)),
        cmd::flow_remove(first.name),
        cmd::region_remove(region.index, region.key),
        cmd::page_set(0, 0),
        second.install(),
    ];
    for (number, entry) in refused.iter().enumerate() {
        let completions = rings.run(direct, std::slice::from_ref(entry));
        let index = number as u32;
        let status = Some(CommandStatus::NotOwner);
        ensure!(
            completions == [Completion { index, status }],
            "opcode {}: {completions:?}",
            entry[0]
        );
    }
    // Its own flow is its own; several commands, one doorbell, the last index confirms them all.
    let own = [second.floor(10, 0), second.floor(20, 0), second.floor(30, 0)];
    let completions = rings.run(direct, &own);
    let all_ok = completions.iter().all(|c| c.status == Some(CommandStatus::Ok));
    let last = completions.last().map(|completion| completion.index);
    let expected = refused.len() as u32 + 2;
    ensure!(all_ok && last == Some(expected), "{completions:?}");
    // Nothing of the other owner's changed.
    direct.receive(first.packet(0, &pattern(1, 200)).frame(0), false);
    direct.rest();
    let entries = direct.entries();
    let ends: Vec<_> = entries.iter().map(disposition).collect();
    ensure!(ends == [Disposition::PlacedInOrder], "{ends:?}");
    direct.conclude();
    Ok(())
}

#[test]
fn decision_11_owner_commands_only_its_own() {
    proves(Fault::OwnerIgnored, &PcieConfig::default(), check);
}
