"""Which tables of counters a run gets: three columns a driver with the paper's own drivers, otherwise two."""

from __future__ import annotations

from triptych_paper import counters, others, upstream
from triptych_paper.lookup import has_upstream
from triptych_paper.published import Published
from triptych_paper.records import Run
from triptych_paper.tables.model import Table


def drivers(run: Run, published: Published, batch: int) -> list[Table]:
    """Build the tables of our drivers and the paper's at one batch size."""
    kind = upstream if has_upstream(run) else counters
    return [kind.per_packet(run, published, batch), kind.compared(run, published, batch)]


def tables(run: Run, published: Published, batch: int) -> list[Table]:
    """Build all tables of one batch size, as the terminal shows them."""
    found = drivers(run, published, batch)
    return [*found, others.table(run, batch)] if others.has_others(run) else found


def readme(run: Run, published: Published) -> Table:
    """Build the table of the README."""
    return upstream.readme(run, published) if has_upstream(run) else counters.readme(run, published)
