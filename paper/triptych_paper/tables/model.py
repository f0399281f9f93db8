"""A table: cells with their footnotes as a reader sees them, and the same values as tidy records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

ABSENT = "–"
"""The text of a cell without a value."""


@dataclass(frozen=True)
class Cell:
    """One field of a table."""

    text: str = ""
    detail: tuple[str, ...] = ()
    """Smaller lines below, such as the spread."""
    notes: tuple[str, ...] = ()
    """Footnotes, as whole sentences."""
    tone: str = ""
    """The colour of a verdict: `good`, `bad` or `neutral`; otherwise empty."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    numeric: bool = True
    notes: tuple[str, ...] = ()
    emphasis: bool = True
    """Whether the numbers of the column stand out beside published values and spreads."""


Record = dict[str, Any]
"""A row of the CSV: one value with unit, backend and number of repeats."""


@dataclass(frozen=True)
class Table:
    """A table as it is shown, and as tidy records."""

    key: str
    """File name without extension."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    records: tuple[Record, ...]
    note: str = ""
    """How to read a cell."""

    @cached_property
    def _numbered(self) -> Footnotes:
        return Footnotes([self])

    def footnotes(self) -> list[str]:
        """Return every footnote once, in reading order."""
        return self._numbered.texts

    def marks(self, item: Cell | Column) -> list[int]:
        """Return the numbers of the footnotes of a cell or heading."""
        return self._numbered.marks(item)


class Footnotes:
    """The footnotes of one or several tables, numbered from 1 in reading order."""

    def __init__(self, tables: Iterable[Table]) -> None:
        """Collect the footnotes of the tables."""
        texts: dict[str, None] = {}
        for table in tables:
            items: list[Cell | Column] = [*table.columns, *(cell for row in table.rows for cell in row)]
            texts.update(dict.fromkeys(note for item in items for note in item.notes))
        self.texts = list(texts)

    def marks(self, item: Cell | Column) -> list[int]:
        """Return the numbers of the footnotes of a cell or heading."""
        return [self.texts.index(note) + 1 for note in dict.fromkeys(item.notes)]


_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def superscript(numbers: Iterable[int]) -> str:
    """Write footnote marks in plain text. A superscript plus separates two of them, as Unicode has no such comma."""
    return "⁺".join(str(number).translate(_SUPERSCRIPT) for number in numbers)


def sentence(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]
