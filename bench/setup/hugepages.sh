#!/usr/bin/env bash
# hugepages.sh [COUNT]: reserves huge pages of 2 MiB for packet buffers until the next reboot (default 256), as root.
#
# Without huge pages, the drivers use ordinary pages and warn.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

count="${1:-256}" file=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
[[ "$count" =~ ^[0-9]+$ ]] || fail "usage: hugepages.sh [COUNT], where COUNT is a number of 2 MiB pages"
[ -e "$file" ] || fail "this kernel has no 2 MiB huge pages ($file is missing)"
if [ "$(cat "$file")" -lt "$count" ]; then
    root="$(as_root)" || fail "reserving huge pages needs root: sudo $0 $count"
    echo "$count" | $root tee "$file" >/dev/null || fail "cannot write to $file: is this a container?"
fi
have="$(cat "$file")"
[ "$have" -ge "$count" ] ||
    fail "the kernel found only $have of $count pages, because memory is too fragmented or too small" \
        "Try again after a reboot, or reserve fewer pages: $0 $have"
say "$have huge pages of 2 MiB are reserved; they take $((have * 2)) MiB from all other programs"
