//! Requests as NCCL tests them: one atomic load until they are done.
//!
//! ```text
//!   isend, irecv ─ take ─► Pending ── engine ──► Done ── test ──► free
//!                                      └───────► Failed ── test ─► free
//! ```
//! A request lies in the pool of its communicator, so its pointer stays good as long as that.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use crate::abi::{NcclResult, GROUP_MAX};

/// Requests of a communicator: twice what NCCL has in flight.
const POOL: usize = 64;
const PENDING: i32 = -1;

/// One request.
#[derive(Debug)]
pub struct Request {
    is_taken: AtomicBool,
    /// [`PENDING`], or the result.
    state: AtomicI32,
    count: AtomicU32,
    bytes: [AtomicU32; GROUP_MAX],
}

impl Request {
    /// The result, once there is one; then the request is free again. `bytes` gets the lengths.
    pub fn test(&self, bytes: impl FnMut(usize, u32)) -> Option<NcclResult> {
        let state = self.state.load(Ordering::Acquire);
        if state == PENDING {
            return None;
        }
        let mut bytes = bytes;
        for at in 0..self.count.load(Ordering::Relaxed) as usize {
            bytes(at, self.bytes[at].load(Ordering::Relaxed));
        }
        self.is_taken.store(false, Ordering::Release);
        Some(NcclResult(state))
    }

    /// Notes the length of message `at`.
    pub fn set_bytes(&self, at: usize, bytes: u32) {
        self.bytes[at].store(bytes, Ordering::Relaxed);
    }

    /// It is over: what [`Request::test`] sees from now on.
    pub fn end(&self, result: NcclResult) {
        self.state.store(result.0, Ordering::Release);
    }
}

/// The requests of a communicator.
#[derive(Debug)]
pub struct Pool(Box<[Request]>);

impl Default for Pool {
    fn default() -> Self {
        let request = |_| Request {
            is_taken: AtomicBool::new(false),
            state: AtomicI32::new(PENDING),
            count: AtomicU32::new(0),
            bytes: Default::default(),
        };
        Self((0..POOL).map(request).collect())
    }
}

impl Pool {
    /// Takes a free request of so many messages, if there is one. Returns its place.
    pub fn take(&self, count: usize) -> Option<usize> {
        let mut free = self.0.iter().enumerate();
        let (at, request) = free.find(|(_, r)| !r.is_taken.swap(true, Ordering::AcqRel))?;
        request.count.store(count as u32, Ordering::Relaxed);
        request.state.store(PENDING, Ordering::Release);
        Some(at)
    }

    /// The request of a place.
    pub fn get(&self, at: usize) -> &Request {
        &self.0[at]
    }

    /// Gives a request back that was not used.
    pub fn give_back(&self, at: usize) {
        self.0[at].is_taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_is_free_once_tested() {
        let pool = Pool::default();
        let taken: Vec<usize> = std::iter::from_fn(|| pool.take(2)).collect();
        assert_eq!(taken, (0..POOL).collect::<Vec<_>>());
        assert_eq!(pool.get(5).test(|_, _| panic!("it is pending")), None);
        pool.get(5).set_bytes(0, 7);
        pool.get(5).set_bytes(1, 9);
        pool.get(5).end(NcclResult::SUCCESS);
        let mut found = Vec::new();
        let result = pool.get(5).test(|at, bytes| found.push((at, bytes)));
        assert_eq!((result, found), (Some(NcclResult::SUCCESS), vec![(0, 7), (1, 9)]));
        assert_eq!(pool.take(1), Some(5));
        assert_eq!(pool.take(1), None);
    }
}
