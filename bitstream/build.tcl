# Builds the bitstream and the flash image of a board, without a project:
#
#   vivado -mode batch -source build.tcl
#
#   board.tcl ──┬─► ip.tcl: cores ──┐                steps.tcl: a checkpoint behind each step
#   files.f ────┼─► card and top ───┼─► synthesis ─► opt ─► place ─► phys_opt ─► route ─► phys_opt
#   constraints ┴───────────────────┘
#               ─► judge.tcl: reports, figures ─► image.tcl: .bit, .zimg, .mcs
#                                             └─ stop: slack, crossings, constraints, ports
#
# The folder is written by `zeronic verilog --board B --out DIR`; `zeronic build --board B` does
# that, runs this script and shows the figures. Nothing in the folder is to be edited; what differs
# from build to build comes from the environment:
#
#   ZERONIC_OUT          where results go; by default `build` beside this script
#   ZERONIC_GIT_HASH     hash of the sources, 40 hexadecimal digits; by default that of the
#                        repository in which Vivado runs, else zeros
#   SOURCE_DATE_EPOCH    date of the build in seconds since 1970; by default when it began
#   ZERONIC_JOBS         threads of Vivado; by default what Vivado takes
#   ZERONIC_ANY_VIVADO   1: also with a version of Vivado that is known to be wrong
#   ZERONIC_FORCE_IMAGE  1: an image also where something is wrong with it; its header says so
#
# A run with the inputs of an earlier one goes on behind the last step that was done.
# A folder without a card (`zeronic_card` is not set) is that of a golden image: PCIe, board window
# and flash alone.
#
# Source: UG835 (commands), UG894 (scripts without a project), UG903 (constraints).

set zeronic_here [file dirname [file normalize [info script]]]
foreach zeronic_name {board steps judge image} {
    source [file join $zeronic_here $zeronic_name.tcl]
}

# What is the same for all boards, unless board.tcl says otherwise: module of the top, slot of the
# flash, MSI-X vectors less one, and the ids of hdl/abi/src/pci_ids.rs.
foreach {zeronic_name zeronic_value} [list \
    zeronic_top                  zeronic_$zeronic_board \
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
if {[info exists env(ZERONIC_JOBS)]} {
    set_param general.maxThreads $env(ZERONIC_JOBS)
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

# Card and top.
set zeronic_list [open [file join $zeronic_here files.f]]
set zeronic_files {}
foreach zeronic_name [split [string trim [read $zeronic_list]] \n] {
    lappend zeronic_files [file join $zeronic_here $zeronic_name]
}
close $zeronic_list

# Constraints. Those of the crossings are below the card's cell and need the cores' clocks: last.
# So are those of the window, below its own cell.
proc zeronic_constraint {name} {
    return [file join $::zeronic_here constraints $name.xdc]
}
set zeronic_constraints [list [zeronic_constraint pins] [zeronic_constraint config]]
set zeronic_scoped {}
if {[info exists zeronic_card]} {
    lappend zeronic_constraints [zeronic_constraint floorplan]
    lappend zeronic_scoped [zeronic_constraint crossings] $zeronic_card
}
if {[info exists zeronic_window]} {
    lappend zeronic_scoped [zeronic_constraint window] $zeronic_window
}

# What decides the result. The date does where it is given.
set zeronic_inputs [concat $zeronic_files $zeronic_constraints]
foreach {zeronic_file zeronic_module} $zeronic_scoped {
    lappend zeronic_inputs $zeronic_file
}
foreach zeronic_name {board ip build} {
    lappend zeronic_inputs [file join $zeronic_here $zeronic_name.tcl]
}
zeronic_begin $zeronic_inputs \
    [list $zeronic_vivado $zeronic_hash [zeronic_environment SOURCE_DATE_EPOCH {}]]

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

# The cores are read from their folder, where an earlier run has made them; what is synthesised
# holds them.
if {"synthesis" in $zeronic_done} {
    zeronic_say ip kept
} else {
    zeronic_say ip begin
    create_project -in_memory -part $zeronic_part
    source [file join $zeronic_here ip.tcl]
    zeronic_say ip end
}

zeronic_step synthesis {
    read_verilog $zeronic_files
    foreach zeronic_file $zeronic_constraints {
        read_xdc $zeronic_file
    }
    foreach {zeronic_file zeronic_module} $zeronic_scoped {
        read_xdc -ref $zeronic_module $zeronic_file
        set_property PROCESSING_ORDER LATE [get_files $zeronic_file]
        set_property USED_IN_SYNTHESIS false [get_files $zeronic_file]
    }
    # Registers and instances have their final names behind synthesis alone.
    if {[info exists zeronic_card]} {
        set_property USED_IN_SYNTHESIS false [get_files [zeronic_constraint floorplan]]
    }

    synth_design -top $zeronic_top -part $zeronic_part -flatten_hierarchy rebuilt \
        -verilog_define ZERONIC_GIT_HASH=160'h$zeronic_hash \
        -verilog_define ZERONIC_BUILD_SECONDS=32'd$zeronic_seconds \
        -verilog_define ZERONIC_IMAGE_SLOT=32'd$zeronic_image_slot

    foreach {zeronic_file zeronic_module} $zeronic_scoped {
        set zeronic_cells [get_cells -hierarchical \
            -filter "REF_NAME == $zeronic_module || ORIG_REF_NAME == $zeronic_module"]
        if {[llength $zeronic_cells] != 1} {
            error "[llength $zeronic_cells] cells of module $zeronic_module; the design has one"
        }
        zeronic_check_names $zeronic_file [get_property NAME $zeronic_cells]
    }
    # For the card's own tests: what synthesis has made of it.
    write_verilog -force -mode funcsim [file join $zeronic_out netlist.v]
}
zeronic_step opt {
    opt_design
}
zeronic_step place {
    place_design -directive Explore
}
zeronic_step phys_opt {
    phys_opt_design -directive AggressiveExplore
}
zeronic_step route {
    route_design -directive Explore
}
zeronic_step phys_opt_routed {
    phys_opt_design -directive AggressiveExplore
}
zeronic_always reports {
    zeronic_reports
    zeronic_judge
}
zeronic_always bitstream {
    zeronic_images
}
