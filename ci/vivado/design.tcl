# The emitted design as far as names go: modules with ports, instances, registers, nets.
#
#   *.v ──► text of each module ──► ports, instances with pins, registers by clock
#                                    └─► cells, pins, nets, ports by a pattern, as Vivado finds them
#
# Reads the Verilog that `zeronic verilog` writes, which is regular: pins of instances are named,
# `<=` assigns in clocked blocks alone. A register of several bits is a cell for each: `count_reg[3]`.
# A vendor's core or primitive is a cell with the pins that are connected, and nothing is below it.

namespace eval design {
    # Of each module: ports (name: direction, range), instances (name: module, pins), registers
    # (name: range, clock, sources), memories (name: clock), nets (name: range). A range is the
    # highest bit, or empty for a single bit without an index.
    variable ports
    variable instances
    variable registers
    variable memories
    variable nets
    variable texts
    array set ports {}
}

# Text without comments and attributes; those of a module in `attributes`.
proc design::bare {text} {
    regsub -all -line {//.*$} $text {} text
    regsub -all {\(\*\s[^*]*\s\*\)} $text {} text
    return $text
}

# Reads a file; returns the names of its modules.
proc design::read {file} {
    variable texts
    set stream [open $file]
    set text [::read $stream]
    close $stream
    set found {}
    foreach part [split [string map [list endmodule \x01] $text] \x01] {
        if {[regexp {(?:\A|\n)module (\w+)} $part -> name]} {
            append part endmodule
            set texts($name) $part
            module $name [bare $part]
            lappend found $name
        }
    }
    return $found
}

# The highest bit of `[7:0]`, empty without a range.
proc design::range {text} {
    if {[regexp {\[(\d+):0\]} $text -> high]} {
        return $high
    }
    return {}
}

proc design::module {name text} {
    variable ports
    variable instances
    variable registers
    variable memories
    variable nets
    set ports($name) {}
    set instances($name) {}
    set registers($name) {}
    set memories($name) {}
    set nets($name) {}
    set declared {}
    set pattern {^\s*(input|output|inout)\s+(?:wire|reg)?\s*(\[[^\]]*\])?\s*(\w+)\s*[,)]?\s*$}
    foreach {all direction bits port} [regexp -all -inline -line $pattern $text] {
        dict set ports($name) $port [list $direction [range $bits]]
        dict set nets($name) $port [range $bits]
        dict set declared $port [range $bits]
    }
    set pattern {^\s*(reg|wire)\s+(\[[^\]]*\])?\s*(\w+)\s*(\[[^\]]*\])?\s*(;|=)}
    foreach {all kind bits net depth end} [regexp -all -inline -line $pattern $text] {
        if {$depth ne ""} {
            dict set memories($name) $net {}
        } else {
            dict set nets($name) $net [range $bits]
            dict set declared $net [range $bits]
        }
    }
    instances_of $name $text
    registers_of $name $text $declared
}

# Instances: `MODULE [#(...)] NAME (` and named pins.
proc design::instances_of {name text} {
    variable instances
    set inside {(?:[^()]|\((?:[^()]|\([^()]*\))*\))*}
    set pattern "(\\w+)\\s+(?:#\\s*\\($inside\\)\\s*)?(\\w+)\\s*\\(\\s*(\\.$inside)\\)\\s*;"
    foreach {all module instance pins} [regexp -all -inline -- $pattern $text] {
        set connected {}
        set pin_pattern "\\.(\\w+)\\s*\\(($inside)\\)"
        foreach {all pin net} [regexp -all -inline -- $pin_pattern $pins] {
            dict set connected $pin [string trim $net]
        }
        dict set instances($name) $instance [list $module $connected]
    }
}

# Registers: what is assigned in a block with a clock, and from what.
proc design::registers_of {name text declared} {
    variable registers
    variable memories
    set marks [regexp -all -inline -indices {\malways\s*@\s*\(posedge\s+(\w+)\)} $text]
    set starts {}
    foreach {whole clock} $marks {
        lappend starts [list [lindex $whole 1] [string range $text {*}$clock]]
    }
    foreach start $starts {
        lassign $start from clock
        set block [string range $text $from+1 end]
        if {[regexp -indices {\m(always|assign|initial|endmodule)\M} $block end]} {
            set block [string range $block 0 [lindex $end 0]-1]
        }
        set pattern {(\w+)(\[[^;=<]*\])?\s*<=\s*([^;]*);\s*$}
        foreach {all register index source} [regexp -all -inline -line $pattern $block] {
            set words [regexp -all -inline {\m[a-zA-Z_]\w*} $source]
            if {[dict exists $memories($name) $register]} {
                dict set memories($name) $register $clock
                continue
            }
            if {![dict exists $declared $register]} continue
            if {[dict exists $registers($name) $register]} {
                set words [concat [lindex [dict get $registers($name) $register] 2] $words]
            }
            set words [lsort -unique $words]
            set high [dict get $declared $register]
            dict set registers($name) $register [list $high $clock $words]
        }
    }
}

# The cells of a register.
proc design::cells_of_register {register high} {
    if {$high eq ""} {
        return [list ${register}_reg]
    }
    set cells {}
    for {set bit 0} {$bit <= $high} {incr bit} {
        lappend cells "${register}_reg\[$bit\]"
    }
    return $cells
}

# A pattern of Vivado as one of Tcl: an index is meant as it stands.
proc design::glob {pattern} {
    return [string map {[ \\[ ] \\]} $pattern]
}

proc design::bits {name high} {
    if {$high eq ""} {
        return [list $name]
    }
    set bits {}
    for {set bit 0} {$bit <= $high} {incr bit} {
        lappend bits "$name\[$bit\]"
    }
    return $bits
}

proc design::below {path name} {
    return [expr {$path eq "" ? $name : "$path/$name"}]
}

# Instances of a module by a glob, each with its module.
proc design::children {module glob} {
    variable instances
    set found {}
    if {![info exists instances($module)]} {
        return {}
    }
    dict for {name instance} $instances($module) {
        if {[string match $glob $name]} {
            lappend found $name [lindex $instance 0]
        }
    }
    return $found
}

# Paths and modules below a place that the leading parts of a pattern name.
proc design::places {path module parts} {
    set places [list $path $module]
    foreach part $parts {
        set next {}
        foreach {at inside} $places {
            foreach {name child} [children $inside [glob $part]] {
                lappend next [below $at $name] $child
            }
        }
        set places $next
    }
    return $places
}

# Cells below a place that a pattern names: instances, registers and memories.
proc design::cells {path module pattern} {
    variable registers
    variable memories
    set parts [split $pattern /]
    set last [glob [lindex $parts end]]
    set found {}
    foreach {at inside} [places $path $module [lrange $parts 0 end-1]] {
        foreach {name child} [children $inside $last] {
            lappend found [below $at $name]
        }
        if {![info exists registers($inside)]} continue
        dict for {register about} $registers($inside) {
            foreach cell [cells_of_register $register [lindex $about 0]] {
                if {[string match $last $cell]} {
                    lappend found [below $at $cell]
                }
            }
        }
        dict for {memory clock} $memories($inside) {
            if {[string match $last ${memory}_reg]} {
                lappend found [below $at ${memory}_reg]
            }
        }
    }
    return $found
}

# All instances below a place: path and module.
proc design::everything {path module} {
    set found {}
    foreach {name child} [children $module *] {
        set at [below $path $name]
        lappend found $at $child
        lappend found {*}[everything $at $child]
    }
    return $found
}

# Pins below a place that a pattern names.
proc design::pins {path module pattern} {
    variable registers
    variable instances
    set parts [split $pattern /]
    set pin [glob [lindex $parts end]]
    set cell [glob [lindex $parts end-1]]
    set found {}
    foreach {at inside} [places $path $module [lrange $parts 0 end-2]] {
        if {![info exists registers($inside)]} continue
        dict for {register about} $registers($inside) {
            foreach name [cells_of_register $register [lindex $about 0]] {
                if {![string match $cell $name]} continue
                foreach known {D Q C CE R S} {
                    if {[string match $pin $known]} {
                        lappend found [below $at $name]/$known
                    }
                }
            }
        }
        dict for {name instance} $instances($inside) {
            if {![string match $cell $name]} continue
            foreach known [dict keys [lindex $instance 1]] {
                if {[string match $pin $known]} {
                    lappend found [below $at $name]/$known
                }
            }
        }
    }
    return $found
}

# Ports of a module, or nets below a place, that a pattern names: a bit each.
proc design::ports_of {module pattern} {
    variable ports
    return [named $ports($module) $pattern 1]
}

proc design::nets {path module pattern} {
    variable nets
    set parts [split $pattern /]
    set found {}
    foreach {at inside} [places $path $module [lrange $parts 0 end-1]] {
        if {![info exists nets($inside)]} continue
        foreach name [named $nets($inside) [lindex $parts end] 0] {
            lappend found [below $at $name]
        }
    }
    return $found
}

proc design::named {all pattern at} {
    set glob [glob $pattern]
    set found {}
    dict for {name about} $all {
        set high [expr {$at ? [lindex $about 1] : $about}]
        foreach bit [bits $name $high] {
            if {[string match $glob $bit]} {
                lappend found $bit
            }
        }
    }
    return $found
}
