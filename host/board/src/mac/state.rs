//! What the MAC's link is doing, and the first thing that stands in its way.

use std::fmt;

use abi::registers as r;
use abi::window::{
    BlockKind, CLOCK_MAC, CLOCK_STEP_KHZ, GPIO_IN, GPIO_IN_MODPRSL, GPIO_IN_WIRED, GPIO_OUT,
    GPIO_OUT_LPMODE, GPIO_OUT_RESETL,
};

use super::registers as mac;
use crate::window::{field, find, read_word, Place, Window, WindowError};

/// The MAC's clock: 322.265625 MHz.
pub const MAC_CLOCK_KHZ: u32 = 322_266;
/// How far it may be away: 100 parts in a million (IEEE 802.3, 95.5), of either clock that is
/// compared, and what the counter resolves.
const MAC_CLOCK_SLACK_KHZ: u32 = 2 * MAC_CLOCK_KHZ / 10_000 + CLOCK_STEP_KHZ;

/// The MAC, its clock and its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacState {
    /// The clock, kHz; 0: it stands.
    pub clock_khz: u32,
    /// A module is in the cage; `None`: the board does not say.
    pub has_module: Option<bool>,
    /// The module is in reset or low power.
    pub module_sleeps: bool,
    /// Version of the core: major, minor.
    pub core: (u32, u32),
    /// A reset of the core is held.
    pub is_reset: bool,
    /// Frames are received.
    pub rx_enabled: bool,
    /// Frames are sent.
    pub tx_enabled: bool,
    /// The other end is told that nothing is heard here.
    pub sends_fault: bool,
    /// What is sent is received.
    pub loops: bool,
    /// RS-FEC is switched on, of both sides.
    pub has_fec: bool,
    /// Its four lanes are aligned.
    pub fec_aligned: bool,
    /// Lanes of 20 that have found blocks.
    pub locked_lanes: u32,
    /// All lanes are aligned.
    pub is_aligned: bool,
    /// Too many errors.
    pub high_ber: bool,
    /// Nothing is heard here.
    pub local_fault: bool,
    /// The other end hears nothing.
    pub remote_fault: bool,
    /// Pauses are sent and heard.
    pub has_pause: bool,
    /// Codewords that were corrected since the last look.
    pub corrected: u64,
    /// Codewords that were not.
    pub uncorrected: u64,
    /// Frames with a wrong check sequence.
    pub bad_fcs: u64,
    /// The card takes frames from the MAC, and gives it some.
    pub card_up: bool,
}

/// What stands in the way of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The MAC's clock stands or is another one.
    Clock {
        /// What was measured, kHz.
        khz: u32,
    },
    /// No module.
    NoModule,
    /// The module is kept in reset or low power.
    ModuleSleeps,
    /// Nobody has switched it on.
    Off,
    /// A reset is held.
    Reset,
    /// Nothing is heard.
    NoSignal,
    /// The other end is heard with the other setting of RS-FEC.
    FecMismatch {
        /// The setting here.
        here: bool,
    },
    /// Some lanes are heard, and no order is found in them.
    NotAligned {
        /// Lanes of 20 that have found blocks.
        lanes: u32,
    },
    /// Too many errors.
    HighBer,
    /// The other end does not hear this one.
    RemoteFault,
    /// The MAC is up, and the card does not take it so.
    Card,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock { khz: 0 } => f.write_str("no clock: the MAC's clock stands"),
            Self::Clock { khz } => {
                write!(f, "wrong clock: {khz} kHz, and not {MAC_CLOCK_KHZ}")
            }
            Self::NoModule => f.write_str("no module in the cage"),
            Self::ModuleSleeps => f.write_str("the module is in reset or low power"),
            Self::Off => f.write_str("it is switched off"),
            Self::Reset => f.write_str("a reset of the MAC is held"),
            Self::NoSignal => f.write_str("no signal: no lane finds a block"),
            Self::FecMismatch { here: true } => {
                f.write_str("FEC mismatch: the other end is heard without RS-FEC")
            }
            Self::FecMismatch { here: false } => {
                f.write_str("FEC mismatch: the other end is heard with RS-FEC")
            }
            Self::NotAligned { lanes } => write!(f, "not aligned: {lanes} of 20 lanes find blocks"),
            Self::HighBer => f.write_str("too many errors on the wire"),
            Self::RemoteFault => f.write_str("remote fault: the other end does not hear this one"),
            Self::Card => f.write_str("the MAC is up, and the card does not see it"),
        }
    }
}

impl Obstacle {
    /// What to do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Clock { .. } => {
                "the reference clock of the transceivers: the board's oscillator is off or set to \
                 another frequency; power the board off and on"
            }
            Self::NoModule => "push module or cable in until it clicks",
            Self::ModuleSleeps => "`device link up` wakes it",
            Self::Off | Self::Reset => "`device link up`",
            Self::NoSignal => {
                "cable, module, and whether the other end is switched on, at 100 Gb/s"
            }
            Self::FecMismatch { here: true } => "`device link up --fec none`, or RS-FEC over there",
            Self::FecMismatch { here: false } => "`device link up --fec rs`, or none over there",
            Self::NotAligned { .. } => "one lane's fibre or contact; try another cable",
            Self::HighBer => "clean the fibre's ends, try another cable; RS-FEC on both ends",
            Self::RemoteFault => {
                "the way from here to there: its cable, its module, and the other end's FEC"
            }
            Self::Card => "`device reset`; if it stays, the image is broken",
        }
    }
}

impl MacState {
    /// The first thing that stands in the way; `None`: frames come and go.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let is_off_clock = self.clock_khz.abs_diff(MAC_CLOCK_KHZ) > MAC_CLOCK_SLACK_KHZ;
        let has_wire = !self.loops;
        let obstacles = [
            (is_off_clock, Obstacle::Clock { khz: self.clock_khz }),
            (has_wire && self.has_module == Some(false), Obstacle::NoModule),
            (has_wire && self.module_sleeps, Obstacle::ModuleSleeps),
            (self.is_reset, Obstacle::Reset),
            (!self.rx_enabled, Obstacle::Off),
            (!self.is_aligned && self.locked_lanes == 0, Obstacle::NoSignal),
            (!self.is_aligned, Obstacle::NotAligned { lanes: self.locked_lanes }),
            (self.high_ber, Obstacle::HighBer),
            (self.remote_fault, Obstacle::RemoteFault),
            (!self.tx_enabled || self.sends_fault, Obstacle::Off),
            (!self.card_up, Obstacle::Card),
        ];
        obstacles.iter().find(|(holds, _)| *holds).map(|(_, obstacle)| *obstacle)
    }
}

/// Reads a register whose bits are kept until they are read: the present.
pub fn read_present(window: &mut impl Window, place: Place, word: u32) -> Result<u32, WindowError> {
    read_word(window, place, word)?;
    read_word(window, place, word)
}

fn read_pair(window: &mut impl Window, place: Place, word: u32) -> Result<u64, WindowError> {
    let low = read_word(window, place, word)?;
    let high = read_word(window, place, word + 1)?;
    Ok(u64::from(high) << 32 | u64::from(low))
}

/// Looks at the MAC. Its statistics begin anew.
pub fn mac_state(window: &mut impl Window) -> Result<MacState, WindowError> {
    let place = find(window, BlockKind::Mac)?;
    let clocks = find(window, BlockKind::Clocks)?;
    let pins = find(window, BlockKind::Gpio)?;
    let clock_khz = read_word(window, clocks, CLOCK_MAC)?;
    let pins_in = read_word(window, pins, GPIO_IN)?;
    let pins_out = read_word(window, pins, GPIO_OUT)?;
    let is_wired = field(pins_in, GPIO_IN_WIRED) == 1;
    let sleeps = field(pins_out, GPIO_OUT_RESETL) == 0 || field(pins_out, GPIO_OUT_LPMODE) == 1;
    crate::window::write(window, place, mac::TICK, 1)?;
    let version = read_word(window, place, mac::CORE_VERSION)?;
    let mut get = |word| read_word(window, place, word);
    let (tx, rx, fec) =
        (get(mac::TX_CONFIGURATION)?, get(mac::RX_CONFIGURATION)?, get(mac::FEC_ENABLE)?);
    let (reset, loops) = (get(mac::RESET)?, get(mac::GT_LOOPBACK)?);
    let pauses = (get(mac::TX_FLOW_CONTROL)?, get(mac::RX_FLOW_CONTROL)?);
    let status = read_present(window, place, mac::RX_STATUS)?;
    let lanes = read_present(window, place, mac::RX_BLOCK_LOCK)? & mac::RX_LANES;
    let fec_status = read_present(window, place, mac::FEC_STATUS)?;
    Ok(MacState {
        clock_khz,
        has_module: is_wired.then(|| field(pins_in, GPIO_IN_MODPRSL) == 0),
        module_sleeps: is_wired && sleeps,
        core: (version >> 8 & 0xff, version & 0xff),
        is_reset: reset & (mac::RESET_RX | mac::RESET_TX) != 0,
        rx_enabled: rx & mac::RX_ENABLE != 0,
        tx_enabled: tx & mac::TX_ENABLE != 0,
        sends_fault: tx & mac::TX_SEND_REMOTE_FAULT != 0,
        loops: loops & mac::LOOPBACK_NEAR != 0,
        has_fec: fec & (mac::FEC_RX | mac::FEC_TX) == mac::FEC_RX | mac::FEC_TX,
        fec_aligned: fec_status & mac::FEC_ALIGNED != 0,
        locked_lanes: lanes.count_ones(),
        is_aligned: status & mac::RX_ALIGNED != 0,
        high_ber: status & mac::RX_HIGH_BER != 0,
        local_fault: status & (mac::RX_LOCAL_FAULT | mac::RX_INTERNAL_LOCAL_FAULT) != 0,
        remote_fault: status & mac::RX_REMOTE_FAULT != 0,
        has_pause: pauses.0 & pauses.1 & mac::PAUSE_GLOBAL != 0,
        corrected: read_pair(window, place, mac::FEC_CORRECTED)?,
        uncorrected: read_pair(window, place, mac::FEC_UNCORRECTED)?,
        bad_fcs: read_pair(window, place, mac::RX_BAD_FCS)?,
        card_up: crate::window::read_known(window, r::STATUS)? & r::STATUS_WIRE_UP != 0,
    })
}
