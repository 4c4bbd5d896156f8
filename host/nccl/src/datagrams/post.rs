//! Frames to one other card: as many in a datagram as wait for it.
//!
//! ```text
//!   | bytes 2 | frame | bytes 2 | frame | ...      lengths with the low byte first
//! ```
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use lab::frame::Frame;

/// Longest datagram. Some fourteen frames of the longest MTU.
pub const DATAGRAM_BYTES_MAX: usize = 128 << 10;
/// Most frames in a datagram.
const DATAGRAM_FRAMES_MAX: usize = 64;
/// Bytes of a length.
const LENGTH_BYTES: usize = 2;
/// Bytes of frames on the way to a card, if the system allows so many.
const BUFFER_BYTES: usize = 4 << 20;
/// Of the buffer of a socket, what a datagram may take: several are on their way at a time.
const BUFFER_SHARE: usize = 4;

/// What has become of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// So many are on their way, or lost.
    Frames(usize),
    /// There is no room now.
    NoRoom,
    /// Nobody takes them.
    NobodyThere,
}

/// The way to one other card.
pub struct Post {
    socket: UnixDatagram,
    /// Longest datagram that its buffer takes.
    bytes_max: usize,
    /// The last one has found no room.
    is_full: bool,
}

impl Post {
    /// The way to a card's socket, with a buffer of so many bytes or the longest one.
    pub fn open(path: &Path, buffer_bytes: Option<usize>) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        socket.connect(path)?;
        socket.set_nonblocking(true)?;
        set_send_buffer(&socket, buffer_bytes.unwrap_or(BUFFER_BYTES))?;
        let bytes_max = (send_buffer(&socket)? / BUFFER_SHARE).min(DATAGRAM_BYTES_MAX);
        Ok(Self { socket, bytes_max, is_full: false })
    }

    /// Sends the first of the frames that wait, and those behind it that go to the same card.
    pub fn send(&mut self, waiting: &VecDeque<Frame>) -> Posted {
        // A datagram for which there is no room is copied before that is known.
        if self.is_full && !is_writable(&self.socket) {
            return Posted::NoRoom;
        }
        let Some(to) = waiting.front().map(destination_of) else {
            return Posted::Frames(0);
        };
        let mut lengths = [[0; LENGTH_BYTES]; DATAGRAM_FRAMES_MAX];
        let (mut count, mut bytes) = (0, 0);
        for (frame, length) in waiting.iter().zip(&mut lengths) {
            let with_it = bytes + LENGTH_BYTES + frame.bytes.len();
            if count > 0 && (with_it > self.bytes_max || destination_of(frame) != to) {
                break;
            }
            *length = (frame.bytes.len() as u16).to_le_bytes();
            (count, bytes) = (count + 1, with_it);
        }
        let parts = waiting.iter().zip(&lengths).take(count);
        let result =
            send_parts(&self.socket, parts.flat_map(|(f, length)| [&length[..], &f.bytes]));
        self.is_full = false;
        let Err(error) = result else {
            return Posted::Frames(count);
        };
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => self.is_full = true,
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotConnected => {
                return Posted::NobodyThere
            }
            _ if error.raw_os_error() == Some(libc::ENOBUFS) => self.is_full = true,
            _ => return Posted::Frames(count),
        }
        Posted::NoRoom
    }
}

impl AsFd for Post {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The frames of a datagram, up to one that is cut off.
pub fn frames_of(datagram: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let (length, behind) = rest.split_first_chunk::<LENGTH_BYTES>()?;
        let (frame, behind) = behind.split_at_checked(u16::from_le_bytes(*length).into())?;
        rest = behind;
        Some(frame)
    })
}

/// The destination of a frame.
pub fn destination_of(frame: &Frame) -> [u8; 6] {
    frame.bytes.first_chunk().copied().unwrap_or_default()
}

/// Sends a datagram of several parts.
fn send_parts<'a>(socket: &UnixDatagram, parts: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    let none = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let mut list = [none; 2 * DATAGRAM_FRAMES_MAX];
    let mut count = 0;
    for (part, entry) in parts.zip(&mut list) {
        *entry = libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() };
        count += 1;
    }
    // SAFETY: all bytes 0 are a message without parts.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = list.as_mut_ptr();
    message.msg_iovlen = count;
    // SAFETY: the socket is open; the parts are a list of so many, and are read alone.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &message, libc::MSG_NOSIGNAL) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Whether there is room for a datagram.
fn is_writable(socket: &UnixDatagram) -> bool {
    let mut entry = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: the entry is one, and the descriptor is open; it does not wait.
    unsafe { libc::poll(&mut entry, 1, 0) != 0 }
}

/// Asks for a send buffer of so many bytes: the system gives no more than it allows.
fn set_send_buffer(socket: &UnixDatagram, bytes: usize) -> io::Result<()> {
    let bytes = bytes as libc::c_int;
    // SAFETY: the socket is open, and the option is a number of this size.
    let set = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDBUF,
            (&raw const bytes).cast(),
            size_of_val(&bytes) as libc::socklen_t,
        )
    };
    if set < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Bytes of the send buffer.
fn send_buffer(socket: &UnixDatagram) -> io::Result<usize> {
    let (mut bytes, mut length) = (0 as libc::c_int, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: the socket is open, and the option is a number of this size.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_SNDBUF,
            (&raw mut bytes).cast(),
            &mut length,
        )
    };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: u8, bytes: usize) -> Frame {
        Frame { bytes: vec![to; bytes], ..Frame::default() }
    }

    #[test]
    fn frames_to_one_card_share_datagrams_and_wait_for_room() {
        let path = std::env::temp_dir().join(format!("zn-post-{}", std::process::id()));
        let card = UnixDatagram::bind(&path).unwrap();
        card.set_nonblocking(true).unwrap();
        let mut post = Post::open(&path, None).unwrap();
        let mut waiting: VecDeque<Frame> = [60, 9014, 61].map(|bytes| frame(2, bytes)).into();
        waiting.push_back(frame(3, 62));
        assert_eq!(post.send(&waiting), Posted::Frames(3), "the fourth goes elsewhere");
        let mut datagram = vec![0; DATAGRAM_BYTES_MAX];
        let bytes = card.recv(&mut datagram).unwrap();
        let lengths: Vec<usize> = frames_of(&datagram[..bytes]).map(<[u8]>::len).collect();
        assert_eq!(lengths, [60, 9014, 61]);
        let many: VecDeque<Frame> = (0..64).map(|_| frame(2, 9014)).collect();
        let mut sent = 0;
        while let Posted::Frames(count) = post.send(&many) {
            assert!((1..=14).contains(&count), "{count}");
            sent += count;
        }
        assert_eq!(post.send(&many), Posted::NoRoom);
        let mut received = 0;
        while let Ok(bytes) = card.recv(&mut datagram) {
            received += frames_of(&datagram[..bytes]).count();
        }
        assert_eq!(received, sent);
        assert!(matches!(post.send(&many), Posted::Frames(_)), "there is room again");
        drop(card);
        assert_eq!(post.send(&many), Posted::NobodyThere);
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn nonsense_has_the_frames_before_it() {
        let lengths = |bytes: &[u8]| frames_of(bytes).map(<[u8]>::len).collect::<Vec<_>>();
        assert!(lengths(&[]).is_empty());
        assert!(lengths(&[1]).is_empty());
        assert_eq!(lengths(&[2, 0, 7, 7, 3, 0, 7, 7]), [2]);
        assert_eq!(lengths(&[0, 0, 1, 0, 9]), [0, 1]);
    }
}
