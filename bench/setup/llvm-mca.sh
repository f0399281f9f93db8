#!/usr/bin/env bash
# llvm-mca.sh [--installed]: prints the folder of llvm-mca and llvm-mc, and installs them if they are missing.
#
# The processor model takes from them what each instruction costs on a processor. Their tables change with LLVM's major
# version, so versions.sh pins it. LLVM has the licence "Apache-2.0 WITH LLVM-exception". Debian's packages llvm-22 and
# libllvm22 are 50 MB to download and 240 MB on disk. Compilers of `make compilers` share libllvm22.
# --installed installs nothing. TRIPTYCH_LLVM names a folder that the script takes in place of the usual ones.
# The exit status is 2 if the programs are not there. The last line then gives the way to get them.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
    '' | --installed) ;;
    *) fail "usage: llvm-mca.sh [--installed]" ;;
esac

# is_right FOLDER: succeeds if the folder has both programs in the pinned version.
is_right() {
    local program
    for program in llvm-mca llvm-mc; do
        [ -x "$1/$program" ] || return 1
        [[ "$("$1/$program" --version 2>/dev/null)" == *"LLVM version $LLVM_MCA."* ]] || return 1
    done
}

# Prints the folder of the programs, if there is one.
find_programs() {
    local found folder folders=("/usr/lib/llvm-$LLVM_MCA/bin")
    if [ -n "${TRIPTYCH_LLVM:-}" ]; then
        folders=("$TRIPTYCH_LLVM")
    elif found="$(command -v llvm-mca)"; then
        folders+=("$(dirname "$found")")
    fi
    for folder in "${folders[@]}"; do
        if is_right "$folder"; then
            echo "$folder"
            return 0
        fi
    done
    return 1
}

if find_programs; then exit 0; fi
[ -z "${TRIPTYCH_LLVM:-}" ] ||
    fail "TRIPTYCH_LLVM=$TRIPTYCH_LLVM has no llvm-mca and llvm-mc of LLVM $LLVM_MCA: name the folder bin/ of that version"
[ "${1:-}" != --installed ] ||
    fail "there is no llvm-mca of LLVM $LLVM_MCA; bench/setup/llvm-mca.sh installs it"

if command -v apt-cache >/dev/null &&
    ! [[ "$(apt-cache policy "llvm-$LLVM_MCA" 2>/dev/null)" =~ Candidate:\ *[0-9] ]] && root="$(as_root)"; then
    # A fresh machine has no package lists or old ones.
    # shellcheck disable=SC2086  # $root is empty or one word
    $root apt-get -qq update </dev/null || say "apt-get could not fetch the package lists, see the message above"
fi
if command -v apt-cache >/dev/null &&
    ! [[ "$(apt-cache policy "llvm-$LLVM_MCA" 2>/dev/null)" =~ Candidate:\ *[0-9] ]]; then
    fail "this system's packages have no llvm-$LLVM_MCA, which the processor model needs" \
        "Unpack LLVM $LLVM_MCA from https://github.com/llvm/llvm-project/releases, then set TRIPTYCH_LLVM=FOLDER/bin."
fi
apt_install "the processor model (50 MB)" "llvm-$LLVM_MCA"
find_programs || fail "the package llvm-$LLVM_MCA has no llvm-mca in /usr/lib/llvm-$LLVM_MCA/bin"
