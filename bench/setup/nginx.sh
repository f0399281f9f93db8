#!/usr/bin/env bash
# nginx.sh: prints the path of an nginx program, for `make apps` to compare with.
#
# Takes the installed one, or else the program in Debian's package, which is only unpacked: an installation would start a
# server. Prints nothing and ends with 0 if neither can be had, and says why.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if PATH="$PATH:/usr/sbin" command -v nginx; then exit 0; fi
program="$CACHE/nginx/usr/sbin/nginx"
if [ ! -x "$program" ]; then
    open_cache
    folder="$(mktemp -d "$CACHE/nginx.XXXXXX")"
    trap 'rm -rf "$folder"' EXIT
    if ! (cd "$folder" && apt-get -qq -o APT::Sandbox::User=root download nginx &&
        dpkg-deb --extract nginx_*.deb unpacked) >&2; then
        say "no nginx: its package cannot be downloaded; install it to compare the application http with it"
        exit 0
    fi
    rm -rf "$CACHE/nginx"
    mv "$folder/unpacked" "$CACHE/nginx"
fi
echo "$program"
