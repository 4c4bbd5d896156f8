//! The plugin on Verilated cards, with memory of a GPU that shows nothing before it is flushed.
//!
//! ```text
//!   driver ─ plugin ─ engine ─ Verilated card ── datagrams ── Verilated card ─ engine ─ plugin
//!                                   └─ writes ─► held ── flush read ─► the buffer
//! ```
//! On a GPU of compute capability 9.0 and later NCCL never flushes: what it reads when a receive is
//! done is what the card has flushed before it published the packet's entry.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use host::driver::bus::{Bus, BusError, DmaMemory, MemoryKind};
use host::memory::{DeviceMapping, MemoryRange};
use lab::hooked_bus::{HookedBus, Hooks};
use lab::wire::Disturbance;
use nccl::datagrams::{DatagramLine, LineSettings};
use nccl::line::Line;
use nccl::Opening;
use nccl_harness::driver::{run, Narrow, Report, Settings};
use nccl_harness::net::{lines, linked, Net};
use pcie_sim::{Bytes, Fault, MemoryId, PcieConfig, Rights, Target, PAGE_BYTES};
use sim::bus::SimulatedBus;
use sim::card::{SharedCard, SimulatedCard};
use verilate::options::Options;

/// Schedules on cards that do as they should.
const SEEDS: u64 = 3;
/// Cycles of the card in a turn of its thread.
const TURN_CYCLES: u64 = 500;
/// Turns after which the rules of link and MAC are looked at.
const CHECK_TURNS: u64 = 200;
/// Flush reads that fail: more than a schedule makes.
const FAULTS: usize = 10_000;
/// A busy machine simulates a thousand cycles in a second.
const LIMIT_S: u64 = 500;

/// What a write held back will write.
type Held = Rc<RefCell<Vec<(Rc<DeviceMapping>, usize, Vec<u8>)>>>;

/// Memory of a GPU: what the card writes is not there yet.
struct GpuPages(Rc<DeviceMapping>, Held);

impl Bytes for GpuPages {
    fn size(&self) -> usize {
        self.0.bytes().len()
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        self.0.bytes().read(offset, into);
    }

    fn write(&mut self, offset: usize, from: &[u8]) {
        self.1.borrow_mut().push((Rc::clone(&self.0), offset, from.to_vec()));
    }
}

/// The page that the card reads to flush: what was held back is there then, unless it is forgotten.
struct FlushPage(Held, bool);

impl Bytes for FlushPage {
    fn size(&self) -> usize {
        PAGE_BYTES as usize
    }

    fn read(&self, _offset: usize, into: &mut [u8]) {
        into.fill(0);
        if self.1 {
            return;
        }
        for (pages, offset, bytes) in self.0.borrow_mut().drain(..) {
            pages.bytes().write(offset, &bytes);
        }
    }

    fn write(&mut self, _offset: usize, _from: &[u8]) {}
}

/// Puts the memory of a GPU where the host maps memory.
struct Gpu {
    card: SharedCard,
    held: Held,
    mapped: BTreeMap<u64, MemoryId>,
}

impl Gpu {
    /// Puts these pages at a bus address instead of those that are there.
    fn place(&self, address: u64, bytes: u64, pages: Box<dyn Bytes>) -> Result<MemoryId, BusError> {
        let failed = |error: pcie_sim::IommuError| BusError::Device(error.to_string());
        let pcie = &mut self.card.borrow_mut().pcie;
        pcie.unmap(address, bytes).map_err(failed)?;
        let memory = pcie.attach(pages);
        pcie.map(address, bytes, memory, 0, Rights::ReadWrite).map_err(failed)?;
        Ok(memory)
    }
}

impl Hooks<SimulatedBus> for Gpu {
    fn map(&mut self, bus: &mut SimulatedBus, range: &MemoryRange) -> Result<DmaMemory, BusError> {
        let memory = bus.map(range)?;
        let pages = GpuPages(Rc::new(range.map_device()?), Rc::clone(&self.held));
        let placed = self.place(memory.address, range.bytes() as u64, Box::new(pages))?;
        self.mapped.insert(memory.address, placed);
        Ok(memory)
    }

    fn release(&mut self, bus: &mut SimulatedBus, memory: DmaMemory) -> Result<(), BusError> {
        bus.release(memory)?;
        if let Some(pages) = self.mapped.remove(&memory.address) {
            self.card.borrow_mut().pcie.detach(pages);
        }
        Ok(())
    }
}

/// The wire of a card, which runs as long as its thread does.
struct RunningLine {
    card: SharedCard,
    line: DatagramLine<SharedCard>,
    turns: u64,
}

impl Line for RunningLine {
    fn carry(&mut self) -> bool {
        self.card.borrow_mut().run(TURN_CYCLES);
        self.line.carry();
        self.turns += 1;
        if self.turns.is_multiple_of(CHECK_TURNS) {
            let violations = self.card.borrow().violations();
            assert!(violations.is_empty(), "{violations:?}");
        }
        // It never rests: time passes in this call alone.
        true
    }

    fn room(&self) -> Option<BorrowedFd<'_>> {
        self.line.room()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.line.descriptor()
    }

    fn frames(&self) -> u64 {
        self.line.frames()
    }
}

/// Opens a card of a kind, `flushes`, `forgets` or `fails`, on its own thread.
fn open(name: &str, opening: Opening) {
    let (kind, folder) = name.split_once(':').expect("kind and folder");
    let folder = PathBuf::from(folder);
    let pcie = PcieConfig::default();
    let card = SimulatedCard::new("small", pcie.clone(), Options::default()).expect("it builds");
    let (bus, card) = SimulatedBus::with_card(card, &pcie).expect("a bus");
    let flush = bus.flush_address(MemoryKind::Gpu).expect("a page to flush by");
    let held = Held::default();
    let gpu = Gpu { card: Rc::clone(&card), held: Rc::clone(&held), mapped: BTreeMap::new() };
    let page = FlushPage(held, kind == "forgets");
    gpu.place(flush, PAGE_BYTES, Box::new(page)).expect("its page is mapped");
    if kind == "fails" {
        for _ in 0..FAULTS {
            let target = Target::Address(flush..flush + 4);
            card.borrow_mut().pcie.inject(Fault::UnsupportedRequest, target);
        }
    }
    let disturbance = Disturbance::default();
    let settings = LineSettings { folder, disturbance, seed: 1, buffer_bytes: None };
    let line = DatagramLine::open(&settings, opening.mac, Rc::clone(&card)).expect("a socket");
    opening.serve(HookedBus { inner: bus, hooks: gpu }, RunningLine { card, line, turns: 0 });
}

/// The plugin with two cards of each kind: one user at a time.
fn plugin() -> (MutexGuard<'static, ()>, &'static dyn Net) {
    static ONE: Mutex<()> = Mutex::new(());
    static NET: OnceLock<&'static dyn Net> = OnceLock::new();
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let net = NET.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("zn-rtl-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let card = |kind| format!("brought:{kind}:{}?mtu=1500&dmabuf=1", folder.display());
        let cards = ["flushes", "forgets", "fails"].map(|kind| [card(kind), card(kind)].join(","));
        std::env::set_var("ZERONIC_CARD", cards.join(","));
        nccl::bring(open);
        let net: &'static dyn Net = Box::leak(linked(12).expect("the newest version"));
        assert_eq!(net.init(), 0, "{:?}", lines());
        net
    });
    (guard, *net)
}

fn drive(net: &dyn Net, devices: [i32; 2], seed: u64) -> anyhow::Result<Report> {
    let narrow = Some(Narrow { devices });
    let settings = Settings { aborts: false, registers: false, limit_s: LIMIT_S, narrow };
    run(net, seed, settings)
}

#[test]
fn gpu_memory_is_flushed_before_it_is_told() {
    let (_one, net) = plugin();
    let first = seed::seed() >> 16;
    let mut bytes = 0;
    for seed in first..first + SEEDS {
        let report = drive(net, [0, 1], seed).expect("every byte is right");
        println!("seed {seed}: {report:?}");
        bytes += report.bytes;
    }
    assert!(bytes > 0, "nothing was received");
}

#[test]
fn memory_that_is_not_flushed_is_seen() {
    let (_one, net) = plugin();
    let error = drive(net, [2, 3], 1).expect_err("nothing has arrived").to_string();
    assert!(error.contains("is wrong"), "{error}");
}

#[test]
fn failed_flush_fails_the_request() {
    let (_one, net) = plugin();
    lines();
    let error = drive(net, [4, 5], 1).expect_err("nothing was flushed").to_string();
    assert!(error.contains("test of a receive has returned 2"), "{error}");
    let lines = lines();
    assert!(lines.iter().any(|line| line.contains("no flush")), "{lines:?}");
    // Others go on: the card has not failed.
    assert!(!lines.iter().any(|line| line.contains("the card has failed")), "{lines:?}");
}
