//! Transaction-layer model of the PCIe link, root complex, IOMMU and memories.
//!
//! ```text
//!            CardOutputs                                      map, inject, resize
//!   card  --------------->  hard block  ==lanes==>  root complex  <-->  IOMMU  <-->  DRAM, GPU
//!         <---------------              <==lanes==       |
//!            CardInputs                          register accesses, interrupts, fault log
//! ```
//!
//! # One cycle
//!
//! [`PcieSim::step`] is the rising edge of the 250 MHz user clock. The caller drives the card with
//! [`PcieSim::inputs`], lets it settle, and passes what the card then drives. A beat moves when
//! `tvalid` and `tready` of that cycle are both high. The returned inputs are those of the next
//! cycle: every one is a register of the hard block.
//!
//! ```
//! use pcie_sim::{CardOutputs, MemoryId, PcieConfig, PcieSim, Rights};
//!
//! let mut slot = PcieSim::new(PcieConfig::default())?;
//! slot.enable_device();
//! slot.map(0x10_0000_0000, 0x1000, MemoryId::Dram, 0, Rights::ReadWrite)?;
//! slot.mmio_write32(0x20_0000_0000, 1)?;
//! let mut delivered = false;
//! for _ in 0..200 {
//!     let seen = *slot.inputs(); // drive the card's inputs with these and let it settle
//!     delivered |= seen.cq.tvalid;
//!     let card = CardOutputs { cq_tready: true, ..CardOutputs::default() }; // read its outputs
//!     slot.step(&card); // then clock the card
//! }
//! assert!(delivered && slot.violations().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Assumptions
//!
//! - One physical function, traffic class 0, dword-aligned streams, client-managed tags.
//! - RQ and RC straddle on (two and four TLPs a beat), CQ and CC straddle off, parity off.
//! - The hard block buffers a whole TLP before it sends it; data link layer errors do not happen.

#![forbid(unsafe_code)]

mod config;
mod config_space;
pub mod descriptor;
mod fault;
mod function;
mod hard_block;
mod iommu;
mod link;
mod memory;
mod mmio;
mod ports;
mod random;
mod request_check;
mod requester;
mod root_complex;
mod sim;
mod statistics;
mod tags;
mod tlp;
mod transmit;
mod violation;

pub use config::{Bar, ConfigError, Credits, GpuConfig, LinkConfig, PcieConfig, CYCLE_NS};
pub use fault::{Fault, FaultRecord, Target};
pub use iommu::{IommuError, Refusal, Rights, PAGE_BYTES};
pub use memory::{Bytes, MemoryBytes, MemoryError, MemoryId};
pub use mmio::{MmioError, MmioRead, MmioResult};
pub use ports::{Beat, CardInputs, CardOutputs, CcBeat, CqBeat, RcBeat, RqBeat, BEAT_DWORDS};
pub use random::Random;
pub use root_complex::Interrupt;
pub use sim::PcieSim;
pub use statistics::{Direction, Statistics};
pub use tlp::{Request, RequestKind};
pub use violation::{Stream, TimedViolation, Violation};
