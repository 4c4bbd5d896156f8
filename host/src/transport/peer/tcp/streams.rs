//! Both streams of a connection, by stream offset: bytes that were received and not read, and bytes
//! that were sent and not acknowledged.
//!
//! ```text
//!   Received   read ── accepted ── holes ── granted       a ring of as many bytes as the window
//!   Sending    acknowledged ─────── end                   a queue
//! ```
//! Invariants
//! 1. `read <= accepted <= granted`, and `granted - read` is the size of the ring.
//! 2. Nothing below `accepted` is written.

use std::collections::VecDeque;

/// What was received.
#[derive(Debug)]
pub(super) struct Received {
    ring: Vec<u8>,
    /// Position of offset 0.
    first: u32,
    read: u64,
    accepted: u64,
    is_last: bool,
}

impl Received {
    /// For a window of so many bytes.
    pub fn new(window_bytes: usize) -> Self {
        Self { ring: vec![0; window_bytes.max(1)], first: 0, read: 0, accepted: 0, is_last: false }
    }

    /// The position of the first byte is known.
    pub fn begin(&mut self, first: u32) {
        self.first = first;
    }

    /// Behind the last byte for which there is room.
    pub fn granted_end(&self) -> u64 {
        self.read + self.ring.len() as u64
    }

    /// Writes a payload, as far as it is new and there is room.
    pub fn write(&mut self, position: u32, payload: &[u8]) {
        let next = self.first.wrapping_add(self.accepted as u32);
        let start = self.accepted as i64 + i64::from(position.wrapping_sub(next) as i32);
        for (offset, byte) in (start..).zip(payload) {
            let is_new = offset >= self.accepted as i64 && offset < self.granted_end() as i64;
            if is_new {
                let place = offset as usize % self.ring.len();
                self.ring[place] = *byte;
            }
        }
    }

    /// Everything before an offset is accepted.
    pub fn accept(&mut self, to: u64) {
        self.accepted = self.accepted.max(to.min(self.granted_end()));
    }

    /// Nothing comes behind what is accepted.
    pub fn end(&mut self) {
        self.is_last = true;
    }

    /// Whether the stream has ended and all of it was read.
    pub fn is_ended(&self) -> bool {
        self.is_last && self.read == self.accepted
    }

    /// The next bytes, `most_bytes` of them at most.
    pub fn read(&mut self, most_bytes: usize) -> Vec<u8> {
        let place = self.read as usize % self.ring.len();
        let bytes = most_bytes.min((self.accepted - self.read) as usize);
        let bytes = bytes.min(self.ring.len() - place);
        self.read += bytes as u64;
        self.ring[place..place + bytes].to_vec()
    }
}

/// What is sent.
#[derive(Debug)]
pub(super) struct Sending {
    bytes: VecDeque<u8>,
    most_bytes: usize,
    /// Position of offset 0.
    first: u32,
    acknowledged: u64,
}

impl Sending {
    /// For so many bytes that are not acknowledged.
    pub fn new(most_bytes: usize) -> Self {
        Self { bytes: VecDeque::new(), most_bytes: most_bytes.max(1), first: 0, acknowledged: 0 }
    }

    /// The position of the first byte is known.
    pub fn begin(&mut self, first: u32) {
        self.first = first;
    }

    /// Behind the last byte.
    pub fn end(&self) -> u64 {
        self.acknowledged + self.bytes.len() as u64
    }

    /// Whether everything is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes bytes as far as there is room. Returns how many.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.most_bytes - self.bytes.len());
        self.bytes.extend(&bytes[..taken]);
        taken
    }

    /// The peer has everything before an offset.
    pub fn acknowledge(&mut self, to: u64) {
        let bytes = to.saturating_sub(self.acknowledged).min(self.bytes.len() as u64);
        self.bytes.drain(..bytes as usize);
        self.acknowledged += bytes;
    }

    /// A copy of what is not acknowledged. Panics where a protocol sends what it was not offered.
    pub fn copy(&self, position: u32, bytes: u32) -> Vec<u8> {
        let first = self.first.wrapping_add(self.acknowledged as u32);
        let start = position.wrapping_sub(first) as usize;
        let end = start + bytes as usize;
        let held = self.bytes.len();
        assert!(end <= held, "bytes {start} to {end} of {held} that are held are sent");
        self.bytes.range(start..end).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: u32 = u32::MAX - 3;

    fn new_received() -> Received {
        let mut received = Received::new(8);
        received.begin(FIRST);
        received
    }

    #[test]
    fn bytes_are_read_in_stream_order() {
        let mut received = new_received();
        received.write(FIRST.wrapping_add(4), b"efgh");
        assert_eq!(received.read(8), b"");
        received.write(FIRST, b"abcd");
        received.accept(8);
        assert_eq!((received.read(3), received.granted_end()), (b"abc".to_vec(), 11));
        // Around the end of the ring, and around that of the positions.
        received.write(FIRST.wrapping_add(8), b"ijkl");
        received.accept(11);
        received.end();
        let read = [received.read(8), received.read(8)].concat();
        assert_eq!((read, received.is_ended()), (b"defghijk".to_vec(), true));
    }

    #[test]
    fn accepted_bytes_are_written_once_within_window() {
        let mut received = new_received();
        received.write(FIRST, b"ab");
        received.accept(2);
        received.write(FIRST, b"xxcdefghyyyy");
        received.write(FIRST.wrapping_sub(1), b"zz");
        received.accept(12);
        assert_eq!(received.read(12), b"abcdefgh");
        assert!(!received.is_ended());
    }

    #[test]
    fn sent_bytes_are_held_until_acknowledged() {
        let mut sending = Sending::new(6);
        sending.begin(FIRST);
        assert_eq!((sending.push(b"abcdefgh"), sending.end()), (6, 6));
        assert_eq!(sending.copy(FIRST.wrapping_add(2), 4), b"cdef");
        sending.acknowledge(5);
        assert_eq!((sending.push(b"ghi"), sending.end()), (3, 9));
        assert_eq!(sending.copy(FIRST.wrapping_add(5), 4), b"fghi");
        // Again, and late.
        sending.acknowledge(3);
        sending.acknowledge(9);
        assert!(sending.is_empty());
    }

    #[test]
    #[should_panic(expected = "bytes 0 to 7 of 6 that are held are sent")]
    fn unoffered_bytes_are_not_sent() {
        let mut sending = Sending::new(6);
        sending.push(b"abcdef");
        sending.copy(0, 7);
    }
}
