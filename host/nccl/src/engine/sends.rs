//! Sends: messages into buffers that the receiver has posted.

use std::collections::HashMap;

use crate::abi::NcclResult;
use crate::comm::Comm;

/// Names a send: communicator, number of the receive, buffer of it.
pub type Key = (u32, u32, u8);

/// One send.
#[derive(Debug)]
struct Send {
    request: usize,
    bytes: u32,
    /// Messages that the card still has.
    open: u32,
    /// As what it ends.
    result: NcclResult,
}

/// All sends that are not over.
#[derive(Debug, Default)]
pub struct Sends(HashMap<Key, Send>);

impl Sends {
    /// So many messages are sent.
    pub fn add(&mut self, key: Key, request: usize, bytes: u32, messages: u32) {
        let result = NcclResult::SUCCESS;
        self.0.insert(key, Send { request, bytes, open: messages, result });
    }

    /// A message has ended; the send may be over by that.
    pub fn end_part(&mut self, key: Key, comm: &Comm) {
        if let Some(send) = self.0.get_mut(&key) {
            send.open = send.open.saturating_sub(1);
        }
        self.settle(key, comm);
    }

    /// Ends a send that is over.
    pub fn settle(&mut self, key: Key, comm: &Comm) {
        let Some(send) = self.0.get(&key).filter(|send| send.open == 0) else {
            return;
        };
        let request = comm.requests.get(send.request);
        request.set_bytes(0, send.bytes);
        request.end(send.result);
        self.0.remove(&key);
    }

    /// The receiver is closed: what is not in `missing` ends well, when the card is done with it.
    pub fn note_closed(&mut self, comm: u32, next: u32, missing: u64) {
        for (key, send) in self.0.iter_mut().filter(|(key, _)| key.0 == comm) {
            let back = next.wrapping_sub(key.1).wrapping_sub(1);
            let is_missing = back >= u64::BITS || missing >> back & 1 == 1;
            if is_missing {
                send.result = NcclResult::REMOTE;
            }
        }
    }

    /// Gives up the sends of a communicator. Returns their requests.
    pub fn give_up(&mut self, comm: u32) -> Vec<usize> {
        let mut requests = Vec::new();
        self.0.retain(|key, send| {
            let is_other = key.0 != comm;
            if !is_other {
                requests.push(send.request);
            }
            is_other
        });
        requests
    }
}
