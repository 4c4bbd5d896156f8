//! A device as its clients see it: regions, and interrupts.
//!
//! ```text
//!   0 ... 5  BARs │ 6 ROM │ 7 configuration space │ 8 VGA
//!   interrupts: 0 pin │ 1 MSI │ 2 MSI-X │ 3 errors │ 4 requests
//! ```
//! Source: `linux/vfio.h`, indices of PCI devices.

use std::os::fd::OwnedFd;

use crate::codec::{Area, INTERRUPT_EVENT, INTERRUPT_MASKABLE, INTERRUPT_NO_RESIZE};

/// Regions of a PCI device: BAR 0 to 5, and those behind.
pub const REGIONS: usize = 9;
/// The region of the expansion ROM.
pub const REGION_ROM: u32 = 6;
/// The region of the configuration space.
pub const REGION_CONFIG: u32 = 7;
/// Interrupt types of a PCI device.
pub const INTERRUPTS: usize = 5;
/// The interrupt type of the interrupt pin.
pub const INTERRUPT_PIN: u32 = 0;
/// The interrupt type of MSI.
pub const INTERRUPT_MSI: u32 = 1;
/// The interrupt type of MSI-X.
pub const INTERRUPT_MSIX: u32 = 2;
/// The interrupt type by which a device reports errors.
pub const INTERRUPT_ERROR: u32 = 3;
/// The interrupt type by which a device asks to be given back.
pub const INTERRUPT_REQUEST: u32 = 4;

/// Pages of a region that clients map.
#[derive(Debug)]
pub struct SharedPages {
    /// The file: a [`crate::SharedFile`], or anything else that can be mapped.
    pub file: OwnedFd,
    /// Where in the file the region begins.
    pub file_offset: u64,
    /// The parts that can be mapped, whole pages; none: all of it.
    pub areas: Vec<Area>,
}

/// A region.
#[derive(Debug, Default)]
pub struct Region {
    /// Length; 0: there is no such region.
    pub bytes: u64,
    /// It can be read by messages.
    pub read: bool,
    /// It can be written by messages.
    pub write: bool,
    /// What of it clients map.
    pub shared: Option<SharedPages>,
}

impl Region {
    /// A region that is read and written by messages alone.
    pub fn by_messages(bytes: u64) -> Self {
        Self { bytes, read: true, write: true, shared: None }
    }
}

/// Interrupts of one type.
#[derive(Clone, Copy, Debug, Default)]
pub struct InterruptType {
    /// How many.
    pub count: u32,
    /// [`INTERRUPT_EVENT`] and followers.
    pub flags: u32,
}

/// A device as its clients see it.
#[derive(Debug, Default)]
pub struct Description {
    /// Regions, by their index.
    pub regions: Vec<Region>,
    /// Interrupt types, by their index.
    pub interrupts: Vec<InterruptType>,
}

impl Description {
    /// A PCI device with a configuration space, `vectors` MSI-X interrupts, and no BAR yet.
    pub fn pci(config_bytes: u64, vectors: u32) -> Self {
        let mut regions: Vec<Region> = (0..REGIONS).map(|_| Region::default()).collect();
        regions[REGION_CONFIG as usize] = Region::by_messages(config_bytes);
        let mut interrupts = vec![InterruptType::default(); INTERRUPTS];
        let flags = INTERRUPT_EVENT | INTERRUPT_MASKABLE | INTERRUPT_NO_RESIZE;
        interrupts[INTERRUPT_MSIX as usize] = InterruptType { count: vectors, flags };
        // QEMU warns of a device that cannot report errors.
        let error = InterruptType { count: 1, flags: INTERRUPT_EVENT | INTERRUPT_NO_RESIZE };
        interrupts[INTERRUPT_ERROR as usize] = error;
        Self { regions, interrupts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_those_of_linux() {
        assert_eq!((REGION_ROM, REGION_CONFIG, REGIONS), (6, 7, 9));
        let pins = [INTERRUPT_PIN, INTERRUPT_MSI, INTERRUPT_MSIX, INTERRUPT_ERROR];
        assert_eq!((pins, INTERRUPT_REQUEST, INTERRUPTS), ([0, 1, 2, 3], 4, 5));
        let description = Description::pci(4096, 16);
        assert_eq!(description.interrupts[2].flags, 0b1011, "events, maskable, set at once");
        assert_eq!(description.interrupts[3].flags, 0b1001);
    }
}
