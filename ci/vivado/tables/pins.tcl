# Package pins: what is at a pin of a board, and with which IO standard.
#
#   pin BOARDS PORT PIN STANDARDS SOURCES
#
# PORT is the port of our tops. Each row was read out of the sources, not out of our constraints.
# Lanes are positive halves; where two rows name a port, the sources differ.

pin vcu118 {flash_hold_n} AP20 LVCMOS18 {corundum boardfile}
pin vcu118 {flash_miso} AM18 LVCMOS18 {corundum boardfile}
pin vcu118 {flash_mosi} AM19 LVCMOS18 {corundum boardfile}
pin vcu118 {flash_protect_n} AN20 LVCMOS18 {corundum boardfile}
pin vcu118 {flash_select_n} BF16 LVCMOS18 {corundum boardfile}
pin vcu118 {free_clock_n} AY23 LVDS {corundum boardfile}
pin vcu118 {free_clock_p} AY24 LVDS {corundum boardfile}
pin vcu118 {i2c_scl} AM24 LVCMOS18 {corundum boardfile}
pin vcu118 {i2c_sda} AL24 LVCMOS18 {corundum boardfile}
pin vcu118 {led[0]} AT32 LVCMOS12 {corundum boardfile}
pin vcu118 {led[1]} AV34 LVCMOS12 {corundum boardfile}
pin vcu118 {led[2]} AY30 LVCMOS12 {corundum boardfile}
pin vcu118 {led[3]} BB32 LVCMOS12 {corundum boardfile}
pin vcu118 {led[4]} BF32 LVCMOS12 {corundum boardfile}
pin vcu118 {led[5]} AU37 LVCMOS12 {corundum boardfile}
pin vcu118 {led[6]} AV36 LVCMOS12 {corundum boardfile}
pin vcu118 {led[7]} BA37 LVCMOS12 {corundum boardfile}
pin vcu118 {pcie_refclk_n} AL8 {} {corundum boardfile}
pin vcu118 {pcie_refclk_p} AL9 {} {corundum boardfile}
pin vcu118 {pcie_reset_n} AM17 LVCMOS18 {corundum boardfile}
pin vcu118 {pcie_rx_p[0]} AA4 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[1]} AB2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[2]} AC4 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[3]} AD2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[4]} AE4 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[5]} AF2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[6]} AG4 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[7]} AH2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[8]} AJ4 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[9]} AK2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[10]} AM2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[11]} AP2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[12]} AT2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[13]} AV2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[14]} AY2 {} {corundum boardfile}
pin vcu118 {pcie_rx_p[15]} BB2 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[0]} Y7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[1]} AB7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[2]} AD7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[3]} AF7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[4]} AH7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[5]} AK7 {} {corundum boardfile}
pin {vcu118 vcu1525 u200 u250} {pcie_tx_p[6]} AM7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[7]} AN5 {} {corundum boardfile}
pin {vcu118 vcu1525 u200 u250} {pcie_tx_p[8]} AP7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[9]} AR5 {} {corundum boardfile}
pin {vcu118 vcu1525 u200 u250} {pcie_tx_p[10]} AT7 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[11]} AU5 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[12]} AW5 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[13]} BA5 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[14]} BC5 {} {corundum boardfile}
pin vcu118 {pcie_tx_p[15]} BE5 {} {corundum boardfile}
pin vcu118 {qsfp_intl} AP21 LVCMOS18 corundum
pin vcu118 {qsfp_lpmode} AN21 LVCMOS18 corundum
pin vcu118 {qsfp_modprsl} AL21 LVCMOS18 corundum
pin vcu118 {qsfp_modsell} AM21 LVCMOS18 corundum
pin vcu118 {qsfp_refclk_n} W8 {} {corundum boardfile}
pin vcu118 {qsfp_refclk_p} W9 {} {corundum boardfile}
pin vcu118 {qsfp_resetl} BA22 LVCMOS18 corundum
pin vcu118 {qsfp_rx_p[0]} Y2 {} {corundum boardfile}
pin vcu118 {qsfp_rx_p[1]} W4 {} {corundum boardfile}
pin vcu118 {qsfp_rx_p[2]} V2 {} {corundum boardfile}
pin vcu118 {qsfp_rx_p[3]} U4 {} {corundum boardfile}
pin vcu118 {qsfp_tx_p[0]} V7 {} {corundum boardfile}
pin vcu118 {qsfp_tx_p[1]} T7 {} {corundum boardfile}
pin vcu118 {qsfp_tx_p[2]} P7 {} {corundum boardfile}
pin vcu118 {qsfp_tx_p[3]} M7 {} {corundum boardfile}
pin {vcu1525 u200 u250} {free_clock_n} AY38 LVDS {corundum boardfile}
pin {vcu1525 u200 u250} {free_clock_p} AY37 LVDS {corundum boardfile}
pin {vcu1525 u200 u250} {i2c_scl} BF20 LVCMOS12 {corundum boardfile}
pin {vcu1525 u200 u250} {i2c_sda} BF17 LVCMOS12 {corundum boardfile}
pin {vcu1525 u200 u250} {led[0]} BC21 LVCMOS12 {corundum boardfile}
pin {vcu1525 u200 u250} {led[1]} BB21 LVCMOS12 {corundum boardfile}
pin {vcu1525 u200 u250} {led[2]} BA20 LVCMOS12 {corundum boardfile}
pin vcu1525 {pcie_refclk_n} AM10 {} {corundum boardfile}
pin vcu1525 {pcie_refclk_p} AM11 {} {corundum boardfile}
pin vcu1525 {pcie_reset_n} BD21 LVCMOS12 {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[0]} AF2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[1]} AG4 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[2]} AH2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[3]} AJ4 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[4]} AK2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[5]} AL4 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[6]} AM2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[7]} AN4 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[8]} AP2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[9]} AR4 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[10]} AT2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[11]} AU4 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[12]} AV2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[13]} AW4 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_rx_p[14]} BA2 {} {corundum boardfile}
pin {vcu1525 u200 u250 u280 u55c u55n} {pcie_rx_p[15]} BC2 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[0]} AF7 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[1]} AG9 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[2]} AH7 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[3]} AJ9 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[4]} AK7 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[5]} AL9 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[7]} AN9 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[9]} AR9 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[11]} AU9 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[12]} AV7 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[13]} BB5 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[14]} BD5 {} {corundum boardfile}
pin {vcu1525 u200 u250} {pcie_tx_p[15]} BF5 {} {corundum boardfile}
pin vcu1525 {qsfp_intl} BE21 LVCMOS12 corundum
pin vcu1525 {qsfp_lpmode} BD18 LVCMOS12 corundum
pin vcu1525 {qsfp_modprsl} BE20 LVCMOS12 corundum
pin vcu1525 {qsfp_modsell} BE16 LVCMOS12 corundum
pin vcu1525 {qsfp_resetl} BE17 LVCMOS12 corundum
pin vcu1525 {qsfp_rx_p[0]} N4 {} corundum
pin vcu1525 {qsfp_rx_p[1]} M2 {} corundum
pin vcu1525 {qsfp_rx_p[2]} L4 {} corundum
pin vcu1525 {qsfp_rx_p[3]} K2 {} corundum
pin vcu1525 {qsfp_tx_p[0]} N9 {} corundum
pin vcu1525 {qsfp_tx_p[1]} M7 {} corundum
pin vcu1525 {qsfp_tx_p[2]} L9 {} corundum
pin vcu1525 {qsfp_tx_p[3]} K7 {} corundum
pin {u200 u250} {pcie_refclk_n} AM10 {} {corundum opennic boardfile}
pin {u200 u250} {pcie_refclk_p} AM11 {} {corundum opennic boardfile}
pin {u200 u250} {pcie_reset_n} BD21 LVCMOS12 {corundum opennic boardfile}
pin {u200 u250} {qsfp_intl} BE21 LVCMOS12 {corundum opennic}
pin {u200 u250} {qsfp_lpmode} BD18 LVCMOS12 {corundum opennic}
pin {u200 u250} {qsfp_modprsl} BE20 LVCMOS12 {corundum opennic}
pin {u200 u250} {qsfp_modsell} BE16 LVCMOS12 {corundum opennic}
pin {u200 u250} {qsfp_refclk_n} M10 {} boardfile
pin {u200 u250} {qsfp_refclk_p} M11 {} boardfile
pin {u200 u250} {qsfp_resetl} BE17 LVCMOS12 {corundum opennic}
pin {u200 u250} {qsfp_rx_p[0]} N4 {} {corundum boardfile}
pin {u200 u250} {qsfp_rx_p[1]} M2 {} {corundum boardfile}
pin {u200 u250} {qsfp_rx_p[2]} L4 {} {corundum boardfile}
pin {u200 u250} {qsfp_rx_p[3]} K2 {} {corundum boardfile}
pin {u200 u250} {qsfp_tx_p[0]} N9 {} {corundum boardfile}
pin {u200 u250} {qsfp_tx_p[1]} M7 {} {corundum boardfile}
pin {u200 u250} {qsfp_tx_p[2]} L9 {} {corundum boardfile}
pin {u200 u250} {qsfp_tx_p[3]} K7 {} {corundum boardfile}
pin u280 {free_clock_n} BJ44 LVDS {corundum boardfile}
pin u280 {free_clock_p} BJ43 LVDS {corundum boardfile}
pin u280 {hbm_cattrip} D32 LVCMOS18 {corundum opennic boardfile}
pin u280 {i2c_scl} C30 LVCMOS18 boardfile
pin u280 {i2c_sda} C33 LVCMOS18 boardfile
pin {u280 u55c u55n} {pcie_refclk_n} AR14 {} {corundum opennic boardfile}
pin {u280 u55c u55n} {pcie_refclk_p} AR15 {} {corundum opennic boardfile}
pin u280 {pcie_reset_n} BH26 LVCMOS18 {corundum opennic boardfile}
pin {u280 u55c u55n} {pcie_rx_p[0]} AL2 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[1]} AM4 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[2]} AN6 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[3]} AN2 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[4]} AP4 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[5]} AR2 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[6]} AT4 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[7]} AU2 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[8]} AV4 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[9]} AW6 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[10]} AW2 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[11]} AY4 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[12]} BA6 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[13]} BA2 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_rx_p[14]} BB4 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[0]} AL11 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[1]} AM9 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[2]} AN11 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[3]} AP9 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[4]} AR11 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[5]} AR7 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[6]} AT9 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[7]} AU11 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[8]} AU7 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[9]} AV9 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[10]} AW11 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[11]} AY9 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[12]} BA11 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[13]} BB9 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[14]} BC11 {} {corundum boardfile}
pin {u280 u55c u55n} {pcie_tx_p[15]} BC7 {} {corundum boardfile}
pin u280 {qsfp_refclk_n} T43 {} boardfile
pin u280 {qsfp_refclk_p} T42 {} boardfile
pin u280 {qsfp_rx_p[0]} L53 {} {corundum boardfile}
pin u280 {qsfp_rx_p[1]} K51 {} {corundum boardfile}
pin u280 {qsfp_rx_p[2]} J53 {} {corundum boardfile}
pin u280 {qsfp_rx_p[3]} H51 {} {corundum boardfile}
pin u280 {qsfp_tx_p[0]} L48 {} {corundum boardfile}
pin u280 {qsfp_tx_p[1]} L44 {} {corundum boardfile}
pin u280 {qsfp_tx_p[2]} K46 {} {corundum boardfile}
pin u280 {qsfp_tx_p[3]} J48 {} {corundum boardfile}
pin {u55c u55n} {free_clock_n} BK44 LVDS {corundum boardfile}
pin {u55c u55n} {free_clock_p} BK43 LVDS {corundum boardfile}
pin {u55c u55n} {hbm_cattrip} BE45 LVCMOS18 {corundum opennic boardfile}
pin {u55c u55n} {led[0]} BL13 LVCMOS18 {corundum boardfile}
pin {u55c u55n} {led[1]} BK11 LVCMOS18 corundum
pin {u55c u55n} {led[2]} BJ11 LVCMOS18 corundum
pin {u55c u55n} {led[3]} BK14 LVCMOS18 {corundum boardfile}
pin {u55c u55n} {led[4]} BK15 LVCMOS18 corundum
pin {u55c u55n} {led[5]} BL12 LVCMOS18 corundum
pin {u55c u55n} {pcie_reset_n} BF41 LVCMOS18 {corundum opennic boardfile}
pin {u55c u55n} {qsfp_refclk_n} AD43 {} {corundum boardfile}
pin {u55c u55n} {qsfp_refclk_p} AD42 {} {corundum boardfile}
pin {u55c u55n} {qsfp_rx_p[0]} AD51 {} {corundum boardfile}
pin {u55c u55n} {qsfp_rx_p[1]} AC53 {} {corundum boardfile}
pin {u55c u55n} {qsfp_rx_p[2]} AC49 {} {corundum boardfile}
pin {u55c u55n} {qsfp_rx_p[3]} AB51 {} {corundum boardfile}
pin {u55c u55n} {qsfp_tx_p[0]} AD46 {} {corundum boardfile}
pin {u55c u55n} {qsfp_tx_p[1]} AC44 {} {corundum boardfile}
pin {u55c u55n} {qsfp_tx_p[2]} AB46 {} {corundum boardfile}
pin {u55c u55n} {qsfp_tx_p[3]} AA48 {} {corundum boardfile}
pin vcu1525 {qsfp_refclk_n} M10 {} corundum
pin vcu1525 {qsfp_refclk_p} M11 {} corundum
