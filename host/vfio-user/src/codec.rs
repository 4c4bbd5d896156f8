//! The messages of the protocol: taken apart and put together, without any I/O.
//!
//! ```text
//!   16 bytes ──► Header ─┐
//!                        ├─► Request ──► ... ──► payload of the reply
//!   payload ─────────────┘
//! ```
//! Invariants
//! 1. No bytes, whatever they are, lead to a panic or to an allocation beyond their own length.
//! 2. What is put together here is taken apart here to the same.
//!
//! Source: vfio-user protocol specification 0.1 (QEMU, `docs/interop/vfio-user.rst`).

mod access;
mod bytes;
mod error;
mod header;
mod info;
mod interrupt;
mod memory;
mod request;
mod sizes;
mod version;

pub use self::access::{RegionAccess, RegionSignals, SmallWrite, WRITE_BYTES_MAX};
pub use self::error::CodecError;
pub use self::header::{Header, Kind};
pub use self::info::{
    Area, DeviceInfo, InterruptInfo, Question, RegionInfo, INTERRUPT_EVENT, INTERRUPT_MASKABLE,
    INTERRUPT_NO_RESIZE,
};
pub use self::interrupt::{Action, Choice, SetInterrupts};
pub use self::memory::{DmaAccess, DmaMap, DmaUnmap, Rights};
pub use self::request::{Command, Request};
pub use self::sizes::{HEADER_BYTES, MESSAGE_BYTES_MAX, TRANSFER_BYTES};
pub use self::version::{Capabilities, Version, DESCRIPTORS, MAJOR, MAPS, MINOR};
