#!/usr/bin/env bash
# python-lock.sh: writes paper/requirements*.txt from paper/requirements*.in, with the hashes of all packages.
#
# The hashes are those of the package index at this moment. From then on, pip refuses a package that differs.
# Packages that an .in file does not pin keep their versions. To update one, remove it from the .txt file first.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../../paper"

venv="$(mktemp -d)"
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv" || fail "cannot make the virtual environment $venv, see the message above"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "uv==$UV_VERSION" ||
    fail "pip could not install uv, see the message above" \
        "It comes from the Python package index: is there a network?"
# The second file takes its versions from the first one.
for name in requirements requirements-dev; do
    say "finding the packages of paper/$name.in, and their hashes"
    # Versions in the old file stay, unless its .in file excludes them.
    cp "$name.txt" "$name.new"
    "$venv/bin/uv" pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-strip-extras \
        --no-header --no-annotate --no-emit-index-url --output-file "$name.new" "$name.in" ||
        { rm -f "$name.new"; fail "uv could not find the packages of paper/$name.in, see the message above"; }
    {
        echo "# Written by \`bench/setup/python-lock.sh\` from $name.in."
        cat "$name.new"
    } >"$name.txt"
    rm "$name.new"
done
