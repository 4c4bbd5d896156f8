//! Register accesses of a host, through the link model, against a plain map of registers.
//!
//! ```text
//!   host accesses ── PcieSim ── CQ ──► Completer ──► register_write ──► map
//!                       └────── CC ◄── (reply)   ◄── read_reply ◄────── map
//! ```

mod board_window;

use std::collections::HashMap;

use abi::registers::PUSH_BYTES;
use host_interface::completer::Completer;
use pcie_sim::{Bar, Beat, CardOutputs, MmioError, PcieConfig, PcieSim};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::{enough, seed};
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use verilate::verilated::Model;
use verilate::width::lint_width_warnings;

/// A line pushed: owner, whether it is the second half, bytes.
type Push = (u8, bool, [u8; PUSH_BYTES]);

/// The registers behind the completer: answers after a random while.
struct Registers {
    random: SmallRng,
    words: HashMap<u32, u32>,
    writes: Vec<(u32, u32)>,
    pushes: Vec<Push>,
    malformed: u64,
    unsupported: u64,
    request_ready: bool,
    reply: Option<u32>,
    offered: bool,
}

impl Registers {
    fn new(seed: u64) -> Registers {
        Registers {
            random: SmallRng::seed_from_u64(seed),
            words: HashMap::new(),
            writes: Vec::new(),
            pushes: Vec::new(),
            malformed: 0,
            unsupported: 0,
            request_ready: false,
            reply: None,
            offered: false,
        }
    }
}

impl Agent for Registers {
    fn sample(&mut self, model: &Model) {
        let get = |name: &str| model.get(model.port(name));
        self.malformed += get("malformed");
        self.unsupported += get("unsupported");
        if self.offered && get("read_reply$ready") == 1 {
            (self.offered, self.reply) = (false, None);
        }
        if self.request_ready && get("read_request$valid") == 1 {
            let address = get("read_request$payload") as u32;
            self.reply = Some(self.words.get(&address).copied().unwrap_or(address ^ 0x5a5a));
        }
        if get("pushed$valid") == 1 {
            // Owner (8 bits), half, data.
            let mut payload = [0; 2 + PUSH_BYTES];
            model.get_bytes(model.port("pushed$payload"), &mut payload);
            let line = std::array::from_fn(|at| payload[at + 1] >> 1 | payload[at + 2] << 7);
            self.pushes.push((payload[0], payload[1] & 1 == 1, line));
        }
        if get("register_write$valid") == 1 {
            let write = get("register_write$payload");
            let (address, data) = ((write & 0xff_ffff) as u32, (write >> 24) as u32);
            self.words.insert(address, data);
            self.writes.push((address, data));
        }
    }

    fn drive(&mut self, model: &mut Model) {
        self.request_ready = self.reply.is_none() && self.random.random_bool(0.6);
        model.set(model.port("read_request$ready"), u64::from(self.request_ready));
        self.offered |= self.reply.is_some() && self.random.random_bool(0.4);
        model.set(model.port("read_reply$valid"), u64::from(self.offered));
        model.set(model.port("read_reply$payload"), u64::from(self.reply.unwrap_or(0)));
    }
}

/// The hard block's side of CQ and CC.
struct HardBlock {
    pcie: PcieSim,
}

fn read_words<const N: usize>(model: &Model, name: &str) -> [u32; N] {
    let mut words = [0; N];
    let port = model.words(model.port(name));
    words[..port.len()].copy_from_slice(port);
    words
}

impl Agent for HardBlock {
    fn sample(&mut self, model: &Model) {
        let get = |name: &str| model.get(model.port(name));
        let cc = Beat {
            tdata: read_words(model, "s_axis_cc_tdata"),
            tkeep: get("s_axis_cc_tkeep") as u16,
            tuser: read_words(model, "s_axis_cc_tuser"),
            tvalid: get("s_axis_cc_tvalid") == 1,
            tlast: get("s_axis_cc_tlast") == 1,
        };
        self.pcie.step(&CardOutputs {
            cq_tready: get("m_axis_cq_tready") == 1,
            cc,
            pcie_cq_np_req: 1,
            ..CardOutputs::default()
        });
    }

    fn drive(&mut self, model: &mut Model) {
        let inputs = self.pcie.inputs();
        drive_cq(model, &inputs.cq);
        model.set(model.port("s_axis_cc_tready"), u64::from(inputs.cc_tready));
        model.set(model.port("reset"), u64::from(inputs.user_reset));
    }
}

fn drive_cq(model: &mut Model, beat: &Beat<6>) {
    let data = model.port("m_axis_cq_tdata");
    model.words_mut(data).copy_from_slice(&beat.tdata);
    let user = model.port("m_axis_cq_tuser");
    model.words_mut(user).copy_from_slice(&beat.tuser);
    model.set(model.port("m_axis_cq_tkeep"), u64::from(beat.tkeep));
    model.set(model.port("m_axis_cq_tvalid"), u64::from(beat.tvalid));
    model.set(model.port("m_axis_cq_tlast"), u64::from(beat.tlast));
}

fn bench() -> Bench {
    Bench::of_shared("completer", "", Completer::default).expect("builds")
}

fn config(seed: u64, stalled: bool) -> PcieConfig {
    let mut config = PcieConfig { seed, ..PcieConfig::default() };
    if stalled {
        config.cc_stall_permille = 500;
        config.idle_permille = 300;
    }
    config
}

/// Bytes of a random access: address and length.
fn random_place(random: &mut SmallRng) -> (u32, u32) {
    // The second half is owner 0x23's push window.
    let line = random.random_range(0..4u32) * 64 + 0x12_3000;
    let start = random.random_range(0..64u32);
    let length = random.random_range(1..=64 - start);
    let (start, length) = match random.random_range(0..6) {
        0 => (start, length),
        1 | 2 => (0, 64),
        _ => (start & !3, length.next_multiple_of(4).min(64 - (start & !3))),
    };
    (line + start, length)
}

/// The map of bytes that full dword writes leave behind, and what reaches the registers.
#[derive(Default)]
struct Expected {
    words: HashMap<u32, u32>,
    writes: Vec<(u32, u32)>,
    pushes: Vec<Push>,
    malformed: u64,
}

impl Expected {
    fn write(&mut self, address: u32, bytes: Vec<u8>) {
        let length = bytes.len() as u32;
        if length == 64 && address & 0x80 != 0 {
            let bytes = bytes.try_into().expect("a line");
            self.pushes.push((0x23, address & 0x40 != 0, bytes));
            return;
        }
        for dword in (address & !3..address + length).step_by(4) {
            let inside = (dword..dword + 4).filter(|b| (address..address + length).contains(b));
            if inside.count() < 4 {
                self.malformed += 1;
                continue;
            }
            let at = (dword - address) as usize;
            let value = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
            self.words.insert(dword, value);
            self.writes.push((dword, value));
        }
    }

    fn read(&self, address: u32, length: u32) -> Vec<u8> {
        (address..address + length)
            .map(|byte| {
                let dword = byte & !3;
                let value = self.words.get(&dword).copied().unwrap_or(dword ^ 0x5a5a);
                value.to_le_bytes()[(byte - dword) as usize]
            })
            .collect()
    }
}

fn random_accesses(seed: u64, stalled: bool) {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut bench = bench();
    let config = config(seed, stalled);
    let base = config.bars[0].base;
    let mut hard_block = HardBlock { pcie: PcieSim::new(config).expect("valid configuration") };
    hard_block.pcie.enable_device();
    let mut registers = Registers::new(seed);
    let mut model = Expected::default();
    let mut reads = Vec::new();
    for _ in 0..600 {
        let (address, length) = random_place(&mut random);
        let at = base + u64::from(address);
        if random.random_bool(0.6) {
            let bytes: Vec<u8> = (0..length).map(|_| random.random()).collect();
            hard_block.pcie.mmio_write(at, &bytes).expect("inside the BAR");
            model.write(address, bytes);
        } else {
            let read = hard_block.pcie.mmio_read(at, length as usize).expect("inside the BAR");
            reads.push((read, model.read(address, length)));
        }
    }
    for (read, expected) in reads {
        let result = loop {
            if let Some(result) = hard_block.pcie.mmio_poll(read) {
                break result;
            }
            bench.cycle(&mut [&mut hard_block, &mut registers]);
        };
        assert_eq!(result.expect("completes"), expected);
    }
    bench.cycles(2_000, &mut [&mut hard_block, &mut registers]);
    assert_eq!(registers.writes, model.writes, "every full dword once and in order");
    enough("lines", model.pushes.len() as u64, 20);
    assert!(registers.pushes == model.pushes, "every line");
    assert_eq!(registers.malformed, model.malformed);
    assert_eq!(registers.unsupported, 0);
    assert_eq!(hard_block.pcie.violations(), &[]);
}

#[test]
fn host_reads_own_writes_in_order() {
    random_accesses(seed(), false);
}

#[test]
fn host_reads_own_writes_under_stalls() {
    random_accesses(seed(), true);
}

/// Drives CQ by hand and collects what comes on CC.
struct Hand {
    beats: Vec<Beat<6>>,
    sent: usize,
    offering: bool,
    ready: bool,
    random: SmallRng,
    partial: Vec<u32>,
    packets: Vec<Vec<u32>>,
}

impl Agent for Hand {
    fn sample(&mut self, model: &Model) {
        let get = |name: &str| model.get(model.port(name));
        if self.offering && get("m_axis_cq_tready") == 1 {
            self.offering = false;
            self.sent += 1;
        }
        if self.ready && get("s_axis_cc_tvalid") == 1 {
            let words: [u32; 16] = read_words(model, "s_axis_cc_tdata");
            let keep = get("s_axis_cc_tkeep") as u16;
            self.partial.extend(&words[..keep.count_ones() as usize]);
            if get("s_axis_cc_tlast") == 1 {
                self.packets.push(std::mem::take(&mut self.partial));
            }
        }
    }

    fn drive(&mut self, model: &mut Model) {
        if !self.offering {
            let beat = self.beats.get(self.sent).copied().unwrap_or_default();
            self.offering = beat.tvalid && self.random.random_bool(0.7);
            let beat = if self.offering { beat } else { Beat::default() };
            drive_cq(model, &beat);
        }
        self.ready = self.random.random_bool(0.5);
        model.set(model.port("s_axis_cc_tready"), u64::from(self.ready));
    }
}

/// Beats of a request with the payload dwords 1, 2, 3 ...
fn request(kind: u64, address: u64, dwords: u64, payload: u32, bar: u64) -> Vec<Beat<6>> {
    use pcie_sim::descriptor::{cq, cq_user};
    let mut words = vec![0u32; 4];
    cq::ADDRESS.set(&mut words, address >> 2);
    cq::DWORD_COUNT.set(&mut words, dwords);
    cq::TYPE.set(&mut words, kind);
    cq::REQUESTER_ID.set(&mut words, 0x1234);
    cq::TAG.set(&mut words, 0x56);
    cq::BAR_ID.set(&mut words, bar);
    cq::TRAFFIC_CLASS.set(&mut words, 3);
    cq::ATTRIBUTES.set(&mut words, 5);
    words.extend(1..=payload);
    let count = words.chunks(16).len();
    let mut beats = Vec::new();
    for (index, chunk) in words.chunks(16).enumerate() {
        let mut beat = Beat {
            tkeep: (0xffff_u32 >> (16 - chunk.len())) as u16,
            tvalid: true,
            tlast: index + 1 == count,
            ..Beat::default()
        };
        beat.tdata[..chunk.len()].copy_from_slice(chunk);
        if index == 0 {
            cq_user::FIRST_BE.set(&mut beat.tuser, 0xf);
            cq_user::LAST_BE.set(&mut beat.tuser, if dwords > 1 { 0xf } else { 0 });
        }
        beats.push(beat);
    }
    beats
}

fn run_by_hand(beats: Vec<Beat<6>>) -> (Hand, Registers) {
    let seed = seed();
    let mut bench = bench();
    let mut registers = Registers::new(seed);
    let mut hand = Hand {
        beats,
        sent: 0,
        offering: false,
        ready: false,
        random: SmallRng::seed_from_u64(seed),
        partial: Vec::new(),
        packets: Vec::new(),
    };
    bench.cycles(2_000, &mut [&mut hand, &mut registers]);
    assert_eq!(hand.sent, hand.beats.len(), "every beat is taken");
    (hand, registers)
}

#[test]
fn unsupported_requests_are_refused_with_log() {
    // Locked read, I/O read and write, atomics, a read of 17 dwords, a read of another BAR.
    let refused = [
        (2, 1, 0, 0),
        (3, 1, 1, 0),
        (4, 2, 2, 0),
        (5, 2, 2, 0),
        (6, 4, 4, 0),
        (7, 1, 0, 0),
        (0, 17, 0, 0),
        (0, 1, 0, 2),
    ];
    for (kind, dwords, payload, bar) in refused {
        let mut beats = request(kind, 0x104, dwords, payload, bar);
        let descriptor = beats[0].tdata[..4].to_vec();
        beats.extend(request(0, 0x7c, 2, 0, 0));
        let (hand, registers) = run_by_hand(beats);
        assert_eq!((registers.unsupported, registers.malformed), (1, 0));
        let (refusal, read) = (&hand.packets[0], &hand.packets[1]);
        let bytes = if kind == 0 { 4 * dwords as u32 } else { 4 };
        let lower = if kind == 0 { 4 } else { 0 };
        assert_eq!(refusal[0], lower | bytes << 16, "type {kind}");
        assert_eq!(refusal[1], 1 << 11 | 0x1234 << 16);
        assert_eq!(refusal[2], 0x56 | 3 << 25 | 5 << 28);
        assert_eq!(refusal[3], if dwords > 1 { 0xff } else { 0xf });
        assert_eq!(refusal[4..], descriptor);
        assert_eq!(read[0], 0x7c | 8 << 16);
        assert_eq!(read[1], 2 | 0x1234 << 16);
        assert_eq!(read[3..], [0x7c ^ 0x5a5a, 0x80 ^ 0x5a5a]);
    }
}

#[test]
fn foreign_posted_requests_are_counted() {
    let mut discontinued = request(1, 0x200, 16, 16, 0);
    pcie_sim::descriptor::cq_user::DISCONTINUE.set(&mut discontinued[1].tuser, 1);
    let ignored = [
        request(1, 0x200, 17, 17, 0),
        request(1, 0x200, 64, 64, 0),
        request(12, 0, 0, 0, 0),
        request(14, 0, 2, 2, 0),
        request(1, 0x200, 2, 2, 2),
        discontinued,
    ];
    for beats in ignored {
        let beats = [beats, request(1, 0x300, 13, 13, 0)].concat();
        let (hand, registers) = run_by_hand(beats);
        assert_eq!((registers.malformed, registers.unsupported), (1, 0));
        let expected: Vec<(u32, u32)> = (0..13).map(|i| (0x300 + 4 * i, i + 1)).collect();
        assert_eq!(registers.writes, expected);
        assert!(hand.packets.is_empty());
    }
}

#[test]
fn empty_read_has_byte_count_one() {
    use pcie_sim::descriptor::cq_user;
    let mut flush = request(0, 0x48, 1, 0, 0);
    cq_user::FIRST_BE.set(&mut flush[0].tuser, 0);
    let (hand, registers) = run_by_hand(flush);
    assert_eq!(hand.packets.len(), 1);
    assert_eq!(hand.packets[0][0], 0x48 | 1 << 16);
    assert_eq!(hand.packets[0][1], 1 | 0x1234 << 16);
    assert_eq!(hand.packets[0].len(), 4);
    assert_eq!(registers.unsupported, 0);
}

#[test]
fn width_warnings_are_harmless() {
    lint_width_warnings(bench().model.design().warnings()).expect("only masked casts");
}

#[test]
fn refused_read_reaches_the_host() {
    let seed = seed();
    let mut bench = bench();
    let mut config = config(seed, true);
    let other = Bar { index: 2, base: config.bars[0].base + config.bars[0].bytes, bytes: 4096 };
    config.bars.push(other);
    let mut hard_block = HardBlock { pcie: PcieSim::new(config).expect("valid configuration") };
    hard_block.pcie.enable_device();
    let mut registers = Registers::new(seed);
    let read = hard_block.pcie.mmio_read(other.base, 4).expect("inside the BAR");
    bench.cycles(3_000, &mut [&mut hard_block, &mut registers]);
    assert_eq!(hard_block.pcie.mmio_poll(read), Some(Err(MmioError::UnsupportedRequest)));
    assert_eq!(registers.unsupported, 1);
    assert_eq!(hard_block.pcie.violations(), &[]);
}
