# Zeronic: AMD VCU1525, xcvu9p-fsgd2104-2L-e: pins and the clocks at them.

# Negative lanes have no line: they follow from the positive ones.

# pcie_refclk_p: two sources
set_property PACKAGE_PIN AM11 [get_ports { pcie_refclk_p }]
create_clock -name pcie_refclk -period 10 [get_ports { pcie_refclk_p }]

# pcie_refclk_n: two sources
set_property PACKAGE_PIN AM10 [get_ports { pcie_refclk_n }]

# pcie_reset_n: two sources
set_property PACKAGE_PIN BD21 [get_ports { pcie_reset_n }]
set_property IOSTANDARD LVCMOS12 [get_ports { pcie_reset_n }]
set_property PULLTYPE PULLUP [get_ports { pcie_reset_n }]
set_false_path -from [get_ports { pcie_reset_n }]

# pcie_rx_p: two sources
set_property PACKAGE_PIN AF2 [get_ports { pcie_rx_p[0] }]
set_property PACKAGE_PIN AG4 [get_ports { pcie_rx_p[1] }]
set_property PACKAGE_PIN AH2 [get_ports { pcie_rx_p[2] }]
set_property PACKAGE_PIN AJ4 [get_ports { pcie_rx_p[3] }]
set_property PACKAGE_PIN AK2 [get_ports { pcie_rx_p[4] }]
set_property PACKAGE_PIN AL4 [get_ports { pcie_rx_p[5] }]
set_property PACKAGE_PIN AM2 [get_ports { pcie_rx_p[6] }]
set_property PACKAGE_PIN AN4 [get_ports { pcie_rx_p[7] }]
set_property PACKAGE_PIN AP2 [get_ports { pcie_rx_p[8] }]
set_property PACKAGE_PIN AR4 [get_ports { pcie_rx_p[9] }]
set_property PACKAGE_PIN AT2 [get_ports { pcie_rx_p[10] }]
set_property PACKAGE_PIN AU4 [get_ports { pcie_rx_p[11] }]
set_property PACKAGE_PIN AV2 [get_ports { pcie_rx_p[12] }]
set_property PACKAGE_PIN AW4 [get_ports { pcie_rx_p[13] }]
set_property PACKAGE_PIN BA2 [get_ports { pcie_rx_p[14] }]
set_property PACKAGE_PIN BC2 [get_ports { pcie_rx_p[15] }]

# pcie_tx_p: two sources
set_property PACKAGE_PIN AF7 [get_ports { pcie_tx_p[0] }]
set_property PACKAGE_PIN AG9 [get_ports { pcie_tx_p[1] }]
set_property PACKAGE_PIN AH7 [get_ports { pcie_tx_p[2] }]
set_property PACKAGE_PIN AJ9 [get_ports { pcie_tx_p[3] }]
set_property PACKAGE_PIN AK7 [get_ports { pcie_tx_p[4] }]
set_property PACKAGE_PIN AL9 [get_ports { pcie_tx_p[5] }]
set_property PACKAGE_PIN AM7 [get_ports { pcie_tx_p[6] }]
set_property PACKAGE_PIN AN9 [get_ports { pcie_tx_p[7] }]
set_property PACKAGE_PIN AP7 [get_ports { pcie_tx_p[8] }]
set_property PACKAGE_PIN AR9 [get_ports { pcie_tx_p[9] }]
set_property PACKAGE_PIN AT7 [get_ports { pcie_tx_p[10] }]
set_property PACKAGE_PIN AU9 [get_ports { pcie_tx_p[11] }]
set_property PACKAGE_PIN AV7 [get_ports { pcie_tx_p[12] }]
set_property PACKAGE_PIN BB5 [get_ports { pcie_tx_p[13] }]
set_property PACKAGE_PIN BD5 [get_ports { pcie_tx_p[14] }]
set_property PACKAGE_PIN BF5 [get_ports { pcie_tx_p[15] }]

# qsfp_refclk_p: unverified
set_property PACKAGE_PIN M11 [get_ports { qsfp_refclk_p }]
create_clock -name qsfp_refclk -period 6.4 [get_ports { qsfp_refclk_p }]

# qsfp_refclk_n: unverified
set_property PACKAGE_PIN M10 [get_ports { qsfp_refclk_n }]

# qsfp_rx_p: unverified
set_property PACKAGE_PIN N4 [get_ports { qsfp_rx_p[0] }]
set_property PACKAGE_PIN M2 [get_ports { qsfp_rx_p[1] }]
set_property PACKAGE_PIN L4 [get_ports { qsfp_rx_p[2] }]
set_property PACKAGE_PIN K2 [get_ports { qsfp_rx_p[3] }]

# qsfp_tx_p: unverified
set_property PACKAGE_PIN N9 [get_ports { qsfp_tx_p[0] }]
set_property PACKAGE_PIN M7 [get_ports { qsfp_tx_p[1] }]
set_property PACKAGE_PIN L9 [get_ports { qsfp_tx_p[2] }]
set_property PACKAGE_PIN K7 [get_ports { qsfp_tx_p[3] }]

# free_clock_p: disputed
set_property PACKAGE_PIN AY37 [get_ports { free_clock_p }]
set_property IOSTANDARD LVDS [get_ports { free_clock_p }]
create_clock -name free_clock -period 3.333 [get_ports { free_clock_p }]

# free_clock_n: disputed
set_property PACKAGE_PIN AY38 [get_ports { free_clock_n }]
set_property IOSTANDARD LVDS [get_ports { free_clock_n }]

# qsfp_modsell: unverified
set_property PACKAGE_PIN BE16 [get_ports { qsfp_modsell }]
set_property IOSTANDARD LVCMOS12 [get_ports { qsfp_modsell }]
set_property SLEW SLOW [get_ports { qsfp_modsell }]
set_property DRIVE 8 [get_ports { qsfp_modsell }]
set_false_path -to [get_ports { qsfp_modsell }]

# qsfp_resetl: unverified
set_property PACKAGE_PIN BE17 [get_ports { qsfp_resetl }]
set_property IOSTANDARD LVCMOS12 [get_ports { qsfp_resetl }]
set_property SLEW SLOW [get_ports { qsfp_resetl }]
set_property DRIVE 8 [get_ports { qsfp_resetl }]
set_false_path -to [get_ports { qsfp_resetl }]

# qsfp_lpmode: unverified
set_property PACKAGE_PIN BD18 [get_ports { qsfp_lpmode }]
set_property IOSTANDARD LVCMOS12 [get_ports { qsfp_lpmode }]
set_property SLEW SLOW [get_ports { qsfp_lpmode }]
set_property DRIVE 8 [get_ports { qsfp_lpmode }]
set_false_path -to [get_ports { qsfp_lpmode }]

# qsfp_modprsl: unverified
set_property PACKAGE_PIN BE20 [get_ports { qsfp_modprsl }]
set_property IOSTANDARD LVCMOS12 [get_ports { qsfp_modprsl }]
set_property PULLTYPE PULLUP [get_ports { qsfp_modprsl }]
set_false_path -from [get_ports { qsfp_modprsl }]

# qsfp_intl: unverified
set_property PACKAGE_PIN BE21 [get_ports { qsfp_intl }]
set_property IOSTANDARD LVCMOS12 [get_ports { qsfp_intl }]
set_property PULLTYPE PULLUP [get_ports { qsfp_intl }]
set_false_path -from [get_ports { qsfp_intl }]

# i2c_scl: unverified
set_property PACKAGE_PIN BF20 [get_ports { i2c_scl }]
set_property IOSTANDARD LVCMOS12 [get_ports { i2c_scl }]
set_property SLEW SLOW [get_ports { i2c_scl }]
set_property DRIVE 8 [get_ports { i2c_scl }]
set_false_path -from [get_ports { i2c_scl }]
set_false_path -to [get_ports { i2c_scl }]

# i2c_sda: unverified
set_property PACKAGE_PIN BF17 [get_ports { i2c_sda }]
set_property IOSTANDARD LVCMOS12 [get_ports { i2c_sda }]
set_property SLEW SLOW [get_ports { i2c_sda }]
set_property DRIVE 8 [get_ports { i2c_sda }]
set_false_path -from [get_ports { i2c_sda }]
set_false_path -to [get_ports { i2c_sda }]

# led: two sources
set_property PACKAGE_PIN BC21 [get_ports { led[0] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[0] }]
set_property SLEW SLOW [get_ports { led[0] }]
set_property DRIVE 8 [get_ports { led[0] }]
set_false_path -to [get_ports { led[0] }]
set_property PACKAGE_PIN BB21 [get_ports { led[1] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[1] }]
set_property SLEW SLOW [get_ports { led[1] }]
set_property DRIVE 8 [get_ports { led[1] }]
set_false_path -to [get_ports { led[1] }]
set_property PACKAGE_PIN BA20 [get_ports { led[2] }]
set_property IOSTANDARD LVCMOS12 [get_ports { led[2] }]
set_property SLEW SLOW [get_ports { led[2] }]
set_property DRIVE 8 [get_ports { led[2] }]
set_false_path -to [get_ports { led[2] }]
