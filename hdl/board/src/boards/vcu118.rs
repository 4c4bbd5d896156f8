//! AMD VCU118. The card is at connector QSFP1.
//!
//! Source: public designs for the board; LEDs, I2C and the 125 MHz clock also in `litex-boards`,
//! which has neither PCIe nor QSFP of this board.

use crate::description::Standard::{Lvcmos12, Lvcmos18, Lvds};
use crate::description::{Board, Device, Flash, MacSite, Pad, PadKind, PcieKind, PcieSite, Source};

/// Virtex UltraScale+ VU9P.
pub(super) const VU9P: Device = Device { idcode: 0x04b3_1093, dies: 3, die_urams: 320 };

/// The board.
pub(super) const VCU118: Board = Board {
    name: "vcu118",
    aliases: &[],
    title: "AMD VCU118",
    number: 1,
    part: "xcvu9p-flga2104-2L-e",
    device: VU9P,
    pcie: PcieSite {
        kind: PcieKind::Pcie4,
        site: "X1Y2",
        site_source: "AMD's board files `vcu118` 2.0, 2.3 and 2.4, `block_location`",
        first_quad: 224,
        clock_quad: 225,
        die: 1,
        region: "CLOCKREGION_X4Y5:CLOCKREGION_X5Y8",
        source: Source::One,
    },
    mac: MacSite {
        site: "X0Y7",
        transceivers: "X1Y48~X1Y51",
        clock_khz: 156_250,
        clock_mhz: "156.25",
        connector: "QSFP1",
        die: 2,
        region: "CLOCKREGION_X0Y10:CLOCKREGION_X0Y14",
        source: Source::One,
    },
    pads: &[
        Pad {
            port: "pcie_refclk_p",
            pins: &["AL9"],
            kind: PadKind::ReferenceClock(10_000),
            source: Source::One,
        },
        Pad {
            port: "pcie_refclk_n",
            pins: &["AL8"],
            kind: PadKind::ReferenceClockN,
            source: Source::One,
        },
        Pad {
            port: "pcie_reset_n",
            pins: &["AM17"],
            kind: PadKind::Input(Lvcmos18),
            source: Source::One,
        },
        Pad {
            port: "pcie_rx_p",
            pins: &[
                "AA4", "AB2", "AC4", "AD2", "AE4", "AF2", "AG4", "AH2", "AJ4", "AK2", "AM2", "AP2",
                "AT2", "AV2", "AY2", "BB2",
            ],
            kind: PadKind::Transceiver,
            source: Source::One,
        },
        Pad {
            port: "pcie_tx_p",
            pins: &[
                "Y7", "AB7", "AD7", "AF7", "AH7", "AK7", "AM7", "AN5", "AP7", "AR5", "AT7", "AU5",
                "AW5", "BA5", "BC5", "BE5",
            ],
            kind: PadKind::Transceiver,
            source: Source::One,
        },
        Pad {
            port: "qsfp_refclk_p",
            pins: &["W9"],
            kind: PadKind::ReferenceClock(6_400),
            source: Source::One,
        },
        Pad {
            port: "qsfp_refclk_n",
            pins: &["W8"],
            kind: PadKind::ReferenceClockN,
            source: Source::One,
        },
        Pad {
            port: "qsfp_rx_p",
            pins: &["Y2", "W4", "V2", "U4"],
            kind: PadKind::Transceiver,
            source: Source::One,
        },
        Pad {
            port: "qsfp_tx_p",
            pins: &["V7", "T7", "P7", "M7"],
            kind: PadKind::Transceiver,
            source: Source::One,
        },
        Pad {
            port: "free_clock_p",
            pins: &["AY24"],
            kind: PadKind::Clock(Lvds, 8_000),
            source: Source::Two,
        },
        Pad {
            port: "free_clock_n",
            pins: &["AY23"],
            kind: PadKind::ClockN(Lvds),
            source: Source::Two,
        },
        Pad {
            port: "qsfp_modsell",
            pins: &["AM21"],
            kind: PadKind::Output(Lvcmos18, 8),
            source: Source::One,
        },
        Pad {
            port: "qsfp_resetl",
            pins: &["BA22"],
            kind: PadKind::Output(Lvcmos18, 8),
            source: Source::One,
        },
        Pad {
            port: "qsfp_lpmode",
            pins: &["AN21"],
            kind: PadKind::Output(Lvcmos18, 8),
            source: Source::One,
        },
        Pad {
            port: "qsfp_modprsl",
            pins: &["AL21"],
            kind: PadKind::Input(Lvcmos18),
            source: Source::One,
        },
        Pad {
            port: "qsfp_intl",
            pins: &["AP21"],
            kind: PadKind::Input(Lvcmos18),
            source: Source::One,
        },
        Pad {
            port: "i2c_scl",
            pins: &["AM24"],
            kind: PadKind::OpenDrain(Lvcmos18, 8),
            source: Source::Two,
        },
        Pad {
            port: "i2c_sda",
            pins: &["AL24"],
            kind: PadKind::OpenDrain(Lvcmos18, 8),
            source: Source::Two,
        },
        Pad {
            port: "led",
            pins: &["AT32", "AV34", "AY30", "BB32", "BF32", "AU37", "AV36", "BA37"],
            kind: PadKind::Output(Lvcmos12, 8),
            source: Source::Two,
        },
        Pad {
            port: "flash_select_n",
            pins: &["BF16"],
            kind: PadKind::Output(Lvcmos18, 8),
            source: Source::One,
        },
        Pad {
            port: "flash_mosi",
            pins: &["AM19"],
            kind: PadKind::Output(Lvcmos18, 8),
            source: Source::One,
        },
        Pad {
            port: "flash_miso",
            pins: &["AM18"],
            kind: PadKind::Input(Lvcmos18),
            source: Source::One,
        },
        Pad {
            port: "flash_protect_n",
            pins: &["AN20"],
            kind: PadKind::Output(Lvcmos18, 8),
            source: Source::One,
        },
        Pad {
            port: "flash_hold_n",
            pins: &["AP20"],
            kind: PadKind::Output(Lvcmos18, 8),
            source: Source::One,
        },
    ],
    flash: Flash {
        chip: "mt25qu01g-spi-x1_x2_x4_x8",
        width_bits: 8,
        size_bytes: 256 << 20,
        user_offset_bytes: 0x0800_0000,
        golden_offset_bytes: 0x0400_0000,
        rate_mhz: None,
        voltage: "1.8",
        pull_unused_up: false,
    },
    licence: "Vivado Enterprise",
    jtag: "on board",
    notes: &[
        "The reference clock of QSFP1 is that of a Si570, which must be at 156.25 MHz (its \
         factory setting)",
        "The second reference clock of the slot (AC9/AC8, quad 227) is not used",
    ],
};
