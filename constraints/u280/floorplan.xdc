# Zeronic: AMD Alveo U280, xcu280-fsvh2892-2L-e: which die holds what.

create_pblock pblock_core
resize_pblock [get_pblocks pblock_core] -add {SLR0}
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/host_interface }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/tables }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/tx_merge }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/rx_split/placement }]
add_cells_to_pblock [get_pblocks pblock_core] [get_cells { shell/card/datapath/rx_split/delivery }]

create_pblock pblock_mac
resize_pblock [get_pblocks pblock_mac] -add {SLR2}
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

create_pblock pblock_between
resize_pblock [get_pblocks pblock_between] -add {SLR1}
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/mac_link }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/mac_send/guard }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/mac_send/crossing }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/mac_send/level }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/mac_send/cuts }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/datapath/rx_split/intake/gate }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/datapath/rx_split/intake/gate_seen }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/datapath/rx_split/intake/packet_buffer }]
add_cells_to_pblock [get_pblocks pblock_between] [get_cells { shell/card/datapath/rx_split/intake/transport/registers }]
