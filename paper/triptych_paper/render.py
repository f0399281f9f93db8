"""A table as aligned text for a terminal, as Markdown, and as tidy rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import pandas as pd

from triptych_paper.counters import C2RUST_NOTE, DRIVERS, Cell, Line, Notes, Row, Table
from triptych_paper.records import Run

WIDTH = 120
"""Most characters of a line."""

LABEL, VALUE, SOURCE = 22, 6, 12
"""Widths of the first column, of one figure, and of the last column."""

GROUP = 3 * VALUE + 1
"""Width of one driver: measured, published, ratio, and a space."""

ABSENT = "–"


def number(value: float, digits: int) -> str:
    """Format a measured value; what is below a thousand never needs more than seven characters."""
    return f"{value:.{digits}f}" if abs(value) < 1000 else f"{value:.0f}"


def ratio_text(ratio: float | None) -> str:
    """Format a ratio; empty if there is none."""
    if ratio is None:
        return ""
    return f"{ratio:.2f}" if ratio < 99.995 else f"{ratio:.0f}"


def heading(run: Run) -> list[str]:
    """Say in a few lines what was measured where."""
    host: dict[str, Any] = _part(run.info, "host")
    cpu = _part(host, "cpu")
    git = _part(run.info, "git")
    machine = [str(cpu.get("model_name") or "unknown processor"), f"{cpu.get('cpus', '?')} CPUs"]
    if cpu.get("virtual_machine"):
        machine.append("virtual machine")
    machine.append(f"Linux {host.get('kernel', '?')}")
    revision = str(git.get("revision") or "")[:10] or "no revision"
    revision += " with changes" if git.get("dirty") else ""
    builds = run.info.get("builds") or []
    compilers = {str(build.get("toolchain")): None for build in builds if isinstance(build, dict)}
    return [
        f"run       {run.id}" + ("" if run.ended else "  (did not come to its end)"),
        f"machine   {', '.join(machine)}",
        f"sources   {revision}; {', '.join(compilers) or 'compilers unknown'}",
    ]


def _part(info: dict[str, Any], key: str) -> dict[str, Any]:
    value = info.get(key)
    return value if isinstance(value, dict) else {}


def text_report(run: Run, tables: Iterable[Table]) -> str:
    """All tables for a terminal, at most :data:`WIDTH` characters wide."""
    notes = Notes()
    lines = [wrapped for text in heading(run) for wrapped in textwrap.wrap(text, WIDTH, subsequent_indent=" " * 10)]
    for table in tables:
        lines += ["", *_text_table(f"per packet, batch {table.batch}", table.counters, notes)]
        lines += ["", *_text_table(f"compared, batch {table.batch}", table.beside, notes)]
    lines.append("")
    for text in notes.texts:
        lines += textwrap.wrap(f"{notes.mark(text):>3} {text}", WIDTH, subsequent_indent=" " * 4)
    for text in run.warnings:
        lines += textwrap.wrap(f"warning: {text}", WIDTH, subsequent_indent=" " * 9)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _text_table(title: str, lines: tuple[Line, ...], notes: Notes) -> list[str]:
    names = [name.replace("safe Rust + overflow checks", "+ overflow checks") for _, _, name in DRIVERS]
    columns = "".join(f"{head:>{VALUE}}" for head in ("ours", "paper", "ratio"))
    out = [
        _grid(title, [f"{name:^{GROUP}}" for name in names], ""),
        _grid("", [columns] * len(names), "counted by"),
        _rule("┼"),
    ]
    for line in lines:
        out.append(
            _grid(line.row.label, [_text_cell(cell, line.row, notes) for cell in line.cells], source(line, notes))
        )
        spreads = [_spread_text(cell) for cell in line.cells]
        if any(spreads):
            out.append(_grid("  10 % to 90 %", [f"{spread:>{2 * VALUE + 2}}" for spread in spreads], ""))
    out.append(_rule("┴"))
    return out


def _grid(label: str, groups: list[str], last: str) -> str:
    return f"{label:<{LABEL}}" + "".join(f"│{group:<{GROUP}}" for group in groups) + f"│ {last}"


def _rule(joint: str) -> str:
    return "─" * LABEL + (joint + "─" * GROUP) * len(DRIVERS) + joint + "─" * (SOURCE + 1)


def _text_cell(cell: Cell, row: Row, notes: Notes) -> str:
    return "".join(f"{text:>{VALUE}}" for text in cell_texts(cell, row, notes))


def _spread_text(cell: Cell) -> str:
    """The spread, if it can be seen at the precision at which it is shown."""
    low, high = (f"{value:.2f}" for value in cell.spread or (0.0, 0.0))
    return f"{low} to {high}" if low != high else ""


def cell_texts(cell: Cell, row: Row, notes: Notes) -> tuple[str, str, str]:
    """Measured, published and ratio; what was not measured is absent, with the mark of the reason."""
    published = cell.published.text if cell.published else ""
    if cell.published and cell.published.batch_unknown:
        published += notes.mark(C2RUST_NOTE)
    if cell.measured is None:
        return ABSENT + notes.mark(cell.missing), published, ""
    return number(cell.measured, row.digits), published, ratio_text(cell.ratio)


def source(line: Line, notes: Notes) -> str:
    """Name the backends of a row, with the marks of what has to be known about them."""
    used = list(dict.fromkeys(cell.backend for cell in line.cells if cell.backend))
    marks = [notes.mark(note) for note in line.row.notes] if line.row.backend in used else []
    return "/".join(used) + "".join(marks) if used else ABSENT


def markdown_report(run: Run, tables: Iterable[Table]) -> str:
    """All tables as Markdown."""
    notes = Notes()
    parts = [f"# Counters per packet, run {run.id}", ""]
    parts += [f"- {' '.join(text.split())}" for text in heading(run)]
    for table in tables:
        parts += ["", f"## Batch {table.batch}", "", *_markdown_table("per packet", table.counters, notes)]
        parts += ["", *_markdown_table("compared", table.beside, notes)]
    parts += ["", "Each cell: **measured** (published, measured by published).", ""]
    for text in notes.texts:
        parts.append(f"- {notes.mark(text)} {text}")
    parts += [f"- Warning: {text}" for text in run.warnings]
    return "\n".join(parts) + "\n"


def _markdown_table(title: str, lines: tuple[Line, ...], notes: Notes) -> list[str]:
    names = [name for _, _, name in DRIVERS]
    out = [
        "| " + " | ".join([title, *names, "counted by"]) + " |",
        "|---|" + "---:|" * len(names) + "---|",
    ]
    for line in lines:
        cells = [_markdown_cell(cell, line.row, notes) for cell in line.cells]
        out.append("| " + " | ".join([line.row.label, *cells, source(line, notes)]) + " |")
    return out


def _markdown_cell(cell: Cell, row: Row, notes: Notes) -> str:
    measured, published, ratio = cell_texts(cell, row, notes)
    if cell.measured is None:
        return measured + (f" ({published})" if published else "")
    text = f"**{measured}**"
    if published:
        text += f" ({published}{', ' + ratio if ratio else ''})"
    spread = _spread_text(cell)
    return f"{text}, {spread}" if spread else text


def csv_rows(tables: Iterable[Table]) -> pd.DataFrame:
    """All cells, one a row; what is missing has no value but a note."""
    rows = [
        {
            "batch": table.batch,
            "counter": line.row.key,
            "impl": impl,
            "variant": variant,
            "backend": cell.backend,
            "measured": cell.measured,
            "published": cell.published.text if cell.published else "",
            "ratio": cell.ratio,
            "note": cell.missing,
        }
        for table in tables
        for line in (*table.counters, *table.beside)
        for (impl, variant, _), cell in zip(DRIVERS, line.cells, strict=True)
    ]
    return pd.DataFrame(rows)
