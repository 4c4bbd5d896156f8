#!/usr/bin/env bash
# NCCL itself, unmodified, over golden cards, on a machine without a GPU.
# Usage: ci/nccl.sh [--quick | --rate] [--release VERSION] [--cached] [--built FOLDER]
# --quick is what the gate runs, within a minute. --rate times an all-reduce of 64 MiB, and the same
# by NCCL's own network of sockets. --release names another release of NCCL, as far as its
# structures are known. --cached fetches nothing; --built names the folder of the built programs.
#
#   rank: nccl-cpu ─ libnccl.so.2 ─ libnccl-net-zeronic.so ─ golden card ── datagrams ── other ranks
#
# NCCL is fetched once by its name (305 MB) into a folder outside the clone, ZERONIC_TOOLS or
# ~/.cache/zeronic. Its CUDA entries are replaced when it runs (sim/nccl/src/cpu), its kernels run
# on the CPU; what it does to the network is its own. Each element is judged. The last line is the
# verdict: what was wrong, and how many bytes the CPU has copied on the way. Exit status: 0 all
# right, 1 something was wrong, 2 it cannot be run here.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.32.3
limit_s=${ZERONIC_NCCL_LIMIT-300}
tools=${ZERONIC_TOOLS-${XDG_CACHE_HOME-$HOME/.cache}/zeronic}/nccl
work=$(mktemp -d "${TMPDIR-/tmp}/zn.XXXXXX")
ranks=()
cleanup() {
    local rank
    for rank in "${ranks[@]}"; do kill -9 "$rank" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "nccl: skipped: $*" >&2; exit 2; }
mode=all
cached=
built=
while [ $# -gt 0 ]; do
    case $1 in
    --quick | --rate) mode=${1#--} ;;
    --release) shift; version=${1?--release needs a version} ;;
    --cached) cached=1 ;;
    --built) shift; built=$(realpath -m "${1?--built needs a folder}") ;;
    *) echo "nccl: what is $1?" >&2; exit 1 ;;
    esac
    shift
done

# --- the library -----------------------------------------------------------------------------

# For which CUDA a release was made does not matter here.
case $version in
2.2[0-8].*) package=nvidia-nccl-cu12 ;;
*) package=nvidia-nccl-cu13 ;;
esac
library=$tools/$version/nvidia/nccl/lib/libnccl.so.2
[ "$(uname -m)" = x86_64 ] || fail "entries are replaced on x86-64 alone"
mkdir -p "$tools"
exec 9>"$tools/lock"
flock 9
if [ ! -e "$library" ]; then
    [ -z "$cached" ] || fail "$package $version was not fetched: ci/nccl.sh does"
    command -v python3 >/dev/null || fail "needs python3 and pip to fetch $package"
    echo "nccl: fetching $package $version, some 300 MB, into $tools"
    python3 -m pip download --no-deps --dest "$tools" "$package==$version" ||
        fail "$package $version cannot be fetched"
    mkdir -p "$tools/$version.part"
    python3 -m zipfile -e "$tools/${package//-/_}-$version"-*.whl "$tools/$version.part"
    rm -f "$tools/${package//-/_}-$version"-*.whl
    mv "$tools/$version.part" "$tools/$version"
fi
flock -u 9

# The table of its structures is what the library says of itself, where there is gdb to read it.
if [ "$mode" != quick ] && command -v gdb >/dev/null; then
    layouts=$(gdb -nx -batch -x sim/nccl/layouts.py "$library" 2>/dev/null || true)
    [ -n "$layouts" ] || fail "gdb cannot read the structures of NCCL $version from $library"
    number=${layouts%% *}
    if [ "$layouts" != "$(grep "^$number " sim/nccl/src/cpu/layouts.txt || true)" ]; then
        fail "structures of NCCL $version are not those of sim/nccl/src/cpu/layouts.txt"
    fi
fi

# --- the programs ----------------------------------------------------------------------------

if [ -z "$built" ]; then
    cargo build --quiet --release -p zeronic-nccl -p nccl_harness --lib --bins --example nvml
    built=${CARGO_TARGET_DIR-target}/release
fi
# The plugin is among the programs, or was built for their tests.
plugin=$built/deps/libnccl_net_zeronic.so
[ -e "$plugin" ] || plugin=$built/libnccl_net_zeronic.so
cp "$plugin" "$work/libnccl-net-zeronic.so"
cp "$built/examples/libnvml.so" "$work/libnvidia-ml.so.1"

export LD_LIBRARY_PATH=$work NCCL_NET_PLUGIN=$work/libnccl-net-zeronic.so
export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=NET,INIT
# The kernel on the CPU knows rings and the protocol Simple, and LL of messages.
export NCCL_ALGO=Ring NCCL_PROTO=Simple
# What would need a driver of a GPU, or another network.
export NCCL_CUMEM_ENABLE=0 NCCL_CUMEM_HOST_ENABLE=0 NCCL_NVLS_ENABLE=0
export NCCL_SOCKET_IFNAME=lo NCCL_IB_DISABLE=1

# --- the runs --------------------------------------------------------------------------------

wrong=0
copied=0
lossy_copied=0
network=Zeronic

# run NAME RANKS SETTINGS OPERATIONS BYTES [TIMES WARM]: the ranks of one communicator. Each
# believes to be a machine of its own.
run() {
    local name=$1 count=$2 settings=$3 op=$4 bytes=$5 times=${6-1} warm=${7-0} rank status=0 line
    mkdir "$work/wire"
    export ZERONIC_CARD="golden:$work/wire?$settings"
    ranks=()
    for ((rank = 0; rank < count; rank++)); do
        NCCL_HOSTID=host$rank NCCL_DEBUG_FILE=$work/log$rank timeout "$limit_s" "$built/nccl-cpu" --rank "$rank" \
            --ranks "$count" --id "$work/id" --library "$library" --op "$op" --bytes "$bytes" \
            --times "$times" --warm "$warm" >"$work/rank$rank" 2>"$work/error$rank" &
        ranks+=($!)
    done
    for rank in "${ranks[@]}"; do wait "$rank" || status=1; done
    ranks=()
    if [ $status != 0 ] || ! grep -q "Using network $network\|NET/$network" "$work/log0"; then
        echo "nccl: $name failed:"
        tail -n 15 "$work"/log? "$work"/rank? "$work"/error?
        wrong=$((wrong + 1))
    fi
    grep -o 'rank 0: .* times: wrong .*' "$work/rank0" | sed "s/^rank 0/$name/" || true
    median_us=$(grep -oh 'median [0-9]* us' "$work/rank0" | grep -o '[0-9]*' | tail -n 1 || true)
    for line in $(grep -oh 'times: wrong [0-9]*' "$work"/rank? | grep -o '[0-9]*$'); do
        wrong=$((wrong + line))
    done
    for line in $(grep -oh '[0-9]* bytes copied by the CPU' "$work"/log? | grep -o '^[0-9]*'); do
        case $settings in
        *loss*) lossy_copied=$((lossy_copied + line)) ;;
        *) copied=$((copied + line)) ;;
        esac
    done
    rm -rf "$work"/wire "$work"/id "$work"/rank? "$work"/log? "$work"/error?
}

# time_all_reduce NAME SETTINGS: what a rank reduces in the median of 20 times, in GB/s, as `rate`.
# Without a median there is no rate, and nothing to compare.
time_all_reduce() {
    run "$1" 2 "$2" all-reduce 67108864 20 3
    if [ -z "$median_us" ]; then
        echo "nccl: $1 has no rate: its all-reduce has failed" >&2
        exit 1
    fi
    rate=$(awk -v us="$median_us" 'BEGIN { printf "%.3f", 67108.864 / us }')
}

if [ "$mode" = rate ]; then
    time_all_reduce "Zeronic" mtu=9000
    of_card=$rate
    export NCCL_NET_PLUGIN=none NCCL_NET=Socket
    network=Socket
    time_all_reduce "Socket" ""
    of_socket=$rate
    echo "all-reduce of 64 MiB, 2 ranks, GB/s a rank: Zeronic $of_card, Socket $of_socket," \
        "ratio $(awk -v a="$of_card" -v b="$of_socket" 'BEGIN { printf "%.2f", a / b }')"
    echo "wrong $wrong, copied $copied"
    [ $wrong = 0 ] && [ $copied = 0 ]
    exit
fi

all="all-reduce,all-gather,reduce-scatter,send-recv,registered"
if [ "$mode" = quick ]; then
    run "2 ranks" 2 "" "$all" 4,100000,1048576
    run "2 ranks, 1 % loss" 2 loss=0.01 "all-reduce,registered" 1048576
else
    sizes=4,1000,65536,1048576,67108864
    run "2 ranks" 2 "" "$all" "$sizes"
    run "4 ranks" 4 "" "$all" "$sizes"
    run "2 ranks, 1 % loss" 2 loss=0.01 "$all" 4,1048576,16777216
    run "4 ranks, 1 % loss" 4 loss=0.01 "$all" 4,1048576
    NCCL_ALLOC_P2P_NET_LL_BUFFERS=1 run "2 ranks, LL" 2 "" send-recv 4,4096,16384
fi
# "GPU memory" by descriptor: NCCL's own buffers are dma-bufs then.
export NCCL_CPU_DMA_BUF=1 NCCL_NET_GDR_LEVEL=SYS NCCL_NET_GDR_READ=1
if [ "$mode" = quick ]; then
    run "2 ranks, dma-buf" 2 dmabuf=1 "all-reduce,registered" 4,1048576
else
    run "2 ranks, dma-buf" 2 dmabuf=1 "$all" "$sizes"
    run "4 ranks, dma-buf" 4 dmabuf=1 "$all" 4,1048576,16777216
    run "2 ranks, dma-buf, 1 % loss" 2 "dmabuf=1&loss=0.01" "$all" 1048576
fi
echo "with 1 % loss: copied $lossy_copied"
echo "wrong $wrong, copied $copied"
[ $wrong = 0 ] && [ $copied = 0 ]
