#!/usr/bin/env bash
# Installs the compilers that `make compilers` compares: C from the system's packages, Rust from rustup. It also installs
# the tools that profile-guided optimisation needs, and names each compiler that it cannot install.
#
# The exit status is 0 with at least five C compilers and three Rust toolchains, otherwise 1.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_c_compilers() {
    local compiler package root lacking packages=() wanted=()
    for compiler in "${C_COMPILERS[@]}"; do
        packages+=("$compiler")
        # The LTO plug-in, the run time of instrumented programs, and the tool that merges their profiles.
        [[ "$compiler" != clang-* ]] || packages+=("libclang-rt-${compiler#*-}-dev" llvm-"${compiler#*-}"{,-linker-tools})
    done
    mapfile -t lacking < <(missing_packages "${packages[@]}")
    [ ${#lacking[@]} -gt 0 ] || return 0
    # A fresh machine has no package lists or old ones.
    if root="$(as_root)"; then
        # shellcheck disable=SC2086  # $root is empty or one word
        $root apt-get -qq update </dev/null || say "apt-get could not fetch the package lists, see the message above"
    fi
    for package in "${lacking[@]}"; do
        if [[ "$(apt-cache policy "$package" 2>/dev/null)" =~ Candidate:\ *[0-9] ]]; then
            wanted+=("$package")
        elif [[ " ${C_COMPILERS[*]} " == *" $package "* ]]; then
            # The script reports only compilers, because some versions have their tools in another package.
            say "this system's packages do not include $package"
        fi
    done
    [ ${#wanted[@]} -eq 0 ] || apt_install "comparing compilers" "${wanted[@]}"
}

# install_rust RELEASE: installs the toolchain and its llvm-profdata.
install_rust() {
    local toolchain
    toolchain="$(installed_rust "${1%.*}")"
    if [ -z "$toolchain" ]; then
        add_toolchain "$1" --component llvm-tools
    elif [[ "$(rustup component list --installed --toolchain "$toolchain")" != *llvm-tools* ]]; then
        rustup --quiet component add llvm-tools --toolchain "$toolchain" </dev/null >&2 ||
            say "rustup could not add llvm-tools to Rust $toolchain, see the message above"
    fi
}

! command -v apt-cache >/dev/null || install_c_compilers
if command -v rustup >/dev/null; then
    for release in "${RUST_TOOLCHAINS[@]}"; do install_rust "$release"; done
else
    say "there is no rustup (https://rustup.rs), so the comparison uses only the installed Rust"
fi

c_count="$(command -v "${C_COMPILERS[@]}" | wc -l || true)"
rust_count="$(rustup toolchain list 2>/dev/null | grep -c '^[0-9]' || true)"
say "$c_count C compilers and $rust_count Rust toolchains are installed"
if [ "$c_count" -lt 5 ] || [ "$rust_count" -lt 3 ]; then
    say "the comparison needs five and three to show a trend, but it also runs with these"
    exit 1
fi
