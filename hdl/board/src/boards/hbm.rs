//! Alveo boards with memory in the package: U280, U55C, U55N (C1100). The card is at connector
//! QSFP0; a satellite controller owns the pins beside its lanes.
//!
//! Source: public designs for the boards. `litex-boards` has the U280 and says the same but for
//! D32 and the IO standard of the free clock.

use crate::boards::vcu1525::ALVEO_USER_OFFSET_BYTES;
use crate::description::Standard::{Lvcmos18, Lvds};
use crate::description::{Board, Device, Flash, MacSite, Pad, PadKind, PcieKind, PcieSite, Source};

const PCIE: PcieSite = PcieSite {
    kind: PcieKind::Pcie4c,
    site: "X1Y0",
    site_source: "AMD's board files `au280` 1.0 and 1.1 (production), `block_location`",
    first_quad: 224,
    clock_quad: 225,
    die: 0,
    region: "CLOCKREGION_X6Y0:CLOCKREGION_X7Y3",
    source: Source::One,
};

const FLASH: Flash = Flash {
    chip: "mt25qu01g-spi-x1_x2_x4",
    width_bits: 4,
    size_bytes: 128 << 20,
    user_offset_bytes: ALVEO_USER_OFFSET_BYTES,
    golden_offset_bytes: 0,
    rate_mhz: Some("85.0"),
    voltage: "1.8",
    pull_unused_up: true,
};

/// The pads at the slot; `reset` is the pin of PERST#.
const fn slot(reset: &'static [&'static str], source: Source) -> [Pad; 5] {
    [
        Pad {
            port: "pcie_refclk_p",
            pins: &["AR15"],
            kind: PadKind::ReferenceClock(10_000),
            source,
        },
        Pad { port: "pcie_refclk_n", pins: &["AR14"], kind: PadKind::ReferenceClockN, source },
        Pad { port: "pcie_reset_n", pins: reset, kind: PadKind::Input(Lvcmos18), source },
        Pad {
            port: "pcie_rx_p",
            pins: &[
                "AL2", "AM4", "AN6", "AN2", "AP4", "AR2", "AT4", "AU2", "AV4", "AW6", "AW2", "AY4",
                "BA6", "BA2", "BB4", "BC2",
            ],
            kind: PadKind::Transceiver,
            source,
        },
        Pad {
            port: "pcie_tx_p",
            pins: &[
                "AL11", "AM9", "AN11", "AP9", "AR11", "AR7", "AT9", "AU11", "AU7", "AV9", "AW11",
                "AY9", "BA11", "BB9", "BC11", "BC7",
            ],
            kind: PadKind::Transceiver,
            source,
        },
    ]
}

const U280_SLOT: [Pad; 5] = slot(&["BH26"], Source::Two);
const U55_SLOT: [Pad; 5] = slot(&["BF41"], Source::One);

const U280_PADS: &[Pad] = &[
    U280_SLOT[0],
    U280_SLOT[1],
    U280_SLOT[2],
    U280_SLOT[3],
    U280_SLOT[4],
    Pad {
        port: "qsfp_refclk_p",
        pins: &["T42"],
        kind: PadKind::ReferenceClock(6_400),
        source: Source::Two,
    },
    Pad {
        port: "qsfp_refclk_n",
        pins: &["T43"],
        kind: PadKind::ReferenceClockN,
        source: Source::Two,
    },
    Pad {
        port: "qsfp_rx_p",
        pins: &["L53", "K51", "J53", "H51"],
        kind: PadKind::Transceiver,
        source: Source::Two,
    },
    Pad {
        port: "qsfp_tx_p",
        pins: &["L48", "L44", "K46", "J48"],
        kind: PadKind::Transceiver,
        source: Source::Two,
    },
    Pad {
        port: "free_clock_p",
        pins: &["BJ43"],
        kind: PadKind::Clock(Lvds, 10_000),
        source: Source::Disputed,
    },
    Pad {
        port: "free_clock_n",
        pins: &["BJ44"],
        kind: PadKind::ClockN(Lvds),
        source: Source::Disputed,
    },
    Pad {
        port: "hbm_cattrip",
        pins: &["D32"],
        kind: PadKind::Output(Lvcmos18, 8),
        source: Source::Disputed,
    },
];

const U55_PADS: &[Pad] = &[
    U55_SLOT[0],
    U55_SLOT[1],
    U55_SLOT[2],
    U55_SLOT[3],
    U55_SLOT[4],
    Pad {
        port: "qsfp_refclk_p",
        pins: &["AD42"],
        kind: PadKind::ReferenceClock(6_206),
        source: Source::One,
    },
    Pad {
        port: "qsfp_refclk_n",
        pins: &["AD43"],
        kind: PadKind::ReferenceClockN,
        source: Source::One,
    },
    Pad {
        port: "qsfp_rx_p",
        pins: &["AD51", "AC53", "AC49", "AB51"],
        kind: PadKind::Transceiver,
        source: Source::One,
    },
    Pad {
        port: "qsfp_tx_p",
        pins: &["AD46", "AC44", "AB46", "AA48"],
        kind: PadKind::Transceiver,
        source: Source::One,
    },
    Pad {
        port: "free_clock_p",
        pins: &["BK43"],
        kind: PadKind::Clock(Lvds, 10_000),
        source: Source::One,
    },
    Pad { port: "free_clock_n", pins: &["BK44"], kind: PadKind::ClockN(Lvds), source: Source::One },
    Pad {
        port: "hbm_cattrip",
        pins: &["BE45"],
        kind: PadKind::Output(Lvcmos18, 8),
        source: Source::One,
    },
    Pad {
        port: "led",
        pins: &["BL13", "BK11", "BJ11", "BK14", "BK15", "BL12"],
        kind: PadKind::Output(Lvcmos18, 8),
        source: Source::One,
    },
];

/// Alveo U280.
pub(super) const U280: Board = Board {
    name: "u280",
    aliases: &[],
    title: "AMD Alveo U280",
    number: 5,
    part: "xcu280-fsvh2892-2L-e",
    device: Device { idcode: 0x04b7_d093, dies: 3, die_urams: 320 },
    pcie: PCIE,
    mac: MacSite {
        site: "X0Y6",
        transceivers: "X0Y40~X0Y43",
        clock_khz: 156_250,
        clock_mhz: "156.25",
        connector: "QSFP0",
        die: 2,
        region: "CLOCKREGION_X0Y8:CLOCKREGION_X0Y11",
        source: Source::One,
    },
    pads: U280_PADS,
    flash: FLASH,
    licence: "Vivado Standard (free)",
    jtag: "on board",
    notes: &[
        "D32: public designs drive it low as CATTRIP, litex-boards calls it an LED. High, the \
         satellite controller takes the power away",
        "The 100 MHz clock at BJ43/BJ44: public designs take LVDS, litex-boards DIFF_SSTL12",
        "Two die borders lie between PCIe (die 0) and MAC (die 2): what crosses between their \
         clocks is placed in die 1, so that each net crosses one of them",
        "The reference clock of QSFP0 (T42/T43, Si570) needs no switch; the other one (R40/R41, \
         161.13 MHz) is not used",
    ],
};

/// Alveo U55C.
pub(super) const U55C: Board = Board {
    name: "u55c",
    aliases: &[],
    title: "AMD Alveo U55C",
    number: 6,
    part: "xcu55c-fsvh2892-2L-e",
    device: U280.device,
    pcie: PcieSite {
        site: "X1Y1",
        site_source: "AMD's board file `au55c` in OpenNIC, `block_location`",
        ..PCIE
    },
    mac: MacSite {
        site: "X0Y3",
        transceivers: "X0Y24~X0Y27",
        clock_khz: 161_132,
        clock_mhz: "161.1328125",
        connector: "QSFP0",
        die: 1,
        region: "CLOCKREGION_X0Y6:CLOCKREGION_X0Y7",
        source: Source::One,
    },
    pads: U55_PADS,
    flash: FLASH,
    licence: "Vivado Standard (free)",
    jtag: "programming cable of the Alveo boards",
    notes: &[
        "CATTRIP (BE45) must be low: high, the satellite controller takes the power away",
        "LED 0 to 2: activity, green and yellow of QSFP0; 3 to 5: those of QSFP1",
        "Transceivers: one public design names X0Y28 for both connectors, another X0Y24 for QSFP0",
    ],
};

/// Alveo U55N, also sold as C1100: the pin plan of the U55C with a smaller device.
pub(super) const U55N: Board = Board {
    name: "u55n",
    aliases: &["c1100"],
    title: "AMD Alveo U55N (C1100)",
    number: 7,
    part: "xcu55n-fsvh2892-2L-e",
    device: Device { idcode: 0x04b7_7093, dies: 2, die_urams: 320 },
    pcie: PcieSite {
        site_source: "AMD's board file `au55n` in OpenNIC, `block_location`",
        ..U55C.pcie
    },
    ..U55C
};
