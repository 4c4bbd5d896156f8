# What drives clock buffers, and ports of cores with a buffer inside (tables/buffers.tcl).
#
#   pin of a leaf ── up and down the hierarchy ──► PRIMITIVE.PIN that drives its net
#
# A leaf is a primitive or a core: a cell without a text. Nets are followed through ports and
# `assign a = b;`.

namespace eval facts::buffers {
    # Of each module: net that drives a net by an assignment.
    variable assigns
    array set assigns {}
    # Path of a cell: {module, net of each pin}, of all that the top holds.
    variable cells
}

proc facts::buffers::assigned {module net} {
    variable assigns
    if {![info exists assigns($module)]} {
        set assigns($module) {}
        if {[info exists design::texts($module)]} {
            set pattern {assign\s+(\w+)\s*=\s*(\w+)\s*;}
            set text [design::bare $design::texts($module)]
            foreach {all to from} [regexp -all -inline -- $pattern $text] {
                dict set assigns($module) $to $from
            }
        }
    }
    return [expr {[dict exists $assigns($module) $net] ? [dict get $assigns($module) $net] : ""}]
}

# A core by the name of its module: `pcie4_uscale_plus_0`.
proc facts::buffers::kind {module} {
    return [regsub {_0$} $module {}]
}

proc facts::buffers::is_leaf {module} {
    return [expr {![info exists design::ports($module)]}]
}

# Whether a pin of a leaf is an output, as the tables have it.
proc facts::buffers::gives {module pin} {
    set key [list outputs [kind $module]]
    return [expr {[facts::has $key] && $pin in [facts::values $key]}]
}

# What drives a net of a module at a path: PRIMITIVE.PIN and the cell, or nothing that is known.
# `above` are the modules on the way: {path module}, the innermost last.
proc facts::buffers::driver {above net} {
    for {set turns 0} {$turns < 100} {incr turns} {
        lassign [lindex $above end] path module
        set from [assigned $module $net]
        if {$from ne ""} {
            set net $from
            continue
        }
        set inside [instance_that_drives $path $module $net]
        if {$inside ne ""} {
            lassign $inside name child pin
            if {[is_leaf $child]} {
                return [list [kind $child].$pin [design::below $path $name]]
            }
            lappend above [list [design::below $path $name] $child]
            set net $pin
            continue
        }
        # An input of the module: what is at it one level up.
        if {![dict exists $design::ports($module) $net]
                || [lindex [dict get $design::ports($module) $net] 0] ne "input"} {
            return [list unknown $path]
        }
        if {[llength $above] == 1} {
            return [list port.$net {}]
        }
        set above [lrange $above 0 end-1]
        set name [lindex [split $path /] end]
        set pins [lindex [dict get $design::instances([lindex $above end 1]) $name] 1]
        if {![dict exists $pins $net]} {
            return [list open $path]
        }
        set net [dict get $pins $net]
    }
    return [list unknown {}]
}

# The instance in a module whose output is at a net: name, module, pin.
proc facts::buffers::instance_that_drives {path module net} {
    dict for {name instance} $design::instances($module) {
        lassign $instance child pins
        dict for {pin connected} $pins {
            if {$connected ne $net} continue
            if {[is_leaf $child] ? [gives $child $pin]
                    : [crossings::is_output $child $pin]} {
                return [list $name $child $pin]
            }
        }
    }
    return {}
}

# Calls a command with path, module, pin, net and the modules above for each pin of each leaf.
proc facts::buffers::each_pin {above command} {
    lassign [lindex $above end] path module
    dict for {name instance} $design::instances($module) {
        lassign $instance child pins
        set at [design::below $path $name]
        if {[is_leaf $child]} {
            dict for {pin net} $pins {
                {*}$command $at $child $pin $net $above
            }
        } elseif {[holds_leaves $child]} {
            each_pin [concat $above [list [list $at $child]]] $command
        }
    }
}

# Whether a module holds a primitive or a core, at whatever depth.
proc facts::buffers::holds_leaves {module} {
    variable holds
    if {![info exists holds($module)]} {
        set holds($module) 0
        foreach {name child} [design::children $module *] {
            if {[is_leaf $child] || [holds_leaves $child]} {
                set holds($module) 1
                break
            }
        }
    }
    return $holds($module)
}

# Notes a pin's driver, and judges a pin that a table knows.
proc facts::buffers::pin {path module pin net above} {
    variable loads
    if {[gives $module $pin]} return
    if {![regexp {^[A-Za-z_]\w*$} $net]} return
    lassign [driver $above $net] from cell
    if {$from in {unknown open}} {
        set from $from.$net
    } else {
        dict lappend loads "$from $cell" [list $path [kind $module] $pin]
    }
    set key [list drivers [kind $module] $pin]
    if {[facts::has $key]} {
        judge_buffer $key $path [kind $module].$pin $from
    }
    set key [list inside [kind $module] $pin]
    if {[facts::has $key]} {
        set primitive [facts::values $key]
        judge_buffer [list drivers $primitive I] $path "[kind $module].$pin, with a $primitive\
            inside," $from
        facts::found $key "a $primitive at [kind $module].$pin"
    }
}

proc facts::buffers::judge_buffer {key path what from} {
    if {$from in [facts::values $key]} {
        facts::found $key "$what driven by $from"
    } else {
        replay::complain "$path: $what is driven by $from; sources have\
            [join [facts::values $key] { or }]"
    }
}

# A net at a port with a buffer inside has no other load.
proc facts::buffers::judge {top} {
    variable loads
    set loads {}
    each_pin [list [list {} $top]] facts::buffers::pin
    dict for {from pins} $loads {
        foreach one $pins {
            lassign $one path kind pin
            if {![facts::has [list inside $kind $pin]] || [llength $pins] == 1} continue
            foreach other $pins {
                if {$other ne $one} {
                    lassign $other at its load
                    replay::complain "$path: the net at $kind.$pin, with a\
                        [facts::values [list inside $kind $pin]] inside, is also at $at ($its.$load)"
                }
            }
        }
    }
}
