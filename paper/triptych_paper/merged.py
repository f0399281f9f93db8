"""Several runs of one matrix in a folder, as `triptych merge` writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from triptych_paper.counters import counter_names
from triptych_paper.drivers import DRIVERS
from triptych_paper.errors import DataError
from triptych_paper.facts import fixed_ghz
from triptych_paper.lookup import choose, find, reason
from triptych_paper.records import Run, read_run
from triptych_paper.schema import source
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table
from triptych_paper.tables.numbers import number
from triptych_paper.values import record, value_cell

FILE = "merged.json"
"""The file that lists the runs."""

NOTE = "Each cell: measured, and below it the 10th to 90th percentile of the repeats. Values of two runs do not mix."


def is_merged(folder: Path) -> bool:
    """Return whether a folder holds several runs."""
    return (folder / FILE).is_file()


def run_folders(folder: Path) -> list[Path]:
    """Return the folders of the runs; :class:`DataError` if the list is malformed."""
    path = folder / FILE
    try:
        names = [entry["folder"] for entry in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    except (OSError, json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    if not names or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise DataError(f"{path} is malformed: it does not name folders beside it")
    return [folder / name for name in names]


def read_runs(folder: Path) -> list[Run]:
    """Read the runs of a merged folder."""
    return [read_run(path) for path in run_folders(folder)]


def names(runs: Sequence[Run]) -> list[str]:
    """Name each run by what differs: its clock, its machine, or its number."""
    clocks = [f"{ghz:g} GHz" if (ghz := fixed_ghz(run)) is not None else "clock not fixed" for run in runs]
    hosts = [str(host.get("host", "?")) if isinstance(host := run.info.get("host"), dict) else "?" for run in runs]
    several = len(set(hosts)) > 1
    named = [f"{host}, {clock}" if several else clock for host, clock in zip(hosts, clocks, strict=True)]
    if len(set(named)) == len(named):
        return named
    return [f"{name}, run {place}" for place, name in enumerate(named, start=1)]


def side_by_side(runs: Sequence[Run], batch: int) -> Table:
    """Build the table of all counters and of throughput at one batch size, with a column for each run and driver."""
    labels = names(runs)
    rows: list[tuple[Cell, ...]] = []
    records: list[Record] = []
    for name in (*counter_names(), "mpps"):
        chosen = [source("mpps", "wall") if name == "mpps" else choose(run, name, DRIVERS) for run in runs]
        first = chosen[0].metric
        cells = []
        for run, label, origin in zip(runs, labels, chosen, strict=True):
            for driver in DRIVERS:
                value = find(run, driver, batch, origin)
                missing = "" if value else reason(run, driver, batch, origin)
                cell = value_cell(value, partial(number, digits=origin.metric.digits), missing)
                other = origin.backend != chosen[0].backend or origin.metric != first
                notes = (f"Counted by {origin.name}: {origin.metric.label}.",) if value and other else ()
                cells.append(replace(cell, notes=cell.notes + notes))
                values = record(driver, batch, origin.metric.name, value, missing=missing)
                records.append({"run": run.id, "run_name": label, **values})
        if any(cell.text != ABSENT for cell in cells):
            rows.append((Cell(first.label), *cells))
    headings = [Column(f"{driver.name}, {label}") for label in labels for driver in DRIVERS]
    title = f"Counters per packet by run, batch {batch}"
    columns = (Column("per packet", numeric=False), *headings)
    return Table(f"merged-batch-{batch}", title, columns, tuple(rows), tuple(records), NOTE)
