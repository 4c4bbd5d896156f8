//! Interrupts of a device: raised by event descriptors of the client.
//!
//! ```text
//!   raise ──► masked, or no event yet? ── yes ──► pending ── event comes, or unmasked ─┐
//!                                    └─ no ───────────────────────────────────────────┴─► event
//! ```
//! Invariants
//! 1. An interrupt that is raised while nobody can be told is told later, once.
//! 2. Telling never blocks: an event that cannot take one more is told already.

use std::os::fd::OwnedFd;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::codec::{Action, Choice, SetInterrupts};
use crate::description::InterruptType;

#[derive(Debug, Default)]
struct Vector {
    event: Option<OwnedFd>,
    is_masked: bool,
    is_pending: bool,
}

impl Vector {
    /// Tells the client, or keeps it for later.
    fn raise(&mut self) {
        self.is_pending = true;
        self.tell();
    }

    fn tell(&mut self) {
        if let (true, false, Some(event)) = (self.is_pending, self.is_masked, &self.event) {
            self.is_pending = false;
            signal(event);
        }
    }
}

fn signal(event: &OwnedFd) {
    let mut list = [PollFd::new(event, PollFlags::OUT)];
    let is_free = poll(&mut list, Some(&Timespec::default())) == Ok(1)
        && list[0].revents().contains(PollFlags::OUT);
    if is_free {
        // What the client has done to its own descriptor is its own affair.
        let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
    }
}

/// All interrupts of a device, for one client.
#[derive(Debug)]
pub(crate) struct Interrupts {
    types: Vec<Vec<Vector>>,
}

impl Interrupts {
    pub(crate) fn new(types: &[InterruptType]) -> Self {
        let vectors = |it: &InterruptType| (0..it.count).map(|_| Vector::default()).collect();
        Self { types: types.iter().map(vectors).collect() }
    }

    /// Carries out an order of the client.
    pub(crate) fn set(&mut self, order: &SetInterrupts, events: Vec<OwnedFd>) -> Result<(), Errno> {
        let vectors = self.types.get_mut(order.index as usize).ok_or(Errno::INVAL)?;
        let (start, count) = (order.start as usize, order.count as usize);
        let is_end = count == 0 && start == 0;
        let end = start.checked_add(count).ok_or(Errno::INVAL)?;
        let range = vectors.get_mut(start..end).ok_or(Errno::INVAL)?;
        if !matches!(order.choice, Choice::Events) && !events.is_empty() {
            return Err(Errno::INVAL);
        }
        match (&order.choice, order.action) {
            (Choice::All, Action::Trigger) if is_end => {
                vectors.iter_mut().for_each(|vector| *vector = Vector::default());
            }
            _ if count == 0 => return Err(Errno::INVAL),
            (Choice::Events, Action::Trigger) => attach(range, events)?,
            // An event for the client's own masking: nobody here has a use for it.
            (Choice::Events, _) => return Err(Errno::OPNOTSUPP),
            (Choice::All, action) => range.iter_mut().for_each(|vector| act(vector, action)),
            (Choice::Some(chosen), action) => {
                let chosen = range.iter_mut().zip(chosen).filter(|(_, chosen)| **chosen);
                chosen.for_each(|(vector, _)| act(vector, action));
            }
        }
        Ok(())
    }

    /// Raises one.
    pub(crate) fn raise(&mut self, index: u32, vector: u32) -> Result<(), Errno> {
        let vectors = self.types.get_mut(index as usize).ok_or(Errno::INVAL)?;
        vectors.get_mut(vector as usize).ok_or(Errno::INVAL)?.raise();
        Ok(())
    }

    /// Whether one was raised and could not be told.
    pub(crate) fn is_pending(&self, index: u32, vector: u32) -> bool {
        let vector = self.types.get(index as usize).and_then(|it| it.get(vector as usize));
        vector.is_some_and(|vector| vector.is_pending)
    }

    /// Forgets what is pending: the device was reset.
    pub(crate) fn clear_pending(&mut self) {
        self.types.iter_mut().flatten().for_each(|vector| vector.is_pending = false);
    }
}

/// Gives each its event, or takes all of them away.
fn attach(range: &mut [Vector], events: Vec<OwnedFd>) -> Result<(), Errno> {
    match events.len() {
        0 => range.iter_mut().for_each(|vector| vector.event = None),
        count if count == range.len() => {
            for (vector, event) in range.iter_mut().zip(events) {
                vector.event = Some(event);
                vector.tell();
            }
        }
        _ => return Err(Errno::INVAL),
    }
    Ok(())
}

fn act(vector: &mut Vector, action: Action) {
    match action {
        Action::Mask => vector.is_masked = true,
        Action::Unmask => {
            vector.is_masked = false;
            vector.tell();
        }
        Action::Trigger => vector.raise(),
    }
}
