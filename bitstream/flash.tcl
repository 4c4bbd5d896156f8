# Writes the flash of a board, or loads its device, through Vivado's hardware server:
#
#   vivado -mode batch -source flash.tcl -tclargs NAME VALUE ...
#
#   hardware server ─► target ─► IDCODE: that of the board? ─┬─► write: erase, program, verify, boot
#                                                           └─► load
#
#   action   write: the chips of the flash; load: the device alone
#   url      hardware server, host:port
#   target   part of the name of a cable there; otherwise its only one
#   xvc      server of XVC behind it, host:port, in place of a cable
#   idcode   IDCODE of the device without the revision, 8 hexadecimal digits
#   chip     flash, as Vivado names it
#   file     .mcs of each chip, the first one first; load: the .bit
#
# `zeronic flash` runs it. Nothing is erased before the IDCODE is compared, and the .mcs files say
# which addresses are: those of the user's slot. Exit statuses are those of `zeronic flash`:
# 4 another device, 6 no cable, 7 verify failed, 10 ended in the middle. Lines that begin with
# `zeronic:` are read by it.
#
# Source: UG835 (commands), UG908 (programming the flash).

set zeronic_files {}
foreach {zeronic_name zeronic_value} $argv {
    if {$zeronic_name eq "file"} {
        lappend zeronic_files $zeronic_value
    } else {
        set zeronic_$zeronic_name $zeronic_value
    }
}
puts "zeronic: begun"

# Ends with a status.
proc zeronic_end {status text} {
    puts "zeronic: $text"
    catch {close_hw_manager}
    exit $status
}

# Runs a command; its failure ends the script with a status.
proc zeronic_try {status what script} {
    if {[catch {uplevel #0 $script} result]} {
        zeronic_end $status "$what: [lindex [split $result \n] 0]"
    }
    return $result
}

zeronic_try 6 "hardware server $zeronic_url" {
    open_hw_manager
    connect_hw_server -url $zeronic_url
}
if {[info exists zeronic_xvc]} {
    zeronic_try 6 "XVC $zeronic_xvc" {open_hw_target -xvc_url $zeronic_xvc}
} else {
    set zeronic_all [zeronic_try 6 "cables" {get_hw_targets}]
    set zeronic_targets $zeronic_all
    if {[info exists zeronic_target]} {
        set zeronic_targets {}
        foreach zeronic_name $zeronic_all {
            if {[string first $zeronic_target $zeronic_name] >= 0} {
                lappend zeronic_targets $zeronic_name
            }
        }
    }
    if {[llength $zeronic_targets] != 1} {
        zeronic_end 6 "[llength $zeronic_targets] cables at $zeronic_url, to be one of: $zeronic_all"
    }
    zeronic_try 6 "cable" {open_hw_target [lindex $zeronic_targets 0]}
}

# The one device with this IDCODE, of which the upper four bits number the revision.
set zeronic_devices [zeronic_try 6 "devices" {get_hw_devices}]
set zeronic_found none
set zeronic_fitting {}
foreach zeronic_device $zeronic_devices {
    set zeronic_found [zeronic_try 6 "IDCODE" {get_property IDCODE_HEX $zeronic_device}]
    if {[scan $zeronic_found %x zeronic_code] == 1 &&
        ($zeronic_code & 0x0fffffff) == [scan $zeronic_idcode %x]} {
        lappend zeronic_fitting $zeronic_device
    }
}
if {[llength $zeronic_devices] == 0 || [llength $zeronic_fitting] > 1} {
    zeronic_end 6 "[llength $zeronic_fitting] such devices on the cable, to be one"
}
if {[llength $zeronic_fitting] == 0} {
    zeronic_end 4 "IDCODE $zeronic_found"
}
set zeronic_device [lindex $zeronic_fitting 0]
current_hw_device $zeronic_device
puts "zeronic: IDCODE $zeronic_idcode"

if {$zeronic_action eq "load"} {
    zeronic_try 10 "load" {
        set_property PROGRAM.FILE [lindex $zeronic_files 0] $zeronic_device
        program_hw_devices $zeronic_device
    }
    zeronic_end 0 "done"
}

# The device gets a bridge to its flash first.
zeronic_try 6 "flash" {
    create_hw_cfgmem -hw_device $zeronic_device [lindex [get_cfgmem_parts $zeronic_chip] 0]
    set zeronic_cfgmem [get_property PROGRAM.HW_CFGMEM $zeronic_device]
    set_property PROGRAM.FILES $zeronic_files $zeronic_cfgmem
    set_property PROGRAM.ADDRESS_RANGE {use_file} $zeronic_cfgmem
    set_property PROGRAM.UNUSED_PIN_TERMINATION {pull-none} $zeronic_cfgmem
    set_property PROGRAM.BLANK_CHECK 0 $zeronic_cfgmem
    set_property PROGRAM.CHECKSUM 0 $zeronic_cfgmem
    set_property PROGRAM.ERASE 1 $zeronic_cfgmem
    set_property PROGRAM.CFG_PROGRAM 1 $zeronic_cfgmem
    set_property PROGRAM.VERIFY 0 $zeronic_cfgmem
    create_hw_bitstream -hw_device $zeronic_device \
        [get_property PROGRAM.HW_CFGMEM_BITFILE $zeronic_device]
    program_hw_devices $zeronic_device
    refresh_hw_device $zeronic_device
}
puts "zeronic: writing"
zeronic_try 10 "write" {program_hw_cfgmem -hw_cfgmem $zeronic_cfgmem}
puts "zeronic: verifying"
zeronic_try 7 "verify" {
    set_property PROGRAM.ERASE 0 $zeronic_cfgmem
    set_property PROGRAM.CFG_PROGRAM 0 $zeronic_cfgmem
    set_property PROGRAM.VERIFY 1 $zeronic_cfgmem
    program_hw_cfgmem -hw_cfgmem $zeronic_cfgmem
}
catch {boot_hw_device $zeronic_device}
zeronic_end 0 "done"
