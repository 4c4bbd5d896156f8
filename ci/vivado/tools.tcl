# What the replay asks beside the scripts themselves: fetched on first use, into a folder that git
# ignores.
#
#   YOSYS, VIVADO_HELP ── set? ──► that one
#                  └─ not ─► fetch.py ─► .tools/PACKAGE-VERSION, as sim/verilate does for the tests
#
# Versions are those of sim/verilate/src/toolchain.rs, the one place that states them.

namespace eval tools {
    variable here [file dirname [file normalize [info script]]]
    variable root [file dirname [file dirname $here]]
}

proc tools::environment {name otherwise} {
    return [expr {[info exists ::env($name)] ? $::env($name) : $otherwise}]
}

proc tools::python {} {
    return [environment PYTHON python3]
}

# The version of a package, as the tests pin it.
proc tools::version {constant} {
    variable root
    set stream [open [file join $root sim verilate src toolchain.rs]]
    set text [read $stream]
    close $stream
    if {![regexp "const $constant: &str = \"(\[^\"\]+)\"" $text -> version]} {
        error "sim/verilate/src/toolchain.rs has no $constant"
    }
    return $version
}

# The environment with a package.
proc tools::fetch {package constant} {
    variable here
    variable root
    set tools [environment ZERONIC_TOOLS [file join $root .tools]]
    return [exec [python] [file join $here fetch.py] $tools $package [version $constant]]
}

# The command that runs Yosys.
proc tools::yosys {} {
    variable root
    if {[info exists ::env(YOSYS)]} {
        return $::env(YOSYS)
    }
    set python [file join [fetch pyosys YOSYS_VERSION] bin python]
    return [list $python [file join $root sim verilate src yosys.py]]
}

# Syntax of Vivado's commands, a line each: what syntax.py prints.
proc tools::syntax {} {
    variable here
    if {[info exists ::env(VIVADO_HELP)]} {
        set help $::env(VIVADO_HELP)
    } else {
        set help [fetch xilinx-language-server VIVADO_HELP_VERSION]
    }
    return [exec [python] [file join $here syntax.py] $help]
}
