//! Detects a card that was reset from outside and rings that have stopped. The card does not report
//! either by itself.
//!
//! ```text
//!   each ring: has work, and has not moved for 1 ms ─► status of its owner ─┬─► stopped
//!                                                                           └─► late
//!   every 4 ms, and a wait without interrupt ────────► epoch ───────────────► lost
//! ```
//! A ring stops when the card could not read it or read a wrong index. Each ring is watched on its
//! own, so that progress of one ring does not hide another that has stopped. A reset from outside
//! (function reset, link down, loss of bus mastering) begins an epoch in which nothing set up
//! before is valid. A card that only receives has no outstanding work, so the epoch is also read
//! periodically. A register read takes a round trip on the bus, so both checks are rare.
//!
//! Times are those of the bus's clock, whatever a poll takes. Where polls follow each other fast,
//! the clock is read in one of up to 64: what has stopped is found after its time and so many
//! polls.
//!
//! Source: decision 12; status of the doorbell page in `abi::registers`.

use std::time::Duration;

use abi::registers;

use super::bus::Bus;
use super::error::{DriverError, Result};
use super::owner::{doorbell_page, Owner, Ring};
use super::read::read;

/// Time without progress before a register is read. A command takes about a microsecond; the card
/// gives up a read of memory, and with it a ring, after 50 ms.
const STILL: Duration = Duration::from_millis(1);
/// Time from one look at the epoch to the next.
const EPOCH_EVERY: Duration = Duration::from_millis(4);
/// The clock is to be read so often, and at least once in so many polls.
const LOOK_EVERY: Duration = Duration::from_micros(32);
const POLLS_MAX: u32 = 64;

/// The rings that may stop: name, and status bit.
const RINGS: [(Ring, &str, u32); 2] = [
    (Ring::Command, "command", registers::STATUS_COMMAND_STOPPED),
    (Ring::Send, "send", registers::STATUS_SEND_STOPPED),
];

/// How far a ring was, and when it was seen to be there first.
#[derive(Clone, Copy, Debug, Default)]
struct RingProgress {
    index: u64,
    since: Duration,
}

/// The watch of one open card.
#[derive(Debug)]
pub(crate) struct Watch {
    epoch: u32,
    epoch_read: Duration,
    /// Polls until the clock is read, and how many there were before the last time.
    left: u32,
    polls: u32,
    looked: Duration,
    owners: Vec<[RingProgress; RINGS.len()]>,
}

impl Watch {
    /// Starts with the present epoch of the card.
    pub(crate) fn begin(bus: &mut dyn Bus) -> Result<Self> {
        let epoch = read(bus, registers::EPOCH)?;
        let now = bus.now();
        let owners = Vec::new();
        Ok(Self { epoch, epoch_read: now, left: 1, polls: 1, looked: now, owners })
    }

    /// Fails when the card has begun another epoch.
    pub(crate) fn check_epoch(&self, bus: &mut dyn Bus) -> Result<()> {
        let now = read(bus, registers::EPOCH)?;
        match now == self.epoch {
            true => Ok(()),
            false => Err(DriverError::EpochLost { before: self.epoch, now }),
        }
    }

    /// A ring of this owner may have stopped: the next poll reads its status.
    pub(crate) fn suspect(&mut self, owner: u8) {
        if let Some(seen) = self.owners.get_mut(usize::from(owner)) {
            seen.iter_mut().for_each(|seen| seen.since = Duration::ZERO);
            self.left = 1;
        }
    }

    /// Notes a poll of all owners. An error reports the lost epoch, or, once, a ring that has
    /// stopped; its owner knows it then.
    #[inline]
    pub(crate) fn note(&mut self, bus: &mut dyn Bus, owners: &mut [Option<Owner>]) -> Result<()> {
        self.left -= 1;
        match self.left {
            0 => self.look(bus, owners),
            _ => Ok(()),
        }
    }

    fn look(&mut self, bus: &mut dyn Bus, owners: &mut [Option<Owner>]) -> Result<()> {
        let now = bus.now();
        let is_fast = now.saturating_sub(self.looked) < LOOK_EVERY;
        self.polls = if is_fast { (2 * self.polls).min(POLLS_MAX) } else { self.polls.div_ceil(2) };
        (self.left, self.looked) = (self.polls, now);
        if now.saturating_sub(self.epoch_read) >= EPOCH_EVERY {
            self.epoch_read = now;
            self.check_epoch(bus)?;
        }
        self.owners.resize(owners.len(), Default::default());
        for (owner, seen) in owners.iter_mut().zip(&mut self.owners) {
            let Some(owner) = owner else { continue };
            for ((ring, name, bit), seen) in RINGS.iter().zip(seen) {
                let (index, has_work) = owner.progress(*ring);
                if !has_work || index != seen.index {
                    *seen = RingProgress { index, since: now };
                    owner.set_late(*ring, false);
                } else if now.saturating_sub(seen.since) >= STILL {
                    seen.since = now;
                    let number = owner.number();
                    if has_stopped(bus, number, *bit)? {
                        owner.stop(*ring);
                        // Nothing set up before a reset is valid, this ring included.
                        let epoch = read(bus, registers::EPOCH)?;
                        return Err(match epoch == self.epoch {
                            true => DriverError::RingStopped { owner: number, ring: name },
                            false => DriverError::EpochLost { before: self.epoch, now: epoch },
                        });
                    }
                    owner.set_late(*ring, true);
                }
            }
        }
        Ok(())
    }

    /// Fails when a ring that has work has stopped; its owner knows it then.
    pub(crate) fn check_rings(
        &self,
        bus: &mut dyn Bus,
        owners: &mut [Option<Owner>],
    ) -> Result<()> {
        for owner in owners.iter_mut().flatten() {
            let number = owner.number();
            for (ring, name, bit) in RINGS {
                if owner.progress(ring).1 && has_stopped(bus, number, bit)? {
                    owner.stop(ring);
                    return Err(DriverError::RingStopped { owner: number, ring: name });
                }
            }
        }
        Ok(())
    }
}

fn has_stopped(bus: &mut dyn Bus, owner: u8, bit: u32) -> Result<bool> {
    let page = doorbell_page(owner.into());
    Ok(read(bus, page + registers::DOORBELL_STATUS)? & bit != 0)
}
