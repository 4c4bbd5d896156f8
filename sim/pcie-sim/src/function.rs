//! The part of the configuration space of the card's function that a driver needs.
//!
//! ```text
//!   host methods --> Function --> cfg_* ports, limits of the request check
//! ```
//!
//! Timing: every port is registered; a change shows in the next cycle.
//!
//! Source: PCI Express Base 3.0, 7.5.1.1 (command), 7.8.4 (device control); PG213, `cfg_*` ports.

use crate::config::PcieConfig;
use crate::ports::CardInputs;
use crate::request_check::Limits;

/// Memory decoding on, in `cfg_function_status`.
const MEMORY: u16 = 1 << 1;
/// Bus mastering on, in `cfg_function_status`.
const BUS_MASTER: u16 = 1 << 2;
/// Binary logarithm of the smallest payload and read request size.
const SMALLEST_LOG2: u32 = 7;

/// State of the function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub memory_enable: bool,
    bus_master: bool,
    /// Cycle in which bus mastering went off, or power came on.
    bus_master_off_at: u64,
    msix_enable: bool,
    msix_mask: bool,
    /// Cycle in which interrupts went off, or power came on.
    interrupts_off_at: u64,
    pub reset_running: bool,
}

impl Function {
    /// Whether bus mastering is on: requests of the card are carried.
    pub fn is_bus_master(&self) -> bool {
        self.bus_master
    }

    /// Switches bus mastering.
    pub fn set_bus_master(&mut self, now: u64, on: bool) {
        if self.bus_master && !on {
            self.bus_master_off_at = now;
        }
        self.bus_master = on;
    }

    /// Cycles since bus mastering went off.
    pub fn cycles_without_mastering(&self, now: u64) -> u64 {
        now - self.bus_master_off_at
    }

    /// Switches MSI-X and the mask of the whole function.
    pub fn set_msix(&mut self, now: u64, enable: bool, mask: bool) {
        if self.may_interrupt() && (!enable || mask) {
            self.interrupts_off_at = now;
        }
        (self.msix_enable, self.msix_mask) = (enable, mask);
    }

    /// Whether the card may send interrupts.
    pub fn may_interrupt(&self) -> bool {
        self.msix_enable && !self.msix_mask
    }

    /// Cycles since interrupts went off.
    pub fn cycles_without_interrupts(&self, now: u64) -> u64 {
        now - self.interrupts_off_at
    }

    /// Back to power-on values, as link-down and function reset do.
    pub fn reset(&mut self, now: u64) {
        self.set_bus_master(now, false);
        self.set_msix(now, false, false);
        let Self { bus_master_off_at, interrupts_off_at, .. } = *self;
        *self = Self { bus_master_off_at, interrupts_off_at, ..Self::default() };
    }

    /// Drives the state on the ports.
    pub fn drive(&self, config: &PcieConfig, inputs: &mut CardInputs) {
        inputs.cfg_max_payload = (config.mps_bytes.ilog2() - SMALLEST_LOG2) as u8;
        inputs.cfg_max_read_req = (config.mrrs_bytes.ilog2() - SMALLEST_LOG2) as u8;
        inputs.cfg_rcb_status = u8::from(config.rcb_bytes == 128);
        inputs.cfg_function_status = if self.memory_enable { MEMORY } else { 0 }
            | if self.bus_master { BUS_MASTER } else { 0 };
        inputs.cfg_interrupt_msix_enable = u8::from(self.msix_enable);
        inputs.cfg_interrupt_msix_mask = u8::from(self.msix_mask);
        inputs.cfg_flr_in_process = u8::from(self.reset_running);
    }
}

/// What requests of the card are checked against.
pub(crate) fn limits(config: &PcieConfig) -> Limits {
    Limits {
        mps: config.mps_bytes,
        mrrs: config.mrrs_bytes,
        tags: if config.extended_tags { 256 } else { 32 },
    }
}
