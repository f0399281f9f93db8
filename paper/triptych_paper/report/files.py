"""Writing a report: the page, the PDF, and every table and figure on its own."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from triptych_paper.records import DataError
from triptych_paper.report import figures, html, latex, markdown
from triptych_paper.report.model import Report, Table

FOLDER = "report"
"""Where a report lies in the folder of its run."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    folder: Path
    tables: int
    figures: int


def write(report: Report, run_folder: Path) -> Written:
    """Write `report/` anew; what was there before stays as it is unless all of it could be written."""
    target = run_folder / FOLDER
    try:
        with tempfile.TemporaryDirectory(prefix=".report.", dir=run_folder) as temporary:
            fresh = Path(temporary) / FOLDER
            counts = _write(report, fresh)
            old = Path(temporary) / "old"
            if target.exists():
                target.rename(old)
            fresh.rename(target)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    return Written(target, *counts)


def _write(report: Report, folder: Path) -> tuple[int, int]:
    tables, plots = folder / "tables", folder / "figures"
    tables.mkdir(parents=True)
    plots.mkdir()
    written = [table for section in report.sections for table in section.tables]
    for table in written:
        _text(tables / f"{table.key}.md", markdown.render(table))
        _text(tables / f"{table.key}.tex", latex.render(table))
        _text(tables / f"{table.key}.csv", csv(table))
    drawings = {}
    for figure in (figure for section in report.sections for figure in section.figures):
        drawn = figures.canvas(figure)
        drawings[figure.key] = figures.svg(drawn, figure.key)
        _text(plots / f"{figure.key}.svg", drawings[figure.key])
        _text(plots / f"{figure.key}-dark.svg", figures.recolour(drawings[figure.key], figures.DARK))
        (plots / f"{figure.key}.pdf").write_bytes(figures.pdf(drawn))
    _text(folder / "report.html", html.page(report, drawings))
    (folder / "report.pdf").write_bytes(html.pdf(report, drawings))
    return len(written), len(drawings)


def csv(table: Table) -> str:
    """The records of a table."""
    rows = pd.DataFrame(list(table.records)).dropna(axis="columns", how="all")
    text: str = rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return text


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
