//! What a card takes now and judges later, and what the ACK of a descriptor needs meanwhile.
//!
//! ```text
//!   packets ready ──► header queue
//!     └────────┐
//!   commands ──┼─► Kept ── in the same order, when it is asked ──► tables, peers
//!   sends ─────┘
//!     └─► Owed ── ACK ──► header queue
//! ```
//! The tables and peers of thousands of flows would empty the caches of a core between two polls of
//! its host, as no card does. What is here grows by a descriptor's bytes and is not read again
//! before the measurement is over.

use abi::config::COMMAND_BYTES;
use abi::send_descriptor as d;
use host::records::commands::FlowName;

use super::judge::Descriptor;
use super::offer::Offered;
use super::peer::answer;
use crate::null_protocol::header::{set_numbers, HEADER_BYTES};

/// What was taken from the host, or offered to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RingItem<'a> {
    /// Owner and command.
    Command(u8, &'a [u8; COMMAND_BYTES]),
    /// Owner and send descriptor, of one or two slots.
    Send(u8, &'a [u8]),
    /// The next packet of a peer.
    Offered(Offered),
}

/// What was taken without its bytes: their number of a send descriptor.
#[derive(Clone, Copy, Debug)]
enum Item {
    Command(u8),
    Send(u8, usize),
    Offered(Offered),
}

/// What was taken and offered, and is not judged: oldest first.
#[derive(Debug, Default)]
pub(super) struct UnjudgedItems {
    items: Vec<Item>,
    bytes: Vec<u8>,
}

impl UnjudgedItems {
    pub fn command(&mut self, owner: u8, entry: &[u8; COMMAND_BYTES]) {
        self.items.push(Item::Command(owner));
        self.bytes.extend_from_slice(entry);
    }

    pub fn send(&mut self, owner: u8, record: &[u8]) {
        self.items.push(Item::Send(owner, record.len()));
        self.bytes.extend_from_slice(record);
    }

    pub fn offered(&mut self, offered: Offered) {
        self.items.push(Item::Offered(offered));
    }

    /// All of it.
    pub fn iter(&self) -> impl Iterator<Item = RingItem<'_>> {
        let mut rest = &self.bytes[..];
        self.items.iter().filter_map(move |item| match *item {
            Item::Command(owner) => {
                let (entry, behind) = rest.split_first_chunk()?;
                rest = behind;
                Some(RingItem::Command(owner, entry))
            }
            Item::Send(owner, bytes) => {
                let (record, behind) = rest.split_at_checked(bytes)?;
                rest = behind;
                Some(RingItem::Send(owner, record))
            }
            Item::Offered(offered) => Some(RingItem::Offered(offered)),
        })
    }

    /// Forgets all of it, but not its memory.
    pub fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
    }
}

/// The ACK that a peer owes for a descriptor with payload. All is from the descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingAck {
    /// The peer, where the descriptor was judged at once.
    pub peer: Option<usize>,
    /// Its flow.
    pub flow: FlowName,
    pub owner: u8,
    /// What is not acknowledged: from and to.
    pub from: u32,
    pub to: u32,
    /// The next byte of the peer, as far as the host has acknowledged.
    pub next: u32,
    header: [u8; HEADER_BYTES],
}

impl PendingAck {
    pub fn new(descriptor: &Descriptor<'_>, owner: u8, peer: Option<usize>) -> Self {
        let from = descriptor.sequence();
        let get = |field: abi::field::Field| field.get(descriptor.record);
        Self {
            peer,
            flow: FlowName { flow: get(d::FLOW) as u16, generation: get(d::GENERATION) as u8 },
            owner,
            from,
            to: from.wrapping_add(descriptor.payload_bytes),
            next: descriptor.acknowledges(),
            header: answer(descriptor.header),
        }
    }

    /// The header from a peer whose next byte is `next`, that acknowledges up to `number`.
    pub fn acknowledge(&self, next: u32, number: u32) -> [u8; HEADER_BYTES] {
        let mut header = self.header;
        set_numbers(&mut header, next, number);
        header
    }
}
