#!/usr/bin/env bash
# python.sh VENV REQUIREMENTS...: a virtual environment with exactly the packages of the requirement files.
# Each file is copied into the environment once it is installed; as long as the copies are equal, nothing is done.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

venv="$1"
shift

if [ -d "$venv" ] && ! "$venv/bin/python" -c '' 2>/dev/null; then
    say "$venv is broken (was Python updated, or the folder moved?): making it anew"
    rm -rf "$venv"
fi
if [ ! -d "$venv" ]; then
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        fail "python3 is $(python3 --version 2>&1), but 3.10 or newer is needed ($(command -v python3))"
    python3 -m venv "$venv" || {
        rm -rf "$venv"
        fail "could not make the virtual environment $venv, see above"
    }
fi
for file in "$@"; do
    done_file="$venv/installed-$(basename "$file")"
    cmp -s "$file" "$done_file" && continue
    say "installing Python packages into $venv: $(grep -vE '^(#|-r|$)' "$file" | sed 's/[ ;].*//' | tr '\n' ' ')"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -r "$file" ||
        fail "pip could not install the packages of $file, see above" \
            "they come from the Python package index: is there a network?"
    cp "$file" "$done_file"
done
