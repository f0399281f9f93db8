#!/usr/bin/env bash
# fuzz.sh vfio_user_peer|hostile_device [SECONDS [ARGUMENT...]]: fuzzes the software NIC with hostile drivers, or the
# safe driver with hostile devices, for SECONDS (default 1800) with libFuzzer and AddressSanitizer; more arguments go
# to libFuzzer. What it finds lies in build/fuzz/TARGET/found/; new inputs worth keeping in build/fuzz/TARGET/corpus/.
#
# Needs no nightly toolchain and no cargo-fuzz: RUSTC_BOOTSTRAP lets the usual compiler take the flags that cargo-fuzz
# would pass. With both installed, `cargo +nightly fuzz run TARGET` in the target's folder does as well.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${1:-}
seconds=${2:-1800}
shift $(($# < 2 ? $# : 2))
# An input may take ten seconds, not more: nothing may hang.
options=(-timeout=10 "-max_total_time=$seconds")
case $target in
vfio_user_peer)
	folder=drivers/nic/fuzz
	options+=(-rss_limit_mb=4096 -max_len=4096)
	;;
hostile_device)
	folder=rust/fuzz
	options+=(-rss_limit_mb=2048 -max_len=1024)
	# A large quarantine of freed memory would cost more time than it finds: pools are a megabyte each.
	export ASAN_OPTIONS=quarantine_size_mb=1
	;;
*)
	echo "usage: fuzz.sh vfio_user_peer|hostile_device [SECONDS [ARGUMENT...]]" >&2
	exit 2
	;;
esac

platform=x86_64-unknown-linux-gnu
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
