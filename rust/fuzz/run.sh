#!/usr/bin/env bash
# Fuzzes the safe driver for SECONDS (default 1800) with libFuzzer and AddressSanitizer; more arguments go
# to libFuzzer. What it finds lies in build/fuzz/hostile_device/found/; new inputs worth keeping in
# build/fuzz/hostile_device/corpus/.
#
# Needs no nightly toolchain and no cargo-fuzz: RUSTC_BOOTSTRAP lets the usual compiler take the flags
# that cargo-fuzz would pass. With both installed, `cargo +nightly fuzz run hostile_device` does as well.
set -euo pipefail

seconds=${1:-1800}
shift || true
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
target=x86_64-unknown-linux-gnu
out=$root/build/fuzz/hostile_device
mkdir -p "$out/corpus" "$out/found"

coverage=(
	-Cpasses=sancov-module
	-Cllvm-args=-sanitizer-coverage-level=4
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters
	-Cllvm-args=-sanitizer-coverage-pc-table
	-Cllvm-args=-sanitizer-coverage-trace-compares
)
RUSTC_BOOTSTRAP=1 RUSTFLAGS="${coverage[*]} --cfg fuzzing -Zsanitizer=address -Ccodegen-units=1" \
	cargo build --quiet --locked --manifest-path "$here/Cargo.toml" --release --target "$target" \
	--target-dir "$root/build/fuzz/target" --bin hostile_device

# A large quarantine of freed memory would cost more time than it finds: pools are a megabyte each.
export ASAN_OPTIONS=quarantine_size_mb=1
exec "$root/build/fuzz/target/$target/release/hostile_device" -max_total_time="$seconds" -timeout=10 \
	-rss_limit_mb=2048 -max_len=1024 -artifact_prefix="$out/found/" "$@" "$out/corpus" "$here/corpus/hostile_device"
