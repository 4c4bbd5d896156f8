#!/usr/bin/env bash
# A Linux guest that finds the card: QEMU without rights, a stock Debian kernel, vfio-pci, zeronic.
# Usage: ci/guest.sh [PROGRAM [TEST...]]; PROGRAM is a built `zeronic`, without one
# target/release/zeronic. Tests: card, link, bind, kills, map, nodes; without one the first four.
# `nodes` boots a machine of two nodes, with the card at the second.
#
#   zeronic sim-card ── socket ── QEMU (TCG) ─► root port ─► emulated IOMMU ─► guest
#     golden card, echo at its wire                            vfio-pci ─► zeronic device ..., demo
#                                                                (ci/guest/init.sh)
#
# QEMU and kernel are Debian's packages, fetched once (about 80 MB) into a folder that git ignores
# (`.tools/guest`; ZERONIC_TOOLS moves it) and unpacked there. The guest's first program is a
# script; the built program comes with the libraries that it has here. What the guest says is
# printed; the last line is the verdict. ZERONIC_GUEST_KERNEL names another kernel with all drivers
# built in; ZERONIC_GUEST_MAP the bytes of the test `map` (1GiB). Exit status: 0 all right,
# 1 something failed, 2 it cannot be run here.
set -euo pipefail
cd "$(dirname "$0")/.."

source ci/guest/apt.sh
packages=(qemu-system-x86 busybox-static libc6)
limit_s=${ZERONIC_GUEST_LIMIT-180}
begun=$(date +%s%N)
program=$(realpath -m "${1-target/release/zeronic}")
tools=$(realpath -m "${ZERONIC_TOOLS-.tools}")/guest
work=$(mktemp -d "${TMPDIR-/tmp}/zeronic-guest.XXXXXX")
card=
cleanup() { [ -z "$card" ] || kill "$card" 2>/dev/null || true; rm -rf "$work"; }
trap cleanup EXIT
fail() { echo "guest: $*" >&2; exit 2; }

shift $(($# > 0 ? 1 : 0))
tests=${*-}
tests=${tests:-card link bind kills}
for test in $tests; do
    case $test in
    card | link | bind | kills | map | nodes) ;;
    *) fail "no test '$test': card, link, bind, kills, map, nodes" ;;
    esac
done
[ -x "$program" ] || fail "no $program: cargo build --release, or name another"

# --- QEMU and kernel -------------------------------------------------------------------------

fetch() {
    command -v apt-get >/dev/null || fail "needs apt-get: QEMU and kernel are Debian's packages"
    echo "guest: fetching QEMU and a kernel, about 80 MB, into $tools"
    own_apt "$tools/apt" apt-get update
    own_apt "$tools/apt" apt-get install -y --download-only -t "$suite-backports" "${packages[@]}"
    local kernel
    kernel=$(own_apt "$tools/apt" apt-cache depends -t "$suite-backports" linux-image-cloud-amd64 |
        sed -n 's/.*Depends: linux-image-\([0-9].*\)$/\1/p' | head -n 1)
    [ -n "$kernel" ] || fail "no kernel among Debian's packages"
    (cd "$tools/apt/archives" &&
        own_apt "$tools/apt" apt-get download -t "$suite-backports" "linux-binary-$kernel" "linux-modules-$kernel")
    echo "guest: unpacking"
    rm -rf "$tools/root"
    mkdir -p "$tools/root"
    local package
    for package in "$tools"/apt/archives/*.deb; do dpkg-deb -x "$package" "$tools/root"; done
    rm -rf "$tools/apt"
    echo "$kernel" >"$tools/kernel"
}

mkdir -p "$tools"
exec 9>"$tools.lock"
flock 9
[ -s "$tools/kernel" ] || fetch
flock -u 9
root=$tools/root
kernel=$(cat "$tools/kernel")
image=$(find "$root" -name 'vmlinuz*' | head -n 1)
image=${ZERONIC_GUEST_KERNEL-$image}
[ -n "$image" ] || fail "no kernel in $tools: remove that folder and run again"

# --- The first root file system --------------------------------------------------------------

initial=$work/initial
mkdir -p "$initial"/{bin,dev,proc,sys,tmp,lib64,modules}
find "$root" -path '*bin/busybox' -exec cp {} "$initial/bin/busybox" \; -quit
cp "$program" "$initial/bin/zeronic"
# Its libraries, where it looks for them.
ldd "$program" | grep -o '/[^ ]*' | sort -u | while IFS= read -r library; do
    mkdir -p "$initial$(dirname "$library")"
    cp -L "$library" "$initial$library"
done
# Drivers, in the order in which they are loaded.
: >"$initial/modules/order"
for module in irqbypass vfio vfio_iommu_type1 vfio-pci-core vfio-pci vmxnet3; do
    file=
    [ -n "${ZERONIC_GUEST_KERNEL-}" ] ||
        file=$(find "$root" -path "*$kernel*" -name "$module.ko*" | head -n 1)
    case $file in
    *.xz) xz -dc "$file" >"$initial/modules/$module.ko" ;;
    *.zst) zstd -qdc "$file" >"$initial/modules/$module.ko" ;;
    ?*) cp "$file" "$initial/modules/$module.ko" ;;
    # Built into the kernel.
    *) continue ;;
    esac
    echo "$module" >>"$initial/modules/order"
done
cp ci/guest/init.sh "$initial/init"
ids=$(sed -n 's/^pub const \(VENDOR\|DEVICE\)_ID: u16 = 0x\([0-9a-f]*\);.*/0x\2/p' \
    hdl/abi/src/pci_ids.rs | tr '\n' ' ' | sed 's/ $//')
sed -i "s/CARD_IDS/$ids/" "$initial/init"
chmod +x "$initial/init"
(cd "$initial" && find . | bin/busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initial.gz"

# --- The card, and the machine around it -----------------------------------------------------

# What the test `map` maps is in memory twice, in pages of both sizes.
memory=1024
case " $tests " in *" map "*) memory=3072 ;; esac
# An emulator that gets no core for a while misses the ticks by which a kernel tries its timer.
options="console=ttyS0 quiet panic=-1 no_timer_check zeronic.tests=$(echo "$tests" | tr ' ' ',')"
options+=" zeronic.map=${ZERONIC_GUEST_MAP-1GiB}"

# One node, or two with half of the memory and a core each, and a host bridge at the second.
ram() { echo "memory-backend-memfd,id=$1,size=$2M,share=on"; }
machine=(-M q35,kernel-irqchip=split,memory-backend=ram -object "$(ram ram $memory)")
host_bridge=()
card_bus=pcie.0
case " $tests " in
*" nodes "*)
    machine=(-M q35,kernel-irqchip=split)
    for node in 0 1; do
        machine+=(-object "$(ram "ram$node" $((memory / 2)))"
            -numa "node,nodeid=$node,memdev=ram$node,cpus=$node")
    done
    card_bus=far_bus
    host_bridge=(-device "pxb-pcie,id=$card_bus,bus_nr=128,numa_node=1,bus=pcie.0")
    ;;
esac

socket=$work/card
"$program" sim-card --vfio-user "$socket" --config small --peer smoltcp >"$work/card.log" 2>&1 &
card=$!
for _ in $(seq 100); do [ ! -S "$socket" ] || break; sleep 0.1; done
[ -S "$socket" ] || { cat "$work/card.log" >&2; fail "the card does not come up"; }

loader=$(find "$root" -name 'ld-linux-x86-64.so.2' | head -n 1)
libraries=$(find "$root" -name '*.so*' -path '*x86_64-linux-gnu*' -printf '%h\n' | sort -u | paste -sd:)
device="{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"$socket\"},"
device+="\"bus\":\"root_port\",\"x-msg-timeout\":60000}"
set +e
timeout "$limit_s" "$loader" --library-path "$libraries" "$root/usr/bin/qemu-system-x86_64" \
    -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" -L "$root/usr/lib/ipxe/qemu" \
    "${machine[@]}" \
    -accel tcg -cpu max -smp 2 -m $memory -nodefaults -display none -no-reboot -serial stdio \
    -device intel-iommu,intremap=on,caching-mode=on "${host_bridge[@]}" \
    -device "pcie-root-port,id=root_port,chassis=1,slot=1,bus=$card_bus" -device "$device" \
    -device pcie-root-port,id=other_port,chassis=2,slot=2 \
    -device vmxnet3,bus=other_port,romfile= \
    -kernel "$image" -initrd "$work/initial.gz" -append "$options" \
    2>"$work/qemu.log" </dev/null | tee "$work/guest.log"
status=${PIPESTATUS[0]}
set -e
if grep -q "GUEST verdict: all right" "$work/guest.log"; then
    seconds=$((($(date +%s%N) - begun) / 1000000000))
    echo "guest: the card was found, examined and used ($tests): all right, $seconds s in all"
    exit 0
fi
echo "guest: QEMU ended with $status" >&2
head -c 4000 "$work/qemu.log" >&2
tail -n 20 "$work/card.log" >&2
exit 1
