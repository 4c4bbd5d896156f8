//! A peer that is a Linux kernel in a network namespace of its own, with real payload.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::application::{Application, Behavior};
use super::{Conversation, Progress, Script, WirePeer};
use crate::transport::linux::tap::{Tap, TapMode};
use crate::transport::linux::{call_error, is_overrun, sys};
use crate::transport::{LinkConfig, Result, TransportError};

const READ_BYTES: usize = 64 << 10;
const LISTEN_BACKLOG: i32 = 128;

/// Kernel TCP with frames as on the wire: without offloads, the kernel segments and handles all
/// checksums.
#[derive(Debug)]
pub struct KernelPeer {
    tap: Tap,
    listeners: Vec<(OwnedFd, Behavior)>,
    connections: Vec<Connection>,
    overruns: u64,
}

#[derive(Debug)]
struct Connection {
    /// `None` after the conversation has ended.
    socket: Option<OwnedFd>,
    remote: SocketAddr,
    application: Application,
    finished: bool,
}

impl KernelPeer {
    /// Creates the namespace, the device and the interface described by `link`.
    pub fn open(link: &LinkConfig) -> Result<Self> {
        let tap = Tap::open(link, TapMode::Plain)?;
        Ok(Self { tap, listeners: Vec::new(), connections: Vec::new(), overruns: 0 })
    }

    /// Writes a setting of the kernel for this peer alone, by its name below `/proc/sys/net`:
    /// `ipv4/tcp_sack`.
    ///
    /// # Errors
    /// This kernel has no such setting or value.
    pub fn set(&self, name: &str, value: &str) -> Result<()> {
        self.tap.set(name, value).map_err(call_error("write below /proc/sys/net"))
    }

    /// Injected frames dropped because the kernel had no memory, as on a full ring.
    pub fn overruns(&self) -> u64 {
        self.overruns
    }

    /// Lets the application read and write as much as possible now.
    fn run(&mut self) -> Result<()> {
        for (listener, behavior) in &self.listeners {
            while let Some(socket) = accept(listener.as_fd())? {
                let remote = match sys::remote_address(socket.as_fd()) {
                    Ok(remote) => remote,
                    Err(error) if error.raw_os_error() == Some(libc::ENOTCONN) => continue,
                    Err(source) => return Err(call_error("getpeername")(source)),
                };
                self.connections.push(Connection::new(socket, remote, *behavior));
            }
        }
        for connection in &mut self.connections {
            connection.run();
        }
        Ok(())
    }

    fn listen_for(&mut self, local: SocketAddr, behavior: Behavior) -> Result<()> {
        let socket = self.tap.tcp_socket(local.is_ipv6()).map_err(call_error("socket"))?;
        sys::reuse_address(socket.as_fd()).map_err(call_error("SO_REUSEADDR"))?;
        sys::bind(socket.as_fd(), local).map_err(call_error("bind"))?;
        sys::listen(socket.as_fd(), LISTEN_BACKLOG).map_err(call_error("listen"))?;
        self.listeners.push((socket, behavior));
        Ok(())
    }

    fn read_frame(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        // One byte more than the buffer shows whether the frame was truncated.
        let mut excess = [0];
        match sys::read_vectored(self.tap.device(), buffer, &mut excess) {
            Ok(bytes) if bytes > buffer.len() => {
                Err(TransportError::FrameTooLong { bytes, limit: buffer.len() })
            }
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if sys::would_block(&error) => Ok(None),
            Err(source) => Err(call_error("read from TAP")(source)),
        }
    }
}

impl WirePeer for KernelPeer {
    fn poll_frame(&mut self, buffer: &mut [u8]) -> Result<Option<usize>> {
        if let Some(bytes) = self.read_frame(buffer)? {
            return Ok(Some(bytes));
        }
        self.run()?;
        self.read_frame(buffer)
    }

    fn inject_frame(&mut self, frame: &[u8]) -> Result<()> {
        match sys::write_filled(self.tap.device(), frame, &[], &[], 0) {
            Ok(_) => Ok(()),
            Err(error) if is_overrun(&error) => {
                self.overruns += 1;
                Ok(())
            }
            Err(source) => Err(call_error("write to TAP")(source)),
        }
    }

    fn connect(&mut self, remote: SocketAddr, script: Script) -> Result<()> {
        let socket = self.tap.tcp_socket(remote.is_ipv6()).map_err(call_error("socket"))?;
        sys::connect(socket.as_fd(), remote).map_err(call_error("connect"))?;
        self.connections.push(Connection::new(socket, remote, Behavior::Script(script)));
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
        let ended = self.connections.extract_if(.., ended);
        ended.map(|one| one.application.conversation(one.remote)).collect()
    }

    fn conversations(&self) -> Vec<Conversation> {
        self.connections.iter().map(|one| one.application.conversation(one.remote)).collect()
    }
}

impl Connection {
    fn new(socket: OwnedFd, remote: SocketAddr, behavior: Behavior) -> Self {
        let application = Application::new(behavior);
        Self { socket: Some(socket), remote, application, finished: false }
    }

    /// Makes all progress possible now; closes the socket when the conversation has ended.
    fn run(&mut self) {
        let Some(socket) = &self.socket else { return };
        let fd = socket.as_fd();
        if let Err(error) = converse(fd, &mut self.application, &mut self.finished) {
            if !sys::would_block(&error) && error.raw_os_error() != Some(libc::EINTR) {
                self.application.fail(error.raw_os_error().unwrap_or(libc::EIO));
            }
        }
        if self.application.progress() != Progress::Running {
            self.socket = None;
        }
    }
}

/// Receives and sends until both would block.
fn converse(
    fd: BorrowedFd,
    application: &mut Application,
    finished: &mut bool,
) -> std::io::Result<()> {
    match receive(fd, application) {
        Err(error) if !sys::would_block(&error) => return Err(error),
        Ok(()) | Err(_) => {}
    }
    while !application.outgoing().is_empty() {
        match sys::send(fd, application.outgoing()) {
            Ok(bytes) => application.note_sent(bytes),
            Err(error) if sys::would_block(&error) => break,
            Err(error) => return Err(error),
        }
    }
    // Before the handshake is complete, `shutdown` would abort it.
    if application.all_sent() && !*finished && sys::remote_address(fd).is_ok() {
        sys::shutdown_write(fd)?;
        *finished = true;
    }
    Ok(())
}

fn receive(fd: BorrowedFd, application: &mut Application) -> std::io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let wanted = application.wanted_bytes().min(READ_BYTES);
        if wanted == 0 {
            return Ok(());
        }
        match sys::receive(fd, &mut buffer[..wanted])? {
            0 => {
                application.ended_by_remote();
                return Ok(());
            }
            bytes => application.receive(&buffer[..bytes]),
        }
    }
}

fn accept(listener: BorrowedFd) -> Result<Option<OwnedFd>> {
    match sys::accept(listener) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if sys::would_block(&error) => Ok(None),
        Err(error) if error.raw_os_error() == Some(libc::ECONNABORTED) => Ok(None),
        Err(source) => Err(call_error("accept4")(source)),
    }
}
