#!/usr/bin/env bash
# run.sh [PATCH...]: makes small mistakes in a copy of the tree, one at a time, and says which ones the tests find.
#
# The first lines of a patch say what is wrong, and which tests should notice. A mistake is found if the changed
# sources compile, and one of these tests fails. Without a mistake, all of them must pass.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$here/../../.."
tree="$PWD/build/mistakes"
[ $# -gt 0 ] || set -- "$here"/*.patch
cargo_test() { cargo test --quiet --target-dir build/cargo "$@"; }
# conformance DRIVER: what all drivers must do alike.
conformance() {
    cargo_test --release --package conformance --test data_path --test ending --test features --test hardware \
        --test memory --test pool_exhaustion --test register_trace -- "$1::"
}

# built TESTS: builds what these tests need.
built() {
    case "$1" in
    card) cargo_test --no-run --package nic ;;
    bridge) make --no-print-directory nic bridge && cargo_test --no-run --package bridge ;;
    *) make --no-print-directory nic "$1" && conformance none ;;
    esac
}

# passed TESTS: runs them.
passed() {
    case "$1" in
    card) cargo_test --package nic ;;
    bridge) cargo_test --package bridge ;;
    c) make --no-print-directory c-tests && run_each build/c/tests/* && conformance c ;;
    rust) cargo_test --package ixgbe && conformance rust ;;
    rust-unsafe) conformance rust_unsafe ;;
    *) echo "$1: no such tests" >&2 && exit 2 ;;
    esac
}
run_each() { for program in "$@"; do [ ! -x "$program" ] || "$program" || return 1; done; }

mkdir -p "$tree"
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -r {} +
git ls-files -z | xargs -0 cp --parents --no-dereference --preserve=mode,timestamps --target-directory "$tree"
mkdir -p "$tree/build"
ln -sfn "$PWD/build/venv" "$tree/build/venv"
log="$PWD/build/logs/mistakes.log"
mkdir -p "$(dirname "$log")"
cd "$tree"
# git then applies a patch here, and not to the repository around.
export GIT_CEILING_DIRECTORIES="${tree%/*}"
# An earlier run has left builds with mistakes, which are newer than the copied sources.
git apply --numstat "$here"/*.patch | cut --fields 3 | xargs touch
: >"$log"
mapfile -t groups < <(sed -n 's/^Tests: //p' "$@" | sort -u)
for tests in "${groups[@]}"; do
    { built "$tests" && passed "$tests"; } >>"$log" 2>&1 || { echo "the tests of $tests fail without a mistake: see $log" >&2; exit 1; }
done
missed=0
for patch in "$@"; do
    tests="$(sed -n 's/^Tests: //p' "$patch")"
    git apply "$patch"
    if ! built "$tests" >>"$log" 2>&1; then
        echo "$(basename "$patch") does not compile: see $log" >&2
        exit 1
    fi
    if passed "$tests" >>"$log" 2>&1; then verdict=MISSED missed=$((missed + 1)); else verdict=found; fi
    printf '%-7s %-34s %s\n' "$verdict" "$(basename "$patch" .patch)" "$(head -n 1 "$patch")"
    git apply --reverse "$patch"
done
echo "$(($# - missed)) of $# mistakes found"
[ "$missed" -eq 0 ]
