//! Notices a card that has stopped working for us, which tells nobody by itself.
//!
//! A ring stops when the card could not read it or found a wrong index in it; a reset from outside
//! (function reset, link down, bus mastering taken away) begins an epoch in which nothing that was
//! set up is valid. Reading a register takes a round trip, so the card is asked only when it owes
//! something and has not moved for a while.
//!
//! Source: decision 12 of the design, the doorbell page's status in `abi::registers`.

use abi::registers;

use crate::bus::Bus;
use crate::error::{HostError, Result};
use crate::owner::{doorbell_page, Owner};

/// Polls without any movement after which the card is asked. A command takes about a microsecond,
/// a poll a part of one.
const IDLE_POLLS_MAX: u32 = 4096;

/// The watch over one open card.
#[derive(Debug)]
pub(crate) struct Watch {
    epoch: u32,
    idle_polls: u32,
}

impl Watch {
    /// Begins with the epoch that the card is in.
    pub(crate) fn begin(bus: &mut dyn Bus) -> Result<Self> {
        Ok(Self {
            epoch: bus.read_register(registers::EPOCH)?,
            idle_polls: 0,
        })
    }

    /// Notes a poll of all owners. An error names the epoch that was lost or the first ring that
    /// has stopped; it comes again as long as that ring owes something.
    pub(crate) fn note(
        &mut self,
        bus: &mut dyn Bus,
        owners: &[Owner],
        has_moved: bool,
    ) -> Result<()> {
        let mut owes = false;
        for owner in owners {
            owes |= owner.unconfirmed() > 0 || owner.sends_unread(bus)?;
        }
        if has_moved || !owes {
            self.idle_polls = 0;
            return Ok(());
        }
        self.idle_polls += 1;
        if self.idle_polls < IDLE_POLLS_MAX {
            return Ok(());
        }
        self.idle_polls = 0;
        let epoch = bus.read_register(registers::EPOCH)?;
        if epoch != self.epoch {
            return Err(HostError::EpochLost {
                before: self.epoch,
                now: epoch,
            });
        }
        for owner in (0u8..).take(owners.len()) {
            let page = doorbell_page(owner.into());
            let status = bus.read_register(page + registers::DOORBELL_STATUS)?;
            for (ring, bit) in [
                ("command", registers::STATUS_COMMAND_STOPPED),
                ("send", registers::STATUS_SEND_STOPPED),
            ] {
                if status & bit != 0 {
                    return Err(HostError::RingStopped { owner, ring });
                }
            }
        }
        Ok(())
    }
}
