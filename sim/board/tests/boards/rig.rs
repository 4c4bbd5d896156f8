//! A board window in Verilator: its four clocks, the card's port, the MAC's registers, the I2C bus.
//!
//! ```text
//!   Port (the card's side of AXI4-Lite) ══ Window ══ Core (the MAC's registers)
//!                                            ├══ Bus (SCL, SDA, devices)
//!                                            └══ Chips, Port (flash, configuration port)
//! ```
//! Invariants:
//! 1. What is offered on AXI4-Lite stands until it is taken; both ends check it of the window.

use std::collections::BTreeMap;

use board::description::FlashPlan;
use board::window::Window;
use hdl::ports::{emit, ports_of};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use sim::harness::mac;
use sim::switched::{self, number_of, TextFault, FAULT_PORT};
use verilate::clocks::{ClockId, Clocks, Edge};
use verilate::design::Design;
use verilate::options::Options;
use verilate::verilated::Model;

use crate::device_pins::{Chips, Port, CHIP_BYTES};
use crate::{flash, window};

/// The number that the window of the tests has for its board.
pub const BOARD: u32 = 77;
/// The flash of the tests: a slot that begins within 64 KiB.
pub const PLAN: FlashPlan =
    FlashPlan { chips: 2, chip_bytes: CHIP_BYTES, slot_bytes: 0x1_2000, golden_bytes: 0x8000 };

/// One of the faults that are planted in the window's Verilog, or none.
pub type Fault = Option<TextFault>;

/// What a test does with a fault, what is said of it, and the fault.
pub type Planted = (fn(Fault), &'static str, TextFault);

/// All faults: one model holds them.
fn faults() -> Vec<TextFault> {
    let all = window::FAULTS.iter().chain(&flash::FAULTS);
    all.map(|(_, _, fault)| *fault).collect()
}

/// The answer to an access: response, word read.
pub type Answer = (u64, u32);

/// Value of a port by name.
pub fn get(model: &Model, name: &str) -> u64 {
    model.get(model.port(name))
}

fn set(model: &mut Model, name: &str, value: u64) {
    let port = model.port(name);
    model.set(port, value);
}

/// Registers of the MAC's core: words that keep what is written, answered after a random time.
pub struct Core {
    random: SmallRng,
    /// One in so many cycles takes or answers something.
    pub one_in: u32,
    /// Never answers.
    pub silent: bool,
    /// Words by byte address.
    pub words: BTreeMap<u64, u32>,
    address: Option<u64>,
    word: Option<u32>,
    /// The answer to give, and whether to a read.
    answer: Option<(bool, u32)>,
    ready: [bool; 3],
}

impl Core {
    fn sample(&mut self, model: &Model) {
        let high = |name: &str| get(model, name) == 1;
        if high("core_awvalid") && self.ready[0] {
            self.address = Some(get(model, "core_awaddr"));
        }
        if high("core_wvalid") && self.ready[1] {
            assert_eq!(get(model, "core_wstrb"), 0xf);
            self.word = Some(get(model, "core_wdata") as u32);
        }
        if high("core_arvalid") && self.ready[2] {
            let word = self.words.get(&get(model, "core_araddr"));
            self.answer = Some((true, word.copied().unwrap_or(0)));
        }
        let taken = (high("core_bready") && high("core_bvalid"))
            || (high("core_rready") && high("core_rvalid"));
        if taken {
            self.answer = None;
        }
        if let (Some(address), Some(word)) = (self.address, self.word) {
            self.words.insert(address, word);
            (self.address, self.word) = (None, None);
            self.answer = Some((false, 0));
        }
    }

    fn drive(&mut self, model: &mut Model) {
        let mut happens = || !self.silent && self.random.random_ratio(1, self.one_in);
        self.ready = [happens(), happens(), happens()];
        let offered = get(model, "core_bvalid") == 1 || get(model, "core_rvalid") == 1;
        let answers = self.answer.filter(|_| offered || happens());
        self.ready[0] &= self.address.is_none() && self.answer.is_none();
        self.ready[1] &= self.word.is_none() && self.answer.is_none();
        self.ready[2] &= self.answer.is_none();
        set(model, "core_awready", u64::from(self.ready[0]));
        set(model, "core_wready", u64::from(self.ready[1]));
        set(model, "core_arready", u64::from(self.ready[2]));
        set(model, "core_bvalid", u64::from(matches!(answers, Some((false, _)))));
        set(model, "core_rvalid", u64::from(matches!(answers, Some((true, _)))));
        set(model, "core_rdata", u64::from(answers.map_or(0, |(_, word)| word)));
    }
}

/// The window and what is around it.
pub struct Rig {
    model: Model,
    clocks: Clocks,
    clock: ClockId,
    base: ClockId,
    mac: ClockId,
    free: ClockId,
    random: SmallRng,
    /// One in so many cycles moves the card's side on.
    pub one_in: u32,
    /// Registers of the MAC's core.
    pub core: Core,
    /// Devices on the I2C bus.
    pub bus: crate::i2c_bus::Bus,
    /// Flash chips.
    pub chips: Chips,
    /// The device's configuration port.
    pub port: Port,
    /// Nothing but the window's own clock runs, and nobody is at the I2C bus.
    is_alone: bool,
}

impl Rig {
    /// A rig whose ends act in one of so many cycles.
    pub fn new(one_in: u32, core_one_in: u32, seed: u64, fault: Fault) -> Rig {
        Rig::of(PLAN, one_in, core_one_in, seed, fault)
    }

    /// The same with another flash.
    pub fn of(plan: FlashPlan, one_in: u32, core_one_in: u32, seed: u64, fault: Fault) -> Rig {
        let mut window = Window::new(BOARD, "small", true, plan);
        let verilog = emit(&mut window, "window").expect("emits");
        let verilog = verilog + &ip::models::text("pcie4_uscale_plus");
        let ports = ports_of(&window);
        let design = match fault {
            Some(_) => switched::build("window", &verilog, ports, &faults()),
            None => Design::build("window", &verilog, &ports, Options::default()),
        };
        let mut model = design.expect("builds").model();
        model.clear_inputs();
        if let Some(fault) = fault {
            let port = model.port(FAULT_PORT);
            model.set(port, number_of(&faults(), fault));
        }
        let mut clocks = Clocks::new();
        let clock = clocks.add(&mut model, "clock", 4_000, 2_000);
        let base = clocks.add(&mut model, "base_clock", 10_000, 1_300);
        let mac = clocks.add(&mut model, "mac_clock", mac::CLOCK_PS, 700);
        let free = clocks.add(&mut model, "free_clock", 8_000, 3_100);
        model.eval();
        let (chips, port) = (Chips::new(&model, CHIP_BYTES), Port::new(&model));
        Rig {
            model,
            clocks,
            clock,
            base,
            mac,
            free,
            random: SmallRng::seed_from_u64(seed),
            one_in,
            core: Core {
                random: SmallRng::seed_from_u64(seed ^ 1),
                one_in: core_one_in,
                silent: false,
                words: BTreeMap::new(),
                address: None,
                word: None,
                answer: None,
                ready: [false; 3],
            },
            bus: crate::i2c_bus::Bus::default(),
            chips,
            port,
            is_alone: false,
        }
    }

    /// Stops the MAC's clock, or lets it run.
    pub fn run_mac_clock(&mut self, runs: bool) {
        self.clocks.set_running(&mut self.model, self.mac, runs);
    }

    /// Leaves nothing running but the window's own clock: time passes faster.
    pub fn leave_alone(&mut self) {
        self.is_alone = true;
        for clock in [self.base, self.mac, self.free] {
            self.clocks.set_running(&mut self.model, clock, false);
        }
    }

    /// Lets the clock of the MAC's registers and of the configuration port run, or stops it.
    pub fn run_base_clock(&mut self, runs: bool) {
        self.clocks.set_running(&mut self.model, self.base, runs);
    }

    /// Begins a read whose answer nobody takes.
    pub fn begin_read(&mut self, address: u32) {
        self.set("bus_araddr", u64::from(address));
        self.hand_over("bus_arvalid", "bus_arready");
    }

    /// Resets the window for so many cycles.
    pub fn reset(&mut self, cycles: u64) {
        self.set("reset", 1);
        self.cycles(cycles);
        self.set("reset", 0);
    }

    /// Sets an input.
    pub fn set(&mut self, name: &str, value: u64) {
        set(&mut self.model, name, value);
    }

    /// Reads an output.
    pub fn get(&self, name: &str) -> u64 {
        get(&self.model, name)
    }

    /// Cycles of the window's clock; what `end` says of the state before an edge ends it early.
    fn until(&mut self, cycles: u64, end: &mut dyn FnMut(&Model) -> bool) -> bool {
        let last = self.clocks.cycles(self.clock) + cycles;
        let (clock, base) = (self.clock, self.base);
        let (core, bus) = (&mut self.core, &mut self.bus);
        let (chips, device, is_alone) = (&mut self.chips, &mut self.port, self.is_alone);
        let mut ended = false;
        while !ended && self.clocks.cycles(clock) < last {
            self.clocks.step(&mut self.model, &mut |model, tick| match (
                tick.clock == clock,
                tick.clock == base,
                tick.edge,
            ) {
                (true, _, Edge::Before) => ended |= end(model),
                (true, _, Edge::After) => {
                    if !is_alone {
                        bus.drive(model);
                    }
                    chips.drive(model);
                }
                (_, true, Edge::Before) => core.sample(model),
                (_, true, Edge::After) => {
                    core.drive(model);
                    device.drive(model);
                }
                _ => {}
            });
        }
        ended
    }

    /// So many cycles.
    pub fn cycles(&mut self, cycles: u64) {
        self.until(cycles, &mut |_| false);
    }

    /// Waits so long that a port moves on in one of `one_in` cycles.
    fn hesitate(&mut self) {
        while !self.random.random_ratio(1, self.one_in) {
            self.cycles(1);
        }
    }

    /// Offers `valid` until `ready`, and drops it.
    fn hand_over(&mut self, valid: &str, ready: &str) {
        self.set(valid, 1);
        assert!(self.until(10_000, &mut |model| get(model, ready) == 1), "{ready}");
        self.set(valid, 0);
    }

    /// Takes the answer at `valid`, which must stand until then.
    fn take(&mut self, valid: &str, ready: &str, response: &str) -> Answer {
        let come = self.until(10_000, &mut |model| get(model, valid) == 1);
        assert!(come, "no answer");
        let answer = |rig: &Rig| (rig.get(response), rig.get("bus_rdata") as u32);
        let first = answer(self);
        self.hesitate();
        assert_eq!((self.get(valid), answer(self)), (1, first), "the answer changes");
        self.set(ready, 1);
        assert!(self.until(1, &mut |model| get(model, valid) == 1));
        self.set(ready, 0);
        first
    }

    /// Reads a word.
    pub fn read(&mut self, address: u32) -> Answer {
        self.hesitate();
        self.set("bus_araddr", u64::from(address));
        self.hand_over("bus_arvalid", "bus_arready");
        self.take("bus_rvalid", "bus_rready", "bus_rresp")
    }

    /// Writes the bytes of a word that `strobe` names; the response.
    pub fn write_bytes(&mut self, address: u32, word: u32, strobe: u64) -> u64 {
        self.set("bus_awaddr", u64::from(address));
        self.set("bus_wdata", u64::from(word));
        self.set("bus_wstrb", strobe);
        // Address and word come one after the other, in any order.
        let first = if self.random.random() { "bus_awvalid" } else { "bus_wvalid" };
        self.set(first, 1);
        self.hesitate();
        self.set("bus_awvalid", 1);
        self.hand_over("bus_wvalid", "bus_wready");
        self.set("bus_awvalid", 0);
        self.take("bus_bvalid", "bus_bready", "bus_bresp").0
    }

    /// Writes a word; the response.
    pub fn write(&mut self, address: u32, word: u32) -> u64 {
        self.write_bytes(address, word, 0xf)
    }
}
