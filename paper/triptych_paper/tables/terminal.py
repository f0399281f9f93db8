"""Tables as aligned text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from triptych_paper.tables.model import Cell, Column, Footnotes, Table, sentence, superscript

WIDTH = 120
"""Largest number of characters in a line, if the numbers leave room for the text."""

NARROWEST = 10
"""Columns of text become no narrower than this, and no narrower than their longest word."""

GAP = "  "


def render_all(tables: Sequence[Table], width: int = WIDTH) -> str:
    """Write several tables; their common footnotes follow the last one."""
    footnotes = Footnotes(tables)
    lines: list[str] = []
    for table in tables:
        lines += [*_table(table, footnotes, width), ""]
    # Tables of one kind share their note.
    for note in dict.fromkeys(table.note for table in tables if table.note):
        lines += textwrap.wrap(note, width)
    for place, text in enumerate(footnotes.texts, start=1):
        lines += textwrap.wrap(f"{superscript([place]):>3} {sentence(text)}", width, subsequent_indent=" " * 4)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def wrap(text: str, indent: int = 0, width: int = WIDTH) -> list[str]:
    """Break a text into lines; those after the first are indented."""
    return textwrap.wrap(text, width, subsequent_indent=" " * indent)


def _table(table: Table, footnotes: Footnotes, width: int) -> list[str]:
    rows = [[_lines(cell, footnotes) for cell in row] for row in table.rows]
    headings = [column.heading + superscript(footnotes.marks(column)) for column in table.columns]
    widths = _widths(table.columns, headings, rows, width)
    title = [table.title, "─" * (sum(widths) + len(GAP) * (len(widths) - 1))]
    wrapped = [_wrap([heading], space) for heading, space in zip(headings, widths, strict=True)]
    out = [*title, *_row(wrapped, table.columns, widths), title[1]]
    for row in rows:
        out += _row([_wrap(lines, space) for lines, space in zip(row, widths, strict=True)], table.columns, widths)
    return [*out, title[1]]


def _lines(cell: Cell, footnotes: Footnotes) -> list[str]:
    return [cell.text + superscript(footnotes.marks(cell)), *cell.detail]


def _widths(columns: Sequence[Column], headings: list[str], rows: list[list[list[str]]], width: int) -> list[int]:
    """Return the width of each column: of numbers as they need, of text as the line has room."""
    widths, least = [], []
    for index, column in enumerate(columns):
        longest = max((len(line) for row in rows for line in row[index]), default=0)
        # Headings are broken at spaces.
        words = max((len(word) for word in headings[index].split()), default=0)
        widths.append(max(longest, words) if column.numeric else max(longest, len(headings[index])))
        texts = (word for row in rows for line in row[index] for word in line.split())
        least.append(max([NARROWEST, words, *map(len, texts)]))
    while sum(widths) + len(GAP) * (len(widths) - 1) > width:
        wide = [i for i, column in enumerate(columns) if not column.numeric and widths[i] > least[i]]
        if not wide:
            break
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _wrap(lines: list[str], width: int) -> list[str]:
    return [part for line in lines for part in textwrap.wrap(line, max(width, 1)) or [""]]


def _row(cells: list[list[str]], columns: Sequence[Column], widths: list[int]) -> list[str]:
    """Write the lines of a row; headings and cells stand at the top."""
    height = max(map(len, cells))
    return [
        GAP.join(
            f"{cell[line] if line < len(cell) else '':{'>' if column.numeric else '<'}{width}}"
            for cell, column, width in zip(cells, columns, widths, strict=True)
        )
        for line in range(height)
    ]
