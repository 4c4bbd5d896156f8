//! A peer that is smoltcp in this process, with real payload.

use std::net::SocketAddr;

use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{RecvError, Socket, State};

use super::application::{Application, Behavior};
use super::{Conversation, Progress, Script, WirePeer};
use crate::clock::Clock;
use crate::transport::smol::sockets::listening_socket;
use crate::transport::smol::stack::{socket_address, Stack, TcpChecksums};
use crate::transport::{LinkConfig, NextTimer, Result, TransportError};

// Linux error numbers that correspond to states of smoltcp.
const CONNECTION_RESET: i32 = 104;

/// smoltcp as a [`WirePeer`].
pub struct SmoltcpPeer {
    stack: Stack,
    listeners: Vec<Listener>,
    connections: Vec<Connection>,
    /// Sockets of conversations that are forgotten, until they are closed.
    leaving: Vec<SocketHandle>,
}

struct Listener {
    local: SocketAddr,
    behavior: Behavior,
    waiting: SocketHandle,
}

struct Connection {
    handle: SocketHandle,
    remote: SocketAddr,
    application: Application,
    finished: bool,
}

impl SmoltcpPeer {
    /// Creates the interface described by `link`, with timers on `clock`.
    pub fn open(link: &LinkConfig, clock: Clock) -> Result<Self> {
        let stack = Stack::new(link, clock, TcpChecksums::Stack)?;
        Ok(Self { stack, listeners: Vec::new(), connections: Vec::new(), leaving: Vec::new() })
    }

    /// Lets the application read and write as much as possible now.
    fn run(&mut self) -> Result<()> {
        for listener in &mut self.listeners {
            let socket = self.stack.socket(listener.waiting);
            if socket.state() == State::Listen {
                continue;
            }
            let remote = socket.remote_endpoint().map(socket_address);
            let next = listening_socket(&mut self.stack, listener.local)?;
            let handle = std::mem::replace(&mut listener.waiting, next);
            match remote {
                Some(remote) => {
                    self.connections.push(Connection::new(handle, remote, listener.behavior));
                }
                // Reset right after its handshake, without a conversation.
                None => drop(self.stack.sockets.remove(handle)),
            }
        }
        for connection in &mut self.connections {
            connection.run(self.stack.socket(connection.handle));
        }
        self.leaving.retain(|handle| !self.stack.remove_if_done(*handle));
        Ok(())
    }

    fn listen_for(&mut self, local: SocketAddr, behavior: Behavior) -> Result<()> {
        let waiting = listening_socket(&mut self.stack, local)?;
        self.listeners.push(Listener { local, behavior, waiting });
        Ok(())
    }
}

impl WirePeer for SmoltcpPeer {
    fn poll_frame(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.run()?;
        let Some(frame) = self.stack.pop() else { return Ok(None) };
        let limit = buffer.len();
        let room = buffer.get_mut(..frame.len());
        let room = room.ok_or(TransportError::FrameTooLong { bytes: frame.len(), limit })?;
        room.copy_from_slice(&frame);
        Ok(Some(frame.len()))
    }

    fn inject_frame(&mut self, frame: &[u8]) -> Result<()> {
        self.stack.push(frame.to_vec());
        self.run()
    }

    fn connect(&mut self, remote: SocketAddr, script: Script) -> Result<()> {
        let (handle, _) = self.stack.connect(remote, None)?;
        self.connections.push(Connection::new(handle, remote, Behavior::Script(script)));
        Ok(())
    }

    fn listen(&mut self, local: SocketAddr, script: Script) -> Result<()> {
        self.listen_for(local, Behavior::Script(script))
    }

    fn listen_and_echo(&mut self, local: SocketAddr) -> Result<()> {
        self.listen_for(local, Behavior::Echo)
    }

    fn take_ended(&mut self) -> Vec<Conversation> {
        let ended = |one: &mut Connection| one.application.progress() != Progress::Running;
        let ended: Vec<_> = self.connections.extract_if(.., ended).collect();
        self.leaving.extend(ended.iter().map(|one| one.handle));
        ended.iter().map(|one| one.application.conversation(one.remote)).collect()
    }

    fn next_timer(&mut self) -> NextTimer {
        self.stack.next_timer()
    }

    fn conversations(&self) -> Vec<Conversation> {
        self.connections.iter().map(|one| one.application.conversation(one.remote)).collect()
    }
}

impl Connection {
    fn new(handle: SocketHandle, remote: SocketAddr, behavior: Behavior) -> Self {
        Self { handle, remote, application: Application::new(behavior), finished: false }
    }

    /// Receives and sends until both would block.
    fn run(&mut self, socket: &mut Socket) {
        if self.application.progress() != Progress::Running
            || matches!(socket.state(), State::SynSent | State::SynReceived)
        {
            return;
        }
        let application = &mut self.application;
        if socket.state() == State::Listen {
            // Reset within its handshake; smoltcp would accept another one on this socket.
            socket.abort();
            application.fail(CONNECTION_RESET);
            return;
        }
        loop {
            let wanted = application.wanted_bytes();
            let received = socket.recv(|bytes| {
                let taken = bytes.len().min(wanted);
                application.receive(&bytes[..taken]);
                (taken, taken)
            });
            match received {
                Ok(1..) => {}
                Err(RecvError::Finished) => {
                    application.ended_by_remote();
                    break;
                }
                Ok(0) | Err(RecvError::InvalidState) => break,
            }
        }
        while !application.outgoing().is_empty() {
            match socket.send_slice(application.outgoing()) {
                Ok(bytes @ 1..) => application.note_sent(bytes),
                Ok(0) | Err(_) => break,
            }
        }
        if application.all_sent() && !self.finished {
            socket.close();
            self.finished = true;
        }
        if socket.state() == State::Closed && application.progress() == Progress::Running {
            application.fail(CONNECTION_RESET);
        }
    }
}
