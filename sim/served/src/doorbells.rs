//! Doorbell pages that the client maps: it stores, and the card looks.
//!
//! ```text
//!   client ── store ──► page of owner n ◄── look ── card: what has changed is a register write
//!          ── message ─────────────────────────────► looks first, then carries it out
//! ```
//! The pages are a file, another one for each client: who has gone stores nothing any more, even if
//! a child of its has the pages still.
//!
//! Invariants
//! 1. What was stored before a message was sent is seen before that is carried out.
//! 2. A page is emptied when the context of its owner is disabled, and when an epoch begins:
//!    nothing that was stored before reaches new rings. What is stored from then on counts when the
//!    context is enabled: that write may be a message still on its way when its sender rings.
//! 3. Producer and consumer indices only grow: of several stores the last one is enough. Each store
//!    to an arming doorbell is seen, or a later one instead of it, which arms as well.

use abi::registers as r;
use vfio_user::codec::Area;
use vfio_user::{Errno, Mapping, SharedFile, SharedPages};

/// Doorbells that hold an index.
const INDICES: [u32; 4] =
    [r::DOORBELL_SLOW, r::DOORBELL_HEADER, r::DOORBELL_COMMAND, r::DOORBELL_SEND];
/// Doorbells that arm the interrupt: the same value may come twice.
const ARMS: [u32; 3] = [r::DOORBELL_ARM, r::DOORBELL_ARM_COMMANDS, r::DOORBELL_ARM_SENDS];
/// A taken arming doorbell is changed by this: no client is half of all indices away.
const TAKEN: u32 = 1 << 31;
/// Stores of one doorbell that are taken at one look; more wait for the next.
const STORES_MAX: usize = 4;

/// What was seen of an owner's page.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    is_enabled: bool,
    indices: [u32; INDICES.len()],
    arms: [u32; ARMS.len()],
}

/// The pages of all owners.
#[derive(Debug)]
pub struct Doorbells {
    pages: Mapping,
    owners: Vec<Seen>,
}

impl Doorbells {
    /// New pages, and what the client gets of them.
    pub fn new(owners: usize) -> Result<(Self, SharedPages), Errno> {
        let file = SharedFile::new(r::BAR_BYTES)?;
        let (offset, bytes) = (u64::from(r::DOORBELLS), owners * r::DOORBELL_STRIDE as usize);
        let areas = vec![Area { offset, bytes: bytes as u64 }];
        let shared = SharedPages { file: file.into(), file_offset: 0, areas };
        let pages = Mapping::new(std::os::fd::AsFd::as_fd(&shared.file), offset, bytes, true)?;
        let mut doorbells = Self { pages, owners: vec![Seen::default(); owners] };
        doorbells.clear();
        Ok((doorbells, shared))
    }

    /// A register is written: a context that is enabled has a page, one that is disabled has none,
    /// and a new epoch has no context.
    pub fn note_register(&mut self, offset: u32, value: u32) {
        if offset == r::CONTROL && value & r::CONTROL_RESET != 0 {
            self.clear();
            return;
        }
        let Some(at) = offset.checked_sub(r::CONTEXTS) else { return };
        let owner = (at / r::CONTEXT_STRIDE) as usize;
        if at % r::CONTEXT_STRIDE == r::CONTEXT_ENABLE && owner < self.owners.len() {
            let is_enabled = value & 1 == 1;
            // Whoever enables a context twice has had rings there: they begin anew.
            if !is_enabled || self.owners[owner].is_enabled {
                self.empty(owner);
            }
            self.owners[owner].is_enabled = is_enabled;
        }
    }

    /// No context is enabled any more.
    pub fn clear(&mut self) {
        (0..self.owners.len()).for_each(|owner| self.empty(owner));
    }

    fn empty(&mut self, owner: usize) {
        let page = page(owner);
        for word in INDICES.iter().chain(&[r::DOORBELL_STATUS]) {
            self.pages.store(page + *word as usize, 0);
        }
        for word in ARMS {
            self.pages.store(page + word as usize, TAKEN);
        }
        let arms = [TAKEN; ARMS.len()];
        self.owners[owner] = Seen { arms, ..Seen::default() };
    }

    /// What [`r::DOORBELL_STATUS`] of an owner reads.
    pub fn set_status(&mut self, owner: usize, status: u32) {
        if self.owners[owner].is_enabled {
            self.pages.store(page(owner) + r::DOORBELL_STATUS as usize, status);
        }
    }

    /// Adds what the client has stored since the last look, as register writes.
    pub fn look(&mut self, writes: &mut Vec<(u32, u32)>) {
        let owners = self.owners.iter_mut().enumerate();
        for (owner, seen) in owners.filter(|(_, seen)| seen.is_enabled) {
            let page = page(owner);
            let mut add = |word: u32, value: u32| {
                writes.push((r::DOORBELLS + page as u32 + word, value));
            };
            for (word, seen) in INDICES.iter().zip(&mut seen.indices) {
                let value = self.pages.load(page + *word as usize);
                if value != *seen {
                    *seen = value;
                    add(*word, value);
                }
            }
            for (word, seen) in ARMS.iter().zip(&mut seen.arms) {
                let at = page + *word as usize;
                for _ in 0..STORES_MAX {
                    let value = self.pages.load(at);
                    if value == *seen {
                        break;
                    }
                    add(*word, value);
                    if self.pages.replace(at, value, value ^ TAKEN) {
                        *seen = value ^ TAKEN;
                        break;
                    }
                }
            }
        }
    }
}

fn page(owner: usize) -> usize {
    owner * r::DOORBELL_STRIDE as usize
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    const ENABLE: u32 = r::CONTEXTS + r::CONTEXT_STRIDE + r::CONTEXT_ENABLE;
    const PAGE: u32 = r::DOORBELLS + r::DOORBELL_STRIDE;

    struct Rig {
        doorbells: Doorbells,
        client: Mapping,
    }

    impl Rig {
        fn new() -> Self {
            let (mut doorbells, shared) = Doorbells::new(4).expect("pages");
            doorbells.note_register(ENABLE, 1);
            let Area { offset, bytes } = shared.areas[0];
            let client = Mapping::new(shared.file.as_fd(), offset, bytes as usize, true);
            Self { doorbells, client: client.expect("pages") }
        }

        fn store(&self, word: u32, value: u32) {
            self.client.store((r::DOORBELL_STRIDE + word) as usize, value);
        }

        fn look(&mut self) -> Vec<(u32, u32)> {
            let mut writes = Vec::new();
            self.doorbells.look(&mut writes);
            writes
        }
    }

    #[test]
    fn each_store_is_seen_once() {
        let mut rig = Rig::new();
        assert_eq!(rig.look(), []);
        for (word, value) in [(r::DOORBELL_SEND, 3), (r::DOORBELL_COMMAND, 1), (r::DOORBELL_ARM, 0)]
        {
            rig.store(word, value);
            assert_eq!(rig.look(), [(PAGE + word, value)]);
            assert_eq!(rig.look(), []);
        }
    }

    /// Owner and ring are the same, nothing has arrived meanwhile: it is to be armed all the same.
    #[test]
    fn owner_is_armed_twice_by_index() {
        let mut rig = Rig::new();
        for value in [5, 5, 5, 6, u32::MAX, 0, 0] {
            rig.store(r::DOORBELL_ARM_SENDS, value);
            assert_eq!(rig.look(), [(PAGE + r::DOORBELL_ARM_SENDS, value)]);
        }
    }

    #[test]
    fn stores_before_new_rings_are_forgotten() {
        let mut rig = Rig::new();
        rig.store(r::DOORBELL_SEND, 7);
        rig.store(r::DOORBELL_ARM, 7);
        rig.doorbells.note_register(ENABLE, 1);
        assert_eq!(rig.look(), [], "it was enabled before");
        for end in [(ENABLE, 0), (r::CONTROL, r::CONTROL_RESET)] {
            rig.store(r::DOORBELL_SEND, 8);
            rig.doorbells.note_register(end.0, end.1);
            assert_eq!(rig.look(), [], "no context is enabled");
            rig.doorbells.note_register(ENABLE, 1);
            assert_eq!(rig.look(), []);
        }
        rig.store(r::DOORBELL_SEND, 1);
        assert_eq!(rig.look(), [(PAGE + r::DOORBELL_SEND, 1)]);
    }

    /// Its sender does not wait, as behind QEMU.
    #[test]
    fn store_that_overtakes_enable_counts() {
        let mut rig = Rig::new();
        rig.doorbells.note_register(ENABLE, 0);
        rig.store(r::DOORBELL_SEND, 1);
        rig.store(r::DOORBELL_ARM, 0);
        assert_eq!(rig.look(), [], "the message is on its way");
        rig.doorbells.note_register(ENABLE, 1);
        assert_eq!(rig.look(), [(PAGE + r::DOORBELL_SEND, 1), (PAGE + r::DOORBELL_ARM, 0)]);
    }

    #[test]
    fn client_reads_status_in_own_page() {
        let mut rig = Rig::new();
        rig.doorbells.set_status(1, r::STATUS_SEND_STOPPED);
        let at = (r::DOORBELL_STRIDE + r::DOORBELL_STATUS) as usize;
        assert_eq!(rig.client.load(at), r::STATUS_SEND_STOPPED);
        rig.doorbells.note_register(ENABLE, 0);
        assert_eq!(rig.client.load(at), 0);
    }
}
