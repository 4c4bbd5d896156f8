//! Communicators and listeners: what NCCL's threads and the thread of a card share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::message::Station;

use crate::abi::NcclResult;
use crate::request::Pool;

/// Bytes of a message: what is longer goes as several.
pub const MESSAGE_BYTES_MAX: u32 = 256 << 20;

const CONNECTING: i32 = -1;

/// Messages in which so many bytes go.
pub fn messages_of(bytes: u32) -> u32 {
    bytes.div_ceil(MESSAGE_BYTES_MAX)
}

/// A buffer that the receiver has posted, as the sender knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Number of the receive.
    pub slot: u32,
    /// Buffer of it.
    pub at: u8,
    /// Tag of the message that goes there.
    pub tag: i32,
    /// Most bytes.
    pub bytes_max: u32,
    /// Number of its first message; the others follow.
    pub first: u64,
}

/// One direction between two ranks.
#[derive(Debug)]
pub struct Comm {
    /// Number on its card.
    pub id: u32,
    /// Whether it sends.
    pub is_sender: bool,
    /// The other rank's card.
    pub peer: Station,
    /// Its requests.
    pub requests: Pool,
    /// [`CONNECTING`], or the result: 0 as long as all is well.
    state: AtomicI32,
    posted: Mutex<VecDeque<Posted>>,
}

impl Comm {
    /// A communicator with the rank at `peer`, not connected yet.
    pub fn new(id: u32, is_sender: bool, peer: Station) -> Self {
        let state = AtomicI32::new(CONNECTING);
        Self { id, is_sender, peer, requests: Pool::default(), state, posted: Mutex::default() }
    }

    /// `None` while it is being connected; then whether it works.
    pub fn state(&self) -> Option<NcclResult> {
        let state = self.state.load(Ordering::Acquire);
        (state != CONNECTING).then_some(NcclResult(state))
    }

    /// It is connected, or has failed. The first failure stays.
    pub fn set_state(&self, result: NcclResult) {
        let set = |from: i32| {
            let order = (Ordering::AcqRel, Ordering::Acquire);
            self.state.compare_exchange(from, result.0, order.0, order.1)
        };
        if set(CONNECTING).is_err() {
            let _ = set(NcclResult::SUCCESS.0);
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Posted>> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The receiver has posted buffers.
    pub fn add_posted(&self, posted: impl Iterator<Item = Posted>) {
        self.queue().extend(posted);
    }

    /// Takes the oldest buffer with this tag, if it holds so many bytes: otherwise its length.
    pub fn take_posted(&self, tag: i32, bytes: usize) -> Option<Result<Posted, u32>> {
        let mut queue = self.queue();
        let at = queue.iter().position(|posted| posted.tag == tag)?;
        let bytes_max = queue[at].bytes_max;
        if bytes > bytes_max as usize {
            return Some(Err(bytes_max));
        }
        queue.remove(at).map(Ok)
    }

    /// A buffer that was taken and is not used is the oldest again.
    pub fn give_posted_back(&self, posted: Posted) {
        let mut queue = self.queue();
        let behind = |other: &Posted| (other.slot, other.at) > (posted.slot, posted.at);
        let at = queue.iter().position(behind).unwrap_or(queue.len());
        queue.insert(at, posted);
    }
}

/// Where a rank waits for others to connect.
#[derive(Debug)]
pub struct Listener {
    /// Its name in the handle.
    pub nonce: u64,
    accepted: Mutex<VecDeque<Arc<Comm>>>,
}

impl Listener {
    /// A listener that nobody has connected to.
    pub fn new(nonce: u64) -> Self {
        Self { nonce, accepted: Mutex::default() }
    }

    /// Somebody has connected.
    pub fn add(&self, comm: Arc<Comm>) {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).push_back(comm);
    }

    /// The next one that has connected.
    pub fn take(&self) -> Option<Arc<Comm>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_buffer_of_a_tag_is_taken() {
        let peer = Station { mac: [2; 6], address: ([10, 0, 0, 1], 1).into() };
        let comm = Comm::new(1, true, peer);
        let place = |slot, tag| Posted { slot, at: 0, tag, bytes_max: 100, first: slot.into() };
        comm.add_posted([place(1, 5), place(2, 6), place(3, 5)].into_iter());
        assert_eq!(comm.take_posted(7, 1), None);
        assert_eq!(comm.take_posted(6, 101), Some(Err(100)));
        assert_eq!(comm.take_posted(5, 100), Some(Ok(place(1, 5))));
        comm.give_posted_back(place(1, 5));
        assert_eq!(comm.take_posted(5, 0), Some(Ok(place(1, 5))));
        assert_eq!(comm.take_posted(5, 0), Some(Ok(place(3, 5))));
        assert_eq!(comm.take_posted(5, 0), None);
    }

    #[test]
    fn first_failure_stays() {
        let peer = Station { mac: [2; 6], address: ([10, 0, 0, 1], 1).into() };
        let comm = Comm::new(1, true, peer);
        assert_eq!(comm.state(), None);
        comm.set_state(NcclResult::SUCCESS);
        comm.set_state(NcclResult::REMOTE);
        comm.set_state(NcclResult::SYSTEM);
        assert_eq!(comm.state(), Some(NcclResult::REMOTE));
    }
}
