"""The parts of a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from matplotlib.figure import Figure as Canvas

from triptych_paper.code import CodeSize
from triptych_paper.ladder import Beside, Rung
from triptych_paper.published import Published
from triptych_paper.records import Run
from triptych_paper.tables.model import Table


@dataclass(frozen=True)
class Data:
    """All data that a section may read."""

    run: Run
    published: Published
    code: CodeSize | None = None
    """Lines of code; None if they were not counted."""
    ladder: tuple[Rung, ...] = ()
    """Rungs of the cost ladder from the bottom; empty if it was not measured."""
    beside: tuple[Beside, ...] = ()
    """Variants measured beside the ladder."""


@dataclass(frozen=True)
class Figure:
    """A plot."""

    key: str
    """File name without extension."""
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
    """Paragraphs before tables and figures."""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
    """Missing parts of the section, with the reasons."""
    joined: tuple[str, ...] = ()
    """The columns that a file with the records of all tables always has; empty if the section needs no such file."""


@dataclass(frozen=True)
class Tile:
    """A number that the head of the report shows in large type."""

    count: int
    label: str
    tone: str = ""


@dataclass(frozen=True)
class Report:
    """The whole report."""

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    """Machine, sources and compilers of the run: labels and texts."""
    warnings: tuple[str, ...] = ()
    tiles: tuple[Tile, ...] = ()
    sections: tuple[Section, ...] = field(default_factory=tuple)
