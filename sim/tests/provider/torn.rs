//! A machine that lets a write of the card be seen line by line, the second line late: PCIe orders
//! requests, not the lines of one.

use std::collections::HashMap;
use std::time::Duration;

use abi::config::{SLOT_BYTES, SMALL};
use abi::registers::PUSH_BYTES;
use host::driver::bus::{Bus, DmaFault, DmaMemory, MemoryKind, Result};
use host::memory::MemoryRange;
use host::provider::{ApplicationId, Completion};
use host::transport::peer::{RandomBytes, Script, WirePeer};
use sim::golden_card::{GoldenBus, GoldenCard};

use crate::calls::peer_address;
use crate::rig::Rig;

const LINE_BYTES: usize = 64;

/// Shows the second line of a slot as it was at the last register read, or as the host left it.
struct Torn {
    bus: GoldenBus,
    /// Slots of which a new first line was seen since the last register read, with the old second.
    old: HashMap<u64, [u8; LINE_BYTES]>,
    /// Second lines as they were seen last.
    seen: HashMap<u64, [u8; LINE_BYTES]>,
    /// Old lines shown in place of new ones.
    torn: usize,
}

impl Bus for Torn {
    fn read_memory(&mut self, address: u64, into: &mut [u8]) -> Result<()> {
        self.bus.read_memory(address, into)?;
        if into.len() != SLOT_BYTES {
            return Ok(());
        }
        let mut second = [0; LINE_BYTES];
        second.copy_from_slice(&into[LINE_BYTES..]);
        let seen = self.seen.get(&address).copied();
        let old = *self.old.entry(address).or_insert(seen.unwrap_or(second));
        self.torn += usize::from(old != second);
        into[LINE_BYTES..].copy_from_slice(&old);
        Ok(())
    }

    fn write_memory(&mut self, address: u64, from: &[u8]) -> Result<()> {
        self.bus.write_memory(address, from)?;
        let slot = address & !(SLOT_BYTES as u64 - 1);
        if address - slot == LINE_BYTES as u64 {
            let mut second = [0; LINE_BYTES];
            self.bus.read_memory(address, &mut second)?;
            self.seen.insert(slot, second);
            self.old.remove(&slot);
        }
        Ok(())
    }

    fn read_register(&mut self, offset: u32) -> Result<u32> {
        // The answer comes behind every write.
        self.old.clear();
        for (slot, second) in &mut self.seen {
            self.bus.read_memory(slot + LINE_BYTES as u64, second)?;
        }
        self.bus.read_register(offset)
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<()> {
        self.bus.write_register(offset, value)
    }

    fn write_line(&mut self, offset: u32, line: &[u8; PUSH_BYTES]) -> Result<()> {
        self.bus.write_line(offset, line)
    }

    fn allocate(&mut self, kind: MemoryKind, bytes: usize, align: usize) -> Result<DmaMemory> {
        self.bus.allocate(kind, bytes, align)
    }

    fn map(&mut self, range: &MemoryRange) -> Result<DmaMemory> {
        self.bus.map(range)
    }

    fn release(&mut self, memory: DmaMemory) -> Result<()> {
        self.bus.release(memory)
    }

    fn share(&self, memory: &DmaMemory) -> Result<MemoryRange> {
        self.bus.share(memory)
    }

    fn flush_address(&self, kind: MemoryKind) -> Option<u64> {
        self.bus.flush_address(kind)
    }

    fn take_faults(&mut self) -> Vec<DmaFault> {
        self.bus.take_faults()
    }

    fn advance(&mut self) -> Result<()> {
        self.bus.advance()
    }

    fn enable_interrupt(&mut self, vector: u16) -> Result<()> {
        self.bus.enable_interrupt(vector)
    }

    fn wait_interrupt(&mut self, limit: Duration) -> Result<Option<u16>> {
        self.bus.wait_interrupt(limit)
    }
}

#[test]
fn a_header_whose_second_line_comes_late_is_read_whole() {
    const BYTES: usize = 64 << 10;
    const SEED: u64 = 11;
    let card = GoldenCard::new(SMALL);
    let bus = Torn {
        bus: GoldenBus::new(card.clone()),
        old: HashMap::new(),
        seen: HashMap::new(),
        torn: 0,
    };
    let mut rig = Rig::new(bus, card);
    let script = Script {
        send_bytes: BYTES as u64,
        seed: SEED,
        receive_bytes_max: None,
    };
    rig.peer.listen(peer_address(5001), script).unwrap();
    let first = ApplicationId::FIRST;
    let id = rig.provider.connect(first, peer_address(5001)).unwrap();
    let region = rig.provider.register(first, MemoryKind::Application, BYTES);
    let region = region.unwrap();
    let memory = rig.provider.map(region).unwrap();
    rig.provider
        .recv(id, region, 0, BYTES as u32, false, 1)
        .unwrap();
    rig.completion(|c| matches!(c, Completion::Received { request: 1, .. }));
    let (mut bytes, mut expected) = (vec![0; BYTES], vec![0; BYTES]);
    memory.read(0, &mut bytes);
    RandomBytes::new(SEED).fill(&mut expected);
    assert!(bytes == expected, "other bytes");
    let torn = rig.provider.device().bus().torn;
    assert!(torn > 4, "{torn} late lines");
}
