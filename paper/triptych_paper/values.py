"""Measured values as cells and as records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from triptych_paper.conditions import DEFAULT_CONDITIONS, Conditions
from triptych_paper.drivers import Driver
from triptych_paper.facts import card
from triptych_paper.lookup import Measured, why_not_perf
from triptych_paper.records import Run
from triptych_paper.samples import MULTIPLEXED
from triptych_paper.tables.model import ABSENT, Cell, Record
from triptych_paper.tables.numbers import spread

MULTIPLEXED_NOTE = "Multiplexed: the counter ran for a part of the time only, and the value was scaled up."


def value_cell(
    measured: Measured | None,
    text: Callable[[float], str],
    missing: str = "",
    detail: Sequence[str] = (),
    published: str = "",
) -> Cell:
    """Return a measured value with its spread, or the reason for its absence."""
    if measured is None:
        return Cell(ABSENT, tuple(detail), (missing,) if missing else (), published=published)
    lines = (*spread(measured.summary, text), *detail)
    notes = (MULTIPLEXED_NOTE,) if measured.multiplexed else ()
    return Cell(text(measured.summary.median), lines, notes, published=published)


def record(
    driver: Driver,
    batch: int,
    metric: str,
    measured: Measured | None,
    conditions: Conditions = DEFAULT_CONDITIONS,
    missing: str = "",
) -> Record:
    """Return a value as a row of the CSV."""
    several = measured is not None and measured.summary.count > 1
    return {
        "impl": driver.impl,
        "variant": driver.variant,
        "batch": batch,
        "ring_size": conditions.ring_size,
        "frame_size": conditions.frame_size,
        "queues": conditions.queues,
        "waiting": conditions.waiting,
        "offered_mpps": conditions.offered_mpps,
        "metric": metric,
        "value": measured.summary.median if measured else None,
        "p10": measured.summary.low if measured and several else None,
        "p90": measured.summary.high if measured and several else None,
        "unit": measured.unit if measured else "",
        "backend": measured.source.backend if measured else "",
        "kind": measured.source.kind if measured else "",
        "cpu": measured.source.cpu if measured and measured.source.modelled else "",
        "clock_ghz": measured.source.clock_ghz if measured and measured.source.modelled else None,
        "simulated": measured.source.simulated if measured else None,
        "repeats": measured.summary.count if measured else 0,
        "note": missing or (MULTIPLEXED if measured and measured.multiplexed else ""),
    }


def source_cell(run: Run, name: str, values: Iterable[Measured | None]) -> Cell:
    """Return the backend of a row, with its note, and with the reason if hardware counters are missing."""
    present = [value for value in values if value]
    if not present:
        return Cell(ABSENT)
    source = present[0].source
    note = source.metric.notes.get(source.backend, "")
    why = "" if source.backend == "perf" else why_not_perf(run, name)
    kind = card(run) if source.backend in ("perf", "wall") else ""
    name_of_source = f"{source.name}, {kind}" if kind else source.name
    return Cell(name_of_source, notes=tuple(text for text in (note, why) if text))
