//! Connections that begin: connect, listen, accept.
//!
//! Called by applications.

use std::net::SocketAddr;

use crate::control::connection::Connection;
use crate::driver::bus::Bus;
use crate::error::request::RequestError;
use crate::error::{HostError, Result};
use crate::protocol::{ConnectOptions, FlowIndex, Protocol};
use crate::provider::{ApplicationId, ConnectionId, Provider};
use crate::transport::{ListenerId, TransportError};

impl<B: Bus, P: Protocol> Provider<B, P> {
    /// Starts a connection of an application.
    pub fn connect(
        &mut self,
        application: ApplicationId,
        remote: P::Remote,
    ) -> Result<ConnectionId> {
        self.connect_with(application, remote, &ConnectOptions::default())
    }

    /// The same, with options.
    pub fn connect_with(
        &mut self,
        application: ApplicationId,
        remote: P::Remote,
        options: &ConnectOptions,
    ) -> Result<ConnectionId> {
        let owner = self.usable_shard(application)?;
        let name = self.connections.take_name()?;
        let now_ns = self.now_ns();
        let started = self.protocol.connect(now_ns, FlowIndex(name.flow), remote, options);
        started.inspect_err(|_| self.connections.give_back(name))?;
        let connection = Connection::new(name, (owner, application.0));
        Ok(self.connections.add(connection))
    }

    /// Starts to listen on a port for an application.
    pub fn listen(&mut self, application: ApplicationId, local: SocketAddr) -> Result<ListenerId> {
        self.applications.shard(application)?;
        let listener = self.protocol.listen(local)?;
        self.listeners.insert(listener, application);
        Ok(listener)
    }

    /// Whether the card has a flow for one more connection: what comes without one is copied.
    pub fn has_flow(&self) -> bool {
        self.connections.has_flow()
    }

    /// The address a listener is bound to.
    pub fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr> {
        self.protocol.listener_address(listener)
    }

    /// Stops listening. Connections that were accepted stay; those that were not are reset.
    pub fn unlisten(&mut self, listener: ListenerId) -> Result<()> {
        self.protocol.unlisten(listener)?;
        self.listeners.remove(&listener);
        Ok(())
    }

    /// Local and remote address of a connection.
    pub fn addresses(&self, id: ConnectionId) -> Result<(SocketAddr, SocketAddr)> {
        let connection = self.connections.get(id);
        let connection =
            connection.ok_or(HostError::Request(RequestError::UnknownConnection(id.0)))?;
        self.protocol.addresses(connection.index())
    }

    /// The next connection of a listener, if there is one. It belongs to the listener's
    /// application. One for which there is no flow, or whose shard has a ring that has stopped, is
    /// reset.
    pub fn accept(&mut self, listener: ListenerId) -> Result<Option<ConnectionId>> {
        let application = self.listeners.get(&listener).copied();
        let application = application.ok_or(TransportError::UnknownListener(listener))?;
        let owner = self.usable_shard(application);
        let now_ns = self.now_ns();
        let name = owner.and_then(|owner| Ok((owner, self.connections.take_name()?)));
        let (owner, name) = match name {
            Ok(name) => name,
            Err(full) => {
                return if self.protocol.refuse(now_ns, listener)? { Err(full) } else { Ok(None) }
            }
        };
        let accepted = self.protocol.accept(now_ns, listener, FlowIndex(name.flow));
        if !matches!(accepted, Ok(true)) {
            self.connections.give_back(name);
        }
        let connection = Connection::new(name, (owner, application.0));
        Ok(match accepted? {
            true => Some(self.connections.add(connection)),
            false => None,
        })
    }
}
