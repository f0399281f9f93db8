#!/usr/bin/env bash
# Fetches the emulated Arm machine of `make test ONLY=pmu-test`, and prints its folder. The folder contains:
#
#   qemu          a script that runs qemu-system-aarch64, whose processors have a PMU
#   vmlinuz       Debian's kernel for arm64
#   busybox       Debian's busybox for arm64
#   target        Rust's name of the guest's processor and C library
#   versions      the packages that the folder comes from, one a line
#
# The script downloads 130 MB of Debian's packages once and unpacks them into that folder; see debian.sh. It needs no
# root. The packages come from the mirror in TRIPTYCH_DEBIAN_MIRROR, or on a Debian system from that system's mirror.
# The script also adds the target of the guest to rustup's toolchain, so that cargo can build programs for the guest.
# The exit status is 2 if something cannot be had. The last line gives the reason.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=bench/setup/common.sh
. "$here/common.sh"
# shellcheck source=bench/setup/debian.sh
. "$here/debian.sh"

GOAL="make test ONLY=pmu-test"
RELEASE="$GUEST_RELEASE"
ARCHITECTURES="amd64 arm64"
DIR="$CACHE/pmu-guest-$RELEASE"

[ "$(uname -m)" = x86_64 ] || fail "the emulator's packages are those for x86-64, and this machine is $(uname -m)"

add_target "$PMU_GUEST_TARGET"

open_cache
RECIPE="$(cat "$here/pmu-guest.sh" "$here/debian.sh" | sha256sum | cut -c 1-16)"
is_fetched || open_work tar
if is_fetched; then
    echo "$DIR"
    exit 0
fi

say "fetching QEMU and a kernel for $GOAL (130 MB, once)"
fetch_lists
kernel="$(dependency linux-image-arm64:arm64)"
download busybox-static:arm64 "$kernel"
download_qemu qemu-system-arm
unpack
write_qemu qemu-system-arm qemu-system-aarch64
"$work/qemu" --version >/dev/null 2>"$work/apt/errors" || {
    cat "$work/apt/errors" >&2
    fail "QEMU does not run here"
}
cp "$work"/root/boot/vmlinuz-*-arm64 "$work/vmlinuz"

cp "$work/root/usr/bin/busybox" "$work/busybox"
echo "$PMU_GUEST_TARGET" >"$work/target"
rm -rf "$work/apt" "$work/root/boot" "$work"/root/usr/lib/{modules,linux-image-*}
finish
echo "$DIR"
