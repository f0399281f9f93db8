"""A table as Markdown."""

from __future__ import annotations

from triptych_paper.counters import SUPERSCRIPT
from triptych_paper.report.model import Cell, Column, Table


def escape(text: str) -> str:
    """Make a text safe inside a cell."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("<", "\\<").replace("\n", " ")


def marks(numbers: list[int]) -> str:
    """Footnote marks; between two of them a thin space would be lost, so a superscript comma stands there."""
    return "⁺".join(str(number).translate(SUPERSCRIPT) for number in numbers)


def render(table: Table) -> str:
    """The table, its title and its footnotes."""

    def heading(column: Column) -> str:
        return escape(column.heading) + marks(table.marks(column))

    def field(cell: Cell, column: Column) -> str:
        text = escape(cell.text)
        if column.numeric and text and cell.detail:
            text = f"**{text}**"
        text += marks(table.marks(cell))
        return text + "".join(f"<br>{escape(line)}" for line in cell.detail)

    lines = [f"### {table.title}", ""]
    lines.append("| " + " | ".join(heading(column) for column in table.columns) + " |")
    lines.append("|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|")
    for row in table.rows:
        cells = [field(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    if table.note:
        lines += ["", table.note]
    footnotes = table.footnotes()
    if footnotes:
        lines.append("")
        lines += [f"- {marks([number])} {text}" for number, text in enumerate(footnotes, start=1)]
    return "\n".join(lines) + "\n"
