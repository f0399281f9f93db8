#!/usr/bin/env bash
# python-lock.sh: writes requirements*.txt from the .in files in paper/ and bench/cluster/, with the hashes of all packages.
#
# The hashes are those of the package index at this moment. From then on, pip refuses a package that differs.
# Packages that an .in file does not pin keep their versions. To update one, remove it from the .txt file first.
set -euo pipefail
# shellcheck source=bench/setup/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

venv="$(mktemp -d)"
trap 'rm -rf "$venv"' EXIT
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "uv==$UV_VERSION"
# The second file takes its versions from the first one.
for name in paper/requirements paper/requirements-dev bench/cluster/requirements; do
    say "finding the packages of $name.in, and their hashes"
    (cd "$(dirname "$name")" &&
        "$venv/bin/uv" pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-strip-extras \
            --no-annotate --no-emit-index-url --custom-compile-command bench/setup/python-lock.sh \
            --output-file "${name##*/}.txt" "${name##*/}.in")
    # One line for each package.
    sed -i -z 's/ \\\n    / /g' "$name.txt"
done
