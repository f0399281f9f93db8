"""Several runs of one matrix, of other machines or clocks, side by side."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from triptych_paper.counters import ROWS
from triptych_paper.errors import DataError
from triptych_paper.records import Run, machine, part, read_run
from triptych_paper.schema import OURS
from triptych_paper.tables.model import Cell, Column, Table
from triptych_paper.values import QUANTITIES, Values, value_cell

OF_THE_MACHINE = {"clocks_ghz", "devices", "link_timeout", "pktgen", "pktgen_host"}
"""Keys of a matrix in which the runs may differ: they name the machine and its clock."""


def read_runs(folders: list[Path]) -> list[Run]:
    """Read runs; :class:`DataError` if they do not belong together."""
    runs = [read_run(folder) for folder in folders]
    for one, other in pairwise(runs):
        if why := _difference(one, other):
            raise DataError(f"{one.folder} and {other.folder} do not belong in one report: {why}")
    return runs


def _difference(one: Run, other: Run) -> str:
    """Say why two runs do not belong together; empty if they do."""
    if not (one.ended and other.ended):
        return "one of them is incomplete: continue it with `triptych run --resume`, or leave it out"
    if one.revision != other.revision:
        return f"they measured other revisions, {one.revision} and {other.revision}"
    if part(one.info, "git").get("dirty") and one.info.get("artefacts") != other.info.get("artefacts"):
        return "their sources had uncommitted changes, and their builds differ: commit, and measure both again"
    plans = [part(run.info, "plan") for run in (one, other)]
    keys = [key for key in sorted({*plans[0], *plans[1]} - OF_THE_MACHINE) if plans[0].get(key) != plans[1].get(key)]
    return f"their matrices differ in: {', '.join(keys)}" if keys else ""


def tables(runs: list[Values]) -> list[Table]:
    """Build the tables of several runs."""
    keys = tuple(key for key in ROWS if key != "burst_memory")
    return [side_by_side(runs, batch, keys) for batch in (32, 8)]


def side_by_side(runs: list[Values], batch: int, keys: tuple[str, ...]) -> Table:
    """Show the drivers of several runs beside each other: a row for each quantity and driver, a column for each run."""
    rows = []
    for quantity in (QUANTITIES[key] for key in keys):
        sources = [values.choose(quantity, OURS) for values in runs]
        for driver in OURS:
            found = [values.find(driver, batch, source) for values, source in zip(runs, sources, strict=True)]
            if any(found):
                cells = [value_cell(value, quantity.digits) for value in found]
                backends = " / ".join(dict.fromkeys(source.backend for source in sources))
                label = quantity.name if driver == OURS[0] else ""
                rows.append((Cell(label), Cell(driver.name), *cells, Cell(backends)))
    headings = [_name(values) for values in runs]
    columns = [Column("per packet", numeric=False), Column("driver", numeric=False), *map(Column, headings)]
    title = f"The runs side by side, batch {batch}"
    return Table(f"runs-batch-{batch}", title, (*columns, Column("counted by", numeric=False)), tuple(rows), ())


def _name(values: Values) -> str:
    """Name a run by its machine and its fixed clock. Two runs of one machine have the same id."""
    identity = part(values.run.info, "host").get("machine_id")
    same = f" ({identity})" if identity else ""
    fixed = part(values.run.info, "core_clock").get("fixed_ghz")
    clock = f", {fixed:g} GHz" if isinstance(fixed, (int, float)) else ""
    return f"{machine(values.run.info)}{same}{clock}, {values.run.id}"
