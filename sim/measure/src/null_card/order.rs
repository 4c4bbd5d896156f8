//! What a null card is told between the measured calls of its host, and what it says: as calls, or
//! as bytes for a card in another process.
//!
//! ```text
//!   rig ── Order ──► card: step, offer, acknowledge ── Outcome ──► rig
//! ```
//! Words of 32 bits, little-endian: an order is its number and up to three words.

use super::{NullCard, NullCounters};

/// Bytes of an order.
pub const ORDER_BYTES: usize = 16;
/// Bytes of what is said: words, then text.
pub const OUTCOME_BYTES: usize = 8 * OUTCOME_WORDS + TEXT_BYTES;
const OUTCOME_WORDS: usize = 9;
const TEXT_BYTES: usize = 128;

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing but to say how things are.
    Count,
    /// Take what the host has given.
    Step,
    /// Offer so many packets of a peer in a row.
    SetBurst(u32),
    /// Make packets ready: how many, their payload in bytes, of the first so many peers.
    Prepare(u32, u32, u32),
    /// Offer packets: as before.
    Offer(u32, u32, u32),
    /// Acknowledge up to so many descriptors, each with an ACK of its own if so.
    Acknowledge(u32, bool),
    /// Judge later.
    JudgeLater,
    /// Judge what was kept, and from now on what comes at once.
    JudgeAtOnce,
    /// One header entry stands for so many packets at most.
    SetRun(u32),
}

/// How things are after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets offered, or ACKs.
    pub done: u64,
    /// Packets that are ready.
    pub ready: u64,
    /// What the card has done so far.
    pub counters: NullCounters,
    /// The first thing that was wrong; empty: nothing.
    pub wrong: String,
}

impl Order {
    /// Its bytes.
    pub fn encode(self) -> [u8; ORDER_BYTES] {
        let words = match self {
            Self::Count => [0, 0, 0, 0],
            Self::Step => [1, 0, 0, 0],
            Self::SetBurst(packets) => [2, packets, 0, 0],
            Self::Prepare(packets, bytes, peers) => [3, packets, bytes, peers],
            Self::Offer(packets, bytes, peers) => [4, packets, bytes, peers],
            Self::Acknowledge(acks, each) => [5, acks, each.into(), 0],
            Self::JudgeLater => [6, 0, 0, 0],
            Self::JudgeAtOnce => [7, 0, 0, 0],
            Self::SetRun(packets) => [8, packets, 0, 0],
        };
        let mut bytes = [0; ORDER_BYTES];
        for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    /// The order that has these bytes, if there is one.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; ORDER_BYTES] = bytes.try_into().ok()?;
        let mut words = [0; ORDER_BYTES / 4];
        for (word, from) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*from);
        }
        let [number, first, second, third] = words;
        Some(match number {
            0 => Self::Count,
            1 => Self::Step,
            2 => Self::SetBurst(first),
            3 => Self::Prepare(first, second, third),
            4 => Self::Offer(first, second, third),
            5 => Self::Acknowledge(first, second != 0),
            6 => Self::JudgeLater,
            7 => Self::JudgeAtOnce,
            8 => Self::SetRun(first),
            _ => return None,
        })
    }
}

impl Outcome {
    /// Its bytes; a text that is too long is cut off.
    pub fn encode(&self) -> Vec<u8> {
        let it = &self.counters;
        let counters =
            [it.packets, it.acks, it.sends, it.sent_bytes, it.headers, it.commands, it.wrongs];
        let words = [self.done, self.ready].into_iter().chain(counters);
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        bytes.extend(self.wrong.bytes().take(TEXT_BYTES));
        bytes.resize(OUTCOME_BYTES, 0);
        bytes
    }

    /// What these bytes say.
    pub fn decode(bytes: &[u8; OUTCOME_BYTES]) -> Self {
        let (words, text) = bytes.split_at(8 * OUTCOME_WORDS);
        let mut all = [0; OUTCOME_WORDS];
        for (word, from) in all.iter_mut().zip(words.as_chunks().0) {
            *word = u64::from_le_bytes(*from);
        }
        let [done, ready, packets, acks, sends, sent_bytes, headers, commands, wrongs] = all;
        let counters = NullCounters { packets, acks, sends, sent_bytes, headers, commands, wrongs };
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        Self { done, ready, counters, wrong: String::from_utf8_lossy(text).into_owned() }
    }
}

impl NullCard {
    /// Carries out an order.
    pub fn carry_out(&mut self, order: Order) -> Outcome {
        let done = match order {
            Order::Count => 0,
            Order::Step => {
                self.step();
                0
            }
            Order::SetBurst(packets) => {
                self.set_burst(packets as usize);
                0
            }
            Order::Prepare(packets, bytes, peers) => {
                self.prepare(packets as usize, bytes, peers as usize);
                0
            }
            Order::Offer(packets, bytes, peers) => {
                self.offer(packets as usize, bytes, peers as usize)
            }
            Order::Acknowledge(acks, each) => self.acknowledge(acks as usize, each),
            Order::JudgeLater => {
                self.judge_later();
                0
            }
            Order::JudgeAtOnce => {
                self.judge_at_once();
                0
            }
            Order::SetRun(packets) => {
                self.set_run(packets as usize);
                0
            }
        };
        Outcome {
            done: done as u64,
            ready: self.ready() as u64,
            counters: self.counters(),
            wrong: self.wrongs().first().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_outcomes_survive_bytes() {
        for order in [
            Order::Count,
            Order::Step,
            Order::SetBurst(64),
            Order::Prepare(1, 2, 3),
            Order::Offer(4, 5, 6),
            Order::Acknowledge(u32::MAX, true),
            Order::Acknowledge(1, false),
            Order::JudgeLater,
            Order::JudgeAtOnce,
            Order::SetRun(44),
        ] {
            assert_eq!(Order::decode(&order.encode()), Some(order));
        }
        assert_eq!(Order::decode(&[9; ORDER_BYTES]), None);
        assert_eq!(Order::decode(&[0; 3]), None);
        let counters = NullCounters {
            packets: 1,
            acks: 2,
            sends: 3,
            sent_bytes: 1 << 40,
            headers: 4,
            commands: 5,
            wrongs: 6,
        };
        let outcome = Outcome { done: 7, ready: 8, counters, wrong: "something".to_owned() };
        let bytes: [u8; OUTCOME_BYTES] = outcome.encode().try_into().expect("so many bytes");
        assert_eq!(Outcome::decode(&bytes), outcome);
        let long = Outcome { wrong: "x".repeat(1000), ..outcome };
        assert_eq!(long.encode().len(), OUTCOME_BYTES);
    }
}
