//! The card as a device of the system: where it is, the bridge above it, and how its image is
//! exchanged while the machine runs.
//!
//! ```text
//!   Kernel ── sysfs, below a root path ──► config: configuration spaces, capabilities
//!      │                                   window: words of BAR 0
//!      ├─► device: driver, group, node, link, errors; bind: to VFIO, and back
//!      └─► plan: what is to be done, what cannot ──► reprogram: step by step, and back
//! ```
//! A device that goes away without warning is an error to the bridge above: a fatal one, which
//! resets servers. So its reports are masked first and restored at the end.
//!
//! Source: PCI Express 3.0, chapter 7; DPC: the ECN of 2012; sysfs-bus-pci in the documentation of
//! Linux.

pub mod bind;
mod config;
mod device;
mod kernel;
mod plan;
mod reprogram;
mod signals;
mod window;

pub use config::{Function, Register};
pub use device::{AerCounts, LinkRate, PciDevice};
pub use kernel::{Address, Kernel, Sysfs};
pub use plan::{ExchangePlan, Load, Refusal, Step};
pub use reprogram::{reprogram, Failure, StepEvent};
pub use signals::keep_signals;

#[cfg(test)]
mod tests;
