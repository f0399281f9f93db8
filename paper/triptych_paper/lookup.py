"""Finding a value in a run: which backend counted it, in how many repeats, or why it is missing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from triptych_paper.conditions import DEFAULT_CONDITIONS, Conditions
from triptych_paper.drivers import DRIVERS, UPSTREAM, Driver
from triptych_paper.facts import card
from triptych_paper.quantities import REAL_CARD, Difference, differences
from triptych_paper.records import Run
from triptych_paper.samples import MULTIPLEXED
from triptych_paper.schema import MODEL, PAPER_CPU, PEERS, Source, published_clock, sources
from triptych_paper.statistics import Summary, paired_ratio, processors, rows, select, summarise

CAUSE_LENGTH = 230
"""Largest number of characters that a table shows of a failure's cause; `run.json` holds all of it."""


@dataclass(frozen=True)
class Measured:
    """A measured value, and how it was measured."""

    summary: Summary
    unit: str
    source: Source
    multiplexed: bool = False


NO_UPSTREAM = (
    "The paper's own drivers are not in this run: `make peers` builds them, and `make reproduce` then measures them "
    "beside ours."
)
"""What tables say if a run lacks them."""


def has_upstream(run: Run) -> bool:
    """Return whether a run measured any of the paper's own drivers."""
    return bool(run.samples["impl"].isin(UPSTREAM.values()).any())


def _under(samples: pd.DataFrame, conditions: Conditions) -> pd.DataFrame:
    """Return the samples that were measured under the conditions."""
    offered = conditions.offered_mpps
    return samples[
        (samples["ring_size"] == conditions.ring_size)
        & (samples["frame_size"] == conditions.frame_size)
        & (samples["queues"] == conditions.queues)
        & (samples["waiting"] == conditions.waiting)
        & (samples["offered_mpps"].isna() if offered is None else samples["offered_mpps"] == offered)
    ]


def choose(run: Run, name: str, drivers: Iterable[Driver], conditions: Conditions | None = None) -> Source:
    """Return the best source of a metric that has measured at least one of the drivers.

    All drivers get the same source, because values of two backends do not compare. Without any value, the last source
    that the run used is returned: it needs the least of a machine, so the reason for its absence says most.
    """
    samples = run.samples if conditions is None else _under(run.samples, conditions)
    columns = (samples[column] for column in ("impl", "variant", "metric", "backend"))
    measured = set(zip(*columns, strict=True))
    drivers = list(drivers)
    possible = [recorded(run, source) for source in ranked(run, sources(name))]
    for source in possible:
        if any((driver.impl, driver.variant, source.metric.name, source.backend) in measured for driver in drivers):
            return source
    used = [source for source in possible if source.backend in run.backends or source.backend in run.not_measurable]
    return (used or list(possible))[-1]


def ranked(run: Run, possible: Iterable[Source]) -> list[Source]:
    """Sort sources, the best first."""
    demoted = wall_demoted(run)
    return sorted(possible, key=lambda source: demoted and source.backend == "wall")


def wall_demoted(run: Run) -> bool:
    """Return whether the model comes before `wall`: without a real card, `wall` says less about a driver."""
    return card(run) != REAL_CARD and has_model(run)


def has_model(run: Run) -> bool:
    """Return whether a run has values of the model."""
    return bool(processors(run.samples))


def recorded(run: Run, wanted: Source) -> Source:
    """Return a source of the model as the run recorded it: on the wanted processor, or else the first one.

    The clock is the recorded one that is nearest to the wanted one. Other sources stay as they are.
    """
    if wanted.backend != MODEL:
        return wanted
    found = processors(run.samples).get(wanted.metric.name)
    if not found:
        return wanted
    cpu = wanted.cpu if wanted.cpu in found else next(iter(found))
    near = wanted.clock_ghz or 0.0
    clock = min(found[cpu], key=lambda clock: (abs(clock - near), clock), default=None)
    return replace(wanted, cpu=cpu, clock_ghz=clock)


def apart(run: Run, source: Source) -> tuple[Difference, ...]:
    """Return the aspects in which values of a source differ from the published figures of the metric."""
    found = differences(source.metric.name, source.backend, card(run))
    if not source.modelled:
        return found
    wanted = published_clock(source.metric)
    if source.cpu != PAPER_CPU:
        found += (Difference("level", f"a processor like {PAPER_CPU}", f"a model of {source.cpu}"),)
    if source.clock_ghz is not None and source.metric.name != "mpps" and abs(source.clock_ghz - wanted) > SAME_CLOCK:
        found += (Difference("level", f"{wanted:g} GHz", f"{source.clock_ghz:g} GHz"),)
    return found


SAME_CLOCK = 0.05
"""Clocks that differ by at most this are the same, GHz."""


def find(
    run: Run, driver: Driver, batch: int, source: Source, conditions: Conditions = DEFAULT_CONDITIONS
) -> Measured | None:
    """Look a value up; None if the run does not have it (:func:`reason` says why)."""
    found = rows(run.samples, driver, batch, source, conditions)
    summary = summarise(found["value"])
    if summary is None:
        return None
    multiplexed = bool((found["note"] == MULTIPLEXED).any())
    return Measured(summary, str(found["unit"].iloc[0]), source, multiplexed)


def ratio(
    run: Run, driver: Driver, base: Driver, batch: int, source: Source, conditions: Conditions = DEFAULT_CONDITIONS
) -> Summary | None:
    """Divide one driver's value by another's, repeat by repeat; None if one is missing or zero."""
    values = select(run.samples, driver, batch, source, conditions)
    return paired_ratio(values, select(run.samples, base, batch, source, conditions))


def reason(
    run: Run,
    driver: Driver,
    batch: int,
    source: Source,
    conditions: Conditions = DEFAULT_CONDITIONS,
    place: str | None = None,
) -> str:
    """Say why a run has no value of a driver's metric from a backend.

    `place` stands for batch size and conditions in the text, so that several cells can share a footnote.
    """
    backend, metric = source.backend, source.metric.name
    build = f"{driver.impl}/{driver.variant}"
    for failure in run.failures:
        failed = (failure.backend, failure.impl, failure.variant, failure.batch, failure.conditions)
        if failed == (backend, driver.impl, driver.variant, batch, conditions):
            return textwrap.shorten(f"failed: {build}: {failure.cause}", CAUSE_LENGTH, placeholder=" … (see run.json)")
    if driver.impl in PEERS:
        absent = _absent_peer(run, driver, backend)
        if absent:
            return absent
    if backend in run.not_measurable:
        return f"not measurable here: {run.not_measurable[backend]}"
    if metric in run.not_measurable_metrics.get(backend, {}):
        return f"not measurable here by {backend}: {run.not_measurable_metrics[backend][metric]}"
    if backend not in run.backends:
        return f"not measured: the run did not use the backend {backend}"
    if not run.ended:
        return "not measured: the run was interrupted"
    where = place or ", ".join(part for part in (f"at batch {batch}", str(conditions)) if part)
    return f"not measured: the run has no samples of {build} {where}"


def _absent_peer(run: Run, driver: Driver, backend: str) -> str:
    """Say why a run has no samples of another project's driver at all, or of it from a backend; otherwise empty."""
    if backend == "lockstep":
        return "not measurable here: lockstep links the driver, and other projects' drivers are programs of their own"
    build = f"{driver.impl}/{driver.variant}"
    skipped = run.skipped_peers.get((driver.impl, driver.variant))
    if skipped:
        return f"not measured: {build} was skipped: {skipped}"
    present = (run.samples["impl"] == driver.impl) & (run.samples["variant"] == driver.variant)
    return "" if present.any() else f"not measured: the run has no {build}; `make peers` builds the other drivers"


def why_not_perf(run: Run, name: str) -> str:
    """Say why hardware counters, which the run used, do not count a metric; empty if they do."""
    metric = sources(name)[0].metric.name
    why = run.not_measurable_metrics.get("perf", {}).get(metric)
    return f"Not measurable here by hardware counters: {why}." if why else ""


def batches(run: Run, name: str, drivers: Iterable[Driver] = DRIVERS) -> list[int]:
    """Return the batch sizes at which a metric was measured under the default conditions."""
    names = {source.metric.name for source in sources(name)}
    measured = _under(run.samples[run.samples["metric"].isin(names)], DEFAULT_CONDITIONS)
    builds = {(driver.impl, driver.variant) for driver in drivers}
    columns = (measured[column] for column in ("impl", "variant", "batch"))
    return sorted({int(batch) for impl, variant, batch in zip(*columns, strict=True) if (impl, variant) in builds})
