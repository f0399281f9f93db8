#!/usr/bin/env bash
# Builds drivers, software card and tests for AArch64, and runs them with QEMU's user-mode emulator.
#
#   arm.sh build     builds the drivers and the software card into build/arm/bin/
#   arm.sh quick     builds, checks the barriers, then tests the data path of each driver
#   arm.sh all       builds, checks the barriers, then runs the unit tests and all conformance tests
#
# On an AArch64 machine `make test` runs all of that without emulation, so this script has nothing to do there.
# A program in build/arm/bin/ is a script that starts the emulator, because a test starts programs by their path.
# QEMU runs Arm's threads on an x86-64 processor, which keeps more order than Arm's. So a missing barrier does not show
# in a run. Therefore a test looks for the barriers in the machine code.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=bench/setup/versions.sh
. bench/setup/versions.sh

OUT=build/arm

# Prints the reason for which nothing runs here, as .ci/checks expects it, and ends successfully.
skip() {
    echo "skipped: $*"
    exit 0
}

[ "$(uname -m)" != aarch64 ] || skip "this machine is AArch64, so make test runs the tests without emulation"

# wrap NAME...: puts a script in the place of each program, which runs it with the emulator.
wrap() {
    local name program
    for name in "$@"; do
        program="$OUT/bin/$name"
        [ "$(head -c 2 "$program")" != '#!' ] || continue
        mv "$program" "$program.aarch64"
        printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$PWD/$program.aarch64" >"$program"
        chmod +x "$program"
    done
}

# A fresh copy of each program replaces the script of the last run.
unwrap() {
    local program
    for program in "$OUT"/bin/*/ixgbe-fwd "$OUT/bin/nic"; do
        [ ! -e "$program.aarch64" ] || mv "$program.aarch64" "$program"
    done
}

build() {
    unwrap
    make into-c into-rust into-rust-unsafe INTO="$OUT/bin" ARCH=aarch64 CC=aarch64-linux-gnu-gcc \
        RUST_TARGET="$ARM_TARGET" DRIVER_TARGET="$OUT/cargo-driver"
    cargo build --quiet --target "$ARM_TARGET" --target-dir "$OUT/cargo" --package nic --bin nic
    cp "$OUT/cargo/$ARM_TARGET/debug/nic" "$OUT/bin/nic"
    wrap c/ixgbe-fwd rust/ixgbe-fwd rust-unsafe/ixgbe-fwd nic
}

# arm_test ARGUMENT...: runs cargo's tests of these packages with the emulator.
arm_test() {
    cargo test --quiet --target "$ARM_TARGET" --target-dir "$OUT/cargo" --no-fail-fast "$@"
}

goal="${1:-}"
case "$goal" in
    build | quick | all) ;;
    *)
        echo "usage: arm.sh build|quick|all" >&2
        exit 2
        ;;
esac

messages="$(mktemp)"
trap 'rm -f "$messages"' EXIT
emulator="$(bench/setup/arm.sh 2>"$messages")" || skip "$(sed -n '$s/^setup: //p' "$messages")"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$emulator"
build
[ "$goal" != build ] || exit 0

export TRIPTYCH_BUILD="$PWD/$OUT"
# The test itself needs no emulator: it reads the machine code.
cargo test --quiet --target-dir build/cargo --release --package conformance --test barriers -- --include-ignored
if [ "$goal" = quick ]; then
    arm_test --package conformance --test data_path --test register_trace
else
    arm_test --package record --package nic --package ixgbe --package ixgbe-unsafe --package ixgbe-registers
    arm_test --package perfcounters --lib
    arm_test --package conformance
fi
