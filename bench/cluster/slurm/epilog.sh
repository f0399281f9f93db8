#!/usr/bin/env bash
# epilog.sh: cleans a node after a job, as root: the clocks as they were. Huge pages stay, because all jobs use them.
set -euo pipefail
# slurmd has no home.
export HOME="${HOME:-/root}"
# shellcheck source=bench/cluster/slurm/node.conf
. "${TRIPTYCH_NODE_CONF:-/etc/triptych-node.conf}"
cd "$PROJECT"
# Jobs with exact counts share a node, and the clock does not matter to them.
[ -z "$CLOCK_GHZ" ] || build/bin/triptych clocks restore
