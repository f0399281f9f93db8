"""Finding a value in a run: by which backend, over how many repeats, and if there is none, why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from triptych_paper.counters import why_missing
from triptych_paper.records import MULTIPLEXED, USUAL, Conditions, Run
from triptych_paper.statistics import Summary, paired_ratio, rows, select, summarise

SIMULATED = {("valgrind", metric) for metric in ("branch_misses", "l1_hits", "l2_hits", "l3_hits", "l3_misses")}
"""What a model of a processor counts, not a processor."""


@dataclass(frozen=True)
class Driver:
    """One driver, built one way."""

    impl: str
    variant: str = "default"

    @property
    def name(self) -> str:
        """What it is called in prose."""
        name = {"c": "C", "rust": "safe Rust", "rust-unsafe": "unsafe Rust"}[self.impl]
        return name if self.variant == "default" else f"{name}, {VARIANTS.get(self.variant, self.variant)}"


VARIANTS = {
    "overflow-checks": "overflow checks",
    "sanitized": "sanitized",
    "fortified": "fortified",
    "no-lto": "without LTO",
}
"""What a way of building is called in prose."""

C, RUST, UNSAFE = Driver("c"), Driver("rust"), Driver("rust-unsafe")
CHECKED = Driver("rust", "overflow-checks")
DRIVERS = (C, RUST, UNSAFE)


@dataclass(frozen=True)
class Measured:
    """A measured value and what belongs to it."""

    summary: Summary
    unit: str
    backend: str
    metric: str
    multiplexed: bool = False

    @property
    def simulated(self) -> bool:
        """Whether a model counted it."""
        return (self.backend, self.metric) in SIMULATED

    @property
    def source(self) -> str:
        """The backend, for a column or a caption."""
        return f"{self.backend}, simulated" if self.simulated else self.backend


def backends(metric: str) -> tuple[str, ...]:
    """The backends that can measure a metric, the best first."""
    if metric == "cycles":
        return ("perf", "lockstep")
    if metric in ("mpps", "full_batch_ratio", "loss_ratio") or metric.startswith("latency_"):
        return ("wall",)
    return ("perf",) if metric in ("ipc", "l2_hits") else ("perf", "valgrind")


def choose(run: Run, metric: str, drivers: Iterable[Driver], conditions: Conditions | None = None) -> str:
    """Return the best backend that has measured at least one of the drivers.

    One backend for all of them, because values of two backends are not to be compared. Without any value, the first
    backend whose absence has a reason that says more than "not used".
    """
    measured = run.samples[run.samples["metric"] == metric]
    if conditions is not None:
        offered = conditions.offered_mpps
        measured = measured[
            (measured["ring_size"] == conditions.ring_size)
            & (measured["frame_size"] == conditions.frame_size)
            & (measured["offered_mpps"].isna() if offered is None else measured["offered_mpps"] == offered)
        ]
    there = {
        (str(i), str(v), str(b))
        for i, v, b in zip(measured["impl"], measured["variant"], measured["backend"], strict=True)
    }
    possible = backends(metric)
    for backend in possible:
        if any((driver.impl, driver.variant, backend) in there for driver in drivers):
            return backend
    return possible[-1]


def find(
    run: Run, driver: Driver, batch: int, metric: str, backend: str, conditions: Conditions = USUAL
) -> Measured | None:
    """Look a value up; None if it was not measured (see :func:`reason`)."""
    found = rows(run.samples, driver.impl, driver.variant, batch, backend, metric, conditions)
    summary = summarise(found["value"])
    if summary is None:
        return None
    multiplexed = bool((found["note"] == MULTIPLEXED).any())
    return Measured(summary, str(found["unit"].iloc[0]), backend, metric, multiplexed)


def ratio(
    run: Run,
    driver: Driver,
    base: Driver,
    batch: int,
    metric: str,
    backend: str,
    conditions: Conditions = USUAL,
    base_conditions: Conditions | None = None,
) -> Summary | None:
    """Ratio of one driver's value to another's, repeat by repeat; None if one is missing or zero."""
    values = select(run.samples, driver.impl, driver.variant, batch, backend, metric, conditions)
    under = conditions if base_conditions is None else base_conditions
    return paired_ratio(values, select(run.samples, base.impl, base.variant, batch, backend, metric, under))


def reason(
    run: Run, driver: Driver, batch: int, metric: str, backend: str | None = None, conditions: Conditions = USUAL
) -> str:
    """Say why a value is missing."""
    if backend is None:
        backend = backends(metric)[-1]
    return why_missing(run, backend, driver.impl, driver.variant, batch, metric, conditions)


def batches(run: Run, metric: str, drivers: Iterable[Driver] = DRIVERS) -> list[int]:
    """Batch sizes at which a metric was measured under the usual conditions."""
    measured = run.samples[
        (run.samples["metric"] == metric)
        & (run.samples["ring_size"] == USUAL.ring_size)
        & (run.samples["frame_size"] == USUAL.frame_size)
        & run.samples["offered_mpps"].isna()
    ]
    impls = {(driver.impl, driver.variant) for driver in drivers}
    return sorted(
        {
            int(b)
            for i, v, b in zip(measured["impl"], measured["variant"], measured["batch"], strict=True)
            if (i, v) in impls
        }
    )
