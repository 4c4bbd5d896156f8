//! Serves one device over a UNIX socket. It waits for no client, but for an answer about memory
//! that this one has not passed as a file.
//!
//! ```text
//!   connect ──► greeting ── version ──┬─ device free ──► session: commands and replies
//!                                     ├─ device taken ─► EBUSY, closed
//!                                     └─ other major ──► EPROTONOSUPPORT, closed
//! ```
//! Whoever steps the device calls [`Server::serve`] when the one descriptor of the server is
//! readable, or every so many steps: it handles what is there and returns. The device is the first
//! client's that names its version: one that connects and says nothing keeps nobody out.
//!
//! Invariants
//! 1. A call handles a bounded number of messages; what it leaves makes the descriptor readable.
//! 2. Commands are carried out in the order in which they come, each with at most one reply.
//! 3. While a client does not take its replies, none of its commands is carried out.
//! 4. With a client go its memory and its interrupts; the device stays as it is.
//!
//! Source: vfio-user protocol specification, Client/server interactions.

mod answer;

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{eventfd, EventfdFlags, Timespec};
use rustix::io::Errno;
use thiserror::Error;

use self::answer::answer;
use crate::channel::{Channel, ChannelError, Message};
use crate::codec::{Capabilities, Command, Kind, Version, MAJOR, MINOR};
use crate::description::{Description, SharedPages};
use crate::device::Device;
use crate::session::Session;

/// Messages that one call handles.
const MESSAGES_MAX: usize = 256;
/// Connections that have not named their version; one more closes the oldest.
const GREETINGS_MAX: usize = 8;
/// Sources that are asked for at once; the system tells others the next time.
const SOURCES_AT_ONCE: usize = 8;

/// Why a server cannot start or go on.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Another process serves this socket.
    #[error("{0} is served by another process: end it, or choose another socket")]
    Served(PathBuf),
    /// Something that is no socket, or no folder, is in the way.
    #[error("cannot listen at {socket}: {error}; choose a socket in a folder that can be written")]
    Listen {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A call of the system failed.
    #[error("the server of {socket} cannot go on: {error}")]
    System {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        error: Errno,
    },
}

/// What a call has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Messages handled.
    pub messages: usize,
    /// A client has got the device.
    pub has_joined: bool,
    /// The client has gone, and why, in one line.
    pub left: Option<ChannelError>,
    /// Clients that were refused because the device was taken.
    pub refused: usize,
}

/// A device's server.
#[derive(Debug)]
pub struct Server {
    socket: PathBuf,
    listener: UnixListener,
    events: OwnedFd,
    /// Signalled while there is work of which no socket shows anything.
    again: Arc<OwnedFd>,
    description: Description,
    greetings: Vec<Channel>,
    session: Option<Session>,
    /// The client does not take its replies: only that it does is waited for.
    waits_for_room: bool,
    reply_limit: Duration,
}

impl Server {
    /// Starts to listen.
    pub fn bind(socket: &Path, description: Description) -> Result<Self, ServerError> {
        let failed = |error| ServerError::Listen { socket: socket.to_owned(), error };
        let listener = match UnixListener::bind(socket) {
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                remove_left_over(socket)?;
                UnixListener::bind(socket)
            }
            result => result,
        };
        let listener = listener.map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let system = |error| ServerError::System { socket: socket.to_owned(), error };
        let events = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let again = eventfd(0, flags).map_err(system)?;
        watch(&events, listener.as_fd(), Source::Listener).map_err(system)?;
        watch(&events, again.as_fd(), Source::Again).map_err(system)?;
        Ok(Self {
            socket: socket.to_owned(),
            listener,
            events,
            again: Arc::new(again),
            description,
            greetings: Vec::new(),
            session: None,
            waits_for_room: false,
            reply_limit: Duration::from_secs(1),
        })
    }

    /// Sets how long a client may take to answer for memory that it did not pass as a file: 1 s
    /// otherwise.
    pub fn set_reply_limit(&mut self, limit: Duration) {
        self.reply_limit = limit;
    }

    /// Sets what clients map of a region, for those that come from now on.
    pub fn set_shared(&mut self, region: u32, shared: Option<SharedPages>) {
        if let Some(region) = self.description.regions.get_mut(region as usize) {
            region.shared = shared;
        }
    }

    /// The client that has the device.
    pub fn session(&mut self) -> Option<&mut Session> {
        self.session.as_mut()
    }

    /// Handles what is there.
    pub fn serve(&mut self, device: &mut dyn Device) -> Result<Served, ServerError> {
        let result = self.handle(device);
        result.map_err(|error| ServerError::System { socket: self.socket.clone(), error })
    }

    fn handle(&mut self, device: &mut dyn Device) -> Result<Served, Errno> {
        let mut served = Served::default();
        let ready = self.ready_sources()?;
        if ready == 0 {
            return Ok(served);
        }
        if ready & Source::Again.bit() != 0 {
            let mut count = [0; 8];
            let _ = rustix::io::read(&*self.again, &mut count);
        }
        if ready & Source::Listener.bit() != 0 {
            self.accept()?;
        }
        if let Err(error) = self.carry_out(device, &mut served) {
            // Its interrupts and its memory go before the device hears of it.
            self.session = None;
            self.waits_for_room = false;
            device.client_left();
            served.left = Some(error);
        }
        self.greet(&mut served)?;
        self.settle()?;
        Ok(served)
    }

    /// What has something to say, a bit each. Connections are not told apart.
    fn ready_sources(&self) -> Result<u64, Errno> {
        let mut space = [MaybeUninit::uninit(); SOURCES_AT_ONCE];
        let now = Timespec::default();
        match epoll::wait(&self.events, &mut space, Some(&now)) {
            Ok((list, _)) => Ok(list.iter().fold(0, |bits, event| bits | event.data.u64())),
            Err(Errno::INTR) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Takes new connections, so many at once.
    fn accept(&mut self) -> Result<(), Errno> {
        for _ in 0..GREETINGS_MAX {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) => match errno(&error) {
                    Errno::AGAIN => return Ok(()),
                    Errno::INTR | Errno::CONNABORTED => continue,
                    // Nothing is left for one more: it waits until something is.
                    Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => return Ok(()),
                    error => return Err(error),
                },
            };
            let channel = Channel::new(stream).map_err(|error| errno(&error))?;
            watch(&self.events, channel.as_fd(), Source::Connection)?;
            if self.greetings.len() == GREETINGS_MAX {
                self.greetings.remove(0);
            }
            self.greetings.push(channel);
        }
        Ok(())
    }

    /// Handles commands of the session.
    fn carry_out(
        &mut self,
        device: &mut dyn Device,
        served: &mut Served,
    ) -> Result<(), ChannelError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        if let Some(end) = session.end() {
            return Err(end.clone());
        }
        while served.messages < MESSAGES_MAX && session.channel.flush()? {
            let Some(message) = session.next_command()? else { break };
            served.messages += 1;
            answer(&self.description, device, session, message)?;
        }
        Ok(())
    }

    /// Hears what those say that have no device yet.
    fn greet(&mut self, served: &mut Served) -> Result<(), Errno> {
        for mut channel in std::mem::take(&mut self.greetings) {
            let message = match channel.receive() {
                Ok(Some(message)) => message,
                Ok(None) => {
                    self.greetings.push(channel);
                    continue;
                }
                Err(_) => continue,
            };
            served.messages += 1;
            let (reply, client) = self.judge(&message);
            served.refused += usize::from(reply == Err(Errno::BUSY));
            let is_sent = channel.send(Message::reply(&message.header, reply)).is_ok();
            if let (true, Some(client)) = (is_sent, client) {
                let types = &self.description.interrupts;
                let (limit, again) = (self.reply_limit, self.again.clone());
                self.session = Some(Session::new(channel, client, types, limit, again));
                served.has_joined = true;
            }
        }
        Ok(())
    }

    /// What a client hears on its first message, and what it can take, if it gets the device.
    fn judge(&self, message: &Message) -> (Result<Vec<u8>, Errno>, Option<Capabilities>) {
        let is_greeting = message.header.command == Command::Version.number()
            && message.header.kind == Kind::Command { no_reply: false }
            && message.descriptors.is_empty();
        let version = match Version::decode(&message.payload) {
            Ok(version) if is_greeting => version,
            _ => return (Err(Errno::INVAL), None),
        };
        if version.major != MAJOR {
            return (Err(Errno::PROTONOSUPPORT), None);
        }
        if version.capabilities.transfer_bytes == 0 {
            return (Err(Errno::INVAL), None);
        }
        if self.session.is_some() {
            return (Err(Errno::BUSY), None);
        }
        let mut own = Version { minor: version.minor.min(MINOR), ..Version::own() };
        own.capabilities.writes_many &= version.capabilities.writes_many;
        (Ok(own.encode()), Some(version.capabilities))
    }

    /// Sees to it that the descriptor is readable while there is work.
    fn settle(&mut self) -> Result<(), Errno> {
        let Some(session) = &self.session else { return Ok(()) };
        let is_full = session.channel.has_outgoing();
        if is_full != self.waits_for_room {
            let flags = if is_full { EventFlags::OUT } else { EventFlags::IN };
            let channel = session.channel.as_fd();
            epoll::modify(&self.events, channel, Source::Connection.data(), flags)?;
            self.waits_for_room = is_full;
        }
        if !is_full {
            session.ask_for_service();
        }
        Ok(())
    }
}

impl AsFd for Server {
    /// Readable when [`Server::serve`] has something to do.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A socket that somebody has removed already is no reason to fail.
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// What a server listens to.
#[derive(Clone, Copy)]
enum Source {
    Listener,
    Again,
    Connection,
}

impl Source {
    fn bit(self) -> u64 {
        1 << self as u64
    }

    fn data(self) -> EventData {
        EventData::new_u64(self.bit())
    }
}

fn watch(events: &OwnedFd, source: BorrowedFd<'_>, kind: Source) -> Result<(), Errno> {
    epoll::add(events, source, kind.data(), EventFlags::IN)
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Removes a socket whose server has ended without removing it.
fn remove_left_over(socket: &Path) -> Result<(), ServerError> {
    let failed = |error| ServerError::Listen { socket: socket.to_owned(), error };
    match UnixStream::connect(socket) {
        Ok(_) => Err(ServerError::Served(socket.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(socket).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}
