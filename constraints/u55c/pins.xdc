# Zeronic: AMD Alveo U55C, xcu55c-fsvh2892-2L-e: pins and the clocks at them.

# Negative lanes have no line: they follow from the positive ones.

# pcie_refclk_p: unverified
set_property PACKAGE_PIN AR15 [get_ports { pcie_refclk_p }]
create_clock -name pcie_refclk -period 10 [get_ports { pcie_refclk_p }]

# pcie_refclk_n: unverified
set_property PACKAGE_PIN AR14 [get_ports { pcie_refclk_n }]

# pcie_reset_n: unverified
set_property PACKAGE_PIN BF41 [get_ports { pcie_reset_n }]
set_property IOSTANDARD LVCMOS18 [get_ports { pcie_reset_n }]
set_property PULLTYPE PULLUP [get_ports { pcie_reset_n }]
set_false_path -from [get_ports { pcie_reset_n }]

# pcie_rx_p: unverified
set_property PACKAGE_PIN AL2 [get_ports { pcie_rx_p[0] }]
set_property PACKAGE_PIN AM4 [get_ports { pcie_rx_p[1] }]
set_property PACKAGE_PIN AN6 [get_ports { pcie_rx_p[2] }]
set_property PACKAGE_PIN AN2 [get_ports { pcie_rx_p[3] }]
set_property PACKAGE_PIN AP4 [get_ports { pcie_rx_p[4] }]
set_property PACKAGE_PIN AR2 [get_ports { pcie_rx_p[5] }]
set_property PACKAGE_PIN AT4 [get_ports { pcie_rx_p[6] }]
set_property PACKAGE_PIN AU2 [get_ports { pcie_rx_p[7] }]
set_property PACKAGE_PIN AV4 [get_ports { pcie_rx_p[8] }]
set_property PACKAGE_PIN AW6 [get_ports { pcie_rx_p[9] }]
set_property PACKAGE_PIN AW2 [get_ports { pcie_rx_p[10] }]
set_property PACKAGE_PIN AY4 [get_ports { pcie_rx_p[11] }]
set_property PACKAGE_PIN BA6 [get_ports { pcie_rx_p[12] }]
set_property PACKAGE_PIN BA2 [get_ports { pcie_rx_p[13] }]
set_property PACKAGE_PIN BB4 [get_ports { pcie_rx_p[14] }]
set_property PACKAGE_PIN BC2 [get_ports { pcie_rx_p[15] }]

# pcie_tx_p: unverified
set_property PACKAGE_PIN AL11 [get_ports { pcie_tx_p[0] }]
set_property PACKAGE_PIN AM9 [get_ports { pcie_tx_p[1] }]
set_property PACKAGE_PIN AN11 [get_ports { pcie_tx_p[2] }]
set_property PACKAGE_PIN AP9 [get_ports { pcie_tx_p[3] }]
set_property PACKAGE_PIN AR11 [get_ports { pcie_tx_p[4] }]
set_property PACKAGE_PIN AR7 [get_ports { pcie_tx_p[5] }]
set_property PACKAGE_PIN AT9 [get_ports { pcie_tx_p[6] }]
set_property PACKAGE_PIN AU11 [get_ports { pcie_tx_p[7] }]
set_property PACKAGE_PIN AU7 [get_ports { pcie_tx_p[8] }]
set_property PACKAGE_PIN AV9 [get_ports { pcie_tx_p[9] }]
set_property PACKAGE_PIN AW11 [get_ports { pcie_tx_p[10] }]
set_property PACKAGE_PIN AY9 [get_ports { pcie_tx_p[11] }]
set_property PACKAGE_PIN BA11 [get_ports { pcie_tx_p[12] }]
set_property PACKAGE_PIN BB9 [get_ports { pcie_tx_p[13] }]
set_property PACKAGE_PIN BC11 [get_ports { pcie_tx_p[14] }]
set_property PACKAGE_PIN BC7 [get_ports { pcie_tx_p[15] }]

# qsfp_refclk_p: unverified
set_property PACKAGE_PIN AD42 [get_ports { qsfp_refclk_p }]
create_clock -name qsfp_refclk -period 6.206 [get_ports { qsfp_refclk_p }]

# qsfp_refclk_n: unverified
set_property PACKAGE_PIN AD43 [get_ports { qsfp_refclk_n }]

# qsfp_rx_p: unverified
set_property PACKAGE_PIN AD51 [get_ports { qsfp_rx_p[0] }]
set_property PACKAGE_PIN AC53 [get_ports { qsfp_rx_p[1] }]
set_property PACKAGE_PIN AC49 [get_ports { qsfp_rx_p[2] }]
set_property PACKAGE_PIN AB51 [get_ports { qsfp_rx_p[3] }]

# qsfp_tx_p: unverified
set_property PACKAGE_PIN AD46 [get_ports { qsfp_tx_p[0] }]
set_property PACKAGE_PIN AC44 [get_ports { qsfp_tx_p[1] }]
set_property PACKAGE_PIN AB46 [get_ports { qsfp_tx_p[2] }]
set_property PACKAGE_PIN AA48 [get_ports { qsfp_tx_p[3] }]

# free_clock_p: unverified
set_property PACKAGE_PIN BK43 [get_ports { free_clock_p }]
set_property IOSTANDARD LVDS [get_ports { free_clock_p }]
create_clock -name free_clock -period 10 [get_ports { free_clock_p }]

# free_clock_n: unverified
set_property PACKAGE_PIN BK44 [get_ports { free_clock_n }]
set_property IOSTANDARD LVDS [get_ports { free_clock_n }]

# hbm_cattrip: unverified
set_property PACKAGE_PIN BE45 [get_ports { hbm_cattrip }]
set_property IOSTANDARD LVCMOS18 [get_ports { hbm_cattrip }]
set_property SLEW SLOW [get_ports { hbm_cattrip }]
set_property DRIVE 8 [get_ports { hbm_cattrip }]
set_false_path -to [get_ports { hbm_cattrip }]

# led: unverified
set_property PACKAGE_PIN BL13 [get_ports { led[0] }]
set_property IOSTANDARD LVCMOS18 [get_ports { led[0] }]
set_property SLEW SLOW [get_ports { led[0] }]
set_property DRIVE 8 [get_ports { led[0] }]
set_false_path -to [get_ports { led[0] }]
set_property PACKAGE_PIN BK11 [get_ports { led[1] }]
set_property IOSTANDARD LVCMOS18 [get_ports { led[1] }]
set_property SLEW SLOW [get_ports { led[1] }]
set_property DRIVE 8 [get_ports { led[1] }]
set_false_path -to [get_ports { led[1] }]
set_property PACKAGE_PIN BJ11 [get_ports { led[2] }]
set_property IOSTANDARD LVCMOS18 [get_ports { led[2] }]
set_property SLEW SLOW [get_ports { led[2] }]
set_property DRIVE 8 [get_ports { led[2] }]
set_false_path -to [get_ports { led[2] }]
set_property PACKAGE_PIN BK14 [get_ports { led[3] }]
set_property IOSTANDARD LVCMOS18 [get_ports { led[3] }]
set_property SLEW SLOW [get_ports { led[3] }]
set_property DRIVE 8 [get_ports { led[3] }]
set_false_path -to [get_ports { led[3] }]
set_property PACKAGE_PIN BK15 [get_ports { led[4] }]
set_property IOSTANDARD LVCMOS18 [get_ports { led[4] }]
set_property SLEW SLOW [get_ports { led[4] }]
set_property DRIVE 8 [get_ports { led[4] }]
set_false_path -to [get_ports { led[4] }]
set_property PACKAGE_PIN BL12 [get_ports { led[5] }]
set_property IOSTANDARD LVCMOS18 [get_ports { led[5] }]
set_property SLEW SLOW [get_ports { led[5] }]
set_property DRIVE 8 [get_ports { led[5] }]
set_false_path -to [get_ports { led[5] }]
