#!/usr/bin/env bash
# Builds the C2Rust transpiler, about five minutes on two cores, and prints where it is.
# Needed only to change rust-unsafe/: its generated sources are checked in.
#
# Everything that decides what C2Rust emits is pinned here: its own version and LLVM's major version.
# `cargo install c2rust` alone would clone tinycbor from the network with CMake in the middle of the build;
# so tinycbor, and the exporter that uses it, are built here from packages, and handed to the build.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=0.22.1
LLVM=19
PREFIX="$CACHE/c2rust-$VERSION-llvm$LLVM"

case "${1:-}" in
    '') ;;
    --path) # where it is, or would be; installs nothing
        echo "$PREFIX/bin/c2rust"
        exit 0
        ;;
    *) fail "usage: c2rust.sh [--path]" ;;
esac

if [ -x "$PREFIX/bin/c2rust" ]; then
    echo "$PREFIX/bin/c2rust"
    exit 0
fi

missing=()
[ -x "/usr/bin/llvm-config-$LLVM" ] || missing+=("llvm-$LLVM-dev")
[ -e "/usr/lib/llvm-$LLVM/include/clang/AST/AST.h" ] || missing+=("libclang-$LLVM-dev")
[ -x "/usr/bin/clang-$LLVM" ] || missing+=("clang-$LLVM")
command -v g++ >/dev/null || missing+=(g++)
command -v xz >/dev/null || missing+=(xz-utils)
[ ${#missing[@]} -eq 0 ] || apt_install "building c2rust (about 1 GB)" "${missing[@]}"
"$(dirname "${BASH_SOURCE[0]}")/rust.sh"

work="$PREFIX/work"
rm -rf "$work"
mkdir -p "$work/lib" "$work/include/tinycbor"

# tinycbor: Debian 12 has no package of it, but Qt's source package carries it, in every Debian and Ubuntu
# that has LLVM 19. The lists of source packages are kept apart from the system's, so this needs no root.
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

# The exporter: the C++ half of C2Rust. Its source is in the crate; cargo says where.
say "building c2rust $VERSION against LLVM $LLVM: some five minutes"
mkdir -p "$work/fetch/src"
touch "$work/fetch/src/lib.rs"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\nc2rust-ast-exporter = "=%s"\n[workspace]\n' \
    "$VERSION" >"$work/fetch/Cargo.toml"
exporter="$(cargo metadata --quiet --format-version 1 --manifest-path "$work/fetch/Cargo.toml" |
    grep -o '"manifest_path":"[^"]*/c2rust-ast-exporter-[^"]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4)"
exporter="$(dirname "$exporter")/src"
llvm_root="/usr/lib/llvm-$LLVM"
for part in AstExporter FloatingLexer ExportResult; do
    g++ -std=c++17 -O2 -DNDEBUG -fPIC -fno-rtti -D_GNU_SOURCE \
        -D__STDC_CONSTANT_MACROS -D__STDC_FORMAT_MACROS -D__STDC_LIMIT_MACROS \
        "-DCLANG_BIN_PATH=\"$llvm_root/bin\"" '-DCLANG_LIBDIR_SUFFIX=""' \
        "-DCLANG_VERSION_STRING=\"$("llvm-config-$LLVM" --version)\"" \
        "-I$work/include" "-I$llvm_root/include" -c "$exporter/$part.cpp" -o "$work/$part.o"
done
ar rcs "$work/lib/libclangAstExporter.a" "$work"/{AstExporter,FloatingLexer,ExportResult}.o

LLVM_CONFIG_PATH="/usr/bin/llvm-config-$LLVM" LIBCLANG_PATH="$llvm_root/lib" CLANG_PATH="/usr/bin/clang-$LLVM" \
    TINYCBOR_DIR="$work" C2RUST_AST_EXPORTER_LIB_DIR="$work/lib" \
    cargo install c2rust --version "$VERSION" --locked --quiet \
    --root "$PREFIX" --target-dir "$work/target" >&2
rm -rf "$work"
echo "$PREFIX/bin/c2rust"
