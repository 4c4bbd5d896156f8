//! The driver's update of the flash on the hardware: on the window alone with the power lost at any
//! point, and through PCIe and whole tops.
//!
//! ```text
//!   host_board ─── Window ──► window in Verilator ── chips     cut at one of 64 points ─► boots?
//!   host_board ─── Window ──► PCIe ── top ── window ── chips                           ─► boots?
//! ```

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use abi::image::SYNC_WORD;
use abi::window::PortOperation;
use board::boards::find;
use board::description::{Board, FlashPlan};
use hdl::emit::on_large_stack;
use host::driver::bus::Bus;
use host_board::chips::slot_contents;
use host_board::flash::Layout;
use host_board::identity::identity;
use host_board::port;
use host_board::update::{carry_out, prepare, steps};
use host_board::window::{Window, WindowError};
use pcie_sim::PcieConfig;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::bus::SimulatedBus;
use sim::card::SimulatedCard;
use sim_board::boot::{boot, Booted};
use verilate::design::Design;

use crate::device_pins::Chips;
use crate::rig::{Rig, PLAN};
use crate::whole::{golden, small, whole};

/// What the golden image is, in the first chip.
const GOLDEN: [u8; 100] = [0x6b; 100];
/// Points at which the power is lost.
const POINTS: u64 = 64;

fn layout(plan: FlashPlan) -> Layout {
    Layout { chips: plan.chips, size_bytes: plan.chip_bytes, slot: plan.slot_bytes }
}

/// An image of so many bytes, most of them 0xff: such pages need no program.
fn image(random: &mut SmallRng, bytes: usize) -> Vec<u8> {
    let mut data = vec![0xff; bytes];
    for offset in [0x50, 0x70] {
        data[offset..offset + 4].copy_from_slice(&SYNC_WORD.to_be_bytes());
    }
    for _ in 0..4 {
        let at = random.random_range(0x80..bytes - 40);
        random.fill(&mut data[at..at + 40]);
    }
    data
}

/// The window in Verilator; the power is lost after so many cycles.
struct RigWindow {
    rig: Rig,
    cycles_left: u64,
}

impl RigWindow {
    /// Some cycles; whether there is power behind them.
    fn pass(&mut self, cycles: u64) -> bool {
        let cycles = cycles.min(self.cycles_left);
        self.rig.cycles(cycles);
        self.cycles_left -= cycles;
        self.cycles_left > 0
    }

    /// An access takes some ten cycles.
    fn has_power(&mut self, offset: u32) -> Result<(), WindowError> {
        match self.pass(10) {
            true => Ok(()),
            false => Err(WindowError::Gone { offset }),
        }
    }
}

impl Window for RigWindow {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        self.has_power(offset)?;
        let (response, word) = self.rig.read(offset);
        Ok(if response == 0 { word } else { u32::MAX })
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        self.has_power(offset)?;
        self.rig.write(offset, value);
        Ok(())
    }

    fn wait(&mut self, time: Duration) {
        // The chips of the tests are done in microseconds.
        let time_ns = (time.as_nanos() as u64).min(20_000);
        self.pass(time_ns / 4);
    }
}

/// All of an update.
fn update(window: &mut impl Window, plan: FlashPlan, contents: &[Vec<u8>]) -> Result<(), String> {
    prepare(window, layout(plan), contents).map_err(|error| error.to_string())?;
    for step in steps(contents, plan.slot_bytes) {
        carry_out(window, &step, contents, |_| ()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn contents(plan: FlashPlan, data: &[u8]) -> Vec<Vec<u8>> {
    let room = u64::from(plan.chip_bytes - plan.slot_bytes);
    slot_contents(data, plan.chips, room).expect("it fits")
}

/// The window with a golden image and an old one in its slot.
fn rig(cycles: u64, old: &[Vec<u8>]) -> RigWindow {
    let mut rig = Rig::new(1, 1, 1, None);
    rig.leave_alone();
    rig.chips.chips[0].write_initial(0, &GOLDEN);
    for (chip, old) in rig.chips.chips.iter_mut().zip(old) {
        chip.write_initial(PLAN.slot_bytes, old);
    }
    RigWindow { rig, cycles_left: cycles }
}

#[test]
fn hardware_update_survives_power_loss() {
    let mut random = SmallRng::seed_from_u64(seed());
    let (old, new) = (image(&mut random, 9_000), image(&mut random, 11_000));
    let (before, after) = (contents(PLAN, &old), contents(PLAN, &new));
    let most = 1 << 40;
    let mut window = rig(most, &before);
    assert_eq!(identity(&mut window).expect("words").board, crate::rig::BOARD);
    update(&mut window, PLAN, &after).expect("an update");
    let total = most - window.cycles_left;
    let boots = |window: &RigWindow| {
        let chips = &window.rig.chips.chips;
        boot(chips, &GOLDEN, PLAN.slot_bytes, &[&old, &new])
    };
    assert_eq!(boots(&window), Booted::Image(1));
    let mut seen = [0; 3];
    for point in 0..POINTS {
        let cycles = (point * total + random.random_range(0..total)) / POINTS;
        let mut window = rig(cycles, &before);
        update(&mut window, PLAN, &after).expect_err("the power is lost");
        for chip in &mut window.rig.chips.chips {
            chip.set_seed(random.random());
            chip.cut_power();
        }
        match boots(&window) {
            Booted::Image(image) => seen[image] += 1,
            Booted::Golden => seen[2] += 1,
            Booted::None => panic!("dead after {cycles} of {total} cycles"),
        }
        // Somebody tries again.
        if point % 16 == 7 {
            window.cycles_left = most;
            update(&mut window, PLAN, &after).expect("an update");
            assert_eq!(boots(&window), Booted::Image(1), "again after {cycles} cycles");
        }
    }
    println!("old image {}, new image {}, golden {}", seen[0], seen[1], seen[2]);
    seed::enough("times that the golden image boots", seen[2], POINTS / 2);
}

/// The window behind PCIe.
struct PcieWindow {
    bus: SimulatedBus,
    card: Rc<RefCell<SimulatedCard>>,
}

impl Window for PcieWindow {
    fn read(&mut self, offset: u32) -> Result<u32, WindowError> {
        let word = self.bus.read_register(offset);
        word.map_err(|_| WindowError::Gone { offset })
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), WindowError> {
        let done = self.bus.write_register(offset, value);
        done.map_err(|_| WindowError::Gone { offset })
    }

    fn wait(&mut self, time: Duration) {
        let time_ns = (time.as_nanos() as u64).min(20_000);
        self.card.borrow_mut().run(time_ns / 4);
    }
}

/// Updates a board through its slot; the new image boots, and can be loaded.
fn through_pcie(board: &Board, design: &Design) {
    let plan = board.flash.plan();
    let mut random = SmallRng::seed_from_u64(seed());
    let new = image(&mut random, 900);
    let pcie = PcieConfig::default();
    let mut card = SimulatedCard::of(design, pcie.clone()).expect("a card");
    let pins = Rc::new(RefCell::new(Chips::new(&card.model, plan.chip_bytes)));
    pins.borrow_mut().chips[0].write_initial(0, &GOLDEN);
    let beside = pins.clone();
    card.beside = Some(Box::new(move |model| beside.borrow_mut().drive(model)));
    let card = Rc::new(RefCell::new(card));
    let bus = SimulatedBus::new(card.clone(), &pcie).expect("a bus");
    let mut window = PcieWindow { bus, card };
    let found = identity(&mut window).expect("words").board;
    assert_eq!(found, board.number);
    update(&mut window, plan, &contents(plan, &new)).expect("an update");
    let chips = pins.borrow().chips.clone();
    let chips = &chips[..plan.chips as usize];
    let booted = boot(chips, &GOLDEN, plan.slot_bytes, &[&new]);
    assert_eq!(booted, Booted::Image(0), "{}", board.name);
    assert_eq!(port::boot_status(&mut window).expect("BOOTSTS"), 1);
    port::boot(&mut window, PortOperation::BootUser).expect("it is accepted");
}

#[test]
fn update_passes_pcie_and_whole_top() {
    on_large_stack(|| {
        let card = small();
        let named = |name| find(name).expect("a board");
        through_pcie(named("vcu118"), &golden(named("vcu118"), card));
        through_pcie(named("u280"), &whole(named("u280"), card, None));
    });
}
