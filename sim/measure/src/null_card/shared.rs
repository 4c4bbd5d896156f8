//! What the two sides of a null card have in common: doorbells, the epoch, settings on their way.
//!
//! ```text
//!   NullBus ── doorbells, epoch (atomics) ──────────────────► Device
//!           ── other registers, new memory (in order) ──────►
//! ```
//! The rings lie in control memory: both sides load and store its words, neither holds a reference
//! to bytes that the other writes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use abi::config::{CardConfig, EPOCH_MAX};
use host::driver::control_memory::ControlMemory;
use host::memory::ApplicationMapping;

/// Doorbells of an owner that the card reads: commands, sends, headers, slow buffers.
pub(super) const DOORBELLS: usize = 4;

/// log2 of the room that a piece of memory has on the bus: an address names its piece.
const PIECE_BITS: u32 = 32;

/// The bus address of a piece of memory.
pub(super) fn address_of(piece: usize) -> u64 {
    (piece as u64 + 1) << PIECE_BITS
}

/// The piece of a bus address.
pub(super) fn piece_at(address: u64) -> usize {
    ((address >> PIECE_BITS) as usize).wrapping_sub(1)
}

/// Memory of a host in another process, by its offset.
pub trait FarMemory: Send {
    /// Length.
    fn bytes(&self) -> usize;

    /// Copies out; whether it can.
    fn read(&self, offset: usize, into: &mut [u8]) -> bool;

    /// Copies in, the first word last; whether it can.
    fn write(&self, offset: usize, from: &[u8]) -> bool;
}

/// A piece of memory, as the card has it.
pub(super) enum Piece {
    /// Rings and slow buffers.
    Control(ControlMemory),
    /// An application's, of a card that writes payload.
    Application(ApplicationMapping),
    /// An application's, of a card that touches none.
    Untouched,
    /// Of a host in another process, of either kind.
    Far(Box<dyn FarMemory>),
}

/// Something that the host has set.
pub(super) enum Setting {
    /// A register other than a doorbell.
    Register(u32, u32),
    /// A piece of memory, at its bus address.
    Memory(u64, Piece),
    /// No memory is there any more.
    NoMemory(u64),
}

/// See the head of this file.
pub(super) struct Shared {
    pub config: CardConfig,
    /// The card writes payload.
    pub has_payload: bool,
    doorbells: Vec<[AtomicU32; DOORBELLS]>,
    /// By owner: bits of the doorbell page's status.
    stopped: Vec<AtomicU32>,
    epoch: AtomicU32,
    settings: Mutex<Vec<Setting>>,
}

impl Shared {
    pub fn new(config: CardConfig, has_payload: bool) -> Self {
        let owners = 0..1 << config.owner_bits;
        Self {
            config,
            has_payload,
            doorbells: owners.clone().map(|_| Default::default()).collect(),
            stopped: owners.map(|_| AtomicU32::new(0)).collect(),
            epoch: AtomicU32::new(1),
            settings: Mutex::default(),
        }
    }

    pub fn set(&self, setting: Setting) {
        let settings = self.settings.lock();
        settings.unwrap_or_else(PoisonError::into_inner).push(setting);
    }

    pub fn take_settings(&self) -> Vec<Setting> {
        let settings = self.settings.lock();
        std::mem::take(&mut *settings.unwrap_or_else(PoisonError::into_inner))
    }

    pub fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    pub fn start_epoch(&self) {
        let next = self.epoch() % u32::from(EPOCH_MAX) + 1;
        self.epoch.store(next, Ordering::Release);
    }

    /// Rings a doorbell: everything that was written before is visible to who reads it.
    pub fn ring(&self, owner: usize, doorbell: usize, value: u32) {
        let known = self.doorbells.get(owner);
        if let Some(known) = known.and_then(|known| known.get(doorbell)) {
            known.store(value, Ordering::Release);
        }
    }

    /// A ring has stopped, by its bit of the status.
    pub fn stop(&self, owner: usize, bit: u32) {
        self.stopped[owner].fetch_or(bit, Ordering::Release);
    }

    /// The context was enabled: what had stopped goes on.
    pub fn go_on(&self, owner: usize) {
        if let Some(stopped) = self.stopped.get(owner) {
            stopped.store(0, Ordering::Release);
        }
    }

    /// The status of a doorbell page.
    pub fn status(&self, owner: usize) -> u32 {
        self.stopped.get(owner).map_or(0, |stopped| stopped.load(Ordering::Acquire))
    }

    pub fn doorbell(&self, owner: usize, doorbell: usize) -> u32 {
        self.doorbells[owner][doorbell].load(Ordering::Acquire)
    }
}
