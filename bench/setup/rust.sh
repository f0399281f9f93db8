#!/usr/bin/env bash
# rust.sh [--lint]: checks that Rust is new enough. Without any Rust, the script installs the distribution's packages.
#
# --lint also checks that rustfmt and clippy are installed, and builds cargo-machete.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

NEEDED="$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../../Cargo.toml")"

# at_least NEEDED FOUND: compares version numbers.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# candidate PACKAGE: prints the version that apt would install, or nothing.
candidate() {
    command -v apt-cache >/dev/null || return 0
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9][^+~-]*\).*/\1/p'
}

if ! command -v cargo >/dev/null; then
    if at_least "$NEEDED" "$(candidate cargo)"; then
        apt_install "building Rust" cargo rustc rustfmt rust-clippy
    elif at_least "$NEEDED" "$(candidate cargo-web)"; then
        # Debian 12 has a newer Rust beside its own, for browsers.
        apt_install "building Rust" cargo-web rustc-web
    elif [ -n "$(candidate rustup)" ]; then
        apt_install "building Rust" rustup
        say "rustup downloads the stable toolchain"
        rustup default stable >&2 </dev/null ||
            fail "rustup could not install the stable toolchain, see the message above"
    else
        fail "there is no cargo, and this system's packages have no version $NEEDED or newer" \
            "Install Rust as https://rustup.rs describes, then run this again in a new shell."
    fi
fi

found="$(cargo --version 2>/dev/null | awk '{print $2}' || true)"
if ! at_least "$NEEDED" "${found:-0}"; then
    fail "cargo is ${found:-not working}, but Triptych needs version $NEEDED or newer ($(command -v cargo))" \
        "With rustup, run 'rustup update stable'." \
        "Without rustup, remove cargo and install Rust as https://rustup.rs describes."
fi
if [ "${1:-}" = --lint ]; then
    for tool in cargo-fmt cargo-clippy; do
        command -v "$tool" >/dev/null && continue
        fail "'make lint' needs $tool, which is missing" \
            "With rustup, run 'rustup component add rustfmt clippy'. Debian's packages are rustfmt and rust-clippy."
    done
    # `make lint` looks in this folder.
    if [[ "$("$CACHE/lint/bin/cargo-machete" --version 2>/dev/null)" != "$MACHETE" ]]; then
        open_cache
        say "building cargo-machete $MACHETE (a minute)"
        cargo install cargo-machete --version "$MACHETE" --locked --quiet --root "$CACHE/lint" </dev/null >&2 ||
            fail "cargo could not install cargo-machete, see the message above"
    fi
fi
