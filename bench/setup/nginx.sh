#!/usr/bin/env bash
# nginx.sh: prints the path of an nginx program, for `make apps` to compare with.
#
# Takes the installed one, or else the program in Debian's package, which is only unpacked: an installation would start a
# server. Prints nothing and ends with 0 if neither can be had, and says why.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=bench/setup/common.sh
. "$here/common.sh"

for program in "$(command -v nginx || true)" /usr/sbin/nginx; do
    if [ -x "$program" ]; then
        echo "$program"
        exit 0
    fi
done

program="$CACHE/nginx/usr/sbin/nginx"
if [ ! -x "$program" ]; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        say "no nginx: install it to compare the application http with it"
        exit 0
    fi
    open_cache
    folder="$(mktemp -d "$CACHE/nginx.XXXXXX")"
    trap 'rm -rf "$folder"' EXIT
    if ! (cd "$folder" && apt-get download -qq nginx && dpkg-deb --extract nginx_*.deb unpacked) >&2; then
        say "no nginx: its package cannot be downloaded"
        exit 0
    fi
    rm -rf "$CACHE/nginx"
    mv "$folder/unpacked" "$CACHE/nginx"
fi
echo "$program"
