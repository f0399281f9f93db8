"""Checks that the compiler has left in safe Rust's data path."""

from __future__ import annotations

from collections.abc import Sequence

from triptych_paper.lookup import Driver
from triptych_paper.machine_code import KINDS, Left, checks_left
from triptych_paper.report.cells import ABSENT
from triptych_paper.report.model import Cell, Column, Data, Section, Table

NOTE = (
    "Conditional jumps of the machine code, of which one way leads to a panic or a trap without another decision: in "
    "the loops of the functions that forward, receive and send, and in what is called from these loops. A comparison "
    "that the source makes itself, such as a check of a length, is none of them."
)


def build(data: Data) -> Section:
    """One table: a row a build."""
    title = "Checks left in the machine code"
    text = (
        "Where the compiler can prove that an index is in its slice, it leaves the bounds check out. What it could not "
        "prove is paid for with every packet. `triptych asm rust` shows the code, with its source beside it; `triptych "
        "budget`, a part of the tests, fails if more bounds checks are left than are allowed.",
    )
    left = checks_left(data.run)
    if not left:
        missing = "Not counted: the machine code was not looked at when this run was recorded."
        return Section("checks", title, text, missing=(missing,))
    return Section("checks", title, text, (table("checks", "Checks in the loops of the data path", data_rows(left)),))


def data_rows(left: Sequence[Left]) -> list[tuple[str, Left]]:
    """The builds of a run with what they are called."""
    return [(f"{Driver(entry.impl, entry.variant).name}, {entry.compiler}", entry) for entry in left]


def table(key: str, title: str, rows: Sequence[tuple[str, Left]]) -> Table:
    """How many checks of each kind each build has in its loops."""
    cells, records = [], []
    for name, entry in rows:
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
