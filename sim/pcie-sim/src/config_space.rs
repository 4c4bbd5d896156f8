//! The card's own view of its configuration space, one access at a time.
//!
//! ```text
//!   cfg_mgmt_read, addr (held) --> ACCESS_CYCLES later: read_data, read_write_done for one cycle
//! ```
//! Modelled is what a card may need: Device Control. An access to anything else, to another
//! function, or a write is a violation, and ends with zeros.
//!
//! Source: PG213, configuration management interface; PCI Express Base 3.0, 7.8.4.

use crate::config::PcieConfig;
use crate::ports::{CardInputs, CardOutputs};
use crate::violation::{Log, Violation};

/// Dword of Device Control and Device Status: the capability lies at 0x70.
pub const DEVICE_CONTROL_DWORD: u16 = 0x78 / 4;
/// Cycles from the request to its end.
const ACCESS_CYCLES: u32 = 12;
/// Smallest payload and read request, log2 bytes.
const SMALLEST_LOG2: u32 = 7;

/// The access at hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigSpace {
    cycles: u32,
}

impl ConfigSpace {
    /// One cycle: what the card asks, and what it sees next.
    pub fn step(
        &mut self,
        card: &CardOutputs,
        inputs: &mut CardInputs,
        config: &PcieConfig,
        log: &mut Log,
    ) {
        let asks = card.cfg_mgmt_read || card.cfg_mgmt_write;
        let ended = inputs.cfg_mgmt_read_write_done;
        inputs.cfg_mgmt_read_write_done = false;
        if !asks || ended {
            // A request that is still there in the cycle of its end is over.
            self.cycles = 0;
            return;
        }
        self.cycles += 1;
        if self.cycles < ACCESS_CYCLES {
            return;
        }
        self.cycles = 0;
        inputs.cfg_mgmt_read_write_done = true;
        let known = card.cfg_mgmt_read
            && !card.cfg_mgmt_write
            && card.cfg_mgmt_addr == DEVICE_CONTROL_DWORD
            && card.cfg_mgmt_function_number == 0;
        inputs.cfg_mgmt_read_data = if known { device_control(config) } else { 0 };
        if !known {
            log.push(Violation::ConfigurationAccess {
                dword: card.cfg_mgmt_addr,
                function: card.cfg_mgmt_function_number,
                write: card.cfg_mgmt_write,
            });
        }
    }
}

/// Relaxed ordering enabled, MPS, extended tags, MRRS.
fn device_control(config: &PcieConfig) -> u32 {
    let step = |bytes: u32| bytes.ilog2() - SMALLEST_LOG2;
    1 << 4
        | step(config.mps_bytes) << 5
        | u32::from(config.extended_tags) << 8
        | step(config.mrrs_bytes) << 12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_control_says_what_is_configured() {
        let config = PcieConfig::default();
        let mut space = ConfigSpace::default();
        let mut inputs = CardInputs::default();
        let mut log = Log::default();
        let card = CardOutputs {
            cfg_mgmt_addr: DEVICE_CONTROL_DWORD,
            cfg_mgmt_read: true,
            ..CardOutputs::default()
        };
        for _ in 0..ACCESS_CYCLES {
            assert!(!inputs.cfg_mgmt_read_write_done);
            space.step(&card, &mut inputs, &config, &mut log);
        }
        assert!(inputs.cfg_mgmt_read_write_done);
        // MPS 256, extended tags, MRRS 512, relaxed ordering.
        assert_eq!(inputs.cfg_mgmt_read_data, 0x2130);
        space.step(&card, &mut inputs, &config, &mut log);
        assert!(!inputs.cfg_mgmt_read_write_done);
    }
}
