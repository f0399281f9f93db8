#!/usr/bin/env bash
# Do the Rust drivers build with the oldest Rust that Cargo.toml says they are written for? Says 'skipped: WHY' where
# rustup or that toolchain is missing. msrv.sh --install: only installs it, where there is a rustup (15 seconds, once).
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

oldest="$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)"

# rustup's name of a toolchain of that version; empty if there is none.
installed() {
    local list
    command -v rustup >/dev/null || return 0
    list="$(rustup toolchain list)"
    awk -v oldest="$oldest" '
        index($1, oldest "-") == 1 || index($1, oldest ".") == 1 { found = $1 }
        END { print found }' <<<"$list"
}

toolchain="$(installed)"
if [ "${1:-}" = --install ]; then
    if [ -z "$toolchain" ] && command -v rustup >/dev/null; then
        say "installing Rust $oldest, the oldest that the drivers have to build with"
        rustup --quiet toolchain install "$oldest" --profile minimal </dev/null >&2 ||
            say "rustup could not install Rust $oldest, its message is above"
    fi
    exit 0
fi
if [ -z "$toolchain" ]; then
    echo "skipped: Rust $oldest is not here; 'rustup toolchain install $oldest --profile minimal' installs it"
    exit 0
fi
RUSTUP_TOOLCHAIN="$toolchain" cargo check --quiet --locked --target-dir build/msrv \
    --package ixgbe --package forwarder-abi-rust --package ixgbe-unsafe
echo "the drivers build with Rust $oldest ($toolchain)"
