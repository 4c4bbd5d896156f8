//! An I2C bus with a device that keeps bytes, bit by bit.
//!
//! ```text
//!   scl_low, sda_low of the window ─┬─► lines ──► scl, sda
//!   device: acknowledges, gives bits┘
//! ```
//! Invariants:
//! 1. Only a change of SDA while SCL is high is a start or a stop.

use std::collections::BTreeMap;

use verilate::verilated::Model;

/// What the device does with the bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Waits for a start.
    #[default]
    Idle,
    /// Takes a byte.
    Take,
    /// Gives a byte.
    Give,
}

/// A bus with one device.
#[derive(Default)]
pub struct Bus {
    /// Address of the device.
    pub device: u8,
    /// Its bytes.
    pub bytes: BTreeMap<u8, u8>,
    /// Bytes that it has taken since the last start, its address among them.
    pub taken: Vec<u8>,
    /// Starts seen.
    pub starts: u32,
    /// Stops seen.
    pub stops: u32,
    /// Cycles for which the device holds SCL low after each bit.
    pub stretch: u32,
    held: u32,
    place: u8,
    state: State,
    /// Rises of SCL since the byte began.
    rises: u32,
    byte: u8,
    low: bool,
    last: (bool, bool),
}

impl Bus {
    /// Moves on by a cycle and drives the lines.
    pub fn drive(&mut self, model: &mut Model) {
        let low = |name: &str| model.get(model.port(name)) == 1;
        self.held = self.held.saturating_sub(1);
        let scl = !(low("pins_scl_low") || self.held > 0);
        let sda = !(low("pins_sda_low") || self.low);
        let (last_scl, last_sda) = self.last;
        if scl && last_scl && sda != last_sda {
            self.turn(sda);
        } else if scl && !last_scl {
            self.rise(sda);
        } else if !scl && last_scl {
            self.fall();
        }
        self.last = (scl, sda);
        for (name, level) in [("pins_scl", scl), ("pins_sda", sda)] {
            let port = model.port(name);
            model.set(port, u64::from(level));
        }
    }

    /// A start or a stop.
    fn turn(&mut self, sda: bool) {
        if sda {
            self.stops += 1;
            self.state = State::Idle;
            return;
        }
        self.starts += 1;
        (self.state, self.rises, self.byte) = (State::Take, 0, 0);
        self.taken.clear();
    }

    fn rise(&mut self, sda: bool) {
        self.rises += 1;
        match self.state {
            State::Take if self.rises <= 8 => self.byte = self.byte << 1 | u8::from(sda),
            // The other end wants no more.
            State::Give if self.rises == 9 && sda => self.state = State::Idle,
            _ => {}
        }
    }

    fn fall(&mut self) {
        self.low = false;
        match self.state {
            State::Idle => return,
            State::Take if self.rises == 8 => self.low = self.accepts(),
            State::Take if self.rises == 9 => {
                let reads = self.taken.len() == 1 && self.taken[0] & 1 == 1;
                (self.rises, self.byte) = (0, 0);
                if reads {
                    self.state = State::Give;
                    self.give();
                }
            }
            State::Give if self.rises == 9 => {
                self.rises = 0;
                self.give();
            }
            State::Give if self.rises < 8 => self.low = self.byte >> (7 - self.rises) & 1 == 0,
            _ => {}
        }
        self.held = self.stretch;
    }

    /// Takes a whole byte; whether it is acknowledged.
    fn accepts(&mut self) -> bool {
        self.taken.push(self.byte);
        match self.taken.len() {
            1 if self.byte >> 1 != self.device => {
                self.state = State::Idle;
                return false;
            }
            1 => {}
            2 => self.place = self.byte,
            _ => {
                self.bytes.insert(self.place, self.byte);
                self.place = self.place.wrapping_add(1);
            }
        }
        true
    }

    /// Begins to give the byte at the place.
    fn give(&mut self) {
        self.byte = self.bytes.get(&self.place).copied().unwrap_or(0xff);
        self.place = self.place.wrapping_add(1);
        self.low = self.byte >> 7 & 1 == 0;
    }
}
