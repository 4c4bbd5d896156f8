# Zeronic: AMD Alveo U55N (C1100), xcu55n-fsvh2892-2L-e: paths between the clocks of the board window.

# Names are below the cell of the window. To be read after the cores' own constraints.

# mac/requests: from clock to base_clock
set_max_delay -datapath_only -from [get_cells {mac/requests/write_gray_reg[*] mac/requests/write_pointer_reg[4]}] -to [get_pins {mac/requests/write_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {mac/requests/write_gray_reg[*] mac/requests/write_pointer_reg[4]}] -to [get_pins {mac/requests/write_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_cells {mac/requests/read_gray_reg[*] mac/requests/read_pointer_reg[4]}] -to [get_pins {mac/requests/read_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {mac/requests/read_gray_reg[*] mac/requests/read_pointer_reg[4]}] -to [get_pins {mac/requests/read_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports clock]] -to [get_pins {mac/requests/head_reg[*]/D}] 4.000

# mac/replies: from base_clock to clock
set_max_delay -datapath_only -from [get_cells {mac/replies/write_gray_reg[*] mac/replies/write_pointer_reg[4]}] -to [get_pins {mac/replies/write_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {mac/replies/write_gray_reg[*] mac/replies/write_pointer_reg[4]}] -to [get_pins {mac/replies/write_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_cells {mac/replies/read_gray_reg[*] mac/replies/read_pointer_reg[4]}] -to [get_pins {mac/replies/read_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {mac/replies/read_gray_reg[*] mac/replies/read_pointer_reg[4]}] -to [get_pins {mac/replies/read_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports base_clock]] -to [get_pins {mac/replies/head_reg[*]/D}] 4.000

# images/requests: from clock to base_clock
set_max_delay -datapath_only -from [get_cells {images/requests/write_gray_reg[*] images/requests/write_pointer_reg[4]}] -to [get_pins {images/requests/write_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {images/requests/write_gray_reg[*] images/requests/write_pointer_reg[4]}] -to [get_pins {images/requests/write_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_cells {images/requests/read_gray_reg[*] images/requests/read_pointer_reg[4]}] -to [get_pins {images/requests/read_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {images/requests/read_gray_reg[*] images/requests/read_pointer_reg[4]}] -to [get_pins {images/requests/read_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports clock]] -to [get_pins {images/requests/head_reg[*]/D}] 4.000

# images/replies: from base_clock to clock
set_max_delay -datapath_only -from [get_cells {images/replies/write_gray_reg[*] images/replies/write_pointer_reg[4]}] -to [get_pins {images/replies/write_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {images/replies/write_gray_reg[*] images/replies/write_pointer_reg[4]}] -to [get_pins {images/replies/write_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_cells {images/replies/read_gray_reg[*] images/replies/read_pointer_reg[4]}] -to [get_pins {images/replies/read_seen/first_reg[*]/D}] 4.000
set_bus_skew -from [get_cells {images/replies/read_gray_reg[*] images/replies/read_pointer_reg[4]}] -to [get_pins {images/replies/read_seen/first_reg[*]/D}] 4.000
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports base_clock]] -to [get_pins {images/replies/head_reg[*]/D}] 4.000

# clocks/mac: one bit
set_max_delay -datapath_only -from [get_cells {clocks/mac/turn_reg}] -to [get_pins {clocks/mac/level/first_reg[0]/D}] 3.103

# clocks/base: one bit
set_max_delay -datapath_only -from [get_cells {clocks/base/turn_reg}] -to [get_pins {clocks/base/level/first_reg[0]/D}] 4.000

# clocks/free: one bit
set_max_delay -datapath_only -from [get_cells {clocks/free/turn_reg}] -to [get_pins {clocks/free/level/first_reg[0]/D}] 3.333

# The MAC's alignment: one bit, from the core
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports mac_clock]] -to [get_pins {gpio/aligned_seen/first_reg[0]/D}] 3.103

# Whatever else goes from clock to clock. User and MAC clock: the card's constraints.
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports clock]] -to [get_clocks -of_objects [get_ports base_clock]] 10.000
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports base_clock]] -to [get_clocks -of_objects [get_ports clock]] 4.000
set_max_delay -datapath_only -from [get_clocks -of_objects [get_ports free_clock]] -to [get_clocks -of_objects [get_ports clock]] 4.000
