"""The tables of counters per packet: measured values beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from triptych_paper import throughput
from triptych_paper.conditions import DEFAULT_CONDITIONS
from triptych_paper.drivers import CHECKED, RUST, UNSAFE, C
from triptych_paper.facts import machine
from triptych_paper.lookup import Measured, apart, choose, find, has_model, ratio, reason
from triptych_paper.published import C2RUST_NOTE, CYCLES_NOTE, LOADS_NOTE, PROCESSOR_NOTE, Figure, Published
from triptych_paper.quantities import published as was_published
from triptych_paper.records import Run
from triptych_paper.schema import CORE_CYCLES, CYCLES, MODEL, TSC_CYCLES, Metric, metrics
from triptych_paper.tables.model import Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, repeats
from triptych_paper.throughput import Whole
from triptych_paper.values import record, source_cell, value_cell

DRIVERS = (C, RUST, CHECKED, UNSAFE)
"""The columns."""

PUBLISHED_BATCHES = (32, 8)
"""Batch sizes with published figures; they come first."""

CELL_NOTE = (
    "Each cell: measured (published, measured ÷ published), and below it the 10th to 90th percentile of the repeats. A "
    "quotient is only shown where both count the same unit, at the same level, in the same scope."
)
PAIRED_NOTE = (
    "Median over all rounds of the ratio to C in the same round: a disturbance of both cancels. The published figure "
    "is the ratio of the core cycles."
)

README_ROWS = (CYCLES, "instructions", "branches", "branch_misses", "loads", "stores", "l1_hits")
"""The rows of the table in the README."""

README_NOTES = {
    "modelled": "Modelled: the executed instructions ran through a model of the named processor. The values are equal "
    "in every run, on every machine. The report's section on validation says how far they can be believed.",
    "model": "Counted instruction by instruction, with driver and card in turns, so that batches are full.",
    "lockstep": "Cycles of the time-stamp counter during the driver's turns. The published figures are core cycles of "
    "another machine: compare drivers, not machines.",
    "valgrind": "Valgrind counts conditional and indirect branches, and the memory accesses of instructions. The "
    "published figures count all branches, and micro-operations.",
    "simulated": "Simulated: valgrind's branch predictor and caches, not the processor's.",
}
"""The footnotes of that table: one for each way to count that differs from the published one."""


def measured_batches(run: Run) -> list[int]:
    """Return the batch sizes of a run: first those with published figures, then the others as they grow."""
    present = {int(batch) for batch in run.samples["batch"]} | {failure.batch for failure in run.failures}
    return [batch for batch in PUBLISHED_BATCHES if batch in present] + sorted(present - set(PUBLISHED_BATCHES))


def shown_batches(run: Run) -> list[int]:
    """Return the batch sizes whose tables are shown: those with published figures, or else all."""
    present = measured_batches(run)
    return [batch for batch in present if batch in PUBLISHED_BATCHES] or present


def counter_names() -> list[str]:
    """Return the rows of the counter table: every counter that was published, with one row for cycles."""
    both = (CORE_CYCLES, TSC_CYCLES)
    return [
        CYCLES,
        *(m.name for m in metrics().values() if m.group == "counter" and m.name not in both and was_published(m.name)),
    ]


@dataclass(frozen=True)
class Row:
    """The values of one metric at one batch size."""

    metric: Metric
    values: tuple[Measured | None, ...]
    """One for each of :data:`DRIVERS`."""
    missing: tuple[str, ...]
    """The reason for a missing value; empty for the others."""
    source: Cell
    """The backend, with its notes."""
    like: bool
    """Whether the backend counts what was published."""


def counter_row(run: Run, name: str, batch: int) -> Row:
    """Look up the values of a counter, all from one source."""
    chosen = choose(run, name, DRIVERS, DEFAULT_CONDITIONS)
    values = tuple(find(run, driver, batch, chosen) for driver in DRIVERS)
    missing = tuple(
        "" if value else reason(run, driver, batch, chosen) for driver, value in zip(DRIVERS, values, strict=True)
    )
    like = not apart(run, chosen)
    return Row(chosen.metric, values, missing, source_cell(run, name, values), like)


def per_packet(run: Run, published: Published, batch: int) -> Table:
    """Build the table of all counters at one batch size."""
    rows, records = [], []
    for name in counter_names():
        row = counter_row(run, name, batch)
        rows.append((_label(row.metric, batch), *_cells(row, published, batch), row.source, _repeats(row.values)))
        for driver, value, missing in zip(DRIVERS, row.values, row.missing, strict=True):
            figure = published.get(row.metric.name, driver, batch)
            values = record(driver, batch, row.metric.name, value, missing=missing)
            median = value.summary.median if value and row.like else None
            records.append({**values, **_published_fields(median, figure)})
    title = f"Counters per packet, batch {batch}"
    columns = _columns("per packet", (PROCESSOR_NOTE,))
    return Table(f"counters-batch-{batch}", title, columns, tuple(rows), tuple(records), CELL_NOTE)


def _columns(first: str, notes: tuple[str, ...] = ()) -> tuple[Column, ...]:
    return (
        Column(first, numeric=False, notes=notes),
        *(Column(driver.name) for driver in DRIVERS),
        Column("counted by", numeric=False),
        Column("repeats", emphasis=False),
    )


def _label(shown: Metric, batch: int) -> Cell:
    disputed = shown.name in (CORE_CYCLES, TSC_CYCLES) and batch == 32
    return Cell(shown.label, notes=(CYCLES_NOTE,) if disputed else ())


def _repeats(values: Sequence[Measured | None]) -> Cell:
    return Cell(repeats(value.summary.count for value in values if value))


def _cells(row: Row, published: Published, batch: int) -> list[Cell]:
    cells = []
    for driver, value, missing in zip(DRIVERS, row.values, row.missing, strict=True):
        figure = published.get(row.metric.name, driver, batch)
        cell = value_cell(value, lambda v: number(v, row.metric.digits), missing)
        notes = cell.notes
        if figure and figure.batch_unknown:
            notes += (C2RUST_NOTE,)
        if row.metric.name == "loads" and driver == C and batch == 8:
            notes += (LOADS_NOTE,)
        median = value.summary.median if value and row.like else None
        cells.append(replace(cell, notes=notes, published=_beside(median, figure)))
    return cells


def quotient(value: float | None, figure: Figure | None) -> float | None:
    """Divide a measured value by the published one; None if one is missing or zero was published."""
    return value / figure.value if value is not None and figure and figure.value else None


def _beside(value: float | None, figure: Figure | None) -> str:
    """Return the published figure and the quotient, as a cell shows them."""
    found = quotient(value, figure)
    texts = [figure.text] if figure else []
    return ", ".join(texts if found is None else [*texts, f"{found:.2f}"])


def _published_fields(value: float | None, figure: Figure | None) -> Record:
    return {"published": figure.text if figure else None, "ratio_to_published": quotient(value, figure)}


def compared(run: Run, published: Published, batch: int) -> Table:
    """Build the table of ratios to C, and of whole processes, at one batch size."""
    rows, records = [], []
    for name in (CYCLES, "instructions"):
        cells, found = _times_c(run, published, name, batch)
        rows.append(cells)
        records += found
    for whole in throughput.shown(run, batch):
        cells, found = _whole(run, published, whole, batch)
        rows.append(cells)
        records += found
    title = f"Ratios to C, and whole processes, batch {batch}"
    note = " ".join(text for text in (CELL_NOTE, throughput.left_out(run, batch)) if text)
    return Table(f"compared-batch-{batch}", title, _columns("compared"), tuple(rows), tuple(records), note)


def _times_c(run: Run, published: Published, name: str, batch: int) -> tuple[tuple[Cell, ...], list[Record]]:
    """Compare a counter with C's, round by round."""
    chosen = choose(run, name, DRIVERS, DEFAULT_CONDITIONS)
    values: list[Measured | None] = []
    cells, records = [], []
    for driver in DRIVERS:
        summary = ratio(run, driver, C, batch, chosen)
        value = Measured(summary, "times C", chosen) if summary else None
        # Without C there is no ratio, so the reason for C's absence comes first.
        lacking = driver if find(run, C, batch, chosen) else C
        missing = "" if value else reason(run, lacking, batch, chosen)
        figure = published.ratio_to_c(chosen.metric.name, driver, batch)
        notes = (C2RUST_NOTE,) if figure and figure.batch_unknown else ()
        cell = value_cell(value, lambda v: number(v, 2), missing)
        median = summary.median if summary else None
        cells.append(replace(cell, notes=cell.notes + notes, published=_beside(median, figure)))
        values.append(value)
        times = record(driver, batch, f"{chosen.metric.name}_times_c", value, missing=missing)
        records.append({**times, **_published_fields(median, figure)})
    origin = source_cell(run, name, values)
    if name == CYCLES and any(values) and not chosen.exact:
        origin = replace(origin, notes=(*origin.notes, PAIRED_NOTE))
    return (Cell(f"{chosen.metric.label}, times C"), *cells, origin, _repeats(values)), records


def _whole(run: Run, published: Published, whole: Whole, batch: int) -> tuple[tuple[Cell, ...], list[Record]]:
    """Return a row of whole processes, or of their throughput in virtual time."""
    name = whole.source.metric.name
    values = [find(run, driver, batch, whole.source) for driver in DRIVERS]
    like = whole.source.backend == MODEL and not apart(run, whole.source)
    cells, records = [], []
    for driver, value in zip(DRIVERS, values, strict=True):
        missing = "" if value else reason(run, driver, batch, whole.source)
        figure = whole.figure(published, driver, batch)
        median = value.summary.median if value and like else None
        cell = value_cell(value, lambda v: number(whole.scale * v, 1), missing)
        cells.append(replace(cell, published=_beside(median, figure)))
        values_of = record(driver, batch, name, value, missing=missing)
        records.append({**values_of, **_published_fields(median, figure)})
    return (Cell(whole.label), *cells, source_cell(run, name, values), _repeats(values)), records


def readme(run: Run, published: Published, batch: int = 32) -> Table:
    """Build the table of the README: the rows that matter most, with at most three footnotes."""
    rows, records = [], []
    for name in readme_rows(run):
        row = counter_row(run, name, batch)
        # Counts have no spread worth the room; cycles never stand without theirs.
        kept = row.metric.name in (CORE_CYCLES, TSC_CYCLES)
        cells = [replace(cell, detail=cell.detail if kept else (), notes=()) for cell in _cells(row, published, batch)]
        rows.append((Cell(row.metric.label), *cells, replace(row.source, notes=readme_notes(row.values))))
        records += [record(driver, batch, row.metric.name, v) for driver, v in zip(DRIVERS, row.values, strict=True)]
    note = (
        "Each cell: measured (published, measured ÷ published where both count the same), and below cycles the 10th to "
        "90th percentile. The figures of unsafe Rust were published without batch size or clock. Measured in "
        f"the run {run.id}: {machine(run)}."
    )
    title = f"Counters per packet, batch {batch}"
    return Table("readme", title, _columns("per packet")[:-1], tuple(rows), tuple(records), note)


def readme_notes(values: Sequence[Measured | None]) -> tuple[str, ...]:
    """Return the footnote of the README's table about the way in which values were counted."""
    origin = next((value.source for value in values if value), None)
    if origin is None or not origin.metric.notes.get(origin.backend):
        return ()
    kind = "modelled" if origin.modelled else "simulated" if origin.simulated else origin.backend
    return (README_NOTES[kind],)


def readme_rows(run: Run) -> Sequence[str]:
    """Return the rows of the README's table: all counters if the run has the model, which gives all of them."""
    return counter_names() if has_model(run) else README_ROWS
