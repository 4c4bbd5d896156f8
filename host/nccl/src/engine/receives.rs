//! Receives: buffers expected, announced to the sender, filled.
//!
//! ```text
//!   irecv ─► each part expected ─► all ready, in order ─► announced ─► received ─► complete
//!                                          Length says what data alone would not ─┘
//! ```
//! Invariants
//! 1. A receive is announced when the card has confirmed all of its buffers, and after the one
//!    before it: the sender takes the oldest of a tag.
//! 2. It is complete when every byte of every buffer has come and the card is done with the rest.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::job::Place;
use crate::abi::NcclResult;
use crate::comm::{messages_of, Comm};
use crate::control::Control;

/// Names a receive: communicator and number.
pub type Key = (u32, u32);

/// One buffer.
#[derive(Debug)]
struct Buffer {
    place: Place,
    /// Messages that may come.
    parts: u32,
    /// Those of them that the card still has.
    open: u32,
    received_bytes: u64,
    length: Option<u32>,
}

impl Buffer {
    fn is_complete(&self) -> bool {
        let is_whole = |bytes: u32| u64::from(bytes) == self.received_bytes;
        self.open == 0 && self.length.is_some_and(is_whole)
    }
}

/// One receive.
#[derive(Debug)]
struct Receive {
    request: usize,
    first: u64,
    /// Parts that are not ready.
    unready: u32,
    buffers: Vec<Buffer>,
}

/// All receives that are not complete.
#[derive(Debug, Default)]
pub struct Receives {
    open: BTreeMap<Key, Receive>,
    /// By communicator, those that are not announced.
    unannounced: HashMap<u32, VecDeque<u32>>,
}

impl Receives {
    /// Buffers are expected, in messages from `first` on.
    pub fn add(&mut self, (comm, slot): Key, request: usize, first: u64, places: &[Place]) {
        let buffers: Vec<Buffer> = places
            .iter()
            .map(|place| {
                let parts = messages_of(place.bytes);
                Buffer { place: *place, parts, open: parts, received_bytes: 0, length: None }
            })
            .collect();
        let unready = buffers.iter().map(|buffer| buffer.parts).sum();
        self.open.insert((comm, slot), Receive { request, first, unready, buffers });
        self.unannounced.entry(comm).or_default().push_back(slot);
    }

    /// A part is ready.
    pub fn note_ready(&mut self, key: Key) {
        if let Some(receive) = self.open.get_mut(&key) {
            receive.unready = receive.unready.saturating_sub(1);
        }
    }

    /// The next receive of a communicator that is to be announced to the sender `sender`.
    pub fn announce(&mut self, comm: u32, sender: u32) -> Option<Control> {
        let waiting = self.unannounced.get_mut(&comm)?;
        let slot = *waiting.front()?;
        let Some(receive) = self.open.get(&(comm, slot)) else {
            waiting.pop_front();
            return None;
        };
        if receive.unready > 0 {
            return None;
        }
        waiting.pop_front();
        let places = receive.buffers.iter().map(|b| (b.place.tag, b.place.bytes)).collect();
        Some(Control::Posted { sender, slot, first: receive.first, places })
    }

    /// A part has ended, with so many bytes if it was received.
    pub fn end_part(&mut self, key: Key, at: u8, received_bytes: Option<u32>) {
        let receive = self.open.get_mut(&key);
        let Some(buffer) = receive.and_then(|r| r.buffers.get_mut(usize::from(at))) else {
            return;
        };
        buffer.open = buffer.open.saturating_sub(1);
        if let Some(bytes) = received_bytes {
            buffer.received_bytes += u64::from(bytes);
            if buffer.parts == 1 {
                buffer.length = Some(bytes);
            }
        }
    }

    /// The sender has said the length of a message. Returns how many parts come. `None` if there is
    /// no such buffer: it was given up; an error if it does not fit.
    pub fn set_length(&mut self, key: Key, at: u8, bytes: u32) -> Option<Result<u32, u32>> {
        let buffer = self.open.get_mut(&key)?.buffers.get_mut(usize::from(at))?;
        if bytes > buffer.place.bytes {
            return Some(Err(buffer.place.bytes));
        }
        buffer.length = Some(bytes);
        Some(Ok(messages_of(bytes)))
    }

    /// Ends a receive that is complete. Returns whether it is.
    pub fn settle(&mut self, key: Key, comm: &Comm) -> bool {
        let receive = self.open.get(&key);
        let Some(receive) = receive.filter(|r| r.buffers.iter().all(Buffer::is_complete)) else {
            return false;
        };
        let request = comm.requests.get(receive.request);
        for (at, buffer) in receive.buffers.iter().enumerate() {
            request.set_bytes(at, buffer.length.unwrap_or(0));
        }
        request.end(NcclResult::SUCCESS);
        self.open.remove(&key);
        true
    }

    /// Bit n: receive `next - 1 - n` of a communicator is not complete.
    pub fn missing(&self, comm: u32, next: u32) -> u64 {
        let open = self.open.range((comm, 0)..=(comm, u32::MAX)).map(|((_, slot), _)| *slot);
        let back = open.map(|slot| next.wrapping_sub(slot).wrapping_sub(1));
        back.filter(|back| *back < u64::BITS).fold(0, |bits, back| bits | 1 << back)
    }

    /// Gives up the receives of a communicator. Returns their requests.
    pub fn give_up(&mut self, comm: u32) -> Vec<usize> {
        self.unannounced.remove(&comm);
        let keys: Vec<Key> =
            self.open.range((comm, 0)..=(comm, u32::MAX)).map(|(k, _)| *k).collect();
        let open = &mut self.open;
        keys.iter().filter_map(|key| open.remove(key).map(|receive| receive.request)).collect()
    }
}
