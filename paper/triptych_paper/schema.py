"""The names that samples may hold: drivers, backends and metrics.

``perfcounters/record/metrics.toml`` defines the metrics. The collector reads the same file.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from triptych_paper.errors import DataError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

METRICS_FILE = Path(__file__).parents[2] / "perfcounters" / "record" / "metrics.toml"

ROLES = ("c", "rust", "rust-unsafe")
"""The three drivers of this project. A claim uses the names for the paper's driver in the same language, too."""

PEERS = ("ixy", "ixy-rs", "ixy-c2rust", "dpdk-vector", "dpdk-scalar")
"""Drivers of other projects, which `make peers` builds."""

IMPLEMENTATIONS = (*ROLES, *PEERS)
"""All drivers that a run can hold, in the order of tables."""

BACKENDS = ("perf", "model", "valgrind", "lockstep", "wall")
"""The ways to count."""

MODEL = "model"
"""The backend that runs the executed instructions through a model of a named processor."""

PAPER_CPU = "haswell"
"""The processor whose modelled values stand beside published ones."""

PAPER_CLOCK, LATENCY_CLOCK = 1.6, 2.4
"""The clock of the published counters, and that of the processor whose latency was published, GHz."""

CORE_CYCLES, TSC_CYCLES = "core_cycles", "tsc_cycles"
"""Cycles of the processor core, and cycles of the time-stamp counter."""

LOCKSTEP_CYCLES = "lockstep_cycles"
"""What the model predicts for lockstep: cycles on this machine's processor, with a software card on the same core."""

CYCLES = "cycles"
"""Rows of this name show core cycles where the run has them, otherwise TSC cycles. Old records use it, too."""


@dataclass(frozen=True)
class Metric:
    """A quantity that a backend counts."""

    name: str
    """Its name in ``samples.csv``."""
    label: str
    """Its name in tables and plots."""
    unit: str
    digits: int
    """Decimals that tables show."""
    group: str
    """`counter`, `throughput` or `latency`."""
    backends: tuple[str, ...]
    """The backends that give it, best first."""
    simulated: frozenset[str]
    """Those of the backends whose values come from a simulated or modelled processor."""
    percentile: float | None = None
    """The share of the packets that a latency covers, in percent."""
    notes: dict[str, str] = field(default_factory=dict)
    """Notes for the reader of a value, by backend."""


@dataclass(frozen=True)
class Source:
    """A metric and the backend that counts it."""

    metric: Metric
    backend: str
    cpu: str = ""
    """The modelled processor; empty for other backends."""
    clock_ghz: float | None = None
    """The clock of that processor, GHz."""

    @property
    def simulated(self) -> bool:
        """Whether a simulated or modelled processor gives the values."""
        return self.backend in self.metric.simulated

    @property
    def modelled(self) -> bool:
        """Whether the values depend on a model of a processor."""
        return self.backend == MODEL and self.simulated

    @property
    def kind(self) -> str:
        """How the values came about: `measured`, `counted`, `simulated` or `modelled`."""
        if self.modelled:
            return "modelled"
        if self.simulated:
            return "simulated"
        return "counted" if self.exact else "measured"

    @property
    def exact(self) -> bool:
        """Whether the values have no noise: counts of executed instructions, and everything that a model computes."""
        return self.backend == MODEL or (self.backend == "valgrind" and not self.simulated)

    @property
    def name(self) -> str:
        """The backend, for a column or a caption."""
        if self.modelled:
            clock = "" if self.clock_ghz is None else f" at {self.clock_ghz:g} GHz"
            return f"modelled, {self.cpu}{clock}"
        return f"{self.backend}, simulated" if self.simulated else self.backend


@cache
def metrics() -> dict[str, Metric]:
    """All metrics by name, in the order in which tables show them."""
    return read_metrics(METRICS_FILE)


def metric(name: str) -> Metric:
    """Return a metric; :class:`DataError` lists the valid names if it does not exist."""
    if name not in metrics():
        raise DataError(f"metric {name!r} is not in {METRICS_FILE.name}; it defines {', '.join(metrics())}")
    return metrics()[name]


def source(name: str, backend: str, cpu: str = PAPER_CPU, clock_ghz: float | None = None) -> Source:
    """Return a metric as one backend counts it; of the model, for a processor, by default at the published clock."""
    if backend != MODEL:
        return Source(metric(name), backend)
    return Source(metric(name), backend, cpu, clock_ghz or published_clock(metric(name)))


def published_clock(metric: Metric) -> float:
    """Return the clock at which figures of a metric were published, GHz. Throughput was published at others, too."""
    return LATENCY_CLOCK if metric.group == "latency" else PAPER_CLOCK


def sources(name: str) -> tuple[Source, ...]:
    """Return the ways to count a metric, or :data:`CYCLES`, best first."""
    if name == CYCLES:
        # The cycles of `wall` are not those of the driver alone, so they have rows of their own.
        return (source(CORE_CYCLES, "perf"), source(CORE_CYCLES, MODEL), source(TSC_CYCLES, "lockstep"))
    return tuple(source(name, backend) for backend in metric(name).backends)


def renamed_metric(name: str, backend: str) -> str:
    """Return today's name of a metric in an old record, which has the name `cycles` for both clocks."""
    if name != CYCLES:
        return name
    return {"perf": CORE_CYCLES, "lockstep": TSC_CYCLES, "wall": TSC_CYCLES}.get(backend, name)


def renamed_variant(name: str) -> str:
    """Return today's name of a variant in an old record. The old name suggested AddressSanitizer."""
    return "trapping-ubsan" if name == "sanitized" else name


def latency_metric(percentile: str) -> Metric:
    """Return the metric of a percentile such as `99.9`, or of `min` or `max`."""
    part = percentile if percentile in ("min", "max") else f"p{percentile.replace('.', '_')}"
    return metric(f"latency_{part}_us")


@cache
def percentiles() -> tuple[str, ...]:
    """Return the percentiles of the latency that are recorded, as `50` or `99.9`."""
    return tuple(f"{entry.percentile:.10g}" for entry in metrics().values() if entry.percentile is not None)


def read_metrics(path: Path) -> dict[str, Metric]:
    """Read ``metrics.toml``; :class:`DataError` names the metric that is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the metrics {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not TOML: {error}") from None
    entries = document.get("metric")
    if not isinstance(entries, list) or not entries:
        raise DataError(f"{path} defines no metric: it needs [[metric]] tables")
    found: dict[str, Metric] = {}
    for place, entry in enumerate(entries, start=1):
        try:
            known = _metric(entry)
        except (KeyError, TypeError, ValueError) as error:
            name = entry.get("name", f"number {place}") if isinstance(entry, dict) else f"number {place}"
            raise DataError(f"{path}: metric {name} is malformed: {error}") from None
        if known.name in found:
            raise DataError(f"{path}: metric {known.name} is defined twice")
        found[known.name] = known
    return found


def _metric(entry: dict[str, Any]) -> Metric:
    backends, simulated = tuple(entry["backends"]), frozenset(entry["simulated"])
    unknown = (
        (set(backends) - set(BACKENDS)) | (simulated - set(backends)) | (set(entry.get("notes", {})) - set(backends))
    )
    if unknown or not backends:
        raise ValueError(f"backends are some of {', '.join(BACKENDS)}; simulated and notes name some of those")
    percentile = entry.get("percentile")
    return Metric(
        name=str(entry["name"]),
        label=str(entry["label"]),
        unit=str(entry["unit"]),
        digits=int(entry["digits"]),
        group=str(entry["group"]),
        backends=backends,
        simulated=simulated,
        percentile=None if percentile is None else float(percentile),
        notes={str(backend): str(note) for backend, note in entry.get("notes", {}).items()},
    )
