# Reports of the routed design, and what an image must fulfil. `build.tcl` sources it.
#
#   design ──► reports: timing.txt, cdc.txt, ...
#          └─► figures.txt ──► what is wrong ─┬─► stop: no image
#                                             └─ ZERONIC_FORCE_IMAGE=1 ──► an image that says so
#
# figures.txt has a line for each figure, for programs:
#
#   vivado VERSION
#   clock NAME PERIOD SETUP HOLD        ns; slack of what ends at the clock, - where nothing does
#   path setup|hold SLACK LEVELS START END   the worst path: ns, LUTs, pins
#   skew COUNT                          crossings whose bits arrive too far apart
#   cdc COUNT                           critical crossings (report_cdc), those waived left out
#   waived COUNT CELL REASON            critical crossings within a core of the vendor
#   unconstrained COUNT                 pins without a clock, end points without a constraint
#   port NAME                           a port without pin or IO standard
#   die NUMBER LUT BRAM URAM            used of each die, each with its share in per cent
#   wrong TEXT                          why there is no image
#
# Source: UG835 (commands), UG906 (reports).

# Numbers of check_timing that must be zero.
set zeronic_checks {no_clock unconstrained_internal_endpoints loops}

# Critical crossings that are no fault of the design: those with both ends in one core of the
# vendor, each core with the reason. There is no waiver for a register of ours, and none for what
# goes from a core to another or to the card.
set zeronic_waivers [list \
    pcie4_uscale_plus_0 "the core crosses between its transceivers' clocks, sys_clk and user_clk,\
        and has constraints of its own" \
    pcie4c_uscale_plus_0 "the core crosses between its transceivers' clocks, sys_clk and user_clk,\
        and has constraints of its own" \
    cmac_usplus_0 "the core crosses between its transceivers' clocks, init_clk and that of its\
        registers, and has constraints of its own" \
]

# Reports for readers.
proc zeronic_reports {} {
    global zeronic_out
    report_timing_summary -file [file join $zeronic_out timing.txt]
    report_bus_skew -file [file join $zeronic_out bus_skew.txt]
    report_exceptions -file [file join $zeronic_out exceptions.txt]
    check_timing -file [file join $zeronic_out check_timing.txt]
    report_cdc -details -file [file join $zeronic_out cdc.txt]
    report_methodology -file [file join $zeronic_out methodology.txt]
    report_drc -file [file join $zeronic_out drc.txt]
    report_utilization -slr -file [file join $zeronic_out utilization.txt]
    report_utilization -hierarchical -file [file join $zeronic_out hierarchy.txt]
    report_design_analysis -logic_level_distribution -file [file join $zeronic_out levels.txt]
    report_route_status -file [file join $zeronic_out route.txt]
}

# Slack of the worst path that ends at a clock, or -.
proc zeronic_slack {kind clock} {
    set path [get_timing_paths -max_paths 1 -$kind -to $clock]
    return [expr {[llength $path] == 0 ? "-" : [get_property SLACK $path]}]
}

# Critical crossings: each line of the details; of a check that has none, the count of the summary.
# Those whose last two words are pins below the same one of `cells` are the vendor's: how many of
# the others there are, then a dict of those of each cell.
proc zeronic_critical {text cells} {
    set count 0
    set waived {}
    set summary {}
    foreach line [split $text \n] {
        if {![regexp {\m(CDC-\d+)\M} $line -> check] || ![regexp {\mCritical\M} $line]} continue
        if {[regexp {^\s*(?:CDC-\d+\s+Critical|Critical\s+CDC-\d+)\s+(\d+)\s} $line -> number]} {
            dict incr summary $check $number
            continue
        }
        lappend detailed $check
        set cell [zeronic_within $line $cells]
        if {$cell eq ""} {
            incr count
        } else {
            dict incr waived $cell
        }
    }
    dict for {check number} $summary {
        if {![info exists detailed] || $check ni $detailed} {
            incr count $number
        }
    }
    return [list $count $waived]
}

# The cell below which both ends of a crossing are: the last two words of its line.
proc zeronic_within {line cells} {
    if {![regexp {(\S+/\S+)\s+(\S+/\S+)\s*$} $line -> from to]} {
        return {}
    }
    foreach cell $cells {
        if {[string first $cell/ $from] == 0 && [string first $cell/ $to] == 0} {
            return $cell
        }
    }
    return {}
}

# Cells of the vendor's cores, and why their crossings are waived: path, reason.
proc zeronic_vendor_cells {} {
    global zeronic_waivers
    set found {}
    foreach {module reason} $zeronic_waivers {
        foreach cell [get_cells -quiet -hierarchical \
                -filter "REF_NAME == $module || ORIG_REF_NAME == $module"] {
            dict set found [get_property NAME $cell] $reason
        }
    }
    return $found
}

# Numbers behind the headings of check_timing: `4. checking no_clock (0)`.
proc zeronic_unconstrained {text} {
    global zeronic_checks
    set count 0
    foreach check $zeronic_checks {
        if {![regexp "checking $check \\((\\d+)\\)" $text -> number]} {
            error "check_timing says nothing of $check"
        }
        incr count $number
    }
    return $count
}

# Ports without a pin or an IO standard of ours: `Problem ports: led[0], and led[1].`
proc zeronic_open_ports {text} {
    set ports {}
    foreach {all names} [regexp -all -inline {Problem ports:\s*([^.]*)\.} $text] {
        foreach name [split [string map {" and " " "} $names] ,] {
            lappend ports [string trim $name]
        }
    }
    return [lsort -unique $ports]
}

# A row of the table of the dies: what each has used, then the shares.
proc zeronic_row {text name} {
    foreach line [split $text \n] {
        set cells [split $line |]
        if {[string trim [lindex $cells 1]] eq $name && [llength $cells] > 4} {
            set row {}
            foreach cell [lrange $cells 2 end-1] {
                lappend row [string trim $cell]
            }
            return $row
        }
    }
    error "report_utilization -slr has no row '$name'"
}

# Lines of the dies.
proc zeronic_dies {text} {
    set lines {}
    set rows {}
    foreach name {"CLB LUTs" "Block RAM Tile" URAM} {
        lappend rows [zeronic_row $text $name]
    }
    set dies [expr {[llength [lindex $rows 0]] / 2}]
    for {set die 0} {$die < $dies} {incr die} {
        set line "die $die"
        foreach row $rows {
            append line " [lindex $row $die] [lindex $row [expr {$dies + $die}]]"
        }
        lappend lines $line
    }
    return $lines
}

# The figures, and what is wrong: two lists of texts.
proc zeronic_figures {} {
    global zeronic_out zeronic_vivado
    set lines [list "vivado $zeronic_vivado"]
    set wrong {}
    foreach clock [get_clocks] {
        set period [get_property PERIOD $clock]
        set name [get_property NAME $clock]
        lappend lines "clock $name $period [zeronic_slack setup $clock] [zeronic_slack hold $clock]"
    }
    foreach kind {setup hold} {
        set path [get_timing_paths -max_paths 1 -$kind]
        if {[llength $path] == 0} {
            lappend wrong "no path of $kind is timed: the clocks are missing"
            continue
        }
        set slack [get_property SLACK $path]
        lappend lines "path $kind $slack [get_property LOGIC_LEVELS $path]\
            [get_property STARTPOINT_PIN $path] [get_property ENDPOINT_PIN $path]"
        if {$slack < 0} {
            lappend wrong "$kind: slack $slack ns; see [file join $zeronic_out timing.txt]"
        }
    }
    set skew [regexp -all VIOLATED [report_bus_skew -return_string]]
    set cores [zeronic_vendor_cells]
    lassign [zeronic_critical [report_cdc -details -severity Critical -return_string] \
        [dict keys $cores]] cdc waived
    set unconstrained [zeronic_unconstrained [check_timing -return_string]]
    set ports [zeronic_open_ports [report_drc -checks {UCIO-1 NSTD-1} -return_string]]
    lappend lines "skew $skew" "cdc $cdc"
    dict for {cell number} $waived {
        lappend lines "waived $number $cell [dict get $cores $cell]"
    }
    lappend lines "unconstrained $unconstrained"
    foreach {count what file} [list \
        $skew          "bits of a crossing arrive too far apart" bus_skew.txt \
        $cdc           "a crossing that is none of the card's"   cdc.txt \
        $unconstrained "paths without a constraint"              check_timing.txt \
    ] {
        if {$count > 0} {
            lappend wrong "$what ($count); see [file join $zeronic_out $file]"
        }
    }
    foreach port $ports {
        lappend lines "port $port"
        lappend wrong "port $port has no pin or no IO standard"
    }
    lappend lines {*}[zeronic_dies [report_utilization -slr -return_string]]
    return [list $lines $wrong]
}

# Writes the figures; an image that is not in time, or crosses where nobody has thought of it, is
# not written, or says in its header how many things are wrong with it: zeronic_forced.
proc zeronic_judge {} {
    global zeronic_out zeronic_forced
    lassign [zeronic_figures] lines wrong
    set stream [open [file join $zeronic_out figures.txt] w]
    foreach line $lines {
        puts $stream $line
    }
    foreach text $wrong {
        puts $stream "wrong $text"
    }
    close $stream
    set zeronic_forced [llength $wrong]
    if {$zeronic_forced > 0 && [zeronic_environment ZERONIC_FORCE_IMAGE 0] ne "1"} {
        error [join $wrong "; "]
    }
}
