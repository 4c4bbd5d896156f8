//! What NCCL's threads and the card's share of a card.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::message::Station;

use crate::cards::Card;
use crate::comm::Comm;

/// What both sides of the channel see.
pub struct Shared {
    /// As the environment names the card.
    pub name: String,
    /// Where the card is.
    pub station: Station,
    /// Longest IP packet, bytes.
    pub mtu_bytes: u16,
    /// Whether it is offered dma-bufs.
    pub takes_dma_bufs: bool,
    /// The thread sleeps, or is about to.
    pub is_asleep: AtomicBool,
    /// The card has failed.
    pub is_dead: AtomicBool,
    /// Wakes the thread.
    pub wake: OwnedFd,
    /// Flows of the card that no message has.
    flows: AtomicIsize,
    comms: Mutex<HashMap<u32, Arc<Comm>>>,
    next_comm: AtomicU32,
}

impl Shared {
    /// What is shared of a card that is to be opened.
    pub fn new(card: &Card, station: Station, wake: OwnedFd) -> Self {
        Self {
            name: card.name.clone(),
            station,
            mtu_bytes: card.mtu_bytes,
            takes_dma_bufs: card.takes_dma_bufs,
            is_asleep: AtomicBool::new(false),
            is_dead: AtomicBool::new(false),
            wake,
            flows: AtomicIsize::new(0),
            comms: Mutex::default(),
            next_comm: AtomicU32::new(1),
        }
    }

    /// A new communicator of this card.
    pub fn new_comm(&self, is_sender: bool, peer: Station) -> Arc<Comm> {
        let id = self.next_comm.fetch_add(1, Ordering::Relaxed);
        let comm = Arc::new(Comm::new(id, is_sender, peer));
        self.lock().insert(id, Arc::clone(&comm));
        comm
    }

    /// The communicators by number.
    pub fn lock(&self) -> MutexGuard<'_, HashMap<u32, Arc<Comm>>> {
        self.comms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives flows back, or the first ones.
    pub fn give_flows_back(&self, count: u32) {
        self.flows.fetch_add(count as isize, Ordering::AcqRel);
    }

    /// Takes flows for so many messages, if there are.
    pub fn take_flows(&self, count: u32) -> bool {
        let is_enough = self.flows.fetch_sub(count as isize, Ordering::AcqRel) >= count as isize;
        if !is_enough {
            self.give_flows_back(count);
        }
        is_enough
    }
}
