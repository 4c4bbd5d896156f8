# Zeronic: AMD Alveo U55N (C1100), xcu55n-fsvh2892-2L-e: which die holds what.

create_pblock pblock_core
resize_pblock [get_pblocks pblock_core] -add {SLR0}
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/host_interface }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/tables }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/tx_merge }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/rx_split/placement }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/rx_split/delivery }]

create_pblock pblock_mac
resize_pblock [get_pblocks pblock_mac] -add {SLR1}
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/mac_receive }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/mac_send/fifo }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/mac_send/port }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/ingress }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/parse }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/link_step }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/window }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/verify }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/transport/profiles }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/transport/fields }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/transport/layout }]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells { shell/card/datapath/rx_split/intake/transport/key }]
