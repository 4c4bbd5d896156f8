//! What a card takes now and judges later, and what the ACK of a descriptor needs meanwhile.
//!
//! ```text
//!   commands ──┐
//!   sends ─────┴─► Kept ── in the same order, when it is asked ──► tables, peers
//!     └─► Owed ── ACK ──► header queue
//! ```
//! The tables and peers of thousands of flows would empty the caches of a core between two polls of
//! its host, as no card does. What is here grows by a descriptor's bytes and is not read again
//! before the measurement is over.

use abi::config::COMMAND_BYTES;
use abi::send_descriptor as d;

use super::judge::Descriptor;
use super::peer::answer;
use crate::null_protocol::header::{set_numbers, HEADER_BYTES};

/// What was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A command.
    Command,
    /// A send descriptor, of one or two slots.
    Send,
}

/// What was taken and not judged, oldest first.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Kind, owner and length in bytes of each.
    items: Vec<(Kind, u8, usize)>,
    bytes: Vec<u8>,
}

impl Kept {
    pub fn command(&mut self, owner: u8, entry: &[u8; COMMAND_BYTES]) {
        self.add(Kind::Command, owner, entry);
    }

    pub fn send(&mut self, owner: u8, record: &[u8]) {
        self.add(Kind::Send, owner, record);
    }

    fn add(&mut self, kind: Kind, owner: u8, bytes: &[u8]) {
        self.items.push((kind, owner, bytes.len()));
        self.bytes.extend_from_slice(bytes);
    }

    /// All of it: kind, owner, bytes.
    pub fn iter(&self) -> impl Iterator<Item = (Kind, u8, &[u8])> {
        let mut rest = &self.bytes[..];
        self.items.iter().map(move |&(kind, owner, bytes)| {
            let (item, behind) = rest.split_at(bytes);
            rest = behind;
            (kind, owner, item)
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
pub(super) struct Owed {
    /// The peer, where the descriptor was judged at once.
    pub peer: Option<usize>,
    /// Flow and its generation.
    pub flow: (u16, u8),
    pub owner: u8,
    /// What is not acknowledged: from and to.
    pub from: u32,
    pub to: u32,
    /// The next byte of the peer, as far as the host has acknowledged.
    pub next: u32,
    header: [u8; HEADER_BYTES],
}

impl Owed {
    pub fn new(descriptor: &Descriptor<'_>, owner: u8, peer: Option<usize>) -> Self {
        let from = descriptor.sequence();
        let get = |field: abi::field::Field| field.get(descriptor.record);
        Self {
            peer,
            flow: (get(d::FLOW) as u16, get(d::GENERATION) as u8),
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
