//! The application of a peer: sends random bytes and hashes the received ones.

use std::net::SocketAddr;

use sha2::{Digest, Sha256};

use super::{Conversation, Progress, Script};

const CHUNK_BYTES: u64 = 64 << 10;

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

/// The application on one connection, without the connection itself.
#[derive(Debug)]
pub(super) struct Application {
    script: Script,
    source: RandomBytes,
    /// Bytes generated and not taken by TCP yet.
    pending: Vec<u8>,
    made_bytes: u64,
    sent_bytes: u64,
    received_bytes: u64,
    digest: Sha256,
    error: Option<i32>,
    remote_ended: bool,
}

impl Application {
    pub(super) fn new(script: Script) -> Self {
        Self {
            script,
            source: RandomBytes::new(script.seed),
            pending: Vec::new(),
            made_bytes: 0,
            sent_bytes: 0,
            received_bytes: 0,
            digest: Sha256::new(),
            error: None,
            remote_ended: false,
        }
    }

    /// The next bytes to send; empty when all were sent.
    pub(super) fn outgoing(&mut self) -> &[u8] {
        if self.pending.is_empty() {
            let bytes = (self.script.send_bytes - self.made_bytes).min(CHUNK_BYTES);
            self.pending = vec![0; bytes as usize];
            self.source.fill(&mut self.pending);
            self.made_bytes += bytes;
        }
        &self.pending
    }

    /// TCP took the first `bytes` of [`Self::outgoing`].
    pub(super) fn sent(&mut self, bytes: usize) {
        self.pending.drain(..bytes);
        self.sent_bytes += bytes as u64;
    }

    /// Whether every byte was taken by TCP.
    pub(super) fn all_sent(&self) -> bool {
        self.sent_bytes == self.script.send_bytes
    }

    /// Bytes that the application wants to read now.
    pub(super) fn wanted(&self) -> usize {
        let limit = self.script.receive_bytes_max.unwrap_or(u64::MAX);
        (limit - self.received_bytes).min(CHUNK_BYTES) as usize
    }

    pub(super) fn received(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.received_bytes += bytes.len() as u64;
    }

    pub(super) fn ended_by_remote(&mut self) {
        self.remote_ended = true;
    }

    pub(super) fn failed(&mut self, error: i32) {
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
    fn a_stream_does_not_depend_on_how_it_is_cut() {
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
}
