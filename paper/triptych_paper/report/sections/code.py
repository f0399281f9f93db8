"""Lines of code, and how many of them are unsafe."""

from __future__ import annotations

from triptych_paper.code import CodeSize
from triptych_paper.lookup import DRIVERS
from triptych_paper.report.cells import ABSENT
from triptych_paper.report.model import Cell, Column, Data, Record, Section, Table

DATA_PATH = ("rx", "tx", "mempool", "mmio", "descriptor", "buffers")
"""Parts that a packet passes through."""

PUBLISHED = {"c": "C", "rust": "Rust"}

C_NOTE = "C does not mark unsafe code: the compiler checks none of its lines for memory safety."
UNSAFE_NOTE = (
    "Generated from the C driver: nearly every function is `unsafe`, and its lines are not what a person would write."
)
PUBLISHED_NOTE = (
    "Published: counted with cloc, features and register constants stripped to what all ten languages have; the Rust "
    "driver's unsafe lines are from table 4, where it has 961 lines, too."
)


def build(data: Data) -> Section:
    """Two tables: the sums, and the twins file by file."""
    text = (
        "Lines that are code, as tokei counts them: not blank, not only a comment. Register definitions, which are "
        "generated, and tests are left out. A line is unsafe if it is in an `unsafe` block or function, including the "
        "lines that open and close it.",
    )
    if data.code is None:
        missing = "Not counted: there is no code.json in this run's folder; `triptych code` writes it."
        return Section("code", "Lines of code", text, missing=(missing,))
    revision = f"Counted in the sources of {data.code.revision}."
    return Section("code", "Lines of code", (*text, revision), (_sums(data, data.code), _twins(data.code)))


def _sums(data: Data, code: CodeSize) -> Table:
    rows, records = [], []
    for driver in DRIVERS:
        impl = driver.impl
        language = PUBLISHED.get(impl, "")
        theirs = data.published.lines.get(language)
        unsafe = code.unsafe_lines(impl)
        known = data.published.unsafe_lines["ixy.rs (Linux)"] if impl == "rust" else None
        notes = {"c": (C_NOTE,), "rust-unsafe": (UNSAFE_NOTE,)}.get(impl, ())
        lines = code.lines(impl)
        rows.append(
            (
                Cell(driver.name),
                Cell(str(lines)),
                Cell("" if theirs is None else str(theirs)),
                Cell(str(code.lines(impl, DATA_PATH))),
                Cell(ABSENT if unsafe is None else str(unsafe), (), notes),
                Cell(ABSENT if unsafe is None or not lines else f"{100 * unsafe / lines:.1f} %"),
                Cell("" if known is None else f"{known[1]} ({100 * known[1] / known[0]:.1f} %)"),
            )
        )
        records.append(
            {
                "impl": impl,
                "unit": "lines",
                "lines": lines,
                "published_lines": theirs,
                "data_path_lines": code.lines(impl, DATA_PATH),
                "unsafe_lines": unsafe,
                "published_unsafe_lines": known[1] if known else None,
            }
        )
    columns = (
        Column("driver", numeric=False),
        Column("lines"),
        Column("paper", notes=(PUBLISHED_NOTE,)),
        Column("in the data path"),
        Column("unsafe lines"),
        Column("share"),
        Column("paper: unsafe"),
    )
    note = "Lines of code, counted once, by tokei. The data path is what a packet passes: " + ", ".join(DATA_PATH) + "."
    return Table("code", "Lines of code per driver", columns, tuple(rows), tuple(records), note)


def _twins(code: CodeSize) -> Table:
    twins = sorted({file.twin for files in code.files.values() for file in files})
    rows, records = [], []
    for twin in twins:
        cells = []
        for driver in DRIVERS:
            lines, unsafe = code.lines(driver.impl, (twin,)), code.unsafe_lines(driver.impl, (twin,))
            cells.append(Cell(str(lines) if lines else "", (f"{unsafe} unsafe",) if unsafe else ()))
            record: Record = {
                "twin": twin, "impl": driver.impl, "unit": "lines", "lines": lines, "unsafe_lines": unsafe
            }  # fmt: skip
            records.append(record)
        rows.append((Cell(twin), *cells))
    columns = (Column("part", numeric=False), *(Column(driver.name) for driver in DRIVERS))
    note = "The drivers are twins, part by part: what is `rx.c` in C is `rx.rs` in Rust."
    return Table("code-parts", "Lines of code by part", columns, tuple(rows), tuple(records), note)
