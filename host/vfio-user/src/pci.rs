//! The configuration space of a PCI Express endpoint, as a VFIO client expects it in region 7.
//!
//! ```text
//!   0x00  ids, command, class │ 0x10 BARs │ 0x2c subsystem │ 0x34 ─► 0x40
//!   0x40  PCI Express, version 2: reset of the function, sizes, link ─► 0x80
//!   0x80  MSI-X: table and pending bits in a BAR
//!   0x100 serial number
//! ```
//! A BAR answers the write of all ones with its size, as hardware does: what cannot be written
//! reads as it was.
//!
//! Invariants
//! 1. A write changes writable bits alone, whatever its length and alignment.
//! 2. A reset of the function gives every writable bit its first value.
//!
//! Not here yet: power management, error reporting, INTx, MSI, an expansion ROM, I/O BARs.
//!
//! Source: PCI Local Bus 3.0, 6.1 and 6.2.5; PCI Express Base 4.0, 7.5.3, 7.7.2, 7.9.3.

mod bar;
mod error;
mod express;
mod fields;
mod msix;
mod space;

pub use self::bar::{Bar, BARS};
pub use self::error::ConfigError;
pub use self::express::Link;
pub use self::fields::CONFIG_BYTES;
pub use self::msix::Msix;
pub use self::space::{ConfigSpace, Effects, Identity};
