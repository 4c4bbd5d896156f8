//! A device of several dies on a JTAG cable: its TAP, its configuration, and the flash behind it.
//!
//! ```text
//!   TMS ─► state ─┬─ IR: IDCODE, BYPASS, JPROGRAM, CFG_IN, JSTART, USER1, USER2
//!   TDI ─► shift ─┴─ DR ─► configuration data ─► design: none, a bridge, something else
//!                      └─► USER1, USER2 ─► bridge ─► flash chip 0, 1
//! ```
//! What was loaded last is a bridge if it is not what [`JtagDevice::expect_image`] has named: a
//! bridge passes each bit of the data register on to its chip, one clock later back.
//!
//! Invariants:
//! 1. The last of five clocks with TMS high is in Test-Logic-Reset, from any state.
//! 2. Without a bridge no clock reaches a chip.
//!
//! Source: IEEE 1149.1; UG570 chapter 6; the instructions of the VU9P's BSDL file, as the programs
//! for it use them.

mod state;

use crate::flash_chip::FlashChip;
use state::State;

/// Bits of the instruction register: 6 for each of three dies.
const IR_BITS: u32 = 18;
/// Answer of one device register: 32 bits.
const IDCODE_BITS: u32 = 32;
/// The six bits of each of three dies.
const ALL_DIES: u32 = 1 | 1 << 6 | 1 << 12;
/// Captured instruction of each die: bit 0 is set, bit 4 shows INIT_B, bit 5 DONE.
const CAPTURE_DIES: u32 = ALL_DIES;
const CAPTURE_INIT: u32 = 0b01_0000 * ALL_DIES;
const CAPTURE_DONE: u32 = 0b10_0000 * ALL_DIES;
/// Captures until the configuration is cleared.
const CLEARING_CAPTURES: u32 = 3;

const USER1: u32 = 0x0_2924;
const USER2: u32 = 0x0_3924;
const CFG_IN: u32 = 0x0_5924;
const IDCODE: u32 = 0x0_9249;
const JPROGRAM: u32 = 0x0_b2cb;
const JSTART: u32 = 0x0_c30c;

/// The device on the cable.
#[derive(Clone, Debug)]
pub struct JtagDevice {
    idcode: u32,
    chips: Vec<FlashChip>,
    state: State,
    instruction: u32,
    shift: u64,
    /// Bits of the register between TDI and TDO.
    shift_bits: u32,
    clearing: u32,
    loading: Vec<u8>,
    loading_bits: u64,
    loaded: Vec<u8>,
    started: bool,
    image: Option<Vec<u8>>,
    /// What the bridge sends back with the next clock.
    returned: bool,
}

impl JtagDevice {
    /// A device that says `idcode`, with the chips of its flash.
    pub fn new(idcode: u32, chips: Vec<FlashChip>) -> Self {
        Self {
            idcode,
            chips,
            state: State::Reset,
            instruction: IDCODE,
            shift: 0,
            shift_bits: 1,
            clearing: 0,
            loading: Vec::new(),
            loading_bits: 0,
            loaded: Vec::new(),
            started: false,
            image: None,
            returned: false,
        }
    }

    /// These configuration data are no bridge.
    pub fn expect_image(&mut self, data: &[u8]) {
        self.image = Some(data.to_vec());
    }

    /// The chips of its flash.
    pub fn chips(&self) -> &[FlashChip] {
        &self.chips
    }

    /// The chips of its flash.
    pub fn chips_mut(&mut self) -> &mut [FlashChip] {
        &mut self.chips
    }

    /// The configuration data that run.
    pub fn loaded_image(&self) -> Option<&[u8]> {
        self.started.then_some(&self.loaded)
    }

    /// One clock: TMS and TDI at its rising edge; what TDO was then.
    pub fn clock(&mut self, tms: bool, tdi: bool) -> bool {
        let tdo = match self.state {
            State::ShiftIr => self.shift & 1 == 1,
            State::ShiftDr => self.data_out(),
            _ => true,
        };
        match self.state {
            State::Reset => self.instruction = IDCODE,
            State::CaptureIr => self.capture_instruction(),
            State::CaptureDr => self.capture_data(),
            State::ShiftIr => self.shift_in(tdi),
            State::ShiftDr => self.data_in(tdi),
            State::UpdateIr => self.update_instruction(),
            _ => {}
        }
        self.state = self.state.next(tms);
        if self.state != State::ShiftDr && self.state != State::CaptureDr {
            self.release();
        }
        tdo
    }

    fn shift_in(&mut self, tdi: bool) {
        self.shift = self.shift >> 1 | u64::from(tdi) << (self.shift_bits - 1);
    }

    fn capture_instruction(&mut self) {
        self.clearing = self.clearing.saturating_sub(1);
        let init = if self.clearing == 0 { CAPTURE_INIT } else { 0 };
        let done = if self.started { CAPTURE_DONE } else { 0 };
        self.shift = u64::from(CAPTURE_DIES | init | done);
        self.shift_bits = IR_BITS;
    }

    fn update_instruction(&mut self) {
        self.instruction = self.shift as u32;
        match self.instruction {
            JPROGRAM => {
                self.clearing = CLEARING_CAPTURES;
                self.started = false;
                self.loading.clear();
                self.loading_bits = 0;
            }
            JSTART if !self.loading.is_empty() => {
                // Programs may leave the register by a clock in which it still shifts.
                self.loading.truncate((self.loading_bits / 8) as usize);
                self.loaded = std::mem::take(&mut self.loading);
                self.started = true;
            }
            _ => {}
        }
    }

    fn capture_data(&mut self) {
        (self.shift, self.shift_bits) = match self.instruction {
            IDCODE => (u64::from(self.idcode), IDCODE_BITS),
            _ => (0, 1),
        };
        self.returned = false;
    }

    /// The chip that a bridge has between TDI and TDO.
    fn bridged_chip(&mut self) -> Option<&mut FlashChip> {
        let place = match self.instruction {
            USER1 => 0,
            USER2 => 1,
            _ => return None,
        };
        let is_bridge = self.started && self.image.as_ref() != Some(&self.loaded);
        self.chips.get_mut(place).filter(|_| is_bridge)
    }

    fn data_out(&self) -> bool {
        match self.instruction {
            USER1 | USER2 => self.returned,
            _ => self.shift & 1 == 1,
        }
    }

    fn data_in(&mut self, tdi: bool) {
        match self.instruction {
            USER1 | USER2 => {
                if let Some(chip) = self.bridged_chip() {
                    chip.select(true);
                    self.returned = chip.clock(tdi);
                }
            }
            CFG_IN => {
                // The highest bit of each byte comes first.
                if self.loading_bits.is_multiple_of(8) {
                    self.loading.push(0);
                }
                if let Some(last) = self.loading.last_mut() {
                    *last = *last << 1 | u8::from(tdi);
                }
                self.loading_bits += 1;
            }
            _ => self.shift_in(tdi),
        }
    }

    /// The data register is left: the chips are let go.
    fn release(&mut self) {
        for chip in &mut self.chips {
            chip.select(false);
        }
    }
}

#[cfg(test)]
mod tests;
