//! The client's end of the connection: commands, their replies, and what the server asks meanwhile.
//!
//! ```text
//!   command ──► ... server's DMA_READ, DMA_WRITE ... ──► reply
//!                   └─► memory that is here ──► answered at once
//! ```
//! Invariants
//! 1. A server that asks for memory is answered whenever this side waits, for whatever: neither
//!    waits for the other for ever.
//! 2. After the server has gone, or has talked nonsense, every call says so and sends nothing.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{connect, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::error::ClientError;
use crate::channel::{moment_after, Channel, ChannelError, Message};
use crate::codec::{CodecError, Command, DmaAccess, Header, Kind, Request, Rights, TRANSFER_BYTES};

/// How long a connection that a server does not take is tried anew, each time.
const RETRY: Duration = Duration::from_millis(1);

/// Memory that the server reaches by messages.
#[derive(Debug)]
pub(super) struct OwnMemory {
    pub(super) bytes: Vec<u8>,
    pub(super) rights: Rights,
}

/// A reply with what came along.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) payload: Vec<u8>,
    pub(super) descriptors: Vec<OwnedFd>,
}

/// The connection.
#[derive(Debug)]
pub(super) struct Link {
    socket: PathBuf,
    channel: Channel,
    limit: Duration,
    next_id: u16,
    broken: Option<ClientError>,
    /// By bus address.
    pub(super) memory: BTreeMap<u64, OwnMemory>,
}

impl Link {
    pub(super) fn connect(socket: &Path, limit: Duration) -> Result<Self, ClientError> {
        let channel = Channel::new(connect_within(socket, limit)?).map_err(|error| {
            let error = Errno::from_io_error(&error).unwrap_or(Errno::IO);
            ClientError::NoAccess { socket: socket.to_owned(), error }
        })?;
        let (socket, memory) = (socket.to_owned(), BTreeMap::new());
        Ok(Self { socket, channel, limit, next_id: 0, broken: None, memory })
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.socket.clone()
    }

    /// Sends a command and waits for its reply.
    pub(super) fn ask(
        &mut self,
        request: &Request<'_>,
        descriptors: Vec<OwnedFd>,
    ) -> Result<Reply, ClientError> {
        self.check_unbroken()?;
        self.next_id = self.next_id.wrapping_add(1);
        let (id, command) = (self.next_id, request.command());
        let mut message = Message::command(id, command.number(), false, request.encode());
        message.descriptors = descriptors;
        let sent = self.channel.send(message).map_err(|error| self.end(error));
        sent.and_then(|()| self.await_reply(id, command)).inspect_err(|error| self.keep(error))
    }

    fn await_reply(&mut self, id: u16, command: Command) -> Result<Reply, ClientError> {
        let until = moment_after(self.limit);
        loop {
            // A reply is not there at once: to look for it first would be a call in vain.
            self.wait(until)?;
            self.flush()?;
            while let Some(message) = self.receive()? {
                let Kind::Reply { error } = message.header.kind else {
                    self.serve_memory(message)?;
                    continue;
                };
                if (message.header.id, message.header.command) != (id, command.number()) {
                    return Err(self.nonsense(CodecError::Command(message.header.command)));
                }
                let socket = self.socket();
                let refused = |error| ClientError::Refused { socket, command, error };
                let Message { payload, descriptors, .. } = message;
                return error.map_or(Ok(Reply { payload, descriptors }), |it| Err(refused(it)));
            }
        }
    }

    /// Sends a command that gets no reply. It waits while the server does not take what is sent.
    pub(super) fn post(&mut self, request: &Request<'_>) -> Result<(), ClientError> {
        self.check_unbroken()?;
        let command = request.command().number();
        let message = Message::command(0, command, true, request.encode());
        let sent = self.channel.send(message).map_err(|error| self.end(error));
        let result = sent.and_then(|()| self.drain());
        result.inspect_err(|error| self.keep(error))
    }

    /// Sends what waits. A client that only posts answers for its memory here.
    fn drain(&mut self) -> Result<(), ClientError> {
        if !self.memory.is_empty() {
            self.serve_waiting()?;
        }
        let until = moment_after(self.limit);
        while self.channel.has_outgoing() {
            self.wait(until)?;
            self.serve_waiting()?;
            self.flush()?;
        }
        Ok(())
    }

    /// Answers what the server asks for, and finds out whether it is there; waits for nothing.
    pub(super) fn serve(&mut self) -> Result<(), ClientError> {
        self.check_unbroken()?;
        let result = self.serve_waiting().and_then(|()| self.flush());
        result.inspect_err(|error| self.keep(error))
    }

    fn serve_waiting(&mut self) -> Result<(), ClientError> {
        while let Some(message) = self.receive()? {
            match message.header.kind {
                Kind::Command { .. } => self.serve_memory(message)?,
                Kind::Reply { .. } => return Err(self.nonsense(CodecError::Kind(1))),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ClientError> {
        let flushed = self.channel.flush();
        flushed.map(drop).map_err(|error| self.end(error))
    }

    fn receive(&mut self) -> Result<Option<Message>, ClientError> {
        let message = self.channel.receive();
        message.map_err(|error| self.end(error))
    }

    fn wait(&mut self, until: Instant) -> Result<(), ClientError> {
        match self.channel.wait(until).map_err(|error| self.end(error))? {
            true => Ok(()),
            false => Err(ClientError::Silent { socket: self.socket(), limit: self.limit }),
        }
    }

    /// Answers an access of the server to memory that is here.
    fn serve_memory(&mut self, message: Message) -> Result<(), ClientError> {
        let Message { header, payload, .. } = message;
        let result = match Request::decode(header.command, &payload) {
            Ok(Request::DmaRead(access)) => self.read_memory(access),
            Ok(Request::DmaWrite(access, data)) => self.write_memory(access, data),
            Ok(_) => Err(Errno::INVAL),
            Err(error) => Err(error.errno()),
        };
        self.reply(&header, result)
    }

    fn reply(&mut self, to: &Header, result: Result<Vec<u8>, Errno>) -> Result<(), ClientError> {
        if to.kind == (Kind::Command { no_reply: true }) {
            return Ok(());
        }
        self.channel.send(Message::reply(to, result)).map_err(|error| self.end(error))
    }

    fn read_memory(&mut self, access: DmaAccess) -> Result<Vec<u8>, Errno> {
        let (bytes, rights) = self.own_memory(access)?;
        match rights.read {
            true => Ok(access.encode(bytes)),
            false => Err(Errno::ACCESS),
        }
    }

    fn write_memory(&mut self, access: DmaAccess, data: &[u8]) -> Result<Vec<u8>, Errno> {
        let (bytes, rights) = self.own_memory(access)?;
        if !rights.write {
            return Err(Errno::ACCESS);
        }
        bytes.copy_from_slice(data);
        Ok(access.encode(&[]))
    }

    fn own_memory(&mut self, access: DmaAccess) -> Result<(&mut [u8], Rights), Errno> {
        if access.count > TRANSFER_BYTES {
            return Err(Errno::MSGSIZE);
        }
        let found = self.memory.range_mut(..=access.address).next_back().ok_or(Errno::FAULT)?;
        let (start, memory) = found;
        let offset = usize::try_from(access.address - start).map_err(|_| Errno::FAULT)?;
        let end = offset.checked_add(access.count as usize).ok_or(Errno::FAULT)?;
        let bytes = memory.bytes.get_mut(offset..end).ok_or(Errno::FAULT)?;
        Ok((bytes, memory.rights))
    }

    fn check_unbroken(&self) -> Result<(), ClientError> {
        self.broken.clone().map_or(Ok(()), Err)
    }

    /// Keeps an error after which the connection is of no more use.
    fn keep(&mut self, error: &ClientError) {
        if !matches!(error, ClientError::Refused { .. }) {
            self.broken.get_or_insert_with(|| error.clone());
        }
    }

    pub(super) fn nonsense(&mut self, what: CodecError) -> ClientError {
        let error = ClientError::Nonsense { socket: self.socket(), what };
        self.keep(&error);
        error
    }

    fn end(&mut self, error: ChannelError) -> ClientError {
        let socket = self.socket();
        match error {
            ChannelError::Gone => ClientError::Vanished(socket),
            ChannelError::Codec(what) => ClientError::Nonsense { socket, what },
            ChannelError::Descriptors => {
                ClientError::System { what: "descriptors of a reply", error: Errno::MFILE }
            }
            ChannelError::System(error) => ClientError::System { what: "socket", error },
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

/// Connects. A server that is busy with others is tried until the limit.
fn connect_within(socket: &Path, limit: Duration) -> Result<UnixStream, ClientError> {
    let no_access = |error| ClientError::NoAccess { socket: socket.to_owned(), error };
    let address = SocketAddrUnix::new(socket).map_err(no_access)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let stream = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let stream = stream.map_err(no_access)?;
    let until = moment_after(limit);
    loop {
        match connect(&stream, &address) {
            Ok(()) => return Ok(stream.into()),
            Err(Errno::AGAIN) if Instant::now() < until => std::thread::sleep(RETRY),
            Err(Errno::AGAIN) => {
                return Err(ClientError::Silent { socket: socket.to_owned(), limit });
            }
            Err(Errno::INTR) => {}
            Err(Errno::NOENT) => return Err(ClientError::NoSocket(socket.to_owned())),
            Err(Errno::CONNREFUSED) => return Err(ClientError::NoServer(socket.to_owned())),
            Err(error) => return Err(no_access(error)),
        }
    }
}
