//! The board window: every address answers as a model of it says, whatever stalls, and no block
//! that does not answer holds up another.

use std::collections::BTreeMap;

use abi::registers::{BOARD_WINDOW as WINDOW, BOARD_WINDOW_END};
use abi::window as w;
use abi::window::{BlockKind, BLOCKS};
use abi::ABI_VERSION;
use board::window::access::WindowAccess;
use board::window::window_decoder::WindowDecoder;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use seed::seed;
use sim::caught::caught_by;
use sim::switched::NO_FAULT;
use stream::prelude::*;

use crate::rig::{Answer, Fault, Planted, Rig, BOARD};

const OKAY: u64 = 0;
const SLAVE_ERROR: u64 = 2;
const DECODE_ERROR: u64 = 3;

/// Offset of a block.
fn offset(kind: BlockKind) -> u32 {
    kind.block().offset
}

/// The window as its documents have it, without what tests of their own have.
#[derive(Default)]
struct Model {
    out: u32,
    led: u32,
    mac: BTreeMap<u32, u32>,
}

impl Model {
    fn new() -> Model {
        Model { out: w::GPIO_OUT_INITIAL, ..Model::default() }
    }

    /// The block of an address and the word in it; `None`: the directory.
    fn place(address: u32) -> Option<(Option<BlockKind>, u32)> {
        if (WINDOW..WINDOW + 0x1000).contains(&address) {
            return Some((None, (address & 0xfff) / 4));
        }
        let inside =
            |block: &&w::WindowBlock| (block.offset..block.offset + block.bytes).contains(&address);
        let block = BLOCKS.iter().find(inside)?;
        Some((Some(block.kind), (address - block.offset) / 4))
    }

    fn read(&self, address: u32) -> Answer {
        let Some((kind, word)) = Model::place(address) else { return (DECODE_ERROR, 0) };
        let value = match kind {
            None => w::directory().get(word as usize).copied().unwrap_or(0),
            Some(BlockKind::Identity) => match word {
                w::IDENTITY_BOARD => BOARD,
                w::IDENTITY_VERSION => ABI_VERSION,
                w::IDENTITY_CONFIG => u32::from_le_bytes(*b"smal"),
                3 => u32::from(b'l'),
                _ => 0,
            },
            Some(BlockKind::Gpio) => match word {
                w::GPIO_OUT => self.out,
                // No module, no interrupt; the pins are wired.
                w::GPIO_IN => 0b111,
                w::GPIO_LED => self.led,
                _ => 0,
            },
            Some(BlockKind::Monitor) if word >= w::MONITOR_WORDS => return (SLAVE_ERROR, 0),
            Some(BlockKind::Monitor) if word == 0 => 0x9d9a,
            Some(BlockKind::Monitor) => word,
            Some(BlockKind::Mac) => self.mac.get(&word).copied().unwrap_or(0),
            Some(
                BlockKind::Clocks
                | BlockKind::I2c
                | BlockKind::Flash
                | BlockKind::ConfigurationPort,
            ) => unreachable!("not in this test"),
        };
        (OKAY, value)
    }

    fn write(&mut self, address: u32, value: u32, strobe: u64) -> u64 {
        if strobe != 0xf {
            return SLAVE_ERROR;
        }
        match Model::place(address) {
            None => return DECODE_ERROR,
            Some((Some(BlockKind::Gpio), w::GPIO_OUT)) => self.out = value & 7,
            Some((Some(BlockKind::Gpio), w::GPIO_LED)) => self.led = value & 0xff,
            Some((Some(BlockKind::Gpio), _)) => {}
            Some((Some(BlockKind::Mac), word)) => {
                self.mac.insert(word, value);
            }
            Some(_) => return SLAVE_ERROR,
        }
        OKAY
    }
}

/// An address of the window, mostly of a block's first words.
fn address(random: &mut SmallRng) -> u32 {
    loop {
        let base = match random.random_range(0..10) {
            0 => random.random_range(WINDOW..BOARD_WINDOW_END),
            1 | 2 => WINDOW,
            _ => BLOCKS[random.random_range(0..BLOCKS.len())].offset,
        };
        let beside = match random.random() {
            true => 4 * random.random_range(0..40),
            false => 4 * random.random_range(0..0x400),
        };
        let address = (base + beside) & !3;
        let skipped =
            [BlockKind::Clocks, BlockKind::I2c, BlockKind::Flash, BlockKind::ConfigurationPort];
        let kind = Model::place(address).and_then(|(kind, _)| kind);
        let is_skipped = kind.is_some_and(|kind| skipped.contains(&kind));
        if address < BOARD_WINDOW_END && !is_skipped {
            return address;
        }
    }
}

fn addresses(fault: Fault) {
    let seed = seed();
    for (port, core) in [(1, 1), (4, 1), (1, 6), (5, 3)] {
        let mut random = SmallRng::seed_from_u64(seed ^ u64::from(port * 16 + core));
        let mut rig = Rig::new(port, core, seed, fault);
        rig.set("pins_modprsl", 1);
        rig.set("pins_intl", 1);
        rig.cycles(20);
        let mut model = Model::new();
        for _ in 0..600 {
            let address = address(&mut random);
            let stalls = (port, core);
            if random.random_ratio(2, 3) {
                let answer = rig.read(address);
                assert_eq!(answer, model.read(address), "{stalls:?}: read {address:#x}");
            } else {
                let word = random.random();
                let strobe = match random.random_ratio(1, 8) {
                    true => random.random_range(0..16),
                    false => 0xf,
                };
                let answer = rig.write_bytes(address, word, strobe);
                let wanted = model.write(address, word, strobe);
                assert_eq!(answer, wanted, "{stalls:?}: write {address:#x}");
            }
            assert_eq!(rig.get("pins_modsell"), u64::from(model.out & 1));
            assert_eq!(rig.get("pins_resetl"), u64::from(model.out >> 1 & 1));
            assert_eq!(rig.get("pins_lpmode"), u64::from(model.out >> 2 & 1));
            // LEDs 0 to 2 show the card's state as well: all of it is 0 here.
            assert_eq!(rig.get("pins_led"), u64::from(model.led));
        }
    }
}

#[test]
fn every_address_answers_like_model() {
    addresses(None);
}

fn silence(fault: Fault) {
    let mut rig = Rig::new(2, 2, seed(), fault);
    let (mac, gpio) = (offset(BlockKind::Mac), offset(BlockKind::Gpio));
    assert_eq!(rig.write(mac + 4, 11), OKAY);
    assert_eq!(rig.read(mac + 4), (OKAY, 11));
    rig.core.silent = true;
    // Not in the time of the card's own limit, 10 us, but before it.
    assert_eq!(rig.read(mac + 4), (SLAVE_ERROR, 0));
    assert_eq!(rig.write(gpio + 4 * w::GPIO_LED, 0x80), OKAY);
    assert_eq!(rig.read(gpio + 4 * w::GPIO_LED), (OKAY, 0x80));
    assert_eq!(rig.write(mac + 4, 12), SLAVE_ERROR, "one access at a time");
    rig.core.silent = false;
    rig.cycles(500);
    // The late answer is dropped; the write that was refused has not happened.
    assert_eq!(rig.read(mac + 8), (OKAY, 0));
    assert_eq!(rig.read(mac + 4), (OKAY, 11), "the write that was refused");
}

#[test]
fn silent_block_holds_up_nothing() {
    silence(None);
}

/// The PCIe core's reset frees the port, whatever it waits for: a block that owes an answer, or a
/// card that takes none. What the blocks hold, and what runs in them, goes on.
fn expect_port_freed(fault: Fault) {
    let seed = seed();
    let mut random = SmallRng::seed_from_u64(seed ^ 3);
    let mut rig = Rig::new(1, 2, seed, fault);
    let (mac, gpio) = (offset(BlockKind::Mac), offset(BlockKind::Gpio));
    let led = gpio + 4 * w::GPIO_LED;
    let absent = WINDOW + 0x8000;
    assert_eq!(rig.write(led, 0x33), OKAY);
    for round in 0..30 {
        rig.core.silent = round % 2 == 0;
        // With and without an answer by now, and without anybody to take it.
        let address = [mac + 4, led, WINDOW, absent][round / 2 % 4];
        rig.begin_read(address);
        rig.cycles(random.random_range(0..40));
        rig.reset(random.random_range(20..40));
        assert_eq!(rig.get("bus_rvalid"), 0, "{address:#x}: nothing is answered");
        assert_eq!(rig.read(led), (OKAY, 0x33), "after {address:#x}");
        assert_eq!(rig.read(WINDOW), (OKAY, w::DIRECTORY_MAGIC), "after {address:#x}");
        // No late answer comes to anybody.
        rig.cycles(3_000);
        assert_eq!((rig.get("bus_rvalid"), rig.get("bus_bvalid")), (0, 0));
        if rig.core.silent {
            // The core still owes an answer.
            assert_eq!(rig.read(mac + 4), (SLAVE_ERROR, 0));
        }
        rig.core.silent = false;
        rig.cycles(500);
        let word = random.random();
        assert_eq!(rig.write(mac + 4, word), OKAY, "round {round}");
        assert_eq!(rig.read(mac + 4), (OKAY, word), "round {round}");
    }
}

#[test]
fn core_reset_frees_the_port_always() {
    expect_port_freed(None);
}

fn measure_timeout(fault: Fault) {
    let mut rig = Rig::new(1, 1, seed(), fault);
    let clocks = offset(BlockKind::Clocks);
    rig.cycles(2 * 250_000 + 100);
    let measured: Vec<u32> =
        (0..w::CLOCK_WORDS).map(|word| rig.read(clocks + 4 * word).1).collect();
    for (measured, wanted) in measured.iter().zip([250_000, 322_269, 100_000, 125_000]) {
        let step = w::CLOCK_STEP_KHZ;
        assert!(measured.abs_diff(wanted) <= 2 * step, "{measured} kHz, not {wanted}");
    }
    rig.run_mac_clock(false);
    rig.cycles(2 * 250_000);
    assert_eq!(rig.read(clocks + 4 * w::CLOCK_MAC), (OKAY, 0));
    assert_eq!(rig.write(clocks, 1), SLAVE_ERROR);
}

#[test]
fn clocks_are_measured_standing_one_is_seen() {
    measure_timeout(None);
}

/// Starts an access of a device; the status when it has ended, and how many cycles it took.
fn i2c(rig: &mut Rig, command: u32) -> (u32, u32) {
    let block = offset(BlockKind::I2c);
    assert_eq!(rig.write(block + 4 * w::I2C_COMMAND, command), OKAY);
    for turn in 0..5_000 {
        let (response, status) = rig.read(block + 4 * w::I2C_STATUS);
        assert_eq!(response, OKAY);
        if status & 1 == 0 {
            return (status, turn);
        }
        rig.cycles(1_000);
    }
    panic!("the access does not end");
}

fn command(device: u8, reads: bool, place: u8, data: u8) -> u32 {
    u32::from(device)
        | u32::from(reads) << w::I2C_READ.offset
        | u32::from(place) << w::I2C_PLACE.offset
        | u32::from(data) << w::I2C_DATA.offset
}

fn module(fault: Fault) {
    let mut rig = Rig::new(1, 1, seed(), fault);
    rig.bus.device = 0x50;
    rig.bus.bytes = BTreeMap::from([(3, 0xa5), (200, 0x01)]);
    rig.cycles(10);
    for stretch in [0, 1_500] {
        rig.bus.stretch = stretch;
        assert_eq!(i2c(&mut rig, command(0x50, true, 3, 0)).0, 0xa5 << 8);
        assert_eq!(i2c(&mut rig, command(0x50, true, 200, 0)).0, 0x01 << 8);
        assert_eq!(i2c(&mut rig, command(0x50, false, 7, 0x3c)).0 & 0xff, 0);
        assert_eq!(rig.bus.bytes.get(&7), Some(&0x3c));
        assert_eq!(rig.bus.taken, [0xa0, 7, 0x3c]);
        rig.bus.bytes.remove(&7);
    }
    rig.bus.stretch = 0;
    let (starts, stops) = (rig.bus.starts, rig.bus.stops);
    assert_eq!((starts, stops), (2 * (2 + 2 + 1), 6), "a read has two starts");
    // Nobody at the address of a multiplexer: the stop follows at once.
    let short = 1 << w::I2C_SHORT.offset;
    let status = i2c(&mut rig, command(0x74, false, 2, 0) | short).0 & 0xff;
    assert_eq!(status, 0b010, "a multiplexer that is not there");
    assert_eq!(rig.bus.stops, stops + 1);
    assert_eq!(rig.bus.taken, [0xe8]);
    rig.bus.device = 0x74;
    assert_eq!(i2c(&mut rig, command(0x74, false, 2, 0) | short).0 & 0xff, 0);
    assert_eq!(rig.bus.taken, [0xe8, 2]);
    // Every other address is refused, and the lines stay as they are.
    let starts = rig.bus.starts;
    for device in (0..=0x7f).filter(|device| !w::I2C_ALLOWED.contains(device)) {
        let status = i2c(&mut rig, command(device, true, 0, 0)).0 & 0xff;
        assert_eq!(status, 0b100, "refused addresses");
    }
    assert_eq!(rig.bus.starts, starts);
    // A bus that is held low for ever ends with an error, after 1 ms at the first bit.
    rig.bus.stretch = u32::MAX;
    assert_eq!(i2c(&mut rig, command(0x74, false, 2, 0) | short).0 & 0b11, 0b10);
}

#[test]
fn only_addressed_module_is_accessed() {
    module(None);
}

/// What a test does with a fault, what the test then says, and the fault.
pub const FAULTS: [Planted; 7] = [
    (
        addresses,
        ": write 0x",
        ("assign is_whole = bus_wstrb == all_bytes;", "assign is_whole = 1'd1;"),
    ),
    (addresses, "0x", ("none_response <= no_block;", "none_response <= refused;")),
    (silence, "the write that was refused", ("access_valid & (~owed)", "access_valid")),
    (measure_timeout, " kHz, not ", ("{14'd0, found} << 3", "{14'd0, found} << 2")),
    (
        expect_port_freed,
        "bus_arready",
        ("if (reset) begin\n            busy", "if (1'd0) begin\n            busy"),
    ),
    (
        module,
        "refused addresses",
        ("(device == qsfp_module) | (device[6:3] == multiplexers)", "1'd1"),
    ),
    (module, "a multiplexer that is not there", ("(is_byte & line_sampled)", "(is_byte & 1'd0)")),
];

/// In rust-hdl: a window of a golden image.
#[test]
fn block_missing_in_image_is_unreached() {
    let mut dut = WindowDecoder::new(w::golden_directory());
    dut.connect_all();
    check_all(&dut).expect("checks");
    for block in &BLOCKS {
        let has_it = w::GOLDEN_BLOCKS.contains(&block.kind);
        for valid in [true, false] {
            dut.clock.next = Clock { clk: false };
            dut.access.valid.next = valid;
            dut.access.payload.next =
                WindowAccess { address: block.offset.to_bits(), ..WindowAccess::default() };
            assert!(simulate(&mut dut, 20));
            let reached = [
                dut.to_identity.val(),
                dut.to_gpio.val(),
                dut.to_clocks.val(),
                dut.to_monitor.val(),
                dut.to_i2c.val(),
                dut.to_mac.val(),
                dut.to_flash.val(),
                dut.to_port.val(),
            ];
            let count = reached.iter().filter(|it| **it).count();
            assert_eq!(count, usize::from(valid && has_it), "{:?}", block.kind);
            dut.clock.next = Clock { clk: true };
            assert!(simulate(&mut dut, 20));
            assert_eq!(dut.reply.valid.val(), valid && !has_it, "{:?}", block.kind);
            let response = dut.reply.payload.val().response.to_u32();
            assert!(!dut.reply.valid.val() || u64::from(response) == SLAVE_ERROR);
        }
    }
}

#[test]
fn planted_window_faults_are_found() {
    silence(Some(NO_FAULT));
    for (scenario, words, fault) in FAULTS {
        caught_by(words, fault.1, || scenario(Some(fault)));
    }
}
