//! The line of a simulated card to those of the others: datagrams between processes.
//!
//! ```text
//!   card ── frames ─► wire with faults ─► datagram of many to DIR/MAC ─► card
//! ```
//! Each card binds a socket in a folder that all ranks of a machine are told, named by its MAC
//! address: a frame goes to the socket of its destination, or is lost where there is none. A socket
//! holds few datagrams (`net.unix.max_dgram_qlen`: 10), however short they are, and who is to take
//! them may be off its core for milliseconds: so a datagram has as many frames as wait. What finds
//! no room waits until the socket can be written.

mod post;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use lab::frame::Frame;
use lab::network_side::NetworkSide;
use lab::wire::{Disturbance, Wire};

use self::post::{destination_of, frames_of, Post, Posted, DATAGRAM_BYTES_MAX};
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
    /// Bytes of a socket's send buffer, if not as many as the system allows.
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
    buffer_bytes: Option<usize>,
    wire: Wire,
    others: HashMap<[u8; 6], Post>,
    sent: Vec<Frame>,
    carried: Vec<Frame>,
    waiting: VecDeque<Frame>,
    datagram: Box<[u8]>,
    frames: u64,
}

impl<C: NetworkSide> DatagramLine<C> {
    /// The line of a card, whose MAC address others send to.
    pub fn open(settings: &LineSettings, mac: [u8; 6], card: C) -> io::Result<Self> {
        let path = settings.folder.join(socket_name(&mac));
        let socket = UnixDatagram::bind(&path)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            card,
            socket,
            path,
            folder: settings.folder.clone(),
            buffer_bytes: settings.buffer_bytes,
            wire: Wire::new(settings.disturbance, settings.seed),
            others: HashMap::new(),
            sent: Vec::new(),
            carried: Vec::new(),
            waiting: VecDeque::new(),
            datagram: vec![0; DATAGRAM_BYTES_MAX].into(),
            frames: 0,
        })
    }

    fn take_in(&mut self) -> bool {
        let mut count = 0;
        while count < FRAMES_MAX {
            let Ok(bytes) = self.socket.recv(&mut self.datagram) else {
                break;
            };
            for frame in frames_of(&self.datagram[..bytes]) {
                self.card.receive(Frame { bytes: frame.to_vec(), ..Frame::default() });
                count += 1;
            }
        }
        count > 0
    }

    fn give_out(&mut self) -> bool {
        self.card.take_sent(&mut self.sent);
        for frame in self.sent.drain(..) {
            self.wire.carry(frame, &mut self.carried);
        }
        self.waiting.extend(self.carried.drain(..));
        let before = self.frames;
        while let Some(mac) = self.waiting.front().map(destination_of) {
            let posted = match post_to(mac, &mut self.others, &self.folder, self.buffer_bytes) {
                Some(post) => post.send(&self.waiting),
                None => Posted::NobodyThere,
            };
            let gone = match posted {
                Posted::NoRoom => break,
                Posted::Frames(count) => count,
                Posted::NobodyThere => {
                    self.others.remove(&mac);
                    1
                }
            };
            self.waiting.drain(..gone);
            self.frames += gone as u64;
        }
        self.frames > before
    }
}

/// The way to a card; `None` where there is none.
fn post_to<'a>(
    mac: [u8; 6],
    others: &'a mut HashMap<[u8; 6], Post>,
    folder: &Path,
    buffer_bytes: Option<usize>,
) -> Option<&'a mut Post> {
    match others.entry(mac) {
        Entry::Occupied(entry) => Some(entry.into_mut()),
        Entry::Vacant(entry) => {
            let post = Post::open(&folder.join(socket_name(&mac)), buffer_bytes);
            post.ok().map(|post| entry.insert(post))
        }
    }
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

    fn room(&self) -> Option<BorrowedFd<'_>> {
        let mac = self.waiting.front().map(destination_of)?;
        self.others.get(&mac).map(|post| post.as_fd())
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
