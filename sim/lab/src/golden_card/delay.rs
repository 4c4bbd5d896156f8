//! A golden card that takes its time: at random, by seed, as late as the contract lets it be.
//!
//! ```text
//!   doorbells ─► wait, ring by ring ─► golden device ─► payload, slow buffers ──────► host memory
//!                                            └─ entries, confirmations, indices ─► wait ─┘
//! ```
//! The device does everything at once. It learns late, and in portions, what the host has posted,
//! and what it writes into a ring becomes visible late, and in portions. In some rounds descriptors
//! stop between their two look-ups.
//!
//! What the contract orders stays in order (specification, Fence and Rings):
//! 1. Commands and descriptors of a ring are taken as posted. Rings do not wait for each other.
//! 2. Payload and slow buffers are visible before their header entry.
//! 3. A confirmation becomes visible after every header entry that was written before it, and after
//!    every earlier confirmation. A header entry may pass earlier confirmations.
//! 4. The index of a send ring may lag behind everything.

use std::collections::{BTreeMap, VecDeque};

use abi::config::{COMPLETION_BYTES, SLOT_BYTES};
use abi::registers as r;
use golden::device::Memory;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::memory::HostMemory;

/// Rounds for which a ring is withheld, one of these.
const ROUNDS: [u32; 10] = [0, 0, 0, 1, 1, 2, 3, 5, 8, 25];
/// One round in so many begins a time in which descriptors stop between their look-ups.
const HOLD_EVERY: u32 = 16;
/// One round in so many ends it.
const RELEASE_EVERY: u32 = 4;
/// A doorbell further ahead than any ring is long is handed on as it is.
const AHEAD_MAX: u32 = 1 << 16;

/// What waits in order, for a number of rounds, then goes on in portions.
struct Waiting<T> {
    items: VecDeque<T>,
    rounds: u32,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { items: VecDeque::new(), rounds: 0 }
    }
}

impl<T> Waiting<T> {
    /// How many go on in this round.
    fn due(&mut self, random: &mut SmallRng) -> usize {
        if self.items.is_empty() {
            return 0;
        }
        if self.rounds > 0 {
            self.rounds -= 1;
            return 0;
        }
        self.rounds = ROUNDS.choose(random).copied().unwrap_or(0);
        random.random_range(1..=self.items.len())
    }
}

/// What a test withholds until it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withheld {
    /// The card takes no command, as if their fetch took long.
    Commands,
    /// Commands take effect, and no confirmation becomes visible.
    Confirmations,
    /// The card takes no descriptor of this owner: its ring stays full.
    SendsOf(u8),
}

/// A write into host memory: address and bytes.
type Write = (u64, Vec<u8>);

/// What a ring's memory is for.
enum Ring {
    Completion,
    SendStatus,
    Header,
}

/// The doorbell of a ring: the values that wait, the last one handed over, whether it counts
/// commands.
#[derive(Default)]
struct Doorbell {
    waiting: Waiting<u32>,
    last: u32,
    counts_commands: bool,
}

/// What the card has not done yet. See the head of this file.
pub(super) struct Delay {
    random: SmallRng,
    contexts: Vec<[u32; 16]>,
    doorbells: BTreeMap<u32, Doorbell>,
    headers: Waiting<Write>,
    /// Header entries written, and shown to the host.
    written: u64,
    shown: u64,
    /// Confirmations, each with the number of header entries written before it.
    confirmations: Waiting<(u64, Write)>,
    statuses: Waiting<Write>,
    withheld: Option<Withheld>,
}

/// Whether a doorbell is kept from the card without end.
fn withholds(withheld: Option<Withheld>, offset: u32, doorbell: &Doorbell) -> bool {
    let owner = ((offset - r::DOORBELLS) / r::DOORBELL_STRIDE) as u8;
    match withheld {
        Some(Withheld::Commands) => doorbell.counts_commands,
        Some(Withheld::SendsOf(other)) => !doorbell.counts_commands && owner == other,
        Some(Withheld::Confirmations) | None => false,
    }
}

impl Delay {
    /// A card of so many owners.
    pub(super) fn new(owners: usize, seed: u64) -> Self {
        Self {
            random: SmallRng::seed_from_u64(seed),
            contexts: vec![[0; 16]; owners],
            doorbells: BTreeMap::new(),
            headers: Waiting::default(),
            written: 0,
            shown: 0,
            confirmations: Waiting::default(),
            statuses: Waiting::default(),
            withheld: None,
        }
    }

    /// From now on this waits, and nothing else without end.
    pub(super) fn withhold(&mut self, withheld: Option<Withheld>) {
        self.withheld = withheld;
    }

    /// Whether nothing waits but what is withheld, which does not come by itself.
    pub(super) fn is_empty(&self) -> bool {
        let comes = |(&offset, doorbell): (&u32, &Doorbell)| {
            !doorbell.waiting.items.is_empty() && !withholds(self.withheld, offset, doorbell)
        };
        let confirms = self.withheld != Some(Withheld::Confirmations);
        !self.doorbells.iter().any(comes)
            && self.headers.items.is_empty()
            && (!confirms || self.confirmations.items.is_empty())
            && self.statuses.items.is_empty()
    }

    /// Keeps the write of a doorbell for later. Returns whether it was one.
    pub(super) fn take_doorbell(&mut self, offset: u32, value: u32) -> bool {
        let Some(at) = offset.checked_sub(r::DOORBELLS) else { return false };
        let counts_commands = match at % r::DOORBELL_STRIDE {
            r::DOORBELL_COMMAND => true,
            r::DOORBELL_SEND => false,
            _ => return false,
        };
        if (at / r::DOORBELL_STRIDE) as usize >= self.contexts.len() {
            return false;
        }
        let doorbell = self.doorbells.entry(offset).or_default();
        doorbell.counts_commands = counts_commands;
        let ahead = value.wrapping_sub(doorbell.last);
        let items = &mut doorbell.waiting.items;
        match counts_commands && ahead < AHEAD_MAX {
            // The card may fetch any part of what is posted; a descriptor may have two slots.
            true => items.extend((1..=ahead).map(|step| doorbell.last.wrapping_add(step))),
            false => items.push_back(value),
        }
        doorbell.last = value;
        true
    }

    /// Notes the write of a register that is no doorbell of commands or sends.
    pub(super) fn note_register(&mut self, offset: u32, value: u32) {
        let at = offset.wrapping_sub(r::CONTEXTS);
        let owner = (at / r::CONTEXT_STRIDE) as usize;
        let Some(context) = self.contexts.get_mut(owner) else { return };
        let field = at % r::CONTEXT_STRIDE;
        context[field as usize / 4] = value;
        if field == r::CONTEXT_ENABLE {
            let page = r::DOORBELLS + owner as u32 * r::DOORBELL_STRIDE;
            self.doorbells.remove(&(page + r::DOORBELL_COMMAND));
            self.doorbells.remove(&(page + r::DOORBELL_SEND));
        }
    }

    /// The doorbells that reach the device in this round, in order.
    pub(super) fn due_doorbells(&mut self) -> Vec<(u32, u32)> {
        let mut due = Vec::new();
        for (&offset, doorbell) in &mut self.doorbells {
            if withholds(self.withheld, offset, doorbell) {
                continue;
            }
            let count = doorbell.waiting.due(&mut self.random);
            let mut values = doorbell.waiting.items.drain(..count);
            // Of commands the last value tells of all before it.
            match doorbell.counts_commands {
                true => due.extend(values.next_back().map(|value| (offset, value))),
                false => due.extend(values.map(|value| (offset, value))),
            }
        }
        due
    }

    /// All doorbells that wait.
    pub(super) fn all_doorbells(&mut self) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        for (&offset, doorbell) in &mut self.doorbells {
            all.extend(doorbell.waiting.items.drain(..).map(|value| (offset, value)));
        }
        all
    }

    /// Whether descriptors begin to stop between their look-ups, or cease to.
    pub(super) fn toggle_hold(&mut self, is_held: bool) -> bool {
        let every = if is_held { RELEASE_EVERY } else { HOLD_EVERY };
        self.random.random_ratio(1, every)
    }

    /// Shows the host what is due in this round.
    pub(super) fn show(&mut self, memory: &mut HostMemory) {
        let count = self.headers.due(&mut self.random);
        self.show_headers(count, memory);
        if self.withheld != Some(Withheld::Confirmations) {
            let count = self.confirmations.due(&mut self.random);
            self.show_confirmations(count, memory);
        }
        let count = self.statuses.due(&mut self.random);
        self.show_statuses(count, memory);
    }

    /// Shows the host everything.
    pub(super) fn show_all(&mut self, memory: &mut HostMemory) {
        self.show_headers(usize::MAX, memory);
        self.show_confirmations(usize::MAX, memory);
        self.show_statuses(usize::MAX, memory);
    }

    fn show_headers(&mut self, count: usize, memory: &mut HostMemory) {
        let count = count.min(self.headers.items.len());
        for (address, bytes) in self.headers.items.drain(..count) {
            memory.write(address, &bytes);
            self.shown += 1;
        }
    }

    fn show_confirmations(&mut self, count: usize, memory: &mut HostMemory) {
        let is_free = |(before, _): &&(u64, Write)| *before <= self.shown;
        let free = self.confirmations.items.iter().take(count);
        let free = free.take_while(is_free).count();
        for (_, (address, bytes)) in self.confirmations.items.drain(..free) {
            memory.write(address, &bytes);
        }
    }

    fn show_statuses(&mut self, count: usize, memory: &mut HostMemory) {
        let count = count.min(self.statuses.items.len());
        for (address, bytes) in self.statuses.items.drain(..count) {
            memory.write(address, &bytes);
        }
    }

    /// Which ring of an enabled owner an address lies in.
    fn ring(&self, address: u64) -> Option<Ring> {
        let is_enabled = |context: &&[u32; 16]| context[r::CONTEXT_ENABLE as usize / 4] & 1 == 1;
        self.contexts.iter().filter(is_enabled).find_map(|context| {
            let word = |offset: u32| context[offset as usize / 4];
            let bits = |byte: u32| word(r::CONTEXT_SIZES) >> (8 * byte) & 0xff;
            let is_in = |offset: u32, bytes: usize| {
                let base = u64::from(word(offset + 4)) << 32 | u64::from(word(offset));
                (base..base + bytes as u64).contains(&address)
            };
            if is_in(r::CONTEXT_COMPLETION_BASE, COMPLETION_BYTES << bits(0)) {
                Some(Ring::Completion)
            } else if is_in(r::CONTEXT_HEADER_BASE, SLOT_BYTES << bits(2)) {
                Some(Ring::Header)
            } else {
                is_in(r::CONTEXT_SEND_STATUS, 4).then_some(Ring::SendStatus)
            }
        })
    }
}

/// Host memory behind a card that takes its time.
pub(super) struct DelayedMemory<'a> {
    pub(super) memory: &'a mut HostMemory,
    pub(super) delay: &'a mut Delay,
}

impl Memory for DelayedMemory<'_> {
    fn read(&mut self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.memory.read(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> bool {
        let delay = &mut *self.delay;
        let ring = delay.ring(address);
        let Some(ring) = ring.filter(|_| self.memory.holds(address, bytes.len())) else {
            return self.memory.write(address, bytes);
        };
        let write = (address, bytes.to_vec());
        match ring {
            Ring::Header => {
                delay.written += 1;
                delay.headers.items.push_back(write);
            }
            Ring::Completion => delay.confirmations.items.push_back((delay.written, write)),
            Ring::SendStatus => delay.statuses.items.push_back(write),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> SmallRng {
        SmallRng::seed_from_u64(1)
    }

    #[test]
    fn waiting_items_continue_in_ordered_portions() {
        let mut waiting = Waiting::default();
        waiting.items.extend(0..1000);
        let (mut random, mut seen, mut portions, mut pauses) = (random(), Vec::new(), 0, 0);
        while !waiting.items.is_empty() {
            let count = waiting.due(&mut random);
            portions += usize::from(count > 0);
            pauses += usize::from(count == 0);
            seen.extend(waiting.items.drain(..count));
        }
        assert!(seen.iter().copied().eq(0..1000));
        assert!(portions > 2 && pauses > 2, "{portions} portions, {pauses} pauses");
    }

    #[test]
    fn commands_come_in_portions_descriptors_as_rung() {
        let mut delay = Delay::new(4, 1);
        let command = r::DOORBELLS + 2 * r::DOORBELL_STRIDE + r::DOORBELL_COMMAND;
        let send = r::DOORBELLS + 2 * r::DOORBELL_STRIDE + r::DOORBELL_SEND;
        assert!(delay.take_doorbell(command, 3) && delay.take_doorbell(command, 5));
        assert!(delay.take_doorbell(send, 4) && delay.take_doorbell(send, 9));
        let of = |delay: &mut Delay, at| -> Vec<u32> {
            let items = delay.doorbells[&at].waiting.items.iter();
            items.copied().collect()
        };
        assert_eq!(of(&mut delay, command), [1, 2, 3, 4, 5]);
        assert_eq!(of(&mut delay, send), [4, 9]);
        assert!(!delay.take_doorbell(r::DOORBELLS + r::DOORBELL_HEADER, 1));
        assert!(!delay.take_doorbell(r::DOORBELLS + 4 * r::DOORBELL_STRIDE, 1));
        // Wrong ones reach the card as they are: it has to find them.
        assert!(delay.take_doorbell(command, 4));
        assert_eq!(of(&mut delay, command)[5..], [4]);
    }

    #[test]
    fn confirmation_waits_for_earlier_entries_only() {
        let mut delay = Delay::new(1, 1);
        let mut memory = HostMemory::default();
        let write = || (0, Vec::new());
        delay.headers.items.extend([write(), write()]);
        delay.confirmations.items.extend([(1, write()), (2, write())]);
        let left = |delay: &Delay| (delay.headers.items.len(), delay.confirmations.items.len());
        delay.show_confirmations(2, &mut memory);
        assert_eq!(left(&delay), (2, 2));
        delay.show_headers(1, &mut memory);
        delay.show_confirmations(2, &mut memory);
        assert_eq!(left(&delay), (1, 1));
        delay.show_all(&mut memory);
        assert!(delay.is_empty());
    }
}
