//! The sleep of a device: on event descriptors where the bus has them, else in the bus.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::Device;
use crate::driver::bus::{Bus, BusError};
use crate::driver::error::Result;
use crate::driver::sleep;

impl<B: Bus> Device<B> {
    /// Sleeps until an interrupt comes or `other` is readable, at most for `limit`. Returns whether
    /// one of these has ended it.
    pub(super) fn sleep(&mut self, limit: Duration, other: Option<BorrowedFd<'_>>) -> Result<bool> {
        let failed = |error: io::Error| BusError::Device(error.to_string());
        let readable = |descriptors: &[BorrowedFd<'_>], limit| {
            let readable = sleep::until_readable(descriptors, limit);
            readable.map_err(failed)
        };
        let vectors = 0..self.owners.len() as u16;
        let vectors = vectors.filter(|at| self.owners[usize::from(*at)].is_some());
        let events: Option<Vec<_>> = vectors.map(|at| self.bus.interrupt_fd(at)).collect();
        if let Some(events) = events {
            let all: Vec<_> = events.iter().copied().chain(other).collect();
            let ready = readable(&all, limit)?;
            for (event, _) in events.iter().zip(&ready).filter(|(_, ready)| **ready) {
                sleep::drain(*event).map_err(failed)?;
            }
            return Ok(ready.contains(&true));
        }
        // The card's time passes in the call alone: what is ready now would wait for its end.
        let is_ready = |other: Option<BorrowedFd<'_>>| match other {
            Some(other) => readable(&[other], Duration::ZERO).map(|ready| ready[0]),
            None => Ok(false),
        };
        if is_ready(other)? {
            return Ok(true);
        }
        Ok(self.bus.wait_interrupt(limit)?.is_some() || is_ready(other)?)
    }
}
