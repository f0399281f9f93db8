#!/usr/bin/env bash
# sanitize.sh [--quick] address|thread|memcheck|miri...: runs the safe driver's unit tests under each of these tools.
#
# The tests cover rings, pool, packets and a hostile device. In these runs the driver's DMA memory comes from the heap
# (src/sys/memory_heap.rs), so the tools know the exact end of each buffer. `thread` also runs the threaded tests of the
# software NIC.
#
# --quick uses few random inputs. A tool that cannot run here is then no error, and the end of the output names it.
#
# address needs the compiler's runtime library for AddressSanitizer, but no nightly toolchain (see sanitize-rustc.sh).
# memcheck needs valgrind.
# thread needs a toolchain with the source of the standard library, TOOLCHAIN (default nightly). The script builds that
#   library with instrumentation. Without instrumentation, ThreadSanitizer reports false races in the library, and
#   suppressing them would hide all races.
# miri needs a toolchain with Miri, TOOLCHAIN.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
cd "$root"
toolchain=${TOOLCHAIN:-nightly}
target=$(rustc -vV | sed -n 's/^host: //p')
driver=(--quiet --locked --package ixgbe --features ixgbe/fuzzing --lib)
# The tools skip tests of sockets and VFIO: sanitizers cannot see beyond the process, and Miri supports neither.
tests=(--skip vfio::)
# Backtraces would take most of the time in tests of panics.
export RUST_BACKTRACE=0

quick=false
if [ "${1:-}" = --quick ]; then
	quick=true
	shift
fi

# lacks_TOOL: prints the missing part and how to install it, or nothing if the tool can run.

lacks_address() {
	compgen -G "$(rustc --print target-libdir)/librustc-*asan.a" >/dev/null ||
		echo "the compiler has no runtime library for AddressSanitizer: install a toolchain with rustup"
}

lacks_memcheck() {
	command -v valgrind >/dev/null || echo "valgrind is not installed: bench/setup/setup.sh test"
}

lacks_thread() {
	local sysroot
	sysroot=$(rustc "+$toolchain" --print sysroot 2>/dev/null) || true
	[ -d "$sysroot/lib/rustlib/src/rust/library" ] ||
		echo "there is no toolchain '$toolchain' with the standard library's source: rustup toolchain install $toolchain --component rust-src"
}

lacks_miri() {
	cargo "+$toolchain" miri --version >/dev/null 2>&1 ||
		echo "there is no toolchain '$toolchain' with Miri: rustup toolchain install $toolchain --component miri"
}

# The runs share build/cargo with `make test ONLY=test-unit-rust`, so Cargo builds the dependencies once.

run_address() {
	! $quick || export IXGBE_TEST_CASES=64
	RUSTC_WORKSPACE_WRAPPER=$here/sanitize-rustc.sh cargo test --target-dir build/cargo "${driver[@]}" -- "${tests[@]}"
}

run_memcheck() {
	# valgrind is slow, so it runs few random inputs.
	IXGBE_TEST_CASES=64
	! $quick || IXGBE_TEST_CASES=4
	export IXGBE_TEST_CASES
	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite" \
		cargo test --target-dir build/cargo "${driver[@]}" -- "${tests[@]}" --test-threads=1
}

run_thread() {
	local instrumented=(cargo "+$toolchain" test -Zbuild-std --target "$target" --target-dir build/sanitize/thread)
	# rustix calls the C library instead of the kernel, so that ThreadSanitizer sees every mmap and munmap.
	export RUSTFLAGS="-Zsanitizer=thread --cfg=rustix_use_libc"
	"${instrumented[@]}" "${driver[@]}" -- "${tests[@]}"
	"${instrumented[@]}" --quiet --locked --package nic --test threads --test session
}

run_miri() {
	# proptest reads files, so Miri runs without isolation from the system.
	export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-strict-provenance ${MIRIFLAGS:-}"
	cargo "+$toolchain" miri test --target-dir build/miri "${driver[@]}" -- "${tests[@]}"
}

[ $# -gt 0 ] || set -- address thread memcheck
skipped=()
for tool in "$@"; do
	declare -F "run_$tool" >/dev/null || {
		echo "sanitize.sh: unknown tool '$tool': the tools are address, thread, memcheck and miri" >&2
		exit 2
	}
	echo "== $tool"
	lacking=$("lacks_$tool") || true
	if [ -z "$lacking" ]; then
		("run_$tool")
	elif $quick; then
		skipped+=("$tool ($lacking)")
	else
		echo "$lacking" >&2
		exit 2
	fi
done
if [ ${#skipped[@]} -gt 0 ]; then
	echo "skipped: $(printf '%s; ' "${skipped[@]}" | sed 's/; $//')"
fi
