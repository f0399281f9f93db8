#!/usr/bin/env bash
# A compiler with a sanitizer: SANITIZER, or else address. sanitize.sh and the Makefile name it to Cargo as
# RUSTC_WORKSPACE_WRAPPER. It instruments only the workspace's own code, so Cargo reuses its builds of the dependencies. With RUSTC_BOOTSTRAP, the stable compiler accepts the flag.
set -euo pipefail
flags=("-Zsanitizer=${SANITIZER:-address}")
# Newer compilers refuse to mix without this; those before 1.90 do not know it.
if "$1" -C help | grep -q unsafe-allow-abi-mismatch; then
	flags+=(-Cunsafe-allow-abi-mismatch=sanitizer)
fi
RUSTC_BOOTSTRAP=1 exec "$@" "${flags[@]}"
