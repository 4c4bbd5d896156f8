//! Notices a card that has stopped working for us, which tells nobody by itself.
//!
//! ```text
//!   each ring: owes something, and has not moved for a while ─► its owner's status ─► stopped
//!   every so many polls, and a wait without an interrupt ─────► epoch ──────────────► lost
//! ```
//! A ring stops when the card could not read it or found a wrong index in it. Each is watched by
//! what it owes itself, so that no other one's movement hides it. A reset from outside (function
//! reset, link down, bus mastering taken away) begins an epoch in which nothing that was set up is
//! valid; a card that only receives owes nothing, so the epoch is read now and then whatever
//! happens. Reading a register takes a round trip, and both are done rarely.
//!
//! Source: decision 12 of the design, the doorbell page's status in `abi::registers`.

use abi::registers;

use super::bus::Bus;
use super::error::{HostError, Result};
use super::owner::{doorbell_page, Owner};

/// Polls after which the card is asked. A command takes about a microsecond, a poll a part of one.
const POLLS_MAX: u32 = 4096;

/// The rings that may stop: name, and the bit that says so.
const RINGS: [(&str, u32); 2] = [
    ("command", registers::STATUS_COMMAND_STOPPED),
    ("send", registers::STATUS_SEND_STOPPED),
];

/// How far an owner's rings were at the last poll, and polls since they moved.
#[derive(Clone, Debug, Default)]
struct Rings {
    confirmed: u64,
    consumed: u32,
    idle_polls: [u32; RINGS.len()],
}

/// The watch over one open card.
#[derive(Debug)]
pub(crate) struct Watch {
    epoch: u32,
    polls: u32,
    owners: Vec<Rings>,
}

impl Watch {
    /// Begins with the epoch that the card is in.
    pub(crate) fn begin(bus: &mut dyn Bus) -> Result<Self> {
        Ok(Self {
            epoch: bus.read_register(registers::EPOCH)?,
            polls: 0,
            owners: Vec::new(),
        })
    }

    /// An error, when the card has begun another epoch.
    pub(crate) fn check_epoch(&self, bus: &mut dyn Bus) -> Result<()> {
        let now = bus.read_register(registers::EPOCH)?;
        match now == self.epoch {
            true => Ok(()),
            false => Err(HostError::EpochLost {
                before: self.epoch,
                now,
            }),
        }
    }

    /// Notes a poll of all owners. An error names the epoch that was lost or a ring that has
    /// stopped; it comes again as long as that ring owes something.
    pub(crate) fn note(&mut self, bus: &mut dyn Bus, owners: &[Owner]) -> Result<()> {
        self.polls += 1;
        if self.polls >= POLLS_MAX {
            self.polls = 0;
            self.check_epoch(bus)?;
        }
        self.owners.resize(owners.len(), Rings::default());
        for (number, owner) in (0u8..).zip(owners) {
            if let Some(ring) = self.owners[usize::from(number)].note(bus, owner)? {
                self.check_epoch(bus)?;
                self.check_ring(bus, number, ring)?;
            }
        }
        Ok(())
    }

    fn check_ring(&self, bus: &mut dyn Bus, owner: u8, ring: usize) -> Result<()> {
        let page = doorbell_page(owner.into());
        let status = bus.read_register(page + registers::DOORBELL_STATUS)?;
        let (ring, bit) = RINGS[ring];
        match status & bit {
            0 => Ok(()),
            _ => Err(HostError::RingStopped { owner, ring }),
        }
    }
}

impl Rings {
    /// A ring that owes something and has not moved for too long.
    fn note(&mut self, bus: &mut dyn Bus, owner: &Owner) -> Result<Option<usize>> {
        let (consumed, produced) = owner.sends(bus)?;
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
        Ok(stuck)
    }
}
