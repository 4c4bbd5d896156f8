# What depends on the board: part, sites, reference clocks, configuration, dies.
#
#   place BOARDS NAME VALUES SOURCES
#
# NAME is a parameter of a core (CORE.PARAMETER), a property of the design, or one of ours:
#   part             part of the board
#   dies             how many dies (SLRs) the device has
#   clock.PORT       period of the clock at a port, ns
# Two values: two sources that differ.

set alveo {u200 u250}
set fsgd  {vcu1525 u200 u250}
set hbm   {u280 u55c u55n}
set all   [concat vcu118 $fsgd $hbm]

place vcu118  part xcvu9p-flga2104-2L-e boardfile
place vcu1525 part xcvu9p-fsgd2104-2L-e boardfile
place u200    part xcu200-fsgd2104-2-e  boardfile
place u250    part {xcu250-figd2104-2L-e xcu250-figd2104-2-e} {boardfile corundum}
place u280    part xcu280-fsvh2892-2L-e boardfile
place u55c    part xcu55c-fsvh2892-2L-e boardfile
place u55n    part xcu55n-fsvh2892-2L-e boardfile

place {vcu118 vcu1525 u200} dies 3 corundum
place u250                  dies 4 corundum
place $hbm                  dies 3 corundum

place {vcu118 vcu1525 u200} pcie4_uscale_plus.pcie_blk_locn  X1Y2 boardfile
place u250                  pcie4_uscale_plus.pcie_blk_locn  X0Y1 boardfile
# The core itself has its site as X1Y0; PCIE4C_X1Y0 is what the cores around it (xdma, qdma) take,
# and how the board files name it.
place u280                  pcie4c_uscale_plus.pcie_blk_locn X1Y0 {boardfile aws_pcie4c}
place {u55c u55n}           pcie4c_uscale_plus.pcie_blk_locn X1Y1 {boardfile aws_pcie4c}
place {vcu118 vcu1525 u200 u250} pcie4_uscale_plus.select_quad  GTY_Quad_227 boardfile
place $hbm                       pcie4c_uscale_plus.select_quad GTY_Quad_227 boardfile

place vcu118      cmac_usplus.CMAC_CORE_SELECT CMACE4_X0Y7 {corundum boardfile}
place vcu1525     cmac_usplus.CMAC_CORE_SELECT CMACE4_X0Y8 corundum
place u200        cmac_usplus.CMAC_CORE_SELECT {CMACE4_X0Y8 CMACE4_X0Y6} {corundum opennic_cmac}
place u250        cmac_usplus.CMAC_CORE_SELECT CMACE4_X0Y8 {corundum opennic_cmac}
place u280        cmac_usplus.CMAC_CORE_SELECT CMACE4_X0Y6 {corundum opennic_cmac}
place {u55c u55n} cmac_usplus.CMAC_CORE_SELECT CMACE4_X0Y3 {corundum opennic_cmac}

place {vcu118 vcu1525} cmac_usplus.GT_GROUP_SELECT X1Y48~X1Y51 {}
place u200        cmac_usplus.GT_GROUP_SELECT X1Y48~X1Y51 opennic_cmac
place u250        cmac_usplus.GT_GROUP_SELECT X1Y44~X1Y47 opennic_cmac
place u280        cmac_usplus.GT_GROUP_SELECT X0Y40~X0Y43 opennic_cmac
place {u55c u55n} cmac_usplus.GT_GROUP_SELECT X0Y24~X0Y27 opennic_cmac

place vcu118      cmac_usplus.GT_REF_CLK_FREQ 156.25 {corundum boardfile}
place vcu1525     cmac_usplus.GT_REF_CLK_FREQ 156.25 {}
place {u200 u250 u280} cmac_usplus.GT_REF_CLK_FREQ 156.25 opennic_cmac
place {u55c u55n} cmac_usplus.GT_REF_CLK_FREQ 161.1328125 opennic_cmac

place $all              clock.pcie_refclk_p 10 {corundum litepcie}
place {vcu118 vcu1525 u200 u250 u280} clock.qsfp_refclk_p 6.4 {corundum opennic}
place {u55c u55n}       clock.qsfp_refclk_p 6.206 {corundum opennic}
place vcu118            clock.free_clock_p 8 {corundum boardfile}
place $fsgd             clock.free_clock_p 3.333 {corundum boardfile}
place $hbm              clock.free_clock_p 10 {corundum boardfile}

place $all CFGBVS GND corundum
place $all CONFIG_VOLTAGE 1.8 corundum
place $all BITSTREAM.GENERAL.COMPRESS TRUE corundum
place [concat $fsgd $hbm] BITSTREAM.CONFIG.CONFIGFALLBACK ENABLE corundum
place vcu118              BITSTREAM.CONFIG.CONFIGFALLBACK ENABLE {}
place $all BITSTREAM.CONFIG.SPI_32BIT_ADDR YES corundum
place vcu118              BITSTREAM.CONFIG.SPI_BUSWIDTH 8 corundum
place [concat $fsgd $hbm] BITSTREAM.CONFIG.SPI_BUSWIDTH 4 corundum
place $all BITSTREAM.CONFIG.SPI_FALL_EDGE YES corundum
place vcu118              BITSTREAM.CONFIG.EXTMASTERCCLK_EN DIV-1 corundum
place [concat $fsgd $hbm] BITSTREAM.CONFIG.EXTMASTERCCLK_EN DISABLE corundum
place $fsgd BITSTREAM.CONFIG.CONFIGRATE 63.8 corundum
place $hbm  BITSTREAM.CONFIG.CONFIGRATE 85.0 corundum
place [concat $fsgd $hbm] BITSTREAM.CONFIG.UNUSEDPIN PULLUP corundum
place $all BITSTREAM.CONFIG.OVERTEMPSHUTDOWN ENABLE corundum
