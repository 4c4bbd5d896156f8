//! The whole space: what is read, and what a write brings about.

use super::bar::{place_bar, Bar};
use super::error::ConfigError;
use super::express::{asks_for_reset, place_express, Link, EXPRESS};
use super::fields::Fields;
use super::msix::Msix;

const COMMAND: usize = 0x04;
const COMMAND_MEMORY: u16 = 1 << 1;
const COMMAND_BUS_MASTER: u16 = 1 << 2;
const COMMAND_PARITY: u16 = 1 << 6;
const COMMAND_SYSTEM_ERROR: u16 = 1 << 8;
const COMMAND_PIN_DISABLE: u16 = 1 << 10;
const STATUS: usize = 0x06;
const STATUS_CAPABILITIES: u16 = 1 << 4;
const MSIX: usize = 0x80;
const SERIAL: usize = 0x100;

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Vendor.
    pub vendor: u16,
    /// Device.
    pub device: u16,
    /// Vendor of the subsystem.
    pub subsystem_vendor: u16,
    /// Subsystem.
    pub subsystem: u16,
    /// Revision.
    pub revision: u8,
    /// Class, subclass and interface, 24 bits.
    pub class: u32,
    /// Serial number, if it shows one.
    pub serial: Option<u64>,
}

/// What a write has brought about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The function is to be reset; the configuration space is already.
    pub function_reset: bool,
    /// The function may no longer reach memory by itself.
    pub bus_mastering_ended: bool,
}

/// A configuration space.
#[derive(Clone, Debug)]
pub struct ConfigSpace {
    fields: Fields,
    bars: Vec<Bar>,
    has_msix: bool,
}

impl ConfigSpace {
    /// That of an endpoint.
    pub fn new(
        identity: &Identity,
        bars: &[Bar],
        link: Link,
        msix: Option<Msix>,
    ) -> Result<Self, ConfigError> {
        let mut fields = Fields::new();
        place_identity(&mut fields, identity);
        for (at, bar) in bars.iter().enumerate() {
            place_bar(&mut fields, &bars[..at], bar)?;
        }
        place_express(&mut fields, link);
        if let Some(msix) = &msix {
            msix.check(bars)?;
            fields.set_u8(EXPRESS + 1, MSIX as u8);
            msix.place(&mut fields, MSIX);
        }
        fields.keep_first();
        Ok(Self { fields, bars: bars.to_vec(), has_msix: msix.is_some() })
    }

    /// Reads; beyond the end there are zeros.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        self.fields.read(offset, into);
    }

    /// Writes.
    pub fn write(&mut self, offset: u64, from: &[u8]) -> Effects {
        let had_bus_mastering = self.has_bus_mastering();
        self.fields.write(offset, from);
        let function_reset = asks_for_reset(&self.fields);
        if function_reset {
            self.reset();
        }
        let bus_mastering_ended = had_bus_mastering && !self.has_bus_mastering();
        Effects { function_reset, bus_mastering_ended }
    }

    /// Gives every bit its first value.
    pub fn reset(&mut self) {
        self.fields.reset();
    }

    /// Whether the function may reach memory by itself, and interrupt.
    pub fn has_bus_mastering(&self) -> bool {
        self.fields.u16(COMMAND) & COMMAND_BUS_MASTER != 0
    }

    /// Whether the BARs answer.
    pub fn has_memory(&self) -> bool {
        self.fields.u16(COMMAND) & COMMAND_MEMORY != 0
    }

    /// Whether interrupts are sent by MSI-X.
    pub fn has_msix(&self) -> bool {
        self.has_msix && Msix::is_enabled(&self.fields, MSIX)
    }

    /// Where a BAR begins on the bus.
    pub fn bar_address(&self, index: usize) -> Option<u64> {
        let bar = self.bars.iter().find(|bar| bar.index == index)?;
        Some(bar.address(&self.fields))
    }
}

fn place_identity(fields: &mut Fields, identity: &Identity) {
    fields.set_u16(0x00, identity.vendor);
    fields.set_u16(0x02, identity.device);
    let writable = COMMAND_MEMORY
        | COMMAND_BUS_MASTER
        | COMMAND_PARITY
        | COMMAND_SYSTEM_ERROR
        | COMMAND_PIN_DISABLE;
    fields.allow_u16(COMMAND, writable);
    fields.set_u16(STATUS, STATUS_CAPABILITIES);
    fields.set_u32(0x08, identity.class << 8 | u32::from(identity.revision));
    // Size of a cache line, and where the firmware notes the interrupt's line: kept, not used.
    fields.allow_u8(0x0c, 0xff);
    fields.allow_u8(0x3c, 0xff);
    fields.set_u16(0x2c, identity.subsystem_vendor);
    fields.set_u16(0x2e, identity.subsystem);
    fields.set_u8(0x34, EXPRESS as u8);
    if let Some(serial) = identity.serial {
        fields.set_u32(SERIAL, 0x0001_0003);
        fields.set_u32(SERIAL + 4, serial as u32);
        fields.set_u32(SERIAL + 8, (serial >> 32) as u32);
    }
}

#[cfg(test)]
mod tests;
