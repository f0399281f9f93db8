#!/usr/bin/env bash
# Installs the missing tools for one or more of make's goals. If nothing is missing, it ends at once.
#
#   setup.sh build|peers|reproduce|apps|paper|cluster|test|lint...
#
# The list of Debian packages is in the Containerfile. The script announces what it installs with apt, as root or through
# sudo. Where it cannot, it lists the missing packages and exits with 2. The virtual environment is build/venv.
set -euo pipefail
here="$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=bench/setup/common.sh
. "$here/common.sh"
cd "$here/../.."

goals='build, peers, reproduce, apps, paper, cluster, test and lint'
[ $# -gt 0 ] || fail "usage: setup.sh GOAL...: the goals are $goals"
parts=(build)
requirements=(requirements.txt)
rust_options=()
for goal in "$@"; do
    case "$goal" in
        build) ;;
        peers) parts+=(peers) ;;
        reproduce) parts+=(peers python valgrind) ;;
        apps) parts+=(python valgrind apps) ;;
        paper) parts+=(python paper) ;;
        cluster) parts+=(python valgrind cluster) ;;
        test)
            parts+=(peers python valgrind paper apps test)
            requirements+=(requirements-dev.txt)
            ;;
        lint)
            parts+=(python lint)
            requirements+=(requirements-dev.txt)
            rust_options=(--lint)
            ;;
        *) fail "unknown goal '$goal': the goals are $goals" ;;
    esac
done
# Driver and software card share single pages of 4 KiB, and no kernel with larger pages can map these.
bytes="$(getconf PAGESIZE 2>/dev/null || echo 4096)"
[[ "$bytes" -eq 4096 || " ${parts[*]} " != *" valgrind "* ]] ||
    fail "the software card needs a kernel with pages of 4 KiB, and this one has pages of $((bytes / 1024)) KiB" \
        "On a Raspberry Pi 5, add the line 'kernel=kernel8.img' to /boot/firmware/config.txt and restart." \
        "In a virtual machine or container on an Apple computer, pages usually have 4 KiB."

# Prints the packages of these parts in the Containerfile.
packages() {
    awk -v parts=" $* " '
        $1 == "#" { sub(":", "", $2); wanted = index(parts, " " $2 " ") }
        /&&|^RUN|^$/ { wanted = 0 }
        wanted && $1 != "#" { for (i = 1; i <= NF; i++) if ($i != "\\") print $i }' Containerfile
}
mapfile -t wanted < <(packages "${parts[@]}")
mapfile -t lacking < <(missing_packages "${wanted[@]}")
[ ${#lacking[@]} -eq 0 ] || apt_install "make $*" "${lacking[@]}"
"$here/rust.sh" "${rust_options[@]}"
[[ " ${parts[*]} " != *" test "* ]] || "$here/msrv.sh" --install
[[ " ${parts[*]} " != *" python "* ]] || "$here/python.sh" build/venv "${requirements[@]/#/paper/}"
