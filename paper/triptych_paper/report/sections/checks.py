"""The checks that the compiler leaves in safe Rust's data path."""

from __future__ import annotations

from collections.abc import Sequence

from triptych_paper.drivers import Driver
from triptych_paper.machine_code import KINDS, RemainingChecks, remaining_checks
from triptych_paper.report.model import Data, Section
from triptych_paper.tables.model import ABSENT, Cell, Column, Table

NOTE = (
    "Counted are conditional jumps in the machine code that lead to a panic or a trap without another decision. The "
    "count covers the loops of the functions that forward, receive and send, and all functions that these loops call. "
    "It leaves out comparisons in the source itself, such as the check of a length."
)


def build(data: Data) -> Section:
    """Build one table with a row for each build."""
    title = "Checks in the machine code"
    text = (
        "The compiler removes a bounds check if it can prove that the index is in the slice. Every packet pays for the "
        "checks that remain. `triptych asm rust` shows the machine code beside its source. `triptych budget`, which "
        "the tests run, fails if more bounds checks remain than it allows.",
    )
    found = remaining_checks(data.run)
    if not found:
        missing = "Not counted: this run did not inspect the machine code."
        return Section("checks", title, text, missing=(missing,))
    rows = [(f"{Driver(entry.impl, entry.variant).name}, {entry.compiler}", entry) for entry in found]
    return Section("checks", title, text, (table("checks", "Checks in the loops of the data path", rows),))


def table(key: str, title: str, builds: Sequence[tuple[str, RemainingChecks]]) -> Table:
    """Build a table of the number of checks of each kind, with a row for each named build."""
    cells, records = [], []
    for name, entry in builds:
        notes = (f"Not counted: {entry.why_not}.",) if entry.why_not else ()
        counts = [entry.counts.get(kind) for kind in KINDS]
        cells.append((Cell(name), *(Cell(ABSENT if count is None else str(count), (), notes) for count in counts)))
        records += [
            {
                "impl": entry.impl,
                "variant": entry.variant,
                "compiler": entry.compiler,
                "check": kind,
                "in_loops": entry.counts.get(kind),
                "unit": "conditional jumps",
                "note": entry.why_not,
            }
            for kind in KINDS
        ]
    columns = (Column("build", numeric=False), *(Column(label) for label in KINDS.values()))
    return Table(key, title, columns, tuple(cells), tuple(records), NOTE)
