//! A bus between the host and its card that knows what passes, and may not do what it is asked to.

use std::cell::RefCell;
use std::rc::Rc;

use abi::command as c;
use abi::config::{COMMAND_BYTES, METADATA_BYTES, SLOT_BYTES};
use abi::registers;
use abi::send_descriptor as d;
use host::driver::bus::{Bus, DmaFault, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::memory::MemoryRange;
use lab::hooked_bus::{HookedBus, Hooks, OwnerRings};

/// How the bus breaks a rule of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Not at all.
    Nothing,
    /// 10: as if the control stack let the transport's window pass.
    WindowRaised,
    /// 13: as if the control stack did not look into the fault log.
    FaultsUnheard,
}

/// What passed.
#[derive(Debug, Default)]
pub struct Seen {
    /// Position behind the last receive segment.
    pub posted_end: Option<u32>,
    /// Memory of the application.
    pub application: Vec<DmaMemory>,
    /// Refused writes that the host was, or should have been, told of.
    pub faults: usize,
}

/// A bus with [`Watching`].
pub type Wrapped<B> = HookedBus<B, Watching>;

/// Owners whose rings are watched.
const OWNERS: u8 = 4;

/// Notes what passes, and does what is wrong.
pub struct Watching {
    wrong: Wrong,
    seen: Rc<RefCell<Seen>>,
    /// Rings of each owner, with the commands and send slots announced so far.
    owners: Vec<(OwnerRings, u32, u32)>,
}

impl Watching {
    /// On a bus.
    pub fn on<B: Bus>(inner: B, wrong: Wrong, seen: Rc<RefCell<Seen>>) -> Wrapped<B> {
        let owners = (0..OWNERS).map(|owner| (OwnerRings::of(owner), 0, 0));
        let hooks = Self { wrong, seen, owners: owners.collect() };
        HookedBus { inner, hooks }
    }

    /// Looks at the commands and descriptors that a doorbell announces.
    fn note_doorbell(&mut self, offset: u32, value: u32) {
        for (rings, commands, slots) in &mut self.owners {
            match rings.doorbell(offset) {
                Some(registers::DOORBELL_COMMAND) => {
                    while *commands != value {
                        if let Some((memory, at)) = rings.command(*commands) {
                            let mut entry = [0; COMMAND_BYTES];
                            memory.read(at, &mut entry);
                            note_command(&mut self.seen.borrow_mut(), &entry);
                        }
                        *commands = commands.wrapping_add(1);
                    }
                }
                Some(registers::DOORBELL_SEND) => {
                    while *slots != value && self.wrong == Wrong::WindowRaised {
                        if let Some((memory, at)) = rings.send_slot(*slots) {
                            let mut slot = [0; SLOT_BYTES];
                            memory.read(at, &mut slot);
                            memory.write(at, &raise_window(&slot));
                        }
                        *slots = slots.wrapping_add(1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Notes a segment that a command appends to a receive list.
fn note_command(seen: &mut Seen, entry: &[u8]) {
    let opcode = c::OPCODE.get(entry) as u8;
    let (direction, position, bytes) = match opcode {
        c::SEGMENT_POST => (c::DIRECTION, c::SEGMENT_POSITION, c::SEGMENT_BYTES),
        c::FLOW_ADVANCE if c::APPENDS.get(entry) == 1 => {
            (c::APPEND_DIRECTION, c::APPEND_POSITION, c::APPEND_BYTES)
        }
        _ => return,
    };
    if direction.get(entry) == 0 {
        let position = position.get(entry) as u32;
        seen.posted_end = Some(position.wrapping_add(bytes.get(entry) as u32));
    }
}

/// A descriptor that offers the largest window.
fn raise_window(slot: &[u8]) -> Vec<u8> {
    let mut slot = slot.to_vec();
    let l4 = d::L4_OFFSET.get(&slot) as usize;
    let has_tcp = d::L4_CHECKSUM.get(&slot) == 1 && d::UDP.get(&slot) == 0;
    if has_tcp && METADATA_BYTES + l4 + 16 <= slot.len() {
        let window = METADATA_BYTES + l4 + 14;
        slot[window..window + 2].fill(0xff);
    }
    slot
}

impl<B: Bus> Hooks<B> for Watching {
    fn write_register(&mut self, bus: &mut B, offset: u32, value: u32) -> Result<()> {
        for (rings, ..) in &mut self.owners {
            rings.note_register(offset, value);
        }
        self.note_doorbell(offset, value);
        bus.write_register(offset, value)
    }

    /// What is raised in the ring must not stand in a pushed copy too.
    fn writes_lines(&self, bus: &B) -> bool {
        bus.writes_lines() && self.wrong != Wrong::WindowRaised
    }

    fn note_control(&mut self, memory: &ControlMemory) {
        for (rings, ..) in &mut self.owners {
            rings.note_memory(memory);
        }
    }

    fn allocate(
        &mut self,
        bus: &mut B,
        kind: MemoryKind,
        bytes: usize,
        align: usize,
    ) -> Result<DmaMemory> {
        let memory = bus.allocate(kind, bytes, align)?;
        self.seen.borrow_mut().application.push(memory);
        Ok(memory)
    }

    fn map(&mut self, bus: &mut B, range: &MemoryRange) -> Result<DmaMemory> {
        let memory = bus.map(range)?;
        self.seen.borrow_mut().application.push(memory);
        Ok(memory)
    }

    fn take_faults(&mut self, bus: &mut B) -> Vec<DmaFault> {
        let faults = bus.take_faults();
        self.seen.borrow_mut().faults += faults.len();
        match self.wrong {
            Wrong::FaultsUnheard => Vec::new(),
            _ => faults,
        }
    }
}
