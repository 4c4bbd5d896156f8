//! The line of a simulated card to those of the others: datagrams between processes.
//!
//! ```text
//!   card ── frames ─► wire with faults ─► datagram to DIR/MAC ─► card
//! ```
//! Each card binds a socket in a folder that all ranks of a machine are told, named by its MAC
//! address: a frame goes to the socket of its destination, or is lost where there is none.
#![allow(unsafe_code)]

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;

use abi::config::FRAME_BYTES_MAX;
use lab::frame::Frame;
use lab::network_side::NetworkSide;
use lab::wire::{Disturbance, Wire};

use crate::line::Line;

/// Frames taken in one turn, so that the card is looked at in between.
const FRAMES_MAX: usize = 64;

/// How a line is made.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSettings {
    /// The folder of the sockets.
    pub folder: PathBuf,
    /// What the line does to frames.
    pub disturbance: Disturbance,
    /// Seed of that.
    pub seed: u64,
    /// Bytes of the socket's send buffer, if it is not the system's.
    pub buffer_bytes: Option<usize>,
}

/// The name of a card's socket.
fn socket_name(mac: &[u8]) -> String {
    mac.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A card's line to the others.
pub struct DatagramLine<C> {
    card: C,
    socket: UnixDatagram,
    path: PathBuf,
    folder: PathBuf,
    wire: Wire,
    others: HashMap<[u8; 6], SocketAddr>,
    sent: Vec<Frame>,
    waiting: VecDeque<Frame>,
    frame: Box<[u8]>,
    frames: u64,
}

impl<C: NetworkSide> DatagramLine<C> {
    /// The line of a card, whose MAC address others send to.
    pub fn open(settings: &LineSettings, mac: [u8; 6], card: C) -> io::Result<Self> {
        let path = settings.folder.join(socket_name(&mac));
        let socket = UnixDatagram::bind(&path)?;
        socket.set_nonblocking(true)?;
        if let Some(bytes) = settings.buffer_bytes {
            set_send_buffer(&socket, bytes)?;
        }
        Ok(Self {
            card,
            socket,
            path,
            folder: settings.folder.clone(),
            wire: Wire::new(settings.disturbance, settings.seed),
            others: HashMap::new(),
            sent: Vec::new(),
            waiting: VecDeque::new(),
            frame: vec![0; FRAME_BYTES_MAX].into(),
            frames: 0,
        })
    }

    fn take_in(&mut self) -> bool {
        for count in 0..FRAMES_MAX {
            let Ok(bytes) = self.socket.recv(&mut self.frame) else {
                return count > 0;
            };
            let bytes = self.frame[..bytes].to_vec();
            self.card.receive(Frame { bytes, ..Frame::default() });
        }
        true
    }

    fn give_out(&mut self) -> bool {
        self.card.take_sent(&mut self.sent);
        let mut carried = Vec::new();
        for frame in self.sent.drain(..) {
            self.wire.carry(frame, &mut carried);
        }
        self.waiting.extend(carried);
        let mut is_busy = false;
        while let Some(frame) = self.waiting.front() {
            if !is_sent(&self.socket, &self.folder, &mut self.others, &frame.bytes) {
                break;
            }
            self.waiting.pop_front();
            self.frames += 1;
            is_busy = true;
        }
        is_busy
    }
}

/// Sends a frame to the card of its destination. Returns whether it is gone, or lost; else there is
/// no room.
fn is_sent(
    socket: &UnixDatagram,
    folder: &std::path::Path,
    others: &mut HashMap<[u8; 6], SocketAddr>,
    frame: &[u8],
) -> bool {
    let Some(&mac) = frame.first_chunk::<6>() else {
        return true;
    };
    let address = match others.entry(mac) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => match SocketAddr::from_pathname(folder.join(socket_name(&mac))) {
            Ok(address) => entry.insert(address),
            Err(_) => return true,
        },
    };
    let sent = socket.send_to_addr(frame, address);
    !sent.is_err_and(|error| {
        matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
            || error.raw_os_error() == Some(libc::ENOBUFS)
    })
}

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

impl<C> Drop for DatagramLine<C> {
    fn drop(&mut self) {
        // The folder may be gone already.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl<C: NetworkSide> Line for DatagramLine<C> {
    fn carry(&mut self) -> bool {
        let came = self.take_in();
        self.give_out() || came
    }

    fn is_full(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn frames(&self) -> u64 {
        self.frames
    }
}

#[cfg(test)]
mod tests {
    use abi::config::SMALL;
    use lab::golden_card::GoldenCard;

    use super::*;

    #[test]
    fn second_card_of_a_name_is_refused() {
        let folder = std::env::temp_dir().join(format!("zn-name-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let disturbance = Disturbance::default();
        let settings = LineSettings { folder, disturbance, seed: 1, buffer_bytes: None };
        let open = || DatagramLine::open(&settings, [2; 6], GoldenCard::new(SMALL));
        let first = open().unwrap();
        assert_eq!(open().err().map(|error| error.kind()), Some(io::ErrorKind::AddrInUse));
        // The name is free again with its line.
        drop(first);
        assert!(open().is_ok());
        std::fs::remove_dir_all(&settings.folder).unwrap();
    }
}
