#!/usr/bin/env bash
# python.sh VENV REQUIREMENTS...: makes a virtual environment with the packages of the requirement files.
#
# pip accepts only packages whose hashes are in those files. It builds none from source, because a build would fetch
# tools without hashes.
# After the installation of a file, the script copies the file into the environment. If all copies equal their files,
# the script does nothing.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

venv="$1"
shift

if ! "$venv/bin/python" -c '' 2>/dev/null; then
    [ ! -d "$venv" ] ||
        say "$venv is broken (after an update of Python, or a move of the folder?), so setup makes a new one"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        fail "python3 is $(python3 --version 2>&1), but Triptych needs 3.10 or newer ($(command -v python3))"
    python3 -m venv --clear "$venv" || {
        rm -rf "$venv"
        fail "cannot make the virtual environment $venv, see the message above"
    }
fi
for file in "$@"; do
    done_file="$venv/installed-$(basename "$file")"
    cmp -s "$file" "$done_file" && continue
    say "installing Python packages into $venv: $(grep -oE '^[a-z][^ ;]*==[^ ;]*' "$file" | tr '\n' ' ')"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
        --require-hashes --only-binary :all: -r "$file" ||
        fail "pip could not install the packages of $file, see the message above" \
            "The packages come from the Python package index: is there a network?" \
            "If pip names a hash that differs, it received another package than the one that was tested."
    cp "$file" "$done_file"
done
