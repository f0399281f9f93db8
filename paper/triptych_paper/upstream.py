"""The tables of a run with the paper's own drivers: what was published, upstream here, and ours, in this order.

Upstream against published is the reproduction. Ours against upstream is the progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from triptych_paper import throughput
from triptych_paper.conditions import DEFAULT_CONDITIONS
from triptych_paper.counters import (
    PAIRED_NOTE,
    counter_names,
    quotient,
    readme_notes,
    readme_rows,
)
from triptych_paper.drivers import CHECKED, DRIVERS, RUST, UNSAFE, C, Driver, by_own_flags, upstream
from triptych_paper.facts import machine
from triptych_paper.lookup import Measured, apart, choose, find, ratio, reason
from triptych_paper.published import C2RUST_NOTE, CYCLES_NOTE, LOADS_NOTE, PROCESSOR_NOTE, Figure, Published
from triptych_paper.records import Run
from triptych_paper.schema import CORE_CYCLES, CYCLES, MODEL, TSC_CYCLES, Metric, Source
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number
from triptych_paper.throughput import Whole
from triptych_paper.values import record, source_cell, value_cell

WITH_CHECKS = (CYCLES, "instructions", "branches")
"""Rows that also show safe Rust with overflow checks."""

FLAGS_NOTE = "Upstream is built with the flags of its own build files. Parentheses hold its value with our flags."
PROGRESS_NOTE = (
    "Ours ÷ upstream divides builds with the same flags, ours, so that it compares code. Noisy values are divided "
    "round by round; below is the 10th to 90th percentile."
)
NOTE = (
    "Upstream ÷ published is the reproduction, and ours ÷ upstream the progress. The first is missing where the two do "
    "not count the same unit, at the same level, in the same scope. Below a noisy value is its 10th to 90th percentile."
)


@dataclass(frozen=True)
class Line:
    """What one row shows: a driver of ours, its upstream counterpart and the published figure."""

    ours: Driver
    value: Measured | None
    theirs: Measured | None
    """Upstream as its own build files build it, or else with our flags."""
    theirs_driver: Driver
    same_flags: Measured | None
    """Upstream with our flags."""
    progress: Summary | None
    figure: Figure | None


def per_packet(run: Run, published: Published, batch: int) -> Table:
    """Build the table of all counters at one batch size."""
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for name in counter_names():
        cells, found = _counter(run, published, name, batch)
        rows += cells
        records += found
    columns = _columns("per packet", (PROCESSOR_NOTE,))
    title = f"Counters per packet, batch {batch}"
    return Table(f"counters-batch-{batch}", title, columns, tuple(rows), tuple(records), NOTE)


def compared(run: Run, published: Published, batch: int) -> Table:
    """Build the table of ratios to C, and of whole processes, at one batch size."""
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for name in (CYCLES, "instructions"):
        cells, found = _times_c(run, published, name, batch)
        rows += cells
        records += found
    for whole in throughput.shown(run, batch):
        cells, found = _whole(run, published, whole, batch)
        rows += cells
        records += found
    title = f"Ratios to C, and whole processes, batch {batch}"
    note = " ".join(text for text in (NOTE, throughput.left_out(run, batch)) if text)
    return Table(f"compared-batch-{batch}", title, _columns("compared"), tuple(rows), tuple(records), note)


def readme(run: Run, published: Published, batch: int = 32) -> Table:
    """Build the table of the README: the rows that matter most, without long footnotes."""
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for name in readme_rows(run):
        cells, found = _counter(run, published, name, batch, DRIVERS)
        notes = readme_notes([find(run, driver, batch, choose(run, name, _all())) for driver in DRIVERS])
        rows += [tuple(replace(cell, notes=()) for cell in row) for row in cells]
        rows[-len(cells)] = (*rows[-len(cells)][:-1], replace(rows[-len(cells)][-1], notes=notes))
        records += found
    for whole in throughput.shown(run, batch):
        if whole.source.metric.name == "mpps":
            cells, found = _whole(run, published, whole, batch)
            rows += [tuple(replace(cell, notes=()) for cell in row) for row in cells]
            records += found
    left_out = throughput.left_out(run, batch)
    left_out += " " if left_out else ""
    note = (
        f"{NOTE} Published: ixy, ixy.rs, and ixy by C2Rust, the last without batch size or clock. Upstream: the same "
        "drivers, measured here, with the flags of their own build files, and in parentheses with ours. "
        f"{left_out}Measured in the run {run.id}: {machine(run)}."
    )
    columns = tuple(replace(column, notes=()) for column in _columns("per packet"))
    title = f"Counters per packet, batch {batch}"
    return Table("readme", title, columns, tuple(rows), tuple(records), note)


def _columns(first: str, notes: tuple[str, ...] = ()) -> tuple[Column, ...]:
    return (
        Column(first, numeric=False, notes=notes),
        Column("driver", numeric=False),
        Column("published", emphasis=False),
        Column("upstream here", notes=(FLAGS_NOTE,)),
        Column("ours"),
        Column("upstream ÷ published", emphasis=False),
        Column("ours ÷ upstream", emphasis=False, notes=(PROGRESS_NOTE,)),
        Column("counted by", numeric=False),
    )


def _all() -> list[Driver]:
    """Return all drivers that a row can show: they share a source."""
    ours = (*DRIVERS, CHECKED)
    theirs = [upstream(driver) for driver in ours]
    return [*ours, *theirs, *map(by_own_flags, theirs)]


def _line(run: Run, driver: Driver, batch: int, chosen: Source, figure: Figure | None) -> Line:
    same = upstream(driver)
    own = by_own_flags(same)
    theirs, same_flags = find(run, own, batch, chosen), find(run, same, batch, chosen)
    base = same if same_flags else own
    return Line(
        ours=driver,
        value=find(run, driver, batch, chosen),
        theirs=theirs or same_flags,
        theirs_driver=own if theirs else same,
        same_flags=same_flags,
        progress=ratio(run, driver, base, batch, chosen),
        figure=figure,
    )


def _counter(
    run: Run, published: Published, name: str, batch: int, drivers: Sequence[Driver] | None = None
) -> tuple[list[tuple[Cell, ...]], list[Record]]:
    """Return the rows of one counter, a row for each driver."""
    chosen = choose(run, name, _all(), DEFAULT_CONDITIONS)
    metric = chosen.metric
    like = not apart(run, chosen)
    if drivers is None:
        drivers = (C, RUST, *((CHECKED,) if name in WITH_CHECKS and find(run, CHECKED, batch, chosen) else ()), UNSAFE)
    lines = [_line(run, driver, batch, chosen, published.get(metric.name, driver, batch)) for driver in drivers]
    values = [value for line in lines for value in (line.value, line.theirs)]
    origin = source_cell(run, name, values)
    rows, records = [], []
    for place, line in enumerate(lines):
        reproduced = quotient(line.theirs.summary.median, line.figure) if line.theirs and like else None
        cells = _cells(run, line, batch, chosen, metric, 1.0, reproduced)
        label = _label(metric, batch) if place == 0 else Cell()
        rows.append((label, *cells, origin if place == 0 else Cell()))
        records += _records(run, line, batch, chosen, metric.name, like)
    return rows, records


def _label(metric: Metric, batch: int) -> Cell:
    disputed = metric.name in (CORE_CYCLES, TSC_CYCLES) and batch == 32
    return Cell(metric.label, notes=(CYCLES_NOTE,) if disputed else ())


def _cells(
    run: Run, line: Line, batch: int, chosen: Source, metric: Metric, scale: float, reproduced: float | None
) -> tuple[Cell, ...]:
    """Return the cells of a row between its label and its source."""

    def text(value: float) -> str:
        return number(scale * value, metric.digits if scale == 1.0 else 1)

    notes: tuple[str, ...] = ()
    if line.figure and line.figure.batch_unknown:
        notes += (C2RUST_NOTE,)
    if metric.name == "loads" and line.ours == C and batch == 8:
        notes += (LOADS_NOTE,)
    detail = []
    if line.same_flags and line.theirs_driver != upstream(line.ours):
        detail = [f"({text(line.same_flags.summary.median)})"]
    # The paper has no driver with overflow checks in its tables, so its absence needs no reason.
    reasons = {
        whose: "" if value else reason(run, driver, batch, chosen)
        for whose, driver, value in (("ours", line.ours, line.value), ("theirs", line.theirs_driver, line.theirs))
    }
    if line.ours == CHECKED:
        reasons["theirs"] = ""
    return (
        Cell(line.ours.name),
        Cell(line.figure.text if line.figure else ABSENT, notes=notes),
        value_cell(line.theirs, text, reasons["theirs"], detail),
        value_cell(line.value, text, reasons["ours"]),
        Cell(ABSENT if reproduced is None else number(reproduced, 2)),
        _progress(line.progress),
    )


def _progress(progress: Summary | None) -> Cell:
    if progress is None:
        return Cell(ABSENT)
    low, high = number(progress.low, 2), number(progress.high, 2)
    return Cell(number(progress.median, 2), (f"{low} to {high}",) if low != high else ())


def _records(run: Run, line: Line, batch: int, chosen: Source, name: str, like: bool) -> list[Record]:
    """Return the values of a row as records: ours, and upstream by each set of flags."""
    shown = [(line.ours, line.value)]
    if line.ours != CHECKED or line.theirs:
        shown.append((line.theirs_driver, line.theirs))
    if line.same_flags and line.theirs_driver != upstream(line.ours):
        shown.append((upstream(line.ours), line.same_flags))
    records = []
    for driver, value in shown:
        missing = "" if value else reason(run, driver, batch, chosen)
        median = value.summary.median if value and like else None
        fields: Record = {
            **record(driver, batch, name, value, missing=missing),
            "published": line.figure.text if line.figure else None,
            "ratio_to_published": quotient(median, line.figure),
            "ratio_to_upstream": None,
            "ratio_to_upstream_p10": None,
            "ratio_to_upstream_p90": None,
        }
        if driver == line.ours and line.progress:
            fields["ratio_to_upstream"] = line.progress.median
            if line.progress.count > 1:
                fields["ratio_to_upstream_p10"] = line.progress.low
                fields["ratio_to_upstream_p90"] = line.progress.high
        records.append(fields)
    return records


def _times_c(run: Run, published: Published, name: str, batch: int) -> tuple[list[tuple[Cell, ...]], list[Record]]:
    """Compare a counter with that of the C driver in the same round, ours and upstream."""
    chosen = choose(run, name, _all(), DEFAULT_CONDITIONS)
    label = f"{chosen.metric.label}, times C"
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    values: list[Measured | None] = []
    for driver in (RUST, CHECKED, UNSAFE):
        figure = published.ratio_to_c(chosen.metric.name, driver, batch)
        ours = ratio(run, driver, C, batch, chosen)
        base = _line(run, C, batch, chosen, None).theirs_driver
        line = _line(run, driver, batch, chosen, figure)
        theirs = ratio(run, line.theirs_driver, base, batch, chosen)
        if driver == CHECKED and not ours:
            continue
        value = Measured(ours, "times C", chosen) if ours else None
        other = Measured(theirs, "times C", chosen) if theirs else None
        # Without C there is no ratio, so the reason for C's absence comes first.
        lacking = driver if find(run, C, batch, chosen) else C
        missing = "" if value else reason(run, lacking, batch, chosen)
        absent = "" if other or driver == CHECKED else reason(run, line.theirs_driver, batch, chosen)
        reproduced = quotient(theirs.median, figure) if theirs else None
        progress = ours.median / theirs.median if ours and theirs and theirs.median else None
        notes = (C2RUST_NOTE,) if figure and figure.batch_unknown else ()
        rows.append(
            (
                Cell() if rows else Cell(label),
                Cell(driver.name),
                Cell(figure.text if figure else ABSENT, notes=notes),
                value_cell(other, lambda v: number(v, 2), absent),
                value_cell(value, lambda v: number(v, 2), missing),
                Cell(ABSENT if reproduced is None else number(reproduced, 2)),
                Cell(ABSENT if progress is None else number(progress, 2)),
                Cell(),
            )
        )
        values += [value, other]
        metric = f"{chosen.metric.name}_times_c"
        fields: Record = {"published": figure.text if figure else None}
        records.append(
            {
                **record(driver, batch, metric, value, missing=missing),
                **fields,
                "ratio_to_published": quotient(ours.median if ours else None, figure),
                "ratio_to_upstream": progress,
            }
        )
        if other or absent:
            found = record(line.theirs_driver, batch, metric, other, missing=absent)
            records.append({**found, **fields, "ratio_to_published": reproduced})
    origin = source_cell(run, name, values)
    if name == CYCLES and any(values) and not chosen.exact:
        origin = replace(origin, notes=(*origin.notes, PAIRED_NOTE))
    rows[0] = (*rows[0][:-1], origin)
    return rows, records


def _whole(run: Run, published: Published, whole: Whole, batch: int) -> tuple[list[tuple[Cell, ...]], list[Record]]:
    """Return the rows of whole processes, or of their throughput in virtual time."""
    chosen, name = whole.source, whole.source.metric.name
    lines = [_line(run, driver, batch, chosen, whole.figure(published, driver, batch)) for driver in DRIVERS]
    values = [value for line in lines for value in (line.value, line.theirs)]
    origin = source_cell(run, name, values)
    like = chosen.backend == MODEL and not apart(run, chosen)
    rows, records = [], []
    for place, line in enumerate(lines):
        reproduced = quotient(line.theirs.summary.median, line.figure) if line.theirs and like else None
        cells = _cells(run, line, batch, chosen, chosen.metric, whole.scale, reproduced)
        rows.append((Cell(whole.label) if place == 0 else Cell(), *cells, origin if place == 0 else Cell()))
        records += _records(run, line, batch, chosen, name, like)
    return rows, records
