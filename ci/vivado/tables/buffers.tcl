# Clock buffers: what may drive them, and which ports of a core have one inside.
#
#   drivers PRIMITIVE PIN DRIVERS SOURCES     DRIVERS: PRIMITIVE.PIN or CORE.PORT, the only ones
#   inside CORE PORT PRIMITIVE SOURCES        the core's port leads to such a buffer in it
#   outputs MODULE PINS                       clocks that a primitive or core gives
#
# A net at a port with a buffer inside has no other load: a second BUFG_GT on it passes placement
# and ends in DRC BFGTL-1 and Route 35-4445.

set gts {IBUFDS_GTE4.ODIV2 GTYE4_CHANNEL.TXOUTCLK GTYE4_CHANNEL.RXOUTCLK GTHE4_CHANNEL.TXOUTCLK
    GTHE4_CHANNEL.RXOUTCLK}
drivers BUFG_GT I $gts {ug572 ug949}
inside pcie4_uscale_plus  sys_clk BUFG_GT litepcie
inside pcie4c_uscale_plus sys_clk BUFG_GT aws_core_top

outputs IBUFDS_GTE4 {O ODIV2}
outputs IBUFDS      {O}
outputs BUFG_GT     {O}
outputs BUFGCE      {O}
outputs BUFG        {O}
outputs BUFGCE_DIV  {O}
outputs MMCME4_BASE {CLKOUT0 CLKOUT1 CLKOUT2 CLKOUT3 CLKOUT4 CLKOUT5 CLKOUT6 CLKFBOUT}
outputs MMCME4_ADV  {CLKOUT0 CLKOUT1 CLKOUT2 CLKOUT3 CLKOUT4 CLKOUT5 CLKOUT6 CLKFBOUT}
outputs PLLE4_BASE  {CLKOUT0 CLKOUT1 CLKFBOUT}
outputs STARTUPE3   {CFGCLK CFGMCLK}
outputs GTYE4_CHANNEL {TXOUTCLK RXOUTCLK}
outputs GTHE4_CHANNEL {TXOUTCLK RXOUTCLK}
outputs pcie4_uscale_plus  {user_clk user_reset user_lnk_up}
outputs pcie4c_uscale_plus {user_clk user_reset user_lnk_up}
outputs cmac_usplus {gt_txusrclk2 gt_rxusrclk2 gt_ref_clk_out}
