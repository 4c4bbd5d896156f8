//! Faults in what Vivado is told, one at a time, and the words that `replay.tcl` has for each.

use crate::facts::{find_board, flash_words, run_script, stub, QUICK};
use crate::{folder, problems, replay_build, Fault, Files};

use sim::switched::replace_once;

/// What an engineer planted when nothing compared it with what Vivado takes.
const REPORTED: [Fault; 8] = [
    (
        "ip.tcl",
        "CONFIG.AXISTEN_IF_EXT_512_RQ_STRADDLE ",
        "CONFIG.AXISTEN_IF_EXT_512_RQ_STRADLE ",
        "CONFIG.AXISTEN_IF_EXT_512_RQ_STRADLE: no source has it",
    ),
    ("board.tcl", "X1Y2\n", "X9Y9\n", "CONFIG.pcie_blk_locn is 'X9Y9'; sources have X1Y2"),
    (
        "constraints/pins.xdc",
        "PACKAGE_PIN AM17 ",
        "PACKAGE_PIN ZZ99 ",
        "port pcie_reset_n at ZZ99; sources have AM17",
    ),
    (
        "constraints/pins.xdc",
        "IOSTANDARD LVCMOS18 [get_ports { pcie_reset_n }]",
        "IOSTANDARD LVCMOS33 [get_ports { pcie_reset_n }]",
        "port pcie_reset_n at AM17: IO standard LVCMOS33; sources have LVCMOS18",
    ),
    (
        "constraints/config.xdc",
        "CONFIG_VOLTAGE 1.8",
        "CONFIG_VOLTAGE 3.3",
        "property CONFIG_VOLTAGE of design is '3.3'; sources have 1.8",
    ),
    (
        "constraints/pins.xdc",
        "SLEW SLOW [get_ports { led[0] }]",
        "SLEWW SLOW [get_ports { led[0] }]",
        "property SLEWW of port: no source has it",
    ),
    (
        "constraints/config.xdc",
        "SPI_BUSWIDTH ",
        "SPI_BUSWIDTHH ",
        "property BITSTREAM.CONFIG.SPI_BUSWIDTHH of design: no source has it",
    ),
    (
        "board.tcl",
        "156.25",
        "161.1328125",
        "CONFIG.GT_REF_CLK_FREQ is '161.1328125'; sources have 156.25",
    ),
];

/// Others of all kinds.
const OURS: [Fault; 53] = [
    (
        "constraints/pins.xdc",
        "SLEW SLOW [get_ports { led[0] }]",
        "SLEW SLOWER [get_ports { led[0] }]",
        "property SLEW of port is 'SLOWER'; sources have SLOW or FAST",
    ),
    (
        "constraints/pins.xdc",
        "DRIVE 8 [get_ports { led[0] }]",
        "DRIVE 12 [get_ports { led[0] }]",
        "port led[0]: DRIVE with LVCMOS12 is '12'; sources have 8",
    ),
    (
        "constraints/pins.xdc",
        "PULLTYPE PULLUP [get_ports { pcie_reset_n }]",
        "PULLTYPE UP [get_ports { pcie_reset_n }]",
        "property PULLTYPE of port is 'UP'",
    ),
    (
        "constraints/config.xdc",
        "CFGBVS GND",
        "CFGBVS VCCO",
        "property CFGBVS of design is 'VCCO'; sources have GND",
    ),
    (
        "constraints/config.xdc",
        "COMPRESS TRUE",
        "COMPRESS YES",
        "property BITSTREAM.GENERAL.COMPRESS of design is 'YES'",
    ),
    (
        "constraints/config.xdc",
        "CONFIGFALLBACK ENABLE",
        "CONFIGFALLBACK ON",
        "CONFIGFALLBACK of design is 'ON'; sources have ENABLE",
    ),
    (
        "constraints/config.xdc",
        "SPI_32BIT_ADDR YES",
        "SPI_32BIT_ADDR 32",
        "SPI_32BIT_ADDR of design is '32'; sources have YES",
    ),
    (
        "constraints/config.xdc",
        "SPI_BUSWIDTH 8",
        "SPI_BUSWIDTH 4",
        "SPI_BUSWIDTH of design is '4'; sources have 8",
    ),
    (
        "constraints/config.xdc",
        "EXTMASTERCCLK_EN DIV-1",
        "EXTMASTERCCLK_EN DIV-3",
        "EXTMASTERCCLK_EN of design is 'DIV-3'; sources have DIV-1",
    ),
    (
        "constraints/config.xdc",
        "BITSTREAM.CONFIG.OVERTEMPSHUTDOWN ENABLE",
        "BITSTREAM.CONFIG.CONFIGRATE 85.0",
        "CONFIGRATE of design: no source has it for the board 'vcu118'",
    ),
    (
        "constraints/pins.xdc",
        "PACKAGE_PIN AT32 ",
        "PACKAGE_PIN BC21 ",
        "port led[0] at BC21; sources have AT32",
    ),
    (
        "constraints/pins.xdc",
        "PACKAGE_PIN AA4 ",
        "PACKAGE_PIN AB2 ",
        "port pcie_rx_p[0] at AB2; sources have AA4",
    ),
    (
        "constraints/pins.xdc",
        "IOSTANDARD LVCMOS18 [get_ports { i2c_scl }]",
        "IOSTANDARD LVCMOS12 [get_ports { i2c_scl }]",
        "port i2c_scl: LVCMOS12 needs a bank of 1.2 V; sources have LVCMOS18 there, 1.8 V",
    ),
    (
        "constraints/pins.xdc",
        "-name pcie_refclk -period 10 ",
        "-name pcie_refclk -period 8 ",
        "clock at port pcie_refclk_p is '8'; sources have 10",
    ),
    (
        "constraints/pins.xdc",
        "-name free_clock -period 8 ",
        "-name free_clock -period 3.333 ",
        "clock at port free_clock_p is '3.333'; sources have 8",
    ),
    (
        "constraints/pins.xdc",
        "-name qsfp_refclk -period 6.4 ",
        "-name qsfp_refclk -period 6.206 ",
        "CONFIG.GT_REF_CLK_FREQ is 156.25 MHz, the clock at port qsfp_refclk_p has 6.206 ns",
    ),
    (
        "constraints/pins.xdc",
        "-name pcie_refclk -period",
        "-name pcie_refclk -perod",
        "create_clock has no option -perod",
    ),
    (
        "board.tcl",
        "xcvu9p-flga2104-2L-e\n",
        "xcvu9p-flga2104-1-e\n",
        "part of vcu118 is 'xcvu9p-flga2104-1-e'; sources have xcvu9p-flga2104-2L-e",
    ),
    (
        "board.tcl",
        "board                vcu118\n",
        "board                vcu119\n",
        "no source has it for the board 'vcu119'",
    ),
    (
        "board.tcl",
        "GTY_Quad_227",
        "GTY_Quad_224",
        "CONFIG.select_quad is 'GTY_Quad_224'; sources have GTY_Quad_227",
    ),
    (
        "board.tcl",
        "X0Y7\n",
        "X0Y8\n",
        "CONFIG.CMAC_CORE_SELECT is 'CMACE4_X0Y8'; sources have CMACE4_X0Y7",
    ),
    ("board.tcl", "X1Y48~X1Y51", "X1Y52~X1Y55", "CONFIG.GT_GROUP_SELECT is 'X1Y52~X1Y55'"),
    (
        "ip.tcl",
        "cmac_usplus        3.1",
        "cmac_usplus        2.6",
        "create_ip cmac_usplus: version is '2.6'; sources have 3.1",
    ),
    ("ip.tcl", "1024_bytes", "1024", "CONFIG.pf0_dev_cap_max_payload is '1024'"),
    (
        "ip.tcl",
        "8.0_GT/s",
        "8.0GT/s",
        "CONFIG.PL_LINK_CAP_MAX_LINK_SPEED is '8.0GT/s'; sources have 8.0_GT/s",
    ),
    (
        "ip.tcl",
        "CONFIG.pf0_bar0_size                       16",
        "CONFIG.pf0_bar0_size                       24",
        "CONFIG.pf0_bar0_size is '24'",
    ),
    (
        "ip.tcl",
        "CONFIG.PF0_CLASS_CODE                      $zeronic_pci_class",
        "CONFIG.PF0_CLASS_CODE                      0200",
        "CONFIG.PF0_CLASS_CODE is '0200'; sources have hex6",
    ),
    (
        "ip.tcl",
        "CONFIG.TX_FLOW_CONTROL             1",
        "CONFIG.TX_FLOW_CONTROL             true",
        "CONFIG.TX_FLOW_CONTROL is 'true'; sources have bit",
    ),
    (
        "ip.tcl",
        "CONFIG.NUM_LANES                   4x25",
        "CONFIG.NUM_LANES                   10x10",
        "CONFIG.NUM_LANES is '10x10'; sources have 4x25",
    ),
    (
        "ip.tcl",
        "CONFIG.AXISTEN_IF_EXT_512_CQ_STRADDLE      false",
        "CONFIG.AXISTEN_IF_EXT_512_CQ_STRADDLE      true",
        "docs/hardware.md, 'straddle, CQ and CC'",
    ),
    (
        "ip.tcl",
        "CONFIG.axisten_if_enable_client_tag        true",
        "CONFIG.axisten_if_enable_client_tag        false",
        "docs/hardware.md, 'tags'",
    ),
    (
        "ip.tcl",
        "CONFIG.PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE true",
        "CONFIG.PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE false",
        "docs/hardware.md, 'function level reset'",
    ),
    (
        "ip.tcl",
        "CONFIG.RX_CHECK_ACK                0",
        "CONFIG.RX_CHECK_ACK                1",
        "docs/hardware.md, 'end of a pause'",
    ),
    ("ip.tcl", "00010000", "00012000", "docs/hardware.md, 'MSI-X table, pending bits'"),
    (
        "ip.tcl",
        "CONFIG.RX_MAX_PACKET_LEN           9600",
        "CONFIG.RX_MAX_PACKET_LEN           1518",
        "docs/hardware.md, 'longest frame received'",
    ),
    (
        "ip.tcl",
        "    CONFIG.cfg_fc_if                           true \\\n",
        "",
        "CONFIG.cfg_fc_if is not set; docs/hardware.md has 'flow control'",
    ),
    ("constraints/floorplan.xdc", "{SLR2}", "{SLR3}", "SLR3: the device of vcu118 has 3 dies"),
    (
        "constraints/floorplan.xdc",
        "{SLR2}",
        "{SLICE_X0Y0}",
        "resize_pblock -add SLICE_X0Y0: not a die",
    ),
    (
        "constraints/floorplan.xdc",
        "create_pblock pblock_mac\n",
        "create_pblock pblock_mac\nopt_design\n",
        "command opt_design: constraints may not have it",
    ),
    (
        "top.v",
        "        .sys_clk(divided)",
        "        .sys_clk(buffered)",
        "pcie4_uscale_plus.sys_clk, with a BUFG_GT inside, is driven by BUFG_GT.O",
    ),
    (
        "top.v",
        "    zeronic_stub card (",
        "    BUFG_GT second (\n        .I(divided)\n    );\n\n    zeronic_stub card (",
        "the net at pcie4_uscale_plus.sys_clk, with a BUFG_GT inside, is also at second \
         (BUFG_GT.I)",
    ),
    (
        "top.v",
        "    zeronic_stub card (",
        "    BUFG_GT second (\n        .I(user_clk)\n    );\n\n    zeronic_stub card (",
        "second: BUFG_GT.I is driven by pcie4_uscale_plus.user_clk",
    ),
    (
        "build.tcl",
        "place_design -directive Explore",
        "place_design -directive Explored",
        "place_design -directive Explored: Vivado's help knows",
    ),
    (
        "build.tcl",
        "-flatten_hierarchy rebuilt",
        "-flatten_hierarchy rebuild",
        "synth_design -flatten_hierarchy rebuild: Vivado's help knows",
    ),
    (
        "build.tcl",
        "PROCESSING_ORDER LATE",
        "PROCESSING_ORDER LAST",
        "property PROCESSING_ORDER of file is 'LAST'",
    ),
    (
        "build.tcl",
        "set_param general.maxThreads",
        "set_param general.maxThread",
        "set_param general.maxThread: no source has it",
    ),
    (
        "image.tcl",
        "-interface $zeronic_flash_interface",
        "-interface SPIx9",
        "write_cfgmem -interface SPIx9: Vivado's help knows",
    ),
    ("image.tcl", " \\\n        -size $zeronic_flash_size_mib", "", "write_cfgmem without -size"),
    ("image.tcl", "USERID 0x", "USERID ", "property BITSTREAM.CONFIG.USERID of design is"),
    (
        "flash.tcl",
        "{use_file}",
        "{whole}",
        "property PROGRAM.ADDRESS_RANGE of hw_cfgmem is 'whole'; sources have use_file",
    ),
    (
        "flash.tcl",
        "PROGRAM.ERASE 1",
        "PROGRAM.ERASED 1",
        "property PROGRAM.ERASED of hw_cfgmem: no source has it",
    ),
    (
        "flash.tcl",
        "create_hw_cfgmem -hw_device",
        "create_hw_cfgmem -device",
        "create_hw_cfgmem has no option -device",
    ),
    (
        "flash.tcl",
        "refresh_hw_device $zeronic_device",
        "refresh_hw_devices $zeronic_device",
        "unknown command refresh_hw_devices",
    ),
];

/// The board whose folder gets the faults.
const BOARD: &str = "vcu118";

#[test]
fn each_reported_fault_is_named() {
    for (number, fault) in REPORTED.into_iter().enumerate() {
        is_named(&format!("vivado_reported_{number}"), fault);
    }
}

#[test]
fn each_other_fault_kind_is_named() {
    assert!(OURS.len() >= 30);
    for (number, fault) in OURS.into_iter().enumerate() {
        is_named(&format!("vivado_ours_{number}"), fault);
    }
}

/// Plants a fault in a board's folder; the replay ends with 1, and names it in its own words.
fn is_named(name: &str, (file, from, to, said): Fault) {
    let mut files = stub(find_board(BOARD));
    let text = files.get_mut(file).expect(file);
    assert!(text.contains(from), "{file} has no '{from}'");
    *text = replace_once(text, from, to);
    if to.contains("buffered") {
        insert_buffer(&mut files);
    }
    let (code, text) = match file {
        "flash.tcl" => {
            // Whatever the build does, the fault is in the other script.
            let _ = replay_build(name, &files, &[QUICK]);
            run_script(name, "flash.tcl", &flash_words("write"))
        }
        _ => replay_build(name, &files, &[QUICK, ("ZERONIC_JOBS", "2")]),
    };
    let found = problems(&text);
    assert_eq!(code, Some(1), "{said}\n{text}");
    assert!(found.iter().any(|it| it.contains(said)), "{said}: {found:#?}");
    std::fs::remove_dir_all(folder(name)).expect("a folder");
}

/// A clock buffer between the reference clock and the core.
fn insert_buffer(files: &mut Files) {
    let text = files.get_mut("top.v").expect("a top");
    let buffer = "    BUFG_GT buffer (\n        .I(divided),\n        .O(buffered)\n    );\n\n";
    *text =
        replace_once(text, "    zeronic_stub card (", &format!("{buffer}    zeronic_stub card ("));
    *text = replace_once(text, "    wire divided;\n", "    wire divided;\n    wire buffered;\n");
}
