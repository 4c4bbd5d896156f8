# Compares what scripts and constraints say with what public sources say: tables/*.tcl.
#
#   set_property, create_ip, set_param ─┐
#   ports with pin, standard, clock ────┼─► row of a table? its value? ─┬─► a source: proven
#   drivers of clock buffers ───────────┘                               ├─► none: unproven
#   docs/hardware.md                                                    └─► no row, other value:
#                                                                           a problem
# A fact of ours that no source has is a row without one: --list-unproven shows it, and the
# checklist in docs/boards asks for it.

namespace eval facts {
    variable here [file dirname [file normalize [info script]]]
    # Rows, by what they are looked up with: {VALUES SOURCES}.
    variable rows
    array set rows {}
    # Keys of `rows`, in their order.
    variable order {}
    variable sources
    array set sources {}
    # What a run has shown.
    variable proven 0
    variable unproven {}
    # Variables of board.tcl.
    variable board {}
    # What is to be looked up once the board is known: {KIND NAME VALUE WHAT}.
    variable later {}
}

# A row of a table: a key with values and sources.
proc facts::row {key values from} {
    variable rows
    variable order
    variable sources
    foreach one $from {
        if {![info exists sources($one)]} {
            error "tables: $key names the source '$one', which sources.tcl has not"
        }
    }
    if {[info exists rows($key)]} {
        lassign $rows($key) known others
        set values [concat $known $values]
        set from [lsort -unique [concat $others $from]]
    } else {
        lappend order $key
    }
    set rows($key) [list $values $from]
}

namespace eval facts::table {
    proc source_of {key where} {
        set facts::sources($key) $where
    }
    proc core {name version from} {
        facts::row [list core $name] [list $version] $from
    }
    proc parameter {cores name values from} {
        foreach core $cores {
            facts::row [list parameter $core $name] $values $from
        }
    }
    proc property {kind name values from} {
        facts::row [list property $kind $name] $values $from
    }
    proc drive {standard values from} {
        facts::row [list drive $standard] $values $from
    }
    proc voltage {standard volts} {
        facts::row [list voltage $standard] $volts {}
    }
    proc place {boards name values from} {
        foreach board $boards {
            facts::row [list place $board $name] $values $from
        }
    }
    proc pin {boards port pin standards from} {
        foreach board $boards {
            facts::row [list pin $board $port] [list [list $pin $standards]] $from
        }
    }
    proc drivers {primitive pin drivers from} {
        facts::row [list drivers $primitive $pin] $drivers $from
    }
    proc inside {core port primitive from} {
        facts::row [list inside $core $port] $primitive $from
    }
    proc outputs {module pins} {
        facts::row [list outputs $module] $pins {}
    }
}

proc facts::load_tables {} {
    variable here
    foreach name {sources parameters places pins properties buffers} {
        namespace eval table [list source [file join $here tables $name.tcl]]
    }
}

proc facts::has {key} {
    variable rows
    return [info exists rows($key)]
}

proc facts::values {key} {
    variable rows
    return [lindex $rows($key) 0]
}

# Counts a fact that a row has.
proc facts::found {key what} {
    variable rows
    variable proven
    variable unproven
    if {[llength [lindex $rows($key) 1]] > 0} {
        incr proven
    } elseif {$what ni $unproven} {
        lappend unproven $what
    }
}

# Whether a value is of a kind, or one of a list.
proc facts::is_of {value values} {
    switch -regexp -- $values {
        {^(any|text)$} { return 1 }
        {^boolean$}    { return [expr {[string tolower $value] in {true false}}] }
        {^bit$}        { return [expr {$value in {0 1}}] }
        {^hex\d+$}     {
            set digits [string range $values 3 end]
            if {$digits == 32} {
                return [regexp {^0x[0-9a-fA-F]{1,8}$} $value]
            }
            return [regexp "^\[0-9a-fA-F\]{$digits}\$" $value]
        }
        {^real$}       { return [expr {[string is double -strict $value] && $value > 0}] }
        {^natural$}    { return [regexp {^\d+$} $value] }
        {^lane$}       { return [regexp {^(NA|X\d+Y\d+)$} $value] }
    }
    foreach one $values {
        if {[string equal -nocase $one $value]
                || ([string is double -strict $one] && [string is double -strict $value]
                    && abs($one - $value) < 0.0005)} {
            return 1
        }
    }
    return 0
}

# A value against the row of its key. `place` stands for the row of the board.
proc facts::ask {key value what} {
    variable board
    if {![has $key]} {
        replay::complain "$what: no source has it"
        return
    }
    set values [values $key]
    if {$values eq "place"} {
        set name [lindex $key end]
        if {[lindex $key 0] eq "parameter"} {
            set name [lindex $key 1].$name
        }
        set key [list place $board $name]
        if {![has $key]} {
            replay::complain "$what: no source has it for the board '$board'"
            return
        }
        set values [values $key]
    }
    if {![is_of $value $values]} {
        replay::complain "$what is '$value'; sources have [join $values { or }]"
        return
    }
    found $key "$what $value"
}

# A setting while the script runs. What depends on the board waits until board.tcl was read.
proc facts::note {key value what} {
    variable later
    lappend later [list $key $value $what $replay::place]
}

# A property of objects: {kind:name}.
proc facts::property {object name value} {
    set kind [lindex [split $object :] 0]
    if {$kind eq "ip" && [string match CONFIG.* $name]} {
        set core [regsub {_0$} [string range $object 3 end] {}]
        set name [string range $name 7 end]
        note [list parameter $core $name] $value "$core: CONFIG.$name"
    } elseif {$kind eq "port" && $name eq "PACKAGE_PIN"} {
        # With its port, in judge_design.
    } else {
        note [list property $kind $name] $value "property $name of $kind"
    }
}

# A property that is read.
proc facts::asked {object name} {
    set kind [lindex [split $object :] 0]
    if {$kind in {hw_device hw_cfgmem path clock}} {
        note [list property $kind $name] any "property $name of $kind"
    }
}

# A core that is made.
proc facts::core {name version} {
    note [list core $name] $version "create_ip $name: version"
}

proc facts::parameter_of_tool {name value} {
    note [list property param $name] $value "set_param $name"
}

# Asks all that was noted: `inside` is the interpreter in which the script ran.
proc facts::begin {inside} {
    variable board
    variable later
    if {[interp eval $inside {info exists zeronic_board}]} {
        set board [interp eval $inside {set zeronic_board}]
        if {[interp eval $inside {info exists zeronic_part}]} {
            note [list place $board part] [interp eval $inside {set zeronic_part}] "part of $board"
        }
    }
    foreach one $later {
        lassign $one key value what place
        set replay::place $place
        ask $key $value $what
    }
    set replay::place {}
    page::judge
}

# What is known once the design is there: pins, standards, clocks, dies, drivers of buffers.
proc facts::judge_design {top} {
    variable board
    foreach {key pin} [array get replay::properties port:*,PACKAGE_PIN] {
        set port [string range $key 5 end-12]
        judge_pin $port $pin
    }
    judge_supplies
    judge_dies
    judge_clocks
    buffers::judge $top
}

proc facts::setting {port name} {
    set key port:$port,$name
    return [expr {[info exists replay::properties($key)] ? $replay::properties($key) : ""}]
}

proc facts::judge_pin {port pin} {
    variable board
    set key [list pin $board $port]
    if {![has $key]} {
        replay::complain "port $port at $pin: no source has the port on the board '$board'"
        return
    }
    set standard [setting $port IOSTANDARD]
    judge_electrical $port $standard
    set known {}
    foreach one [values $key] {
        lassign $one at standards
        lappend known $at
        if {$at ne $pin} continue
        if {$standard ne "" && $standard ni $standards} {
            set said [expr {[llength $standards] ? [join $standards { or }] : "none"}]
            replay::complain "port $port at $pin: IO standard $standard; sources have $said"
        }
        found $key "port $port at $pin"
        return
    }
    replay::complain "port $port at $pin; sources have [join [lsort -unique $known] { or }]"
}

# Drive strength by IO standard.
proc facts::judge_electrical {port standard} {
    set strength [setting $port DRIVE]
    if {$strength ne ""} {
        ask [list drive $standard] $strength "port $port: DRIVE with $standard"
    }
}

# An output drives its bank's supply: that of the standards which sources name for its pin. LVDS
# inputs take any.
proc facts::judge_supplies {} {
    variable board
    foreach {key standard} [array get replay::properties port:*,IOSTANDARD] {
        set port [string range $key 5 end-11]
        if {![has [list voltage $standard]]} {
            replay::complain "port $port: no source has the supply of the IO standard $standard"
            continue
        }
        set volts [values [list voltage $standard]]
        if {$volts eq "" || ![has [list pin $board $port]]} continue
        foreach one [values [list pin $board $port]] {
            foreach other [lindex $one 1] {
                set its [values [list voltage $other]]
                if {$its ne "" && $its ne $volts} {
                    replay::complain "port $port: $standard needs a bank of $volts V; sources have\
                        $other there, $its V"
                }
            }
        }
    }
}

proc facts::judge_dies {} {
    variable board
    set key [list place $board dies]
    foreach die $replay::dies {
        if {![has $key]} {
            replay::complain "SLR$die: no source has the dies of the board '$board'"
        } elseif {$die >= [values $key]} {
            replay::complain "SLR$die: the device of $board has [values $key] dies"
        } else {
            found $key "SLR$die"
        }
    }
}

# Clocks at ports, and the reference clock that the MAC's core is told.
proc facts::judge_clocks {} {
    variable board
    foreach {key period} [array get replay::properties port:*,PERIOD] {
        set port [string range $key 5 end-7]
        ask [list place $board clock.$port] $period "clock at port $port"
        set at ip:cmac_usplus_0,CONFIG.GT_REF_CLK_FREQ
        if {$port eq "qsfp_refclk_p" && [info exists replay::properties($at)]} {
            set mhz $replay::properties($at)
            if {abs($period * $mhz - 1000) > 0.1} {
                replay::complain "cmac_usplus: CONFIG.GT_REF_CLK_FREQ is $mhz MHz, the clock at\
                    port $port has $period ns"
            }
        }
    }
}

# What no source has, a line each.
proc facts::list_unproven {} {
    variable rows
    variable order
    foreach key $order {
        lassign $rows($key) values from
        if {[llength $from] > 0 || [lindex $key 0] in {outputs voltage}} continue
        lassign $key kind first second
        switch $kind {
            core      { puts "core $first: version $values" }
            parameter { puts "parameter CONFIG.$second of $first" }
            property  { puts "property $second of $first" }
            drive     { puts "DRIVE $values with $first" }
            place     { puts "$first: $second $values" }
            pin       { puts "$first: port $second at [lindex $values 0 0]" }
            default   { puts "$key: $values" }
        }
    }
}

# What the page of the hard blocks says of a setting, and what the script sets.
namespace eval facts::page {
    variable file docs/hardware.md
}

# Settings of the page's tables, whose last column has parameters of a core in its own words:
# {SETTING PARAMETER VALUE}.
proc facts::page::rows {} {
    variable file
    set stream [open [file join $tools::root $file]]
    set text [read $stream]
    close $stream
    set found {}
    foreach line [split $text \n] {
        if {![regexp {^\| ([^|]+) \| [^|]+ \| [^|]* \| (`[^|]*) \|$} $line -> setting cell]} continue
        foreach {all parameter value} [regexp -all -inline {`(\w+) ([^`]+)`} $cell] {
            lappend found [list $setting $parameter $value]
        }
    }
    return $found
}

# Each parameter that the page names, of each core that is made. A value of the board is not the
# page's.
proc facts::page::judge {} {
    variable file
    foreach one [rows] {
        lassign $one setting parameter value
        foreach ip $replay::ips {
            set core [regsub {_0$} $ip {}]
            if {![facts::has [list parameter $core $parameter]]} continue
            set at ip:$ip,CONFIG.$parameter
            if {![info exists replay::properties($at)]} {
                replay::complain "$core: CONFIG.$parameter is not set; $file has '$setting'"
            } elseif {![string match *\$* $value]
                    && ![facts::is_of $replay::properties($at) [list $value]]} {
                replay::complain "$core: CONFIG.$parameter is '$replay::properties($at)'; $file,\
                    '$setting', has $value"
            }
        }
    }
}
