# Parameters of the vendor's cores: names, values, who says so.
#
#   core NAME VERSION SOURCES
#   parameter CORES NAME VALUES SOURCES
#
# VALUES: a list, or `boolean` (true false), `bit` (0 1), `hexN` (N hexadecimal digits), `real`,
# `natural`, or `place`: what places.tcl says of the board. Without a source: --list-unproven.

core pcie4_uscale_plus  1.3 {}
core pcie4c_uscale_plus 1.0 aws_pcie4c
core cmac_usplus        3.1 alivu9p_cmac

set both {pcie4_uscale_plus pcie4c_uscale_plus}
parameter $both mode_selection                      {Basic Advanced}   {corundum_pcie4 aws_pcie4c}
parameter pcie4_uscale_plus  pcie_blk_locn          place              taxi_block
parameter pcie4c_uscale_plus pcie_blk_locn          place              aws_pcie4c
parameter pcie4_uscale_plus  en_gt_selection        boolean            taxi_quad
parameter pcie4c_uscale_plus en_gt_selection        boolean            aws_pcie4c
parameter pcie4_uscale_plus  select_quad            place              taxi_quad
parameter pcie4c_uscale_plus select_quad            place              aws_pcie4c
parameter $both PL_LINK_CAP_MAX_LINK_SPEED \
    8.0_GT/s           {corundum_pcie4 corundum_pcie4c}
parameter $both PL_LINK_CAP_MAX_LINK_WIDTH \
    {X4 X8 X16}        {corundum_pcie4 corundum_pcie4c}
parameter $both axisten_if_width \
    512_bit            {corundum_pcie4 corundum_pcie4c}
parameter $both axisten_freq \
    250                {corundum_pcie4 corundum_pcie4c}
parameter pcie4_uscale_plus  AXISTEN_IF_RQ_ALIGNMENT_MODE {DWORD_Aligned Address_Aligned} {}
parameter pcie4c_uscale_plus AXISTEN_IF_RQ_ALIGNMENT_MODE {DWORD_Aligned Address_Aligned} aws_pcie4c
parameter pcie4_uscale_plus  AXISTEN_IF_CQ_ALIGNMENT_MODE {DWORD_Aligned Address_Aligned} {}
parameter pcie4c_uscale_plus AXISTEN_IF_CQ_ALIGNMENT_MODE {DWORD_Aligned Address_Aligned} aws_pcie4c
parameter $both AXISTEN_IF_EXT_512_RQ_STRADDLE      boolean            {corundum_pcie4 aws_pcie4c}
parameter $both AXISTEN_IF_EXT_512_RC_4TLP_STRADDLE boolean            {corundum_pcie4 aws_pcie4c}
parameter $both AXISTEN_IF_EXT_512_CQ_STRADDLE      boolean            {corundum_pcie4 aws_pcie4c}
parameter pcie4_uscale_plus  AXISTEN_IF_EXT_512_CC_STRADDLE boolean    {}
parameter pcie4c_uscale_plus AXISTEN_IF_EXT_512_CC_STRADDLE boolean    aws_pcie4c
parameter $both axisten_if_enable_client_tag        boolean            {corundum_pcie4 aws_pcie4c}
parameter $both extended_tag_field                  boolean            {corundum_pcie4 aws_pcie4c}
parameter $both pf0_dev_cap_max_payload \
    {128_bytes 256_bytes 512_bytes 1024_bytes} {corundum_pcie4 aws_pcie4c}
parameter pcie4_uscale_plus  PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE boolean {}
parameter pcie4c_uscale_plus PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE boolean aws_pcie4c
parameter pcie4_uscale_plus  cfg_mgmt_if            boolean            {}
parameter pcie4c_uscale_plus cfg_mgmt_if            boolean            aws_pcie4c
parameter pcie4_uscale_plus  cfg_fc_if              boolean            {}
parameter pcie4c_uscale_plus cfg_fc_if              boolean            aws_pcie4c
parameter $both vendor_id                           hex4               {corundum_pcie4 aws_pcie4c}
parameter $both PF0_DEVICE_ID                       hex4               {corundum_pcie4 aws_pcie4c}
parameter $both PF0_SUBSYSTEM_VENDOR_ID             hex4               {corundum_pcie4 aws_pcie4c}
parameter $both PF0_SUBSYSTEM_ID                    hex4               {corundum_pcie4 aws_pcie4c}
parameter pcie4_uscale_plus  PF0_REVISION_ID        hex2               ndk_pcie4
parameter pcie4c_uscale_plus PF0_REVISION_ID        hex2               aws_pcie4c
parameter $both PF0_Use_Class_Code_Lookup_Assistant boolean            {corundum_pcie4 aws_pcie4c}
parameter $both PF0_CLASS_CODE                      hex6               {corundum_pcie4 aws_pcie4c}
parameter pcie4_uscale_plus  pf0_bar0_enabled       boolean            {}
parameter pcie4c_uscale_plus pf0_bar0_enabled       boolean            aws_pcie4c
parameter $both pf0_bar0_64bit                      boolean            {corundum_pcie4 aws_pcie4c}
parameter $both pf0_bar0_prefetchable               boolean            {corundum_pcie4 aws_pcie4c}
parameter $both pf0_bar0_scale \
    {Kilobytes Megabytes Gigabytes} {corundum_pcie4 aws_pcie4c}
parameter $both pf0_bar0_size \
    {1 2 4 8 16 32 64 128 256 512} {corundum_pcie4 aws_pcie4c}
parameter $both pf0_msi_enabled                     boolean            {corundum_pcie4 aws_pcie4c}
parameter $both pf0_msix_enabled                    boolean            {corundum_pcie4 aws_pcie4c}
parameter $both MSI_X_OPTIONS \
    {MSI-X_External None} {corundum_pcie4 aws_pcie4c}
parameter $both PF0_MSIX_CAP_TABLE_SIZE             hex3               {corundum_pcie4 aws_pcie4c}
parameter $both PF0_MSIX_CAP_TABLE_BIR              BAR_1:0            {corundum_pcie4 aws_pcie4c}
parameter $both PF0_MSIX_CAP_TABLE_OFFSET           hex8               {corundum_pcie4 aws_pcie4c}
parameter $both PF0_MSIX_CAP_PBA_BIR                BAR_1:0            {corundum_pcie4 aws_pcie4c}
parameter $both PF0_MSIX_CAP_PBA_OFFSET             hex8               {corundum_pcie4 aws_pcie4c}

parameter cmac_usplus CMAC_CAUI4_MODE             bit     {corundum_cmac alivu9p_cmac}
parameter cmac_usplus NUM_LANES                   4x25    {corundum_cmac alivu9p_cmac}
parameter cmac_usplus USER_INTERFACE              AXIS    {corundum_cmac alivu9p_cmac}
parameter cmac_usplus GT_REF_CLK_FREQ             place   {opennic_cmac alivu9p_cmac}
parameter cmac_usplus GT_DRP_CLK                  real    {opennic_cmac alivu9p_cmac}
parameter cmac_usplus ENABLE_AXI_INTERFACE        bit     {opennic_cmac alivu9p_cmac}
parameter cmac_usplus INCLUDE_STATISTICS_COUNTERS bit     {opennic_cmac alivu9p_cmac}
parameter cmac_usplus INCLUDE_RS_FEC              bit     {corundum_cmac alivu9p_cmac}
parameter cmac_usplus TX_FLOW_CONTROL             bit     {corundum_cmac alivu9p_cmac}
parameter cmac_usplus RX_FLOW_CONTROL             bit     {corundum_cmac alivu9p_cmac}
parameter cmac_usplus RX_FORWARD_CONTROL_FRAMES   bit     {corundum_cmac alivu9p_cmac}
parameter cmac_usplus RX_CHECK_ACK                bit     {corundum_cmac alivu9p_cmac}
parameter cmac_usplus RX_MIN_PACKET_LEN           natural {opennic_cmac alivu9p_cmac}
parameter cmac_usplus RX_MAX_PACKET_LEN           natural {opennic_cmac alivu9p_cmac}
parameter cmac_usplus ENABLE_TIME_STAMPING        bit     {corundum_cmac alivu9p_cmac}
parameter cmac_usplus ENABLE_PIPELINE_REG         bit     {opennic_cmac alivu9p_cmac}
parameter cmac_usplus CMAC_CORE_SELECT            place   {opennic_cmac alivu9p_cmac}
parameter cmac_usplus GT_GROUP_SELECT             place   {opennic_cmac alivu9p_cmac}
foreach lane {1 2 3 4 5 6 7 8 9 10} {
    parameter cmac_usplus LANE${lane}_GT_LOC      lane    {opennic_cmac alivu9p_cmac}
}
