//! A small card for the tests: packs requests into straddled beats, decodes completions, answers
//! register accesses from a little memory of its own.
//!
//! ```text
//!   issue(Request) -> RQ beats     RC beats -> completions     CQ beats -> registers -> CC beats
//! ```
//!
//! It is written against the product guide's tables and not against the simulator's own code, the
//! bit positions in `pcie_sim::descriptor` apart.

use pcie_sim::descriptor::{cc, cq, cq_user, rc, rc_user, request_type, rq, rq_user};
use pcie_sim::{
    CardOutputs, CcBeat, CqBeat, PcieConfig, PcieSim, Random, RcBeat, Request, RequestKind, RqBeat,
};
use std::collections::{HashMap, VecDeque};

/// A completion as the card saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub tag: u8,
    pub error: u8,
    pub status: u8,
    pub poisoned: bool,
    pub completed: bool,
    pub lower_address: u16,
    pub byte_count: u16,
    /// Payload bytes that were marked valid.
    pub bytes: Vec<u8>,
    pub dwords: usize,
    pub cycle: u64,
}

/// The card and the slot it sits in.
pub struct Bench {
    pub sim: PcieSim,
    pub card: Card,
}

/// The card.
#[derive(Default)]
pub struct Card {
    /// RQ packets to send: words, first and last enables, sequence number.
    queue: VecDeque<(Vec<u32>, u8, u8, u8)>,
    sent: usize,
    pub rq: RqBeat,
    rc_words: Vec<u32>,
    rc_valid: Vec<u8>,
    pub completions: Vec<Seen>,
    pub sequence_numbers: Vec<(u64, u8)>,
    cq_words: Vec<u32>,
    cq_enables: (u8, u8),
    pub registers: HashMap<u64, u8>,
    pub writes_seen: Vec<(u64, Vec<u32>)>,
    pub cc_queue: VecDeque<CcBeat>,
    pub cc: CcBeat,
    /// Change a completion of the card before it is sent.
    pub spoil_cc: Option<fn(&mut [u32])>,
    /// Do not answer register reads.
    pub mute: bool,
    pub rc_stall_permille: u32,
    pub cq_stall_permille: u32,
    pub cq_np_req: u8,
    pub flr_done: bool,
    next_sequence: u8,
    random: Option<Random>,
}

impl Bench {
    /// A slot with the device enabled and past its reset.
    pub fn new(config: PcieConfig) -> Self {
        let card = Card::new(config.seed);
        let mut sim = PcieSim::new(config).unwrap();
        sim.enable_device();
        let mut bench = Self { sim, card };
        bench.run(20);
        assert!(!bench.sim.inputs().user_reset);
        bench
    }

    /// One cycle.
    pub fn step(&mut self) {
        let outputs = self.card.drive(&self.sim);
        self.step_with(&outputs);
    }

    /// One cycle in which the card drives `outputs`.
    pub fn step_with(&mut self, outputs: &CardOutputs) {
        let inputs = *self.sim.inputs();
        let cycle = self.sim.cycle();
        self.sim.step(outputs);
        if inputs.user_reset {
            return;
        }
        let card = &mut self.card;
        if inputs.rc.tvalid && outputs.rc_tready {
            card.take_rc(&inputs.rc, cycle);
        }
        if inputs.cq.tvalid && outputs.cq_tready {
            card.take_cq(&inputs.cq);
        }
        if outputs.rq.tvalid && inputs.rq_tready {
            card.rq = RqBeat::default();
        }
        if outputs.cc.tvalid && inputs.cc_tready {
            card.cc = CcBeat::default();
        }
        for (valid, number) in [
            (inputs.pcie_rq_seq_num_vld0, inputs.pcie_rq_seq_num0),
            (inputs.pcie_rq_seq_num_vld1, inputs.pcie_rq_seq_num1),
        ] {
            if valid {
                card.sequence_numbers.push((cycle, number));
            }
        }
    }

    /// Many cycles.
    pub fn run(&mut self, cycles: u64) {
        (0..cycles).for_each(|_| self.step());
    }

    /// Runs until `done`, at most `cycles` cycles.
    pub fn run_until(&mut self, cycles: u64, mut done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..cycles {
            if done(self) {
                return;
            }
            self.step();
        }
        panic!("not done after {cycles} cycles");
    }

    /// Runs until every request has had its effect.
    pub fn settle(&mut self) {
        self.run_until(200_000, |b| {
            b.card.queue.is_empty() && !b.card.rq.tvalid && b.sim.is_idle()
        });
    }

    /// No rule was broken.
    pub fn assert_clean(&self) {
        let first: Vec<_> = self.sim.violations().iter().take(3).collect();
        assert!(first.is_empty(), "{first:?}");
    }

    /// Bytes that the card received for `tag`, all completions together.
    pub fn bytes_of(&self, tag: u8) -> Vec<u8> {
        let of_tag = self.card.completions.iter().filter(|c| c.tag == tag);
        of_tag.flat_map(|c| c.bytes.clone()).collect()
    }
}

/// The RQ packet of a request.
pub fn rq_words(request: &Request) -> Vec<u32> {
    let kind = match request.kind {
        RequestKind::Read => request_type::MEMORY_READ,
        RequestKind::Write => request_type::MEMORY_WRITE,
    };
    let mut words = vec![0; 4];
    rq::ADDRESS.set(&mut words, request.address >> 2);
    rq::DWORD_COUNT.set(&mut words, u64::from(request.dword_count));
    rq::TYPE.set(&mut words, u64::from(kind));
    rq::TAG.set(&mut words, u64::from(request.tag));
    rq::ATTRIBUTES.set(&mut words, u64::from(request.attributes));
    rq::TRAFFIC_CLASS.set(&mut words, u64::from(request.traffic_class));
    words.extend_from_slice(&request.payload);
    words
}

impl Card {
    /// A card after reset that admits every register read.
    pub fn new(seed: u64) -> Self {
        Self { cq_np_req: 1, random: Some(Random::new(seed)), ..Self::default() }
    }

    /// Queues a request under the next sequence number.
    pub fn issue(&mut self, request: Request) {
        let words = rq_words(&request);
        self.issue_raw(words, request.first_be, request.last_be);
    }

    /// Queues a packet of any content.
    pub fn issue_raw(&mut self, words: Vec<u32>, first_be: u8, last_be: u8) {
        self.queue.push_back((words, first_be, last_be, self.next_sequence));
        self.next_sequence = (self.next_sequence + 1) % 64;
    }

    /// What the card drives now.
    pub fn drive(&mut self, sim: &PcieSim) -> CardOutputs {
        if !sim.inputs().user_reset {
            if !self.rq.tvalid {
                self.rq = self.pack();
            }
            if !self.cc.tvalid {
                self.cc = self.cc_queue.pop_front().unwrap_or_default();
            }
        }
        let mut stall = |permille| self.random.as_mut().is_some_and(|r| r.chance(permille));
        CardOutputs {
            rq: self.rq,
            rc_tready: !stall(self.rc_stall_permille),
            cq_tready: !stall(self.cq_stall_permille),
            cc: self.cc,
            pcie_cq_np_req: self.cq_np_req,
            cfg_fc_sel: 4,
            cfg_flr_done: u8::from(self.flr_done),
            ..CardOutputs::default()
        }
    }

    /// Packs the next beat: a second packet starts at dword 8 if the first ends before.
    fn pack(&mut self) -> RqBeat {
        let mut beat = RqBeat::default();
        let (mut at, mut starts, mut ends) = (0, 0, 0);
        while let Some((words, first_be, last_be, sequence)) = self.queue.front() {
            beat.tvalid = true;
            beat.tkeep = 0xffff;
            if self.sent == 0 {
                rq_user::SOP_POINTER[starts].set(&mut beat.tuser, at as u64 / 4);
                rq_user::FIRST_BE[starts].set(&mut beat.tuser, u64::from(*first_be));
                rq_user::LAST_BE[starts].set(&mut beat.tuser, u64::from(*last_be));
                rq_user::SEQUENCE_NUMBER[starts].set(&mut beat.tuser, u64::from(*sequence));
                starts += 1;
            }
            let here = (words.len() - self.sent).min(16 - at);
            beat.tdata[at..at + here].copy_from_slice(&words[self.sent..self.sent + here]);
            self.sent += here;
            at += here;
            if self.sent < words.len() {
                break;
            }
            rq_user::EOP_POINTER[ends].set(&mut beat.tuser, at as u64 - 1);
            ends += 1;
            self.queue.pop_front();
            self.sent = 0;
            if at > 8 || ends == 2 || starts == 2 {
                break;
            }
            at = 8;
        }
        rq_user::IS_SOP.set(&mut beat.tuser, (1 << starts) - 1);
        rq_user::IS_EOP.set(&mut beat.tuser, (1 << ends) - 1);
        beat
    }

    /// Cuts an RC beat into packets by its start and end flags alone.
    fn take_rc(&mut self, beat: &RcBeat, cycle: u64) {
        assert_eq!((beat.tkeep, beat.tlast), (0xffff, false));
        let is_sop = rc_user::IS_SOP.get(&beat.tuser);
        let is_eop = rc_user::IS_EOP.get(&beat.tuser);
        let valid = rc_user::BYTE_ENABLE.get(&beat.tuser);
        let starts: Vec<usize> = (0..4)
            .filter(|i| is_sop & (1 << i) != 0)
            .map(|i| rc_user::SOP_POINTER[i].get(&beat.tuser) as usize * 4)
            .collect();
        let ends: Vec<usize> = (0..4)
            .filter(|i| is_eop & (1 << i) != 0)
            .map(|i| rc_user::EOP_POINTER[i].get(&beat.tuser) as usize)
            .collect();
        let mut inside = !self.rc_words.is_empty();
        for dword in 0..16 {
            if starts.contains(&dword) {
                assert!(!inside, "start inside a packet");
                inside = true;
            }
            let enables = (valid >> (4 * dword)) as u8 & 0xf;
            if !inside {
                assert_eq!(enables, 0, "valid bytes outside packets");
                continue;
            }
            self.rc_words.push(beat.tdata[dword]);
            self.rc_valid.push(enables);
            if ends.contains(&dword) {
                inside = false;
                self.finish_rc(cycle);
            }
        }
    }

    fn finish_rc(&mut self, cycle: u64) {
        let words = std::mem::take(&mut self.rc_words);
        let valid = std::mem::take(&mut self.rc_valid);
        assert_eq!(words.len() - 3, rc::DWORD_COUNT.get(&words) as usize);
        let mut bytes = Vec::new();
        for (word, enables) in words.iter().zip(&valid) {
            let lanes = (0..4).filter(|lane| enables & (1 << lane) != 0);
            bytes.extend(lanes.map(|lane| word.to_le_bytes()[lane]));
        }
        self.completions.push(Seen {
            tag: rc::TAG.get(&words) as u8,
            error: rc::ERROR_CODE.get(&words) as u8,
            status: rc::STATUS.get(&words) as u8,
            poisoned: rc::POISONED.is_set(&words),
            completed: rc::REQUEST_COMPLETED.is_set(&words),
            lower_address: rc::LOWER_ADDRESS.get(&words) as u16,
            byte_count: rc::BYTE_COUNT.get(&words) as u16,
            dwords: words.len() - 3,
            bytes,
            cycle,
        });
    }

    fn take_cq(&mut self, beat: &CqBeat) {
        let kept = beat.tkeep.count_ones() as usize;
        if self.cq_words.is_empty() {
            assert_eq!(cq_user::IS_SOP.get(&beat.tuser), 1);
            self.cq_enables =
                (cq_user::FIRST_BE.get(&beat.tuser) as u8, cq_user::LAST_BE.get(&beat.tuser) as u8);
        }
        self.cq_words.extend_from_slice(&beat.tdata[..kept]);
        if !beat.tlast {
            return;
        }
        let words = std::mem::take(&mut self.cq_words);
        let (first, last) = self.cq_enables;
        let address = cq::ADDRESS.get(&words) << 2;
        let count = cq::DWORD_COUNT.get(&words) as usize;
        if cq::TYPE.get(&words) as u8 == request_type::MEMORY_WRITE {
            assert_eq!(words.len(), 4 + count);
            for (i, word) in words[4..].iter().enumerate() {
                let enables = if i == 0 {
                    first
                } else if i + 1 == count {
                    last
                } else {
                    0xf
                };
                for lane in (0..4).filter(|lane| enables & (1 << lane) != 0) {
                    let at = address + 4 * i as u64 + lane as u64;
                    self.registers.insert(at, word.to_le_bytes()[lane]);
                }
            }
            self.writes_seen.push((address, words[4..].to_vec()));
        } else if !self.mute {
            self.answer(&words, address, count, first, last);
        }
    }

    fn answer(&mut self, request: &[u32], address: u64, count: usize, first: u8, last: u8) {
        let from = address + u64::from(first.trailing_zeros());
        let top = if count == 1 { first } else { last };
        let to = address + 4 * (count as u64 - 1) + u64::from(8 - top.leading_zeros());
        let mut words = vec![0; 3];
        cc::LOWER_ADDRESS.set(&mut words, from & 0x7f);
        cc::BYTE_COUNT.set(&mut words, to - from);
        cc::DWORD_COUNT.set(&mut words, count as u64);
        cc::REQUESTER_ID.set(&mut words, cq::REQUESTER_ID.get(request));
        cc::TAG.set(&mut words, cq::TAG.get(request));
        cc::TRAFFIC_CLASS.set(&mut words, cq::TRAFFIC_CLASS.get(request));
        cc::ATTRIBUTES.set(&mut words, cq::ATTRIBUTES.get(request));
        for dword in 0..count as u64 {
            let byte = |lane| self.registers.get(&(address + 4 * dword + lane)).copied();
            let bytes = [0, 1, 2, 3].map(|lane| byte(lane).unwrap_or(0));
            words.push(u32::from_le_bytes(bytes));
        }
        if let Some(spoil) = self.spoil_cc {
            spoil(&mut words);
        }
        self.send_cc(&words);
    }

    /// Queues a CC packet.
    pub fn send_cc(&mut self, words: &[u32]) {
        let count = words.chunks(16).len();
        for (i, chunk) in words.chunks(16).enumerate() {
            let mut beat = CcBeat { tvalid: true, tlast: i + 1 == count, ..CcBeat::default() };
            beat.tdata[..chunk.len()].copy_from_slice(chunk);
            beat.tkeep = (u32::MAX >> (32 - chunk.len())) as u16;
            self.cc_queue.push_back(beat);
        }
    }
}
