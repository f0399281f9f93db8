#!/usr/bin/env bash
# node.sh: prints what this machine has, for site.py, and for lab.py and slurm.conf of a cluster.
#
# Features: `pmu` if the kernel shows hardware counters, `nic` if there is a supported card, and the processor's family
# by GCC's name. Environments: the compilers by which the drivers can be built. `default` has those of `make build`.
set -euo pipefail
here="$(dirname "${BASH_SOURCE[0]}")"
cd "$here/../.."
# shellcheck source=bench/setup/versions.sh
. bench/setup/versions.sh

features=()
compgen -G '/sys/bus/event_source/devices/*/type' | grep -qE '/(cpu|cpu_core|armv8_[^/]*)/type$' && features+=(pmu)
ids="$(sed -nE 's/^\t\{(0x[0-9a-f]{4}),.* NULL\}.*/\1/p' c/src/driver/device_ids.h)"
ports=0
for device in /sys/bus/pci/devices/*; do
    [ "$(cat "$device/vendor" 2>/dev/null)" != 0x8086 ] || ! grep -qx "$(cat "$device/device")" <<<"$ids" || ports=$((ports + 1))
done
[ "$ports" -lt 2 ] || features+=(nic)
family="$(gcc -march=native -Q --help=target 2>/dev/null | awk '$1 == "-march=" { print $2; exit }' || true)"
[ -z "$family" ] || features+=("$family")

environs=(default)
for compiler in "${C_COMPILERS[@]}"; do
    ! command -v "$compiler" >/dev/null || environs+=("$compiler")
done
toolchains="$(rustup toolchain list 2>/dev/null || true)"
for release in "${RUST_TOOLCHAINS[@]}"; do
    ! grep -q "^$release-" <<<"$toolchains" || environs+=("rust-${release//./-}")
done

echo "features ${features[*]:-}"
echo "environs ${environs[*]}"
# slurmd knows the name of the node, its processors and its memory.
if command -v slurmd >/dev/null; then
    gres=''
    [ "$ports" -lt 2 ] || gres=" Gres=nic:$((ports / 2))"
    node="$(slurmd -C | sed -n 's/^NodeName=/&/p')"
    echo "$node Features=$(IFS=, && echo "${features[*]:-none}")$gres"
fi
