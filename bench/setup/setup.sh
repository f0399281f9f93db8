#!/usr/bin/env bash
# Installs the missing tools for one or more of make's goals. If nothing is missing, it ends at once.
#
#   setup.sh build         a C compiler, Rust
#   setup.sh peers         the tools of build, and git
#   setup.sh reproduce     the tools of build, Valgrind, Python and its packages for the tables
#   setup.sh paper         Python, its packages, and the libraries that write the report as PDF
#   setup.sh test          the tools of reproduce and paper, and Python's packages for tests and lint
#   setup.sh lint          the formatters and linters of all languages
#
# The script announces the Debian packages, then installs them with apt, as root or through sudo. Where it cannot, it
# lists the missing packages and exits with 2. The virtual environment is build/venv.
set -euo pipefail
here="$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=bench/setup/common.sh
. "$here/common.sh"
cd "$here/../.."

missing=()
# need COMMAND PACKAGE: notes the package if the command is missing.
need() { command -v "$1" >/dev/null || missing+=("$2"); }

need_build() {
    need make make
    need gcc gcc
    printf '#include <stdio.h>\n#include <linux/vfio.h>\n' | gcc -E - >/dev/null 2>&1 ||
        missing+=(libc6-dev linux-libc-dev)
    printf '#include <sqlite3.h>\n' | gcc -E - >/dev/null 2>&1 || missing+=(libsqlite3-dev)
}

need_python() {
    need python3 python3
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
}

# Driver and software card share single pages of 4 KiB, and no kernel with larger pages can map these.
need_small_pages() {
    local bytes
    bytes="$(getconf PAGESIZE 2>/dev/null || echo 4096)"
    [ "$bytes" -eq 4096 ] ||
        fail "the software card needs a kernel with pages of 4 KiB, and this one has pages of $((bytes / 1024)) KiB" \
            "On a Raspberry Pi 5, add the line 'kernel=kernel8.img' to /boot/firmware/config.txt and restart." \
            "In a virtual machine or container on an Apple computer, pages usually have 4 KiB."
}

need_reproduce() {
    need_small_pages
    need_build
    need git git
    need valgrind valgrind
    need_python
}

# WeasyPrint loads these libraries by name.
need_paper() {
    need_python
    python3 -c 'import ctypes; ctypes.CDLL("libpangoft2-1.0.so.0")' 2>/dev/null ||
        missing+=(libpango-1.0-0 libpangoft2-1.0-0)
}

# The clients of the applications. Debian's redis-tools also has the server's code, and starts no server.
need_clients() {
    need redis-benchmark redis-tools
    need wrk wrk
    need ab apache2-utils
    need curl curl
    need socat socat
}

# rebase-patches.sh uses patch, and vm.sh uses xz. The tests of networks use the rest.
need_test() {
    need_reproduce
    need_paper
    need unshare util-linux
    need ip iproute2
    need ping iputils-ping
    need capinfos tshark
    need tshark tshark
    need_clients
    need patch patch
    need xz xz-utils
}

need_lint() {
    need "clang-format-$CLANG" "clang-format-$CLANG"
    need "clang-tidy-$CLANG" "clang-tidy-$CLANG"
    need shellcheck shellcheck
    need_build
    need_python
}

[ $# -gt 0 ] || fail "usage: setup.sh build|peers|reproduce|apps|paper|test|lint..."
rust_options=()
requirements=()
for goal in "$@"; do
    case "$goal" in
        build) need_build ;;
        peers)
            need_build
            need git git
            ;;
        apps)
            need_build
            need unshare util-linux
            need ip iproute2
            need ping iputils-ping
            need valgrind valgrind
            need_clients
            need_python
            requirements+=(paper/requirements.txt)
            ;;
        reproduce)
            need_reproduce
            requirements+=(paper/requirements.txt)
            ;;
        paper)
            need_build
            need_paper
            requirements+=(paper/requirements.txt)
            ;;
        test)
            need_test
            requirements+=(paper/requirements.txt paper/requirements-dev.txt)
            ;;
        lint)
            need_lint
            rust_options=(--lint)
            requirements+=(paper/requirements.txt paper/requirements-dev.txt)
            ;;
        *) fail "unknown goal '$goal': the goals are build, peers, reproduce, apps, paper, test and lint" ;;
    esac
done

[ ${#missing[@]} -eq 0 ] || {
    mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
    apt_install "make $*" "${missing[@]}"
}
"$here/rust.sh" "${rust_options[@]}"
[[ " $* " != *" test "* ]] || "$here/msrv.sh" --install
[ ${#requirements[@]} -eq 0 ] || "$here/python.sh" build/venv "${requirements[@]}"
