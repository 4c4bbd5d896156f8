//! What is at the window's pins for flash and configuration port: two chips, and the device's port.
//!
//! ```text
//!   flash_* of the window ══ FlashChip 0, FlashChip 1
//!   device_* of the window ══ Port: words taken, BOOTSTS given, with the base clock
//! ```

use sim_board::flash_chip::FlashChip;
use verilate::verilated::{Model, PortId};

/// Size of a chip in the tests.
pub const CHIP_BYTES: u32 = 1 << 18;

/// The flash chips.
pub struct Chips {
    /// First and second.
    pub chips: [FlashChip; 2],
    clock: bool,
    ports: [PortId; 4],
}

impl Chips {
    /// Erased chips of so many bytes.
    pub fn new(model: &Model, chip_bytes: u32) -> Chips {
        let names = ["flash_serial_clock", "flash_select", "flash_mosi", "flash_miso"];
        Chips {
            ports: names.map(|name| model.port(name)),
            chips: [0, 1].map(|_| FlashChip::new(chip_bytes)),
            clock: false,
        }
    }

    /// A cycle of the window's clock, 4 ns.
    pub fn drive(&mut self, model: &mut Model) {
        let [clock, select, mosi, miso_port] = self.ports;
        let clock = model.get(clock) == 1;
        let (select, mosi) = (model.get(select), model.get(mosi) == 1);
        let mut miso = model.get(miso_port);
        for (number, chip) in self.chips.iter_mut().enumerate() {
            chip.pass_ns(4);
            chip.select(select >> number & 1 == 1);
            if clock && !self.clock && select >> number & 1 == 1 {
                let level = u64::from(chip.clock(mosi));
                miso = miso & !(1 << number) | level << number;
            }
        }
        self.clock = clock;
        model.set(miso_port, miso);
    }
}

/// The device's configuration port.
pub struct Port {
    /// Words written, in order.
    pub written: Vec<u32>,
    /// What BOOTSTS is.
    pub boot_status: u32,
    /// Direction and selection changed in one clock.
    pub aborted: bool,
    last: (bool, bool),
    clocks_read: u32,
    asked: bool,
    ports: [PortId; 4],
}

impl Port {
    /// A port that has taken nothing.
    pub fn new(model: &Model) -> Port {
        let names = ["device_select", "device_reads", "device_word", "device_read_word"];
        Port {
            written: Vec::new(),
            boot_status: 0,
            aborted: false,
            last: (false, false),
            clocks_read: 0,
            asked: false,
            ports: names.map(|name| model.port(name)),
        }
    }

    /// A cycle of the port's clock.
    pub fn drive(&mut self, model: &mut Model) {
        let [select, reads, word, read_word] = self.ports;
        let (select, reads) = (model.get(select) == 1, model.get(reads) == 1);
        self.aborted |= reads != self.last.1 && (select || self.last.0);
        self.last = (select, reads);
        let mut answer = 0xffff_ffff;
        if select && reads {
            self.clocks_read += 1;
            if self.clocks_read >= 4 && self.asked {
                answer = self.boot_status;
            }
        } else {
            self.clocks_read = 0;
        }
        if select && !reads {
            let word = model.get(word) as u32;
            self.asked = word == 0x2802_c001 || self.asked && word == 0x2000_0000;
            self.written.push(word);
        }
        model.set(read_word, u64::from(answer));
    }
}
