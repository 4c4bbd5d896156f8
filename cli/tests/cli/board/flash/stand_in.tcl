# Vivado's part in the tests of `zeronic flash`: the commands of flash.tcl, each with the arguments
# that UG835 gives it, before a device and a flash that are made up.
#
#   STAND_IN_LOG      file that gets each command, a line each
#   STAND_IN_IDCODE   IDCODE_HEX of the device
#   STAND_IN_CABLES   cables at the hardware server
#   STAND_IN_FAILS    command that fails, with the place of its call behind it: program_hw_cfgmem 2

array set counts {}
array set properties {}

proc log {text} {
    set stream [open $::env(STAND_IN_LOG) a]
    puts $stream $text
    close $stream
}

proc called {name arguments least most flags} {
    log [concat $name $arguments]
    set words {}
    for {set at 0} {$at < [llength $arguments]} {incr at} {
        set word [lindex $arguments $at]
        if {[string match -* $word]} {
            if {$word ni $flags} {
                error "ERROR: \[Common 17-170\] Unknown option '$word' of $name"
            }
            incr at
        } else {
            lappend words $word
        }
    }
    if {[llength $words] < $least || [llength $words] > $most} {
        error "ERROR: \[Common 17-163\] wrong arguments of $name: $words"
    }
    set count [incr ::counts($name)]
    if {"$name $count" eq $::env(STAND_IN_FAILS)} {
        error "ERROR: \[Labtools 27-3165\] $name did not end well"
    }
    return $words
}

foreach {name least most flags} {
    open_hw_manager      0 0 {}
    close_hw_manager     0 0 {}
    connect_hw_server    0 0 {-url}
    open_hw_target       0 1 {-xvc_url}
    current_hw_device    1 1 {}
    create_hw_cfgmem     1 1 {-hw_device}
    create_hw_bitstream  1 1 {-hw_device}
    program_hw_devices   1 1 {}
    refresh_hw_device    1 1 {}
    program_hw_cfgmem    0 0 {-hw_cfgmem}
    boot_hw_device       1 1 {}
} {
    proc $name args "called $name \$args $least $most [list $flags]; return"
}

proc get_hw_targets args {
    called get_hw_targets $args 0 0 {}
    return [lrange {cable_a cable_b cable_c} 0 [expr {$::env(STAND_IN_CABLES) - 1}]]
}

proc get_hw_devices args {
    called get_hw_devices $args 0 0 {}
    return device_0
}

proc get_cfgmem_parts args {
    return [called get_cfgmem_parts $args 1 1 {}]
}

proc get_property args {
    lassign [called get_property $args 2 2 {}] name object
    switch $name {
        IDCODE_HEX { return $::env(STAND_IN_IDCODE) }
        PROGRAM.HW_CFGMEM { return cfgmem_0 }
        PROGRAM.HW_CFGMEM_BITFILE { return bridge.bit }
    }
    error "ERROR: no property $name of $object"
}

proc set_property args {
    called set_property $args 3 3 {}
}

set place [lsearch $argv -source]
set script [lindex $argv [expr {$place + 1}]]
if {[lrange $argv 0 4] ne {-mode batch -nojournal -nolog -notrace}} {
    puts "ERROR: arguments $argv"
    exit 1
}
set words [lsearch $argv -tclargs]
set argv [lrange $argv [expr {$words + 1}] end]
foreach {name value} $argv {
    if {$name eq "file"} {
        file copy -force $value [file dirname $::env(STAND_IN_LOG)]
    }
}
source $script
