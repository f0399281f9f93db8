# Shared by the set-up scripts: `. "$(dirname "$0")/common.sh"`.
# shellcheck shell=bash

# What is downloaded or built once and outlives `make clean`.
export CACHE="${TRIPTYCH_CACHE:-$HOME/.cache/triptych}"

say() { printf 'setup: %s\n' "$*" >&2; }

# fail MESSAGE...: one line per argument, then exit 2 (something a person must put right).
fail() {
    local line
    for line in "$@"; do say "$line"; done
    exit 2
}

# Prints the prefix that makes a command run as root; fails if there is none.
# `sudo -n` only: a script that may run without a terminal must not wait for a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        echo ''
    elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        echo 'sudo'
    else
        return 1
    fi
}

# apt_install REASON PACKAGE...: installs Debian packages, and says so beforehand.
# Call it only with what is missing.
apt_install() {
    local reason="$1" root
    shift
    if ! command -v apt-get >/dev/null; then
        fail "missing for $reason: $*" \
            "these are Debian's package names, and this system has no apt-get: install their equivalents by hand, then run this again"
    fi
    if ! root="$(as_root)"; then
        fail "missing for $reason: $*" \
            "not root, and no sudo without a password. Install them, then run this again:" \
            "    sudo apt-get install --no-install-recommends $*"
    fi
    say "installing Debian packages for $reason: $*"
    # The package lists of a fresh machine or container are empty or stale, so they are fetched first.
    # shellcheck disable=SC2086  # $root is empty or one word
    if ! { $root apt-get -qq update &&
        $root env DEBIAN_FRONTEND=noninteractive \
            apt-get -qq -y --no-install-recommends install "$@" >/dev/null; } </dev/null; then
        fail "apt-get could not install: $*" "its messages are above; mend that, then run this again"
    fi
}
