# Crossings between the two clocks of the card. Written by `zeronic verilog`; do not edit.
#
# Read it with `read_xdc -ref zeronic` and PROCESSING_ORDER LATE: names are below the card's cell,
# and the clocks are those that the constraints of the PCIe and MAC cores have made.
# No clock groups: they would take away the limits that gray-coded pointers rely on.

# datapath/rx_split/intake/gate: ValueCrossing, user_clk to gt_txusrclk2
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/gate/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/gate/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/gate/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/gate/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/gate/toggle_reg}] -to [get_pins {datapath/rx_split/intake/gate/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/gate/acknowledge_reg}] -to [get_pins {datapath/rx_split/intake/gate/acknowledge_seen/first_reg[0]/D}] 3.103

# datapath/rx_split/intake/gate_seen: ValueCrossing, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/gate_seen/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/gate_seen/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/gate_seen/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/gate_seen/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/gate_seen/toggle_reg}] -to [get_pins {datapath/rx_split/intake/gate_seen/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/gate_seen/acknowledge_reg}] -to [get_pins {datapath/rx_split/intake/gate_seen/acknowledge_seen/first_reg[0]/D}] 3.103

# datapath/rx_split/intake/packet_buffer/freed/crossing: ValueCrossing, user_clk to gt_txusrclk2
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/freed/crossing/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/freed/crossing/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/packet_buffer/freed/crossing/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/freed/crossing/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/freed/crossing/toggle_reg}] -to [get_pins {datapath/rx_split/intake/packet_buffer/freed/crossing/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/freed/crossing/acknowledge_reg}] -to [get_pins {datapath/rx_split/intake/packet_buffer/freed/crossing/acknowledge_seen/first_reg[0]/D}] 3.103

# datapath/rx_split/intake/packet_buffer/level: PeakCrossing, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/level/crossing/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/level/crossing/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/packet_buffer/level/crossing/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/level/crossing/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/level/crossing/toggle_reg}] -to [get_pins {datapath/rx_split/intake/packet_buffer/level/crossing/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/level/crossing/acknowledge_reg}] -to [get_pins {datapath/rx_split/intake/packet_buffer/level/crossing/acknowledge_seen/first_reg[0]/D}] 3.103

# datapath/rx_split/intake/packet_buffer/memory: PairRam, gt_txusrclk2 to user_clk
# A block RAM with a clock at each port: no path crosses.

# datapath/rx_split/intake/packet_buffer/refusals: AsyncFifo, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/refusals/write_gray_reg[*] datapath/rx_split/intake/packet_buffer/refusals/write_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/refusals/write_seen/first_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/packet_buffer/refusals/write_gray_reg[*] datapath/rx_split/intake/packet_buffer/refusals/write_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/refusals/write_seen/first_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/refusals/read_gray_reg[*] datapath/rx_split/intake/packet_buffer/refusals/read_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/refusals/read_seen/first_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/packet_buffer/refusals/read_gray_reg[*] datapath/rx_split/intake/packet_buffer/refusals/read_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/refusals/read_seen/first_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports gt_txusrclk2]] -to [get_pins {datapath/rx_split/intake/packet_buffer/refusals/head_reg[*]/D}] 3.103

# datapath/rx_split/intake/packet_buffer/waiting: AsyncFifo, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/waiting/write_gray_reg[*] datapath/rx_split/intake/packet_buffer/waiting/write_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/waiting/write_seen/first_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/packet_buffer/waiting/write_gray_reg[*] datapath/rx_split/intake/packet_buffer/waiting/write_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/waiting/write_seen/first_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/packet_buffer/waiting/read_gray_reg[*] datapath/rx_split/intake/packet_buffer/waiting/read_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/waiting/read_seen/first_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/packet_buffer/waiting/read_gray_reg[*] datapath/rx_split/intake/packet_buffer/waiting/read_pointer_reg[6]}] -to [get_pins {datapath/rx_split/intake/packet_buffer/waiting/read_seen/first_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports gt_txusrclk2]] -to [get_pins {datapath/rx_split/intake/packet_buffer/waiting/head_reg[*]/D}] 3.103

# datapath/rx_split/intake/transport/profiles/crossing: ValueCrossing, user_clk to gt_txusrclk2
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/transport/profiles/crossing/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/transport/profiles/crossing/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {datapath/rx_split/intake/transport/profiles/crossing/held_reg[*]}] -to [get_pins {datapath/rx_split/intake/transport/profiles/crossing/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/transport/profiles/crossing/toggle_reg}] -to [get_pins {datapath/rx_split/intake/transport/profiles/crossing/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {datapath/rx_split/intake/transport/profiles/crossing/acknowledge_reg}] -to [get_pins {datapath/rx_split/intake/transport/profiles/crossing/acknowledge_seen/first_reg[0]/D}] 3.103

# mac_link/overflows/crossing: ValueCrossing, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {mac_link/overflows/crossing/held_reg[*]}] -to [get_pins {mac_link/overflows/crossing/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_link/overflows/crossing/held_reg[*]}] -to [get_pins {mac_link/overflows/crossing/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/overflows/crossing/toggle_reg}] -to [get_pins {mac_link/overflows/crossing/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/overflows/crossing/acknowledge_reg}] -to [get_pins {mac_link/overflows/crossing/acknowledge_seen/first_reg[0]/D}] 3.103

# mac_link/reports: ValueCrossing, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {mac_link/reports/held_reg[*]}] -to [get_pins {mac_link/reports/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_link/reports/held_reg[*]}] -to [get_pins {mac_link/reports/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/reports/toggle_reg}] -to [get_pins {mac_link/reports/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/reports/acknowledge_reg}] -to [get_pins {mac_link/reports/acknowledge_seen/first_reg[0]/D}] 3.103

# mac_link/requests: ValueCrossing, user_clk to gt_txusrclk2
set_max_delay -datapath_only -from [get_cells {mac_link/requests/held_reg[*]}] -to [get_pins {mac_link/requests/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_link/requests/held_reg[*]}] -to [get_pins {mac_link/requests/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/requests/toggle_reg}] -to [get_pins {mac_link/requests/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/requests/acknowledge_reg}] -to [get_pins {mac_link/requests/acknowledge_seen/first_reg[0]/D}] 3.103

# mac_link/underflows/crossing: ValueCrossing, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {mac_link/underflows/crossing/held_reg[*]}] -to [get_pins {mac_link/underflows/crossing/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_link/underflows/crossing/held_reg[*]}] -to [get_pins {mac_link/underflows/crossing/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/underflows/crossing/toggle_reg}] -to [get_pins {mac_link/underflows/crossing/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_link/underflows/crossing/acknowledge_reg}] -to [get_pins {mac_link/underflows/crossing/acknowledge_seen/first_reg[0]/D}] 3.103

# mac_send/crossing: AsyncFifo, user_clk to gt_txusrclk2
set_max_delay -datapath_only -from [get_cells {mac_send/crossing/write_gray_reg[*] mac_send/crossing/write_pointer_reg[4]}] -to [get_pins {mac_send/crossing/write_seen/first_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_send/crossing/write_gray_reg[*] mac_send/crossing/write_pointer_reg[4]}] -to [get_pins {mac_send/crossing/write_seen/first_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_send/crossing/read_gray_reg[*] mac_send/crossing/read_pointer_reg[4]}] -to [get_pins {mac_send/crossing/read_seen/first_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_send/crossing/read_gray_reg[*] mac_send/crossing/read_pointer_reg[4]}] -to [get_pins {mac_send/crossing/read_seen/first_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports user_clk]] -to [get_pins {mac_send/crossing/head_reg[*]/D}] 3.103

# mac_send/cuts/crossing: ValueCrossing, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {mac_send/cuts/crossing/held_reg[*]}] -to [get_pins {mac_send/cuts/crossing/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_send/cuts/crossing/held_reg[*]}] -to [get_pins {mac_send/cuts/crossing/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_send/cuts/crossing/toggle_reg}] -to [get_pins {mac_send/cuts/crossing/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_send/cuts/crossing/acknowledge_reg}] -to [get_pins {mac_send/cuts/crossing/acknowledge_seen/first_reg[0]/D}] 3.103

# mac_send/level: PeakCrossing, gt_txusrclk2 to user_clk
set_max_delay -datapath_only -from [get_cells {mac_send/level/crossing/held_reg[*]}] -to [get_pins {mac_send/level/crossing/seen_reg[*]/D}] 3.103
set_bus_skew -from [get_cells {mac_send/level/crossing/held_reg[*]}] -to [get_pins {mac_send/level/crossing/seen_reg[*]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_send/level/crossing/toggle_reg}] -to [get_pins {mac_send/level/crossing/toggle_seen/first_reg[0]/D}] 3.103
set_max_delay -datapath_only -from [get_cells {mac_send/level/crossing/acknowledge_reg}] -to [get_pins {mac_send/level/crossing/acknowledge_seen/first_reg[0]/D}] 3.103

# The net: whatever else goes from one clock to the other.
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports gt_txusrclk2]] -to [get_clocks -of_objects [get_ports user_clk]] 4.000
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports user_clk]] -to [get_clocks -of_objects [get_ports gt_txusrclk2]] 3.103
