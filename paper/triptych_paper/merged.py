"""Several runs of one matrix in a folder, as `triptych merge` writes it."""

from __future__ import annotations

from pathlib import Path

from triptych_paper.errors import DataError
from triptych_paper.records import machine, part, read_json
from triptych_paper.schema import OURS
from triptych_paper.tables.model import Cell, Column, Table
from triptych_paper.values import QUANTITIES, Values, value_cell

FILE = "merged.json"
"""The file that lists the runs."""


def run_folders(folder: Path) -> list[Path]:
    """Return the folders of merged runs, or the folder itself if it is a run."""
    path = folder / FILE
    if not path.is_file():
        return [folder]
    try:
        names = [entry["folder"] for entry in read_json(path)["runs"]]
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None
    if not names or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise DataError(f"{path} is malformed: it does not name folders beside it")
    return [folder / name for name in names]


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
    return Table(f"merged-batch-{batch}", title, (*columns, Column("counted by", numeric=False)), tuple(rows), ())


def _name(values: Values) -> str:
    """Name a run by its machine and its fixed clock."""
    fixed = part(values.run.info, "core_clock").get("fixed_ghz")
    clock = f", {fixed:g} GHz" if isinstance(fixed, (int, float)) else ""
    return f"{machine(values.run.info)}{clock}, {values.run.id}"
