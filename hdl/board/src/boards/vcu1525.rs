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
    golden_offset_bytes: 0,
    rate_mhz: Some("63.8"),
    voltage: "1.8",
    pull_unused_up: true,
};

/// The parts that the three boards have in common, given how far QSFP and I2C are confirmed.
const fn pads(qsfp: Source) -> [Pad; 19] {
    const OUT: PadKind = PadKind::Output(Lvcmos12, 8);
    const IN: PadKind = PadKind::Input(Lvcmos12);
    const LANES: PadKind = PadKind::Transceiver;
    const OPEN: PadKind = PadKind::OpenDrain(Lvcmos12, 8);
    [
        pad("pcie_refclk_p", &["AM11"], PadKind::ReferenceClock(10_000), Source::Two),
        pad("pcie_refclk_n", &["AM10"], PadKind::ReferenceClockN, Source::Two),
        pad("pcie_reset_n", &["BD21"], IN, Source::Two),
        pad("pcie_rx_p", RX_PINS, LANES, Source::Two),
        pad("pcie_tx_p", TX_PINS, LANES, Source::Two),
        pad("qsfp_refclk_p", &["M11"], PadKind::ReferenceClock(6_400), qsfp),
        pad("qsfp_refclk_n", &["M10"], PadKind::ReferenceClockN, qsfp),
        pad("qsfp_rx_p", &["N4", "M2", "L4", "K2"], LANES, qsfp),
        pad("qsfp_tx_p", &["N9", "M7", "L9", "K7"], LANES, qsfp),
        pad("free_clock_p", &["AY37"], PadKind::Clock(Lvds, 3_333), Source::Disputed),
        pad("free_clock_n", &["AY38"], PadKind::ClockN(Lvds), Source::Disputed),
        pad("qsfp_modsell", &["BE16"], OUT, qsfp),
        pad("qsfp_resetl", &["BE17"], OUT, qsfp),
        pad("qsfp_lpmode", &["BD18"], OUT, qsfp),
        pad("qsfp_modprsl", &["BE20"], IN, qsfp),
        pad("qsfp_intl", &["BE21"], IN, qsfp),
        pad("i2c_scl", &["BF20"], OPEN, qsfp),
        pad("i2c_sda", &["BF17"], OPEN, qsfp),
        pad("led", &["BC21", "BB21", "BA20"], OUT, Source::Two),
    ]
}

const fn pad(
    port: &'static str,
    pins: &'static [&'static str],
    kind: PadKind,
    source: Source,
) -> Pad {
    Pad { port, pins, kind, source }
}

/// Receive lanes of the slot, lane 0 first.
const RX_PINS: &[&str] = &[
    "AF2", "AG4", "AH2", "AJ4", "AK2", "AL4", "AM2", "AN4", "AP2", "AR4", "AT2", "AU4", "AV2",
    "AW4", "BA2", "BC2",
];
/// Send lanes of the slot, lane 0 first.
const TX_PINS: &[&str] = &[
    "AF7", "AG9", "AH7", "AJ9", "AK7", "AL9", "AM7", "AN9", "AP7", "AR9", "AT7", "AU9", "AV7",
    "BB5", "BD5", "BF5",
];

/// The PCIe block of the boards with a VU9P.
const PCIE: PcieSite = PcieSite {
    kind: PcieKind::Pcie4,
    site: "X1Y2",
    site_source: "AMD's board file `vcu1525` 1.3, `block_location`",
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
    flash: Flash { user_offset_bytes: 0x0400_0000, golden_offset_bytes: 0x0200_0000, ..FLASH },
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
    device: Device { idcode: 0x04b3_7093, ..VU9P },
    pcie: PcieSite {
        site_source: "AMD's board files `au200` 1.2 and 1.3, `block_location`",
        ..PCIE
    },
    mac: MacSite { source: Source::Disputed, ..MAC },
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
    device: Device { idcode: 0x04b5_7093, dies: 4, die_urams: 320 },
    pcie: PcieSite {
        site: "X0Y1",
        site_source: "AMD's board files `au250` 1.2 and 1.3, `block_location`",
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
