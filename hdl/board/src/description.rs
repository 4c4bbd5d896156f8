//! What is known of a board: device, hard blocks, pins, clocks, flash, licence, floorplan.
//!
//! ```text
//!   boards/*.rs ──► Board ─┬─► top and its pads      (tops)
//!                          ├─► constraints/BOARD/     (xdc)
//!                          └─► zeronic board, docs/boards
//! ```
//! Everything that depends on the board comes from here.
//!
//! Invariants:
//! 1. A pad has its package pins in the order of its bits.
//! 2. Each fact has a [`Source`]: who else says so.

/// A board that the card is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Name on the command line.
    pub name: &'static str,
    /// Other names on the command line: boards with the same pins and device.
    pub aliases: &'static [&'static str],
    /// Vendor's name of the board.
    pub title: &'static str,
    /// Number in the identity words of the board window; never used again for another board.
    pub number: u32,
    /// Part, package, speed grade and temperature range, as Vivado writes them.
    pub part: &'static str,
    /// The device.
    pub device: Device,
    /// The PCIe block in use.
    pub pcie: PcieSite,
    /// The 100G MAC in use.
    pub mac: MacSite,
    /// Pads, in the order of the ports of the top.
    pub pads: &'static [Pad],
    /// Configuration flash.
    pub flash: Flash,
    /// Vivado edition that the part needs.
    pub licence: &'static str,
    /// How the board is reached by JTAG.
    pub jtag: &'static str,
    /// What must be checked on the first board.
    pub notes: &'static [&'static str],
}

/// A device: dies and what is in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// JTAG IDCODE without the four bits of the revision.
    pub idcode: u32,
    /// Dies (SLRs).
    pub dies: u32,
    /// URAM of each die.
    pub die_urams: u32,
}

/// Kind of a PCIe block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PcieKind {
    /// PCIE40E4: PCIe 3.0 x16.
    Pcie4,
    /// PCIE4CE4: PCIe 3.0 x16 or 4.0 x8.
    Pcie4c,
}

impl PcieKind {
    /// Name of the vendor's core.
    pub fn core(self) -> &'static str {
        match self {
            PcieKind::Pcie4 => "pcie4_uscale_plus",
            PcieKind::Pcie4c => "pcie4c_uscale_plus",
        }
    }

    /// Name of the primitive.
    pub fn primitive(self) -> &'static str {
        match self {
            PcieKind::Pcie4 => "PCIE40E4",
            PcieKind::Pcie4c => "PCIE4CE4",
        }
    }
}

/// A PCIe block and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcieSite {
    /// Which kind.
    pub kind: PcieKind,
    /// Its site, without the primitive's name, as the core's parameter has it: `X1Y2`. The cores
    /// around it (xdma, qdma) and AMD's board files have `PCIE4C_X1Y0` for a PCIE4C.
    pub site: &'static str,
    /// Who says that this site is behind these lanes.
    pub site_source: &'static str,
    /// First of the four quads of its sixteen lanes; lane 0 is in the last one.
    pub first_quad: u32,
    /// Quad of its reference clock.
    pub clock_quad: u32,
    /// Die that it is in.
    pub die: u32,
    /// Clock regions beside it: where what is at its ports is placed.
    pub region: &'static str,
    /// Who else says so.
    pub source: Source,
}

/// A MAC and its transceivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacSite {
    /// Site of the MAC, without the primitive's name: `X0Y7`.
    pub site: &'static str,
    /// Transceivers of its lanes: `X1Y48~X1Y51`.
    pub transceivers: &'static str,
    /// Reference clock, kHz, rounded down.
    pub clock_khz: u32,
    /// Reference clock as the MAC's core names it, MHz.
    pub clock_mhz: &'static str,
    /// Connector, as the board's manual names it.
    pub connector: &'static str,
    /// Die that it is in.
    pub die: u32,
    /// Clock regions beside it: where what runs with the MAC's clock is placed.
    pub region: &'static str,
    /// Who else says so.
    pub source: Source,
}

/// A port of the top and its package pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad {
    /// Port.
    pub port: &'static str,
    /// Package pins, bit 0 first.
    pub pins: &'static [&'static str],
    /// What is at the pins.
    pub kind: PadKind,
    /// Who else says so.
    pub source: Source,
}

/// What is at a pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadKind {
    /// Serial lanes of transceivers: no IO standard.
    Transceiver,
    /// Positive pin of a transceiver's reference clock: no IO standard; period in ps.
    ReferenceClock(u32),
    /// Negative pin of a reference clock.
    ReferenceClockN,
    /// Positive pin of a clock at ordinary pins: IO standard, period in ps.
    Clock(Standard, u32),
    /// Negative pin of such a clock.
    ClockN(Standard),
    /// Input with a pull-up resistor.
    Input(Standard),
    /// Slow output; drive strength in mA.
    Output(Standard, u32),
    /// Open drain, driven low or not at all; drive strength in mA.
    OpenDrain(Standard, u32),
}

/// IO standard of a pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// LVCMOS, 1.2 V.
    Lvcmos12,
    /// LVCMOS, 1.8 V.
    Lvcmos18,
    /// LVDS.
    Lvds,
}

impl Standard {
    /// Vivado's name.
    pub fn name(self) -> &'static str {
        match self {
            Standard::Lvcmos12 => "LVCMOS12",
            Standard::Lvcmos18 => "LVCMOS18",
            Standard::Lvds => "LVDS",
        }
    }
}

impl PadKind {
    /// The IO standard, if the pad has one.
    pub fn standard(self) -> Option<Standard> {
        match self {
            PadKind::Transceiver | PadKind::ReferenceClock(_) | PadKind::ReferenceClockN => None,
            PadKind::Clock(standard, _)
            | PadKind::ClockN(standard)
            | PadKind::Input(standard)
            | PadKind::Output(standard, _)
            | PadKind::OpenDrain(standard, _) => Some(standard),
        }
    }
}

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Two sources that do not copy each other: public designs for the board, and the package
    /// `litex-boards` 2023.12 (`sim/board/tests/boards` compares with the latter).
    Two,
    /// One public design.
    One,
    /// Two sources that differ; the board's notes say how.
    Disputed,
}

impl Source {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Source::Two => "two sources",
            Source::One => "unverified",
            Source::Disputed => "disputed",
        }
    }
}

/// Configuration flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flash {
    /// Chip, as Vivado's programmer names it.
    pub chip: &'static str,
    /// Data lines: 4, or 8 for two chips.
    pub width_bits: u32,
    /// Size in all, bytes.
    pub size_bytes: u32,
    /// Where the user's slot begins, bytes. What is below is never written.
    pub user_offset_bytes: u32,
    /// Where the configuration port finds a golden image that stays, bytes. 0: there is none of
    /// ours; the port then loads what is loaded at power-up, which may go on to the user's slot.
    pub golden_offset_bytes: u32,
    /// Configuration rate, MHz as Vivado writes it; `None`: an external clock drives it.
    pub rate_mhz: Option<&'static str>,
    /// Configuration voltage, V as Vivado writes it.
    pub voltage: &'static str,
    /// Unused pins are pulled up (boards with a satellite controller).
    pub pull_unused_up: bool,
}

/// What the hardware must know of the flash: of each chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashPlan {
    /// Chips, 1 or 2.
    pub chips: u32,
    /// Size of each.
    pub chip_bytes: u32,
    /// Where the user's slot begins in each.
    pub slot_bytes: u32,
    /// Where the golden image begins in each.
    pub golden_bytes: u32,
}

impl Flash {
    /// Chips: each has four data lines.
    pub const fn chips(&self) -> u32 {
        self.width_bits / 4
    }

    /// What the hardware must know.
    pub const fn plan(&self) -> FlashPlan {
        FlashPlan {
            chips: self.chips(),
            chip_bytes: self.size_bytes / self.chips(),
            slot_bytes: self.user_offset_bytes / self.chips(),
            golden_bytes: self.golden_offset_bytes / self.chips(),
        }
    }
}

impl PcieSite {
    /// The quad of lane 0.
    pub fn lane_0_quad(&self) -> u32 {
        self.first_quad + 3
    }
}

impl Board {
    /// The pad of a port.
    pub fn pad(&self, port: &str) -> Option<&'static Pad> {
        self.pads.iter().find(|pad| pad.port == port)
    }

    /// Period of its free clock, ps.
    ///
    /// # Panics
    /// If the description has none: every board has one.
    pub fn free_clock_ps(&self) -> u32 {
        match self.pad("free_clock_p").map(|pad| pad.kind) {
            Some(PadKind::Clock(_, period_ps)) => period_ps,
            other => panic!("{}: the free clock is {other:?}", self.name),
        }
    }

    /// Name of the top module.
    pub fn top(&self) -> String {
        format!("zeronic_{}", self.name)
    }

    /// The die beside that of PCIe in which a list may be.
    pub fn far_die(&self) -> u32 {
        match self.pcie.die {
            0 => 1,
            die => die - 1,
        }
    }

    /// The die between that of PCIe and that of the MAC, if they are not neighbours.
    pub fn die_between(&self) -> Option<u32> {
        let (pcie, mac) = (self.pcie.die, self.mac.die);
        (pcie.abs_diff(mac) > 1).then_some((pcie + mac) / 2)
    }

    /// Name of the top module of its golden image.
    pub fn golden_top(&self) -> String {
        format!("zeronic_golden_{}", self.name)
    }

    /// Whether the golden image is one of ours; otherwise the vendor's factory image is.
    pub fn has_golden(&self) -> bool {
        self.flash.golden_offset_bytes > 0
    }

    /// One line on board, device and ports.
    pub fn summary(&self) -> String {
        format!(
            "{}, {}, PCIe 3.0 x16 ({}), one 100G port ({})",
            self.title,
            self.part,
            self.pcie.kind.primitive(),
            self.mac.connector
        )
    }
}
