#!/usr/bin/env bash
# Installs the pinned Rust toolchain with rustup, for machines without Rust. The Containerfile runs this script.
#
# The script downloads rustup's installer of a fixed version and checks its SHA-256 sum. The toolchain goes to
# $RUSTUP_HOME and $CARGO_HOME (by default ~/.rustup and ~/.cargo).
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# -eq 0 ] || fail "usage: rustup.sh"
platform=x86_64-unknown-linux-gnu
[ "$(uname -m)" = x86_64 ] || fail "rustup.sh has a checksum only for x86-64, and this machine is $(uname -m)"
command -v curl >/dev/null || fail "rustup.sh needs curl: install the package curl"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
say "installing Rust $RUST with rustup $RUSTUP"
curl --fail --silent --show-error --location --proto '=https' --output "$work/rustup-init" \
    "https://static.rust-lang.org/rustup/archive/$RUSTUP/$platform/rustup-init" ||
    fail "cannot download rustup $RUSTUP, see the message above"
echo "$RUSTUP_SHA256  $work/rustup-init" | sha256sum --check --status ||
    fail "the downloaded rustup-init has another checksum than bench/setup/versions.sh: do not use it"
chmod +x "$work/rustup-init"
"$work/rustup-init" -y --quiet --no-modify-path --profile minimal --default-toolchain "$RUST" \
    --component rustfmt,clippy,llvm-tools >&2 </dev/null ||
    fail "rustup could not install Rust $RUST, see the message above"
