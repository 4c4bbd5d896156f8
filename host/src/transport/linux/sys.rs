//! Safe wrappers of the system calls of the Linux transport.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::mem::{size_of, MaybeUninit};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Converts the result of a system call.
fn check(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Takes ownership of the descriptor that a system call just returned.
fn take_descriptor(result: libc::c_int) -> io::Result<OwnedFd> {
    check(result as libc::ssize_t)?;
    // SAFETY: the call succeeded, so `result` is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(result) })
}

/// Whether a call would have blocked.
pub fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Reads one frame into `head` and `body`, truncated to their length.
pub fn read_vectored(fd: BorrowedFd, head: &mut [u8], body: &mut [u8]) -> io::Result<usize> {
    let parts = [
        libc::iovec { iov_base: head.as_mut_ptr().cast(), iov_len: head.len() },
        libc::iovec { iov_base: body.as_mut_ptr().cast(), iov_len: body.len() },
    ];
    // SAFETY: both parts are exclusively borrowed buffers of the given lengths.
    check(unsafe { libc::readv(fd.as_raw_fd(), parts.as_ptr(), 2) })
}

/// Writes one frame of `head`, `header` and `filler_bytes` bytes of repeated `filler`.
pub fn write_filled(
    fd: BorrowedFd,
    head: &[u8],
    header: &[u8],
    filler: &[u8],
    filler_bytes: usize,
) -> io::Result<usize> {
    let part = |bytes: &[u8], len: usize| libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: len,
    };
    let mut parts = vec![part(head, head.len()), part(header, header.len())];
    let mut left = filler_bytes;
    while left > 0 {
        let len = left.min(filler.len());
        parts.push(part(filler, len));
        left -= len;
    }
    // SAFETY: every part lies inside a borrowed slice and the kernel only reads them; the count
    // is below IOV_MAX (64 KiB of filler in parts of 4 KiB).
    check(unsafe { libc::writev(fd.as_raw_fd(), parts.as_ptr(), parts.len() as libc::c_int) })
}

/// An `ifreq` that names an interface.
fn interface_request(name: &CStr) -> libc::ifreq {
    // SAFETY: `ifreq` is plain data, for which all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().take(room).zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    request
}

/// `TUNSETIFF`: creates an interface of the kind given by the flags.
pub fn tun_set_interface(fd: BorrowedFd, name: &CStr, flags: libc::c_int) -> io::Result<()> {
    let mut request = interface_request(name);
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &mut request) } as isize).map(drop)
}

/// The index of an interface, through any socket of its namespace.
pub fn interface_index(fd: BorrowedFd, name: &CStr) -> io::Result<u32> {
    let mut request = interface_request(name);
    // SAFETY: SIOCGIFINDEX reads and writes one `ifreq`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFINDEX, &mut request) } as isize)?;
    // SAFETY: the call succeeded, so the kernel wrote this member of the union.
    Ok(unsafe { request.ifr_ifru.ifru_ifindex } as u32)
}

/// `TUNSETOFFLOAD`: offloads that the reader of the device performs.
pub fn tun_set_offload(fd: BorrowedFd, offloads: libc::c_uint) -> io::Result<()> {
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    let result =
        unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads)) };
    check(result as isize).map(drop)
}

/// An `ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    value: u32,
}

/// `SIOCETHTOOL` with `ETHTOOL_SGRO`: whether an interface joins received segments (GRO), through
/// any socket of its namespace.
pub fn set_receive_offload(fd: BorrowedFd, name: &CStr, on: bool) -> io::Result<()> {
    const SIOCETHTOOL: libc::Ioctl = 0x8946;
    const ETHTOOL_SGRO: u32 = 0x2c;
    let mut value = EthtoolValue { command: ETHTOOL_SGRO, value: on.into() };
    let mut request = interface_request(name);
    request.ifr_ifru.ifru_data = std::ptr::from_mut(&mut value).cast();
    // SAFETY: the command reads one `ifreq` and the value that it points at; both outlive the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL, &mut request) } as isize).map(drop)
}

/// `SIOCOUTQ` or `FIONREAD`: bytes in a queue of a socket.
pub fn queue_bytes(fd: BorrowedFd, request: libc::Ioctl) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one `int`, which outlives the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), request, &mut bytes) } as isize)?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// A memory file of `bytes` zeros with allocated pages.
pub fn zero_file(name: &CStr, bytes: usize) -> io::Result<OwnedFd> {
    // SAFETY: `name` is a terminated string.
    let file = take_descriptor(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) })?;
    // SAFETY: the descriptor is a file of our own; both calls take plain numbers.
    check(unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) } as isize)?;
    // SAFETY: as above.
    check(unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, bytes as libc::off_t) } as isize)?;
    Ok(file)
}

/// Sends `bytes` from the start of `file` by reference.
pub fn send_file(to: BorrowedFd, file: BorrowedFd, bytes: usize) -> io::Result<usize> {
    let mut offset: libc::off_t = 0;
    // SAFETY: `offset` outlives the call, both descriptors are open.
    check(unsafe { libc::sendfile(to.as_raw_fd(), file.as_raw_fd(), &mut offset, bytes) })
}

/// Discards up to `bytes` received bytes of a TCP socket without copying them.
pub fn discard(fd: BorrowedFd, bytes: usize) -> io::Result<usize> {
    let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: with MSG_TRUNC a TCP socket does not touch the buffer, so it may be null.
    check(unsafe { libc::recv(fd.as_raw_fd(), std::ptr::null_mut(), bytes, flags) })
}

/// Receives into a buffer without blocking.
pub fn receive(fd: BorrowedFd, buffer: &mut [u8], flags: libc::c_int) -> io::Result<usize> {
    let flags = flags | libc::MSG_DONTWAIT;
    // SAFETY: the buffer is exclusively borrowed and of the given length.
    check(unsafe { libc::recv(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) })
}

/// Sends a buffer without blocking and without SIGPIPE.
pub fn send(fd: BorrowedFd, buffer: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the buffer is borrowed and of the given length.
    check(unsafe { libc::send(fd.as_raw_fd(), buffer.as_ptr().cast(), buffer.len(), flags) })
}

/// Sets an integer option of a socket.
pub fn set_option(fd: BorrowedFd, level: i32, name: i32, value: i32) -> io::Result<()> {
    set_option_bytes(fd, level, name, &value.to_ne_bytes())
}

/// Sets an option of a socket, given as bytes.
pub fn set_option_bytes(fd: BorrowedFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: the value outlives the call and `len` is its size.
    let result =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), len) };
    check(result as isize).map(drop)
}

/// Makes `close` reset the connection.
pub fn set_reset_on_close(fd: BorrowedFd) -> io::Result<()> {
    // A `struct linger`: on, with timeout 0.
    let linger = [1i32.to_ne_bytes(), 0i32.to_ne_bytes()].concat();
    set_option_bytes(fd, libc::SOL_SOCKET, libc::SO_LINGER, &linger)
}

/// Reads an option of a socket as bytes. Returns how many the kernel wrote.
pub fn get_option(fd: BorrowedFd, level: i32, name: i32, value: &mut [u8]) -> io::Result<usize> {
    let mut len = value.len() as libc::socklen_t;
    // SAFETY: the buffer is exclusively borrowed and `len` is its size.
    let result = unsafe {
        libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &mut len)
    };
    check(result as isize)?;
    Ok(len as usize)
}

/// Returns and clears the pending error of a socket.
pub fn take_error(fd: BorrowedFd) -> io::Result<i32> {
    let mut value = [0; 4];
    get_option(fd, libc::SOL_SOCKET, libc::SO_ERROR, &mut value)?;
    Ok(i32::from_ne_bytes(value))
}

/// A socket address in the kernel's layout.
struct RawAddress {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

impl RawAddress {
    fn empty() -> Self {
        Self {
            // SAFETY: `sockaddr_storage` is plain data, for which all zeros is a valid value.
            storage: unsafe { MaybeUninit::zeroed().assume_init() },
            len: size_of::<libc::sockaddr_storage>() as libc::socklen_t,
        }
    }

    fn new(address: SocketAddr) -> Self {
        let mut raw = Self::empty();
        let at = std::ptr::from_mut(&mut raw.storage);
        match address {
            SocketAddr::V4(v4) => {
                // SAFETY: `sockaddr_storage` is large and aligned enough for any socket address.
                let to = unsafe { &mut *at.cast::<libc::sockaddr_in>() };
                to.sin_family = libc::AF_INET as libc::sa_family_t;
                to.sin_port = v4.port().to_be();
                to.sin_addr.s_addr = u32::from_ne_bytes(v4.ip().octets());
                raw.len = size_of::<libc::sockaddr_in>() as libc::socklen_t;
            }
            SocketAddr::V6(v6) => {
                // SAFETY: as above.
                let to = unsafe { &mut *at.cast::<libc::sockaddr_in6>() };
                to.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                to.sin6_port = v6.port().to_be();
                to.sin6_addr.s6_addr = v6.ip().octets();
                to.sin6_scope_id = v6.scope_id();
                raw.len = size_of::<libc::sockaddr_in6>() as libc::socklen_t;
            }
        }
        raw
    }

    fn decode(&self) -> io::Result<SocketAddr> {
        let at = std::ptr::from_ref(&self.storage);
        match i32::from(self.storage.ss_family) {
            libc::AF_INET => {
                // SAFETY: the family says that the kernel wrote this type.
                let from = unsafe { &*at.cast::<libc::sockaddr_in>() };
                let ip = Ipv4Addr::from(from.sin_addr.s_addr.to_ne_bytes());
                Ok(SocketAddr::new(IpAddr::V4(ip), u16::from_be(from.sin_port)))
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let from = unsafe { &*at.cast::<libc::sockaddr_in6>() };
                let ip = Ipv6Addr::from(from.sin6_addr.s6_addr);
                Ok(SocketAddr::new(IpAddr::V6(ip), u16::from_be(from.sin6_port)))
            }
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn as_ptr(&self) -> *const libc::sockaddr {
        std::ptr::from_ref(&self.storage).cast()
    }

    fn as_mut_ptr(&mut self) -> *mut libc::sockaddr {
        std::ptr::from_mut(&mut self.storage).cast()
    }
}

/// Starts to connect a non-blocking socket.
pub fn connect(fd: BorrowedFd, remote: SocketAddr) -> io::Result<()> {
    let raw = RawAddress::new(remote);
    // SAFETY: the address outlives the call and `len` is its size.
    let result = unsafe { libc::connect(fd.as_raw_fd(), raw.as_ptr(), raw.len) };
    match check(result as isize) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        other => other.map(drop),
    }
}

/// Binds a socket to a local address.
pub fn bind(fd: BorrowedFd, local: SocketAddr) -> io::Result<()> {
    let raw = RawAddress::new(local);
    // SAFETY: the address outlives the call and `len` is its size.
    check(unsafe { libc::bind(fd.as_raw_fd(), raw.as_ptr(), raw.len) } as isize).map(drop)
}

/// Lets a bound socket listen for connections.
pub fn listen(fd: BorrowedFd, backlog: i32) -> io::Result<()> {
    // SAFETY: takes plain numbers.
    check(unsafe { libc::listen(fd.as_raw_fd(), backlog) } as isize).map(drop)
}

/// The next established connection, as a non-blocking socket.
pub fn accept(fd: BorrowedFd) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the address is not asked for, so both pointers may be null.
    take_descriptor(unsafe {
        libc::accept4(fd.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), flags)
    })
}

/// Closes the sending half.
pub fn shutdown_write(fd: BorrowedFd) -> io::Result<()> {
    // SAFETY: takes plain numbers.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) } as isize).map(drop)
}

/// The local address of a socket.
pub fn local_address(fd: BorrowedFd) -> io::Result<SocketAddr> {
    let mut raw = RawAddress::empty();
    let len = std::ptr::from_mut(&mut raw.len);
    // SAFETY: the address has room for any family and `len` says how much.
    check(unsafe { libc::getsockname(fd.as_raw_fd(), raw.as_mut_ptr(), len) } as isize)?;
    raw.decode()
}

/// The remote address of a connected socket.
pub fn remote_address(fd: BorrowedFd) -> io::Result<SocketAddr> {
    let mut raw = RawAddress::empty();
    let len = std::ptr::from_mut(&mut raw.len);
    // SAFETY: as above.
    check(unsafe { libc::getpeername(fd.as_raw_fd(), raw.as_mut_ptr(), len) } as isize)?;
    raw.decode()
}

/// Creates an epoll set.
pub fn epoll() -> io::Result<OwnedFd> {
    // SAFETY: takes plain numbers.
    take_descriptor(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
}

/// Watches `fd` for `events`, reported under `token`.
pub fn epoll_add(epoll: BorrowedFd, fd: BorrowedFd, events: i32, token: u64) -> io::Result<()> {
    let mut event = libc::epoll_event { events: events as u32, u64: token };
    let (set, fd) = (epoll.as_raw_fd(), fd.as_raw_fd());
    // SAFETY: the event outlives the call.
    let result = unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, fd, &mut event) };
    check(result as isize).map(drop)
}

/// Tokens of the descriptors that are ready now.
pub fn epoll_poll(epoll: BorrowedFd) -> io::Result<Vec<u64>> {
    const EVENTS: usize = 64;
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
    // SAFETY: the buffer holds EVENTS entries; timeout 0 does not wait.
    let count =
        check(
            unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), EVENTS as i32, 0) }
                as isize,
        )?;
    Ok(events[..count].iter().map(|event| event.u64).collect())
}

/// A connected pair of local sockets that preserve message boundaries.
pub fn message_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut pair: [RawFd; 2] = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for the two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) } as isize)?;
    // SAFETY: the call succeeded, so both are new descriptors that nobody else owns.
    Ok(unsafe { (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1])) })
}
