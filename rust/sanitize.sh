#!/usr/bin/env bash
# sanitize.sh [--quick] address|thread|memcheck|miri...: the safe driver's unit tests (rings, pool, packets and a
# hostile device) under each of these, and under thread also the software NIC's, where threads meet. The driver's
# DMA memory is from the heap then (src/sys/memory_heap.rs), so that its end is known to the byte.
#
# --quick: few random inputs. What cannot run here is named at the end and is no error.
#
# address: the compiler's runtime library for it; no nightly toolchain, see sanitize-rustc.sh.
# memcheck: valgrind.
# thread: a toolchain with the standard library's source, TOOLCHAIN (default nightly). It is built too: one that
#   is not instrumented seems full of races, and to suppress those would suppress all.
# miri: a toolchain that has it, TOOLCHAIN.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
cd "$root"
toolchain=${TOOLCHAIN:-nightly}
target=x86_64-unknown-linux-gnu
driver=(--quiet --locked --package ixgbe --features ixgbe/fuzzing --lib)
# What is outside the process (sockets, VFIO) is not the sanitizers' business, and Miri has none of it.
tests=(--skip vfio::)
# Tests of panics would spend their time on these.
export RUST_BACKTRACE=0

quick=false
if [ "${1:-}" = --quick ]; then
	quick=true
	shift
fi

# lacks_WHAT: what is missing here for it, and the mend; nothing if nothing is.

lacks_address() {
	compgen -G "$(rustc --print target-libdir)/librustc-*asan.a" >/dev/null ||
		echo "the compiler has no runtime library for AddressSanitizer: use a toolchain of rustup's"
}

lacks_memcheck() {
	command -v valgrind >/dev/null || echo "valgrind is not installed: bench/setup/setup.sh test"
}

lacks_thread() {
	local sysroot
	sysroot=$(rustc "+$toolchain" --print sysroot 2>/dev/null) || true
	[ -d "$sysroot/lib/rustlib/src/rust/library" ] ||
		echo "no toolchain '$toolchain' with the standard library's source: rustup toolchain install $toolchain --component rust-src"
}

lacks_miri() {
	cargo "+$toolchain" miri --version >/dev/null 2>&1 ||
		echo "no toolchain '$toolchain' with Miri: rustup toolchain install $toolchain --component miri"
}

# The dependencies are those of `make test-unit-rust`, as they lie there.

run_address() {
	! $quick || export IXGBE_TEST_CASES=64
	RUSTC_WORKSPACE_WRAPPER=$here/sanitize-rustc.sh cargo test --target-dir build/cargo "${driver[@]}" -- "${tests[@]}"
}

run_memcheck() {
	# It is slow.
	IXGBE_TEST_CASES=64
	! $quick || IXGBE_TEST_CASES=4
	export IXGBE_TEST_CASES
	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite" \
		cargo test --target-dir build/cargo "${driver[@]}" -- "${tests[@]}" --test-threads=1
}

run_thread() {
	local instrumented=(cargo "+$toolchain" test -Zbuild-std --target "$target" --target-dir build/sanitize/thread)
	# System calls through the C library: ThreadSanitizer must see what is mapped and unmapped.
	export RUSTFLAGS="-Zsanitizer=thread --cfg=rustix_use_libc"
	"${instrumented[@]}" "${driver[@]}" -- "${tests[@]}"
	# What it forwards in its time is too much with every access checked.
	"${instrumented[@]}" --quiet --locked --package nic --test threads --test session -- --skip in_full_traffic
}

run_miri() {
	# The corpus is read from files, so Miri's isolation from the system is off.
	export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-strict-provenance ${MIRIFLAGS:-}"
	cargo "+$toolchain" miri test --target-dir build/miri "${driver[@]}" -- "${tests[@]}"
}

[ $# -gt 0 ] || set -- address thread memcheck
skipped=()
for what in "$@"; do
	case $what in
	address | thread | memcheck | miri) ;;
	*)
		echo "sanitize.sh: '$what' is none of address, thread, memcheck, miri" >&2
		exit 2
		;;
	esac
	echo "== $what"
	lacking=$("lacks_$what") || true
	if [ -z "$lacking" ]; then
		("run_$what")
	elif $quick; then
		skipped+=("$what ($lacking)")
	else
		echo "$lacking" >&2
		exit 2
	fi
done
if [ ${#skipped[@]} -gt 0 ]; then
	echo "skipped: $(printf '%s; ' "${skipped[@]}" | sed 's/; $//')"
fi
