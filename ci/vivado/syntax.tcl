# Vivado's commands with their options, from Vivado's own help.
#
#   help ── syntax.py ──► NAME CATEGORIES SYNTAX VALUES ──► flags, options with a value, words
#
# As in Vivado a word may be given by its name (`write_cfgmem -file F` for `<file>`). Vivado also
# takes the beginning of an option's name; here it has to be whole.

namespace eval syntax {
    # Of each command: dict of categories, flags, valued, required, words, least, most, lists.
    variable specs
    array set specs {}
}

# Reads the lines that syntax.py prints.
proc syntax::load {text} {
    variable specs
    foreach line [split $text \n] {
        lassign [split $line \t] name categories syntax lists
        set specs($name) [parsed $syntax]
        dict set specs($name) categories $categories
        dict set specs($name) lists {}
        foreach list $lists {
            regexp {^(-\w+)=(.*)$} $list -> option values
            if {$option in [dict get $specs($name) valued]} {
                dict set specs($name) lists $option [split $values ,]
            }
        }
    }
}

# `[-force] -format <arg> [-size <arg>] <file> [<more>...]`
proc syntax::parsed {syntax} {
    set spec {flags {} valued {} required {} words {} least 0 most 0}
    set pattern {(\[?)(-[\w-]+)?\s*(?:<(\w+)>(\.\.\.)?)?(\]?)}
    foreach {all open option word more close} [regexp -all -inline -- $pattern $syntax] {
        if {$option ne ""} {
            if {$word eq ""} {
                dict lappend spec flags $option
            } else {
                dict lappend spec valued $option
            }
            if {$open eq ""} {
                dict lappend spec required $option
            }
        } elseif {$word ne ""} {
            dict lappend spec words $word
            if {$open eq ""} {
                dict incr spec least
            }
            dict incr spec most [expr {$more ne "" ? 1000 : 1}]
        }
    }
    return $spec
}

proc syntax::is_known {name} {
    variable specs
    return [info exists specs($name)]
}

# Commands that a file of constraints may hold.
proc syntax::is_constraint {name} {
    variable specs
    set categories [dict get $specs($name) categories]
    return [expr {"XDC" in $categories || "SDC" in $categories}]
}

# Options and words of a call; what is wrong is given to `complain`.
proc syntax::read {name arguments complain} {
    variable specs
    set spec $specs($name)
    set options {}
    set words {}
    set named 0
    for {set at 0} {$at < [llength $arguments]} {incr at} {
        set word [lindex $arguments $at]
        if {$word in [dict get $spec flags]} {
            dict set options $word 1
            continue
        }
        set is_word [expr {[string range $word 1 end] in [dict get $spec words]}]
        if {[string match -* $word] && ($is_word || $word in [dict get $spec valued])} {
            incr at
            incr named $is_word
            if {$at >= [llength $arguments]} {
                {*}$complain "$name $word: its value is missing"
            }
            dict lappend options $word [lindex $arguments $at]
            listed $name $spec $word [lindex $arguments $at] $complain
        } elseif {[string match -* $word] && ![string is double $word]} {
            {*}$complain "$name has no option $word"
        } else {
            lappend words $word
        }
    }
    # The limits of a route are those of single pins.
    set is_of_pins [expr {$name eq "route_design" && ![dict exists $options -pins]}]
    foreach option [dict get $spec required] {
        if {!$is_of_pins && ![dict exists $options $option]} {
            {*}$complain "$name without $option"
        }
    }
    lassign [limits $name $spec $options] least most
    set count [expr {$named + [llength $words]}]
    if {$count < $least || $count > $most} {
        {*}$complain "$name: $count words, not $least to $most: $words"
        return -code error {}
    }
    return [list $options $words]
}

# A value that Vivado's help does not list; formats are written in small letters too.
proc syntax::listed {name spec option value complain} {
    if {![dict exists $spec lists $option]} return
    set known [dict get $spec lists $option]
    if {[llength $known] > 1 && $value ni $known && [string toupper $value] ni $known} {
        {*}$complain "$name $option $value: Vivado's help knows $known"
    }
}

# With -dict, names and values are in it.
proc syntax::limits {name spec options} {
    set least [dict get $spec least]
    if {$name eq "set_property" && [dict exists $options -dict]} {
        set least 1
    }
    return [list $least [dict get $spec most]]
}
