//! Messages in flight: what the endpoint has, by the number of its request.

use std::collections::HashMap;

use host::provider::RegionId;

/// Names a message of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The communicator.
    pub comm: u32,
    /// Number of the receive.
    pub slot: u32,
    /// Buffer of it.
    pub at: u8,
    /// Which of the messages of a long buffer.
    pub part: u32,
    /// Memory that the card uses.
    pub region: RegionId,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Flights {
    next: u64,
    open: HashMap<u64, Flight>,
}

impl Flights {
    /// A number for a message.
    pub fn add(&mut self, flight: Flight) -> u64 {
        self.next += 1;
        self.open.insert(self.next, flight);
        self.next
    }

    /// A message by its number.
    pub fn get(&self, request: u64) -> Option<Flight> {
        self.open.get(&request).copied()
    }

    /// It is over.
    pub fn remove(&mut self, request: u64) -> Option<Flight> {
        self.open.remove(&request)
    }

    /// The numbers of those that are such.
    pub fn that(&self, is_such: impl Fn(&Flight) -> bool) -> Vec<u64> {
        let such = self.open.iter().filter(|(_, flight)| is_such(flight));
        such.map(|(request, _)| *request).collect()
    }

    /// Whether any is such.
    pub fn any(&self, is_such: impl Fn(&Flight) -> bool) -> bool {
        self.open.values().any(is_such)
    }
}
