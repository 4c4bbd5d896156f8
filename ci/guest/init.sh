#!/bin/busybox sh
# The first program of the guest: finds the card, gives it to VFIO, and runs the tests that the
# kernel's command line names (`zeronic.tests=card,kills`). Each line of its own begins with GUEST.
b=/bin/busybox
$b mount -t proc none /proc
$b mount -t sysfs none /sys
$b mount -t devtmpfs none /dev
$b mkdir -p /dev/shm
$b mount -t tmpfs none /dev/shm
$b mount -t tmpfs none /tmp
for name in $($b cat /modules/order); do $b insmod "/modules/$name.ko"; done
$b ifconfig lo up 2>/dev/null
up() { $b cut -d' ' -f1 /proc/uptime; }
echo "GUEST kernel $($b uname -r), up $(up) s"
export RUST_MIN_STACK=33554432
z=/bin/zeronic
failed=0
tests=$($b sed -n 's/.*zeronic\.tests=\([^ ]*\).*/\1/p' /proc/cmdline | $b tr ',' ' ')

# The address of the device with these ids.
find_device() {
    for device in /sys/bus/pci/devices/*; do
        ids=$($b cat "$device/vendor" "$device/device" | $b tr '\n' ' ')
        [ "$ids" = "$1 " ] && $b basename "$device" && return
    done
}
# Runs a command whose exit status is to be the first word.
expect() {
    wanted=$1
    shift
    echo "GUEST $*"
    "$@"
    status=$?
    echo "GUEST status $status"
    [ "$status" -eq "$wanted" ] || { echo "GUEST wrong: not status $wanted"; failed=1; }
}
check() {
    if [ "$2" = "$3" ]; then echo "GUEST $1: $2"; else
        echo "GUEST wrong: $1: $2, and not $3"
        failed=1
    fi
}
driver_of() {
    $b basename "$($b readlink "/sys/bus/pci/devices/$1/driver")" 2>/dev/null
}

test_card() {
    expect 0 $z device info --bus "vfio:$at"
    expect 0 $z device reset --bus "vfio:$at"
    expect 0 $z device selftest --bus "vfio:$at"
    expect 0 $z device counters --bus "vfio:$at"
    expect 0 $z demo --transport tcp --bytes 4MiB --bus "vfio:$at"
    expect 0 $z device doctor --bus "vfio:$at"
}

test_link() {
    expect 0 $z device link status --bus "vfio:$at"
    expect 0 $z device link down --bus "vfio:$at"
    expect 1 $z device link status --bus "vfio:$at"
    expect 1 $z device link up --fec none --wait 1 --bus "vfio:$at"
    expect 0 $z device link up --loopback --bus "vfio:$at"
    expect 0 $z device link up --bus "vfio:$at"
}

# A device with a driver of the kernel goes to VFIO, and back to it.
test_bind() {
    nic=$(find_device "0x15ad 0x07b0")
    check "driver of the other device" "$(driver_of "$nic")" vmxnet3
    expect 2 $z device bind "$nic"
    check "driver after the refusal" "$(driver_of "$nic")" vmxnet3
    expect 0 $z device bind --any "$nic"
    check "driver of the bound device" "$(driver_of "$nic")" vfio-pci
    expect 2 $z device info --bus "vfio:$nic"
    expect 0 $z device unbind --any "$nic"
    check "driver that came back" "$(driver_of "$nic")" vmxnet3
    expect 0 $z device unbind "$at"
    expect 2 $z device info --bus "vfio:$at"
    expect 0 $z device bind "$at"
}

# A program is killed ten times while bytes move: the next one finds an empty card of a new epoch.
test_kills() {
    last=0
    for moment in 3 5 7 9 11 13 15 17 19 21; do
        $z device top --bus "vfio:$at" >/tmp/top 2>&1 &
        program=$!
        $b usleep "${moment}00000"
        kill -9 $program
        wait $program 2>/dev/null
        begun=$(up)
        $z device reset --bus "vfio:$at" --json /tmp/reset >/dev/null || failed=1
        ended=$(up)
        epoch=$($b sed -n 's/.*"epoch": \([0-9]*\).*/\1/p' /tmp/reset)
        before=$($b sed -n 's/.*"epoch_before": \([0-9]*\).*/\1/p' /tmp/reset)
        echo "GUEST killed after ${moment}00 ms: epoch $epoch, found $before, $begun to $ended s"
        [ "$epoch" -gt "$before" ] && [ "$before" -gt "$last" ] || failed=1
        last=$epoch
    done
    expect 0 $z device selftest --bus "vfio:$at"
}

test_map() {
    echo 520 >/proc/sys/vm/nr_hugepages
    echo "GUEST large pages: $($b cat /proc/sys/vm/nr_hugepages)"
    expect 0 $z device selftest --map "$map_bytes" --bus "vfio:$at"
}

# The card is at node 1, the program runs on node 0: what the card writes lies at node 1, and what
# the program has for itself does not.
test_nodes() {
    check "node of the card" "$($b cat "/sys/bus/pci/devices/$at/numa_node")" 1
    $b taskset 1 $z device top --bus "vfio:$at" >/tmp/top 2>&1 &
    program=$!
    $b sleep 4
    # An address, the policy, the file, and pages on each node: N0=12 N1=34.
    $b awk -v which=memfd "$pages_by_node" /proc/$program/numa_maps >/tmp/card_pages
    $b awk -v which=heap "$pages_by_node" /proc/$program/numa_maps >/tmp/heap_pages
    kill -9 $program
    wait $program 2>/dev/null
    read -r near far policies </tmp/card_pages
    echo "GUEST memory for the card: $far pages at its node, $near at the other; $policies"
    [ "$far" -gt 100 ] && [ "$near" -eq 0 ] || { echo "GUEST wrong: far from the card"; failed=1; }
    read -r near far policies </tmp/heap_pages
    echo "GUEST the program's own: $near pages at its node, $far at the card's; $policies"
    [ "$near" -gt 10 ] && [ "$far" -eq 0 ] || { echo "GUEST wrong: not at its node"; failed=1; }
    expect 0 $b taskset 1 $z device doctor --bus "vfio:$at"
    expect 0 $b taskset 2 $z device doctor --bus "vfio:$at"
}
pages_by_node='
    index($0, which) {
        policies[$2] = 1
        for (at = 3; at <= NF; at++) {
            if ($at ~ /^N0=/) near += substr($at, 4)
            if ($at ~ /^N1=/) far += substr($at, 4)
        }
    }
    END { printf "%d %d", near, far; for (policy in policies) printf " %s", policy; print "" }'

map_bytes=$($b sed -n 's/.*zeronic\.map=\([^ ]*\).*/\1/p' /proc/cmdline)
at=$(find_device "CARD_IDS")
[ -n "$at" ] || { echo "GUEST no card on its buses"; $b poweroff -f; }
echo "GUEST before it is bound, the card is refused:"
expect 2 $z device info --bus "vfio:$at"
expect 0 $z device list
expect 0 $z device bind "$at"
expect 0 $z device list
for test in $tests; do
    begun=$(up)
    "test_$test"
    echo "GUEST test $test: $begun to $(up) s"
done
echo "GUEST up $(up) s"
[ $failed -eq 0 ] && echo "GUEST verdict: all right" || echo "GUEST verdict: something failed"
$b poweroff -f
