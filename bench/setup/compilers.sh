#!/usr/bin/env bash
# Installs compilers to compare the drivers by: all of C that the system's packages have of a list, with what their
# profiles need, and Rust by rustup. Does nothing, quickly, if nothing is missing. What cannot be had is named.
# Ends with 0 if at least five C compilers and three Rust toolchains are there, otherwise with 1.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

C_COMPILERS=(gcc-11 gcc-12 gcc-13 gcc-14 clang-13 clang-14 clang-15 clang-16 clang-19 clang-22)
RUST_TOOLCHAINS=(1.85.1 1.90.0 1.95.0 1.96.0)

# The outputs below are read to their end: what writes to a closed pipe fails.

# Whether apt could install package $1.
offered() { [[ "$(apt-cache policy "$1" 2>/dev/null)" =~ Candidate:\ *[0-9] ]]; }

# Whether package $1 is installed.
installed() { [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# The packages of compiler $1: for clang also LTO's plug-in, the run time of instrumented programs and what merges
# their profiles.
packages_of() {
    echo "$1"
    case "$1" in
        clang-*) printf '%s\n' "libclang-rt-${1#clang-}-dev" "llvm-${1#clang-}" "llvm-${1#clang-}-linker-tools" ;;
    esac
}

install_c_compilers() {
    local compiler package root missing=() wanted=()
    for compiler in "${C_COMPILERS[@]}"; do
        while read -r package; do
            installed "$package" || missing+=("$package")
        done < <(packages_of "$compiler")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    # A fresh machine has no lists of packages, or old ones.
    if root="$(as_root)"; then
        # shellcheck disable=SC2086  # $root is empty or one word
        $root apt-get -qq update </dev/null || say "apt-get could not fetch the lists of packages, see above"
    fi
    for package in "${missing[@]}"; do
        if offered "$package"; then
            wanted+=("$package")
        elif [[ " ${C_COMPILERS[*]} " == *" $package "* ]]; then
            # Of what belongs to a compiler, some versions have a part in another package.
            say "$package is not among this system's packages"
        fi
    done
    [ ${#wanted[@]} -eq 0 ] || apt_install "comparing compilers" "${wanted[@]}"
}

# Rust $1, and the llvm-profdata that belongs to it, which optimising by a profile needs.
install_rust() {
    local have components toolchain
    have="$(rustup toolchain list)"
    toolchain="$(awk -v release="${1%.*}." 'index($1, release) == 1 { found = $1 } END { print found }' <<<"$have")"
    if [ -z "$toolchain" ]; then
        say "installing Rust $1"
        rustup --quiet toolchain install "$1" --profile minimal --component llvm-tools </dev/null >&2 ||
            say "rustup could not install Rust $1, its message is above"
        return
    fi
    components="$(rustup component list --installed --toolchain "$toolchain")"
    [[ "$components" == *llvm-tools* ]] ||
        rustup --quiet component add llvm-tools --toolchain "$toolchain" </dev/null >&2 ||
        say "rustup could not add llvm-tools to Rust $toolchain, its message is above"
}

! command -v apt-cache >/dev/null || install_c_compilers
if command -v rustup >/dev/null; then
    for release in "${RUST_TOOLCHAINS[@]}"; do install_rust "$release"; done
else
    say "there is no rustup: only the Rust that is installed is compared; rustup.rs says how to get it"
fi

c_count=0
for compiler in "${C_COMPILERS[@]}"; do
    ! command -v "$compiler" >/dev/null || c_count=$((c_count + 1))
done
rust_count="$(rustup toolchain list 2>/dev/null | grep -c '^[0-9]' || true)"
say "$c_count C compilers and $rust_count Rust toolchains are here"
if [ "$c_count" -lt 5 ] || [ "$rust_count" -lt 3 ]; then
    say "the comparison is meant for five and three; it can be run with these"
    exit 1
fi
