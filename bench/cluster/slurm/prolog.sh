#!/usr/bin/env bash
# prolog.sh: prepares a node for a job, as root: huge pages, and a fixed clock. Slurm drains a node whose prolog fails.
set -euo pipefail
# slurmd has no home.
export HOME="${HOME:-/root}"
# shellcheck source=bench/cluster/slurm/node.conf
. "${TRIPTYCH_NODE_CONF:-/etc/triptych-node.conf}"
cd "$PROJECT"
[ "$HUGE_PAGES" -eq 0 ] || bench/setup/hugepages.sh "$HUGE_PAGES"
[ -z "$CLOCK_GHZ" ] || build/bin/triptych clocks set "$CLOCK_GHZ"
