//! Restarts and closes the rings of one owner, while those of the others go on.
//!
//! ```text
//!   context disabled ─► fence of owner 0 ─┬─► rings empty ─► context enabled
//!                                         └─► closed ─► no read is left ─► memory back
//! ```
//! A context that is disabled makes the card forget what it had of its rings. What had begun
//! before may still be written, so a command of owner 0 follows: its confirmation comes behind all
//! that. Reads of a ring that was stopped may still be under way then. The card gives them up
//! after 50 ms, and only after that its memory goes back.
//!
//! Source: specification, Stopped rings and Fence; `hdl/host_interface/src/ring/ring_state.rs`.

use std::time::Duration;

use super::{Device, Lost};
use crate::driver::bus::Bus;
use crate::driver::error::{DriverError, Result};

/// Time that the fence of a command of owner 0 may take: the card gives up reads after 50 ms.
const FENCE_MAX: Duration = Duration::from_millis(200);
/// Time after which no read of a ring is under way: the card has given it up after 50 ms.
const READS_MAX: Duration = Duration::from_millis(60);
/// Fences until nothing of an owner is under way: a descriptor that was handed on with the first
/// has been taken over by the second.
const FENCES: u32 = 2;
/// A command that does nothing but be confirmed.
const NOP: [u8; abi::config::COMMAND_BYTES] = [0; abi::config::COMMAND_BYTES];

impl<B: Bus> Device<B> {
    /// Enables the context of an owner again, with empty rings: the way on for one whose ring has
    /// stopped. It waits for a fence, some microseconds. Packets of its flows that arrive meanwhile
    /// are dropped; header entries that were not taken yet stay to be taken. Flows stay installed.
    ///
    /// What was queued and not taken by the card is lost, and returned in numbers: who has flows
    /// there does not know how far they are, and removes them before.
    pub fn restart_owner(&mut self, owner: u8) -> Result<Lost> {
        self.disable(owner)?;
        let open = self.owners();
        let known = self.owners.get_mut(usize::from(owner)).and_then(Option::as_mut);
        let known = known.ok_or(DriverError::UnknownOwner { owner, open })?;
        known.enable_again(&mut self.bus)
    }

    /// Closes an owner, whose flows were removed. Its number is free for the next one; the memory
    /// of its rings goes back to the bus when the card has no read of it under way, in a later
    /// [`Device::poll`]. Header entries that were not taken are lost.
    pub fn close_owner(&mut self, owner: u8) -> Result<()> {
        self.disable(owner)?;
        let closed = self.owners[usize::from(owner)].take();
        let from = self.bus.now() + READS_MAX;
        self.leaving.extend(closed.map(|owner| (from, owner.into_memory())));
        Ok(())
    }

    /// Disables the context of an owner, and waits until nothing of it is under way.
    fn disable(&mut self, owner: u8) -> Result<()> {
        if owner == 0 {
            // The driver's own rings carry the fence.
            return Err(DriverError::UnknownOwner { owner, open: self.owners() });
        }
        let open = self.owners();
        let known = self.owners.get_mut(usize::from(owner)).and_then(Option::as_mut);
        let known = known.ok_or(DriverError::UnknownOwner { owner, open })?;
        known.disable(&mut self.bus)?;
        for _ in 0..FENCES {
            let fence = self.command(NOP);
            let end = self.bus.now() + FENCE_MAX;
            while !self.is_confirmed(fence) {
                if self.known_stopped(0).0 || self.bus.now() >= end {
                    return Err(DriverError::RingStopped { owner: 0, ring: "command" });
                }
                self.bus.advance()?;
                for owner in self.owners.iter_mut().flatten() {
                    owner.poll(&mut self.bus)?;
                }
            }
        }
        Ok(())
    }

    /// Releases the memory of closed owners whose time has come.
    #[cold]
    pub(super) fn release_closed(&mut self) -> Result<()> {
        let now = self.bus.now();
        while let Some(at) = self.leaving.iter().position(|(from, _)| *from <= now) {
            for ring in self.leaving.swap_remove(at).1 {
                self.bus.release_control(ring)?;
            }
        }
        Ok(())
    }
}
