"""The model against the counters that were published for the paper's own drivers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triptych_paper.counters import PUBLISHED_BATCHES
from triptych_paper.drivers import RUST, UPSTREAM, C, Driver
from triptych_paper.report.model import Data
from triptych_paper.report.validation.part import Part
from triptych_paper.schema import CORE_CYCLES, metric, source
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number, signed
from triptych_paper.validation import BEYOND_L1, PublishedCell, paper_cpus, published_cells, times_c

ROWS = (
    *("instructions", "branches", "branch_misses", "loads", "stores", "l1_hits", "l2_hits", "l3_hits", "l3_misses"),
    *(BEYOND_L1, CORE_CYCLES, "ipc"),
)
"""The rows of the comparison with the published counters."""

PAPER = (C, RUST)
"""The drivers whose counters were published at both batch sizes."""


def build(data: Data) -> Part:
    """Compare the modelled counters of the paper's own drivers with the published ones."""
    cpus = paper_cpus(data.run)
    found = {cpu: published_cells(data.run, data.published, ROWS, PAPER, PUBLISHED_BATCHES, cpu) for cpu in cpus}
    found = {cpu: cells for cpu, cells in found.items() if cells}
    if not found:
        why = (
            "No comparison with the published counters: it needs the paper's own drivers, modelled for haswell. "
            "`make peers` builds them."
        )
        return Part(missing=(why,))
    tables: list[Table] = []
    text: list[str] = []
    for cpu, cells in found.items():
        tables += [_published_table(cpu, cells), _limits_table(cpu, cells)]
        text.append(_published_sentence(cpu, cells))
    return Part(tuple(text), tuple(tables))


def _published_sentence(cpu: str, cells: Sequence[PublishedCell]) -> str:
    cycles = [cell for cell in cells if cell.name == CORE_CYCLES and cell.ratio is not None]
    ratios = sorted(cell.ratio for cell in cycles if cell.ratio is not None)
    if not ratios:
        return f"The model of {cpu} gives no cycles of the paper's own drivers."
    worst = max(cycles, key=lambda cell: abs((cell.ratio or 1) - 1))
    return (
        f"The model of {cpu} gives the paper's own drivers {number(ratios[0], 2)} to {number(ratios[-1], 2)} times the "
        f"published cycles. It is most wrong for {_theirs(worst.driver)} at batch {worst.batch}: "
        f"{number(worst.modelled, 0)} modelled, {worst.text} published."
    )


def _theirs(driver: Driver) -> str:
    return Driver(UPSTREAM[driver.impl]).name


def _published_table(cpu: str, cells: Sequence[PublishedCell]) -> Table:
    by_key = {(cell.name, cell.driver, cell.batch): cell for cell in cells}
    pairs = [(driver, batch) for batch in PUBLISHED_BATCHES for driver in PAPER]
    columns = [Column("per packet", numeric=False)]
    for driver, batch in pairs:
        columns += [
            Column(f"{_theirs(driver)}, batch {batch}"),
            Column("published", emphasis=False),
            Column("÷", emphasis=False),
        ]
    rows = []
    for name in ROWS:
        row = [Cell(_label(name))]
        for driver, batch in pairs:
            row += _published_cells(by_key.get((name, driver, batch)))
        rows.append(tuple(row))
    row = [Cell(f"cycles, {_theirs(RUST)} ÷ {_theirs(C)}")]
    for driver, batch in pairs:
        ratio = times_c(cells, RUST, batch) if driver == RUST else None
        texts = (number(ratio[0], 2), number(ratio[1], 2), number(ratio[0] / ratio[1], 2)) if ratio else ("",) * 3
        row += [Cell(text) for text in texts]
    rows.append(tuple(row))
    note = (
        f"Modelled for {cpu} at {source(CORE_CYCLES, 'model').clock_ghz:g} GHz; the column ÷ is modelled ÷ published. "
        "Instructions, branches, loads and stores are counted. The published figures of the caches do not add up to "
        "the loads, because a load that finds its value in the store buffer counts as neither."
    )
    records = tuple(_published_record(cell) for cell in cells)
    return Table(
        f"validation-published-{cpu}",
        f"The model of {cpu} against the published counters",
        tuple(columns),
        tuple(rows),
        records,
        note,
    )


def _label(name: str) -> str:
    return "L2 hits, L3 hits and L3 misses" if name == BEYOND_L1 else metric(name).label


def _digits(name: str) -> int:
    return 2 if name == BEYOND_L1 else metric(name).digits


def _published_cells(cell: PublishedCell | None) -> list[Cell]:
    if cell is None:
        return [Cell(ABSENT), Cell(ABSENT), Cell(ABSENT)]
    ratio = ABSENT if cell.ratio is None else number(cell.ratio, 2)
    return [Cell(number(cell.modelled, _digits(cell.name))), Cell(cell.text), Cell(ratio)]


def _published_record(cell: PublishedCell) -> Record:
    counted = cell.name != BEYOND_L1 and not source(cell.name, "model").simulated
    return {
        "impl": UPSTREAM[cell.driver.impl],
        "batch": cell.batch,
        "metric": cell.name,
        "kind": "counted" if counted else "modelled",
        "cpu": "" if counted else cell.cpu,
        "modelled": cell.modelled,
        "published": cell.published,
        "modelled_to_published": cell.ratio,
    }


@dataclass(frozen=True)
class Limit:
    """How far the model may be from the published values."""

    label: str
    names: tuple[str, ...]
    relative: float | None = None
    """The largest distance of modelled ÷ published from 1."""
    absolute: float | None = None
    """The largest difference a packet."""


LIMITS = (
    Limit("instructions", ("instructions",), relative=0.1),
    Limit("branches", ("branches",), relative=0.1),
    Limit("loads", ("loads",), relative=0.1),
    Limit("stores", ("stores",), relative=0.1),
    Limit("load L1 hits", ("l1_hits",), relative=0.1),
    Limit("L2 hits, L3 hits and L3 misses", (BEYOND_L1,), absolute=0.5),
    Limit("cycles", (CORE_CYCLES,), relative=0.25),
)
"""The limits that were set before the model existed."""

RATIO_LIMIT = 0.08
"""The largest difference of the cycles of ixy.rs ÷ ixy."""


def _limits_table(cpu: str, cells: Sequence[PublishedCell]) -> Table:
    rows, records = [], []
    for limit in LIMITS:
        part = [cell for cell in cells if cell.name in limit.names and cell.ratio is not None]
        if not part:
            continue
        worst = max(part, key=lambda cell: _distance(limit, cell))
        distance = _distance(limit, worst)
        bound = limit.relative if limit.relative is not None else limit.absolute or 0.0
        allowed = f"{number(100 * bound, 0)} %" if limit.relative is not None else f"{bound:g} a packet"
        if limit.relative is not None:
            text = f"{signed(100 * ((worst.ratio or 1) - 1), 1)} %"
        else:
            text = f"{signed(worst.modelled - worst.published, 2)} a packet"
        where = f"{_theirs(worst.driver)}, batch {worst.batch}"
        rows.append((Cell(limit.label), Cell(allowed), Cell(text), Cell(where), _met(distance <= bound)))
        records.append(_limit_record(cpu, limit.label, bound, distance, where))
    for batch in PUBLISHED_BATCHES:
        ratio = times_c(cells, RUST, batch)
        if ratio is None:
            continue
        distance = abs(ratio[0] - ratio[1])
        label = f"cycles, {_theirs(RUST)} ÷ {_theirs(C)}, batch {batch}"
        text = f"{number(ratio[0], 2)} for {number(ratio[1], 2)}"
        rows.append((Cell(label), Cell(f"{RATIO_LIMIT:g}"), Cell(text), Cell(), _met(distance <= RATIO_LIMIT)))
        records.append(_limit_record(cpu, label, RATIO_LIMIT, distance, ""))
    columns = (
        Column("per packet", numeric=False),
        Column("allowed", emphasis=False),
        Column("farthest"),
        Column("where", numeric=False),
        Column("", numeric=False),
    )
    title = f"Limits for the model of {cpu}"
    note = "Limits that were set before the model existed, and the value that is farthest from the published one."
    return Table(f"validation-limits-{cpu}", title, columns, tuple(rows), tuple(records), note)


def _distance(limit: Limit, cell: PublishedCell) -> float:
    if limit.relative is not None:
        return abs((cell.ratio or 1.0) - 1)
    return abs(cell.modelled - cell.published)


def _met(met: bool) -> Cell:
    return Cell("met", tone="good") if met else Cell("exceeded", tone="bad")


def _limit_record(cpu: str, label: str, bound: float, distance: float, where: str) -> Record:
    return {"cpu": cpu, "what": label, "allowed": bound, "farthest": distance, "where": where, "met": distance <= bound}
