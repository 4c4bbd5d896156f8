# What the constraints must hold at each crossing, found in the Verilog; and what synthesis leaves
# of the registers that they name.
#
#   modules with two clocks ──► a register that takes what the other clock drives ──► its lines
#   their text ── Yosys, opt -full ──► registers that became one ──► each of their names
#
# A register that a tool makes one with another bears the name of either. So where a constraint
# begins at a register, it must name all that are one with it: `read_gray` and the top bit of
# `read_pointer`.

namespace eval crossings {
    # Of a module: sets of cells of its registers that are one; cells that are gone.
    variable one
    variable gone
    array set one {}
    array set gone {}
}

# The clock of what drives a net of a module: of a register, or of an instance with one clock.
proc crossings::clock_of {module net} {
    if {[dict exists $design::registers($module) $net]} {
        return [lindex [dict get $design::registers($module) $net] 1]
    }
    dict for {name instance} $design::instances($module) {
        lassign $instance child pins
        set clocks {}
        set drives 0
        dict for {pin connected} $pins {
            if {[is_clock $child $pin]} {
                lappend clocks $connected
            } elseif {$connected eq $net && [is_output $child $pin]} {
                set drives 1
            }
        }
        if {$drives && [llength [lsort -unique $clocks]] == 1} {
            return [lindex $clocks 0]
        }
    }
    return {}
}

proc crossings::is_output {module port} {
    return [expr {[info exists design::ports($module)]
        && [dict exists $design::ports($module) $port]
        && [lindex [dict get $design::ports($module) $port] 0] eq "output"}]
}

# Whether a port of a module clocks something in it.
proc crossings::is_clock {module port} {
    variable clocks
    if {![info exists clocks($module)]} {
        set clocks($module) {}
        if {[info exists design::registers($module)]} {
            dict for {register about} $design::registers($module) {
                lappend clocks($module) [lindex $about 1]
            }
            dict for {memory clock} $design::memories($module) {
                lappend clocks($module) $clock
            }
            dict for {name instance} $design::instances($module) {
                lassign $instance child pins
                dict for {pin connected} $pins {
                    if {[is_clock $child $pin]} {
                        lappend clocks($module) $connected
                    }
                }
            }
            set clocks($module) [lsort -unique $clocks($module)]
        }
    }
    return [expr {$port in $clocks($module)}]
}

# The crossings of a module: target cells, source registers (none: a memory), the clock of the
# source, whether bits of several registers go together.
proc crossings::of_module {module} {
    variable found
    if {[info exists found($module)]} {
        return $found($module)
    }
    set found($module) {}
    if {![info exists design::registers($module)]} {
        return {}
    }
    set clocks {}
    foreach port [dict keys $design::ports($module)] {
        if {[is_clock $module $port]} {
            lappend clocks $port
        }
    }
    if {[llength $clocks] < 2} {
        return {}
    }
    dict for {register about} $design::registers($module) {
        lassign $about high clock sources
        foreach source $sources {
            set from [clock_of $module $source]
            if {$from ne "" && $from ne $clock} {
                set targets [design::cells_of_register $register $high]
                lappend found($module) [crossing $module $targets $source $from]
            }
        }
    }
    # A synchronizer takes at its port `d` whatever clock drives it.
    dict for {name instance} $design::instances($module) {
        lassign $instance child pins
        if {![info exists design::texts($child)]
                || ![string match *ASYNC_REG* $design::texts($child)]
                || ![dict exists $pins d]} continue
        set source [dict get $pins d]
        set from [clock_of $module $source]
        set high [lindex [dict get $design::registers($child) first] 0]
        set targets {}
        foreach cell [design::cells_of_register first $high] {
            lappend targets $name/$cell
        }
        lappend found($module) [crossing $module $targets $source $from]
    }
    return $found($module)
}

proc crossings::crossing {module targets source clock} {
    set cells {}
    if {[dict exists $design::registers($module) $source]} {
        set high [lindex [dict get $design::registers($module) $source] 0]
        set cells [design::cells_of_register $source $high]
    }
    return [list $targets $cells $clock]
}

# Judges the lines of a design below `top`; returns how many crossings there are. `lines` are
# {command from-objects to-objects}; a problem is given to `complain`.
proc crossings::judge {top lines complain} {
    array set limited {}
    array set together {}
    foreach line $lines {
        lassign $line command from to
        foreach pin $to {
            if {$command eq "set_max_delay"} {
                lappend limited($pin) $from
            } else {
                lappend together($pin) $from
            }
        }
    }
    set count 0
    foreach {path module} [linsert [design::everything {} $top] 0 {} $top] {
        foreach crossing [of_module $module] {
            incr count
            lassign $crossing targets sources clock
            foreach target $targets {
                set pin pin:[design::below $path $target]/D
                judge_pin $path $module $pin $sources limited set_max_delay $complain
                if {[llength $sources] > 1 && [llength $targets] > 1} {
                    judge_pin $path $module $pin $sources together set_bus_skew $complain
                }
            }
        }
    }
    return $count
}

# One pin: a line that ends there and begins at every register that may stand for a source.
proc crossings::judge_pin {path module pin sources lines command complain} {
    upvar 1 $lines known
    if {![info exists known($pin)]} {
        {*}$complain "crossing [string range $pin 4 end]: no $command ends there"
        return
    }
    set begins [concat {*}$known($pin)]
    # From a clock: whatever it drives.
    if {[lsearch -glob $begins clock:*] >= 0} return
    if {[llength $sources] == 0} {
        {*}$complain "crossing [string range $pin 4 end]: a memory drives it, from a clock only"
        return
    }
    foreach source [names_of $module $sources] {
        if {"cell:[design::below $path $source]" ni $begins} {
            {*}$complain "crossing [string range $pin 4 end]: $command does not begin at\
                [design::below $path $source]"
            return
        }
    }
}

# Sources, and the registers that synthesis makes one with them.
proc crossings::names_of {module sources} {
    variable one
    set names $sources
    if {[info exists one($module)]} {
        foreach set $one($module) {
            foreach source $sources {
                if {$source in $set} {
                    lappend names {*}$set
                }
            }
        }
    }
    return [lsort -unique $names]
}

# Has Yosys optimise modules, with all below them, and notes which of their registers became one.
# `yosys` is the command, `work` a folder for its files.
proc crossings::synthesise {modules yosys work} {
    variable one
    variable gone
    file mkdir $work
    foreach module $modules {
        set text {}
        foreach name [needed $module] {
            append text $design::texts($name) \n
        }
        set source [file join $work $module.v]
        set result [file join $work $module.il]
        set stream [open $source w]
        puts $stream $text
        close $stream
        set script "read_verilog \"$source\"; hierarchy -top $module; proc; flatten; simplemap;\
            opt -full; write_rtlil \"$result\""
        exec {*}$yosys -q -p $script
        set stream [open $result]
        lassign [merged [::read $stream] $module] one($module) gone($module)
        close $stream
        file delete $source $result
    }
}

# A module and those below it that have a text.
proc crossings::needed {module} {
    set needed [list $module]
    foreach {path child} [design::everything {} $module] {
        if {[info exists design::texts($child)] && $child ni $needed} {
            lappend needed $child
        }
    }
    return $needed
}

# The bits that a signal of RTLIL stands for: `\read_gray [6]`, `{ \a [1] \b }`.
proc crossings::bits {signal widths} {
    set bits {}
    foreach {all name index} [regexp -all -inline {([\\$]\S+)(?:\s+\[([\d:]+)\])?} $signal] {
        set high 0
        if {[dict exists $widths $name]} {
            set high [expr {[dict get $widths $name] - 1}]
        }
        set low 0
        if {[regexp {^(\d+):(\d+)$} $index -> high low]} {
        } elseif {$index ne ""} {
            set high [set low $index]
        }
        for {set bit $high} {$bit >= $low} {incr bit -1} {
            lappend bits $name,$bit
        }
    }
    return $bits
}

# Of a module in RTLIL: the sets of cells of registers that are one flip-flop, and the cells of
# registers that are gone.
proc crossings::merged {text module} {
    array set drives {}
    array set flops {}
    set widths {}
    set inside 0
    set kind {}
    foreach line [split $text \n] {
        set words [split [string trim $line]]
        if {[string match "module *" $line]} {
            set inside [expr {[lindex $words 1] eq "\\$module"}]
        } elseif {!$inside} {
            continue
        } elseif {[string match "  wire *" $line]} {
            set at [lsearch $words width]
            dict set widths [lindex $words end] [expr {$at < 0 ? 1 : [lindex $words $at+1]}]
        } elseif {[string match "  cell *" $line]} {
            set kind [string toupper [lindex $words 1]]
        } elseif {[string match "    connect *" $line]} {
            if {[string match *DFF* $kind] && [lindex $words 1] eq "\\Q"} {
                foreach bit [bits [string range [string trim $line] 10 end] $widths] {
                    set flops($bit) {}
                }
            }
        } elseif {[string match "  connect *" $line]} {
            lassign [halves [string range [string trim $line] 8 end]] to from
            foreach ours [bits $to $widths] theirs [bits $from $widths] {
                set drives($ours) $theirs
            }
        }
    }
    set lost {}
    dict for {register about} $design::registers($module) {
        set bit 0
        foreach cell [design::cells_of_register $register [lindex $about 0]] {
            set at \\$register,$bit
            incr bit
            for {set turns 0} {[info exists drives($at)] && $turns < 100} {incr turns} {
                set at $drives($at)
            }
            if {[info exists flops($at)]} {
                lappend flops($at) $cell
            } else {
                lappend lost $cell
            }
        }
    }
    set sets {}
    foreach {bit cells} [array get flops] {
        if {[llength $cells] > 1} {
            lappend sets $cells
        }
    }
    return [list $sets $lost]
}

# The two signals of a `connect`.
proc crossings::halves {pair} {
    if {[regexp {^(\{.*?\})\s+(.*)$} $pair -> to from]
            || [regexp {^(\S+ \[[\d:]+\])\s+(.*)$} $pair -> to from]
            || [regexp {^(\S+)\s+(.*)$} $pair -> to from]} {
        return [list $to $from]
    }
    return {{} {}}
}
