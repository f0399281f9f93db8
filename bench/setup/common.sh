# Functions that the set-up scripts share: `. "$(dirname "$0")/common.sh"`.
# shellcheck shell=bash
# shellcheck source=bench/setup/versions.sh
. "$(dirname "${BASH_SOURCE[0]}")/versions.sh"

# The folder of downloads and builds that `make clean` keeps.
export CACHE="${TRIPTYCH_CACHE:-$HOME/.cache/triptych}"

say() { printf 'setup: %s\n' "$*" >&2; }

# fail MESSAGE...: prints one line per argument and exits with 2, because the user has to act.
fail() {
    local line
    for line in "$@"; do say "$line"; done
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
