//! `kill -9` of a driver, or of the card's process, at numbered calls of the bus.
//!
//! ```text
//!   driver: a child of this program ── call N: SIGKILL ──► card: says so, is empty, a new epoch
//!   driver: this program ── call N: SIGKILL to the card ──► an error, within a second
//! ```
//! The application's memory lies between guard bytes, in a file that outlives its driver: whoever
//! writes too much, or too late, is found.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use abi::registers as r;
use host::driver::bus::{Bus, DmaMemory, MemoryKind, Result};
use host::driver::control_memory::ControlMemory;
use host::driver::device::{Device, DeviceConfig};
use host::memory::{MemoryFile, MemoryRange};
use host::provider::Provider;
use host::tcp::TcpProtocol;
use host::transport::{LinkConfig, Tuning};
use lab::exchange::{exchange_with_echo, Blind, Echo, Exchange, LabError};
use lab::hooked_bus::{HookedBus, Hooks};
use lab::wire::Disturbance;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tcp::{Config, Secret};
use vfio::SocketBus;

use crate::sim_card::Card;

/// The variable that makes a child of a run of this program.
const CHILD: &str = "ZERONIC_TEST_CRASH";
/// Bytes before and behind the application's memory.
const GUARD_BYTES: usize = 64 << 10;
/// What the application of an exchange registers.
const REGION_BYTES: usize = 1 << 20;
const GUARD: u8 = 0xa5;
/// Bytes each way: about a thousand calls of the bus.
const BYTES: u64 = 1_000_000;
/// How long the other side may take to find out.
const FOUND_OUT: Duration = Duration::from_secs(1);

/// How many kills of one kind, half of them with each kind of doorbell: a few, or many with
/// `ZERONIC_LONG`.
fn kills() -> usize {
    if std::env::var_os("ZERONIC_LONG").is_some() {
        500
    } else {
        30
    }
}

/// Runs for so many kills: in some all is done before the numbered call.
fn runs_max(kills: usize) -> usize {
    4 * kills
}

/// Ways to ring a doorbell.
const DOORBELLS: [&str; 2] = ["mapped", "messages"];

/// Does something at a numbered call, and gives the application memory of a file.
struct AtCall {
    file: MemoryFile,
    calls: Rc<RefCell<u64>>,
    at: u64,
    act: Box<dyn FnMut()>,
}

impl AtCall {
    fn count(&mut self) {
        let mut calls = self.calls.borrow_mut();
        *calls += 1;
        if *calls == self.at {
            (self.act)();
        }
    }
}

impl<B: Bus> Hooks<B> for AtCall {
    fn read_register(&mut self, bus: &mut B, offset: u32) -> Result<u32> {
        self.count();
        bus.read_register(offset)
    }

    fn write_register(&mut self, bus: &mut B, offset: u32, value: u32) -> Result<()> {
        self.count();
        bus.write_register(offset, value)
    }

    fn allocate_control(
        &mut self,
        bus: &mut B,
        bytes: usize,
        align: usize,
    ) -> Result<ControlMemory> {
        self.count();
        bus.allocate_control(bytes, align)
    }

    fn allocate(
        &mut self,
        bus: &mut B,
        _kind: MemoryKind,
        bytes: usize,
        _align: usize,
    ) -> Result<DmaMemory> {
        self.count();
        assert_eq!(bytes, REGION_BYTES);
        let range = self.file.range(GUARD_BYTES, bytes).expect("it fits");
        bus.map(&range)
    }

    fn advance(&mut self, bus: &mut B) -> Result<()> {
        self.count();
        bus.advance()
    }
}

/// The application's memory, as it is now.
struct Memory {
    file: MemoryFile,
}

impl Memory {
    fn new() -> Self {
        let file = MemoryFile::new(REGION_BYTES + 2 * GUARD_BYTES).expect("memory");
        let all = file.all().and_then(|all| all.map().map_err(std::io::Error::other));
        let mut all = all.expect("it is mapped");
        all.write(0, &[GUARD; GUARD_BYTES]);
        all.write(GUARD_BYTES + REGION_BYTES, &[GUARD; GUARD_BYTES]);
        Self { file }
    }

    /// Where another process opens it.
    fn path(&self) -> String {
        let MemoryRange::File(range) = self.file.all().expect("a range") else {
            panic!("it is a file");
        };
        format!("/proc/{}/fd/{}", std::process::id(), range.descriptor().as_raw_fd())
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; REGION_BYTES + 2 * GUARD_BYTES];
        let all = self.file.all().expect("a range").map().expect("it is mapped");
        all.read(0, &mut bytes);
        bytes
    }

    /// Its bytes, whose guard is whole.
    fn guarded(&self) -> Vec<u8> {
        let bytes = self.bytes();
        let (front, rest) = bytes.split_at(GUARD_BYTES);
        assert!(front.iter().chain(&rest[REGION_BYTES..]).all(|byte| *byte == GUARD));
        bytes
    }
}

/// Moves bytes through the card and back. Each driver has an address of its own, so that the peer
/// takes none for another.
fn exchange(socket: &Path, hooks: AtCall, number: u8) -> std::result::Result<Echo, LabError> {
    let inner = SocketBus::open(socket).expect("a card");
    let link = LinkConfig::lab(number, 1500, Tuning::REAL_TIME);
    let protocol = TcpProtocol::new(&link, Config::private_wire(), Secret([number; 32]));
    let bus = HookedBus { inner, hooks };
    let mut provider = Provider::open(bus, protocol, DeviceConfig::default())?;
    let remote: SocketAddr = "10.77.0.2:5001".parse().expect("an address");
    let exchange = Exchange {
        bytes: BYTES,
        seed: number.into(),
        disturbance: Disturbance::default(),
        memory: MemoryKind::Application,
    };
    let echo = exchange_with_echo(&mut provider, remote, &exchange, &mut Blind)?;
    provider.shut_down()?;
    Ok(echo)
}

/// Addresses of drivers: the peer has 2.
fn number(run: usize) -> u8 {
    3 + (run % 250) as u8
}

/// What a child does: an exchange, and at a numbered call it is dead.
fn run_child(order: &str) {
    let parts: Vec<&str> = order.split('|').collect();
    let [socket, memory, at, run] = parts[..] else { panic!("{order}") };
    let open = std::fs::OpenOptions::new().read(true).write(true).open(memory);
    let file = MemoryFile::adopt(OwnedFd::from(open.expect("its memory"))).expect("memory");
    let calls = Rc::new(RefCell::new(0));
    let hooks = AtCall {
        file,
        calls: calls.clone(),
        at: at.parse().expect("a number"),
        act: Box::new(|| {
            let kill = format!("kill -9 {}", std::process::id());
            let killed = Command::new("/bin/sh").args(["-c", &kill]).status();
            panic!("still alive: {killed:?}");
        }),
    };
    let run = run.parse().expect("a number");
    let echo = exchange(Path::new(socket), hooks, number(run)).expect("it is moved");
    assert!(echo.is_exact());
    println!("calls {}", calls.borrow());
}

/// Runs a child until it is dead, or has done its work: then it returns the calls of its bus.
fn child(card: &Card, memory: &Memory, at: u64, run: usize) -> Option<u64> {
    let order = format!("{}|{}|{at}|{run}", card.socket.display(), memory.path());
    let own = std::env::current_exe().expect("this program");
    let name = "crash::killed_driver_leaves_clean_empty_card";
    let mut command = Command::new(own);
    command.args(["--exact", name, "--nocapture"]).env(CHILD, order);
    let output = command.stderr(Stdio::inherit()).output().expect("it starts");
    if output.status.signal() == Some(9) {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let calls = said.lines().find_map(|line| line.strip_prefix("calls "));
    Some(calls.and_then(|calls| calls.parse().ok()).expect("a number"))
}

#[test]
fn killed_driver_leaves_clean_empty_card() {
    if let Ok(order) = std::env::var(CHILD) {
        return run_child(&order);
    }
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let mut killed = 0;
    for doorbells in DOORBELLS {
        killed += kill_drivers(doorbells, kills() / DOORBELLS.len(), &mut random);
    }
    seed::enough("drivers killed", killed, kills() as u64 - 1);
}

/// Kills drivers of one card; how many were dead before they had done their work.
fn kill_drivers(doorbells: &str, kills: usize, random: &mut SmallRng) -> u64 {
    let mut card = Card::with("crash-driver", &["--peer", "smoltcp", "--doorbells", doorbells]);
    let calls = child(&card, &Memory::new(), 0, 0).expect("nobody kills it");
    card.line_with("the client has gone");
    let mut epochs = Vec::new();
    let mut earlier: Vec<(Memory, Vec<u8>)> = Vec::new();
    let (mut killed, mut runs, mut slowest) = (0, 0, Duration::ZERO);
    while killed < kills as u64 && runs < runs_max(kills) {
        runs += 1;
        let run = runs;
        let at = random.random_range(1..=calls);
        let memory = Memory::new();
        let is_killed = child(&card, &memory, at, run).is_none();
        killed += u64::from(is_killed);
        let gone = Instant::now();
        card.line_with("the client has gone");
        slowest = slowest.max(gone.elapsed());
        // Whoever comes next finds nothing of it.
        let bus = SocketBus::open(&card.socket).expect("a card");
        let mut device = Device::open(bus, DeviceConfig::default()).expect("it opens");
        epochs.push(device.bus().read_register(r::EPOCH).expect("a register"));
        device.poll().expect("it polls");
        device.close().expect("it closes");
        card.line_with("the client has gone");
        let bytes = memory.guarded();
        for (memory, bytes) in &earlier {
            assert!(memory.bytes() == *bytes, "written after its driver was killed");
        }
        earlier.push((memory, bytes));
        if earlier.len() > 16 {
            earlier.remove(0);
        }
    }
    println!("{doorbells}: {killed} killed in {calls} calls; found out in {slowest:?}");
    assert!(slowest < FOUND_OUT, "{slowest:?}");
    let mut unique = epochs.clone();
    unique.dedup();
    assert_eq!(unique.len(), epochs.len(), "{epochs:?}");
    killed
}

#[test]
fn killed_card_is_noticed_and_reopened() {
    let mut random = SmallRng::seed_from_u64(seed::seed());
    let mut calls_max = 0;
    let (mut killed, mut slowest) = (0, Duration::ZERO);
    for run in 0..=runs_max(kills()) {
        if killed == kills() as u64 {
            break;
        }
        let doorbells = DOORBELLS[run % DOORBELLS.len()];
        let started = Card::with("crash-card", &["--peer", "smoltcp", "--doorbells", doorbells]);
        let socket = started.socket.clone();
        let card = Rc::new(RefCell::new(started));
        let died = Rc::new(RefCell::new(None));
        let (calls, memory) = (Rc::new(RefCell::new(0)), Memory::new());
        let (victim, moment) = (card.clone(), died.clone());
        let hooks = AtCall {
            file: memory.file.clone(),
            calls: calls.clone(),
            at: if run == 0 { 0 } else { random.random_range(1..=calls_max) },
            act: Box::new(move || {
                victim.borrow_mut().kill();
                *moment.borrow_mut() = Some(Instant::now());
            }),
        };
        let result = exchange(&socket, hooks, number(run));
        let died = died.borrow_mut().take();
        match (died, result) {
            (None, result) => {
                assert!(result.expect("it is moved").is_exact());
                calls_max = calls_max.max(*calls.borrow());
                continue;
            }
            // All had come back before the last calls.
            (Some(_), Ok(echo)) => assert!(echo.is_exact()),
            (Some(died), Err(error)) => {
                slowest = slowest.max(died.elapsed());
                let said = error.to_string();
                assert!(said.contains("has gone") && !said.contains('\n'), "{said}");
            }
        }
        killed += 1;
        let bytes = memory.guarded();
        let again = Card::at(&socket, &[]);
        let mut bus = SocketBus::open(&again.socket).expect("a card");
        assert_eq!(bus.read_register(r::ID).expect("a register"), r::ID_VALUE);
        assert_eq!(bus.read_register(r::CONTROL).expect("a register"), 0);
        assert!(memory.bytes() == bytes, "written after the card was killed");
    }
    println!("{killed} killed in {calls_max} calls; found out in {slowest:?}");
    assert!(slowest < FOUND_OUT, "{slowest:?}");
    seed::enough("cards killed", killed, kills() as u64 - 1);
}
