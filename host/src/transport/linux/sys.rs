//! Safe wrappers of the system calls of the Linux transport.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{epoll, Timespec};
use rustix::fs::{fallocate, ftruncate, memfd_create, sendfile, FallocateFlags, MemfdFlags};
use rustix::io::Errno;
use rustix::net::{self, sockopt, RecvFlags, SendFlags, SocketAddrAny, SocketFlags};

/// Converts the result of a system call.
fn check(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Whether a call would have blocked.
pub fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

/// Reads one frame into `head` and `body`, truncated to their length.
pub fn read_vectored(fd: BorrowedFd, head: &mut [u8], body: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::readv(fd, &mut [IoSliceMut::new(head), IoSliceMut::new(body)])?)
}

/// Writes one frame of `head`, `header` and `filler_bytes` bytes of repeated `filler`.
pub fn write_filled(
    fd: BorrowedFd,
    head: &[u8],
    header: &[u8],
    filler: &[u8],
    filler_bytes: usize,
) -> io::Result<usize> {
    // The count is below IOV_MAX: 64 KiB of filler in parts of 4 KiB.
    let mut parts = vec![IoSlice::new(head), IoSlice::new(header)];
    let mut left = filler_bytes;
    while left > 0 {
        let len = left.min(filler.len());
        parts.push(IoSlice::new(&filler[..len]));
        left -= len;
    }
    Ok(rustix::io::writev(fd, &parts)?)
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
    let file = memfd_create(name, MemfdFlags::CLOEXEC)?;
    ftruncate(&file, bytes as u64)?;
    fallocate(&file, FallocateFlags::empty(), 0, bytes as u64)?;
    Ok(file)
}

/// Sends `bytes` from the start of `file` by reference.
pub fn send_file(to: BorrowedFd, file: BorrowedFd, bytes: usize) -> io::Result<usize> {
    Ok(sendfile(to, file, Some(&mut 0), bytes)?)
}

/// Discards up to `bytes` received bytes of a TCP socket without copying them.
pub fn discard(fd: BorrowedFd, bytes: usize) -> io::Result<usize> {
    let flags = libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: with MSG_TRUNC a TCP socket does not touch the buffer, so it may be null.
    check(unsafe { libc::recv(fd.as_raw_fd(), std::ptr::null_mut(), bytes, flags) })
}

/// Receives into a buffer without blocking.
pub fn receive(fd: BorrowedFd, buffer: &mut [u8]) -> io::Result<usize> {
    Ok(net::recv(fd, buffer, RecvFlags::DONTWAIT)?.0)
}

/// Sends a buffer without blocking and without SIGPIPE.
pub fn send(fd: BorrowedFd, buffer: &[u8]) -> io::Result<usize> {
    Ok(net::send(fd, buffer, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
}

/// Sets an option of a socket, given as bytes.
pub fn set_option_bytes(fd: BorrowedFd, level: i32, name: i32, value: &[u8]) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: the value outlives the call and `len` is its size.
    let result =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), len) };
    check(result as isize).map(drop)
}

/// Lets a listener have an address that an ended connection still holds.
pub fn reuse_address(fd: BorrowedFd) -> io::Result<()> {
    Ok(sockopt::set_socket_reuseaddr(fd, true)?)
}

/// Makes `close` reset the connection.
pub fn set_reset_on_close(fd: BorrowedFd) -> io::Result<()> {
    Ok(sockopt::set_socket_linger(fd, Some(Duration::ZERO))?)
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

/// Takes the pending error of a socket.
pub fn take_error(fd: BorrowedFd) -> io::Result<Option<i32>> {
    Ok(sockopt::socket_error(fd)?.err().map(Errno::raw_os_error))
}

/// Starts to connect a non-blocking socket.
pub fn connect(fd: BorrowedFd, remote: SocketAddr) -> io::Result<()> {
    match net::connect(fd, &remote) {
        Err(Errno::INPROGRESS) => Ok(()),
        other => Ok(other?),
    }
}

/// Binds a socket to a local address.
pub fn bind(fd: BorrowedFd, local: SocketAddr) -> io::Result<()> {
    Ok(net::bind(fd, &local)?)
}

/// Lets a bound socket listen for connections.
pub fn listen(fd: BorrowedFd, backlog: i32) -> io::Result<()> {
    Ok(net::listen(fd, backlog)?)
}

/// The next established connection, as a non-blocking socket.
pub fn accept(fd: BorrowedFd) -> io::Result<OwnedFd> {
    Ok(net::accept_with(fd, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?)
}

/// Closes the sending half.
pub fn shutdown_write(fd: BorrowedFd) -> io::Result<()> {
    Ok(net::shutdown(fd, net::Shutdown::Write)?)
}

/// IP address and port alone: the scope of a link-local address is not part of a flow.
fn unscoped(address: SocketAddrAny) -> io::Result<SocketAddr> {
    let address = SocketAddr::try_from(address)?;
    Ok(SocketAddr::new(address.ip(), address.port()))
}

/// The local address of a socket.
pub fn local_address(fd: BorrowedFd) -> io::Result<SocketAddr> {
    unscoped(net::getsockname(fd)?)
}

/// The remote address of a connected socket.
pub fn remote_address(fd: BorrowedFd) -> io::Result<SocketAddr> {
    unscoped(net::getpeername(fd)?.ok_or(Errno::AFNOSUPPORT)?)
}

/// Creates an epoll set.
pub fn epoll() -> io::Result<OwnedFd> {
    Ok(epoll::create(epoll::CreateFlags::CLOEXEC)?)
}

/// Watches `fd` for `events`, reported under `token`.
pub fn epoll_add(
    set: BorrowedFd,
    fd: BorrowedFd,
    events: epoll::EventFlags,
    token: u64,
) -> io::Result<()> {
    Ok(epoll::add(set, fd, epoll::EventData::new_u64(token), events)?)
}

/// Tokens of the descriptors that are ready now.
pub fn epoll_poll(set: BorrowedFd) -> io::Result<Vec<u64>> {
    let mut events = Vec::with_capacity(64);
    epoll::wait(set, rustix::buffer::spare_capacity(&mut events), Some(&Timespec::default()))?;
    Ok(events.iter().map(|event: &epoll::Event| event.data.u64()).collect())
}
