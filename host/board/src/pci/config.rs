//! Configuration space of a function: registers and capabilities.
//!
//! ```text
//!   0x000 header ── 0x034 ──► capabilities      0x100 ──► extended capabilities
//!           COMMAND               PCI Express               AER, DPC
//! ```

use std::io;
use std::path::Path;

use super::kernel::Kernel;

/// Most capabilities of a list: a list that is longer goes in a circle.
const CAPABILITIES_MAX: usize = 128;

/// First byte of the extended capabilities.
const EXTENDED: u16 = 0x100;

/// Capability: PCI Express.
const PCI_EXPRESS: u8 = 0x10;
/// Extended capability: advanced error reporting.
const AER: u16 = 0x0001;
/// Extended capability: downstream port containment.
const DPC: u16 = 0x001d;

/// A register of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name in the standard.
    pub name: &'static str,
    /// Where it is, bytes.
    pub offset: u16,
    /// Its size: 2 or 4 bytes.
    pub bytes: u16,
}

/// What is known of a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Vendor and device id.
    pub ids: (u16, u16),
    express: Option<u16>,
    aer: Option<u16>,
    dpc: Option<u16>,
}

/// Reads a register.
pub fn read(kernel: &impl Kernel, folder: &Path, register: Register) -> io::Result<u32> {
    let mut bytes = [0; 4];
    let bytes_read = &mut bytes[..usize::from(register.bytes)];
    kernel.read(&folder.join("config"), register.offset.into(), bytes_read)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Writes a register.
pub fn write(
    kernel: &mut impl Kernel,
    folder: &Path,
    register: Register,
    value: u32,
) -> io::Result<()> {
    let bytes = &value.to_le_bytes()[..usize::from(register.bytes)];
    kernel.write(&folder.join("config"), register.offset.into(), bytes)
}

impl Function {
    /// Finds the capabilities of a function whose files are in `folder`.
    pub fn of_folder(kernel: &impl Kernel, folder: &Path) -> io::Result<Self> {
        let config = folder.join("config");
        Self::find(|offset, into| kernel.read(&config, offset.into(), into))
    }

    /// Finds the capabilities of a function whose configuration space `read` reads from an offset.
    pub fn find<E>(mut read: impl FnMut(u16, &mut [u8]) -> Result<(), E>) -> Result<Self, E> {
        let mut word = |offset: u16| -> Result<u32, E> {
            let mut bytes = [0; 4];
            read(offset, &mut bytes)?;
            Ok(u32::from_le_bytes(bytes))
        };
        let id = word(0)?;
        let mut express = None;
        let mut next = (word(0x34)? & 0xfc) as u16;
        for _ in 0..CAPABILITIES_MAX {
            if next < 0x40 {
                break;
            }
            let head = word(next)?;
            if head as u8 == PCI_EXPRESS {
                express = Some(next);
            }
            next = (head >> 8 & 0xfc) as u16;
        }
        let (mut aer, mut dpc) = (None, None);
        let mut next = EXTENDED;
        for _ in 0..CAPABILITIES_MAX {
            // A space of 256 bytes, or none below it, ends here.
            let head = match word(next) {
                Ok(head) if head != 0 && head != u32::MAX => head,
                _ => break,
            };
            match head as u16 {
                AER => aer = Some(next),
                DPC => dpc = Some(next),
                _ => {}
            }
            next = (head >> 20) as u16 & 0xffc;
            if next < EXTENDED {
                break;
            }
        }
        Ok(Self { ids: (id as u16, (id >> 16) as u16), express, aer, dpc })
    }

    /// COMMAND.
    pub fn command(&self) -> Register {
        register("COMMAND", 0x04, 2)
    }

    /// Device Capabilities.
    pub fn device_capabilities(&self) -> Option<Register> {
        self.express.map(|at| register("Device Capabilities", at + 0x04, 4))
    }

    /// Device Control.
    pub fn device_control(&self) -> Option<Register> {
        self.express.map(|at| register("Device Control", at + 0x08, 2))
    }

    /// Link Capabilities.
    pub fn link_capabilities(&self) -> Option<Register> {
        self.express.map(|at| register("Link Capabilities", at + 0x0c, 4))
    }

    /// Link Status.
    pub fn link_status(&self) -> Option<Register> {
        self.express.map(|at| register("Link Status", at + 0x12, 2))
    }

    /// Uncorrectable Error Status of AER.
    pub fn aer_status(&self) -> Option<Register> {
        self.aer.map(|at| register("AER Uncorrectable Error Status", at + 0x04, 4))
    }

    /// Uncorrectable Error Mask of AER.
    pub fn aer_mask(&self) -> Option<Register> {
        self.aer.map(|at| register("AER Uncorrectable Error Mask", at + 0x08, 4))
    }

    /// DPC Control.
    pub fn dpc_control(&self) -> Option<Register> {
        self.dpc.map(|at| register("DPC Control", at + 0x06, 2))
    }

    /// DPC Status.
    pub fn dpc_status(&self) -> Option<Register> {
        self.dpc.map(|at| register("DPC Status", at + 0x08, 2))
    }
}

fn register(name: &'static str, offset: u16, bytes: u16) -> Register {
    Register { name, offset, bytes }
}
