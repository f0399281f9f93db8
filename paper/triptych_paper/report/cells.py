"""Building blocks of the sections: a measured value as a cell and as a record, and the tables that several share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from triptych_paper.counters import (
    BRANCH_NOTE,
    CACHE_NOTE,
    LOADS_NOTE,
    LOCKSTEP_NOTE,
    SIMULATED_NOTE,
    WALL_NOTE,
    why_not_perf,
)
from triptych_paper.lookup import Driver, Measured, choose, find, ratio, reason
from triptych_paper.records import USUAL, Conditions, Run
from triptych_paper.report.model import Cell, Column, Data, Record, Table
from triptych_paper.statistics import Summary

ABSENT = "–"

MULTIPLEXED_NOTE = "Multiplexed: the counter ran for a part of the time only, and the value was scaled up."
ONCE_NOTE = "Measured once: its spread is not known."


@dataclass(frozen=True)
class Metric:
    """How a metric is shown."""

    key: str
    label: str
    unit: str
    digits: int
    notes: dict[str, tuple[str, ...]]
    """What has to be known about its values, by backend."""


def _metric(key: str, label: str, unit: str, digits: int, **notes: str) -> tuple[str, Metric]:
    return key, Metric(key, label, unit, digits, {backend: (note,) for backend, note in notes.items()})


METRICS = dict(
    [
        _metric("cycles", "cycles", "cycles/packet", 1, lockstep=LOCKSTEP_NOTE, wall=WALL_NOTE),
        _metric("instructions", "instructions", "instructions/packet", 1),
        _metric("ipc", "instructions per cycle", "instructions/cycle", 2),
        _metric("branches", "branches", "branches/packet", 1, valgrind=BRANCH_NOTE),
        _metric("branch_misses", "branch mispredicts", "mispredicts/packet", 2, valgrind=SIMULATED_NOTE),
        _metric("stores", "stores", "stores/packet", 1, valgrind=LOADS_NOTE),
        _metric("loads", "loads", "loads/packet", 1, valgrind=LOADS_NOTE),
        _metric("l1_hits", "load L1 hits", "loads/packet", 1, valgrind=CACHE_NOTE),
        _metric("l2_hits", "load L2 hits", "loads/packet", 2),
        _metric("l3_hits", "load L3 hits", "loads/packet", 2, valgrind=CACHE_NOTE),
        _metric("l3_misses", "load L3 misses", "loads/packet", 2, valgrind=CACHE_NOTE),
        _metric("mpps", "throughput", "Mpps", 1, wall=WALL_NOTE),
    ]
)


def number(value: float, digits: int) -> str:
    """Format a value; a negative zero loses its sign, and the minus is a minus."""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def significant(value: float, figures: int = 3) -> str:
    """Format a value with so many significant figures, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, figures - 1 - int(f"{abs(value):e}".split("e")[1]))
    return number(value, digits)


def signed(value: float, digits: int) -> str:
    """Format a difference, with its sign."""
    text = number(value, digits)
    return f"+{text}" if value > 0 and float(text) > 0 else text


def change(ratio: Summary) -> str:
    """A ratio as a change, with its spread: 1.04 is `+4.0 %`."""

    def part(factor: float) -> str:
        return signed(100 * (factor - 1), 1 if abs(factor - 1) < 1 else 0)

    text = f"{part(ratio.median)} %"
    return text if ratio.count < 2 else f"{text} ({part(ratio.low)} to {part(ratio.high)})"


def spread(summary: Summary, text: Callable[[float], str]) -> tuple[str, ...]:
    """The 10th and 90th percentile, if there are several values."""
    if summary.count < 2:
        return ()
    low, high = text(summary.low), text(summary.high)
    return (f"{low} to {high}",)


def repeats(counts: Iterable[int]) -> str:
    """Counts of repeats in a row: `30`, or `1 to 30`."""
    known = sorted({count for count in counts if count})
    if not known:
        return ABSENT
    return str(known[0]) if len(known) == 1 else f"{known[0]} to {known[-1]}"


def value_cell(
    measured: Measured | None, text: Callable[[float], str], missing: str = "", detail: Sequence[str] = ()
) -> Cell:
    """A measured value with its spread, or the reason why there is none."""
    if measured is None:
        return Cell(ABSENT, tuple(detail), (missing,) if missing else ())
    lines = (*spread(measured.summary, text), *detail)
    notes = (MULTIPLEXED_NOTE,) if measured.multiplexed else ()
    return Cell(text(measured.summary.median), lines, notes)


def record(
    driver: Driver,
    batch: int,
    metric: str,
    measured: Measured | None,
    conditions: Conditions = USUAL,
    missing: str = "",
) -> Record:
    """A value as a row of the CSV."""
    return {
        "impl": driver.impl,
        "variant": driver.variant,
        "batch": batch,
        "ring_size": conditions.ring_size,
        "frame_size": conditions.frame_size,
        "offered_mpps": conditions.offered_mpps,
        "metric": metric,
        "value": measured.summary.median if measured else None,
        "p10": measured.summary.low if measured and measured.summary.count > 1 else None,
        "p90": measured.summary.high if measured and measured.summary.count > 1 else None,
        "unit": measured.unit if measured else "",
        "backend": measured.backend if measured else "",
        "simulated": measured.simulated if measured else None,
        "repeats": measured.summary.count if measured else 0,
        "note": missing or ("multiplexed" if measured and measured.multiplexed else ""),
    }


def source_cell(run: Run, metric: Metric, measured: Iterable[Measured | None]) -> Cell:
    """The backend of a row, with what has to be known about it, and why it is no better one."""
    there = [value for value in measured if value]
    if not there:
        return Cell(ABSENT)
    backend = there[0].backend
    why = "" if backend == "perf" else why_not_perf(run, metric.key)
    return Cell(there[0].source, (), (*metric.notes.get(backend, ()), *((why,) if why else ())))


@dataclass(frozen=True)
class Pair:
    """A driver, and the one that it is compared with."""

    driver: Driver
    base: Driver | None = None


def comparison(
    data: Data,
    key: str,
    title: str,
    pairs: Sequence[Pair],
    metrics: Sequence[str],
    batch: int,
    difference: bool = False,
) -> Table:
    """Metrics by row, drivers by column, each with its change against its base in the same round."""
    rows, records = [], []
    for name in metrics:
        metric = METRICS[name]
        backend = choose(data.run, name, [pair.driver for pair in pairs], USUAL)
        values = [find(data.run, pair.driver, batch, name, backend) for pair in pairs]
        cells = []
        for pair, value in zip(pairs, values, strict=True):
            against = ratio(data.run, pair.driver, pair.base, batch, name, backend) if pair.base else None
            detail: list[str] = []
            more: Record = {"base": "", "ratio": None, "ratio_p10": None, "ratio_p90": None}
            if pair.base and against:
                detail.append(change(against))
                more = {
                    "base": f"{pair.base.impl}/{pair.base.variant}",
                    "ratio": against.median,
                    "ratio_p10": against.low if against.count > 1 else None,
                    "ratio_p90": against.high if against.count > 1 else None,
                }
                base = find(data.run, pair.base, batch, name, backend)
                if difference and value and base and metric.unit.endswith("/packet"):
                    detail.append(f"{signed(value.summary.median - base.summary.median, metric.digits)} a packet")
            missing = "" if value else reason(data.run, pair.driver, batch, name, backend)
            cells.append(value_cell(value, lambda v, digits=metric.digits: number(v, digits), missing, detail))  # type: ignore[misc]
            records.append({**record(pair.driver, batch, name, value, missing=missing), **more})
        counts = repeats(value.summary.count for value in values if value)
        rows.append((Cell(metric.label, (metric.unit,)), *cells, source_cell(data.run, metric, values), Cell(counts)))
    columns = (
        Column("batch " + str(batch), numeric=False),
        *(Column(pair.driver.name) for pair in pairs),
        Column("counted by", numeric=False),
        Column("repeats"),
    )
    note = "Median; below it the 10th to 90th percentile, and the change against "
    bases = list(dict.fromkeys(pair.base.name for pair in pairs if pair.base))
    own = all(pair.base is None or pair.base.impl == pair.driver.impl for pair in pairs) and len(bases) > 1
    note += "the same driver as it is usually built" if own else " and ".join(bases)
    note += ", pair by pair in the same round, with its own 10th to 90th percentile."
    return Table(key, title, columns, tuple(rows), tuple(records), note)


@dataclass(frozen=True)
class Point:
    """A row of a sweep."""

    label: str
    batch: int
    conditions: Conditions = USUAL


def sizes_measured(data: Data, metric: str, batch: int, column: str, usual: int) -> list[int]:
    """The sizes in a column (ring_size, frame_size) by the backends that measured others than the usual one."""
    samples = data.run.samples
    rows = samples[(samples["metric"] == metric) & (samples["batch"] == batch) & samples["offered_mpps"].isna()]
    varied = rows[rows["backend"].isin(set(rows[rows[column] != usual]["backend"]))]
    return sorted({int(size) for size in varied[column]})


def sweep(
    data: Data,
    key: str,
    title: str,
    heading: str,
    metric: str,
    drivers: Sequence[Driver],
    points: Sequence[Point],
    published: Sequence[tuple[str, Callable[[Point], float | None]]] = (),
    extra: Callable[[Driver, Point], str] | None = None,
    digits: int | None = None,
) -> Table:
    """One metric against one parameter: a row a value of the parameter, a column a driver, then the published ones."""
    shown = METRICS[metric]
    backend = choose(data.run, metric, drivers)
    rows, records, everything = [], [], []
    for point in points:
        values = [find(data.run, driver, point.batch, metric, backend, point.conditions) for driver in drivers]
        everything += values
        cells = []
        for driver, value in zip(drivers, values, strict=True):
            missing = "" if value else reason(data.run, driver, point.batch, metric, backend, point.conditions)
            detail = [extra(driver, point)] if extra and value else []

            def text(v: float) -> str:
                return number(v, shown.digits if digits is None else digits)

            cells.append(value_cell(value, text, missing, [line for line in detail if line]))
            records.append(record(driver, point.batch, metric, value, point.conditions, missing))
        theirs = []
        for name, lookup in published:
            figure = lookup(point)
            theirs.append(Cell("" if figure is None else significant(figure)))
            if figure is not None:
                records.append(_published_record(name, point, metric, shown.unit, figure))
        counts = repeats(value.summary.count for value in values if value)
        rows.append((Cell(point.label), *cells, Cell(counts), *theirs))
    source = source_cell(data.run, shown, everything)
    columns = (
        Column(heading),
        *(Column(driver.name, notes=source.notes) for driver in drivers),
        Column("repeats"),
        *(Column(f"paper: {name}") for name, _ in published),
    )
    note = (
        f"{shown.label.capitalize()}, {shown.unit}, by {source.text}: median, and below it the 10th to 90th percentile."
    )
    return Table(key, title, columns, tuple(rows), tuple(records), note)


def _published_record(name: str, point: Point, metric: str, unit: str, figure: float) -> Record:
    return {
        "impl": f"paper: {name}",
        "variant": "",
        "batch": point.batch,
        "ring_size": point.conditions.ring_size,
        "frame_size": point.conditions.frame_size,
        "offered_mpps": point.conditions.offered_mpps,
        "metric": metric,
        "unit": unit,
        "published": figure,
    }
