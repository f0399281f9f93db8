"""Tables that several sections share: a comparison of drivers, and a metric against a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from triptych_paper.conditions import DEFAULT_CONDITIONS, Conditions
from triptych_paper.drivers import Driver
from triptych_paper.lookup import Measured, choose, find, ranked, ratio, reason, recorded
from triptych_paper.report.model import Data
from triptych_paper.schema import Source, sources
from triptych_paper.tables.model import Cell, Column, Record, Table
from triptych_paper.tables.numbers import change, number, repeats, signed, significant
from triptych_paper.values import record, source_cell, value_cell


@dataclass(frozen=True)
class Comparison:
    """A driver, and the one that it is compared with."""

    driver: Driver
    base: Driver | None = None


def comparison_table(
    data: Data,
    key: str,
    title: str,
    comparisons: Sequence[Comparison],
    names: Sequence[str],
    batch: int,
    difference: bool = False,
) -> Table:
    """Build a table of metrics by drivers, with each driver's change against its base in the same round.

    `names` are metrics. With `difference` the cells also show the absolute difference per packet.
    """
    rows, records = [], []
    for name in names:
        source = choose(data.run, name, [each.driver for each in comparisons], DEFAULT_CONDITIONS)
        values = [find(data.run, each.driver, batch, source) for each in comparisons]
        cells = []
        for each, value in zip(comparisons, values, strict=True):
            cell, found = _compared(data, each, value, batch, source, difference)
            cells.append(cell)
            records.append(found)
        counts = repeats(value.summary.count for value in values if value)
        label = Cell(source.metric.label, (source.metric.unit,))
        rows.append((label, *cells, source_cell(data.run, name, values), Cell(counts)))
    columns = (
        Column(f"batch {batch}", numeric=False),
        *(Column(each.driver.name) for each in comparisons),
        Column("counted by", numeric=False),
        Column("repeats", emphasis=False),
    )
    return Table(key, title, columns, tuple(rows), tuple(records), _comparison_note(comparisons))


def _compared(
    data: Data, comparison: Comparison, value: Measured | None, batch: int, source: Source, difference: bool
) -> tuple[Cell, Record]:
    driver, base, metric = comparison.driver, comparison.base, source.metric
    against = ratio(data.run, driver, base, batch, source) if base else None
    detail: list[str] = []
    more: Record = {"base": "", "ratio": None, "ratio_p10": None, "ratio_p90": None}
    if base and against:
        detail.append(change(against))
        more = {
            "base": f"{base.impl}/{base.variant}",
            "ratio": against.median,
            "ratio_p10": against.low if against.count > 1 else None,
            "ratio_p90": against.high if against.count > 1 else None,
        }
        theirs = find(data.run, base, batch, source)
        if difference and value and theirs and metric.unit.endswith("/packet"):
            detail.append(f"{signed(value.summary.median - theirs.summary.median, metric.digits)} a packet")
    missing = "" if value else reason(data.run, driver, batch, source)
    cell = value_cell(value, lambda v: number(v, metric.digits), missing, detail)
    return cell, {**record(driver, batch, metric.name, value, missing=missing), **more}


def _comparison_note(comparisons: Sequence[Comparison]) -> str:
    bases = list(dict.fromkeys(each.base.name for each in comparisons if each.base))
    own = all(each.base is None or each.base.impl == each.driver.impl for each in comparisons) and len(bases) > 1
    base = "the same driver, built by default" if own else " and ".join(bases)
    return (
        f"Each cell: the median, its 10th to 90th percentile, and the change against {base}. The change is computed in "
        "each round; in parentheses is its 10th to 90th percentile."
    )


@dataclass(frozen=True)
class Point:
    """A row of a table of a metric against a parameter."""

    label: str
    batch: int
    conditions: Conditions = DEFAULT_CONDITIONS


def measured_sizes(data: Data, name: str, batch: int, column: str, default: int) -> list[int]:
    """Return the sizes in a column (ring_size, frame_size, queues), if a backend measured others than the default."""
    samples = data.run.samples
    metrics = {source.metric.name for source in sources(name)}
    rows = samples[samples["metric"].isin(metrics) & (samples["batch"] == batch) & samples["offered_mpps"].isna()]
    varied = rows[rows["backend"].isin(set(rows[rows[column] != default]["backend"]))]
    return sorted({int(size) for size in varied[column]})


@dataclass(frozen=True)
class PublishedColumn:
    """A column of published values."""

    name: str
    value: Callable[[Point], float | None]


def parameter_table(
    data: Data,
    key: str,
    title: str,
    parameter: str,
    name: str,
    drivers: Sequence[Driver],
    points: Sequence[Point],
    published: Sequence[PublishedColumn] = (),
    extra: Callable[[Driver, Point], str] | None = None,
    origin: Source | None = None,
) -> Table:
    """Build a table of one metric against one parameter: a row for each value, a column for each driver.

    `extra` returns one more line for a cell. `origin` is where the values come from, if not from the best source.
    """
    source = origin or _best(data, name, drivers, points)
    rows, records, everything = [], [], []
    for point in points:
        values = [find(data.run, driver, point.batch, source, point.conditions) for driver in drivers]
        everything += values
        cells = []
        for driver, value in zip(drivers, values, strict=True):
            missing = "" if value else reason(data.run, driver, point.batch, source, point.conditions, "in this row")
            line = extra(driver, point) if extra and value else ""
            cells.append(value_cell(value, lambda v: number(v, source.metric.digits), missing, (line,) if line else ()))
            records.append(record(driver, point.batch, source.metric.name, value, point.conditions, missing))
        theirs = []
        for column in published:
            figure = column.value(point)
            theirs.append(Cell("" if figure is None else significant(figure)))
            if figure is not None:
                records.append(_published_record(column.name, point, source, figure))
        counts = repeats(value.summary.count for value in values if value)
        rows.append((Cell(point.label), *cells, Cell(counts), *theirs))
    notes = source_cell(data.run, name, everything).notes
    columns = (
        Column(parameter, emphasis=False),
        *(Column(driver.name, notes=notes) for driver in drivers),
        Column("repeats", emphasis=False),
        *(Column(f"paper: {column.name}", emphasis=False) for column in published),
    )
    note = (
        f"The unit is {source.metric.unit}, counted by {source.name}. Each cell: the median, and below it the 10th to "
        "90th percentile."
    )
    return Table(key, title, columns, tuple(rows), tuple(records), note)


def _best(data: Data, name: str, drivers: Sequence[Driver], points: Sequence[Point]) -> Source:
    """Return the best source with a value under one of the conditions that vary, or else the best one of all."""
    varied = [point for point in points if point.conditions != DEFAULT_CONDITIONS] or points
    for source in (recorded(data.run, each) for each in ranked(data.run, sources(name))):
        if any(find(data.run, driver, p.batch, source, p.conditions) for p in varied for driver in drivers):
            return source
    return choose(data.run, name, drivers)


def _published_record(name: str, point: Point, source: Source, figure: float) -> Record:
    return {
        "impl": f"paper: {name}",
        "variant": "",
        "batch": point.batch,
        "ring_size": point.conditions.ring_size,
        "frame_size": point.conditions.frame_size,
        "queues": point.conditions.queues,
        "waiting": point.conditions.waiting,
        "offered_mpps": point.conditions.offered_mpps,
        "metric": source.metric.name,
        "unit": source.metric.unit,
        "published": figure,
    }
