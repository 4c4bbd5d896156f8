//! Register accesses of a host, through the link model, against a plain map of registers.
//!
//! ```text
//!   host accesses ── PcieSim ── CQ ──► Completer ──► register_write ──► map
//!                       └────── CC ◄── (reply)   ◄── read_reply ◄────── map
//! ```

use std::collections::HashMap;

use abi::registers::PUSH_BYTES;
use host_interface::board_window::TIMEOUT_CYCLES;
use host_interface::completer::Completer;
use pcie_sim::{Bar, Beat, CardOutputs, MmioError, MmioRead, PcieConfig, PcieSim};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::{enough, seed};
use sim::caught::caught_by;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::switched::TextFault;
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
    Bench::shared("completer", "", Completer::default).expect("builds")
}

fn config(seed: u64, stalled: bool) -> PcieConfig {
    let mut config = PcieConfig { seed, ..PcieConfig::default() };
    if stalled {
        config.cc_stall_permille = 500;
        config.idle_permille = 300;
    }
    config
}

/// What the host did, in order.
enum Access {
    Write,
    Read { read: MmioRead, expected: Vec<u8> },
}

/// Random accesses; the model is the map of bytes that full dword writes leave behind.
fn random_accesses(seed: u64, stalled: bool) {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut bench = bench();
    let config = config(seed, stalled);
    let base = config.bars[0].base;
    let mut hard_block = HardBlock { pcie: PcieSim::new(config).expect("valid configuration") };
    hard_block.pcie.enable_device();
    let mut registers = Registers::new(seed);
    let mut words: HashMap<u32, u32> = HashMap::new();
    let mut writes = Vec::new();
    let mut pushes = Vec::new();
    let mut malformed = 0;
    let mut accesses = Vec::new();
    for _ in 0..600 {
        // The second half is owner 0x23's push window.
        let line = random.random_range(0..4u32) * 64 + 0x12_3000;
        let start = random.random_range(0..64u32);
        let length = random.random_range(1..=64 - start);
        let (start, length) = match random.random_range(0..6) {
            0 => (start, length),
            1 | 2 => (0, 64),
            _ => (start & !3, length.next_multiple_of(4).min(64 - (start & !3))),
        };
        let address = line + start;
        if random.random_bool(0.6) {
            let bytes: Vec<u8> = (0..length).map(|_| random.random()).collect();
            hard_block.pcie.mmio_write(base + u64::from(address), &bytes).expect("inside the BAR");
            accesses.push(Access::Write);
            if length == 64 && line & 0x80 != 0 {
                let bytes = bytes.try_into().expect("a line");
                pushes.push((0x23, line & 0x40 != 0, bytes));
                continue;
            }
            for dword in (address & !3..address + length).step_by(4) {
                let inside = (dword..dword + 4).filter(|b| (address..address + length).contains(b));
                if inside.count() < 4 {
                    malformed += 1;
                    continue;
                }
                let at = (dword - address) as usize;
                let value = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
                words.insert(dword, value);
                writes.push((dword, value));
            }
        } else {
            let read = hard_block
                .pcie
                .mmio_read(base + u64::from(address), length as usize)
                .expect("inside the BAR");
            let expected = (address..address + length)
                .map(|byte| {
                    let dword = byte & !3;
                    let value = words.get(&dword).copied().unwrap_or(dword ^ 0x5a5a);
                    value.to_le_bytes()[(byte - dword) as usize]
                })
                .collect();
            accesses.push(Access::Read { read, expected });
        }
    }
    for access in accesses {
        let Access::Read { read, expected } = access else {
            continue;
        };
        let result = loop {
            if let Some(result) = hard_block.pcie.mmio_poll(read) {
                break result;
            }
            bench.cycle(&mut [&mut hard_block, &mut registers]);
        };
        assert_eq!(result.expect("completes"), expected);
    }
    bench.cycles(2_000, &mut [&mut hard_block, &mut registers]);
    assert_eq!(registers.writes, writes, "every full dword once and in order");
    enough("lines", pushes.len() as u64, 20);
    assert!(registers.pushes == pushes, "every line");
    assert_eq!(registers.malformed, malformed);
    assert_eq!(registers.unsupported, 0);
    assert_eq!(hard_block.pcie.violations(), &[]);
}

#[test]
fn host_reads_what_it_wrote_in_order() {
    random_accesses(seed(), false);
}

#[test]
fn host_reads_what_it_wrote_under_stalls() {
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
fn unsupported_requests_are_refused_with_the_log_dwords() {
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
fn posted_requests_that_are_not_ours_are_counted() {
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
fn read_of_no_byte_is_answered_with_byte_count_one() {
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

/// What the board answers at an address: with an error, not for a long time, or well.
const FAILS: u32 = 0x5_0000;
const SILENT: u32 = 0x6_0000;
/// Cycles after which the silent address answers.
const SILENT_CYCLES: u64 = 3_200;
/// Answers after as many cycles as a test says.
const LATE: u32 = 0x7_0000;
/// Silent accesses in a row after which the next one is still issued in its time.
const SILENT_IN_TIME: u64 = TIMEOUT_CYCLES / (SILENT_CYCLES - TIMEOUT_CYCLES);

/// The board behind the window: takes its time, and checks the rules of AXI4-Lite.
struct Board {
    random: SmallRng,
    words: HashMap<u32, u32>,
    /// Accesses in order: address, written value.
    seen: Vec<(u32, Option<u32>)>,
    offered: [Option<u64>; 3],
    ready: [bool; 3],
    address: Option<u32>,
    data: Option<u32>,
    read: Option<u32>,
    wait: u64,
    /// Cycles after which [`LATE`] answers.
    late_cycles: u64,
    answer: Option<(bool, u64)>,
    /// Errors, timeouts, refusals that the window counted.
    counts: [u64; 3],
}

impl Board {
    fn new(seed: u64) -> Board {
        Board {
            random: SmallRng::seed_from_u64(seed),
            words: HashMap::new(),
            seen: Vec::new(),
            offered: [None; 3],
            ready: [false; 3],
            address: None,
            data: None,
            read: None,
            wait: 0,
            late_cycles: 0,
            answer: None,
            counts: [0; 3],
        }
    }

    /// A write or read is complete: its answer, after a while.
    fn begin(&mut self, address: u32, value: Option<u32>) {
        assert!(self.answer.is_none(), "one access at a time");
        self.seen.push((address, value));
        let response = u64::from(address & !0xfff == FAILS) << 1;
        if let (Some(value), 0) = (value, response) {
            self.words.insert(address, value);
        }
        self.wait = match address & !0xfff {
            SILENT => SILENT_CYCLES,
            LATE => self.late_cycles,
            _ => self.random.random_range(0..40),
        };
        self.answer = Some((value.is_some(), response));
    }
}

impl Agent for Board {
    fn sample(&mut self, model: &Model) {
        let names = ["window_failed", "window_timed_out", "window_refused"];
        for (count, name) in self.counts.iter_mut().zip(names) {
            *count += model.get(model.port(name));
        }
        let get = |name: &str| model.get(model.port(&format!("m_axil${name}")));
        let channels = [("awvalid", "awaddr"), ("wvalid", "wdata"), ("arvalid", "araddr")];
        for (at, (valid, payload)) in channels.into_iter().enumerate() {
            let offered = (get(valid) == 1).then(|| get(payload));
            if let Some(before) = self.offered[at] {
                assert_eq!(offered, Some(before), "{valid} changed before it was taken");
            }
            self.offered[at] = offered.filter(|_| !self.ready[at]);
            let Some(value) = offered.filter(|_| self.ready[at]) else {
                continue;
            };
            match at {
                0 => self.address = Some(value as u32),
                1 => self.data = Some(value as u32),
                _ => self.read = Some(value as u32),
            }
        }
        if let Some((is_write, _)) = self.answer.filter(|_| self.wait == 0) {
            let ready = if is_write { "bready" } else { "rready" };
            if get(ready) == 1 {
                self.answer = None;
            }
        }
        if let (Some(address), Some(data)) = (self.address, self.data) {
            (self.address, self.data) = (None, None);
            self.begin(address, Some(data));
        }
        if let Some(address) = self.read.take() {
            self.begin(address, None);
        }
        self.wait = self.wait.saturating_sub(1);
    }

    fn drive(&mut self, model: &mut Model) {
        let mut set = |name: &str, value: u64| {
            let port = model.port(&format!("m_axil${name}"));
            model.set(port, value);
        };
        for (at, name) in ["awready", "wready", "arready"].into_iter().enumerate() {
            // Where the cycle of an answer counts, the access is taken at once.
            self.ready[at] = self.late_cycles > 0 || self.random.random_bool(0.4);
            set(name, u64::from(self.ready[at]));
        }
        let answer = self.answer.filter(|_| self.wait == 0);
        let is_valid = |write: bool| u64::from(answer.is_some_and(|(kind, _)| kind == write));
        set("bvalid", is_valid(true));
        set("rvalid", is_valid(false));
        let response = answer.map_or(0, |(_, response)| response);
        set("bresp", response);
        set("rresp", response);
        let address = self.seen.last().map_or(0, |(address, _)| *address);
        let value = self.words.get(&address).copied().unwrap_or(address ^ 0xa5a5);
        set("rdata", u64::from(value));
    }
}

/// Everything around a completer with a board.
struct Window {
    bench: Bench,
    hard_block: HardBlock,
    registers: Registers,
    board: Board,
    base: u64,
}

impl Window {
    fn new(seed: u64) -> Window {
        Window::with(bench(), seed)
    }

    fn with(bench: Bench, seed: u64) -> Window {
        let mut config = config(seed, false);
        // 17 accesses may wait 10 us each.
        config.mmio_timeout_ns = 1_000_000;
        let base = config.bars[0].base;
        let mut hard_block = HardBlock { pcie: PcieSim::new(config).expect("valid configuration") };
        hard_block.pcie.enable_device();
        Window { bench, hard_block, registers: Registers::new(seed), board: Board::new(seed), base }
    }

    fn cycle(&mut self) {
        let agents: &mut [&mut dyn Agent] =
            &mut [&mut self.hard_block, &mut self.registers, &mut self.board];
        self.bench.cycle(agents);
    }

    fn read(&mut self, address: u32) -> MmioRead {
        let address = self.base + u64::from(address);
        self.hard_block.pcie.mmio_read(address, 4).expect("in the BAR")
    }

    fn write(&mut self, address: u32, value: u32) {
        let address = self.base + u64::from(address);
        self.hard_block.pcie.mmio_write32(address, value).expect("in the BAR");
    }

    /// The value of a read, and the cycles until it came.
    fn wait(&mut self, read: MmioRead) -> (u32, u64) {
        let start = self.bench.now();
        loop {
            if let Some(result) = self.hard_block.pcie.mmio_poll(read) {
                let bytes = result.expect("completes");
                let value = u32::from_le_bytes(bytes.try_into().expect("a dword"));
                return (value, self.bench.now() - start);
            }
            self.cycle();
            assert!(self.bench.now() < start + 100_000, "a read without an end");
        }
    }
}

#[test]
fn the_board_window_reads_what_was_written_in_order() {
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut window = Window::new(seed);
    let mut words: HashMap<u32, u32> = HashMap::new();
    let (mut expected, mut failed, mut late) = (Vec::new(), 0, 0);
    for _ in 0..300 {
        let mut reads = Vec::new();
        // Each silent access leaves the next one so much less of its time, and an access that waits
        // for all of its time is never issued: `what_the_board_has_no_time_for_is_never_issued`.
        let mut silent = 0;
        let accesses = random.random_range(1..8);
        for at in 0..=accesses {
            // A round ends with a read that is answered, so that none reaches into the next.
            let is_last = at == accesses;
            let page = match random.random_range(0..20) {
                0 if !is_last && silent < SILENT_IN_TIME => SILENT,
                1..=3 => FAILS,
                _ => [0x4_0000, 0x7_f000, 0xf_f000][random.random_range(0..3)],
            };
            silent += u64::from(page == SILENT);
            let address = page + 4 * random.random_range(0..1024u32);
            failed += u64::from(page == FAILS);
            late += u64::from(page == SILENT);
            if !is_last && random.random_bool(0.5) {
                let value = random.random();
                window.write(address, value);
                expected.push((address, Some(value)));
                if page != FAILS {
                    words.insert(address, value);
                }
            } else {
                let value = words.get(&address).copied().unwrap_or(address ^ 0xa5a5);
                let is_lost = page == FAILS || page == SILENT;
                let value = if is_lost { u32::MAX } else { value };
                reads.push((window.read(address), value));
                expected.push((address, None));
            }
        }
        for (read, value) in reads {
            assert_eq!(window.wait(read).0, value);
        }
    }
    (0..40_000).for_each(|_| window.cycle());
    assert_eq!(window.board.seen, expected, "each access once and in order");
    assert_eq!(window.board.counts, [failed, late, 0]);
    enough("errors", failed, 20);
    enough("accesses without an answer", late, 10);
    assert!(window.registers.writes.is_empty(), "no register was written");
    assert_eq!(window.hard_block.pcie.violations(), &[]);
}

#[test]
fn what_the_board_has_no_time_for_is_never_issued() {
    let mut window = Window::new(seed());
    let addresses: Vec<u32> = (0..16).map(|at| SILENT + 4 * at).collect();
    let reads: Vec<MmioRead> = addresses.iter().map(|at| window.read(*at)).collect();
    for read in reads {
        assert_eq!(window.wait(read).0, u32::MAX);
    }
    (0..SILENT_CYCLES).for_each(|_| window.cycle());
    assert_eq!(window.board.counts, [0, 16, 0], "all ended late");
    let issued: Vec<u32> = window.board.seen.iter().map(|(address, _)| *address).collect();
    // Those that the first ones leave time for, and then one of each few.
    let first = SILENT_IN_TIME as usize;
    assert_eq!(issued[..first], addresses[..first], "{issued:?}");
    assert!(issued.is_sorted() && issued.len() < 16, "{issued:?}");
    assert!(issued.len() as u64 >= 15 * TIMEOUT_CYCLES / SILENT_CYCLES, "{issued:?}");
}

/// The access before answers late, in each cycle around that in which the next one has waited for
/// all of its time: every one ends in its time, and the window goes on.
fn every_access_ends_in_its_time(window: &mut Window) {
    // An access comes back over the link in far less.
    let margin = 400;
    for late in 2 * TIMEOUT_CYCLES - 20..2 * TIMEOUT_CYCLES + 30 {
        window.board.late_cycles = late;
        // The second one finds no answer either, should it be issued in its last cycle.
        let (first, second) = (window.read(LATE), window.read(SILENT));
        for (place, read) in [("first", first), ("second", second)] {
            let (value, cycles) = window.wait(read);
            assert!(cycles < TIMEOUT_CYCLES + margin, "{late}: the {place} took {cycles} cycles");
            assert_eq!(value, u32::MAX);
        }
        (0..SILENT_CYCLES).for_each(|_| window.cycle());
        let last = window.read(0x4_0004);
        assert_eq!(window.wait(last).0, 0x4_0004 ^ 0xa5a5, "{late}: the window goes on");
    }
}

#[test]
fn an_access_ends_in_its_time_whenever_the_one_before_it_is_answered() {
    every_access_ends_in_its_time(&mut Window::new(seed()));
}

/// The limit is passed in the cycle in which the port is free again, and counted on.
const A_LIMIT_THAT_IS_PASSED: TextFault =
    ("cycles == limit", "(cycles == limit) & ((phase != WindowPhase_Turn) | port_is_open)");

#[test]
fn a_limit_that_is_passed_is_caught() {
    let faults = [A_LIMIT_THAT_IS_PASSED];
    let bench = Bench::with_fault("completer", "", Completer::default, &faults, faults[0]);
    let mut window = Window::with(bench.expect("builds"), seed());
    caught_by("the second took", "a limit that is passed", || {
        every_access_ends_in_its_time(&mut window);
    });
}

#[test]
fn nothing_waits_for_the_board_window() {
    let mut window = Window::new(seed());
    // One at the board, 16 in the queue, and some more.
    let reads: Vec<MmioRead> = (0..22).map(|_| window.read(SILENT)).collect();
    window.write(SILENT, 7);
    let register = window.read(0x20);
    let (value, cycles) = window.wait(register);
    assert_eq!(value, 0x20 ^ 0x5a5a);
    assert!(cycles < 1_000, "a register waited {cycles} cycles");
    for read in reads {
        assert_eq!(window.wait(read).0, u32::MAX);
    }
    let [failed, late, refused] = window.board.counts;
    assert_eq!(failed, 0);
    assert_eq!(late + refused, 23, "{late} late, {refused} refused");
    assert!(refused >= 5, "{refused}");

    // Once the board has answered, it is used again.
    (0..SILENT_CYCLES).for_each(|_| window.cycle());
    window.write(0x4_0000, 99);
    let read = window.read(0x4_0000);
    assert_eq!(window.wait(read).0, 99);
}

#[test]
fn the_board_window_takes_single_dwords_only() {
    let mut window = Window::new(seed());
    let address = window.base + 0x4_0000;
    let pcie = &mut window.hard_block.pcie;
    pcie.mmio_write(address, &[1; 8]).expect("in the BAR");
    pcie.mmio_write(address, &[1; 2]).expect("in the BAR");
    let read = pcie.mmio_read(address, 8).expect("in the BAR");
    let result = loop {
        if let Some(result) = window.hard_block.pcie.mmio_poll(read) {
            break result;
        }
        window.cycle();
    };
    assert!(matches!(result, Err(MmioError::UnsupportedRequest)), "{result:?}");
    assert_eq!((window.registers.malformed, window.registers.unsupported), (2, 1));
    assert!(window.board.seen.is_empty());

    // A read of a part of a dword is one of all of it.
    for (at, bytes) in [(0, 1), (1, 1), (3, 1), (1, 2), (0, 3)] {
        let read = window.hard_block.pcie.mmio_read(address + at, bytes).expect("in the BAR");
        let answer = loop {
            if let Some(result) = window.hard_block.pcie.mmio_poll(read) {
                break result.expect("it is answered");
            }
            window.cycle();
        };
        let dword = (0x4_0000u32 ^ 0xa5a5).to_le_bytes();
        assert_eq!(answer, dword[at as usize..at as usize + bytes]);
        assert_eq!(window.board.seen.pop(), Some((0x4_0000, None)));
    }
}
