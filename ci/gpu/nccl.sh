#!/usr/bin/env bash
# NCCL's own kernels on a GPU, over golden cards. Usage: ci/gpu/nccl.sh [--built FOLDER]
#
#   rank: PyTorch ─ NCCL ─ kernels on the GPU ─ pinned host memory ─ plugin ─ golden card ── others
#
# Two ranks share one GPU; each believes to be a machine of its own. Collectives by each protocol
# and algorithm are compared with what they must be; then 20 steps of training have the losses that
# they have over NCCL's own sockets, bit for bit. PyTorch and its NCCL are the machine's own. No
# rate is claimed. Exit status: 0 all right, 1 something was wrong, 2 it cannot be run here.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() { echo "nccl on a GPU: skipped: $*" >&2; exit 2; }
built=
case ${1-} in
'') ;;
--built) built=$(realpath -m "${2?--built needs a folder}") ;;
*) echo "nccl on a GPU: what is $1?" >&2; exit 1 ;;
esac
nvidia-smi -L 2>/dev/null | grep -q '^GPU' || fail "there is no GPU"
python3 -c 'import torch; assert torch.cuda.is_available() and torch.distributed.is_nccl_available()' \
    2>/dev/null || fail "needs python3 with PyTorch, CUDA and NCCL"
if [ -z "$built" ]; then
    cargo build --quiet --release -p zeronic-nccl --lib
    built=${CARGO_TARGET_DIR-target}/release
fi

work=$(mktemp -d "${TMPDIR-/tmp}/zn.XXXXXX")
ranks=()
cleanup() {
    local rank
    for rank in "${ranks[@]}"; do kill -9 "$rank" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT
cp "$built/libnccl_net_zeronic.so" "$work/libnccl-net-zeronic.so"
export NCCL_SOCKET_IFNAME=lo NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1
export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=NET,INIT,GRAPH CUBLAS_WORKSPACE_CONFIG=:4096:8
export MASTER_ADDR=127.0.0.1 MASTER_PORT=${ZERONIC_NCCL_PORT-29511} WORLD_SIZE=2 CUDA_VISIBLE_DEVICES=0

# run NAME NETWORK WHAT: two ranks do it over a network; what they print is in NAME.0 and NAME.1.
run() {
    local name=$1 network=$2 what=$3 rank status=0
    rm -rf "$work/wire"
    mkdir "$work/wire"
    if [ "$network" = Zeronic ]; then
        export NCCL_NET_PLUGIN=$work/libnccl-net-zeronic.so ZERONIC_CARD=golden:$work/wire
    else
        export NCCL_NET_PLUGIN=none
    fi
    ranks=()
    for rank in 0 1; do
        NCCL_HOSTID=host$rank RANK=$rank NCCL_DEBUG_FILE=$work/log.$rank \
            timeout 120 python3 ci/gpu/nccl.py "$what" >"$work/$name.$rank" 2>"$work/error.$rank" &
        ranks+=($!)
    done
    for rank in "${ranks[@]}"; do wait "$rank" || status=1; done
    ranks=()
    if [ $status != 0 ] || ! grep -q "via NET/$network" "$work/log.0"; then
        echo "nccl on a GPU: $name over $network failed:"
        tail -n 15 "$work/$name".? "$work"/error.? "$work"/log.?
        exit 1
    fi
    echo "$name over $network: $(tail -n 1 "$work/$name.0")"
}

for protocol in Simple LL LL128; do
    export NCCL_PROTO=$protocol
    NCCL_ALGO=Ring run "ring-$protocol" Zeronic collectives
    NCCL_ALGO=Tree run "tree-$protocol" Zeronic all-reduce
done
# One order of additions.
export NCCL_PROTO=Simple NCCL_ALGO=Ring
run losses Zeronic training
cp "$work/losses.0" "$work/of-card"
run losses Socket training
cmp "$work/of-card" "$work/losses.0" || { echo "nccl on a GPU: losses differ"; exit 1; }
echo "all right: $(wc -l <"$work/of-card") losses are those of the sockets, bit for bit"
