"""Other drivers on the same card, beside figures that others published for theirs."""

from __future__ import annotations

from triptych_paper import counters, others
from triptych_paper.lookup import NO_UPSTREAM
from triptych_paper.published import Other
from triptych_paper.report.model import Data, Section
from triptych_paper.tables.model import Cell, Column, Record, Table

TITLE = "Other drivers"
TEXT = (
    "The drivers of other projects ran unmodified on the same card as ours. The second table has figures that others "
    "published on their own machines. Nothing here measured them, and their workloads differ."
)


def build(data: Data) -> Section:
    """Build a table of measured drivers for each batch size, and one of the published figures."""
    table = _published(data.published.others)
    if not others.has_others(data.run):
        return Section("others", TITLE, (TEXT,), (table,), missing=(NO_UPSTREAM,))
    measured = [others.table(data.run, batch) for batch in counters.shown_batches(data.run)]
    return Section("others", TITLE, (TEXT,), (*measured, table))


def _published(rows: tuple[Other, ...]) -> Table:
    columns = (
        Column("system", numeric=False),
        Column("workload", numeric=False),
        Column("batch"),
        Column("cycles a packet"),
        Column("processor", numeric=False),
        Column("source", numeric=False),
    )
    cells = tuple(
        (Cell(each.system), Cell(each.workload), Cell(each.batch), Cell(each.cycles), Cell(each.cpu), Cell(each.source))
        for each in rows
    )
    records: tuple[Record, ...] = tuple(vars(each) for each in rows)
    note = "Published figures. Where a source has only throughput, the cycles are the clock divided by it."
    return Table("others-published", "Published figures of other drivers", columns, cells, records, note)
