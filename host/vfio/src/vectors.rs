//! Interrupt vectors of a card: one event each.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use vfio_user::{Errno, Event};

/// The events of the vectors that are enabled.
#[derive(Default)]
pub struct Vectors {
    events: Vec<(u16, Event)>,
}

/// What ended a wait.
pub enum Woken {
    /// An interrupt of this vector.
    Vector(u16),
    /// The socket has something to say.
    Socket,
    /// Nothing, for as long as was allowed.
    Nothing,
}

impl Vectors {
    /// Takes the event of a vector.
    pub fn add(&mut self, vector: u16, event: Event) {
        self.events.retain(|(known, _)| *known != vector);
        self.events.push((vector, event));
    }

    /// The event of a vector, if it is enabled.
    pub fn descriptor(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        let found = self.events.iter().find(|(known, _)| *known == vector);
        found.map(|(_, event)| event.as_fd())
    }

    /// Waits for one of them, or for the socket, where there is one.
    pub fn wait(&self, socket: Option<BorrowedFd<'_>>, limit: Duration) -> Result<Woken, Errno> {
        if let Some(vector) = self.raised() {
            return Ok(Woken::Vector(vector));
        }
        let all = self.events.iter().map(|(_, event)| event.as_fd()).chain(socket);
        let mut sources: Vec<PollFd<'_>> =
            all.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)).collect();
        let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        match poll(&mut sources, Some(&limit)) {
            Ok(0) | Err(Errno::INTR) => return Ok(Woken::Nothing),
            Ok(_) => {}
            Err(error) => return Err(error),
        }
        Ok(self.raised().map_or(Woken::Socket, Woken::Vector))
    }

    fn raised(&self) -> Option<u16> {
        self.events.iter().find(|(_, event)| event.take() > 0).map(|(vector, _)| *vector)
    }
}
