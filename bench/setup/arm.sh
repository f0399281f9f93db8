#!/usr/bin/env bash
# Installs what drivers/arm.sh needs to build for AArch64 on another machine, and to run the programs there: Debian's
# cross compiler and C library, QEMU's user-mode emulator, and Rust's libraries. Prints the emulator's command.
#
# The exit status is 2 if something cannot be had. The last line gives the reason.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

missing=()
command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu)
[ -e "$ARM_LIBRARIES/include/stdio.h" ] || missing+=(libc6-dev-arm64-cross)
# Two packages have the emulator. A system that has one of them needs no other.
emulator="$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)"
[ -n "$emulator" ] || missing+=(qemu-user)
[ ${#missing[@]} -eq 0 ] || apt_install "make test ONLY=arm-test" "${missing[@]}"

add_target "$ARM_TARGET"

echo "$(command -v qemu-aarch64 || command -v qemu-aarch64-static) -L $ARM_LIBRARIES"
