"""A part of the section on validation."""

from __future__ import annotations

from dataclasses import dataclass

from triptych_paper.report.model import Figure
from triptych_paper.tables.model import Table


@dataclass(frozen=True)
class Part:
    """What one comparison adds to the section."""

    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = ()
    """The reason if the comparison is not possible."""
