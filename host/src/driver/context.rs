//! The context of an owner: where its rings are, and whether the card uses them.
//!
//! ```text
//!   allocate ─► write_context ─► enable ─► rings in use ─► disable ─► fence ─► enable, or released
//! ```

use abi::config::{COMMAND_BYTES, COMPLETION_BYTES, SLOT_BYTES, SLOW_BUFFER_BYTES};
use abi::registers;

use super::bus::Bus;
use super::control_memory::ControlMemory;
use super::error::Result;
use super::rings::{RingSizes, LINE_BYTES};

/// Pieces of memory of an owner.
pub(super) const RINGS: usize = 6;

/// Allocates the rings: commands, completions, sends, send status, header slots, slow buffers.
pub(super) fn allocate(
    bus: &mut dyn Bus,
    sizes: RingSizes,
    memory: &mut Vec<ControlMemory>,
) -> Result<()> {
    let slow = SLOW_BUFFER_BYTES;
    for (entry_bytes, bits, align) in [
        (COMMAND_BYTES, sizes.command_bits, 4096),
        (COMPLETION_BYTES, sizes.command_bits, 4096),
        (SLOT_BYTES, sizes.send_bits, 4096),
        (LINE_BYTES, 0, 4096),
        (SLOT_BYTES, sizes.header_bits, 4096),
        (slow, sizes.slow_bits, slow),
    ] {
        memory.push(bus.allocate_control((entry_bytes << bits).max(4096), align)?);
    }
    Ok(())
}

/// Tells the card where the rings are.
pub(super) fn write_context(
    bus: &mut dyn Bus,
    number: u8,
    sizes: RingSizes,
    memory: &[ControlMemory],
) -> Result<()> {
    let context = registers::CONTEXTS + u32::from(number) * registers::CONTEXT_STRIDE;
    let fields = [
        registers::CONTEXT_COMMAND_BASE,
        registers::CONTEXT_COMPLETION_BASE,
        registers::CONTEXT_SEND_BASE,
        registers::CONTEXT_SEND_STATUS,
        registers::CONTEXT_HEADER_BASE,
        registers::CONTEXT_SLOW_BASE,
    ];
    for (offset, ring) in fields.into_iter().zip(memory) {
        bus.write_register(context + offset, ring.address() as u32)?;
        bus.write_register(context + offset + 4, (ring.address() >> 32) as u32)?;
    }
    let word =
        sizes.command_bits | sizes.send_bits << 8 | sizes.header_bits << 16 | sizes.slow_bits << 24;
    Ok(bus.write_register(context + registers::CONTEXT_SIZES, word)?)
}

/// Enables a context, with or without runs of received packets. The card forgets what it had of its
/// rings.
pub(super) fn enable(bus: &mut dyn Bus, number: u8, takes_runs: bool) -> Result<()> {
    let runs = if takes_runs { registers::CONTEXT_ENABLE_COALESCE } else { 0 };
    write_enable(bus, number, 1 | runs)
}

/// Disables a context. The card forgets what it had of its rings.
pub(super) fn disable(bus: &mut dyn Bus, number: u8) -> Result<()> {
    write_enable(bus, number, 0)
}

fn write_enable(bus: &mut dyn Bus, number: u8, word: u32) -> Result<()> {
    let context = registers::CONTEXTS + u32::from(number) * registers::CONTEXT_STRIDE;
    Ok(bus.write_register(context + registers::CONTEXT_ENABLE, word)?)
}
