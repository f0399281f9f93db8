#!/usr/bin/env bash
# msrv.sh [--install]: checks that the Rust drivers build with the oldest Rust that Cargo.toml allows (`rust-version`).
#
# Without rustup or that toolchain, the script prints 'skipped: REASON' and succeeds.
# --install only installs the toolchain, if rustup is there.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

oldest="$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)"
toolchain="$(installed_rust "$oldest")"
if [ "${1:-}" = --install ]; then
    [ -n "$toolchain" ] || ! command -v rustup >/dev/null || add_toolchain "$oldest"
    exit 0
fi
if [ -z "$toolchain" ]; then
    echo "skipped: Rust $oldest is not installed; 'rustup toolchain install $oldest --profile minimal' installs it"
    exit 0
fi
RUSTUP_TOOLCHAIN="$toolchain" cargo check --quiet --locked --target-dir build/msrv \
    --package ixgbe --package forwarder-abi-rust --package ixgbe-unsafe
echo "the drivers build with Rust $oldest ($toolchain)"
