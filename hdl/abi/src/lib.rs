//! The contract across the bus, written once.
//!
//! Every register, ring entry, table size and reason that hardware, host and golden model share is
//! a constant or a small type of this crate. It has no dependencies, and no behaviour except
//! packing and unpacking fields. All records are little-endian; packet headers inside them are as
//! on the wire. The register manual is generated from these tables (`docs/registers.md`).

#![forbid(unsafe_code)]

pub mod command;
pub mod completion;
pub mod config;
pub mod counters;
pub mod field;
pub mod flow_key;
pub mod header_entry;
pub mod image;
pub mod pci_ids;
pub mod profile;
pub mod reason;
pub mod registers;
pub mod send_descriptor;
pub mod window;

/// Version of this contract: major in the upper half (incompatible), minor in the lower half.
pub const ABI_VERSION: u32 = 0x0001_000a;
