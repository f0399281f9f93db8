#!/usr/bin/env bash
# Fetches the emulated Arm machine of `make test ONLY=pmu-test`, and prints its folder; see debian.sh. The folder contains:
#
#   qemu          a script that runs qemu-system-aarch64, whose processors have a PMU
#   vmlinuz       Debian's kernel for arm64
#   busybox       Debian's busybox for arm64
#   target        Rust's name of the guest's processor and C library
#   versions      the packages that the folder comes from, one a line
#
# The script also adds the target of the guest to rustup's toolchain, so that cargo can build programs for the guest.
set -euo pipefail
# shellcheck source=bench/setup/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

GOAL="make test ONLY=pmu-test" GUEST=pmu-guest ARCHITECTURES="amd64 arm64"
META_KERNEL=linux-image-arm64:arm64 BUSYBOX=busybox-static:arm64 QEMU=qemu-system-arm PROGRAM=qemu-system-aarch64

assemble() {
    cp "$work"/root/boot/vmlinuz-*-arm64 "$work/vmlinuz"
    cp "$work/root/usr/bin/busybox" "$work/busybox"
    echo "$PMU_GUEST_TARGET" >"$work/target"
}

add_target "$PMU_GUEST_TARGET"
fetch_guest
