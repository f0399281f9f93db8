#!/usr/bin/env bash
# hugepages.sh [COUNT]: reserves huge pages of 2 MiB for the drivers' packet buffers (default 256, which is 512 MiB).
#
# The script needs root. A reboot ends the reservation. Without huge pages, the drivers use ordinary pages and warn.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

count="${1:-256}"
[[ "$count" =~ ^[0-9]+$ ]] || fail "usage: hugepages.sh [COUNT], where COUNT is a number of 2 MiB pages"
file=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
[ -e "$file" ] || fail "this kernel has no 2 MiB huge pages ($file is missing)"
have="$(cat "$file")"
if [ "$have" -ge "$count" ]; then
    say "$have huge pages of 2 MiB are already reserved"
    exit 0
fi
root="$(as_root)" || fail "reserving huge pages needs root: sudo $0 $count"
say "reserving $count huge pages of 2 MiB until the next reboot; they take $((count * 2)) MiB from all other programs"
echo "$count" | $root tee "$file" >/dev/null || fail "cannot write to $file: is this a container?"
have="$(cat "$file")"
[ "$have" -ge "$count" ] ||
    fail "the kernel found only $have of $count pages, because memory is too fragmented or too small" \
        "Try again after a reboot, or reserve fewer pages: $0 $have"
