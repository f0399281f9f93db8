"""What a report is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure as Canvas

from triptych_paper.code import CodeSize
from triptych_paper.ladder import Rung
from triptych_paper.published import Published
from triptych_paper.records import Run


@dataclass(frozen=True)
class Data:
    """All that a section may read."""

    run: Run
    published: Published
    code: CodeSize | None = None
    """Lines of code; None if they were not counted."""
    ladder: tuple[Rung, ...] = ()
    """Rungs of the cost ladder from the bottom; none if it was not measured."""


@dataclass(frozen=True)
class Cell:
    """One field of a table."""

    text: str = ""
    detail: tuple[str, ...] = ()
    """Smaller lines below: the spread, the published value."""
    notes: tuple[str, ...] = ()
    """Footnotes, as whole sentences."""
    tone: str = ""
    """`good`, `bad` or `none`, for verdicts; otherwise empty."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    numeric: bool = True
    notes: tuple[str, ...] = ()


Record = dict[str, Any]
"""A row of the CSV: one value with unit, backend and count of repeats."""


@dataclass(frozen=True)
class Table:
    """A table, as it is shown and as tidy records."""

    key: str
    """File name without ending."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    records: tuple[Record, ...]
    note: str = ""
    """How to read a cell."""

    def footnotes(self) -> list[str]:
        """Every footnote once, in reading order; a mark is its place, counted from 1."""
        texts = [note for column in self.columns for note in column.notes]
        texts += [note for row in self.rows for cell in row for note in cell.notes]
        return list(dict.fromkeys(texts))

    def marks(self, item: Cell | Column) -> list[int]:
        """Numbers of the footnotes of a cell or heading."""
        texts = self.footnotes()
        return [texts.index(note) + 1 for note in dict.fromkeys(item.notes)]


@dataclass(frozen=True)
class Figure:
    """A plot."""

    key: str
    """File name without ending."""
    title: str
    caption: str
    draw: Callable[[Canvas], None]
    size: tuple[float, float] = (6.4, 3.4)
    """Width and height, inches."""


@dataclass(frozen=True)
class Section:
    """A chapter of the report."""

    key: str
    title: str
    text: tuple[str, ...] = ()
    """Paragraphs that come first."""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
    """What is not here, and why."""


@dataclass(frozen=True)
class Tile:
    """A count that is shown large."""

    count: int
    label: str
    tone: str = ""


@dataclass(frozen=True)
class Report:
    """All of it."""

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    """What was measured where: label and text."""
    warnings: tuple[str, ...] = ()
    tiles: tuple[Tile, ...] = ()
    sections: tuple[Section, ...] = field(default_factory=tuple)
