# Builds the bitstream and the flash image of a board, without a project:
#
#   vivado -mode batch -source build.tcl
#
#   board.tcl ──┬─► ip.tcl: cores ──┐
#   files.f ────┼─► card and top ───┼─► synthesis ─► place ─► route ─► reports ─► .bit, .mcs
#   constraints ┴───────────────────┘                                   └─ stop: slack, crossings
#
# The folder is written by `zeronic verilog --board B --out DIR`. Nothing in it is to be edited;
# what differs from build to build comes from the environment:
#
#   ZERONIC_OUT          where results go; by default `build` beside this script
#   ZERONIC_GIT_HASH     hash of the sources, 40 hexadecimal digits; by default that of the
#                        repository in which Vivado runs, else zeros
#   SOURCE_DATE_EPOCH    date of the build in seconds since 1970; by default now
#   ZERONIC_ANY_VIVADO   1: also with a version of Vivado that is known to be wrong
#
# Source: UG835 (commands), UG894 (scripts without a project), UG903 (constraints).

set zeronic_here [file dirname [file normalize [info script]]]
source [file join $zeronic_here board.tcl]

# What is the same for all boards, unless board.tcl says otherwise: modules of top and card, slot of
# the flash, MSI-X vectors less one, and the ids of hdl/abi/src/pci_ids.rs.
foreach {zeronic_name zeronic_value} [list \
    zeronic_top                  zeronic_$zeronic_board \
    zeronic_card                 zeronic \
    zeronic_image_slot           1 \
    zeronic_msix_last            00F \
    zeronic_pci_vendor           10ee \
    zeronic_pci_device           5a4e \
    zeronic_pci_subsystem_vendor 10ee \
    zeronic_pci_subsystem        0001 \
    zeronic_pci_revision         01 \
    zeronic_pci_class            020000 \
] {
    if {![info exists $zeronic_name]} {
        set $zeronic_name $zeronic_value
    }
}

# A value of the environment, or what stands for it.
proc zeronic_environment {name otherwise} {
    return [expr {[info exists ::env($name)] ? $::env($name) : $otherwise}]
}

# Vivado 2023.2 makes wrong logic of masks (corundum issues 184, 191 and 240).
set zeronic_vivado [version -short]
if {[string match 2023.2* $zeronic_vivado] && [zeronic_environment ZERONIC_ANY_VIVADO 0] ne "1"} {
    error "Vivado $zeronic_vivado makes wrong logic of masks; 2023.1 or 2024.1 do not. To go on\
        all the same, set ZERONIC_ANY_VIVADO=1 and run the card's tests on build/netlist.v"
}

set zeronic_out [zeronic_environment ZERONIC_OUT [file join $zeronic_here build]]
set zeronic_ip_dir [file join $zeronic_out ip]
file mkdir $zeronic_ip_dir

# Hash and date of the build, for the identity words.
set zeronic_hash [string repeat 0 40]
if {[catch {exec git rev-parse HEAD} zeronic_found] == 0} {
    set zeronic_hash $zeronic_found
}
set zeronic_hash [zeronic_environment ZERONIC_GIT_HASH $zeronic_hash]
if {![regexp {^[0-9a-fA-F]{40}$} $zeronic_hash]} {
    error "ZERONIC_GIT_HASH: 40 hexadecimal digits, not '$zeronic_hash'"
}
set zeronic_seconds [zeronic_environment SOURCE_DATE_EPOCH [clock seconds]]

create_project -in_memory -part $zeronic_part
source [file join $zeronic_here ip.tcl]

# Card and top.
set zeronic_list [open [file join $zeronic_here files.f]]
set zeronic_files {}
foreach zeronic_name [split [string trim [read $zeronic_list]] \n] {
    lappend zeronic_files [file join $zeronic_here $zeronic_name]
}
close $zeronic_list
read_verilog $zeronic_files

# Constraints. Those of the crossings are below the card's cell and need the cores' clocks: last.
set zeronic_constraints [file join $zeronic_here constraints]
foreach zeronic_name {pins config floorplan} {
    read_xdc [file join $zeronic_constraints $zeronic_name.xdc]
}
set zeronic_crossings [file join $zeronic_constraints crossings.xdc]
read_xdc -ref $zeronic_card $zeronic_crossings
set_property PROCESSING_ORDER LATE [get_files $zeronic_crossings]
# So are those of the window, below its own cell.
set zeronic_scoped [list $zeronic_crossings $zeronic_card]
if {[info exists zeronic_window]} {
    set zeronic_window_file [file join $zeronic_constraints window.xdc]
    read_xdc -ref $zeronic_window $zeronic_window_file
    set_property PROCESSING_ORDER LATE [get_files $zeronic_window_file]
    lappend zeronic_scoped $zeronic_window_file $zeronic_window
}
foreach {zeronic_file zeronic_module} $zeronic_scoped {
    set_property USED_IN_SYNTHESIS false [get_files $zeronic_file]
}
# Registers and instances have their final names behind synthesis alone.
set_property USED_IN_SYNTHESIS false [get_files [file join $zeronic_constraints floorplan.xdc]]

synth_design -top $zeronic_top -part $zeronic_part -flatten_hierarchy rebuilt \
    -verilog_define ZERONIC_GIT_HASH=160'h$zeronic_hash \
    -verilog_define ZERONIC_BUILD_SECONDS=32'd$zeronic_seconds \
    -verilog_define ZERONIC_IMAGE_SLOT=32'd$zeronic_image_slot

# A constraint on a name that is not there holds nothing, and Vivado goes on.
proc zeronic_check_names {file card} {
    set stream [open $file]
    set text [read $stream]
    close $stream
    foreach {all kind names} [regexp -all -inline {\[get_(cells|pins) \{([^\}]*)\}\]} $text] {
        set below {}
        foreach name $names {
            lappend below $card/$name
        }
        set found [get_$kind -quiet $below]
        if {[llength $found] == 0} {
            error "$file: no $kind '$names' below $card"
        }
    }
}
foreach {zeronic_file zeronic_module} $zeronic_scoped {
    set zeronic_cells [get_cells -hierarchical \
        -filter "REF_NAME == $zeronic_module || ORIG_REF_NAME == $zeronic_module"]
    if {[llength $zeronic_cells] != 1} {
        error "[llength $zeronic_cells] cells of module $zeronic_module; the design has one"
    }
    zeronic_check_names $zeronic_file [get_property NAME $zeronic_cells]
}

write_checkpoint -force [file join $zeronic_out synthesis.dcp]
# For the card's own tests: what synthesis has made of it.
write_verilog -force -mode funcsim [file join $zeronic_out netlist.v]

opt_design
place_design -directive Explore
phys_opt_design -directive AggressiveExplore
route_design -directive Explore
phys_opt_design -directive AggressiveExplore
write_checkpoint -force [file join $zeronic_out routed.dcp]

report_timing_summary -file [file join $zeronic_out timing.txt]
report_bus_skew -file [file join $zeronic_out bus_skew.txt]
report_exceptions -file [file join $zeronic_out exceptions.txt]
report_cdc -details -file [file join $zeronic_out cdc.txt]
report_methodology -file [file join $zeronic_out methodology.txt]
report_utilization -slr -file [file join $zeronic_out utilization.txt]
report_utilization -hierarchical -file [file join $zeronic_out hierarchy.txt]
report_design_analysis -logic_level_distribution -file [file join $zeronic_out levels.txt]
report_route_status -file [file join $zeronic_out route.txt]

# An image that is not in time, or crosses where nobody has thought of it, is not written.
foreach zeronic_kind {setup hold} {
    set zeronic_path [get_timing_paths -max_paths 1 -$zeronic_kind]
    if {[llength $zeronic_path] == 0} {
        error "no path of $zeronic_kind is timed: the clocks are missing"
    }
    set zeronic_slack [get_property SLACK $zeronic_path]
    if {$zeronic_slack < 0} {
        error "$zeronic_kind: slack $zeronic_slack ns; see [file join $zeronic_out timing.txt]"
    }
}
if {[string match *VIOLATED* [report_bus_skew -return_string]]} {
    error "bits of a crossing arrive too far apart; see [file join $zeronic_out bus_skew.txt]"
}
set zeronic_critical [report_cdc -severity Critical -return_string]
if {[regexp {\mCDC-\d+\M} $zeronic_critical]} {
    error "a crossing that is none of the card's; see [file join $zeronic_out cdc.txt]"
}

set zeronic_image [file join $zeronic_out $zeronic_top]
set_property BITSTREAM.CONFIG.USERID 0x[string range $zeronic_hash 0 7] [current_design]
write_bitstream -force $zeronic_image.bit
# What is below the user's image, the golden one, stays as it is: nothing is written there.
write_cfgmem -force -format mcs -interface $zeronic_flash_interface \
    -size $zeronic_flash_size_mib \
    -loadbit "up [format 0x%08X $zeronic_user_offset] $zeronic_image.bit" \
    -file $zeronic_image.mcs
puts "bitstream $zeronic_image.bit, flash image $zeronic_image.mcs"
