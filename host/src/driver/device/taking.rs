//! Header entries of all owners, in turn.

use super::{Device, TURN_ENTRIES};
use crate::driver::bus::Bus;
use crate::driver::error::{DriverError, Result};
use crate::driver::rings::HeaderEntry;

impl<B: Bus> Device<B> {
    /// Takes the next header entry of any owner into `entry`. Returns whether there was one. The
    /// owners take turns, so that none waits for another that is flooded. A queue yields at most as
    /// many entries as it holds until [`Device::return_headers`] gives its slots back, so a loop
    /// over all entries ends.
    #[inline]
    pub fn next_header(&mut self, entry: &mut HeaderEntry) -> Result<bool> {
        let (number, left) = self.turn;
        if left > 0 && self.next_of(number, entry)? {
            self.turn.1 = left - 1;
            return Ok(true);
        }
        self.pass_turn(entry)
    }

    #[inline]
    pub(super) fn next_of(&mut self, number: usize, entry: &mut HeaderEntry) -> Result<bool> {
        match &mut self.owners[number] {
            Some(owner) => owner.next_header(&mut self.bus, entry),
            None => Ok(false),
        }
    }

    /// A guess at the flow of the header entry after the next `ahead` of the queue that is read,
    /// and whether its packet has payload.
    #[inline]
    pub(crate) fn flow_ahead(&self, ahead: u32) -> Option<(u16, bool)> {
        self.owners[self.turn.0].as_ref()?.flow_ahead(ahead)
    }

    /// Gives the turn to the next owner that has an entry, the present one last.
    pub(super) fn pass_turn(&mut self, entry: &mut HeaderEntry) -> Result<bool> {
        let (present, open) = (self.turn.0, self.owners.len());
        for number in (present + 1..open).chain(0..=present) {
            if self.next_of(number, entry)? {
                self.turn = (number, TURN_ENTRIES - 1);
                return Ok(true);
            }
        }
        // What came before a flow was installed is in the queue of owner 0, so that one is first.
        self.turn = (0, TURN_ENTRIES);
        Ok(false)
    }

    /// Takes the next header entry of an owner into `entry`; those of others stay queued. Returns
    /// whether there was one.
    pub fn next_header_of(&mut self, owner: u8, entry: &mut HeaderEntry) -> Result<bool> {
        let unknown = DriverError::UnknownOwner { owner, open: self.owners() };
        let owner = self.owners.get_mut(usize::from(owner)).and_then(Option::as_mut);
        owner.ok_or(unknown)?.next_header(&mut self.bus, entry)
    }
}
