//! Outstanding reads of the card, by tag, and the completion buffer space that they may need.
//!
//! ```text
//!   issue(tag) -> Active -> advance(bytes) ... -> Completing -> free (the card took the last one)
//!                       \-> timeout -> Completing -> quarantined until reset
//! ```
//!
//! Invariants:
//! 1. a tag has at most one request; it is free only when the card has taken its last completion;
//! 2. `promised` is the sum over active requests of what their completions can still occupy.

use crate::tlp::{completion_data_max, completion_headers_max};
use std::collections::VecDeque;

/// Tags that exist.
const TAGS: usize = 256;

/// Headers and units of 16 bytes in the completion buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    pub headers: u32,
    pub data: u32,
}

/// A read that waits for completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// Next expected byte.
    pub address: u64,
    /// Bytes still expected.
    pub remaining: u32,
    pub attributes: u8,
    pub traffic_class: u8,
    serial: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Slot {
    #[default]
    Free,
    Active(Read),
    Completing,
}

/// Why a tag cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagError {
    Outstanding,
    Quarantined,
}

/// All tags.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    slots: [Slot; TAGS],
    quarantined: [bool; TAGS],
    rcb: u32,
    promised: Room,
    in_flight: u32,
    serial: u64,
    /// Deadline, tag and serial in order of issue.
    deadlines: VecDeque<(u64, u8, u64)>,
}

impl Tags {
    /// All tags free; completions are cut at multiples of `rcb`.
    pub fn new(rcb: u32) -> Self {
        Self {
            slots: [Slot::Free; TAGS],
            quarantined: [false; TAGS],
            rcb,
            promised: Room::default(),
            in_flight: 0,
            serial: 0,
            deadlines: VecDeque::new(),
        }
    }

    /// Completion buffer space that the active reads may still need.
    pub fn promised_room(&self) -> Room {
        self.promised
    }

    /// Tags that are not free.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Starts a read; on error the tag keeps its previous request.
    pub fn issue(
        &mut self,
        tag: u8,
        request: &crate::tlp::Request,
        deadline: Option<u64>,
    ) -> Result<(), TagError> {
        let index = usize::from(tag);
        if self.slots[index] != Slot::Free {
            return Err(TagError::Outstanding);
        }
        self.serial += 1;
        let read = Read {
            address: request.first_byte(),
            remaining: request.byte_count(),
            attributes: request.attributes,
            traffic_class: request.traffic_class,
            serial: self.serial,
        };
        self.slots[index] = Slot::Active(read);
        self.in_flight += 1;
        self.promise(read.address, read.remaining, true);
        if let Some(deadline) = deadline {
            self.deadlines.push_back((deadline, tag, self.serial));
        }
        match self.quarantined[index] {
            true => Err(TagError::Quarantined),
            false => Ok(()),
        }
    }

    /// The read that waits under `tag`.
    pub fn active(&self, tag: u8) -> Option<Read> {
        match self.slots[usize::from(tag)] {
            Slot::Active(read) => Some(read),
            _ => None,
        }
    }

    /// `bytes` more bytes have arrived; true when they were the last.
    pub fn advance(&mut self, tag: u8, bytes: u32) -> bool {
        let Some(read) = self.active(tag) else { return false };
        self.promise(read.address, read.remaining, false);
        let remaining = read.remaining - bytes.min(read.remaining);
        if remaining == 0 {
            self.slots[usize::from(tag)] = Slot::Completing;
            return true;
        }
        let address = read.address + u64::from(bytes);
        self.promise(address, remaining, true);
        self.slots[usize::from(tag)] = Slot::Active(Read { address, remaining, ..read });
        false
    }

    /// No more completions are expected for `tag`.
    pub fn terminate(&mut self, tag: u8) {
        if let Some(read) = self.active(tag) {
            self.promise(read.address, read.remaining, false);
            self.slots[usize::from(tag)] = Slot::Completing;
        }
    }

    /// The card has taken the last completion of `tag`.
    pub fn free(&mut self, tag: u8) {
        let slot = &mut self.slots[usize::from(tag)];
        if *slot == Slot::Completing {
            *slot = Slot::Free;
            self.in_flight -= 1;
        }
    }

    /// The next tag whose read has timed out; it becomes quarantined.
    pub fn timed_out(&mut self, now: u64) -> Option<u8> {
        while let Some((deadline, tag, serial)) = self.deadlines.front().copied() {
            let waiting = self.active(tag).is_some_and(|read| read.serial == serial);
            if waiting && deadline > now {
                return None;
            }
            self.deadlines.pop_front();
            if waiting {
                self.terminate(tag);
                self.quarantined[usize::from(tag)] = true;
                return Some(tag);
            }
        }
        None
    }

    /// Ends every active read, as a function level reset does, and lifts every quarantine.
    pub fn terminate_all(&mut self) -> Vec<u8> {
        self.quarantined = [false; TAGS];
        self.deadlines.clear();
        let active = |tag: &u8| matches!(self.slots[usize::from(*tag)], Slot::Active(_));
        let tags: Vec<u8> = (0..=u8::MAX).filter(active).collect();
        tags.iter().for_each(|tag| self.terminate(*tag));
        tags
    }

    fn promise(&mut self, address: u64, bytes: u32, add: bool) {
        let headers = completion_headers_max(address, bytes, self.rcb);
        let data = completion_data_max(address, bytes);
        let apply = |sum: &mut u32, part| *sum = if add { *sum + part } else { *sum - part };
        apply(&mut self.promised.headers, headers);
        apply(&mut self.promised.data, data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlp::Request;

    #[test]
    fn promise_shrinks_to_zero_with_completions() {
        let mut tags = Tags::new(64);
        tags.issue(3, &Request::read(0x1030, 200, 3), None).unwrap();
        assert_eq!(tags.promised_room(), Room { headers: 4, data: 13 });
        assert!(!tags.advance(3, 16));
        assert_eq!(tags.promised_room(), Room { headers: 3, data: 12 });
        assert!(tags.advance(3, 184));
        assert_eq!(tags.promised_room(), Room::default());
        let again = Request::read(0x1000, 4, 3);
        assert_eq!(tags.issue(3, &again, None), Err(TagError::Outstanding));
        tags.free(3);
        assert_eq!(tags.issue(3, &again, None), Ok(()));
    }

    #[test]
    fn tag_is_free_behind_last_completion() {
        let mut tags = Tags::new(64);
        let read = Request::read(0, 128, 9);
        tags.issue(9, &read, None).unwrap();
        assert!(!tags.advance(9, 64));
        // Neither does a completion that is not the last one free it, nor one of another read.
        tags.free(9);
        tags.free(10);
        assert_eq!(tags.issue(9, &read, None), Err(TagError::Outstanding));
        assert!(tags.advance(9, 64));
        tags.free(9);
        assert_eq!(tags.in_flight, 0);
        assert_eq!(tags.issue(9, &read, None), Ok(()));
    }

    #[test]
    fn timed_out_tag_waits_for_reset() {
        let mut tags = Tags::new(64);
        let read = Request::read(0, 4, 9);
        tags.issue(9, &read, Some(100)).unwrap();
        assert_eq!(tags.timed_out(99), None);
        assert_eq!(tags.timed_out(100), Some(9));
        assert_eq!(tags.timed_out(100), None);
        tags.free(9);
        assert_eq!(tags.issue(9, &read, None), Err(TagError::Quarantined));
        assert_eq!(tags.terminate_all(), vec![9]);
        tags.free(9);
        assert_eq!(tags.issue(9, &read, None), Ok(()));
    }
}
