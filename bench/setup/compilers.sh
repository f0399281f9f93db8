#!/usr/bin/env bash
# Installs compilers to compare the drivers by: all of C that the system's packages have of a list, with what their
# profiles need, and Rust by rustup. Does nothing, quickly, if nothing is missing. What cannot be had is named.
# Ends with 0 if at least five C compilers and three Rust toolchains are there, otherwise with 1.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

C_COMPILERS=(gcc-11 gcc-12 gcc-13 gcc-14 clang-13 clang-14 clang-15 clang-16 clang-19 clang-22)
RUST_TOOLCHAINS=(1.85.1 1.90.0 1.95.0 1.96.0)

# Whether apt could install package $1.
offered() { apt-cache policy "$1" 2>/dev/null | grep -q '^ *Candidate: *[0-9]'; }

# The packages of compiler $1: for clang also LTO's plug-in, the run time of instrumented programs and what merges
# their profiles.
packages_of() {
    echo "$1"
    case "$1" in
        clang-*) printf '%s\n' "libclang-rt-${1#clang-}-dev" "llvm-${1#clang-}" "llvm-${1#clang-}-linker-tools" ;;
    esac
}

# Whether package $1 is installed.
installed() { dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }

missing=()
if command -v apt-cache >/dev/null; then
    for compiler in "${C_COMPILERS[@]}"; do
        if ! command -v "$compiler" >/dev/null && ! offered "$compiler"; then
            say "$compiler is not among this system's packages"
            continue
        fi
        while read -r package; do
            installed "$package" || ! offered "$package" || missing+=("$package")
        done < <(packages_of "$compiler")
    done
fi
[ ${#missing[@]} -eq 0 ] || apt_install "comparing compilers" "${missing[@]}"

if command -v rustup >/dev/null; then
    for toolchain in "${RUST_TOOLCHAINS[@]}"; do
        have="$(rustup toolchain list)"
        if ! grep -q "^${toolchain%.*}\.[0-9]" <<<"$have"; then
            say "installing Rust $toolchain"
            rustup --quiet toolchain install "$toolchain" --profile minimal --component llvm-tools </dev/null >&2 ||
                say "rustup could not install Rust $toolchain, its message is above"
        fi
    done
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
