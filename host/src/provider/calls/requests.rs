//! Requests on a connection: send, receive, cancel, finish, close.
//!
//! ```text
//!   request ─► checked ─► waits ─► posted ─► complete
//!                           └─ cancel ─► cancelled
//! ```
//!
//! Called by applications.

use crate::control::connection::{Connection, Ending};
use crate::control::flow::buffer::Buffer;
use crate::control::flow::posted::REQUESTS_MAX;
use crate::driver::bus::Bus;
use crate::error::region::RegionError;
use crate::error::request::RequestError;
use crate::error::{HostError, Result};
use crate::protocol::Protocol;
use crate::provider::{Completion, ConnectionId, Provider, ReceiveOptions, Span};

/// Checks that a connection may have one more request open.
fn check_requests(id: ConnectionId, open: usize) -> Result<()> {
    match open < REQUESTS_MAX {
        true => Ok(()),
        false => Err(HostError::Request(RequestError::TooManyRequests {
            connection: id.0,
            limit: REQUESTS_MAX,
        })),
    }
}

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Checks the buffer of a request: in a region of the connection's application, and inside the
    /// region.
    fn buffer(&mut self, id: ConnectionId, span: Span, request: u64) -> Result<Buffer> {
        let user = self.connection(id)?.domain;
        let region = self.region(span.region)?;
        if region.domain != user {
            return Err(HostError::Region(RegionError::ForeignRegion {
                region: region.index,
                application: region.domain,
                connection: id.0,
                user,
            }));
        }
        Buffer::of(region, span.offset, span.bytes, request)
    }

    /// The connection of a request, which touches it.
    fn connection(&mut self, id: ConnectionId) -> Result<&mut Connection> {
        self.connections.touch(id);
        let connection = self.connections.get_mut(id);
        connection.ok_or(HostError::Request(RequestError::UnknownConnection(id.0)))
    }

    /// Sends the bytes of a span. The completion carries `request`.
    pub fn send(&mut self, id: ConnectionId, from: Span, request: u64) -> Result<()> {
        let buffer = self.buffer(id, from, request)?;
        let connection = self.connection(id)?;
        if connection.requested_ending() != Ending::Open {
            return Err(HostError::Request(RequestError::Finished(id.0)));
        }
        check_requests(id, connection.open_requests().1)?;
        connection.add_send(buffer);
        Ok(())
    }

    /// Receives into a span. The request completes when it is full or at the end of the stream. The
    /// completion carries `request`.
    pub fn recv(&mut self, id: ConnectionId, into: Span, request: u64) -> Result<()> {
        self.recv_with(id, into, request, ReceiveOptions::default())
    }

    /// The same, with options.
    pub fn recv_with(
        &mut self,
        id: ConnectionId,
        into: Span,
        request: u64,
        options: ReceiveOptions,
    ) -> Result<()> {
        let mut buffer = self.buffer(id, into, request)?;
        buffer.partial = options.partial;
        let connection = self.connection(id)?;
        if connection.requested_ending() == Ending::Close {
            return Err(HostError::Request(RequestError::Finished(id.0)));
        }
        check_requests(id, connection.open_requests().0)?;
        connection.add_receive(buffer);
        Ok(())
    }

    /// Cancels a request. One that waits, because the connection is not open, its region is not
    /// confirmed or the list of its connection is full, is gone with the next poll. A receive that
    /// is posted is withdrawn from the card with all others of its connection, which are posted
    /// again for what they lack: that takes the time of two commands, while what arrives is
    /// deferred and copied. It ends as [`Completion::Cancelled`], or as [`Completion::Received`]
    /// with the bytes that it has. Of several under one name those that wait go first, a receive
    /// before a send, and an older one before a younger one.
    ///
    /// A send that is posted is not cancelled, because TCP may have sent it: the error tells its
    /// state. It ends with its completion or with its connection.
    pub fn cancel(&mut self, id: ConnectionId, request: u64) -> Result<()> {
        let connection = self.connection(id)?;
        if let Some(bytes) = connection.cancel_waiting(request) {
            let connection = id;
            self.completions.push_back(match bytes {
                0 => Completion::Cancelled { connection, request },
                bytes => Completion::Received { connection, request, bytes },
            });
            return Ok(());
        }
        if connection.cancel_posted(request) {
            return Ok(());
        }
        let state = connection.posted_state(request);
        let connection = id.0;
        Err(match state {
            Some(state) => {
                HostError::Request(RequestError::RequestPosted { connection, request, state })
            }
            None => HostError::Request(RequestError::UnknownRequest { connection, request }),
        })
    }

    /// Ends the sending half after everything posted; the receiving half stays open.
    pub fn finish(&mut self, id: ConnectionId) -> Result<()> {
        self.connection(id)?.finish();
        Ok(())
    }

    /// Closes a connection: sends what was posted, then removes the flow from the card. Receive
    /// requests still open then are cancelled.
    pub fn close(&mut self, id: ConnectionId) -> Result<()> {
        match self.connection(id)?.close() {
            true => Err(HostError::Request(RequestError::Finished(id.0))),
            false => Ok(()),
        }
    }
}
