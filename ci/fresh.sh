#!/usr/bin/env bash
# Runs README's two commands as on a machine that has what README lists, and nothing else.
# Usage: ci/fresh.sh [COMMAND...]; without a command, the two. `cargo xtask fresh` calls it.
#
#   this machine's root ──► overlay ── less the packages and folders below ──► root of a new mount
#   HEAD, cloned ────────► /home/fresh/zeronic, and an empty HOME               namespace, user nobody
#   Rust toolchain ──────► /opt/rust, read-only
#
# The commands run without rights, with an environment of four words, and reach the registries
# directly. Nothing of this machine changes but the folder target/fresh.
set -euo pipefail
cd "$(dirname "$0")/.."

# What `.ci/run`, an earlier version of it or a person may have installed beside README's list.
beside='clang.*|llvm.*|libclang.*|libllvm.*|valgrind.*|libusb-1.0-0.*|libftdi.*|iproute2'
beside+='|python3-venv|python3\.[0-9]+-venv|python3-pip.*|python3-setuptools.*|python3-wheel.*'
beside+='|verilator|yosys|iverilog|tshark|qemu-.*|nodejs|npm|chromium.*|tmux'

fail() { echo "fresh: $*" >&2; exit 1; }

if [ "${1-}" != --inside ]; then
    [ "$(id -u)" -eq 0 ] || fail "needs root, to make a root of its own: sudo cargo xtask fresh"
    for tool in git unshare setpriv dpkg-query; do
        command -v $tool >/dev/null || fail "needs $tool"
    done
    git diff --quiet HEAD || echo "fresh: what is not committed is left out" >&2
    sysroot=$(rustc --print sysroot)
    place=$PWD/target/fresh
    rm -rf "$place"
    mkdir -p "$place"/{upper,work,root,home}
    git clone --quiet . "$place/home/zeronic"
    chown -R 65534:65534 "$place/home"
    unshare --mount --propagation private "$0" --inside "$place" "$sysroot" "$@"
    exit
fi
place=$2 sysroot=$3
shift 3
root=$place/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$root"

# Packages: their files, but for those that another package has as well.
names=$(dpkg-query -W -f '${binary:Package}\n' | grep -E "^($beside)(:|$)" || true)
if [ -n "$names" ]; then
    # shellcheck disable=SC2086
    dpkg-query -L $names | sort -u | while IFS= read -r path; do
        # Headings stand between the paths. A link to a folder may be the root's own, as /bin is.
        [[ $path == /* && ! -d $path && ( -e $path || -L $path ) ]] || continue
        rm -f "$root$path"
    done
fi
# What was installed by hand; homes, with whatever they hold.
for folder in /root /home /opt /usr/local /srv /work /mnt /media; do
    [ ! -d "$root$folder" ] || mount -t tmpfs tmpfs "$root$folder"
done
mkdir -p "$root/opt/rust" "$root/home/fresh"
mount --bind "$sysroot" "$root/opt/rust"
mount -o remount,bind,ro "$root/opt/rust"
mount --bind "$place/home" "$root/home/fresh"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
cd "$root"
mkdir -p .old
pivot_root . .old
umount -l /.old

run() {
    local started=$SECONDS status=0
    echo "== fresh: $*"
    (cd /home/fresh/zeronic && setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
        env -i PATH=/opt/rust/bin:/usr/bin:/bin HOME=/home/fresh CARGO_HOME=/home/fresh/.cargo \
        LANG=C.UTF-8 "$@") || status=$?
    echo "== fresh: $* ended with $status after $((SECONDS - started)) s"
    return $status
}

for name in cargo c++ make python3 tclsh; do
    command -v "$name" >/dev/null || [ -x "/opt/rust/bin/$name" ] || fail "no $name: README lists it"
done
if [ $# -gt 0 ]; then
    run "$@"
else
    run cargo run --release -- demo
    run cargo test --workspace
fi
