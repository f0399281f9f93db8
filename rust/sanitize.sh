#!/usr/bin/env bash
# sanitize.sh address|thread|memcheck|miri...: the safe driver's unit tests (rings, pool, packets and a
# hostile device) under each of these. DMA memory is from the heap then (src/sys/memory_heap.rs), so that
# its end is known to the byte.
#
# address: needs no nightly toolchain, RUSTC_BOOTSTRAP lets the usual compiler take the flags.
# thread: needs a toolchain with the standard library's source, TOOLCHAIN (default nightly). It is built too:
# one that is not instrumented seems full of races, and to suppress those would suppress all.
# memcheck: needs valgrind. miri: needs a toolchain that has it, TOOLCHAIN.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
target=x86_64-unknown-linux-gnu
# What is outside the process (sockets, VFIO) is not the sanitizers' business, and Miri has none of it.
tests=(--lib -- --skip vfio::)

cargo_test() {
	cargo test --quiet --locked --manifest-path "$here/Cargo.toml" --features fuzzing "$@"
}

toolchain=${TOOLCHAIN:-nightly}

address() {
	RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer" \
		cargo_test --target "$target" --target-dir "$root/build/sanitize/address" "${tests[@]}"
}

thread() {
	local library
	library=$(rustc "+$toolchain" --print sysroot 2>/dev/null)/lib/rustlib/src/rust/library || true
	if [ ! -d "$library" ]; then
		echo "the standard library's source is not in this toolchain: rustup toolchain install $toolchain --component rust-src" >&2
		return 2
	fi
	RUSTFLAGS=-Zsanitizer=thread cargo "+$toolchain" test --quiet -Zbuild-std --manifest-path "$here/Cargo.toml" \
		--features fuzzing --target "$target" --target-dir "$root/build/sanitize/thread" "${tests[@]}"
}

memcheck() {
	if ! command -v valgrind >/dev/null; then
		echo "valgrind is not installed: bench/setup/setup.sh test" >&2
		return 2
	fi
	# Fewer random inputs: it is slow.
	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite" \
		IXGBE_TEST_CASES=8 \
		cargo_test --target "$target" --target-dir "$root/build/sanitize/memcheck" "${tests[@]}" --test-threads=1
}

miri() {
	if ! cargo "+$toolchain" miri --version >/dev/null 2>&1; then
		echo "Miri is not in this toolchain: rustup +$toolchain component add miri" >&2
		return 2
	fi
	# The corpus is read from files, so Miri's isolation from the system is off.
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-strict-provenance ${MIRIFLAGS:-}" \
		cargo "+$toolchain" miri test --quiet --locked --manifest-path "$here/Cargo.toml" \
		--target-dir "$root/build/miri" "${tests[@]}"
}

[ $# -gt 0 ] || set -- address thread memcheck
for what in "$@"; do
	echo "== $what"
	case $what in
	address | thread | memcheck | miri) "$what" ;;
	*)
		echo "sanitize.sh: '$what' is none of address, thread, memcheck, miri" >&2
		exit 2
		;;
	esac
done
