//! A private network namespace, held by a broker process that opens sockets in it.
//!
//! ```text
//!   this process                          broker (forked, one thread, no allocation)
//!     Namespace::create -- fork --------> unshare(NEWNET), else unshare(NEWUSER|NEWNET)
//!     socket(), open_tap() -- request --> socket(2), open("/dev/net/tun")
//!                    <-- SCM_RIGHTS ----- the descriptor
//!     set(name, value) ---- request ----> write /proc/sys/net/...
//! ```
//!
//! Only a single-threaded process can create a user namespace, and without root this process could
//! not enter the network namespace by a thread. The broker works in both cases. A descriptor
//! belongs to the namespace in which it was opened, whoever uses it. As the owner of the user
//! namespace, this process has all capabilities in it, so everything else (naming the TAP, netlink)
//! is done here. The broker exits when its channel closes, also when this process is killed.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::cmsg_space;
use rustix::fs::{open, Mode, OFlags};
use rustix::io::{write, Errno};
use rustix::net::{
    recv, recvmsg, sendmsg, socket_with, socketpair, AddressFamily, Protocol, RecvAncillaryBuffer,
    RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    SocketFlags, SocketType,
};
use rustix::thread::{unshare_unsafe, UnshareFlags};

use super::sys;
use crate::transport::{Result, TransportError};

const REQUEST_SOCKET: u8 = 1;
const REQUEST_TAP: u8 = 2;
const REQUEST_SETTING: u8 = 3;
const REQUEST_NETWORK: u8 = 4;
/// Longest request: a kind, a path and a value.
const REQUEST_BYTES_MAX: usize = 256;
const TAP_PATH: &CStr = c"/dev/net/tun";
const NETWORK_PATH: &CStr = c"/proc/self/ns/net";

/// A network namespace. It exists as long as this value or any descriptor opened in it.
#[derive(Debug)]
pub struct Namespace {
    channel: Option<OwnedFd>,
    broker: libc::pid_t,
}

impl Namespace {
    /// Creates an empty network namespace.
    pub fn create() -> Result<Self> {
        let refused = |step| move |source| TransportError::NamespaceRefused { step, source };
        let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
        let pair = socketpair(family, kind, SocketFlags::CLOEXEC, None);
        let (ours, theirs) = pair.map_err(|error| refused("socketpair")(error.into()))?;
        // SAFETY: the child runs `broker_main` alone, which makes system calls only: it does not
        // allocate, lock or unwind, so it needs nothing that another thread may hold.
        let broker = match unsafe { libc::fork() } {
            -1 => return Err(refused("fork")(io::Error::last_os_error())),
            0 => broker_main(theirs.as_fd()),
            pid => pid,
        };
        drop(theirs);
        let namespace = Self { channel: Some(ours), broker };
        namespace.reply().map_err(refused("unshare"))?;
        Ok(namespace)
    }

    /// Opens a non-blocking socket in the namespace.
    pub fn socket(&self, family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
        let mut request = vec![REQUEST_SOCKET];
        for value in [family, kind, protocol] {
            request.extend(value.to_ne_bytes());
        }
        self.request(&request)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Opens the TAP driver in the namespace, non-blocking.
    pub fn open_tap(&self) -> io::Result<OwnedFd> {
        self.request(&[REQUEST_TAP])?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Enters one more empty network of the same owner, and returns the file of the one it leaves:
    /// that one exists as long as this file or any descriptor opened in it.
    pub fn enter_another(&self) -> io::Result<OwnedFd> {
        self.request(&[REQUEST_NETWORK])?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Writes a setting below `/proc/sys/net`.
    pub fn set(&self, name: &str, value: &str) -> io::Result<()> {
        let mut request = vec![REQUEST_SETTING];
        request.extend_from_slice(b"/proc/sys/net/");
        request.extend_from_slice(name.as_bytes());
        request.push(0);
        request.extend_from_slice(value.as_bytes());
        if request.len() > REQUEST_BYTES_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.request(&request).map(drop)
    }

    fn channel(&self) -> BorrowedFd<'_> {
        self.channel.as_ref().expect("taken only by drop").as_fd()
    }

    fn request(&self, request: &[u8]) -> io::Result<Option<OwnedFd>> {
        sys::send(self.channel(), request)?;
        self.reply()
    }

    /// Waits for the reply of the broker: an error number, and maybe a descriptor.
    fn reply(&self) -> io::Result<Option<OwnedFd>> {
        let mut error = [0; 4];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let parts = &mut [IoSliceMut::new(&mut error)];
        let message = recvmsg(self.channel(), parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        if message.bytes == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match i32::from_ne_bytes(error) {
            0 => Ok(control.drain().find_map(|part| match part {
                RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
                _ => None,
            })),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.channel = None;
        // SAFETY: the broker is our child and ends now that its channel is closed; nobody else
        // waits for it.
        unsafe { libc::waitpid(self.broker, std::ptr::null_mut(), 0) };
    }
}

/// What a request ends with: maybe a descriptor.
type Reply = rustix::io::Result<Option<OwnedFd>>;

/// The broker: enters the namespace, then serves requests until the channel closes.
fn broker_main(channel: BorrowedFd<'_>) -> ! {
    keep_only(channel.as_raw_fd());
    // SAFETY: takes plain numbers; in a session of its own the broker gets no terminal signals.
    unsafe { libc::setsid() };
    send_reply(channel, &enter());
    let mut request = [0u8; REQUEST_BYTES_MAX];
    while let Ok((bytes @ 1.., _)) = recv(channel, &mut request, RecvFlags::empty()) {
        send_reply(channel, &serve(&request[..bytes]));
    }
    // SAFETY: ends the child without running the parent's exit handlers.
    unsafe { libc::_exit(0) }
}

/// Closes all descriptors except one: the parent's files must not stay open in the broker.
fn keep_only(fd: RawFd) {
    let fd = fd as libc::c_uint;
    // SAFETY: the child owns its copy of the descriptor table and uses none but `fd`.
    unsafe {
        if fd > 0 {
            libc::syscall(libc::SYS_close_range, 0, fd - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, fd + 1, libc::c_uint::MAX, 0);
    }
}

/// Moves the broker to a new network namespace, as root or as the owner of a new user namespace.
fn enter() -> Reply {
    // SAFETY: the broker has one thread, and its table of descriptors stays as it is.
    unsafe {
        unshare_unsafe(UnshareFlags::NEWNET)
            .or_else(|_| unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET))?;
    }
    Ok(None)
}

fn serve(request: &[u8]) -> Reply {
    match request[0] {
        REQUEST_SOCKET if request.len() == 13 => {
            let field = |at: usize| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| request[at + byte]));
            let family = AddressFamily::from_raw(field(1) as u16);
            let kind = SocketType::from_raw(field(5));
            let protocol = NonZeroU32::new(field(9)).map(Protocol::from_raw);
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            socket_with(family, kind, flags, protocol).map(Some)
        }
        REQUEST_TAP => {
            let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
            open(TAP_PATH, flags, Mode::empty()).map(Some)
        }
        REQUEST_NETWORK => leave_network(),
        REQUEST_SETTING => write_setting(&request[1..]),
        _ => Err(Errno::INVAL),
    }
}

/// Opens the file of the network, then enters a new one; returns the file.
fn leave_network() -> Reply {
    let network = open(NETWORK_PATH, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    // SAFETY: as in `enter`.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET)? };
    Ok(Some(network))
}

/// Writes `value` to `path`, given as `path NUL value`.
fn write_setting(request: &[u8]) -> Reply {
    let path = CStr::from_bytes_until_nul(request).map_err(|_| Errno::INVAL)?;
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    write(file, &request[path.count_bytes() + 1..])?;
    Ok(None)
}

/// Whoever has asked may be gone: then the channel ends next.
fn send_reply(channel: BorrowedFd<'_>, reply: &Reply) {
    let (error, descriptor) = match reply {
        Ok(descriptor) => (0, descriptor.as_ref()),
        Err(error) => (error.raw_os_error(), None),
    };
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors = descriptor.map(|one| [one.as_fd()]);
    if let Some(descriptors) = &descriptors {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    let bytes = error.to_ne_bytes();
    let _ = sendmsg(channel, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL);
}
