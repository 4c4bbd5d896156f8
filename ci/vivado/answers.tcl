# What Vivado alone knows, as replay.tcl answers it: from the environment, else of a good build.
#
#   REPLAY_VERSION        version; by default 2023.1
#   REPLAY_SLACK          slack of every path of setup, ns; by default 0.1
#   REPLAY_PATH           first and last pin of every path
#   REPLAY_CDC            text of `report_cdc`
#   REPLAY_SKEW           text of `report_bus_skew`
#   REPLAY_UNCONSTRAINED  end points without a constraint, of `check_timing`; by default 0
#   REPLAY_PORTS          ports without a pin, as `report_drc` names them
#   REPLAY_NETLIST        file with the netlist of `write_verilog`
#   REPLAY_IDCODE         of the one device on the one cable; by default that of a VU9P
#   REPLAY_FAIL           COMMAND TEXT: the command prints the text and fails; COMMAND/2 its second
#                         call; COMMAND alone ends the program
#
# The reports have the form of Vivado's as far as a script reads them. Source: UG906.

namespace eval answers {
    # Slack of hold, ns, and LUTs, of every path.
    variable hold 0.02
    variable levels 5
    # IDCODE of a device: what a bitstream names. Source: BSDL files of the devices.
    variable idcodes {
        xcvu9p 04b31093 xcu200 04b37093 xcu250 04b57093 xcu280 04b7d093 xcu55c 04b7d093
        xcu55n 04b77093
    }
}

proc answers::version {} {
    return [replay::environment REPLAY_VERSION 2023.1]
}

# Fails where it is asked for.
proc answers::fail {name call} {
    set wanted [replay::environment REPLAY_FAIL {}]
    if {![regexp {^(\w+)(?:/(\d+))?(?: (.*))?$} $wanted -> command which text]} return
    if {$command ne $name || ($which ne "" && $which != $call)} return
    if {$text eq ""} {
        flush stdout
        exec kill -KILL [pid]
    }
    puts $text
    error "$name failed"
}

# The clocks of a design: those of its pads, or two of the cores.
proc answers::clocks {known} {
    if {![replay::has_names]} {
        return {clock:user_clk clock:gt_txusrclk2}
    }
    set found {}
    foreach name $known {
        lappend found clock:$name
    }
    return $found
}

proc answers::path {kind clock} {
    return path:$kind
}

# A property of a clock or a path; empty for others.
proc answers::property {name object} {
    variable hold
    variable levels
    if {![replay::has_names]} {
        switch $object,$name {
            clock:user_clk,PERIOD     { return 4.000 }
            clock:gt_txusrclk2,PERIOD { return 3.103 }
        }
    }
    switch $object,$name {
        hw_device:device,IDCODE_HEX {
            return [replay::environment REPLAY_IDCODE 04b31093]
        }
        hw_device:device,PROGRAM.HW_CFGMEM { return hw_cfgmem:chip }
        hw_device:device,PROGRAM.HW_CFGMEM_BITFILE { return bridge.bit }
    }
    if {![string match path:* $object]} {
        return {}
    }
    set pins [replay::environment REPLAY_PATH {shell/start_reg/C shell/end_reg/D}]
    switch $name {
        SLACK          { return [expr {$object eq "path:hold" ? $hold
                             : [replay::environment REPLAY_SLACK 0.1]}] }
        LOGIC_LEVELS   { return $levels }
        STARTPOINT_PIN { return [lindex $pins 0] }
        ENDPOINT_PIN   { return [lindex $pins 1] }
    }
    return {}
}

proc answers::report {name} {
    return [report_$name]
}

proc answers::report_other {} {
    return {}
}

proc answers::report_bus_skew {} {
    return [replay::environment REPLAY_SKEW {}]
}

proc answers::report_cdc {} {
    return [replay::environment REPLAY_CDC {}]
}

proc answers::report_timing_checks {} {
    set count [replay::environment REPLAY_UNCONSTRAINED 0]
    set lines {}
    set number 0
    foreach check {no_clock constant_clock pulse_width_clock unconstrained_internal_endpoints
            no_input_delay no_output_delay multiple_clock generated_clocks loops
            partial_input_delay partial_output_delay latch_loops} {
        set found [expr {$check eq "unconstrained_internal_endpoints" ? $count : 0}]
        lappend lines "[incr number]. checking $check ($found)"
    }
    return [join $lines \n]
}

proc answers::report_drc {} {
    set ports [replay::environment REPLAY_PORTS {}]
    if {$ports eq ""} {
        return {}
    }
    return "UCIO-1#1 Critical Warning\nUnconstrained Logical Port\n2 out of 60 logical ports have\
        no user assigned specific location constraint (LOC). Problem ports: $ports."
}

proc answers::report_utilization {} {
    return {
+----------------------------+-------+-------+-------+--------+--------+--------+
|          Site Type         |  SLR0 |  SLR1 |  SLR2 | SLR0 % | SLR1 % | SLR2 % |
+----------------------------+-------+-------+-------+--------+--------+--------+
| CLB                        |    12 | 12034 |  1893 |   0.02 |  24.44 |   3.84 |
| CLB LUTs                   |    40 | 68123 |  9021 |   0.01 |  17.29 |   2.29 |
|   LUT as Logic             |    40 | 60001 |  8000 |   0.01 |  15.23 |   2.03 |
| CLB Registers              |    96 | 90211 | 12034 |   0.01 |  11.45 |   1.53 |
| Block RAM Tile             |     0 | 350.5 |    12 |   0.00 |  48.68 |   1.67 |
| URAM                       |     0 |   188 |     0 |   0.00 |  58.75 |   0.00 |
+----------------------------+-------+-------+-------+--------+--------+--------+}
}

proc answers::netlist {} {
    set file [replay::environment REPLAY_NETLIST {}]
    if {$file eq ""} {
        return "// netlist\n"
    }
    set stream [open $file]
    set text [read $stream]
    close $stream
    return $text
}

# A field of a .bit file.
proc answers::field {letter text} {
    return [binary format a1Sa*c $letter [expr {[string length $text] + 1}] $text 0]
}

# A .bit file whose data name the device of a part, and little else.
proc answers::bitstream {file part} {
    variable idcodes
    set device [lindex [split $part -] 0]
    if {![dict exists $idcodes $device]} {
        replay::complain "write_bitstream: part '$part'"
        return
    }
    set data [string repeat \xff 64]
    foreach word [list 000000bb 11220044 ffffffff ffffffff aa995566 20000000 \
            30018001 [dict get $idcodes $device] 30008001 0000000d 20000000 20000000] {
        append data [binary format H8 $word]
    }
    set name [file rootname [file tail $file]]
    set stream [open $file wb]
    puts -nonewline $stream [binary format H26 00090ff00ff00ff00ff0000001]
    puts -nonewline $stream [field a "$name;UserID=0XFFFFFFFF;Version=[version]"]
    puts -nonewline $stream [field b $part]
    puts -nonewline $stream [field c 2026/01/01]
    puts -nonewline $stream [field d 00:00:00]
    puts -nonewline $stream [binary format a1Ia* e [string length $data] $data]
    close $stream
}
