# Where the rows of the tables come from. Each was read; nothing of them is copied but the fact.
#
#   source_of KEY WHERE      repository at a commit, then the file

source_of help {
    Vivado's own help: package xilinx-language-server 0.0.6, assets/json/vivado.json
}
source_of ug570 {
    AMD UG570 (v1.20.1), docs.amd.com/r/en-US/ug570-ultrascale-configuration, FPGA End of Start-Up
}
source_of ug572 {
    AMD UG572, docs.amd.com/r/en-US/ug572-ultrascale-clocking, BUFG_GT and BUFG_GT_SYNC
}
source_of ug912 {
    AMD UG912 (2024.1), docs.amd.com/r/en-US/ug912-vivado-properties, PULLTYPE
}
source_of ug949 {
    AMD UG949 (2024.2), docs.amd.com/r/en-US/ug949-vivado-design-methodology, BUFG_GT with Dynamic
    Divider
}
source_of boardfile {
    AMD's board files, part0_pins.xml, board.xml and preset.xml of the board:
    github.com/Xilinx/XilinxBoardStore 20bbb121, boards/Xilinx/vcu118/2.4 and vcu1525/1.3;
    github.com/Xilinx/open-nic-shell 940907f, board_files/Xilinx/au200/1.3, au250/1.3,
    au280/production/1.1, au55c, au55n
}
source_of corundum {
    github.com/corundum/corundum 1ca0151b, fpga/mqnic/VCU118/fpga_100g/fpga.xdc and placement.xdc,
    fpga/mqnic/Alveo/fpga_100g/fpga_au200.xdc (U200, U250, VCU1525), fpga_au280.xdc, fpga_au55.xdc
    and placement_*.xdc
}
source_of corundum_pcie4 {
    github.com/corundum/corundum 1ca0151b, fpga/mqnic/VCU118/fpga_100g/ip/pcie4_uscale_plus_0.tcl
}
source_of corundum_pcie4c {
    github.com/corundum/corundum 1ca0151b, fpga/mqnic/Alveo/fpga_100g/ip/pcie4c_uscale_plus_0.tcl
}
source_of corundum_cmac {
    github.com/corundum/corundum 1ca0151b, fpga/mqnic/VCU118/fpga_100g/ip/cmac_usplus.tcl
}
source_of taxi_block {
    github.com/fpganinja/taxi 2f2fe72, src/cndm/board/NT200A02/fpga/ip/pcie4_uscale_plus_0.tcl
}
source_of taxi_quad {
    github.com/fpganinja/taxi 2f2fe72, src/cndm/board/AS02MC04/fpga/ip/pcie4_uscale_plus_0.tcl
}
source_of taxi_flash {
    github.com/fpganinja/taxi 2f2fe72, src/eth/example/VCU118/fpga/fpga/Makefile
}
source_of opennic {
    github.com/Xilinx/open-nic-shell 940907f, constr/au200, au250, au280, au55c, au55n: pins.xdc
    and general.xdc
}
source_of opennic_cmac {
    github.com/Xilinx/open-nic-shell 940907f, src/cmac_subsystem/vivado_ip/cmac_usplus_0_au200.tcl
    and those of au250, au280, au55c, au55n
}
source_of opennic_build {
    github.com/Xilinx/open-nic-shell 940907f, script/build.tcl
}
source_of aws_pcie4c {
    github.com/aws/aws-fpga fd77a727,
    hdk/common/ip/cl_ip/cl_ip.gen/sources_1/ip/pcie_bridge_ep/ip_0/pcie_bridge_ep_pcie4c_ip.xci:
    all 659 parameters
}
source_of aws_core_top {
    github.com/aws/aws-fpga fd77a727, the same folder,
    source/pcie_bridge_ep_pcie4c_ip_pcie4c_uscale_core_top.v, line 5248
}
source_of alivu9p_cmac {
    github.com/SS1234567890/open-nic-Alivu9p 0d1864c, ip/cmac_usplus_0/cmac_usplus_0.xci: all 85
    parameters
}
source_of litepcie {
    github.com/enjoy-digital/litepcie a71443e, litepcie/phy/usppciephy.py
}
source_of m2sdr {
    github.com/enjoy-digital/litex_m2sdr 8c363ec, litex_m2sdr_platform.py
}
source_of ndk_pcie4 {
    github.com/CESNET/ndk-fpga d2c22dc8,
    cards/silicom/fb4cgg3/src/ip/pcie4_uscale_plus/pcie4_uscale_plus.ip.tcl
}
source_of ndk {
    github.com/CESNET/ndk-fpga d2c22dc8, build/Vivado_non_prj.inc.tcl
}
