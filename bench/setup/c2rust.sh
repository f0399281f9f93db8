#!/usr/bin/env bash
# c2rust.sh [--path]: builds the C2Rust transpiler in about five minutes on two cores, and prints its path.
#
# --path prints the path that the program has or would have, and installs nothing.
# Only a change of rust-unsafe/ needs C2Rust, because git holds the generated sources.
# `cargo install c2rust` alone would clone tinycbor with CMake during the build. This script builds tinycbor and the
# exporter that uses it from packages, then hands both to the build.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

PREFIX="$CACHE/c2rust-$C2RUST-llvm$C2RUST_LLVM"

[[ "${1:-}" =~ ^(--path)?$ ]] || fail "usage: c2rust.sh [--path]"
[ "${1:-}" = --path ] || open_cache
if [ "${1:-}" = --path ] || [ -x "$PREFIX/bin/c2rust" ]; then
    echo "$PREFIX/bin/c2rust"
    exit 0
fi

mapfile -t missing < <(missing_packages "llvm-$C2RUST_LLVM-dev" "libclang-$C2RUST_LLVM-dev" "clang-$C2RUST_LLVM" g++ xz-utils)
[ ${#missing[@]} -eq 0 ] || apt_install "building c2rust (about 1 GB)" "${missing[@]}"
"$(dirname "${BASH_SOURCE[0]}")/rust.sh"

work="$PREFIX/work"
rm -rf "$work"
mkdir -p "$work/lib" "$work/include/tinycbor"

# Debian 12 has no package of tinycbor. Qt's source package contains tinycbor in every Debian and Ubuntu with LLVM 19.
# The script keeps the lists of source packages in its own folder, so it needs no root.
say "fetching tinycbor's source (inside Qt's source package, 46 MB)"
mkdir -p "$work/apt/lists/partial" "$work/apt/sources"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -e "$list" ] || continue
    sed -E 's/^deb /deb-src /; s/^Types:.*/Types: deb-src/' "$list" >"$work/apt/sources/${list##*/}"
done
own_lists=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/apt/sources"
    -o "Dir::State::Lists=$work/apt/lists" -o "APT::Sandbox::User=root")
apt-get -qq "${own_lists[@]}" update
(cd "$work/apt" && apt-get -qq "${own_lists[@]}" source --download-only qt6-base)
tar -xf "$work"/apt/qt6-base_*.orig.tar.xz -C "$work/apt" --wildcards --strip-components=4 '*/src/3rdparty/tinycbor/*'
for part in cborencoder cborerrorstrings; do
    gcc -O2 -fPIC -c "$work/apt/src/$part.c" -o "$work/$part.o"
done
ar rcs "$work/lib/libtinycbor.a" "$work"/cbor*.o
cp "$work"/apt/src/*.h "$work/include/tinycbor/"

# The exporter is the C++ half of C2Rust. Its source is in a crate, and cargo prints the crate's folder.
say "building c2rust $C2RUST against LLVM $C2RUST_LLVM (about five minutes)"
mkdir -p "$work/fetch/src"
touch "$work/fetch/src/lib.rs"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\nc2rust-ast-exporter = "=%s"\n[workspace]\n' \
    "$C2RUST" >"$work/fetch/Cargo.toml"
exporter="$(cargo metadata --quiet --format-version 1 --manifest-path "$work/fetch/Cargo.toml" |
    grep -o '"manifest_path":"[^"]*/c2rust-ast-exporter-[^"]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4)"
exporter="$(dirname "$exporter")/src"
llvm_root="/usr/lib/llvm-$C2RUST_LLVM"
for part in AstExporter FloatingLexer ExportResult; do
    g++ -std=c++17 -O2 -DNDEBUG -fPIC -fno-rtti -D_GNU_SOURCE \
        -D__STDC_CONSTANT_MACROS -D__STDC_FORMAT_MACROS -D__STDC_LIMIT_MACROS \
        "-DCLANG_BIN_PATH=\"$llvm_root/bin\"" '-DCLANG_LIBDIR_SUFFIX=""' \
        "-DCLANG_VERSION_STRING=\"$("llvm-config-$C2RUST_LLVM" --version)\"" \
        "-I$work/include" "-I$llvm_root/include" -c "$exporter/$part.cpp" -o "$work/$part.o"
done
ar rcs "$work/lib/libclangAstExporter.a" "$work"/{AstExporter,FloatingLexer,ExportResult}.o

LLVM_CONFIG_PATH="/usr/bin/llvm-config-$C2RUST_LLVM" LIBCLANG_PATH="$llvm_root/lib" CLANG_PATH="/usr/bin/clang-$C2RUST_LLVM" \
    TINYCBOR_DIR="$work" C2RUST_AST_EXPORTER_LIB_DIR="$work/lib" \
    cargo install c2rust --version "$C2RUST" --locked --quiet \
    --root "$PREFIX" --target-dir "$work/target" >&2
rm -rf "$work"
echo "$PREFIX/bin/c2rust"
