"""Tables as Markdown, and their records as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from triptych_paper.tables.model import ABSENT, Cell, Column, Footnotes, Record, Table, sentence, superscript


def escape(text: str) -> str:
    """Make a text safe inside a cell."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("<", "\\<").replace("\n", " ")


def render(table: Table) -> str:
    """Write one table with its title and footnotes."""
    return render_all([table])


def render_all(tables: Sequence[Table]) -> str:
    """Write several tables; their common footnotes follow the last one."""
    footnotes = Footnotes(tables)
    blocks = ["\n".join(_table(table, footnotes)) for table in tables]
    if footnotes.texts:
        blocks.append(
            "\n".join(
                f"- {superscript([place])} {sentence(text)}" for place, text in enumerate(footnotes.texts, start=1)
            )
        )
    return "\n\n".join(blocks) + "\n"


def csv(records: Iterable[Record]) -> str:
    """Write records as CSV; columns without any value are left out."""
    rows = pd.DataFrame(list(records)).dropna(axis="columns", how="all")
    text: str = rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    return text


def grid(table: Table, footnotes: Footnotes | None = None) -> list[str]:
    """Return the lines of the table alone, without title and footnotes."""
    footnotes = footnotes or Footnotes([table])

    def heading(column: Column) -> str:
        return escape(column.heading) + superscript(footnotes.marks(column))

    lines = ["| " + " | ".join(heading(column) for column in table.columns) + " |"]
    lines.append("|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|")
    several = any(cell.detail for row in table.rows for cell in row[1:])
    bold = [several and column.numeric and column.emphasis for column in table.columns]
    for row in table.rows:
        cells = [_field(cell, stands_out, footnotes) for cell, stands_out in zip(row, bold, strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _table(table: Table, footnotes: Footnotes) -> list[str]:
    lines = [f"### {table.title}", "", *grid(table, footnotes)]
    if table.note:
        lines += ["", table.note]
    return lines


def _field(cell: Cell, bold: bool, footnotes: Footnotes) -> str:
    text = escape(cell.text)
    if bold and text and text != ABSENT:
        text = f"**{text}**"
    text += superscript(footnotes.marks(cell))
    return text + "".join(f"<br>{escape(line)}" for line in cell.detail)
