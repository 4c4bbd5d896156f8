//! A card that does nothing but the contract, as fast as it can, and judges what it takes: what is
//! measured on it is the control stack alone.
//!
//! ```text
//!   host ── NullBus ── doorbells (atomics) ──► NullCard ── tables of the golden model
//!             │                                   │   └─── peers: one for each SYN
//!             └── control memory, in words ───────┘
//! ```
//! Payload is neither read nor written: a descriptor is its fields, a packet its header entry. A
//! card that was made to do so writes payload as well (`null_card/payload.rs`).
//! With many flows its tables would empty the caches of the host, as no card does: it can take now
//! and judge later ([`NullCard::judge_later`], `null_card/later.rs`).
//! The card runs in [`NullCard::step`], [`NullCard::offer`] and [`NullCard::acknowledge`]: between
//! the timed calls of the host, where nothing disturbs a figure, or in a thread of its own. It
//! shares nothing with its bus but control memory and what `null_card/shared.rs` holds.
//!
//! Invariants
//! 1. Every byte of the rings is as in the contract: phases, epochs, two slots, second slot first.
//! 2. A packet is offered only where window, segments and acceptance of its flow take it
//!    (`null_card/offer.rs`).
//! 3. Whatever is wrong is counted and kept: a measurement with [`NullCard::wrongs`] is void.

mod bus;
mod judge;
mod later;
mod offer;
mod offering;
pub mod payload;
mod peer;
pub mod rig;
mod rings;
mod shared;
mod turn;
mod wrong;

use std::collections::VecDeque;
use std::sync::Arc;

use abi::command::OPCODE;
use abi::config::{CardConfig, COMMAND_BYTES, FRAME_PAYLOAD_BYTES_MAX};
use abi::flow_key::Secret;
use abi::header_entry as h;
use abi::reason::{CommandStatus, Disposition};
use abi::registers as r;
use ahash::HashMap;
use golden::tables::Tables;
use host::records::commands::FlowName;

pub use self::bus::NullBus;
use self::judge::Descriptor;
use self::later::{PendingAck, RingItem, UnjudgedItems};
use self::offer::{common, Offer, NO_FLOW};
use self::payload::Pattern;
use self::peer::{tuple, Peer, Tuple};
use self::rings::{Memory, Rings};
use self::shared::{Setting, Shared};
use self::turn::Turn;
use self::wrong::equal;
pub use self::wrong::Wrong;

/// Wrongs that are kept; the others are only counted.
const WRONGS_KEPT: usize = 8;

/// What a card has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NullCounters {
    /// Packets with payload that were offered.
    pub packets: u64,
    /// ACKs without payload that were offered.
    pub acks: u64,
    /// Descriptors with payload.
    pub sends: u64,
    /// Payload bytes of these.
    pub sent_bytes: u64,
    /// Descriptors without payload.
    pub headers: u64,
    /// Commands.
    pub commands: u64,
    /// What was wrong.
    pub wrongs: u64,
}

/// The card. See the head of this file.
pub struct NullCard {
    shared: Arc<Shared>,
    memory: Memory,
    tables: Tables,
    owners: Vec<Rings>,
    peers: Vec<Peer>,
    names: HashMap<Tuple, usize>,
    /// Peers whose SYN-ACK is due.
    opening: VecDeque<usize>,
    /// ACKs for what was sent.
    owing: VecDeque<PendingAck>,
    /// What is judged later, if anything is.
    later: Option<UnjudgedItems>,
    turn: Turn,
    /// Packets that are ready to be offered.
    ready: VecDeque<Offer>,
    /// Packets that one header entry stands for, at most.
    run_packets: usize,
    record: Vec<u8>,
    payload: Option<Pattern>,
    counters: NullCounters,
    wrongs: Vec<Wrong>,
}

impl NullCard {
    /// A card of a configuration and its bus.
    pub fn new(config: CardConfig) -> (Self, NullBus) {
        Self::open(config, None)
    }

    /// A card that writes the payload of the packets that it offers, and its bus.
    pub fn with_payload(config: CardConfig) -> (Self, NullBus) {
        Self::open(config, Some(Pattern::new(FRAME_PAYLOAD_BYTES_MAX)))
    }

    fn open(config: CardConfig, payload: Option<Pattern>) -> (Self, NullBus) {
        let shared = Arc::new(Shared::new(config, payload.is_some()));
        let card = Self {
            shared: shared.clone(),
            memory: Memory::default(),
            tables: Tables::new(config),
            owners: (0..1 << config.owner_bits).map(Rings::new).collect(),
            peers: Vec::new(),
            names: HashMap::default(),
            opening: VecDeque::new(),
            owing: VecDeque::new(),
            later: None,
            turn: Turn::new(1),
            ready: VecDeque::new(),
            run_packets: 1,
            record: Vec::new(),
            payload,
            counters: NullCounters::default(),
            wrongs: Vec::new(),
        };
        (card, NullBus::new(shared))
    }

    /// What it has done.
    pub fn counters(&self) -> NullCounters {
        self.counters
    }

    /// The first things that were wrong.
    pub fn wrongs(&self) -> &[Wrong] {
        &self.wrongs
    }

    fn note(&mut self, result: Result<(), Wrong>) {
        if let Err(wrong) = result {
            self.counters.wrongs += 1;
            if self.wrongs.len() < WRONGS_KEPT {
                self.wrongs.push(wrong);
            }
        }
    }

    /// Takes what the host has set, its commands and its descriptors, and answers SYNs.
    pub fn step(&mut self) {
        for setting in self.shared.take_settings() {
            self.judge_kept();
            match setting {
                Setting::Memory(mapping) => self.memory.0.push(mapping),
                Setting::Register(offset, value) => self.set(offset, value),
            }
        }
        for owner in 0..self.owners.len() {
            if self.owners[owner].is_enabled() {
                self.take_commands(owner);
                self.take_sends(owner);
            }
        }
        while let Some(&at) = self.opening.front() {
            let header = self.peers[at].syn_ack();
            if !self.publish(0, NO_FLOW, 0, &header) {
                break;
            }
            self.opening.pop_front();
        }
    }

    fn set(&mut self, offset: u32, value: u32) {
        let contexts = r::CONTEXTS..r::CONTEXTS + r::CONTEXT_STRIDE * self.owners.len() as u32;
        if offset == r::CONTROL && value & r::CONTROL_RESET != 0 {
            self.tables.clear();
            self.owners = (0..self.owners.len()).map(Rings::new).collect();
        } else if (r::HASH_SECRET..r::PROFILES).contains(&offset) {
            let at = offset - r::HASH_SECRET;
            let (bank, word) = (at / r::HASH_SECRET_STRIDE, at % r::HASH_SECRET_STRIDE / 4);
            if let Some(secret) = self.tables.secrets.get_mut(bank as usize) {
                let mut words = *secret.words();
                if let Some(slot) = words.get_mut(word as usize) {
                    *slot = value;
                    *secret = Secret::new(words);
                }
            }
        } else if contexts.contains(&offset) {
            let at = offset - r::CONTEXTS;
            let owner = (at / r::CONTEXT_STRIDE) as usize;
            self.owners[owner].set(at % r::CONTEXT_STRIDE, value);
        }
    }

    fn apply(&mut self, owner: u8, entry: &[u8; COMMAND_BYTES]) -> CommandStatus {
        let status = self.tables.apply(owner, entry);
        if status != CommandStatus::Ok {
            let opcode = OPCODE.get(entry) as u8;
            let status = status.name();
            self.note(Err(Wrong::Command { opcode, status }));
        }
        status
    }

    fn take_commands(&mut self, owner: usize) {
        let mut is_open = false;
        while let Some(entry) = self.owners[owner].next_command(&self.shared, &self.memory) {
            self.counters.commands += 1;
            let status = match &mut self.later {
                Some(kept) => {
                    kept.command(owner as u8, &entry);
                    CommandStatus::Ok
                }
                None => self.apply(owner as u8, &entry),
            };
            is_open = status == CommandStatus::Ok;
            if !is_open {
                self.owners[owner].confirm(&self.shared, &self.memory, status);
            }
        }
        if is_open {
            self.owners[owner].confirm(&self.shared, &self.memory, CommandStatus::Ok);
        }
    }

    fn take_sends(&mut self, owner: usize) {
        let mut record = std::mem::take(&mut self.record);
        let mut any = false;
        while self.owners[owner].next_send(&self.shared, &self.memory, &mut record) {
            any = true;
            let taken = self.take_send(owner as u8, &record);
            self.note(taken);
        }
        if any {
            self.owners[owner].report_sends(&self.memory);
        }
        self.record = record;
    }

    fn take_send(&mut self, owner: u8, record: &[u8]) -> Result<(), Wrong> {
        let descriptor = Descriptor::read(record)?;
        if let Some(sequence) = descriptor.syn() {
            self.judge_kept();
            let name = tuple(descriptor.header);
            self.names.insert(name, self.peers.len());
            self.opening.push_back(self.peers.len());
            self.peers.push(Peer::new(descriptor.header, sequence));
            return Ok(());
        }
        let peer = match &mut self.later {
            Some(kept) => {
                kept.send(owner, record);
                None
            }
            None => Some(self.judge(owner, &descriptor)?),
        };
        match descriptor.payload_bytes {
            0 => self.counters.headers += 1,
            bytes => {
                self.counters.sends += 1;
                self.counters.sent_bytes += u64::from(bytes);
                self.owing.push_back(PendingAck::new(&descriptor, owner, peer));
            }
        }
        Ok(())
    }

    /// Judges a descriptor of a connection. Returns its peer.
    fn judge(&mut self, owner: u8, descriptor: &Descriptor<'_>) -> Result<usize, Wrong> {
        let unknown = Wrong::Header { bytes: descriptor.header.len() };
        let name = tuple(descriptor.header);
        let at = *self.names.get(&name).ok_or(unknown)?;
        let peer = &mut self.peers[at];
        if peer.flow.is_none() {
            peer.flow = self.tables.lookup(&peer.key);
        }
        descriptor.judge(peer, &self.tables, owner)?;
        Ok(at)
    }

    /// The same of one that was kept. Its ACK was made without its peer.
    fn judge_record(&mut self, owner: u8, record: &[u8]) -> Result<(), Wrong> {
        let descriptor = Descriptor::read(record)?;
        let at = self.judge(owner, &descriptor)?;
        let published = self.peers[at].published;
        match descriptor.payload_bytes {
            0 => Ok(()),
            _ => equal("ACK number", descriptor.acknowledges(), published),
        }
    }

    /// From now on commands and descriptors are taken, confirmed and acknowledged, and judged only
    /// by [`NullCard::judge_at_once`], or before something else depends on it, as packets do that
    /// are not ready. Who sends payload must have acknowledged all that was offered: the ACK for it
    /// has its sequence number from there.
    pub fn judge_later(&mut self) {
        self.later.get_or_insert_default();
    }

    /// Judges what was kept, and from now on what comes at once.
    pub fn judge_at_once(&mut self) {
        self.judge_kept();
        self.later = None;
    }

    fn judge_kept(&mut self) {
        let Some(mut kept) = self.later.take() else {
            return;
        };
        for taken in kept.iter() {
            let judged = match taken {
                RingItem::Command(owner, entry) => {
                    self.apply(owner, entry);
                    Ok(())
                }
                RingItem::Send(owner, record) => self.judge_record(owner, record),
                RingItem::Offered(offered) => self.judge_offered(offered),
            };
            self.note(judged);
        }
        kept.clear();
        self.later = Some(kept);
    }

    /// Publishes a header of a peer that is no payload's.
    fn publish(&mut self, owner: usize, name: FlowName, cursor: u32, header: &[u8]) -> bool {
        let rings = &mut self.owners[owner];
        if !rings.has_room(&self.shared) {
            return false;
        }
        let entry = [
            (h::DISPOSITION, Disposition::NoPayload as u64),
            (h::GENERATION, name.generation.into()),
            (h::FLOW, name.flow.into()),
            (h::FRAME_BYTES, header.len() as u64),
            (h::CURSOR, cursor.into()),
        ];
        let fields = common(header).into_iter().chain(entry);
        rings.publish(&self.memory, fields, header);
        true
    }

    /// Acknowledges all that was sent: an ACK for every `bytes` bytes, and one for the rest of each
    /// descriptor. Returns how many ACKs the queue took.
    pub fn acknowledge_every(&mut self, bytes: u32) -> usize {
        let mut taken = 0;
        while let Some(&owed) = self.owing.front() {
            let rest = owed.to.wrapping_sub(owed.from);
            let number = owed.from.wrapping_add(rest.min(bytes));
            if !self.publish_ack(&owed, number) {
                break;
            }
            taken += 1;
            match number == owed.to {
                true => drop(self.owing.pop_front()),
                false => self.owing[0].from = number,
            }
        }
        self.counters.acks += taken as u64;
        taken
    }

    fn publish_ack(&mut self, owed: &PendingAck, number: u32) -> bool {
        let next = owed.peer.map_or(owed.next, |at| self.peers[at].published);
        let header = owed.acknowledge(next, number);
        self.publish(owed.owner.into(), owed.flow, next, &header)
    }

    /// Acknowledges what was sent: up to `acks` descriptors with an ACK for `each` of them, or all
    /// of a peer at once. Returns how many ACKs the queue took.
    pub fn acknowledge(&mut self, acks: usize, each: bool) -> usize {
        let mut taken = 0;
        while taken < acks {
            let Some(&owed) = self.owing.front() else {
                break;
            };
            let next = self.owing.get(1).map(|next| next.flow);
            if each || next != Some(owed.flow) {
                if !self.publish_ack(&owed, owed.to) {
                    break;
                }
                taken += 1;
            }
            self.owing.pop_front();
        }
        self.counters.acks += taken as u64;
        taken
    }
}
