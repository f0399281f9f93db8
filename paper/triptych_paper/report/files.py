"""Writing the files of a report: HTML, PDF, and every table and figure."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from triptych_paper.errors import DataError
from triptych_paper.report import figures, html
from triptych_paper.report.model import Report
from triptych_paper.tables import latex, markdown, tidy_csv

FOLDER = "report"
"""The folder of the report in the folder of its run."""


@dataclass(frozen=True)
class Written:
    """The folder of a written report, and its number of tables and figures."""

    folder: Path
    tables: int
    figures: int


def write(report: Report, run_folder: Path) -> Written:
    """Replace `report/`. If a file cannot be written, the old report stays as it is."""
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
        _text(tables / f"{table.key}.csv", tidy_csv.render(table.records))
    for section in report.sections:
        if section.joined:
            joined = tidy_csv.render((record for table in section.tables for record in table.records), section.joined)
            _text(tables / f"{section.key}.csv", joined)
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


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
