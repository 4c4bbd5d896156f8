//! The memory in which the control stack holds what peers have sent and no application has taken
//! yet, shared by all connections.
//!
//! ```text
//!   a packet ─► room of its domain ─► kept, or its header is withheld (counted)
//!   announced, cancelled, removed ──► charged less
//! ```
//! A domain holds at most as much as is left for all others. So `k` domains whose peers send as
//! much as they can hold `1 / (k + 1)` of the memory each, and a further one always finds room.

/// Memory for all connections, bytes: deferred payload and the bookkeeping of what was placed.
pub const HELD_BYTES_MAX: usize = 512 << 20;

/// What the domains hold. See the head of this file.
#[derive(Debug)]
pub struct Budget {
    limit_bytes: usize,
    held_bytes: usize,
    /// By domain, as far as any holds or held something.
    by_domain: Vec<usize>,
}

impl Budget {
    /// Nothing is held, of at most `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, held_bytes: 0, by_domain: Vec::new() }
    }

    /// Bytes held.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Bytes that a domain may hold beside what it holds.
    pub fn room_bytes(&self, domain: u16) -> usize {
        let left = self.limit_bytes.saturating_sub(self.held_bytes);
        let own = self.by_domain.get(usize::from(domain)).copied().unwrap_or(0);
        left.saturating_sub(own) / 2
    }

    /// A connection of a domain holds `now` bytes; it held `before`.
    pub fn charge(&mut self, domain: u16, before: usize, now: usize) {
        if before == now {
            return;
        }
        let at = usize::from(domain);
        if self.by_domain.len() <= at {
            self.by_domain.resize(at + 1, 0);
        }
        self.by_domain[at] = (self.by_domain[at] + now).saturating_sub(before);
        self.held_bytes = (self.held_bytes + now).saturating_sub(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::connection::Connection;
    use crate::control::flow::deferred::{DEFERRED_BYTES_MAX, PIECE_BYTES};
    use crate::control::flow::receive::ReceiveSide;
    use crate::records::commands::FlowName;

    /// Takes all the room of a domain, 10 bytes at a time.
    fn fill(budget: &mut Budget, domain: u16) -> usize {
        let mut held = 0;
        while budget.room_bytes(domain) >= 10 {
            budget.charge(domain, held, held + 10);
            held += 10;
        }
        held
    }

    #[test]
    fn domain_returns_what_it_takes() {
        let mut budget = Budget::new(10_000);
        let first = fill(&mut budget, 1);
        assert!((4_900..=5_000).contains(&first), "{first}");
        let second = fill(&mut budget, 2);
        assert!((2_400..=2_500).contains(&second), "{second}");
        assert_eq!(fill(&mut budget, 1), 0);
        assert_eq!(budget.held_bytes(), first + second);
        budget.charge(1, first, 0);
        assert!(budget.room_bytes(2) >= 2_000);
        budget.charge(2, second, 0);
        assert_eq!((budget.held_bytes(), budget.by_domain.iter().sum()), (0, 0));
    }

    /// What a connection holds is charged to its domain, and no more than its room is kept.
    #[test]
    fn connection_without_room_keeps_next_byte() {
        let name = FlowName { flow: 1, generation: 1 };
        let mut connection = Connection::new(name, (1, 3));
        connection.receive = Some(ReceiveSide::new(1000, 1));
        let mut budget = Budget::new(10_000);
        let mut defer = |start, room_bytes, budget: &mut Budget| {
            let receive = connection.receive.as_mut().expect("it was set");
            receive.set_room(room_bytes);
            let is_kept = receive.defer(start, &[7; 100], DEFERRED_BYTES_MAX);
            connection.charge(budget);
            is_kept
        };
        assert!(!defer(500, 0, &mut budget));
        assert_eq!(budget.held_bytes(), 0);
        assert!(defer(0, 0, &mut budget), "TCP waits for byte 0");
        assert!(defer(500, 1000, &mut budget));
        assert!(!defer(900, 0, &mut budget));
        let held_bytes = 2 * (100 + PIECE_BYTES);
        assert_eq!(budget.held_bytes(), held_bytes);
        assert_eq!(budget.by_domain[3], held_bytes);
        connection.discharge(&mut budget);
        assert_eq!((budget.held_bytes(), budget.by_domain.iter().sum()), (0, 0));
    }
}
