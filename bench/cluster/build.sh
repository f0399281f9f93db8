#!/usr/bin/env bash
# build.sh ENVIRONMENT BUILD...: builds drivers by the compilers of an environment, and prints the folder for `--build-dir`.
#
# ENVIRONMENT is `default`, a C compiler such as gcc-12, or rust-RELEASE such as rust-1-90-0. A BUILD is named as
# `triptych run --list-cells` names it: c/default, rust/no-lto.
# A folder in build/cluster/parts/ is named after the content of sources and compiler, so that nothing is built twice.
# Each call builds in a folder of its own and then renames it: several nodes may share the project's folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ $# -ge 2 ] || { echo "usage: build.sh ENVIRONMENT IMPLEMENTATION/VARIANT..." >&2; exit 2; }
environment="$1" parts=build/cluster/parts
shift
cc=gcc
case "$environment" in
    default) ;;
    rust-*) RUSTUP_TOOLCHAIN="$(tr - . <<<"${environment#rust-}")" && export RUSTUP_TOOLCHAIN ;;
    *) cc="$environment" ;;
esac
fail() { echo "build.sh: $*" >&2; exit 1; }
command -v "$cc" >/dev/null || fail "this node has no $cc: install it, or take it from 'environs' in the configuration"

hash_of() { sha256sum | cut -c 1-16; }
# What each compiler is by its content. GCC's compiler proper is another program than its driver.
compiler_of() {
    if [ "$1" = c ]; then
        { cat "$(command -v "$cc")" "$("$cc" -print-prog-name=cc1)" 2>/dev/null || true; } | hash_of
    else
        { rustc --version --verbose && cat "$(rustc --print sysroot)"/lib/librustc_driver-*; } | hash_of
    fi
}
sources_of() { # also those that are not committed
    git ls-files --cached --others --exclude-standard -z -- Makefile Cargo.toml Cargo.lock c/src rust rust-unsafe \
        bench/forwarder-abi bench/ports-abi | sort -z | xargs -0 sha256sum | hash_of
}
sources="$(sources_of)"
# Cargo's folder, which no other node and no other compiler shares.
target="build/cluster/cargo-$environment-$(uname -n | hash_of)"
declare -A compiler=([c]="$(compiler_of c)") key_of=()

# part IMPLEMENTATION default|variants: prints the folder of these builds, after it has built them.
part() {
    local goal folder work settings=()
    [ -n "${compiler[$1]:-}" ] || compiler[$1]="$(compiler_of "$1")"
    folder="$parts/$1-$2-$(hash_of <<<"$sources ${compiler[$1]} ${TARGET_CPU:-}")"
    if [ ! -d "$folder" ]; then
        work="$(mktemp -d "$PWD/$parts/.new.XXXXXX")"
        settings=(INTO="$work" CC="$cc" DRIVER_TARGET="$target" VARIANTS="$work")
        goal="into-$1"
        [ "$2" = default ] || case "$1" in c) goal=variants-c ;; *) goal="$1-variants" ;; esac
        echo "build.sh: $goal for $environment" >&2
        make --no-print-directory "$goal" "${settings[@]}" >&2 || { rm -rf "$work"; fail "$goal failed, see above"; }
        # Another node may have built the same: its folder stays.
        mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work"
    fi
    echo "$folder"
}

mkdir -p "$parts"
links=()
for build in "$@"; do
    implementation="${build%%/*}" variant="${build#*/}"
    case "$implementation" in c | rust | rust-unsafe) ;; *) continue ;; esac # a peer: build/peers
    case "$variant" in
        default | stride | tuned | agent) kind=default into=bin ;;
        *) kind=variants into="variants/$variant" ;;
    esac
    name="$implementation $kind"
    [ -n "${key_of[$name]:-}" ] || key_of[$name]="$(part "$implementation" "$kind")"
    inside="${key_of[$name]}/$([ "$kind" = default ] || echo "$variant/")$implementation"
    # A variant that someone else put into build/variants is used as it is.
    [ -d "$inside" ] || inside="build/variants/$variant/$implementation"
    [ -d "$inside" ] || fail "there is no build $build: 'make variants' makes no such variant, and $inside is missing"
    links+=("$into/$implementation $inside")
done
mapfile -t links < <(printf '%s\n' "${links[@]}" | sort -u)
folder="build/cluster/$environment-$(printf '%s\n' "${links[@]}" | hash_of)"
if [ ! -d "$folder" ]; then
    work="$(mktemp -d "$PWD/build/cluster/.new.XXXXXX")"
    mkdir -p "$work/bin" "$work/variants"
    for program in build/bin/nic build/bin/libtriptych_bridge.so build/peers; do
        [ ! -e "$program" ] || ln -s "$PWD/$program" "$work/${program#build/}"
    done
    for link in "${links[@]}"; do
        mkdir -p "$(dirname "$work/${link% *}")"
        ln -s "$PWD/${link#* }" "$work/${link% *}"
    done
    mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work"
fi
echo "$folder"
