#!/usr/bin/env bash
# testpmd.sh [--installed | --parts]: prints the path of a DPDK testpmd that runs on this system.
#
# If the system has none, the script unpacks one into the cache (20 MB). Debian's package of testpmd (dpdk-dev) would
# install two hundred other packages. The tests only send packets to software ports, for which two dozen suffice.
# --installed considers only the system's testpmd.
# --parts prints a program that is no script, for valgrind: its path, the folder of its libraries if the loader does not
# know it, and the plug-ins that it needs for a card, one in a line.
# The exit status is 2 if there is no testpmd. The last line gives the reason.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case "${1:-}" in
    '' | --installed | --parts) ;;
    *) fail "usage: testpmd.sh [--installed | --parts]" ;;
esac
PREFIX="$CACHE/testpmd"

# Prints what the first option asks for about the unpacked testpmd.
print_unpacked() {
    local libraries
    if [ "${1:-}" = --parts ]; then
        libraries="$(echo "$PREFIX"/root/usr/lib/*-linux-gnu)"
        printf '%s\n' "$PREFIX/root/usr/bin/dpdk-testpmd" "$libraries" "$(echo "$libraries"/librte_mempool_ring.so.*.0)"
    else
        echo "$PREFIX/dpdk-testpmd"
    fi
}

if command -v dpdk-testpmd; then exit 0; fi
[ "${1:-}" != --installed ] ||
    fail "this system has no dpdk-testpmd; on Debian and Ubuntu the package dpdk-dev contains it"

open_cache
if [ -e "$PREFIX/done" ]; then
    print_unpacked "$@"
    exit 0
fi
for command in apt-get apt-cache dpkg-deb ldd; do
    command -v "$command" >/dev/null ||
        fail "testpmd.sh needs $command to unpack Debian packages, and this system has no $command"
done

work="$PREFIX.new"
rm -rf "$work"
mkdir -p "$work/debs" "$work/root/usr/lib"
ln -s usr/lib "$work/root/lib" # some packages still use lib/
trap 'rm -rf "$work"' EXIT
libraries="$work/root/usr/lib/$(uname -m)-linux-gnu"

# unpack PACKAGE...: downloads and unpacks packages, without root.
unpack() {
    (cd "$work/debs" && rm -f ./*.deb && apt-get -qq download "$@" </dev/null 2>"$work/errors") || {
        cat "$work/errors" >&2
        fail "apt-get could not download: $*" "If its package lists are old, run: sudo apt-get update"
    }
    unpack_debs "$work/debs" "$work/root"
}

# package_of LIBRARY: prints the package of a library. Packages take the name of their library: librte-eal23 contains
# librte_eal.so.23, libpcap0.8 contains libpcap.so.0.8, and librte-common-mlx5-23 contains librte_common_mlx5.so.23.
# libmlx5 is an exception. Since Debian 13, some packages end with t64.
package_of() {
    local name="${1%%.so.*}" version="${1##*.so.}" package
    name="${name//_/-}"
    case "$name" in
        libmlx5) package=ibverbs-providers ;;
        *[0-9]) package="$name-$version" ;;
        *) package="$name$version" ;;
    esac
    apt-cache show "${package}t64" >/dev/null 2>&1 && package+=t64
    echo "$package"
}

say "unpacking testpmd (20 MB, once)"
unpack dpdk-dev
program="$work/root/usr/bin/dpdk-testpmd"
# The software ports are plug-ins, which ldd does not list.
major="$(ldd "$program" | sed -n 's/.*librte_eal\.so\.\([0-9]*\).*/\1/p' | head -n 1)"
[ -n "$major" ] || fail "cannot find the DPDK version of $program"
unpack "librte-net-null$major" "librte-net-ring$major" "librte-net-pcap$major" "librte-mempool-ring$major"
# A library may need other libraries, so the loop repeats until all are there.
for _ in 1 2 3 4 5 6 7 8; do
    mapfile -t missing < <(find "$program" "$libraries" -type f \( -name '*.so*' -o -name dpdk-testpmd \) \
        -exec env LD_LIBRARY_PATH="$libraries" ldd {} + 2>/dev/null | awk '/not found/ { print $1 }' | sort -u)
    [ ${#missing[@]} -gt 0 ] || break
    packages=()
    for library in "${missing[@]}"; do packages+=("$(package_of "$library")"); done
    unpack "${packages[@]}"
done
[ ${#missing[@]} -eq 0 ] || fail "testpmd still lacks ${missing[*]}"

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
rm -rf "$work/debs" "$work/errors"
touch "$work/done"
rm -rf "$PREFIX"
mv "$work" "$PREFIX"
trap - EXIT
print_unpacked "$@"
