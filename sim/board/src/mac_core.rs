//! The registers of the MAC's core (PG203), before a wire of which one says what it carries.
//!
//! ```text
//!   write ─► allowed? ─► register ─► taken at once, or at the end of a reset
//!              └─ no: refused, noted, nothing changes
//!   wire, time ─► lanes, alignment, faults ─► status: kept until it is read
//! ```
//! What it refuses: read-only and unknown registers, reserved bits. What it accepts and does not
//! obey: another FEC without a reset of the core, another loopback without one of the transceivers.
//! What a program does against the order of PG203 is noted, for tests: see [`Breach`].
//!
//! Invariants
//! 1. A bit of the status that is kept shows the worst since the last read, then the present.
//! 2. Without the MAC's clock nothing is heard; the registers answer: their clock is another one.

mod status;

use std::time::Duration;

use host_board::mac::registers as mac;

use self::status::Status;

/// How long the receiver takes from a signal to alignment. A board takes less.
pub const ALIGNMENT: Duration = Duration::from_millis(2);
/// Codewords that RS-FEC corrects on a wire with errors, each millisecond.
const CORRECTED_PER_MS: u64 = 3;
/// Words of the block.
const WORDS: usize = 0x4000;
const VERSION: u32 = 3 << 8 | 1;

/// What is at the other end of the wire, and what feeds the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The MAC's clock runs.
    pub clock: bool,
    /// A signal arrives.
    pub signal: bool,
    /// It has RS-FEC.
    pub fec: bool,
    /// The other end hears what is sent here.
    pub is_heard: bool,
    /// Lanes of 20 whose signal arrives.
    pub lanes: u32,
    /// Bits arrive wrong now and then.
    pub errors: bool,
}

impl Wire {
    /// A good wire with RS-FEC at its other end.
    pub const GOOD: Self =
        Self { clock: true, signal: true, fec: true, is_heard: true, lanes: 20, errors: false };
}

/// What a program did that the core does not obey, or against its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// A write of a register that is read only, or is none; its word.
    Refused(u32),
    /// Reserved bits of a word.
    ReservedBits(u32),
    /// Frames are sent before the receiver is aligned.
    SendsUnaligned,
    /// Another FEC while no reset is held.
    FecWithoutReset,
    /// Receive is on with a loopback that the transceivers have not taken.
    LoopbackWithoutReset,
}

/// The core.
#[derive(Clone, Debug)]
pub struct MacCore {
    wire: Wire,
    words: Vec<u32>,
    /// What the core has taken of [`mac::FEC_ENABLE`] and [`mac::GT_LOOPBACK`].
    fec: u32,
    loopback: u32,
    heard_for: Duration,
    status: Status,
    /// Corrected codewords, not yet copied.
    corrected: u64,
    breaches: Vec<Breach>,
}

/// Bits of a register that can be written.
fn writable(word: u32) -> Option<u32> {
    Some(match word {
        mac::GT_RESET => 1,
        mac::RESET => mac::RESET_RX | mac::RESET_TX | 0x3ff | 1 << 28,
        mac::TX_CONFIGURATION => 1 | 7 << 3 | 1 << 16,
        mac::RX_CONFIGURATION => 1 | 3 << 7,
        mac::TX_FLOW_CONTROL => 0x1ff,
        mac::TX_PAUSE_REFRESH | mac::TX_PAUSE_QUANTA => 0xffff,
        mac::RX_FLOW_CONTROL => 0x7fff | 0x1ff << 15,
        mac::RX_FLOW_CHECKS => 0xf_ffff,
        mac::GT_LOOPBACK | mac::TICK => 1,
        mac::FEC_MODE => 7,
        mac::FEC_ENABLE => 3,
        // The other classes' refresh times and quanta.
        _ if (mac::TX_FLOW_CONTROL + 1..mac::TX_PAUSE_QUANTA).contains(&word) => u32::MAX,
        _ => return None,
    })
}

impl MacCore {
    /// The core as it is at power-up, before a wire.
    pub fn new(wire: Wire) -> Self {
        let mut words = vec![0; WORDS];
        words[mac::CORE_VERSION as usize] = VERSION;
        let mut core = Self {
            wire,
            words,
            fec: 0,
            loopback: 0,
            heard_for: Duration::ZERO,
            status: Status::default(),
            corrected: 0,
            breaches: Vec::new(),
        };
        core.update();
        core
    }

    /// Another wire.
    pub fn set_wire(&mut self, wire: Wire) {
        self.wire = wire;
        self.update();
    }

    /// What the program did wrong, in order.
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// Lets time go by.
    pub fn pass(&mut self, time: Duration) {
        if self.hears() {
            self.heard_for = self.heard_for.saturating_add(time).min(ALIGNMENT);
            let is_counting = self.is_aligned() && self.wire.errors && self.fec & mac::FEC_RX != 0;
            let ms = time.as_millis() as u64;
            self.corrected += if is_counting { ms * CORRECTED_PER_MS } else { 0 };
        }
        self.update();
    }

    fn word(&self, word: u32) -> u32 {
        self.words[word as usize]
    }

    fn is_reset(&self, side: u32) -> bool {
        self.word(mac::RESET) & side != 0
    }

    /// The receiver gets what it can make sense of.
    fn hears(&self) -> bool {
        let has_fec = self.fec & mac::FEC_RX != 0;
        let sends_fec = if self.loops() { self.fec & mac::FEC_TX != 0 } else { self.wire.fec };
        let arrives = match self.loops() {
            true => !self.is_reset(mac::RESET_TX),
            false => self.wire.signal && self.wire.lanes > 0,
        };
        self.wire.clock && !self.is_reset(mac::RESET_RX) && arrives && has_fec == sends_fec
    }

    /// A loopback is set that the transceivers have not taken.
    fn waits_for_gt_reset(&self) -> bool {
        self.word(mac::GT_LOOPBACK) != self.loopback
    }

    /// What is sent is received.
    pub fn loops(&self) -> bool {
        self.loopback & mac::LOOPBACK_NEAR != 0
    }

    /// All lanes are aligned.
    pub fn is_aligned(&self) -> bool {
        let is_on = self.word(mac::RX_CONFIGURATION) & mac::RX_ENABLE != 0;
        let has_all = self.loops() || self.wire.lanes == 20;
        is_on && self.hears() && has_all && self.heard_for >= ALIGNMENT
    }

    /// The other end reports that it hears nothing.
    pub fn has_remote_fault(&self) -> bool {
        let configuration = self.word(mac::TX_CONFIGURATION);
        let says = self.loops() && configuration & mac::TX_SEND_REMOTE_FAULT != 0;
        self.is_aligned() && (says || !self.loops() && !self.wire.is_heard)
    }

    /// The MAC's clock runs.
    pub fn has_clock(&self) -> bool {
        self.wire.clock
    }

    /// Frames come and go.
    pub fn is_up(&self) -> bool {
        let configuration = self.word(mac::TX_CONFIGURATION);
        let sends = configuration & (mac::TX_ENABLE | mac::TX_SEND_REMOTE_FAULT) == mac::TX_ENABLE;
        let has_fault = self.has_remote_fault() || self.has_high_ber();
        self.is_aligned() && sends && !self.is_reset(mac::RESET_TX) && !has_fault
    }

    /// So many errors reach the code that it is given up: RS-FEC would have corrected them.
    fn has_high_ber(&self) -> bool {
        let has_fec = self.fec & mac::FEC_RX != 0;
        self.is_aligned() && self.wire.errors && !has_fec && !self.loops()
    }

    /// Reads a word.
    pub fn read(&mut self, word: u32) -> u32 {
        if let Some(value) = self.status.take(word) {
            return value;
        }
        self.words.get(word as usize).copied().unwrap_or(0)
    }

    /// Writes a word.
    pub fn write(&mut self, word: u32, value: u32) {
        let Some(bits) = writable(word) else {
            self.breaches.push(Breach::Refused(word));
            return;
        };
        if value & !bits != 0 {
            self.breaches.push(Breach::ReservedBits(word));
        }
        let value = value & bits;
        let before = std::mem::replace(&mut self.words[word as usize], value);
        self.effect(word, before, value);
        self.update();
    }

    fn effect(&mut self, word: u32, before: u32, value: u32) {
        let resets = mac::RESET_RX | mac::RESET_TX;
        match word {
            mac::GT_RESET => {
                self.loopback = self.word(mac::GT_LOOPBACK);
                self.heard_for = Duration::ZERO;
                self.words[word as usize] = 0;
            }
            mac::RESET => {
                let released = before & !value;
                for (side, fec) in [(mac::RESET_RX, mac::FEC_RX), (mac::RESET_TX, mac::FEC_TX)] {
                    if released & side != 0 {
                        self.fec = self.fec & !fec | self.word(mac::FEC_ENABLE) & fec;
                        self.heard_for = Duration::ZERO;
                    }
                }
            }
            mac::FEC_ENABLE if before != value && self.word(mac::RESET) & resets != resets => {
                self.breaches.push(Breach::FecWithoutReset);
            }
            mac::TX_CONFIGURATION if value & mac::TX_ENABLE != 0 && !self.is_aligned() => {
                self.breaches.push(Breach::SendsUnaligned);
            }
            mac::RX_CONFIGURATION if value & mac::RX_ENABLE != 0 && self.waits_for_gt_reset() => {
                self.breaches.push(Breach::LoopbackWithoutReset);
            }
            mac::TICK => {
                let corrected = std::mem::take(&mut self.corrected);
                self.words[mac::FEC_CORRECTED as usize] = corrected as u32;
                self.words[mac::FEC_CORRECTED as usize + 1] = (corrected >> 32) as u32;
                self.words[word as usize] = 0;
            }
            _ => {}
        }
    }

    /// The status follows wire and registers.
    fn update(&mut self) {
        if !self.hears() {
            self.heard_for = Duration::ZERO;
        }
        let set = |holds: bool, bits: u32| if holds { bits } else { 0 };
        let is_aligned = self.is_aligned();
        let local = mac::RX_LOCAL_FAULT | mac::RX_INTERNAL_LOCAL_FAULT;
        let lanes = if self.loops() { 20 } else { self.wire.lanes.min(20) };
        let locked = (1_u32 << lanes) - 1;
        let has_fec = self.fec & mac::FEC_RX != 0 && self.hears();
        let has_errors = self.has_high_ber();
        self.status.note(
            mac::RX_STATUS,
            set(is_aligned, mac::RX_ALIGNED)
                | set(is_aligned && !has_errors, mac::RX_STATUS_GOOD)
                | set(!is_aligned || has_errors, local)
                | set(has_errors, mac::RX_HIGH_BER)
                | set(self.has_remote_fault(), mac::RX_REMOTE_FAULT),
        );
        self.status.note(mac::TX_STATUS, set(!self.wire.clock, mac::TX_LOCAL_FAULT));
        self.status.note(mac::RX_BLOCK_LOCK, set(self.hears(), locked));
        let is_fec_aligned = has_fec && lanes == 20 && self.heard_for >= ALIGNMENT;
        let fec = set(has_fec, mac::FEC_LANE_LOCKS) | set(is_fec_aligned, mac::FEC_ALIGNED);
        self.status.note(mac::FEC_STATUS, fec);
    }
}
