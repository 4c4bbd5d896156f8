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
use std::io;
use std::mem::{size_of, MaybeUninit};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

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
        let (ours, theirs) = sys::message_pair().map_err(refused("socketpair"))?;
        // SAFETY: the child runs `broker_main` alone, which makes system calls only: it does not
        // allocate, lock or unwind, so it needs nothing that another thread may hold.
        let broker = match unsafe { libc::fork() } {
            -1 => return Err(refused("fork")(io::Error::last_os_error())),
            0 => broker_main(theirs.as_raw_fd()),
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
        let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
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
        let mut error = [0u8; 4];
        let mut message = Message::new(error.as_mut_ptr(), error.len());
        // SAFETY: the message points at `error` and at its own control buffer, both alive here.
        let bytes = unsafe {
            let header = message.header();
            libc::recvmsg(self.channel().as_raw_fd(), header, libc::MSG_CMSG_CLOEXEC)
        };
        match bytes {
            4 => {}
            0 => return Err(io::ErrorKind::BrokenPipe.into()),
            _ => return Err(io::Error::last_os_error()),
        }
        match i32::from_ne_bytes(error) {
            0 => Ok(message.descriptor()),
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

/// One message with space for one descriptor, on the stack.
struct Message {
    part: libc::iovec,
    control: [u64; 4],
    header: libc::msghdr,
}

impl Message {
    /// A message over `len` bytes at `data`, which must outlive every use of [`Self::header`].
    fn new(data: *mut u8, len: usize) -> Self {
        Self {
            part: libc::iovec { iov_base: data.cast(), iov_len: len },
            control: [0; 4],
            // SAFETY: `msghdr` is plain data, for which all zeros is a valid value.
            header: unsafe { MaybeUninit::zeroed().assume_init() },
        }
    }

    /// The header, pointing into this value; valid until it moves.
    fn header(&mut self) -> *mut libc::msghdr {
        self.header.msg_iov = &mut self.part;
        self.header.msg_iovlen = 1;
        self.header.msg_control = self.control.as_mut_ptr().cast();
        self.header.msg_controllen = size_of::<[u64; 4]>() as _;
        &mut self.header
    }

    /// The header with a descriptor attached, or with none.
    fn header_with(&mut self, fd: Option<RawFd>) -> *mut libc::msghdr {
        let header = self.header();
        let Some(fd) = fd else {
            self.header.msg_control = std::ptr::null_mut();
            self.header.msg_controllen = 0;
            return header;
        };
        // SAFETY: the control buffer is aligned for `cmsghdr` and has room for one of four bytes.
        unsafe {
            self.header.msg_controllen = libc::CMSG_SPACE(4) as _;
            let control = libc::CMSG_FIRSTHDR(header);
            (*control).cmsg_level = libc::SOL_SOCKET;
            (*control).cmsg_type = libc::SCM_RIGHTS;
            (*control).cmsg_len = libc::CMSG_LEN(4) as _;
            libc::CMSG_DATA(control).cast::<RawFd>().write_unaligned(fd);
        }
        header
    }

    /// The descriptor that came with a received message.
    fn descriptor(&mut self) -> Option<OwnedFd> {
        let header = std::ptr::from_ref(&self.header);
        // SAFETY: the kernel filled in the control buffer and its length; a message of this type
        // and level holds one new descriptor, since the broker never sends more.
        unsafe {
            let control = libc::CMSG_FIRSTHDR(header);
            if control.is_null()
                || (*control).cmsg_level != libc::SOL_SOCKET
                || (*control).cmsg_type != libc::SCM_RIGHTS
            {
                return None;
            }
            let fd = libc::CMSG_DATA(control).cast::<RawFd>().read_unaligned();
            Some(OwnedFd::from_raw_fd(fd))
        }
    }
}

/// The error number of the call that just failed.
fn errno() -> i32 {
    // SAFETY: the location is that of this thread.
    unsafe { *libc::__errno_location() }
}

/// The broker: enters the namespace, then serves requests until the channel closes.
fn broker_main(channel: RawFd) -> ! {
    keep_only(channel);
    // SAFETY: takes plain numbers; in a session of its own the broker gets no terminal signals.
    unsafe { libc::setsid() };
    let entered = enter();
    send_reply(channel, entered, None);
    let mut request = [0u8; REQUEST_BYTES_MAX + 1];
    loop {
        // SAFETY: the buffer is ours and one byte longer than what may be received, so that a
        // value always ends before it does.
        let bytes =
            unsafe { libc::recv(channel, request.as_mut_ptr().cast(), REQUEST_BYTES_MAX, 0) };
        let Ok(bytes @ 1..) = usize::try_from(bytes) else { break };
        serve(channel, &request[..bytes]);
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

/// Moves the broker to a new network namespace; returns 0 or an error number.
fn enter() -> i32 {
    // SAFETY: takes plain numbers.
    unsafe {
        if libc::unshare(libc::CLONE_NEWNET) == 0
            || libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) == 0
        {
            return 0;
        }
    }
    errno()
}

fn serve(channel: RawFd, request: &[u8]) {
    let fd = match request[0] {
        REQUEST_SOCKET if request.len() == 13 => {
            let field = |at: usize| i32::from_ne_bytes([0, 1, 2, 3].map(|byte| request[at + byte]));
            // SAFETY: takes plain numbers.
            unsafe { libc::socket(field(1), field(5), field(9)) }
        }
        REQUEST_TAP => {
            let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
            // SAFETY: the path is a terminated string.
            unsafe { libc::open(TAP_PATH.as_ptr(), flags) }
        }
        REQUEST_NETWORK => leave_network(),
        REQUEST_SETTING => return send_reply(channel, write_setting(&request[1..]), None),
        _ => return send_reply(channel, libc::EINVAL, None),
    };
    if fd < 0 {
        return send_reply(channel, errno(), None);
    }
    send_reply(channel, 0, Some(fd));
    // SAFETY: the descriptor is ours; the parent has its own copy by now.
    unsafe { libc::close(fd) };
}

/// Opens the file of the network, then enters a new one; returns the file, or -1 with its error.
fn leave_network() -> RawFd {
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: the path is a terminated string; the other calls take plain numbers, and the
    // descriptor is our own.
    unsafe {
        let fd = libc::open(NETWORK_PATH.as_ptr(), flags);
        if fd < 0 || libc::unshare(libc::CLONE_NEWNET) == 0 {
            return fd;
        }
        let error = errno();
        libc::close(fd);
        *libc::__errno_location() = error;
        -1
    }
}

/// Writes `value` to `path`, given as `path NUL value`; returns 0 or an error number.
fn write_setting(request: &[u8]) -> i32 {
    let Ok(path) = CStr::from_bytes_until_nul(request) else { return libc::EINVAL };
    let value = &request[path.count_bytes() + 1..];
    // SAFETY: the path is a terminated string, the value a slice, the descriptor our own.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return errno();
        }
        let written = libc::write(fd, value.as_ptr().cast(), value.len());
        let error = if written < 0 { errno() } else { 0 };
        libc::close(fd);
        error
    }
}

fn send_reply(channel: RawFd, error: i32, fd: Option<RawFd>) {
    let mut bytes = error.to_ne_bytes();
    let mut message = Message::new(bytes.as_mut_ptr(), bytes.len());
    // SAFETY: the message points at `bytes` and at its own control buffer, both alive here.
    unsafe { libc::sendmsg(channel, message.header_with(fd), libc::MSG_NOSIGNAL) };
}
