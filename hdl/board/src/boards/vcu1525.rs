//! VCU1525 and the Alveo boards with its pin plan: U200, U250. The card is at connector QSFP0.
//!
//! Source: public designs for the boards, and `litex-boards`. Both say the same but for the IO
//! standard of the 300 MHz clock. `litex-boards` has QSFP and I2C of U200 and U250 only.

use crate::boards::vcu118::VU9P;
use crate::description::Standard::{Lvcmos12, Lvds};
use crate::description::{Board, Device, Flash, MacSite, Pad, PadKind, PcieKind, PcieSite, Source};

/// What the flash of the Alveo boards holds below this is the factory's image.
pub(super) const ALVEO_USER_OFFSET_BYTES: u32 = 0x0100_2000;

const NOTES: &[&str] = &[
    "The 300 MHz clock at AY37/AY38: public designs take LVDS, litex-boards DIFF_SSTL12",
    "The reference clock of QSFP0 (M11/M10, 156.25 MHz) needs no switch; the other one (K11/K10) \
     is 161.13 MHz only with its frequency selection driven, and is not used",
];

const FLASH: Flash = Flash {
    chip: "mt25qu01g-spi-x1_x2_x4",
    width_bits: 4,
    size_bytes: 128 << 20,
    user_offset_bytes: ALVEO_USER_OFFSET_BYTES,
    rate_mhz: Some("63.8"),
    voltage: "1.8",
    pull_unused_up: true,
};

/// The parts that the three boards have in common, given how far QSFP and I2C are confirmed.
const fn pads(qsfp: Source) -> [Pad; 19] {
    [
        Pad {
            port: "pcie_refclk_p",
            pins: &["AM11"],
            kind: PadKind::ReferenceClock(10_000),
            source: Source::Two,
        },
        Pad {
            port: "pcie_refclk_n",
            pins: &["AM10"],
            kind: PadKind::ReferenceClockN,
            source: Source::Two,
        },
        Pad {
            port: "pcie_reset_n",
            pins: &["BD21"],
            kind: PadKind::Input(Lvcmos12),
            source: Source::Two,
        },
        Pad {
            port: "pcie_rx_p",
            pins: &[
                "AF2", "AG4", "AH2", "AJ4", "AK2", "AL4", "AM2", "AN4", "AP2", "AR4", "AT2", "AU4",
                "AV2", "AW4", "BA2", "BC2",
            ],
            kind: PadKind::Transceiver,
            source: Source::Two,
        },
        Pad {
            port: "pcie_tx_p",
            pins: &[
                "AF7", "AG9", "AH7", "AJ9", "AK7", "AL9", "AM7", "AN9", "AP7", "AR9", "AT7", "AU9",
                "AV7", "BB5", "BD5", "BF5",
            ],
            kind: PadKind::Transceiver,
            source: Source::Two,
        },
        Pad {
            port: "qsfp_refclk_p",
            pins: &["M11"],
            kind: PadKind::ReferenceClock(6_400),
            source: qsfp,
        },
        Pad {
            port: "qsfp_refclk_n",
            pins: &["M10"],
            kind: PadKind::ReferenceClockN,
            source: qsfp,
        },
        Pad {
            port: "qsfp_rx_p",
            pins: &["N4", "M2", "L4", "K2"],
            kind: PadKind::Transceiver,
            source: qsfp,
        },
        Pad {
            port: "qsfp_tx_p",
            pins: &["N9", "M7", "L9", "K7"],
            kind: PadKind::Transceiver,
            source: qsfp,
        },
        Pad {
            port: "free_clock_p",
            pins: &["AY37"],
            kind: PadKind::Clock(Lvds, 3_333),
            source: Source::Disputed,
        },
        Pad {
            port: "free_clock_n",
            pins: &["AY38"],
            kind: PadKind::ClockN(Lvds),
            source: Source::Disputed,
        },
        Pad {
            port: "qsfp_modsell",
            pins: &["BE16"],
            kind: PadKind::Output(Lvcmos12, 8),
            source: qsfp,
        },
        Pad {
            port: "qsfp_resetl",
            pins: &["BE17"],
            kind: PadKind::Output(Lvcmos12, 8),
            source: qsfp,
        },
        Pad {
            port: "qsfp_lpmode",
            pins: &["BD18"],
            kind: PadKind::Output(Lvcmos12, 8),
            source: qsfp,
        },
        Pad {
            port: "qsfp_modprsl",
            pins: &["BE20"],
            kind: PadKind::Input(Lvcmos12),
            source: qsfp,
        },
        Pad {
            port: "qsfp_intl",
            pins: &["BE21"],
            kind: PadKind::Input(Lvcmos12),
            source: qsfp,
        },
        Pad {
            port: "i2c_scl",
            pins: &["BF20"],
            kind: PadKind::OpenDrain(Lvcmos12, 8),
            source: qsfp,
        },
        Pad {
            port: "i2c_sda",
            pins: &["BF17"],
            kind: PadKind::OpenDrain(Lvcmos12, 8),
            source: qsfp,
        },
        Pad {
            port: "led",
            pins: &["BC21", "BB21", "BA20"],
            kind: PadKind::Output(Lvcmos12, 8),
            source: Source::Two,
        },
    ]
}

/// The PCIe block of the boards with a VU9P.
const PCIE: PcieSite = PcieSite {
    kind: PcieKind::Pcie4,
    site: "X1Y2",
    first_quad: 224,
    clock_quad: 226,
    die: 1,
    region: "CLOCKREGION_X4Y5:CLOCKREGION_X5Y8",
    source: Source::One,
};

/// The MAC of the boards with a VU9P.
const MAC: MacSite = MacSite {
    site: "X0Y8",
    transceivers: "X1Y48~X1Y51",
    clock_khz: 156_250,
    clock_mhz: "156.25",
    connector: "QSFP0",
    die: 2,
    region: "CLOCKREGION_X0Y10:CLOCKREGION_X0Y14",
    source: Source::One,
};

/// AMD VCU1525; the BCU1525 has the same pins.
pub(super) const VCU1525: Board = Board {
    name: "vcu1525",
    aliases: &["bcu1525"],
    title: "AMD VCU1525",
    number: 2,
    part: "xcvu9p-fsgd2104-2L-e",
    device: VU9P,
    pcie: PCIE,
    mac: MAC,
    pads: &pads(Source::One),
    flash: Flash {
        user_offset_bytes: 0x0400_0000,
        ..FLASH
    },
    licence: "Vivado Enterprise (the part is a VU9P; one source counts it among the free ones)",
    jtag: "on board",
    notes: NOTES,
};

/// Alveo U200.
pub(super) const U200: Board = Board {
    name: "u200",
    aliases: &[],
    title: "AMD Alveo U200",
    number: 3,
    part: "xcu200-fsgd2104-2-e",
    device: Device {
        idcode: 0x04b3_7093,
        ..VU9P
    },
    pcie: PCIE,
    mac: MacSite {
        source: Source::Disputed,
        ..MAC
    },
    pads: &pads(Source::Two),
    flash: FLASH,
    licence: "Vivado Standard (free)",
    jtag: "on board",
    notes: &[
        NOTES[0],
        NOTES[1],
        "Site of the MAC: two public designs say X0Y8 for QSFP0, another one X0Y6; Vivado decides",
    ],
};

/// Alveo U250.
pub(super) const U250: Board = Board {
    name: "u250",
    aliases: &[],
    title: "AMD Alveo U250",
    number: 4,
    part: "xcu250-figd2104-2-e",
    device: Device {
        idcode: 0x04b5_7093,
        dies: 4,
        die_urams: 320,
    },
    pcie: PcieSite {
        region: "CLOCKREGION_X6Y4:CLOCKREGION_X7Y7",
        ..PCIE
    },
    mac: MacSite {
        transceivers: "X1Y44~X1Y47",
        region: "CLOCKREGION_X0Y8:CLOCKREGION_X0Y11",
        ..MAC
    },
    pads: &pads(Source::Two),
    flash: FLASH,
    licence: "Vivado Standard (free)",
    jtag: "on board",
    notes: NOTES,
};
