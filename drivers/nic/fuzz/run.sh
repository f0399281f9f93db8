#!/usr/bin/env bash
# Fuzzes the NIC for SECONDS (default 1800) with libFuzzer and AddressSanitizer; more arguments go to
# libFuzzer. What it finds lies in build/fuzz/; new inputs worth keeping in build/fuzz/corpus/.
#
# Needs no nightly toolchain and no cargo-fuzz: RUSTC_BOOTSTRAP lets the usual compiler take the flags
# that cargo-fuzz would pass. With both installed, `cargo +nightly fuzz run vfio_user_peer` does as well.
set -euo pipefail

seconds=${1:-1800}
shift || true
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
target=x86_64-unknown-linux-gnu
out=$root/build/fuzz
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
	--target-dir "$out/target" --bin vfio_user_peer

# An input may take ten seconds, not more: nothing may hang.
exec "$out/target/$target/release/vfio_user_peer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
	-max_len=4096 -artifact_prefix="$out/found/" "$@" "$out/corpus" "$here/corpus/vfio_user_peer"
