# What synthesis makes of the card alone, for the card's own tests:
#
#   vivado -mode batch -source netlist.tcl
#
#   card.f ──► synthesis, with the options of build.tcl ──► build/card_netlist.v
#
# The card keeps its ports as the top of a design: inside the board's top Vivado may take apart or
# remove some. So this is a synthesis of its own, not the netlist that is placed.
#
# Source: UG835 (synth_design -mode out_of_context, write_verilog -mode funcsim).

set zeronic_here [file dirname [file normalize [info script]]]
source [file join $zeronic_here board.tcl]
set zeronic_out [file join $zeronic_here build]
if {[info exists env(ZERONIC_OUT)]} {
    set zeronic_out $env(ZERONIC_OUT)
}
file mkdir $zeronic_out
if {[info exists env(ZERONIC_JOBS)]} {
    set_param general.maxThreads $env(ZERONIC_JOBS)
}

set zeronic_list [open [file join $zeronic_here card.f]]
set zeronic_files {}
foreach zeronic_name [split [string trim [read $zeronic_list]] \n] {
    lappend zeronic_files [file join $zeronic_here $zeronic_name]
}
close $zeronic_list

puts "zeronic-step netlist begin"
flush stdout
create_project -in_memory -part $zeronic_part
read_verilog $zeronic_files
synth_design -top $zeronic_card -part $zeronic_part -flatten_hierarchy rebuilt \
    -mode out_of_context
write_verilog -force -mode funcsim [file join $zeronic_out card_netlist.v]
puts "zeronic-step netlist end"
