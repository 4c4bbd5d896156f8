# Runs Vivado's scripts without Vivado, and says what they do and whether Vivado would take it.
#
#   tclsh ci/vivado/replay.tcl DIR/build.tcl
#   tclsh ci/vivado/replay.tcl DIR/flash.tcl NAME VALUE ...     with words for the script
#   tclsh ci/vivado/replay.tcl --list-unproven                  what no source says
#
#   scripts ──► commands, options ── in Vivado's own help? ─────────────► recorded
#           └─► parameters, properties, places ── in tables/? ──────────► compared
#   constraints ─► names ── in the emitted Verilog? behind Yosys's opt -full? ──► matched
#
# It prints commands, names asked and matched, pins and crossings, and at its end a verdict. Exit
# status 1, with a line for each problem, for
#   - a command or an option that Vivado's help has not, too few or many words, a value that the
#     help does not list
#   - a parameter of a core, a property, a value, a package pin, an IO standard, a site, a clock or
#     a driver of a clock buffer that no source has (facts.tcl)
#   - a setting that is not what docs/hardware.md says
#   - a name of a port, cell, pin, net, clock, file or core without a match
#   - a package pin for two ports, a port without a pin
#   - a crossing without its lines (crossings.tcl)
#   - a run that goes on behind a checkpoint of an earlier one, where no name is looked up
#   - an error of the script itself
#   - what could not be asked, for want of Yosys
#
# What only Vivado knows is answered by answers.tcl, from the environment.
#   REPLAY_NAMES    0: no Verilog is read, names match, and constraints are not run
#   REPLAY_YOSYS    0: names are not asked again behind synthesis
#   YOSYS           command that runs Yosys; by default the pinned one, which is fetched (tools.tcl)
#   VIVADO_HELP     file with Vivado's help; by default the pinned one, which is fetched
#   ZERONIC_TOOLS   where what is fetched goes; by default .tools
#
# Needs tclsh 8.6 and python3. What Vivado would write where the script says is written there:
# reports, and checkpoints and bitstreams with little in them.

package require Tcl 8.6
set replay_here [file dirname [file normalize [info script]]]
source [file join $replay_here tools.tcl]
source [file join $replay_here syntax.tcl]
source [file join $replay_here design.tcl]
source [file join $replay_here crossings.tcl]
source [file join $replay_here answers.tcl]
source [file join $replay_here facts.tcl]
source [file join $replay_here buffers.tcl]
facts::load_tables

namespace eval replay {
    variable counts
    variable asked 0
    variable matched 0
    variable problems {}
    variable place {}
    variable scope {{} {}}
    variable top {}
    variable verilog {}
    variable xdc {}
    variable ips {}
    variable clocks {}
    variable pblocks {}
    variable dies {}
    variable lines {}
    variable properties
    variable part {}
    variable reopened 0
    # What was not asked in this run, and why.
    variable unasked {}
    # Of Tcl a file of constraints may use these alone (UG903): no loops, conditions, procedures.
    variable constraint_words {set list expr}
    array set counts {}
    array set properties {}
}

proc replay::complain {what} {
    variable problems
    variable place
    set line [expr {$place eq "" ? $what : "$place: $what"}]
    if {$line ni $problems} {
        lappend problems $line
    }
}

# What is not asked because the environment says so.
proc replay::unasked {what} {
    variable unasked
    lappend unasked $what
}

proc replay::environment {name otherwise} {
    return [tools::environment $name $otherwise]
}

# A command of Vivado: options and words are checked, then it is carried out.
proc replay::command {name args} {
    variable counts
    incr counts($name)
    if {[catch {syntax::read $name $args replay::complain} call]} {
        return {}
    }
    answers::fail $name $counts($name)
    if {[info commands do_$name] eq ""} {
        return {}
    }
    return [do_$name {*}$call]
}

# Whether names are looked up.
proc replay::has_names {} {
    return [expr {[environment REPLAY_NAMES 1] ne "0"}]
}

# The last value of an option, or what stands for it.
proc replay::option {options name {otherwise {}}} {
    return [expr {[dict exists $options $name] ? [lindex [dict get $options $name] end] : $otherwise}]
}

proc replay::flag {options name} {
    return [dict exists $options $name]
}

# Objects by patterns; each pattern that matches nothing is a problem.
proc replay::named {kind options patterns finder} {
    variable asked
    variable matched
    if {![has_names] && $kind in {port cell pin net clock pblock}} {
        return [list $kind:$patterns]
    }
    set found {}
    foreach pattern $patterns {
        incr asked
        set objects [{*}$finder $pattern]
        if {[llength $objects] > 0} {
            incr matched
        } elseif {![flag $options -quiet]} {
            complain "no $kind '$pattern'"
        }
        foreach object $objects {
            lappend found $kind:$object
        }
    }
    return [lsort -unique $found]
}

proc replay::do_get_ports {options words} {
    variable scope
    return [named port $options [lindex $words 0] [list design::ports_of [lindex $scope 1]]]
}

proc replay::do_get_cells {options words} {
    variable scope
    lassign $scope path module
    if {![flag $options -hierarchical]} {
        return [named cell $options [lindex $words 0] [list design::cells $path $module]]
    }
    if {![has_names]} {
        return cell:any
    }
    # `REF_NAME == X || ORIG_REF_NAME == X`
    set wanted {}
    foreach {all property value} [regexp -all -inline {(\w+)\s*==\s*(\S+)} [option $options -filter]] {
        if {$property ni {REF_NAME ORIG_REF_NAME}} {
            complain "get_cells -filter: property $property"
        }
        lappend wanted $value
    }
    set found {}
    foreach {at kind} [design::everything $path $module] {
        if {$kind in $wanted} {
            lappend found cell:$at
        }
    }
    return $found
}

proc replay::do_get_pins {options words} {
    variable scope
    return [named pin $options [lindex $words 0] [list design::pins {*}$scope]]
}

proc replay::do_get_nets {options words} {
    variable scope
    return [named net $options [lindex $words 0] [list design::nets {*}$scope]]
}

proc replay::do_get_clocks {options words} {
    variable scope
    variable clocks
    if {![has_names] || ([llength $words] == 0 && ![dict exists $options -of_objects])} {
        return [answers::clocks $clocks]
    }
    if {[dict exists $options -of_objects]} {
        set found {}
        foreach object [option $options -of_objects] {
            set port [string range $object 5 end]
            if {![string match port:* $object] || ![crossings::is_clock [lindex $scope 1] $port]} {
                complain "no clock at $object"
                continue
            }
            lappend found clock:[design::below [lindex $scope 0] $port]
        }
        return $found
    }
    return [named clock $options [lindex $words 0] [list replay::among $clocks]]
}

proc replay::among {known pattern} {
    return [lsearch -all -inline -glob $known [design::glob $pattern]]
}

proc replay::do_get_pblocks {options words} {
    variable pblocks
    return [named pblock $options [lindex $words 0] [list replay::among $pblocks]]
}

proc replay::do_get_files {options words} {
    variable xdc
    variable verilog
    set known $verilog
    foreach one $xdc {
        lappend known [lindex $one 0]
    }
    return [named file $options [list [lindex $words 0]] [list replay::among $known]]
}

proc replay::do_get_ips {options words} {
    variable ips
    return [named ip $options [lindex $words 0] [list replay::among $ips]]
}

proc replay::do_get_timing_paths {options words} {
    set kind [expr {[flag $options -hold] ? "hold" : "setup"}]
    return [answers::path $kind [option $options -to]]
}

proc replay::do_get_hw_targets {options words} {
    return hw_target:cable
}

proc replay::do_get_hw_devices {options words} {
    return hw_device:device
}

proc replay::do_get_cfgmem_parts {options words} {
    return [list cfgmem_part:[lindex $words 0]]
}

proc replay::do_current_design {options words} {
    return design:current
}

proc replay::do_version {options words} {
    return [answers::version]
}

# A report: to a file, or as a text.
proc replay::report {name options} {
    set text [answers::report $name]
    if {[flag $options -return_string]} {
        return $text
    }
    written $options "$text\n"
}

# Writes what a command would write to its file.
proc replay::written {options text} {
    set file [option $options -file]
    if {$file eq ""} {
        complain "a report to nowhere"
        return
    }
    set stream [open $file w]
    puts -nonewline $stream $text
    close $stream
}

foreach {command answer} {
    check_timing           timing_checks
    report_bus_skew        bus_skew
    report_cdc             cdc
    report_drc             drc
    report_design_analysis other
    report_exceptions      other
    report_methodology     other
    report_route_status    other
    report_timing_summary  other
    report_utilization     utilization
} {
    proc replay::do_$command {options words} "return \[report $answer \$options]"
}

proc replay::do_get_property {options words} {
    variable properties
    lassign $words name object
    set object [lindex $object 0]
    if {$name eq "NAME"} {
        return [string range $object [string first : $object]+1 end]
    }
    facts::asked $object $name
    set answer [answers::property $name $object]
    if {$answer ne ""} {
        return $answer
    }
    if {![info exists properties($object,$name)]} {
        complain "get_property $name of '$object', which nothing has set"
        return {}
    }
    return $properties($object,$name)
}

proc replay::do_set_property {options words} {
    variable properties
    if {[dict exists $options -dict]} {
        set settings [option $options -dict]
        set objects [lindex $words 0]
    } else {
        set settings [lrange $words 0 1]
        set objects [lindex $words 2]
    }
    if {[llength $settings] % 2} {
        complain "set_property: a name without a value: $settings"
        return
    }
    if {[llength $objects] == 0} {
        complain "set_property [lindex $settings 0]: no object"
    }
    foreach object $objects {
        foreach {name value} $settings {
            set properties($object,$name) $value
            facts::property $object $name $value
        }
    }
}

proc replay::do_create_project {options words} {
    variable part
    set part [option $options -part]
}

proc replay::do_open_checkpoint {options words} {
    variable part
    variable reopened
    set stream [open [lindex $words 0]]
    set part [string trim [::read $stream]]
    close $stream
    set reopened 1
}

# A checkpoint that holds the part of the design.
proc replay::do_write_checkpoint {options words} {
    variable part
    written [list -file [list [lindex $words 0]]] "$part\n"
}

proc replay::do_write_verilog {options words} {
    written [list -file [list [lindex $words 0]]] [answers::netlist]
}

proc replay::do_write_bitstream {options words} {
    variable part
    variable properties
    set file [lindex $words 0]
    foreach key [lsort [array names properties design:*BITSTREAM*]] {
        set name [string range $key [string first , $key]+1 end]
        puts "bitstream [file tail $file]: $name $properties($key)"
    }
    answers::bitstream $file $part
}

proc replay::do_write_cfgmem {options words} {
    foreach {direction offset file} [option $options -loadbit] {
        if {$direction ne "up" || ![string is integer -strict $offset] || ![file isfile $file]} {
            complain "write_cfgmem -loadbit: $direction $offset $file"
        }
    }
    puts "flash: [option $options -loadbit]"
    written $options ":00000001FF\n"
}

proc replay::do_create_clock {options words} {
    variable clocks
    set name [option $options -name]
    if {![string is double -strict [option $options -period]]} {
        complain "create_clock $name: no period"
    }
    set replay::properties(clock:$name,PERIOD) [option $options -period]
    foreach port [lindex $words 0] {
        set replay::properties($port,PERIOD) [option $options -period]
    }
    lappend clocks $name
}

proc replay::do_create_pblock {options words} {
    variable pblocks
    lappend pblocks [lindex $words 0]
    return pblock:[lindex $words 0]
}

# Dies that hold a block: `SLR1`.
proc replay::do_resize_pblock {options words} {
    variable dies
    foreach one [concat {*}[expr {[dict exists $options -add] ? [dict get $options -add] : ""}]] {
        if {![regexp {^SLR(\d+)$} $one -> die]} {
            complain "resize_pblock -add $one: not a die"
        } elseif {$die ni $dies} {
            lappend dies $die
        }
    }
}

proc replay::do_set_param {options words} {
    facts::parameter_of_tool {*}$words
}

proc replay::do_create_ip {options words} {
    variable ips
    foreach needed {-name -vendor -library -version -module_name} {
        if {![dict exists $options $needed]} {
            complain "create_ip without $needed"
        }
    }
    lappend ips [option $options -module_name]
    facts::core [option $options -name] [option $options -version]
}

proc replay::do_read_ip {options words} {
    variable ips
    lappend ips [file rootname [file tail [lindex $words 0]]]
}

proc replay::do_generate_target {options words} {
    if {[llength [lindex $words 1]] == 0} {
        complain "generate_target: no core"
    }
}

proc replay::do_synth_ip {options words} {
    if {[llength [lindex $words 0]] == 0} {
        complain "synth_ip: no core"
    }
}

proc replay::do_read_verilog {options words} {
    variable verilog
    foreach file [lindex $words 0] {
        if {![file isfile $file]} {
            complain "read_verilog: no file $file"
            continue
        }
        lappend verilog $file
    }
}

proc replay::do_read_xdc {options words} {
    variable xdc
    set file [lindex $words 0]
    if {![file isfile $file]} {
        complain "read_xdc: no file $file"
        return
    }
    lappend xdc [list $file [option $options -ref]]
}

# Synthesis: now the design and its constraints are known.
proc replay::do_synth_design {options words} {
    variable verilog
    variable xdc
    variable top
    variable scope
    variable properties
    set top [option $options -top]
    if {![has_names]} return
    foreach file $verilog {
        design::read $file
    }
    if {![info exists design::ports($top)]} {
        complain "synth_design: no module $top"
        return
    }
    cores
    # Those that are LATE come last.
    set late {}
    set early {}
    foreach one $xdc {
        set key file:[lindex $one 0],PROCESSING_ORDER
        if {[info exists properties($key)] && $properties($key) eq "LATE"} {
            lappend late $one
        } else {
            lappend early $one
        }
    }
    foreach one [concat $early $late] {
        constraints {*}$one
    }
    set scope [list {} $top]
}

# Modules without a text: each is a core that was made, or a primitive.
proc replay::cores {} {
    variable ips
    variable top
    foreach {path module} [design::everything {} $top] {
        if {![info exists design::ports($module)] && $module ni $ips
                && ![regexp {^[A-Z][A-Z0-9_]+$} $module]} {
            complain "cell $path: no module and no core $module"
        }
    }
}

# Carries out a file of constraints, below every cell of the module `ref`, or at the top.
proc replay::constraints {file ref} {
    variable scope
    variable top
    variable place
    set scopes {}
    if {$ref eq ""} {
        lappend scopes [list {} $top]
    } else {
        foreach {path module} [linsert [design::everything {} $top] 0 {} $top] {
            if {$module eq $ref} {
                lappend scopes [list $path $module]
            }
        }
        if {[llength $scopes] == 0} {
            complain "read_xdc -ref $ref: no such cell"
        }
    }
    set stream [open $file]
    set text [::read $stream]
    close $stream
    foreach one $scopes {
        set scope $one
        set inside [interpreter 1]
        set number 0
        set command {}
        foreach line [split $text \n] {
            incr number
            append command $line \n
            if {![info complete $command]} continue
            set place [file tail $file]:$number
            if {[catch {interp eval $inside $command} message]} {
                complain $message
            }
            set command {}
        }
        set place {}
        interp delete $inside
    }
}

proc replay::timing {command options words} {
    variable lines
    set value [lindex $words 0]
    if {![string is double -strict $value] || $value <= 0} {
        complain "$command: '$value' is no time in ns"
    }
    foreach side {-from -to} {
        if {[llength [option $options $side]] == 0} {
            complain "$command $side: nothing"
            return
        }
    }
    if {$command eq "set_max_delay" && ![flag $options -datapath_only]} return
    lappend lines [list $command [option $options -from] [option $options -to]]
}

proc replay::do_set_max_delay {options words} {
    timing set_max_delay $options $words
}

proc replay::do_set_bus_skew {options words} {
    timing set_bus_skew $options $words
}

# Pads: each bit of each port of the top has a pin of its own. The negative half of a pair of
# serial lanes follows from the positive one.
proc replay::pins {} {
    variable properties
    variable top
    array set taken {}
    set count 0
    dict for {port about} $design::ports($top) {
        foreach bit [design::bits $port [lindex $about 1]] {
            set key port:$bit,PACKAGE_PIN
            if {[info exists properties($key)]} {
                incr count
                lappend taken($properties($key)) $bit
                continue
            }
            set other {}
            if {[regexp {^(.*)_n(\[\d+\])?$} $bit -> name index]} {
                set other port:${name}_p$index
            }
            if {$other eq "" || ![info exists properties($other,PACKAGE_PIN)]
                    || [info exists properties($other,IOSTANDARD)]} {
                complain "port $bit has no pin"
            }
        }
    }
    foreach pin [lsort [array names taken]] {
        if {[llength $taken($pin)] > 1} {
            complain "pin $pin is that of [join $taken($pin) { and }]"
        }
    }
    return $count
}

# Asks again for registers that begin or end a constraint, as synthesis leaves them.
proc replay::again {} {
    variable lines
    variable top
    if {[environment REPLAY_YOSYS 1] eq "0"} {
        unasked "names behind synthesis"
        return 0
    }
    if {[catch {tools::yosys} yosys]} {
        complain "not asked: names behind synthesis: no Yosys ([lindex [split $yosys \n] 0]);\
            set YOSYS"
        return 0
    }
    array set modules {}
    foreach {path module} [linsert [design::everything {} $top] 0 {} $top] {
        set modules($path) $module
    }
    set named {}
    foreach line $lines {
        foreach object [concat [lindex $line 1] [lindex $line 2]] {
            if {[regexp {^(cell|pin):((?:.*/)?)([^/]*_reg(?:\[\d+\])?)(?:/\w+)?$} $object \
                    -> kind path cell]} {
                dict set named $modules([string trimright $path /]) $cell {}
            }
        }
    }
    set work [file join [environment TMPDIR /tmp] zeronic-replay.[pid]]
    crossings::synthesise [dict keys $named] $yosys $work
    file delete -force $work
    set count 0
    dict for {module cells} $named {
        foreach cell [dict keys $cells] {
            incr count
            if {$cell in $crossings::gone($module)} {
                complain "behind synthesis module $module has no register $cell"
            }
        }
    }
    return $count
}

# An interpreter that has Vivado's commands; `is_xdc`: and of Tcl only what constraints may use.
proc replay::interpreter {is_xdc} {
    variable constraint_words
    set inside [interp create]
    set tcl [interp eval $inside {info commands}]
    if {$is_xdc} {
        foreach command $tcl {
            if {$command ni $constraint_words} {
                interp hide $inside $command
            }
        }
    } else {
        interp alias $inside exec {} replay::programs
        interp hide $inside exit
    }
    foreach name [array names syntax::specs] {
        # What Tcl has itself, Vivado only explains.
        if {$name ni $tcl && (!$is_xdc || [syntax::is_constraint $name])} {
            interp alias $inside $name {} replay::command $name
        }
    }
    interp alias $inside unknown {} replay::unknown
    return $inside
}

proc replay::unknown {name args} {
    if {[syntax::is_known $name]} {
        complain "command $name: constraints may not have it"
    } else {
        complain "unknown command $name"
    }
    return {}
}

# Of other programs a script may use what reads: the hash of files. The hash of the sources is
# made up.
proc replay::programs {args} {
    if {"sha256sum" in $args} {
        return [exec {*}$args]
    }
    return [string repeat a 40]
}

# The script ends here; its status is its own.
proc replay::leave {{status 0}} {
    puts "exit $status"
    return -code error -errorcode {REPLAY EXIT} {}
}

# Runs a script with its words.
proc replay::play {script words} {
    set inside [interpreter 0]
    interp alias $inside exit {} replay::leave
    interp eval $inside [list set argv $words]
    interp eval $inside [list set argc [llength $words]]
    set ended [catch {interp eval $inside [list source $script]} message]
    if {$ended && $::errorCode ne {REPLAY EXIT}} {
        complain "$script: $message"
    }
    return $inside
}

# What was synthesised: pins, registers behind synthesis, crossings. Returns their counts.
proc replay::judge {script} {
    variable lines
    variable top
    variable reopened
    if {![has_names]} {
        unasked "names of the design"
        puts "names are not looked up"
    } elseif {$reopened} {
        set build [file join [file dirname $script] build]
        complain "it went on behind a checkpoint, which has no names: delete $build, run it again"
    } elseif {[info exists design::ports($top)]} {
        set pins [pins]
        facts::judge_design $top
        set again [again]
        return [list $pins $again [crossings::judge $top $lines replay::complain]]
    } elseif {[file tail $script] eq "build.tcl"} {
        complain "$script: nothing was synthesised"
    }
    return {0 0 0}
}

proc replay::run {script words} {
    variable counts
    variable asked
    variable matched
    variable problems
    variable unasked
    if {[catch {syntax::load [tools::syntax]} message]} {
        puts "problem: not asked: anything: no help of Vivado ([lindex [split $message \n] 0]);\
            set VIVADO_HELP"
        return 1
    }
    facts::begin [play $script $words]
    lassign [judge $script] pins again found
    puts "commands"
    foreach name [lsort [array names counts]] {
        puts [format "  %5d %s" $counts($name) $name]
    }
    puts "names asked $asked, matched $matched"
    puts "registers asked again behind synthesis $again"
    puts "pins $pins"
    puts "crossings $found"
    puts "facts with a source $facts::proven, without one [llength $facts::unproven]"
    foreach problem $problems {
        puts "problem: $problem"
    }
    set not [expr {[llength $unasked] > 0 ? "; not asked: [join $unasked {, }]" : ""}]
    puts "verdict: [llength $problems] problems$not"
    return [expr {[llength $problems] > 0}]
}

if {[lindex $argv 0] eq "--list-unproven" && [llength $argv] == 1} {
    facts::list_unproven
    exit 0
}
if {[llength $argv] == 0 || [string match -* [lindex $argv 0]]} {
    puts stderr "usage: tclsh replay.tcl DIR/build.tcl, DIR/flash.tcl NAME VALUE ... or\
        --list-unproven"
    exit 2
}
exit [replay::run [file normalize [lindex $argv 0]] [lrange $argv 1 end]]
