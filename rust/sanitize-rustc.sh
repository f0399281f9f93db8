#!/usr/bin/env bash
# The compiler, for sanitize.sh (as cargo's RUSTC_WORKSPACE_WRAPPER): the workspace's own code is instrumented,
# and what it depends on is as it was built before. RUSTC_BOOTSTRAP lets the usual compiler take the flag.
set -euo pipefail
flags=(-Zsanitizer=address)
# Newer compilers refuse to mix without this; those before 1.90 do not know it.
if "$1" -C help | grep -q unsafe-allow-abi-mismatch; then
	flags+=(-Cunsafe-allow-abi-mismatch=sanitizer)
fi
RUSTC_BOOTSTRAP=1 exec "$@" "${flags[@]}"
