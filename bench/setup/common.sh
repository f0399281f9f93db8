# Functions that the set-up scripts share: `. "$(dirname "$0")/common.sh"`.
# shellcheck shell=bash
# shellcheck source=bench/setup/versions.sh
. "$(dirname "${BASH_SOURCE[0]}")/versions.sh"

# The folder of downloads and builds that `make clean` keeps.
export CACHE="${TRIPTYCH_CACHE:-$HOME/.cache/triptych}"

# say MESSAGE...: prints one line per argument.
say() { printf 'setup: %s\n' "$@" >&2; }

# fail MESSAGE...: does the same and exits with 2, because the user has to act.
fail() {
    say "$@"
    exit 2
}

# Prints the prefix that runs a command as root. Fails if there is none.
# `sudo -n` never asks for a password, because the script may run without a terminal.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        echo ''
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        echo 'sudo'
    else
        return 1
    fi
}

# missing_packages PACKAGE...: prints those that are not installed. A command of a package's name may come from elsewhere. A
# system without dpkg has other names for the rest.
missing_packages() {
    local package installed
    installed=" $(dpkg-query --show --showformat='${Package}=${db:Status-Status} ' "$@" 2>/dev/null || true)"
    for package in "$@"; do
        command -v "$package" >/dev/null || [[ "$installed" == *" $package=installed "* ]] ||
            { ! command -v dpkg-query >/dev/null && ! [[ "$package" =~ ^(make|gcc|git|python3|valgrind)$ ]]; } ||
            echo "$package"
    done
}

# installed_rust RELEASE: prints rustup's name of an installed toolchain of that release, such as 1.85, or nothing.
installed_rust() {
    local list
    # The list is read to its end, because a program that writes to a closed pipe fails.
    list="$(rustup toolchain list 2>/dev/null || true)"
    awk -v release="$1" 'index($1, release ".") == 1 || index($1, release "-") == 1 { found = $1 } END { print found }' <<<"$list"
}

# add_toolchain RELEASE OPTION...: installs a Rust toolchain, if rustup can.
add_toolchain() {
    say "installing Rust $1"
    rustup --quiet toolchain install "$1" --profile minimal "${@:2}" </dev/null >&2 ||
        say "rustup could not install Rust $1, see the message above"
}

# add_target NAME: adds Rust's libraries for another machine.
add_target() {
    local libraries
    libraries="$(rustc --print target-libdir --target "$1" 2>/dev/null || true)"
    [ -z "$libraries" ] || [ ! -d "$libraries" ] || return 0
    command -v rustup >/dev/null ||
        fail "this Rust has no libraries for $1, and there is no rustup that could add them"
    say "adding Rust's libraries for $1"
    rustup --quiet target add "$1" </dev/null >&2 || fail "rustup could not add $1, see the message above"
}

# apt_install REASON PACKAGE...: announces and installs missing Debian packages.
apt_install() {
    local reason="$1" root
    shift
    if ! command -v apt-get >/dev/null; then
        fail "missing for $reason: $*" \
            "These are names of Debian packages, and this system has no apt-get." \
            "Install their equivalents, then run this again."
    fi
    if ! root="$(as_root)"; then
        fail "missing for $reason: $*" \
            "This user is not root and has no sudo without a password. Install the packages, then run this again:" \
            "    sudo apt-get install --no-install-recommends $*"
    fi
    say "installing Debian packages for $reason: $*"
    # A fresh machine or container has no package lists or old ones, so the script fetches them first.
    # shellcheck disable=SC2086  # $root is empty or one word
    if ! { $root apt-get -qq update &&
        $root env DEBIAN_FRONTEND=noninteractive \
            apt-get -qq -y --no-install-recommends install "$@" >/dev/null; } </dev/null; then
        fail "apt-get could not install: $*" "Its messages are above. Solve that problem, then run this again."
    fi
}

# unpack_debs FOLDER ROOT: unpacks the packages of a folder, without root.
unpack_debs() {
    local name
    # The links of a merged /usr put files of lib/x and of usr/lib/x into one folder.
    for name in bin sbin lib lib64; do
        mkdir -p "$2/usr/$name"
        ln -s "usr/$name" "$2/$name"
    done
    for name in "$1"/*.deb; do
        # tar can keep these links. dpkg-deb would replace them by folders.
        dpkg-deb --fsys-tarfile "$name" | tar -x --keep-directory-symlink --no-same-owner -C "$2"
    done
}

# Makes the cache unless it exists. Fails if another user could change the programs in it, because the project runs them.
open_cache() {
    [ -d "$CACHE" ] || (umask 077 && mkdir -p "$CACHE") || fail "cannot make the folder $CACHE, see the message above"
    if [ ! -O "$CACHE" ]; then
        fail "the folder $CACHE belongs to another user, who could change the programs in it" \
            "Name a folder of your own: TRIPTYCH_CACHE=FOLDER."
    elif [ -n "$(find -H "$CACHE" -maxdepth 0 -perm /002)" ]; then
        fail "all users may write to the folder $CACHE and change the programs in it" \
            "Take away that right: chmod o-w $CACHE"
    fi
}
