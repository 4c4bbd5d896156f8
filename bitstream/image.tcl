# From the routed design to files for the flash. `build.tcl` sources it.
#
#   design ──► NAME.bit ── field 'e' ──► data ──► NAME.zimg: header of 512 bytes, data
#                  └──────────────────────────────► NAME.mcs: the data at their place in the flash
#
# The header's keys are those of hdl/abi/src/image.rs.
# Source: UG570 (configuration, fallback, watchdog), UG835 (write_bitstream, write_cfgmem), UG908
# (properties of a bitstream).

# Bytes of 0xff in each chip before the data of an image that is jumped to (hdl/abi/src/image.rs).
set zeronic_slot_pad 256

# Two chips hold an image of eight lines. An address that the device jumps to is one of each chip;
# that of a file for the flash is one of both.
set zeronic_chips [expr {$zeronic_flash_interface eq "SPIx8" ? 2 : 1}]

# Watchdog of the golden image: an image that does not start within this time, above all an empty
# slot, is given up. 10 s, of 256 periods of 50 MHz each; the longest start from flash, an XCU250's
# through four lines, takes 3 s. JTAG is slower than that: the golden image is for the flash alone.
set zeronic_watchdog 0x001DCD65

# The configuration data of a .bit file: what follows its field 'e'.
proc zeronic_bit_data {file} {
    set stream [open $file rb]
    set bytes [read $stream]
    close $stream
    binary scan $bytes Su length
    set at [expr {2 + $length + 2}]
    while {[string index $bytes $at] ne "e"} {
        if {[binary scan $bytes "@${at}a1Su" letter length] != 2
                || ![string match {[a-d]} $letter]} {
            error "$file: byte $at begins no field of a .bit file"
        }
        incr at [expr {3 + $length}]
    }
    binary scan $bytes "@[expr {$at + 1}]Iu" length
    set data [string range $bytes $at+5 end]
    if {[string length $data] != $length} {
        error "$file: [string length $data] bytes of data, $length in field 'e'"
    }
    return $data
}

# Writes the image of a .bit file beside it.
proc zeronic_image_file {name config} {
    global zeronic_board zeronic_part zeronic_contract zeronic_hash zeronic_seconds
    global zeronic_image_slot zeronic_forced
    set data [zeronic_bit_data $name.bit]
    # The hash is of a file: that of the data alone, for a moment.
    set stream [open $name.data wb]
    puts -nonewline $stream $data
    close $stream
    set hash [lindex [zeronic_sha256 [list $name.data]] 0]
    file delete $name.data
    set header "zeronic-image 1\n"
    foreach {key value} [list \
        board    $zeronic_board \
        part     $zeronic_part \
        config   $config \
        slot     [expr {$zeronic_image_slot == 0 ? "golden" : "user"}] \
        contract $zeronic_contract \
        git      [string tolower $zeronic_hash] \
        built    $zeronic_seconds \
        bytes    [string length $data] \
        sha256   $hash \
    ] {
        append header "$key $value\n"
    }
    if {$zeronic_forced > 0} {
        append header "forced $zeronic_forced\n"
    }
    set rest [expr {512 - [string length $header]}]
    if {$rest < 0} {
        error "a header of [string length $header] bytes; 512 are the most"
    }
    append header [string repeat \n $rest]
    # Under its name an image is whole.
    set stream [open $name.unfinished wb]
    puts -nonewline $stream $header$data
    close $stream
    file rename -force $name.unfinished $name.zimg
}

# Writes all of a user's image.
proc zeronic_user_image {name} {
    global zeronic_config zeronic_user_offset zeronic_slot_pad zeronic_chips
    write_bitstream -force $name.bit
    zeronic_image_file $name $zeronic_config
    # What is below the user's image, the golden one, stays as it is: nothing is written there.
    return [list [expr {$zeronic_user_offset + $zeronic_chips * $zeronic_slot_pad}] $name.bit]
}

# Writes the golden image twice: one that jumps to the user's slot, for power-up, and one that
# stays, for a card that is told to load it.
proc zeronic_golden_image {name} {
    global zeronic_config zeronic_user_offset zeronic_golden_offset zeronic_slot_pad
    global zeronic_watchdog zeronic_chips
    set stay ${name}_stay
    write_bitstream -force $stay.bit
    zeronic_image_file $stay $zeronic_config-stay
    set_property BITSTREAM.CONFIG.NEXT_CONFIG_ADDR \
        [format 0x%08X [expr {$zeronic_user_offset / $zeronic_chips}]] [current_design]
    set_property BITSTREAM.CONFIG.NEXT_CONFIG_REBOOT ENABLE [current_design]
    set_property BITSTREAM.CONFIG.TIMER_CFG $zeronic_watchdog [current_design]
    write_bitstream -force $name.bit
    zeronic_image_file $name $zeronic_config
    set second [expr {$zeronic_golden_offset + $zeronic_chips * $zeronic_slot_pad}]
    return [list 0 $name.bit $second $stay.bit]
}

# Writes .bit, .zimg and .mcs of the design.
proc zeronic_images {} {
    global zeronic_out zeronic_top zeronic_hash zeronic_image_slot
    global zeronic_flash_interface zeronic_flash_size_mib
    set name [file join $zeronic_out $zeronic_top]
    set_property BITSTREAM.CONFIG.USERID 0x[string range $zeronic_hash 0 7] [current_design]
    set kind [expr {$zeronic_image_slot == 0 ? "golden" : "user"}]
    set places {}
    foreach {offset file} [zeronic_${kind}_image $name] {
        lappend places "up [format 0x%08X $offset] $file"
    }
    write_cfgmem -force -format mcs -interface $zeronic_flash_interface \
        -size $zeronic_flash_size_mib -loadbit [join $places] -file $name.mcs
    puts "image $name.zimg, bitstream $name.bit, flash image $name.mcs"
}
