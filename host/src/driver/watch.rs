//! Detects a card that was reset from outside and rings that have stopped. The card does not report
//! either by itself.
//!
//! ```text
//!   each ring: has work, and has not moved for a while ─► status of its owner ─► stopped
//!   every 4,096 polls, and a wait without interrupt ────► epoch ──────────────► lost
//! ```
//! A ring stops when the card could not read it or read a wrong index. Each ring is watched on its
//! own, so that progress of one ring does not hide another that has stopped. A reset from outside
//! (function reset, link down, loss of bus mastering) begins an epoch in which nothing set up
//! before is valid. A card that only receives has no outstanding work, so the epoch is also read
//! periodically. A register read takes a round trip on the bus, so both checks are rare.
//!
//! Source: decision 12; status of the doorbell page in `abi::registers`.

use abi::registers;

use super::bus::Bus;
use super::error::{HostError, Result};
use super::owner::{doorbell_page, Owner};
use super::read::read;

/// Polls without progress before a register is read. A command takes about a microsecond, a poll
/// less.
const POLLS_MAX: u32 = 4096;

/// The rings that may stop: name, and status bit.
const RINGS: [(&str, u32); 2] =
    [("command", registers::STATUS_COMMAND_STOPPED), ("send", registers::STATUS_SEND_STOPPED)];

/// Indices of an owner's rings at the last poll, and polls since each moved.
#[derive(Clone, Debug, Default)]
struct Rings {
    confirmed: u64,
    consumed: u32,
    idle_polls: [u32; RINGS.len()],
}

/// The watch of one open card.
#[derive(Debug)]
pub(crate) struct Watch {
    epoch: u32,
    polls: u32,
    owners: Vec<Rings>,
}

impl Watch {
    /// Starts with the present epoch of the card.
    pub(crate) fn begin(bus: &mut dyn Bus) -> Result<Self> {
        Ok(Self { epoch: read(bus, registers::EPOCH)?, polls: 0, owners: Vec::new() })
    }

    /// Fails when the card has begun another epoch.
    pub(crate) fn check_epoch(&self, bus: &mut dyn Bus) -> Result<()> {
        let now = read(bus, registers::EPOCH)?;
        match now == self.epoch {
            true => Ok(()),
            false => Err(HostError::EpochLost { before: self.epoch, now }),
        }
    }

    /// Notes a poll of all owners. An error reports the lost epoch or a stopped ring; it repeats
    /// while that ring has work.
    pub(crate) fn note(&mut self, bus: &mut dyn Bus, owners: &[Owner]) -> Result<()> {
        self.polls += 1;
        if self.polls >= POLLS_MAX {
            self.polls = 0;
            self.check_epoch(bus)?;
        }
        self.owners.resize(owners.len(), Rings::default());
        for (number, owner) in (0u8..).zip(owners) {
            if let Some(ring) = self.owners[usize::from(number)].note(owner) {
                self.check_epoch(bus)?;
                self.check_ring(bus, number, ring)?;
            }
        }
        Ok(())
    }

    /// Fails when a ring that has work has stopped.
    pub(crate) fn check_rings(&self, bus: &mut dyn Bus, owners: &[Owner]) -> Result<()> {
        for (number, _) in (0u8..).zip(owners).filter(|(_, owner)| owner.has_work()) {
            (0..RINGS.len()).try_for_each(|ring| self.check_ring(bus, number, ring))?;
        }
        Ok(())
    }

    fn check_ring(&self, bus: &mut dyn Bus, owner: u8, ring: usize) -> Result<()> {
        let page = doorbell_page(owner.into());
        let status = read(bus, page + registers::DOORBELL_STATUS)?;
        let (ring, bit) = RINGS[ring];
        match status & bit {
            0 => Ok(()),
            _ => Err(HostError::RingStopped { owner, ring }),
        }
    }
}

impl Rings {
    /// A ring that has work and has not moved for too long.
    fn note(&mut self, owner: &Owner) -> Option<usize> {
        let (consumed, produced) = owner.sends();
        let confirmed = owner.confirmed();
        let waits = [
            owner.unconfirmed() > 0 && confirmed == self.confirmed,
            consumed != produced && consumed == self.consumed,
        ];
        (self.confirmed, self.consumed) = (confirmed, consumed);
        for (idle, waits) in self.idle_polls.iter_mut().zip(waits) {
            *idle = if waits { *idle + 1 } else { 0 };
        }
        let stuck = self.idle_polls.iter().position(|&idle| idle >= POLLS_MAX);
        if let Some(ring) = stuck {
            self.idle_polls[ring] = 0;
        }
        stuck
    }
}
