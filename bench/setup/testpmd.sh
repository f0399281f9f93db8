#!/usr/bin/env bash
# testpmd.sh [--parts]: prints the path of a DPDK testpmd that runs on this system.
#
# If the system has none, the script unpacks one into the cache (30 MB). Debian's package of testpmd (dpdk-dev) would
# install two hundred other packages, of which the program needs half.
# --parts prints a program that is no script, for valgrind: its path, the folder of its libraries if the loader does not
# know it, and the plug-ins that it needs for a card, one in a line.
# The exit status is 2 if there is no testpmd. The last line gives the reason.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[[ "${1:-}" =~ ^(--parts)?$ ]] || fail "usage: testpmd.sh [--parts]"
PREFIX="$CACHE/testpmd"
if command -v dpdk-testpmd; then exit 0; fi
open_cache

# Unpacks testpmd into $PREFIX.
unpack() {
    local libraries ports needed packages missing
    command -v apt-get >/dev/null ||
        fail "this system has no dpdk-testpmd, and no apt-get to fetch the package dpdk-dev, which contains it"
    # The program's libraries, the software ports, which are plug-ins, and what both need. Some names end with t64.
    libraries="$(apt-cache depends dpdk-dev | grep -o ' librte-.*' || true)"
    [[ "$libraries" =~ librte-eal([0-9]+) ]] ||
        fail "apt-get knows no package of testpmd. If its package lists are old, run: sudo apt-get update"
    ports="$(apt-cache pkgnames librte- | grep -E "^librte-(net-(null|ring|pcap)|mempool-ring)${BASH_REMATCH[1]}(t64)?$")"
    # shellcheck disable=SC2086  # each word is a package
    mapfile -t needed < <(apt-cache depends --recurse --important $libraries $ports |
        grep -E '^(lib|ibverbs)[^:]*$' | sort -u)
    mapfile -t packages < <(missing_packages dpdk-dev "${needed[@]}")

    say "unpacking testpmd (30 MB, once)"
    work="$PREFIX.new"
    rm -rf "$work"
    mkdir -p "$work/debs"
    trap 'rm -rf "$work"' EXIT
    (cd "$work/debs" && apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}" </dev/null >&2) ||
        fail "apt-get could not download the packages, see the message above" \
            "If its package lists are old, run: sudo apt-get update"
    unpack_debs "$work/debs" "$work/root"
    cat >"$work/dpdk-testpmd" <<'SCRIPT'
#!/bin/sh
# Runs this folder's testpmd with this folder's libraries and software ports.
here="$(dirname "$(readlink -f "$0")")/root"
libraries="$(echo "$here"/usr/lib/*-linux-gnu)"
export LD_LIBRARY_PATH="$libraries"
for plugin in net_null net_ring net_pcap mempool_ring; do
    set -- -d "$(echo "$libraries/librte_$plugin".so.*.0)" "$@"
done
exec "$here/usr/bin/dpdk-testpmd" "$@"
SCRIPT
    chmod +x "$work/dpdk-testpmd"
    missing="$("$work/dpdk-testpmd" -v --help 2>&1 >/dev/null)" || fail "testpmd does not run here: $missing"
    rm -rf "$work/debs"
    rm -rf "$PREFIX"
    mv "$work" "$PREFIX"
    trap - EXIT
}

[ -x "$PREFIX/dpdk-testpmd" ] || unpack
if [ "${1:-}" = --parts ]; then
    libraries="$(echo "$PREFIX"/root/usr/lib/*-linux-gnu)"
    printf '%s\n' "$PREFIX/root/usr/bin/dpdk-testpmd" "$libraries" "$(echo "$libraries"/librte_mempool_ring.so.*.0)"
else
    echo "$PREFIX/dpdk-testpmd"
fi
