"""The published table, measured here: what was published, upstream here, and ours, in this order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from triptych_paper.published import Figure, Published
from triptych_paper.records import machine, part
from triptych_paper.schema import CHECKED, OURS, RUST, UNSAFE, C, Driver, metrics, own_flags, upstream
from triptych_paper.statistics import Summary
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, with_interval
from triptych_paper.values import PER_TSC, QUANTITIES, Quantity, Source, Values, record, source_of, value_cell

ROWS = (
    *("core_cycles", "tsc_memory", "burst_memory", "tsc_warm", "tsc_l3", "instructions", "ipc", PER_TSC),
    *("branches", "branch_misses", "stores", "loads", "l1_hits", "l2_hits", "l3_hits", "l3_misses"),
    *("mpps", "wall_cycles", "full_batch_ratio"),
)
"""The rows of the table, as keys of :data:`QUANTITIES`."""

IF_MEASURED = ("burst_memory", "tsc_l3", "wall_cycles", "full_batch_ratio")
"""Rows that a table leaves out if no driver has a value."""

WITH_CHECKS = ("core_cycles", "tsc_memory", "tsc_warm", "instructions", "branches")
"""Rows that also show safe Rust with overflow checks."""

README_ROWS = ("instructions", "branches", "loads", "stores", "core_cycles", "tsc_memory", "mpps")
RATIOS = ("core_cycles", "tsc_memory", "tsc_warm", "instructions")

LEAST = 0.5
"""A quotient of values below this says more about their rounding than about the drivers, so no table has one."""

MPPS_CLOCK = "1.6 GHz"
PACED = "not shown: fewer than nine of ten batches were full, so the software card set the pace"
NO_UPSTREAM = (
    "The paper's own drivers are not in this run: `make peers` builds them, and `make reproduce` then measures them "
    "beside ours."
)
NOTE = (
    "Below a measured value is the 95 % interval of its median. Upstream has the flags of its own build files, and in "
    "parentheses ours. Upstream ÷ published is the reproduction; ours ÷ upstream, with equal flags, is the progress."
)


@dataclass(frozen=True)
class Line:
    """One driver of a row."""

    driver: Driver
    theirs_driver: Driver
    """The upstream counterpart: by its own flags if the run has it, or else with ours."""
    value: Summary | None
    theirs: Summary | None
    same_flags: Summary | None
    figure: Figure | None
    source: Source
    theirs_source: Source
    paced: bool = False
    """Whether the software card set the pace, so that the values say nothing about the driver."""


def drivers_of(key: str, values: Values) -> tuple[Driver, ...]:
    """Return the drivers of a row."""
    return (C, RUST, CHECKED, UNSAFE) if key in WITH_CHECKS and values.has(CHECKED) else OURS


def lines(values: Values, published: Published, key: str, batch: int) -> list[Line]:
    """Return what a row shows of each driver."""
    quantity, drivers = QUANTITIES[key], drivers_of(key, values)
    pairs = [(upstream(driver), own_flags(upstream(driver))) for driver in drivers]
    theirs = [one for pair in pairs for one in pair]
    ours_source = values.choose(quantity, [*drivers, *([] if quantity.upstream else theirs)])
    theirs_source = values.choose(quantity, theirs, True) if quantity.upstream else ours_source
    paced = ours_source.backend == "wall" and ours_source.metric != "full_batch_ratio"
    paced = paced and values.paced_by_card(OURS, batch)
    found = []
    for driver, (same, own) in zip(drivers, pairs, strict=True):
        by_own, by_ours = (None if paced else values.find(one, batch, theirs_source) for one in (own, same))
        figure = published.get(ours_source.metric, driver, batch)
        if key == "mpps":
            figure = published.mpps(MPPS_CLOCK, driver, batch)
        found.append(
            Line(
                driver=driver,
                theirs_driver=own if by_own or not by_ours else same,
                value=None if paced else values.find(driver, batch, ours_source),
                theirs=by_own or by_ours,
                same_flags=by_ours if by_own and own != same else None,
                figure=figure,
                source=ours_source,
                theirs_source=theirs_source,
                paced=paced,
            )
        )
    return found


def per_packet(values: Values, published: Published, batch: int) -> Table:
    """Build the table of all counters at one batch size."""
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for key in ROWS:
        found = lines(values, published, key, batch)
        if key in IF_MEASURED and not any(line.value or line.theirs for line in found):
            continue
        for place, line in enumerate(found):
            label, origin = Cell(), Cell()
            if place == 0:
                label, origin = Cell(_label(key)), _origin(values, found)
            rows.append((label, *_cells(values, line, batch, QUANTITIES[key]), origin))
            records += _records(line, batch)
    title = f"Counters per packet, batch {batch}"
    return Table(f"counters-batch-{batch}", title, _columns("per packet"), tuple(rows), tuple(records), NOTE)


def _label(key: str) -> str:
    return f"{QUANTITIES[key].name} (published: {MPPS_CLOCK})" if key == "mpps" else QUANTITIES[key].name


def _columns(first: str) -> tuple[Column, ...]:
    return (
        Column(first, numeric=False),
        Column("driver", numeric=False),
        Column("published", emphasis=False),
        Column("upstream here"),
        Column("ours"),
        Column("upstream ÷ published", emphasis=False),
        Column("ours ÷ upstream", emphasis=False),
        Column("counted by", numeric=False),
    )


def _origin(values: Values, found: Sequence[Line]) -> Cell:
    """Name the backends of a row, with what a reader must know about them."""
    shown = [(values.origin(line.source), line.value) for line in found]
    theirs = [(values.origin(line.theirs_source), line.theirs) for line in found]
    ours, other = (next((name for name, value in each if value), "") for each in (shown, theirs))
    text = f"{ours}; upstream: {other}" if ours and other and ours != other else ours or other or ABSENT
    used = dict.fromkeys(line.source.backend for line in found if line.value)
    used |= dict.fromkeys(line.theirs_source.backend for line in found if line.theirs)
    known = metrics().get(found[0].source.metric)
    notes = [known.notes[backend] for backend in used if backend in known.notes] if known else []
    if any(values.multiplexed(line.driver, 32, line.source) for line in found):
        notes.append("Multiplexed: the counter ran for a part of the time only, and the value was scaled up.")
    return Cell(text, notes=tuple(notes))


def _cells(values: Values, line: Line, batch: int, quantity: Quantity) -> tuple[Cell, ...]:
    """Return the cells of a row between its label and its origin."""
    detail = [f"({number(line.same_flags.median, quantity.digits)})"] if line.same_flags else []
    missing, absent = _reasons(values, line, batch)
    reproduced = None
    if line.theirs and line.figure and not values.unlike(line.theirs_source):
        reproduced = quotient(line.theirs.median, line.figure.value)
    return (
        Cell(line.driver.name),
        Cell(line.figure.text if line.figure else ABSENT),
        value_cell(line.theirs, quantity.digits, absent, detail),
        value_cell(line.value, quantity.digits, missing),
        Cell(ABSENT if reproduced is None else number(reproduced, 2)),
        _progress(values, line, batch, quantity),
    )


def _reasons(values: Values, line: Line, batch: int) -> tuple[str, str]:
    """Say why ours and upstream's values are missing. The paper has no driver with overflow checks."""
    if line.paced:
        return PACED, PACED
    missing = "" if line.value else values.reason(line.driver, batch, line.source)
    if line.theirs or line.driver == CHECKED or line.source.metric == "full_batch_ratio":
        return missing, ""
    return missing, values.reason(line.theirs_driver, batch, line.theirs_source) if values.has_upstream else NO_UPSTREAM


def _progress(values: Values, line: Line, batch: int, quantity: Quantity) -> Cell:
    """Divide ours by upstream with the same flags, by a backend that measured both."""
    source = source_of(quantity, quantity.upstream[0]) if quantity.upstream else line.source
    same = upstream(line.driver)
    base = same if values.find(same, batch, source) else own_flags(same)
    values_of = [values.find(driver, batch, source) for driver in (line.driver, base)]
    if line.paced or any(value is None or value.median < LEAST for value in values_of):
        return Cell(ABSENT)
    found = values.ratio(line.driver, base, batch, source)
    return value_cell(found, 2)


def quotient(value: float, base: float) -> float | None:
    """Divide; None for values that are nearly zero."""
    return value / base if min(value, base) >= LEAST else None


def _records(line: Line, batch: int) -> list[Record]:
    fields = {"published": line.figure.value if line.figure else None}
    records = [{**record(line.driver, batch, line.source, line.value), **fields}]
    if line.theirs:
        records.append({**record(line.theirs_driver, batch, line.theirs_source, line.theirs), **fields})
    if line.same_flags:
        records.append(record(upstream(line.driver), batch, line.theirs_source, line.same_flags))
    return records


def compared(values: Values, published: Published, batch: int) -> Table:
    """Build the table of ratios to C in the same round, ours and upstream."""
    rows, records = [], []
    for key in RATIOS:
        found = lines(values, published, key, batch)
        if not any(line.value or line.theirs for line in found):
            continue
        for line in found[1:]:
            base = own_flags(upstream(C)) if line.theirs_driver.variant == "own-flags" else upstream(C)
            base = base if values.find(base, batch, line.theirs_source) else own_flags(base)
            ours = values.ratio(line.driver, C, batch, line.source)
            theirs = values.ratio(line.theirs_driver, base, batch, line.theirs_source) if line.theirs else None
            # The ratio of TSC cycles stands beside the published ratio of core cycles: the clock cancels.
            figure = published.ratio_to_c("core_cycles" if "tsc" in key else line.source.metric, line.driver, batch)
            label = Cell(f"{QUANTITIES[key].name}, times C") if line is found[1] else Cell()
            missing, absent = _reasons(values, line, batch)
            rows.append(
                (
                    label,
                    Cell(line.driver.name),
                    Cell(figure.text if figure else ABSENT),
                    value_cell(theirs, 2, absent),
                    value_cell(ours, 2, missing),
                    _origin(values, found) if line is found[1] else Cell(),
                )
            )
            for driver, source, summary in (
                (line.driver, line.source, ours),
                (line.theirs_driver, line.theirs_source, theirs),
            ):
                fields: Record = {"metric": f"{source.metric}_times_c", "unit": "times C"}
                fields |= {"published": figure.value if figure else None}
                records.append({**record(driver, batch, source, summary), **fields})
    columns = tuple(column for column in _columns("compared") if "÷" not in column.heading)
    note = "Each ratio is the median of the ratios in the same round, with its 95 % interval."
    title = f"Ratios to C, batch {batch}"
    return Table(f"compared-batch-{batch}", title, columns, tuple(rows), tuple(records), note)


def readme(values: Values, published: Published, batch: int = 32) -> Table:
    """Build the table of the README, for C and safe Rust. The tuned path has a row if the run measured it."""
    rows = []
    for key in README_ROWS:
        found = [line for line in lines(values, published, key, batch) if line.driver in (C, RUST)]
        cells = []
        for line in found:
            both = _cells(values, line, batch, QUANTITIES[key])
            # Counts stand alone, and measured values with their interval.
            cells += [both[1], *(replace(cell, detail=cell.detail[:1]) for cell in (both[2], both[3]))]
        cells = [replace(cell, notes=(), detail=() if cell.detail[:1] == () else _between(cell)) for cell in cells]
        rows.append((Cell(_label(key)), *cells, replace(_origin(values, found), notes=())))
        if key == "instructions":
            rows += _tuned(values, batch)
    columns = (
        Column(f"per packet, batch {batch}", numeric=False),
        *(Column(f"{name}: {column}") for name in ("C", "Rust") for column in ("published", "upstream here", "ours")),
        Column("counted by", numeric=False),
    )
    return Table("readme", "", columns, tuple(rows), ())


def _tuned(values: Values, batch: int) -> list[tuple[Cell, ...]]:
    """Return the row of the tuned path; none if the run did not measure it."""
    drivers = [Driver(driver.impl, "tuned") for driver in (C, RUST)]
    source = values.choose(QUANTITIES["instructions"], drivers)
    found = [values.find(driver, batch, source) for driver in drivers]
    cells = [
        cell
        for value in found
        for cell in (Cell(ABSENT), Cell(ABSENT), value_cell(value, QUANTITIES["instructions"].digits))
    ]
    return [(Cell("instructions, tuned path"), *cells, Cell(values.origin(source)))] if any(found) else []


def _between(cell: Cell) -> tuple[str, ...]:
    """Keep the interval of a cell, without upstream's value by our flags."""
    return tuple(line for line in cell.detail if not line.startswith("("))


def sentences(values: Values) -> list[str]:
    """Say what safe Rust costs: first in instructions beside C by the same code generator, then beside C by its own.

    Cycles from memory and with warm lines follow. Each ratio has its interval.
    """
    found = []
    for key, base, label, beside in (
        ("instructions", UNSAFE, "Instructions, one LLVM", "the C driver translated by C2Rust"),
        ("instructions", C, "Instructions", "C"),
        ("tsc_memory", C, "TSC cycles with lines in memory", "C"),
        ("tsc_warm", C, "TSC cycles with lines warm", "C"),
    ):
        source = values.choose(QUANTITIES[key], OURS)
        ratios = {batch: values.ratio(RUST, base, batch, source) for batch in (32, 8)}
        parts = [f"{with_interval(ratio, 2)} at batch {batch}" for batch, ratio in ratios.items() if ratio]
        if parts:
            found.append(f"- **{label}**: safe Rust ÷ {beside} is {' and '.join(parts)}, by {source.backend}.")
    return found


def measured_in(values: Values) -> str:
    """Name the run, its revision and its machine."""
    run = values.run
    ports = part(run.info, "plan").get("devices")
    given = f" The ports were those of a {run.card}; load from outside of the run." if ports else ""
    return f"Measured in the run {run.id} at revision {run.revision}: {machine(run.info)}.{given}"
