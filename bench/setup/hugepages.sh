#!/usr/bin/env bash
# hugepages.sh [COUNT]: reserves 2 MiB huge pages for the drivers' packet buffers (default 256: 512 MiB).
# Needs root. The reservation is gone after a reboot. Without it the drivers use ordinary pages, and say so.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

count="${1:-256}"
[[ "$count" =~ ^[0-9]+$ ]] || fail "usage: hugepages.sh [COUNT], COUNT a number of 2 MiB pages"
file=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
[ -e "$file" ] || fail "this kernel has no 2 MiB huge pages ($file is missing)"
have="$(cat "$file")"
if [ "$have" -ge "$count" ]; then
    say "$have huge pages of 2 MiB are reserved already"
    exit 0
fi
root="$(as_root)" || fail "reserving huge pages needs root: sudo $0 $count"
say "reserving $count huge pages of 2 MiB ($((count * 2)) MiB of memory that nothing else can use), until the next reboot"
echo "$count" | $root tee "$file" >/dev/null || fail "could not write to $file: is this a container?"
have="$(cat "$file")"
[ "$have" -ge "$count" ] ||
    fail "the kernel found only $have of $count pages: memory is too fragmented or too small. Try after a reboot, or fewer: $0 $have"
