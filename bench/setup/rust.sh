#!/usr/bin/env bash
# Checks for a Rust toolchain that is new enough; installs one from the distribution if there is none at all.
# rust.sh [--lint] also asks for rustfmt and clippy.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

NEEDED="$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../../Cargo.toml")"

# at_least NEEDED FOUND: compares version numbers.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# The version that apt would install of package $1; empty if it knows none.
candidate() {
    command -v apt-cache >/dev/null || return 0
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][^+~-]*\).*/\1/p'
}

if ! command -v cargo >/dev/null; then
    if at_least "$NEEDED" "$(candidate cargo)"; then
        apt_install "building Rust" cargo rustc rustfmt rust-clippy
    elif [ -n "$(candidate rustup)" ]; then
        apt_install "building Rust" rustup
        say "rustup downloads the stable toolchain"
        rustup default stable >&2 </dev/null || fail "rustup could not install the stable toolchain, see above"
    else
        fail "no cargo found, and this system's packages have none of version $NEEDED or newer" \
            "install Rust as https://rustup.rs says, then run this again in a new shell"
    fi
fi

found="$(cargo --version 2>/dev/null | awk '{print $2}' || true)"
if ! at_least "$NEEDED" "${found:-0}"; then
    fail "cargo is ${found:-not working}, but version $NEEDED or newer is needed ($(command -v cargo))" \
        "with rustup: 'rustup update stable'; without: remove it and install Rust as https://rustup.rs says"
fi
if [ "${1:-}" = --lint ]; then
    for tool in cargo-fmt cargo-clippy; do
        command -v "$tool" >/dev/null && continue
        fail "$tool is missing, which 'make lint' needs" \
            "with rustup: 'rustup component add rustfmt clippy'; Debian's packages: rustfmt, rust-clippy"
    done
fi
