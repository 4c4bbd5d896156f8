//! Whole messages over a stream, with the descriptors that belong to them.
//!
//! ```text
//!   socket ──► 16 bytes, descriptors ──► header ──► payload, all of it ──► Message
//!   socket ◄── queue of what the socket did not take ◄── Message
//! ```
//! Header and payload are read apart, never beyond the end of a message: so the descriptors that
//! come with its bytes are its own, and whoever polls the socket sees what has not been taken.
//!
//! Invariants
//! 1. Neither side ever blocks here; [`Channel::wait`] alone does, up to a moment.
//! 2. The size in a header is read to its end before the next header, whatever the command is.
//! 3. After an error the stream is out of step: nothing more is read.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::{Errno, IoSliceMut};
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use thiserror::Error;

use crate::codec::{CodecError, Header, Kind, DESCRIPTORS, HEADER_BYTES};

/// The longest that is waited for anything: a year.
const LIMIT_MAX: Duration = Duration::from_secs(365 * 24 * 3600);

/// Why a channel is at its end.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ChannelError {
    /// The other side has closed it, or has ended.
    #[error("the other side has gone")]
    Gone,
    /// The other side breaks the protocol, and where its next message begins is not known.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// More descriptors came with a message than are taken with one.
    #[error("more than {DESCRIPTORS} descriptors with one message, or none left for them")]
    Descriptors,
    /// A call of the system failed.
    #[error("{0}")]
    System(Errno),
}

impl From<Errno> for ChannelError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::PIPE | Errno::CONNRESET => Self::Gone,
            other => Self::System(other),
        }
    }
}

/// A message.
#[derive(Debug)]
pub struct Message {
    /// Its header.
    pub header: Header,
    /// What follows the header.
    pub payload: Vec<u8>,
    /// What came with it.
    pub descriptors: Vec<OwnedFd>,
}

impl Message {
    /// A command.
    pub fn command(id: u16, command: u16, no_reply: bool, payload: Vec<u8>) -> Self {
        Self::new(id, command, Kind::Command { no_reply }, payload)
    }

    /// The reply to a command.
    pub fn reply(to: &Header, result: Result<Vec<u8>, Errno>) -> Self {
        let error = result.as_ref().err().copied();
        Self::new(to.id, to.command, Kind::Reply { error }, result.unwrap_or_default())
    }

    fn new(id: u16, command: u16, kind: Kind, payload: Vec<u8>) -> Self {
        let header = Header { id, command, kind, payload_bytes: payload.len() };
        Self { header, payload, descriptors: Vec::new() }
    }
}

/// What of a message has come.
#[derive(Debug, Default)]
struct Incoming {
    header: [u8; HEADER_BYTES],
    decoded: Option<Header>,
    /// Bytes of the header, then bytes of the payload.
    filled: usize,
    payload: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

/// What of a message has not gone.
#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    descriptors: Vec<OwnedFd>,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    incoming: Incoming,
    outgoing: VecDeque<Outgoing>,
    end: Option<ChannelError>,
}

impl Channel {
    /// Takes a connected stream.
    pub fn new(stream: UnixStream) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        let (incoming, outgoing) = (Incoming::default(), VecDeque::new());
        Ok(Self { stream, incoming, outgoing, end: None })
    }

    /// The next message, if all of it has come.
    pub fn receive(&mut self) -> Result<Option<Message>, ChannelError> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let result = self.step();
        self.end = result.as_ref().err().cloned();
        result
    }

    fn step(&mut self) -> Result<Option<Message>, ChannelError> {
        let header = match self.incoming.decoded {
            Some(header) => header,
            None => {
                if !self.fill()? {
                    return Ok(None);
                }
                let header = Header::decode(&self.incoming.header)?;
                self.incoming.payload = vec![0; header.payload_bytes];
                self.incoming.decoded = Some(header);
                self.incoming.filled = 0;
                header
            }
        };
        if !self.fill()? {
            return Ok(None);
        }
        let Incoming { payload, descriptors, .. } = std::mem::take(&mut self.incoming);
        Ok(Some(Message { header, payload, descriptors }))
    }

    /// Reads on in the header or in the payload; whether it is complete.
    fn fill(&mut self) -> Result<bool, ChannelError> {
        let incoming = &mut self.incoming;
        let target = match incoming.decoded {
            None => &mut incoming.header[..],
            Some(_) => &mut incoming.payload[..],
        };
        while incoming.filled < target.len() {
            let rest = &mut target[incoming.filled..];
            match receive_bytes(&self.stream, rest, &mut incoming.descriptors) {
                Ok(0) => return Err(ChannelError::Gone),
                Ok(count) => incoming.filled += count,
                Err(ChannelError::System(Errno::AGAIN)) => return Ok(false),
                Err(ChannelError::System(Errno::INTR)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Sends a message, or as much as the socket takes; the rest waits for [`Channel::flush`].
    pub fn send(&mut self, message: Message) -> Result<(), ChannelError> {
        let Message { header, payload, mut descriptors } = message;
        let header = header.encode();
        let all = HEADER_BYTES + payload.len();
        let mut sent = 0;
        if self.flush()? {
            let parts = [IoSlice::new(&header), IoSlice::new(&payload)];
            match send_bytes(&self.stream, &parts, &descriptors) {
                Ok(count) => sent = count,
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if sent > 0 {
            descriptors.clear();
        }
        if sent < all {
            let bytes = [&header[..], &payload].concat();
            self.outgoing.push_back(Outgoing { bytes, sent, descriptors });
        }
        Ok(())
    }

    /// Sends what waits; whether nothing waits any more.
    pub fn flush(&mut self) -> Result<bool, ChannelError> {
        while let Some(first) = self.outgoing.front_mut() {
            let rest = [IoSlice::new(&first.bytes[first.sent..])];
            match send_bytes(&self.stream, &rest, &first.descriptors) {
                Ok(count) => {
                    first.sent += count;
                    first.descriptors.clear();
                }
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if first.sent == first.bytes.len() {
                self.outgoing.pop_front();
            }
        }
        Ok(true)
    }

    /// Whether something waits to be sent.
    pub fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Waits until something has come, until what waits can be sent, or until `until`; whether it
    /// was not the last.
    pub fn wait(&self, until: Instant) -> Result<bool, ChannelError> {
        let out = if self.has_outgoing() { PollFlags::OUT } else { PollFlags::empty() };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).unwrap_or_default();
            let mut list = [PollFd::new(&self.stream, PollFlags::IN | out)];
            match poll(&mut list, Some(&left)) {
                Ok(0) => return Ok(false),
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// The moment at which so much time has passed: in a year at the latest.
pub(crate) fn moment_after(limit: Duration) -> Instant {
    Instant::now() + limit.min(LIMIT_MAX)
}

fn receive_bytes(
    stream: &UnixStream,
    into: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> Result<usize, ChannelError> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(into)];
    let received = recvmsg(stream, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(list) = message {
            descriptors.extend(list);
        }
    }
    let is_cut = received.flags.contains(ReturnFlags::CTRUNC);
    if is_cut || descriptors.len() > DESCRIPTORS {
        return Err(ChannelError::Descriptors);
    }
    Ok(received.bytes)
}

fn send_bytes(
    stream: &UnixStream,
    parts: &[IoSlice<'_>],
    descriptors: &[OwnedFd],
) -> Result<usize, Errno> {
    let list: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !list.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&list)) {
        return Err(Errno::TOOMANYREFS);
    }
    sendmsg(stream, parts, &mut control, SendFlags::NOSIGNAL)
}
