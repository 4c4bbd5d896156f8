//! The client that has the device: its memory, its interrupts, and its connection.
//!
//! ```text
//!   device ──► read_memory, write_memory ──┬─ mapped ──► the client's pages
//!                                          └─ not ─────► command ──► reply, within a limit
//!          ──► raise ──► the client's event descriptor
//! ```
//! Invariants
//! 1. An access to memory that is not permitted in full touches nothing.
//! 2. Commands that come while a reply is waited for are kept, and carried out in their order.
//! 3. A client that does not answer within the limit is given up, and asked for nothing more: no
//!    device hangs with it.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::channel::{moment_after, Channel, ChannelError, Message};
use crate::codec::{
    Capabilities, CodecError, Command, DmaAccess, DmaMap, DmaUnmap, Kind, Request, Rights,
    SetInterrupts, TRANSFER_BYTES,
};
use crate::description::InterruptType;
use crate::interrupts::Interrupts;
use crate::maps::{read_file, write_file, Backing, Maps, Piece, RangeBytes};

/// Commands that are kept while a reply is waited for.
const KEPT_MAX: usize = 1024;

/// A client.
#[derive(Debug)]
pub struct Session {
    pub(crate) channel: Channel,
    kept: VecDeque<Message>,
    client: Capabilities,
    maps: Maps,
    interrupts: Interrupts,
    reply_limit: Duration,
    next_id: u16,
    end: Option<ChannelError>,
    /// Signalled when there is work of which the socket shows nothing.
    again: Arc<OwnedFd>,
}

impl Session {
    pub(crate) fn new(
        channel: Channel,
        client: Capabilities,
        interrupts: &[InterruptType],
        reply_limit: Duration,
        again: Arc<OwnedFd>,
    ) -> Self {
        Self {
            channel,
            kept: VecDeque::new(),
            client,
            maps: Maps::default(),
            interrupts: Interrupts::new(interrupts),
            reply_limit,
            next_id: 0,
            end: None,
            again,
        }
    }

    /// Reads memory of the client, by bus address. Where the client has passed no file, it is asked
    /// and waited for.
    pub fn read_memory(&mut self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        let needs = Rights { read: true, write: false };
        let mut rest = into;
        for piece in self.maps.pieces(address, rest.len(), needs)? {
            let (part, behind) = rest.split_at_mut(piece.bytes);
            match &piece.backing {
                Backing::Mapped(mapping) => mapping.read(piece.offset as usize, part),
                Backing::File(file) => read_file(file, piece.offset, part)?,
                Backing::Messages => self.read_by_messages(&piece, part)?,
            }
            rest = behind;
        }
        Ok(())
    }

    /// Writes memory of the client, by bus address; see [`Session::read_memory`]. The first word is
    /// written last, whatever the memory is: whoever finds it finds the rest.
    pub fn write_memory(&mut self, address: u64, from: &[u8]) -> Result<(), Errno> {
        let needs = Rights { read: false, write: true };
        let pieces = self.maps.pieces(address, from.len(), needs)?;
        let mut rest = from;
        for piece in pieces.iter().rev() {
            let (before, part) = rest.split_at(rest.len() - piece.bytes);
            match &piece.backing {
                Backing::Mapped(mapping) => mapping.write(piece.offset as usize, part),
                Backing::File(file) => write_file(file, piece.offset, part)?,
                Backing::Messages => self.write_by_messages(piece, part)?,
            }
            rest = before;
        }
        Ok(())
    }

    /// The bytes of the range that was mapped at an address; `None` where the client has passed no
    /// file for it.
    pub fn range_bytes(&self, address: u64) -> Option<RangeBytes> {
        self.maps.range_bytes(address)
    }

    /// Raises an interrupt.
    pub fn raise(&mut self, index: u32, vector: u32) -> Result<(), Errno> {
        self.interrupts.raise(index, vector)
    }

    /// Whether an interrupt was raised and could not be told yet: what a read of the pending bits
    /// of MSI-X returns.
    pub fn is_pending(&self, index: u32, vector: u32) -> bool {
        self.interrupts.is_pending(index, vector)
    }

    /// Forgets interrupts that could not be told yet: the device was reset by itself.
    pub fn clear_pending(&mut self) {
        self.interrupts.clear_pending();
    }

    pub(crate) fn set_interrupts(
        &mut self,
        order: &SetInterrupts,
        events: Vec<OwnedFd>,
    ) -> Result<(), Errno> {
        self.interrupts.set(order, events)
    }

    pub(crate) fn map(&mut self, map: &DmaMap, file: Option<OwnedFd>) -> Result<(), Errno> {
        self.maps.add(map, file)
    }

    pub(crate) fn unmap(&mut self, unmap: &DmaUnmap) -> Result<Vec<(u64, u64)>, Errno> {
        self.maps.remove(unmap)
    }

    /// Why it has ended, if it has while the device had the word.
    pub(crate) fn end(&self) -> Option<&ChannelError> {
        self.end.as_ref()
    }

    /// The next command, kept or new.
    pub(crate) fn next_command(&mut self) -> Result<Option<Message>, ChannelError> {
        match self.kept.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.channel.receive(),
        }
    }

    /// Has the server called again where commands are kept, or where the session has ended.
    pub(crate) fn ask_for_service(&self) {
        if !self.kept.is_empty() || self.end.is_some() {
            // It fails only where it has been signalled 2^64 times.
            let _ = rustix::io::write(&self.again, &1_u64.to_ne_bytes());
        }
    }

    fn read_by_messages(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Errno> {
        let mut address = piece.address;
        for part in into.chunks_mut(self.transfer_bytes()) {
            let access = DmaAccess { address, count: part.len() as u64 };
            let reply = self.ask(Request::DmaRead(access))?;
            let (of, data) = DmaAccess::decode_data(&reply).map_err(|error| self.fail(error))?;
            if of != access {
                return Err(self.fail(CodecError::Count { count: of.count, limit: access.count }));
            }
            part.copy_from_slice(data);
            address = address.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    fn write_by_messages(&mut self, piece: &Piece, from: &[u8]) -> Result<(), Errno> {
        let mut address = piece.address;
        for part in from.chunks(self.transfer_bytes()) {
            let access = DmaAccess { address, count: part.len() as u64 };
            let reply = self.ask(Request::DmaWrite(access, part))?;
            let of = DmaAccess::decode_written(&reply).map_err(|error| self.fail(error))?;
            if of != access {
                return Err(self.fail(CodecError::Count { count: of.count, limit: access.count }));
            }
            address = address.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    fn transfer_bytes(&self) -> usize {
        self.client.transfer_bytes.clamp(1, TRANSFER_BYTES) as usize
    }

    /// Sends a command to the client and waits for its reply.
    fn ask(&mut self, request: Request<'_>) -> Result<Vec<u8>, Errno> {
        if self.end.is_some() {
            return Err(Errno::IO);
        }
        let command = request.command();
        let until = moment_after(self.reply_limit);
        self.next_id = self.next_id.wrapping_add(1);
        let message = Message::command(self.next_id, command.number(), false, request.encode());
        let result = self.channel.send(message).and_then(|()| self.await_reply(command, until));
        let result = result.unwrap_or_else(|error| {
            self.end.get_or_insert(error);
            Err(Errno::IO)
        });
        self.ask_for_service();
        result
    }

    fn await_reply(
        &mut self,
        command: Command,
        until: Instant,
    ) -> Result<Result<Vec<u8>, Errno>, ChannelError> {
        loop {
            if !self.channel.wait(until)? {
                return Err(ChannelError::System(Errno::TIMEDOUT));
            }
            self.channel.flush()?;
            while let Some(message) = self.channel.receive()? {
                match message.header.kind {
                    Kind::Command { .. } if self.kept.len() < KEPT_MAX => {
                        self.kept.push_back(message);
                    }
                    Kind::Command { .. } => return Err(ChannelError::System(Errno::NOBUFS)),
                    Kind::Reply { error } => {
                        let header = message.header;
                        if (header.id, header.command) != (self.next_id, command.number()) {
                            return Err(CodecError::Command(header.command).into());
                        }
                        return Ok(error.map_or(Ok(message.payload), Err));
                    }
                }
            }
        }
    }

    /// Ends the session for a reply that breaks the protocol.
    fn fail(&mut self, error: CodecError) -> Errno {
        self.end.get_or_insert(error.into());
        self.ask_for_service();
        Errno::IO
    }
}
