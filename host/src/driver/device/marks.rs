//! How far the card is with what was queued for it.
//!
//! ```text
//!   commands of an owner   0 .... confirmed .... posted .... queued │ mark
//! ```
//! Whoever has commands under way needs no look before the mark that was set behind them has
//! passed: the card confirms those of an owner in order.

use super::Device;
use crate::driver::bus::Bus;
use crate::driver::owner::Owner;

/// Lies behind all commands that an owner, and owner 0, had queued when it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    owner: u8,
    /// Commands of the owner, and of owner 0.
    queued: [u64; 2],
}

impl Mark {
    /// The owner whose commands it lies behind.
    pub fn owner(&self) -> u8 {
        self.owner
    }
}

impl<B: Bus> Device<B> {
    /// A mark behind all that is queued now as this owner and as owner 0.
    pub fn mark(&self, owner: u8) -> Mark {
        let queued = [owner, 0].map(|owner| self.find_owner(owner).map_or(0, Owner::queued_count));
        Mark { owner, queued }
    }

    /// Whether the card has confirmed, or refused, every command before a mark, but for those of a
    /// ring that has stopped: none of them is confirmed any more, so nobody waits for it.
    pub fn has_passed(&self, mark: &Mark) -> bool {
        let owners = [mark.owner, 0].map(|owner| self.find_owner(owner));
        let mut all = owners.into_iter().zip(mark.queued);
        all.all(|(owner, queued)| owner.is_none_or(|owner| owner.has_passed(queued)))
    }
}

#[cfg(test)]
impl Mark {
    /// A mark behind so many commands of an owner and of owner 0.
    pub(crate) fn at(owner: u8, queued: u64) -> Self {
        Self { owner, queued: [queued; 2] }
    }

    /// Whether so many confirmed commands pass it.
    pub(crate) fn is_below(&self, confirmed: u64) -> bool {
        self.queued.iter().all(|queued| *queued <= confirmed)
    }
}
