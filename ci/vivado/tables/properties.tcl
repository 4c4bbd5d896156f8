# Properties: of what, name, values, who says so.
#
#   property KIND NAME VALUES SOURCES
#   drive STANDARD VALUES SOURCES          drive strengths of an IO standard, mA
#   voltage STANDARD VOLTS                 supply of its bank (UG571); {}: an input takes any
#
# KIND: port, design, file, ip, path, clock, cell, hw_device, hw_cfgmem, param. VALUES as in
# parameters.tcl; `place`: places.tcl; `any`; `text`: what the script itself makes.

property port PACKAGE_PIN place                         corundum
property port IOSTANDARD  {LVCMOS12 LVCMOS18 LVDS DIFF_SSTL12} corundum
property port SLEW        {SLOW FAST}                   corundum
property port DRIVE       {4 8 12}                      corundum
property port PULLTYPE    {PULLUP PULLDOWN KEEPER}      ug912
property port PULLUP      boolean                       corundum

drive LVCMOS12 8      corundum
drive LVCMOS18 {8 12} corundum

voltage LVCMOS12    1.2
voltage LVCMOS18    1.8
voltage DIFF_SSTL12 1.2
voltage LVDS        {}

property design CFGBVS         place corundum
property design CONFIG_VOLTAGE place corundum
foreach name {
    GENERAL.COMPRESS CONFIG.CONFIGFALLBACK CONFIG.SPI_32BIT_ADDR CONFIG.SPI_BUSWIDTH
    CONFIG.SPI_FALL_EDGE CONFIG.EXTMASTERCCLK_EN CONFIG.CONFIGRATE CONFIG.UNUSEDPIN
    CONFIG.OVERTEMPSHUTDOWN
} {
    property design BITSTREAM.$name place corundum
}
property design BITSTREAM.CONFIG.USERID             hex32              opennic_build
property design BITSTREAM.CONFIG.NEXT_CONFIG_ADDR   hex32              m2sdr
property design BITSTREAM.CONFIG.NEXT_CONFIG_REBOOT {ENABLE DISABLE}   {}
property design BITSTREAM.CONFIG.TIMER_CFG          hex32              {m2sdr ug570}

property file PROCESSING_ORDER  {EARLY NORMAL LATE} ndk
property file USED_IN_SYNTHESIS boolean             {}

property clock PERIOD         any {}
property path  SLACK          any help
property path  LOGIC_LEVELS   any help
property path  STARTPOINT_PIN any help
property path  ENDPOINT_PIN   any help
property cell  NAME           any help

property hw_device IDCODE_HEX                  any          {}
property hw_device PROGRAM.FILE                any          taxi_flash
property hw_device PROGRAM.HW_CFGMEM           any          taxi_flash
property hw_device PROGRAM.HW_CFGMEM_BITFILE   any          taxi_flash
property hw_cfgmem PROGRAM.FILES               any          taxi_flash
property hw_cfgmem PROGRAM.ADDRESS_RANGE       {use_file}   taxi_flash
property hw_cfgmem PROGRAM.UNUSED_PIN_TERMINATION {pull-none pull-up pull-down} taxi_flash
property hw_cfgmem PROGRAM.BLANK_CHECK         bit          help
property hw_cfgmem PROGRAM.CHECKSUM            bit          taxi_flash
property hw_cfgmem PROGRAM.ERASE               bit          taxi_flash
property hw_cfgmem PROGRAM.CFG_PROGRAM         bit          taxi_flash
property hw_cfgmem PROGRAM.VERIFY              bit          taxi_flash

property param general.maxThreads natural help
