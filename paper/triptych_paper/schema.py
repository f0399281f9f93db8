"""Names: drivers, backends, placements, conditions, and the metrics of ``metrics.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

from triptych_paper.errors import DataError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

METRICS_FILE = Path(__file__).parents[2] / "perfcounters" / "record" / "metrics.toml"

BACKENDS = ("perf", "trace", "valgrind", "lockstep", "burst", "wall")
"""The ways to count, in the order in which tables prefer them."""

EXACT = ("trace", "valgrind")
"""Backends whose values have no noise: they count or simulate executed instructions."""

SIMULATED = ("branch_misses", "l1_hits", "l2_hits", "l3_hits", "l3_misses")
"""Metrics that the backends of :data:`EXACT` take from a simulated processor."""

MEMORY, L3, WARM = "memory", "l3", "warm"
PLACEMENTS = {MEMORY: "lines in memory", WARM: "lines warm", L3: "lines in L3"}
"""Where DMA leaves the lines of a packet, and the words of tables for it."""

IMPLEMENTATIONS = {
    "c": "C",
    "rust": "safe Rust",
    "rust-unsafe": "unsafe Rust",
    "ixy": "ixy",
    "ixy-rs": "ixy.rs",
    "ixy-c2rust": "ixy by C2Rust",
    "dpdk-vector": "DPDK, vector",
    "dpdk-scalar": "DPDK, scalar",
}
"""All drivers that a run can hold, in the order of tables, and their names in prose."""

VARIANTS = {
    "overflow-checks": "overflow checks",
    "trusted-device": "trusted device",
    "untrusted-device-copy": "untrusted device, copy",
    "trapping-ubsan": "trapping UBSan",
    "no-lto": "without LTO",
    "own-flags": "own flags",
    "mac": "MAC addresses",
}
"""Variants whose name in prose is another one."""


class Driver(NamedTuple):
    """An implementation, built in one way."""

    impl: str
    variant: str = "default"

    @property
    def name(self) -> str:
        """Its name in prose."""
        name = IMPLEMENTATIONS[self.impl]
        return name if self.variant == "default" else f"{name}, {VARIANTS.get(self.variant, self.variant)}"


C, RUST, UNSAFE = Driver("c"), Driver("rust"), Driver("rust-unsafe")
CHECKED = Driver("rust", "overflow-checks")
OURS = (C, RUST, UNSAFE)
"""The three drivers as they are built by default."""

UPSTREAM = {"c": "ixy", "rust": "ixy-rs", "rust-unsafe": "ixy-c2rust"}
"""The paper's own driver in the language of each of ours."""


def upstream(driver: Driver) -> Driver:
    """Return the paper's counterpart of one of our drivers, built with the same flags."""
    return Driver(UPSTREAM[driver.impl], driver.variant)


def own_flags(driver: Driver) -> Driver:
    """Return another project's driver as its own build files build it, which is how the paper's were built."""
    return Driver(driver.impl, "own-flags") if driver.variant == "default" else driver


class Conditions(NamedTuple):
    """The conditions of a value, besides driver and batch size. The defaults are those of the published set-up."""

    ring_size: int = 512
    frame_size: int = 60
    queues: int = 1
    waiting: str = "poll"
    offered_mpps: float = 0.0
    """Offered load, both directions together; 0 saturates the driver."""
    placement: str = ""


USUAL = Conditions()
"""The conditions of the published tables."""


@dataclass(frozen=True)
class Metric:
    """A quantity that backends count."""

    name: str
    label: str
    unit: str
    digits: int
    group: str
    """`counter`, `throughput` or `latency`."""
    percentile: float | None = None
    notes: dict[str, str] = field(default_factory=dict)
    """What a reader must know about a value, by backend."""


@cache
def metrics() -> dict[str, Metric]:
    """Read ``metrics.toml``: all metrics by name, in the order in which tables show them."""
    try:
        groups = tomllib.loads(METRICS_FILE.read_text(encoding="utf-8"))
        found = [
            Metric(
                name=entry["name"],
                label=entry["label"],
                unit=entry.get("unit", "us"),
                digits=int(entry.get("digits", 2)),
                group=group,
                percentile=entry.get("percentile"),
                notes=dict(entry.get("notes", {})),
            )
            for group in ("counter", "throughput", "latency")
            for entry in groups[group]
        ]
    except OSError as error:
        raise DataError(f"cannot read the metrics {METRICS_FILE}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{METRICS_FILE} is malformed: {error!r}") from None
    return {metric.name: metric for metric in found}
