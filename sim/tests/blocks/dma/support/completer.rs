//! A completer that the test scripts: it sees the reads on RQ and answers with the RC beats that it
//! is given, right or wrong.
//!
//! Source: PG213, requester request and completion interfaces, 512 bit, straddle.

use std::collections::VecDeque;

use sim::harness::agent::Agent;
use verilate::verilated::{Model, PortId};

/// Error code of a request that the hard block has given up.
const TIMED_OUT: u32 = 9;

/// A read as it stood on RQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadSeen {
    /// Bus address of its first dword.
    pub address: u64,
    /// Number of dwords.
    pub dwords: usize,
    /// Tag of the read.
    pub tag: u8,
}

/// One completion, as its descriptor states it.
#[derive(Clone, Debug)]
pub struct Completion {
    /// Tag of the read.
    pub tag: u8,
    /// Address of the first byte.
    pub address: u64,
    /// Bytes that are left of the read, this completion included.
    pub byte_count: usize,
    /// It says that it is the last one.
    pub is_last: bool,
    /// Its payload is poisoned.
    pub is_poisoned: bool,
    /// The hard block has given the read up.
    pub is_timed_out: bool,
    /// Payload.
    pub dwords: Vec<u32>,
}

impl Completion {
    fn descriptor(&self) -> [u32; 3] {
        let lower = (self.address & 0xfff) as u32;
        let is_last = u32::from(self.is_last) << 30;
        let code = if self.is_timed_out { TIMED_OUT } else { 0 };
        [
            lower | code << 12 | (self.byte_count as u32) << 16 | is_last,
            self.dwords.len() as u32 | u32::from(self.is_poisoned) << 14,
            u32::from(self.tag),
        ]
    }
}

/// A beat of RC.
#[derive(Clone, Debug, Default)]
pub struct RcBeat {
    data: [u32; 16],
    /// Quarters in which completions begin.
    pub starts: Vec<usize>,
    /// Dwords in which completions end.
    pub ends: Vec<usize>,
}

impl RcBeat {
    fn user(&self) -> [u32; 6] {
        let mut marks = (1 << self.starts.len()) - 1;
        marks |= ((1 << self.ends.len()) - 1) << 12;
        for (index, quarter) in self.starts.iter().enumerate() {
            marks |= (*quarter as u32) << (4 + 2 * index);
        }
        for (index, dword) in self.ends.iter().enumerate() {
            marks |= (*dword as u32) << (16 + 4 * index);
        }
        [0, 0, marks, 0, 0, 0]
    }
}

/// Lays completions into beats, the first from a quarter on, each of the others at the next one.
pub fn pack(completions: &[Completion], quarter: usize) -> Vec<RcBeat> {
    let mut beats = vec![RcBeat::default()];
    let mut at = 4 * quarter;
    for completion in completions {
        at = at.next_multiple_of(4);
        let start = (at / 16, at % 16 / 4);
        let words = completion.descriptor().into_iter();
        for word in words.chain(completion.dwords.iter().copied()) {
            beats.resize(beats.len().max(at / 16 + 1), RcBeat::default());
            beats[at / 16].data[at % 16] = word;
            at += 1;
        }
        beats[start.0].starts.push(start.1);
        beats[(at - 1) / 16].ends.push((at - 1) % 16);
    }
    beats
}

/// The completer. See the head of this file.
pub struct Completer {
    /// Reads that nobody has taken yet.
    pub reads: VecDeque<ReadSeen>,
    /// Beats to offer.
    pub beats: VecDeque<RcBeat>,
    /// Cycles in which a read timed out.
    pub timeouts: u64,
    requests: [PortId; 3],
    answers: [PortId; 4],
    timeout: PortId,
}

impl Completer {
    /// A completer at the ports of a requester.
    pub fn new(model: &Model) -> Completer {
        let rq = |name: &str| model.port(&format!("s_axis_rq_{name}"));
        let rc = |name: &str| model.port(&format!("m_axis_rc_{name}"));
        Completer {
            reads: VecDeque::new(),
            beats: VecDeque::new(),
            timeouts: 0,
            requests: ["tvalid", "tdata", "tuser"].map(rq),
            answers: ["tvalid", "tdata", "tuser", "tready"].map(rc),
            timeout: model.port("read_timeout"),
        }
    }
}

impl Agent for Completer {
    fn sample(&mut self, model: &Model) {
        let [valid, data, user] = self.requests;
        if model.is_high(valid) {
            let (data, marks) = (model.words(data), model.words(user)[0] >> 20);
            for start in 0..2 {
                if marks >> start & 1 == 1 {
                    let at = 4 * (marks >> (2 + 2 * start) & 3) as usize;
                    let words = &data[at..at + 4];
                    assert_eq!(words[2] >> 11 & 15, 0, "only reads are asked for");
                    self.reads.push_back(ReadSeen {
                        address: u64::from(words[0] & !3) | u64::from(words[1]) << 32,
                        dwords: (words[2] & 0x7ff) as usize,
                        tag: words[3] as u8,
                    });
                }
            }
        }
        let [valid, _, _, ready] = self.answers;
        if model.is_high(valid) && model.is_high(ready) {
            self.beats.pop_front();
        }
        self.timeouts += u64::from(model.is_high(self.timeout));
    }

    fn drive(&mut self, model: &mut Model) {
        let [valid, data, user, _] = self.answers;
        let beat = self.beats.front();
        model.set(valid, u64::from(beat.is_some()));
        if let Some(beat) = beat {
            model.words_mut(data).copy_from_slice(&beat.data);
            model.words_mut(user).copy_from_slice(&beat.user());
        }
    }
}
