//! Accesses of a host to the board window, through the completer, against a board of AXI4-Lite.
//!
//! ```text
//!   host accesses ── PcieSim ── CQ, CC ── Completer ── m_axil ── Board
//! ```

use std::collections::HashMap;

use host_interface::board_window::TIMEOUT_CYCLES;
use host_interface::completer::Completer;
use pcie_sim::{MmioError, MmioRead, PcieSim};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::{enough, seed};
use sim::caught::caught_by;
use sim::harness::agent::Agent;
use sim::harness::bench::Bench;
use sim::switched::TextFault;
use verilate::verilated::Model;

use super::{bench, config, HardBlock, Registers};

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
fn board_window_reads_writes_in_order() {
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed);
    let mut window = Window::new(seed);
    let mut words: HashMap<u32, u32> = HashMap::new();
    let (mut expected, mut failed, mut late) = (Vec::new(), 0, 0);
    for _ in 0..300 {
        let mut reads = Vec::new();
        // Each silent access leaves the next one so much less of its time, and an access that waits
        // for all of its time is never issued: `untimely_board_access_is_never_issued`.
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
fn untimely_board_access_is_never_issued() {
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
fn access_ends_in_time_after_slow_one() {
    every_access_ends_in_its_time(&mut Window::new(seed()));
}

/// The limit is passed in the cycle in which the port is free again, and counted on.
const A_LIMIT_THAT_IS_PASSED: TextFault =
    ("cycles == limit", "(cycles == limit) & ((phase != WindowPhase_Turn) | port_is_open)");

#[test]
fn exceeded_limit_is_caught() {
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
fn board_window_takes_single_dwords() {
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
