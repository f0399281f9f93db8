#!/usr/bin/env bash
# fuzz.sh TARGET [SECONDS [ARGUMENT...]]: runs a fuzzer for SECONDS (default 1800).
#
#   vfio_user_peer          the software NIC with hostile drivers
#   vfio_user_stream        the message parser of the software NIC, with any bytes
#   hostile_device          the safe driver with hostile devices
#   vfio_user_server_c      the message parser of the C driver, with hostile servers
#   vfio_user_server_rust   the message parser of the safe driver, with hostile servers
#   kv_requests             the key-value store, with any bytes
#   http_requests           the HTTP parser, with any bytes
#   node_frames             the node, with any datagrams
#
# All use libFuzzer and AddressSanitizer, the C driver also UBSan. All further arguments go to libFuzzer.
# Inputs that break the target go to build/fuzz/TARGET/found/. Inputs that reach new code go to
# build/fuzz/TARGET/corpus/.
#
# The script needs neither a nightly toolchain nor cargo-fuzz. With RUSTC_BOOTSTRAP, the stable compiler accepts the
# flags that cargo-fuzz would pass.
set -euo pipefail
cd "$(dirname "$0")/.."

targets=(vfio_user_peer vfio_user_stream hostile_device vfio_user_server_c vfio_user_server_rust
	kv_requests http_requests node_frames)
target=${1:-}
seconds=${2:-1800}
shift $(($# < 2 ? $# : 2))
# An input that takes more than ten seconds is a failure, because the target must not hang.
options=(-timeout=10 "-max_total_time=$seconds")
case $target in
vfio_user_peer | vfio_user_stream)
	folder=drivers/conformance/fuzz
	package=(--package hostile-fuzz --features hostile-fuzz/fuzzer)
	options+=(-rss_limit_mb=4096 -max_len=4096)
	;;
hostile_device)
	folder=rust/fuzz
	package=(--manifest-path rust/Cargo.toml --features fuzzer)
	options+=(-rss_limit_mb=2048 -max_len=1024)
	# Each pool has a megabyte. A large quarantine of freed memory would cost much time and find few errors.
	export ASAN_OPTIONS=quarantine_size_mb=1
	;;
vfio_user_server_c | vfio_user_server_rust)
	folder=drivers/conformance/fuzz
	package=(--package hostile-fuzz --features hostile-fuzz/c-client)
	corpus=vfio_user_server
	options+=(-rss_limit_mb=2048 -max_len=1024)
	# shellcheck source=bench/setup/versions.sh
	. bench/setup/versions.sh
	export CC="clang-$CLANG"
	command -v "$CC" >/dev/null || {
		echo "fuzz.sh needs $CC, which compiles the C driver: install it, for example with \`make setup\`" >&2
		exit 2
	}
	;;
kv_requests | http_requests | node_frames)
	folder=bench/apps/fuzz
	options+=(-rss_limit_mb=2048 -max_len=4096)
	;;
*)
	echo "usage: fuzz.sh TARGET [SECONDS [ARGUMENT...]]; the targets are ${targets[*]}" >&2
	exit 2
	;;
esac

[ -n "${package+set}" ] || package=(--manifest-path "$folder/Cargo.toml")
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
	CARGO_PROFILE_RELEASE_DEBUG=1 CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true \
	cargo build --quiet --locked "${package[@]}" --release --target "$platform" --target-dir build/fuzz/target --bin "$target"
exec "build/fuzz/target/$platform/release/$target" "${options[@]}" "-artifact_prefix=$out/found/" "$@" \
	"$out/corpus" "$folder/corpus/${corpus:-$target}"
