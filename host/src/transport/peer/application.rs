//! The application of a peer: sends random bytes, or what it has received; hashes what it receives.

use std::net::SocketAddr;

use sha2::{Digest, Sha256};

use super::{Conversation, Progress, Script};

const CHUNK_BYTES: u64 = 64 << 10;
/// Bytes that an echo keeps until TCP takes them; then it stops reading.
const ECHO_BYTES: usize = 256 << 10;

/// A stream of bytes determined by its seed (SplitMix64, eight bytes at a time).
#[derive(Clone, Debug)]
pub struct RandomBytes {
    state: u64,
    word: [u8; 8],
    used: usize,
}

impl RandomBytes {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, word: [0; 8], used: 8 }
    }

    /// The next bytes of the stream.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.used == self.word.len() {
                self.word = self.next_word().to_le_bytes();
                self.used = 0;
            }
            *byte = self.word[self.used];
            self.used += 1;
        }
    }

    fn next_word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

/// SHA-256 of the first `bytes` bytes of a seed's stream.
pub fn digest_of(seed: u64, bytes: u64) -> [u8; 32] {
    let mut source = RandomBytes::new(seed);
    let mut digest = Sha256::new();
    let mut left = bytes;
    while left > 0 {
        let mut chunk = vec![0; left.min(CHUNK_BYTES) as usize];
        source.fill(&mut chunk);
        digest.update(&chunk);
        left -= chunk.len() as u64;
    }
    digest.finalize().into()
}

/// What an application does on its connections.
#[derive(Clone, Copy, Debug)]
pub(super) enum Behavior {
    /// Follows a script.
    Script(Script),
    /// Sends back what it receives, and ends when the other side has ended.
    Echo,
}

/// Where the bytes to send come from.
#[derive(Debug)]
enum Source {
    Random { random: RandomBytes, bytes_left: u64 },
    Received,
}

/// The application on one connection, without the connection itself.
#[derive(Debug)]
pub(super) struct Application {
    source: Source,
    receive_bytes_max: u64,
    /// Bytes to send, and how many of them TCP has taken.
    pending: Vec<u8>,
    taken: usize,
    sent_bytes: u64,
    received_bytes: u64,
    digest: Sha256,
    error: Option<i32>,
    remote_ended: bool,
}

impl Application {
    pub(super) fn new(behavior: Behavior) -> Self {
        let (source, receive_bytes_max) = match behavior {
            Behavior::Echo => (Source::Received, None),
            Behavior::Script(Script { send_bytes, seed, receive_bytes_max }) => {
                let random = RandomBytes::new(seed);
                (Source::Random { random, bytes_left: send_bytes }, receive_bytes_max)
            }
        };
        Self {
            source,
            receive_bytes_max: receive_bytes_max.unwrap_or(u64::MAX),
            pending: Vec::new(),
            taken: 0,
            sent_bytes: 0,
            received_bytes: 0,
            digest: Sha256::new(),
            error: None,
            remote_ended: false,
        }
    }

    /// The next bytes to send; empty when there are none yet, or none any more.
    pub(super) fn outgoing(&mut self) -> &[u8] {
        if let (Source::Random { random, bytes_left }, true) =
            (&mut self.source, self.pending.is_empty())
        {
            let bytes = (*bytes_left).min(CHUNK_BYTES);
            self.pending.resize(bytes as usize, 0);
            random.fill(&mut self.pending);
            *bytes_left -= bytes;
        }
        &self.pending[self.taken..]
    }

    /// TCP took the first `bytes` of [`Self::outgoing`].
    pub(super) fn note_sent(&mut self, bytes: usize) {
        self.taken += bytes;
        if self.taken == self.pending.len() {
            self.pending.clear();
            self.taken = 0;
        }
        self.sent_bytes += bytes as u64;
    }

    /// Whether every byte was taken by TCP.
    pub(super) fn all_sent(&self) -> bool {
        let none_comes = match self.source {
            Source::Random { bytes_left, .. } => bytes_left == 0,
            Source::Received => self.remote_ended,
        };
        none_comes && self.pending.is_empty()
    }

    /// Bytes that the application wants to read now.
    pub(super) fn wanted_bytes(&self) -> usize {
        let left = self.receive_bytes_max - self.received_bytes;
        let room = match self.source {
            Source::Random { .. } => CHUNK_BYTES as usize,
            Source::Received => ECHO_BYTES.saturating_sub(self.pending.len() - self.taken),
        };
        usize::try_from(left).unwrap_or(usize::MAX).min(room)
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.received_bytes += bytes.len() as u64;
        if matches!(self.source, Source::Received) {
            // Not for each call: all that is left is moved.
            if self.taken >= ECHO_BYTES {
                self.pending.drain(..self.taken);
                self.taken = 0;
            }
            self.pending.extend_from_slice(bytes);
        }
    }

    pub(super) fn ended_by_remote(&mut self) {
        self.remote_ended = true;
    }

    pub(super) fn fail(&mut self, error: i32) {
        self.error.get_or_insert(error);
    }

    pub(super) fn progress(&self) -> Progress {
        match self.error {
            Some(error) => Progress::Failed(error),
            None if self.remote_ended && self.all_sent() => Progress::Finished,
            None => Progress::Running,
        }
    }

    pub(super) fn conversation(&self, remote: SocketAddr) -> Conversation {
        Conversation {
            remote,
            progress: self.progress(),
            sent_bytes: self.sent_bytes,
            received_bytes: self.received_bytes,
            received_digest: self.digest.clone().finalize().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_does_not_depend_on_cuts() {
        let mut whole = vec![0; 1000];
        RandomBytes::new(7).fill(&mut whole);
        let mut source = RandomBytes::new(7);
        let mut cut = Vec::new();
        for bytes in [1, 7, 8, 9, 0, 975] {
            let mut part = vec![0; bytes];
            source.fill(&mut part);
            cut.extend(part);
        }
        assert_eq!(cut, whole);
        assert_eq!(digest_of(7, 1000), <[u8; 32]>::from(Sha256::digest(&whole)));
        assert_ne!(digest_of(8, 1000), digest_of(7, 1000));
    }

    #[test]
    fn echo_returns_all_and_ends_last() {
        let mut echo = Application::new(Behavior::Echo);
        assert!(echo.outgoing().is_empty() && !echo.all_sent());
        echo.receive(b"what");
        echo.receive(b"ever");
        assert_eq!(echo.outgoing(), b"whatever");
        echo.note_sent(5);
        echo.ended_by_remote();
        assert_eq!(echo.outgoing(), b"ver");
        assert_eq!(echo.progress(), Progress::Running);
        echo.note_sent(3);
        assert_eq!(echo.progress(), Progress::Finished);
    }

    /// Or a peer that is not read from would have the memory of this process.
    #[test]
    fn untaken_echo_stops_reading() {
        let mut echo = Application::new(Behavior::Echo);
        let mut taken = 0;
        while echo.wanted_bytes() > 0 {
            let bytes = vec![7; echo.wanted_bytes().min(1000)];
            echo.receive(&bytes);
            taken += bytes.len();
        }
        assert_eq!(taken, ECHO_BYTES);
        echo.note_sent(1);
        assert_eq!(echo.wanted_bytes(), 1);
    }
}
