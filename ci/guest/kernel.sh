#!/usr/bin/env bash
# Builds a kernel for the guest that has VFIO without groups (iommufd), which Debian's has not.
# Usage: ci/guest/kernel.sh; then ZERONIC_GUEST_KERNEL=.tools/guest-kernel/bzImage ci/guest.sh
#
# Debian's package of the sources (170 MB) into a folder that git ignores; all drivers that the
# guest needs are built in. Needs gcc, make, flex, bison, bc and xz; takes 7 minutes of a core.
# Exit status: 0 built or there already, 1 the build failed, 2 something is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=ci/guest
tools=$(realpath -m "${ZERONIC_TOOLS-.tools}")/guest-kernel
fail() { echo "guest kernel: $*" >&2; exit 2; }
[ ! -s "$tools/bzImage" ] || { echo "guest kernel: $tools/bzImage"; exit 0; }
for program in gcc make flex bison bc xz apt-get; do
    command -v "$program" >/dev/null || fail "needs $program"
done

source "$here/apt.sh"
mkdir -p "$tools"
own_apt "$tools/apt" apt-get update
package=$(own_apt "$tools/apt" apt-cache depends -t "$suite-backports" linux-source |
    sed -n 's/.*Depends: \(linux-source-[0-9.]*\)$/\1/p' | head -n 1)
[ -n "$package" ] || fail "no sources of a kernel among Debian's packages"
echo "guest kernel: fetching $package, about 170 MB, into $tools"
(cd "$tools" && own_apt "$tools/apt" apt-get download -t "$suite-backports" "$package")
rm -rf "$tools/source"
mkdir -p "$tools/source"
dpkg-deb --fsys-tarfile "$tools/$package"_*.deb | tar -x -O "./usr/src/$package.tar.xz" |
    tar -x -J -C "$tools/source" --strip-components 1
rm -rf "$tools/apt" "$tools/$package"_*.deb

echo "guest kernel: building"
{
    make -C "$tools/source" allnoconfig KCONFIG_ALLCONFIG="$PWD/$here/kernel.config"
    make -C "$tools/source" -j "$(nproc)" bzImage
} >"$tools/build.log" 2>&1 || { tail -n 20 "$tools/build.log" >&2; exit 1; }
cp "$tools/source/arch/x86/boot/bzImage" "$tools/bzImage"
rm -rf "$tools/source"
echo "guest kernel: $tools/bzImage"
