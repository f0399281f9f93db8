#!/usr/bin/env bash
# run.sh [--site FILE] [--id RUN] [--results DIR] [MATRIX OPTION...] [-- REFRAME OPTION...]: measures a matrix by ReFrame.
#
# MATRIX OPTIONS are those of `triptych run`, such as --config bench/matrix.toml. Without --site, all runs on this machine.
# REFRAME OPTIONS select and show: `-- --tag exact`, `-- --system lab:boxes`, `-- --distribute`, `-- --list`.
# The same command with the same --id continues a run: what is measured is skipped.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$here/../.."
sites=(--config-file "$here/site.py") matrix=() results=results
TRIPTYCH_RUN="$(date --utc +%Y%m%d-%H%M%S)"
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case "$1" in
        --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit ;;
        --site | --id | --results) [ $# -ge 2 ] || { echo "run.sh: $1 needs a value" >&2; exit 2; } ;;&
        --site) sites+=(--config-file "$(realpath "$2")") && shift ;;
        --id) TRIPTYCH_RUN="$2" && shift ;;
        --results) results="$2" && shift ;;
        *) matrix+=("$1") ;;
    esac
    shift
done
[ $# -eq 0 ] || shift
if [ -z "$(compgen -G build/bin/triptych)" ]; then
    echo "run.sh: build/bin/triptych is missing: run 'make build' first" >&2
    exit 2
fi
bench/setup/python.sh build/cluster-venv bench/cluster/requirements.txt
mkdir -p "$results" build/cluster
TRIPTYCH_RESULTS="$(realpath "$results")"
TRIPTYCH_OPTIONS="${matrix[*]@Q}"
TRIPTYCH_JOBS="$(mktemp)"
export TRIPTYCH_RUN TRIPTYCH_RESULTS TRIPTYCH_OPTIONS TRIPTYCH_JOBS
trap 'rm -f "$TRIPTYCH_JOBS"' EXIT
build/bin/triptych run --list-cells "${matrix[@]}" >"$TRIPTYCH_JOBS"
# A job that failed runs again, at most twice, after all others.
mode=(--max-retries 2 --run)
[[ " $* " != *" --list"* && " $* " != *" -l "* ]] || mode=()
status=0
build/cluster-venv/bin/reframe "${sites[@]}" --checkpath "$here/matrix.py" --prefix build/cluster/reframe \
    "${mode[@]}" "$@" || status=$?
[ ${#mode[@]} -gt 0 ] || exit "$status"
count="$(find "$TRIPTYCH_RESULTS"/*/"$TRIPTYCH_RUN"* -name '*.json' -path '*/cells/*' 2>/dev/null | wc -l)"
echo "run $TRIPTYCH_RUN: $count cells in $results/*/$TRIPTYCH_RUN*"
# ReFrame leaves out tests that it cannot load or place, and succeeds.
[ "$count" -gt 0 ] || { echo "run.sh: nothing was measured: does a partition have the features and environments?" >&2; exit 1; }
exit "$status"
