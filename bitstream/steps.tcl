# Steps of a build: what is done stays done. `build.tcl` sources it.
#
#   inputs ── SHA-256 ──► key of steps.txt ── the same as before? ──► go on behind the last step
#                                          └─ another ──► begin anew
#   zeronic_step NAME BODY ──► BODY ──► NAME.dcp ──► "done NAME" in steps.txt
#
# What is printed for a program that watches: `zeronic-step NAME begin`, `end` or `kept`.
# Vivado is at hand for as long as a step runs; a step that fails is run again, those before it are
# not. Source: UG835 (write_checkpoint, open_checkpoint).

# SHA-256 of files, in their order: Tcl has none.
proc zeronic_sha256 {files} {
    set hashes {}
    if {$::tcl_platform(platform) eq "windows"} {
        foreach file $files {
            regexp {\n([0-9a-f ]{64,95})\r?\n} [exec certutil -hashfile $file SHA256] -> hash
            lappend hashes [string map {{ } {}} $hash]
        }
        return $hashes
    }
    # Vivado's own libraries are none for a program of the system. A name with a backslash begins
    # its line with one.
    foreach line [split [exec env -u LD_LIBRARY_PATH sha256sum {*}$files] \n] {
        lappend hashes [string range [string trimleft $line \\] 0 63]
    }
    return $hashes
}

proc zeronic_say {step what} {
    puts "zeronic-step $step $what"
    flush stdout
}

# Reads what an earlier run has done with the same inputs; else begins anew. Sets
# zeronic_seconds, the date of the build, which an unfinished build keeps.
proc zeronic_begin {files words} {
    global zeronic_out zeronic_steps zeronic_done zeronic_open zeronic_seconds zeronic_key
    set zeronic_steps [file join $zeronic_out steps.txt]
    set zeronic_done {}
    set zeronic_open {}
    set list [file join $zeronic_out inputs.txt]
    set stream [open $list w]
    foreach file $files hash [zeronic_sha256 $files] {
        puts $stream "$hash [file tail $file]"
    }
    puts $stream $words
    close $stream
    set zeronic_key [lindex [zeronic_sha256 [list $list]] 0]
    set kept {}
    if {[file exists $zeronic_steps]} {
        set stream [open $zeronic_steps]
        set kept [split [string trim [read $stream]] \n]
        close $stream
    }
    if {[lindex $kept 0] eq "inputs $zeronic_key"
            && [regexp {^built (\d+)$} [lindex $kept 1] -> built]} {
        set zeronic_seconds $built
        foreach line [lrange $kept 2 end] {
            set step [lindex [split $line] 1]
            # What follows one that is gone was made from another one.
            if {![file exists [file join $zeronic_out $step.dcp]]} break
            lappend zeronic_done $step
        }
        return
    }
    foreach old [glob -nocomplain -directory $zeronic_out *.dcp] {
        file delete $old
    }
    zeronic_write_steps
}

# What is done with which inputs, for the next run.
proc zeronic_write_steps {} {
    global zeronic_steps zeronic_done zeronic_key zeronic_seconds
    set stream [open $zeronic_steps.unfinished w]
    puts $stream "inputs $zeronic_key"
    puts $stream "built $zeronic_seconds"
    foreach step $zeronic_done {
        puts $stream "done $step"
    }
    close $stream
    file rename -force $zeronic_steps.unfinished $zeronic_steps
}

# Runs a step that ends in a checkpoint, unless an earlier run has done it.
proc zeronic_step {step body} {
    global zeronic_out zeronic_steps zeronic_done zeronic_open
    set checkpoint [file join $zeronic_out $step.dcp]
    if {$step in $zeronic_done} {
        set zeronic_open $checkpoint
        zeronic_say $step kept
        return
    }
    zeronic_say $step begin
    zeronic_reopen
    uplevel #0 $body
    # Under its name a checkpoint is whole.
    write_checkpoint -force [file join $zeronic_out unfinished.dcp]
    file rename -force [file join $zeronic_out unfinished.dcp] $checkpoint
    lappend zeronic_done $step
    zeronic_write_steps
    zeronic_say $step end
}

# Opens the design as the last step that was kept has left it.
proc zeronic_reopen {} {
    global zeronic_open
    if {$zeronic_open ne ""} {
        open_checkpoint $zeronic_open
        set zeronic_open {}
    }
}

# Runs a step that every run does.
proc zeronic_always {step body} {
    zeronic_say $step begin
    zeronic_reopen
    uplevel #0 $body
    zeronic_say $step end
}
