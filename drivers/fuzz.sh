#!/usr/bin/env bash
# fuzz.sh vfio_user_peer|hostile_device [SECONDS [ARGUMENT...]]: runs a fuzzer for SECONDS (default 1800).
#
# vfio_user_peer fuzzes the software NIC with hostile drivers. hostile_device fuzzes the safe driver with hostile
# devices. Both use libFuzzer and AddressSanitizer. All further arguments go to libFuzzer.
# Inputs that break the target go to build/fuzz/TARGET/found/. Inputs that reach new code go to
# build/fuzz/TARGET/corpus/.
#
# The script needs neither a nightly toolchain nor cargo-fuzz. With RUSTC_BOOTSTRAP, the stable compiler accepts the
# flags that cargo-fuzz would pass. With both installed, `cargo +nightly fuzz run TARGET` in the target's folder is
# equivalent.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-}
seconds=${2:-1800}
shift $(($# < 2 ? $# : 2))
# An input that takes more than ten seconds is a failure, because the target must not hang.
options=(-timeout=10 "-max_total_time=$seconds")
case $target in
vfio_user_peer)
	folder=drivers/nic/fuzz
	options+=(-rss_limit_mb=4096 -max_len=4096)
	;;
hostile_device)
	folder=rust/fuzz
	options+=(-rss_limit_mb=2048 -max_len=1024)
	# Each pool has a megabyte. A large quarantine of freed memory would cost much time and find few errors.
	export ASAN_OPTIONS=quarantine_size_mb=1
	;;
*)
	echo "usage: fuzz.sh vfio_user_peer|hostile_device [SECONDS [ARGUMENT...]]" >&2
	exit 2
	;;
esac

platform=$(rustc -vV | sed -n 's/^host: //p')
out=build/fuzz/$target
mkdir -p "$out/corpus" "$out/found"
coverage=(
	-Cpasses=sancov-module
	-Cllvm-args=-sanitizer-coverage-level=4
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters
	-Cllvm-args=-sanitizer-coverage-pc-table
	-Cllvm-args=-sanitizer-coverage-trace-compares
)
RUSTC_BOOTSTRAP=1 RUSTFLAGS="${coverage[*]} --cfg fuzzing -Zsanitizer=address -Ccodegen-units=1" \
	cargo build --quiet --locked --manifest-path "$folder/Cargo.toml" --release --target "$platform" \
	--target-dir build/fuzz/target --bin "$target"
exec "build/fuzz/target/$platform/release/$target" "${options[@]}" "-artifact_prefix=$out/found/" "$@" \
	"$out/corpus" "$folder/corpus/$target"
