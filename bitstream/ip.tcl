# The vendor's cores of a board: PCIe block and 100G MAC, with every setting that the card relies
# on. `build.tcl` sources it.
#
#   board.tcl ──► zeronic_* ──► create_ip, set_property ──► $zeronic_ip_dir/CORE_0/CORE_0.xci
#
# What each setting must be, and which source of the card assumes it, is in docs/hardware.md.
# Versions are stated: another one may have other parameters, and Vivado then says so.
# Source: PG213 (PCIe), PG203 (MAC), UG835.

# Version of each core's interface, not of Vivado.
array set zeronic_core_versions {
    pcie4_uscale_plus  1.3
    pcie4c_uscale_plus 1.0
    cmac_usplus        3.1
}

# Settings of the PCIe block. Hexadecimal values have no `0x`, as the core wants them.
set zeronic_pcie_settings [list \
    CONFIG.mode_selection                      Advanced \
    CONFIG.pcie_blk_locn                       $zeronic_pcie_location \
    CONFIG.en_gt_selection                     true \
    CONFIG.select_quad                         $zeronic_pcie_quad \
    CONFIG.PL_LINK_CAP_MAX_LINK_SPEED          8.0_GT/s \
    CONFIG.PL_LINK_CAP_MAX_LINK_WIDTH          X16 \
    CONFIG.axisten_if_width                    512_bit \
    CONFIG.axisten_freq                        250 \
    CONFIG.AXISTEN_IF_RQ_ALIGNMENT_MODE        DWORD_Aligned \
    CONFIG.AXISTEN_IF_CQ_ALIGNMENT_MODE        DWORD_Aligned \
    CONFIG.AXISTEN_IF_EXT_512_RQ_STRADDLE      true \
    CONFIG.AXISTEN_IF_EXT_512_RC_4TLP_STRADDLE true \
    CONFIG.AXISTEN_IF_EXT_512_CQ_STRADDLE      false \
    CONFIG.AXISTEN_IF_EXT_512_CC_STRADDLE      false \
    CONFIG.axisten_if_enable_client_tag        true \
    CONFIG.extended_tag_field                  true \
    CONFIG.pf0_dev_cap_max_payload             1024_bytes \
    CONFIG.PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE true \
    CONFIG.cfg_mgmt_if                         true \
    CONFIG.cfg_fc_if                           true \
    CONFIG.vendor_id                           $zeronic_pci_vendor \
    CONFIG.PF0_DEVICE_ID                       $zeronic_pci_device \
    CONFIG.PF0_SUBSYSTEM_VENDOR_ID             $zeronic_pci_subsystem_vendor \
    CONFIG.PF0_SUBSYSTEM_ID                    $zeronic_pci_subsystem \
    CONFIG.PF0_REVISION_ID                     $zeronic_pci_revision \
    CONFIG.PF0_Use_Class_Code_Lookup_Assistant false \
    CONFIG.PF0_CLASS_CODE                      $zeronic_pci_class \
    CONFIG.pf0_bar0_enabled                    true \
    CONFIG.pf0_bar0_64bit                      true \
    CONFIG.pf0_bar0_prefetchable               true \
    CONFIG.pf0_bar0_scale                      Megabytes \
    CONFIG.pf0_bar0_size                       16 \
    CONFIG.pf0_msi_enabled                     false \
    CONFIG.pf0_msix_enabled                    true \
    CONFIG.MSI_X_OPTIONS                       MSI-X_External \
    CONFIG.PF0_MSIX_CAP_TABLE_SIZE             $zeronic_msix_last \
    CONFIG.PF0_MSIX_CAP_TABLE_BIR              BAR_1:0 \
    CONFIG.PF0_MSIX_CAP_TABLE_OFFSET           00010000 \
    CONFIG.PF0_MSIX_CAP_PBA_BIR                BAR_1:0 \
    CONFIG.PF0_MSIX_CAP_PBA_OFFSET             00018000 \
]

# The MAC, of an image that has a card.
if {[info exists zeronic_card]} {
    # The four transceivers of a group: X1Y48~X1Y51 is X1Y48, X1Y49, X1Y50, X1Y51.
    if {![regexp {^(X\d+Y)(\d+)~X\d+Y(\d+)$} $zeronic_cmac_gt_group -> zeronic_column first last]
            || $last - $first != 3} {
        error "zeronic_cmac_gt_group: four transceivers as X1Y48~X1Y51,\
            not '$zeronic_cmac_gt_group'"
    }

    # Settings of the MAC. Everything that may change while it runs is in its registers.
    set zeronic_cmac_settings [list \
        CONFIG.CMAC_CAUI4_MODE             1 \
        CONFIG.NUM_LANES                   4x25 \
        CONFIG.USER_INTERFACE              AXIS \
        CONFIG.GT_REF_CLK_FREQ             $zeronic_cmac_refclk_mhz \
        CONFIG.GT_DRP_CLK                  100.00 \
        CONFIG.ENABLE_AXI_INTERFACE        1 \
        CONFIG.INCLUDE_STATISTICS_COUNTERS 1 \
        CONFIG.INCLUDE_RS_FEC              1 \
        CONFIG.TX_FLOW_CONTROL             1 \
        CONFIG.RX_FLOW_CONTROL             1 \
        CONFIG.RX_FORWARD_CONTROL_FRAMES   0 \
        CONFIG.RX_CHECK_ACK                0 \
        CONFIG.RX_MIN_PACKET_LEN           64 \
        CONFIG.RX_MAX_PACKET_LEN           9600 \
        CONFIG.ENABLE_TIME_STAMPING        0 \
        CONFIG.ENABLE_PIPELINE_REG         1 \
        CONFIG.CMAC_CORE_SELECT            CMACE4_$zeronic_cmac_location \
        CONFIG.GT_GROUP_SELECT             $zeronic_cmac_gt_group \
    ]
    for {set lane 1} {$lane <= 10} {incr lane} {
        set place [expr {$lane <= 4 ? "$zeronic_column[expr {$first + $lane - 1}]" : "NA"}]
        lappend zeronic_cmac_settings CONFIG.LANE${lane}_GT_LOC $place
    }
}

# A core that an earlier run has made is read; its settings are checked below.
proc zeronic_core {core settings} {
    global zeronic_core_versions zeronic_ip_dir
    set module ${core}_0
    set file [file join $zeronic_ip_dir $module $module.xci]
    if {[file exists $file]} {
        read_ip $file
    } else {
        create_ip -name $core -vendor xilinx.com -library ip \
            -version $zeronic_core_versions($core) -module_name $module -dir $zeronic_ip_dir
        set_property -dict $settings [get_ips $module]
    }
    # A setting that the core has not taken would be found on the board only.
    foreach {name value} $settings {
        set found [get_property $name [get_ips $module]]
        if {![string equal -nocase $found $value] && !($found == $value)} {
            error "$module: $name is '$found', to be '$value'; remove [file dirname $file]"
        }
    }
    generate_target all [get_ips $module]
    synth_ip [get_ips $module]
}

zeronic_core $zeronic_pcie_ip $zeronic_pcie_settings
if {[info exists zeronic_card]} {
    zeronic_core cmac_usplus $zeronic_cmac_settings
}
