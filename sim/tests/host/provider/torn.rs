//! A machine that lets a write of the card be seen line by line, the second line late: PCIe orders
//! requests, not the lines of one.

use abi::config::{SLOT_BYTES, SMALL};
use abi::{header_entry, registers as r};
use host::driver::bus::{Bus, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::driver::rings::phase_of;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use lab::golden_card::{GoldenBus, GoldenCard};
use lab::hooked_bus::{HookedBus, Hooks, OwnerRings, Place};

use crate::provider::calls::peer_address;
use crate::provider::rig::Rig;

const LINE_BYTES: usize = 64;

type Line = [u8; LINE_BYTES];

/// The header queue of one owner, seen line by line.
struct Queue {
    rings: OwnerRings,
    /// Slots that the host has returned, and that the card has written.
    returned: u32,
    written: u32,
    /// Second lines of free slots as the host left them, by slot.
    left: Vec<Line>,
    /// Second lines that the host does not see yet.
    late: Vec<(Place, Line)>,
    /// Old lines shown in place of new ones.
    torn: usize,
}

impl Queue {
    fn of(owner: u8) -> Self {
        Self {
            rings: OwnerRings::of(owner),
            returned: 0,
            written: 0,
            left: Vec::new(),
            late: Vec::new(),
            torn: 0,
        }
    }

    fn second_line(place: &Place) -> Line {
        let mut line = [0; LINE_BYTES];
        place.0.read(place.1 + LINE_BYTES, &mut line);
        line
    }

    /// The host has returned slots up to an index.
    fn note_returned(&mut self, index: u32) {
        while self.returned != index {
            self.keep(self.returned);
            self.returned = self.returned.wrapping_add(1);
        }
    }

    /// Keeps the second line of a free slot, which is no longer late.
    fn keep(&mut self, index: u32) {
        let slots = 1 << self.rings.header_bits();
        self.left.resize(slots, [0; LINE_BYTES]);
        if let Some(place) = self.rings.header_slot(index) {
            self.left[index as usize % slots] = Self::second_line(&place);
            self.late.retain(|(late, _)| late.1 != place.1);
        }
    }

    /// Puts the old second line back into each slot that the card has written since.
    fn hide(&mut self) {
        let bits = self.rings.header_bits();
        while let Some(place) = self.rings.header_slot(self.written) {
            let word = place.0.load(place.1).to_le_bytes();
            if self.left.is_empty()
                || header_entry::PHASE.get(&word) != phase_of(self.written, bits)
            {
                return;
            }
            let old = self.left[place.1 / SLOT_BYTES];
            let new = Self::second_line(&place);
            self.torn += usize::from(old != new);
            place.0.write(place.1 + LINE_BYTES, &old);
            self.late.push((place, new));
            self.written = self.written.wrapping_add(1);
        }
    }

    /// All that was written is visible.
    fn show(&mut self) {
        for ((memory, offset), line) in self.late.drain(..) {
            memory.write(offset + LINE_BYTES, &line);
        }
    }
}

/// Shows the second line of a slot as the host left it, until the next register read.
struct Torn(Vec<Queue>);

impl Hooks<GoldenBus> for Torn {
    fn read_register(&mut self, bus: &mut GoldenBus, offset: u32) -> Result<u32> {
        // The answer comes behind every write.
        self.0.iter_mut().for_each(Queue::show);
        bus.read_register(offset)
    }

    fn write_register(&mut self, bus: &mut GoldenBus, offset: u32, value: u32) -> Result<()> {
        for queue in &mut self.0 {
            let context = r::CONTEXTS + u32::from(queue.rings.owner()) * r::CONTEXT_STRIDE;
            queue.rings.note_register(offset, value);
            if queue.rings.doorbell(offset) == Some(r::DOORBELL_HEADER) {
                queue.note_returned(value);
            } else if offset == context + r::CONTEXT_ENABLE {
                (0..1 << queue.rings.header_bits()).for_each(|index| queue.keep(index));
            }
        }
        bus.write_register(offset, value)?;
        self.0.iter_mut().for_each(Queue::hide);
        Ok(())
    }

    fn note_control(&mut self, memory: &ControlMemory) {
        let queues = self.0.iter_mut();
        queues.for_each(|queue| queue.rings.note_memory(memory));
    }

    fn advance(&mut self, bus: &mut GoldenBus) -> Result<()> {
        bus.advance()?;
        self.0.iter_mut().for_each(Queue::hide);
        Ok(())
    }
}

#[test]
fn late_second_line_is_read_whole() {
    const BYTES: usize = 64 << 10;
    const SEED: u64 = 11;
    let card = GoldenCard::late(SMALL, seed::seed());
    let bus = HookedBus {
        inner: GoldenBus::new(card.clone()),
        hooks: Torn((0..4).map(Queue::of).collect()),
    };
    let mut rig = Rig::new(bus, card);
    let script = Script { send_bytes: BYTES as u64, seed: SEED, receive_bytes_max: None };
    rig.machine.peer.listen(peer_address(5001), script).unwrap();
    let first = ApplicationId::FIRST;
    let id = rig.machine.host.connect(first, peer_address(5001)).unwrap();
    let region = rig.machine.host.register(first, MemoryKind::Application, BYTES).unwrap();
    let memory = rig.machine.host.map(region).unwrap();
    rig.machine.host.recv(id, region.span(0, BYTES as u32), 1).unwrap();
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    let (mut bytes, mut expected) = (vec![0; BYTES], vec![0; BYTES]);
    memory.read(0, &mut bytes);
    RandomBytes::new(SEED).fill(&mut expected);
    assert!(bytes == expected, "other bytes");
    let queues = &rig.machine.host.device().bus().hooks.0;
    let torn: usize = queues.iter().map(|queue| queue.torn).sum();
    seed::enough("late lines", torn as u64, 4);
}
