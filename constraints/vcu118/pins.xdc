# Zeronic: AMD VCU118, xcvu9p-flga2104-2L-e: pins and the clocks at them.

# Negative lanes have no line: they follow from the positive ones.

# pcie_refclk_p: unverified
set_property PACKAGE_PIN AL9 [get_ports { pcie_refclk_p }]
create_clock -name pcie_refclk -period 10 [get_ports { pcie_refclk_p }]

# pcie_refclk_n: unverified
set_property PACKAGE_PIN AL8 [get_ports { pcie_refclk_n }]

# pcie_reset_n: unverified
set_property PACKAGE_PIN AM17 [get_ports { pcie_reset_n }]
set_property IOSTANDARD LVCMOS18 [get_ports { pcie_reset_n }]
set_property PULLTYPE PULLUP [get_ports { pcie_reset_n }]
set_false_path -from [get_ports { pcie_reset_n }]

# pcie_rx_p: unverified
set_property PACKAGE_PIN AA4 [get_ports { pcie_rx_p[0] }]
set_property PACKAGE_PIN AB2 [get_ports { pcie_rx_p[1] }]
set_property PACKAGE_PIN AC4 [get_ports { pcie_rx_p[2] }]
set_property PACKAGE_PIN AD2 [get_ports { pcie_rx_p[3] }]
set_property PACKAGE_PIN AE4 [get_ports { pcie_rx_p[4] }]
set_property PACKAGE_PIN AF2 [get_ports { pcie_rx_p[5] }]
set_property PACKAGE_PIN AG4 [get_ports { pcie_rx_p[6] }]
set_property PACKAGE_PIN AH2 [get_ports { pcie_rx_p[7] }]
set_property PACKAGE_PIN AJ4 [get_ports { pcie_rx_p[8] }]
set_property PACKAGE_PIN AK2 [get_ports { pcie_rx_p[9] }]
set_property PACKAGE_PIN AM2 [get_ports { pcie_rx_p[10] }]
set_property PACKAGE_PIN AP2 [get_ports { pcie_rx_p[11] }]
set_property PACKAGE_PIN AT2 [get_ports { pcie_rx_p[12] }]
set_property PACKAGE_PIN AV2 [get_ports { pcie_rx_p[13] }]
set_property PACKAGE_PIN AY2 [get_ports { pcie_rx_p[14] }]
set_property PACKAGE_PIN BB2 [get_ports { pcie_rx_p[15] }]

# pcie_tx_p: unverified
set_property PACKAGE_PIN Y7 [get_ports { pcie_tx_p[0] }]
set_property PACKAGE_PIN AB7 [get_ports { pcie_tx_p[1] }]
set_property PACKAGE_PIN AD7 [get_ports { pcie_tx_p[2] }]
set_property PACKAGE_PIN AF7 [get_ports { pcie_tx_p[3] }]
set_property PACKAGE_PIN AH7 [get_ports { pcie_tx_p[4] }]
set_property PACKAGE_PIN AK7 [get_ports { pcie_tx_p[5] }]
set_property PACKAGE_PIN AM7 [get_ports { pcie_tx_p[6] }]
set_property PACKAGE_PIN AN5 [get_ports { pcie_tx_p[7] }]
set_property PACKAGE_PIN AP7 [get_ports { pcie_tx_p[8] }]
set_property PACKAGE_PIN AR5 [get_ports { pcie_tx_p[9] }]
set_property PACKAGE_PIN AT7 [get_ports { pcie_tx_p[10] }]
set_property PACKAGE_PIN AU5 [get_ports { pcie_tx_p[11] }]
set_property PACKAGE_PIN AW5 [get_ports { pcie_tx_p[12] }]
set_property PACKAGE_PIN BA5 [get_ports { pcie_tx_p[13] }]
set_property PACKAGE_PIN BC5 [get_ports { pcie_tx_p[14] }]
set_property PACKAGE_PIN BE5 [get_ports { pcie_tx_p[15] }]

# qsfp_refclk_p: unverified
set_property PACKAGE_PIN W9 [get_ports { qsfp_refclk_p }]
create_clock -name qsfp_refclk -period 6.4 [get_ports { qsfp_refclk_p }]

# qsfp_refclk_n: unverified
set_property PACKAGE_PIN W8 [get_ports { qsfp_refclk_n }]

# qsfp_rx_p: unverified
set_property PACKAGE_PIN Y2 [get_ports { qsfp_rx_p[0] }]
set_property PACKAGE_PIN W4 [get_ports { qsfp_rx_p[1] }]
set_property PACKAGE_PIN V2 [get_ports { qsfp_rx_p[2] }]
set_property PACKAGE_PIN U4 [get_ports { qsfp_rx_p[3] }]

# qsfp_tx_p: unverified
set_property PACKAGE_PIN V7 [get_ports { qsfp_tx_p[0] }]
set_property PACKAGE_PIN T7 [get_ports { qsfp_tx_p[1] }]
set_property PACKAGE_PIN P7 [get_ports { qsfp_tx_p[2] }]
set_property PACKAGE_PIN M7 [get_ports { qsfp_tx_p[3] }]

# free_clock_p: two sources
set_property PACKAGE_PIN AY24 [get_ports { free_clock_p }]
set_property IOSTANDARD LVDS [get_ports { free_clock_p }]
create_clock -name free_clock -period 8 [get_ports { free_clock_p }]

# free_clock_n: two sources
set_property PACKAGE_PIN AY23 [get_ports { free_clock_n }]
set_property IOSTANDARD LVDS [get_ports { free_clock_n }]

# qsfp_modsell: unverified
set_property PACKAGE_PIN AM21 [get_ports { qsfp_modsell }]
set_property IOSTANDARD LVCMOS18 [get_ports { qsfp_modsell }]
set_property SLEW SLOW [get_ports { qsfp_modsell }]
set_property DRIVE 8 [get_ports { qsfp_modsell }]
set_false_path -to [get_ports { qsfp_modsell }]

# qsfp_resetl: unverified
set_property PACKAGE_PIN BA22 [get_ports { qsfp_resetl }]
set_property IOSTANDARD LVCMOS18 [get_ports { qsfp_resetl }]
set_property SLEW SLOW [get_ports { qsfp_resetl }]
set_property DRIVE 8 [get_ports { qsfp_resetl }]
set_false_path -to [get_ports { qsfp_resetl }]

# qsfp_lpmode: unverified
set_property PACKAGE_PIN AN21 [get_ports { qsfp_lpmode }]
set_property IOSTANDARD LVCMOS18 [get_ports { qsfp_lpmode }]
set_property SLEW SLOW [get_ports { qsfp_lpmode }]
set_property DRIVE 8 [get_ports { qsfp_lpmode }]
set_false_path -to [get_ports { qsfp_lpmode }]

# qsfp_modprsl: unverified
set_property PACKAGE_PIN AL21 [get_ports { qsfp_modprsl }]
set_property IOSTANDARD LVCMOS18 [get_ports { qsfp_modprsl }]
set_property PULLTYPE PULLUP [get_ports { qsfp_modprsl }]
set_false_path -from [get_ports { qsfp_modprsl }]

# qsfp_intl: unverified
set_property PACKAGE_PIN AP21 [get_ports { qsfp_intl }]
set_property IOSTANDARD LVCMOS18 [get_ports { qsfp_intl }]
set_property PULLTYPE PULLUP [get_ports { qsfp_intl }]
set_false_path -from [get_ports { qsfp_intl }]

# i2c_scl: two sources
set_property PACKAGE_PIN AM24 [get_ports { i2c_scl }]
set_property IOSTANDARD LVCMOS18 [get_ports { i2c_scl }]
set_property SLEW SLOW [get_ports { i2c_scl }]
set_property DRIVE 8 [get_ports { i2c_scl }]
set_false_path -from [get_ports { i2c_scl }]
set_false_path -to [get_ports { i2c_scl }]

# i2c_sda: two sources
set_property PACKAGE_PIN AL24 [get_ports { i2c_sda }]
set_property IOSTANDARD LVCMOS18 [get_ports { i2c_sda }]
set_property SLEW SLOW [get_ports { i2c_sda }]
set_property DRIVE 8 [get_ports { i2c_sda }]
set_false_path -from [get_ports { i2c_sda }]
set_false_path -to [get_ports { i2c_sda }]

# led: two sources
set_property PACKAGE_PIN AT32 [get_ports { led[0] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[0] }]
set_property SLEW SLOW [get_ports { led[0] }]
set_property DRIVE 8 [get_ports { led[0] }]
set_false_path -to [get_ports { led[0] }]
set_property PACKAGE_PIN AV34 [get_ports { led[1] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[1] }]
set_property SLEW SLOW [get_ports { led[1] }]
set_property DRIVE 8 [get_ports { led[1] }]
set_false_path -to [get_ports { led[1] }]
set_property PACKAGE_PIN AY30 [get_ports { led[2] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[2] }]
set_property SLEW SLOW [get_ports { led[2] }]
set_property DRIVE 8 [get_ports { led[2] }]
set_false_path -to [get_ports { led[2] }]
set_property PACKAGE_PIN BB32 [get_ports { led[3] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[3] }]
set_property SLEW SLOW [get_ports { led[3] }]
set_property DRIVE 8 [get_ports { led[3] }]
set_false_path -to [get_ports { led[3] }]
set_property PACKAGE_PIN BF32 [get_ports { led[4] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[4] }]
set_property SLEW SLOW [get_ports { led[4] }]
set_property DRIVE 8 [get_ports { led[4] }]
set_false_path -to [get_ports { led[4] }]
set_property PACKAGE_PIN AU37 [get_ports { led[5] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[5] }]
set_property SLEW SLOW [get_ports { led[5] }]
set_property DRIVE 8 [get_ports { led[5] }]
set_false_path -to [get_ports { led[5] }]
set_property PACKAGE_PIN AV36 [get_ports { led[6] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[6] }]
set_property SLEW SLOW [get_ports { led[6] }]
set_property DRIVE 8 [get_ports { led[6] }]
set_false_path -to [get_ports { led[6] }]
set_property PACKAGE_PIN BA37 [get_ports { led[7] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[7] }]
set_property SLEW SLOW [get_ports { led[7] }]
set_property DRIVE 8 [get_ports { led[7] }]
set_false_path -to [get_ports { led[7] }]

# flash_select_n: unverified
set_property PACKAGE_PIN BF16 [get_ports { flash_select_n }]
set_property IOSTANDARD LVCMOS18 [get_ports { flash_select_n }]
set_property SLEW SLOW [get_ports { flash_select_n }]
set_property DRIVE 8 [get_ports { flash_select_n }]
set_false_path -to [get_ports { flash_select_n }]

# flash_mosi: unverified
set_property PACKAGE_PIN AM19 [get_ports { flash_mosi }]
set_property IOSTANDARD LVCMOS18 [get_ports { flash_mosi }]
set_property SLEW SLOW [get_ports { flash_mosi }]
set_property DRIVE 8 [get_ports { flash_mosi }]
set_false_path -to [get_ports { flash_mosi }]

# flash_miso: unverified
set_property PACKAGE_PIN AM18 [get_ports { flash_miso }]
set_property IOSTANDARD LVCMOS18 [get_ports { flash_miso }]
set_property PULLTYPE PULLUP [get_ports { flash_miso }]
set_false_path -from [get_ports { flash_miso }]

# flash_protect_n: unverified
set_property PACKAGE_PIN AN20 [get_ports { flash_protect_n }]
set_property IOSTANDARD LVCMOS18 [get_ports { flash_protect_n }]
set_property SLEW SLOW [get_ports { flash_protect_n }]
set_property DRIVE 8 [get_ports { flash_protect_n }]
set_false_path -to [get_ports { flash_protect_n }]

# flash_hold_n: unverified
set_property PACKAGE_PIN AP20 [get_ports { flash_hold_n }]
set_property IOSTANDARD LVCMOS18 [get_ports { flash_hold_n }]
set_property SLEW SLOW [get_ports { flash_hold_n }]
set_property DRIVE 8 [get_ports { flash_hold_n }]
set_false_path -to [get_ports { flash_hold_n }]
