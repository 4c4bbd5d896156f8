//! Sends by reference: `MSG_ZEROCOPY`, and the kernel's word on whether it has copied after all.
//!
//! ```text
//!   send (MSG_ZEROCOPY) ─► numbered ─► ... ─► error queue: numbers from, to; copied or not
//! ```
//! Source: the kernel's `Documentation/networking/msg_zerocopy.rst`.
#![allow(unsafe_code)]

use std::io;
use std::mem::{size_of, zeroed};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};

use super::sys::{set_option_bytes, would_block};

/// `SO_EE_ORIGIN_ZEROCOPY` and `SO_EE_CODE_ZEROCOPY_COPIED` of linux/errqueue.h.
const ORIGIN_ZERO_COPY: u8 = 5;
const CODE_COPIED: u8 = 1;

/// What became of the sends of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroCopies {
    /// Sends that the kernel is done with.
    pub done: u64,
    /// Those of them whose bytes it has copied.
    pub copied: u64,
}

/// Lets a stream send by reference.
pub fn allow(stream: &TcpStream) -> io::Result<()> {
    set_option_bytes(stream.as_fd(), libc::SOL_SOCKET, libc::SO_ZEROCOPY, &1i32.to_ne_bytes())
}

/// Sends bytes by reference, which must not change until the kernel is done with them: they live as
/// long as the program. 0 if nothing was sent, as the kernel has too many sends to remember.
pub fn send(stream: &TcpStream, bytes: &'static [u8]) -> io::Result<usize> {
    let (from, length) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the kernel only reads the bytes, which live as long as the program and do not change.
    let sent = unsafe { libc::send(stream.as_raw_fd(), from, length, libc::MSG_ZEROCOPY) };
    match usize::try_from(sent) {
        Ok(sent) => Ok(sent),
        Err(_) => {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ENOBUFS) => Ok(0),
                _ => Err(error),
            }
        }
    }
}

/// Room for the control messages of one notice, aligned as they must be.
#[repr(align(8))]
struct Control([u8; 128]);

/// Takes the next notice of the kernel, if there is one.
fn next_notice(stream: &TcpStream) -> io::Result<Option<ZeroCopies>> {
    let mut control = Control([0; 128]);
    // SAFETY: `msghdr` is plain data, for which all zeros is a valid value.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the message names a buffer of the given length, and both outlive the call.
    let result = unsafe { libc::recvmsg(stream.as_raw_fd(), &mut message, flags) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return if would_block(&error) { Ok(None) } else { Err(error) };
    }
    let mut notice = ZeroCopies::default();
    // SAFETY: the kernel has filled the control messages of `message`, which is still borrowed.
    let mut at = unsafe { libc::CMSG_FIRSTHDR(&message) };
    while !at.is_null() {
        // SAFETY: `at` is a header inside the control buffer; CMSG_FIRSTHDR and CMSG_NXTHDR give no
        // other.
        let (header, data) = unsafe { (*at, libc::CMSG_DATA(at)) };
        let is_error = [(libc::SOL_IP, libc::IP_RECVERR), (libc::SOL_IPV6, libc::IPV6_RECVERR)]
            .contains(&(header.cmsg_level, header.cmsg_type));
        if is_error && header.cmsg_len >= size_of::<libc::sock_extended_err>() {
            // SAFETY: the message is one of extended errors and long enough for one; it may lie
            // unaligned.
            let error = unsafe { data.cast::<libc::sock_extended_err>().read_unaligned() };
            if error.ee_origin == ORIGIN_ZERO_COPY {
                let sends = u64::from(error.ee_data.wrapping_sub(error.ee_info)) + 1;
                notice.done += sends;
                let is_copied = error.ee_code == CODE_COPIED;
                notice.copied += if is_copied { sends } else { 0 };
            }
        }
        // SAFETY: as above.
        at = unsafe { libc::CMSG_NXTHDR(&message, at) };
    }
    Ok(Some(notice))
}

/// Takes all notices that are there.
pub fn take_notices(stream: &TcpStream, all: &mut ZeroCopies) -> io::Result<()> {
    while let Some(notice) = next_notice(stream)? {
        all.done += notice.done;
        all.copied += notice.copied;
    }
    Ok(())
}
