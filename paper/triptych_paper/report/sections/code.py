"""Lines of code, and the unsafe ones among them."""

from __future__ import annotations

from triptych_paper.code import CodeSize
from triptych_paper.drivers import DRIVERS, Driver
from triptych_paper.report.model import Data, Section
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table

DATA_PATH = ("rx", "tx", "mempool", "mmio", "descriptor", "buffers")
"""The parts that a packet passes through."""

PUBLISHED = {"c": "C", "rust": "Rust", "ixy": "C", "ixy-rs": "Rust"}
"""The published counterparts."""

C_NOTE = "C does not mark unsafe code: the compiler checks none of its lines for memory safety."
UNSAFE_NOTE = (
    "C2Rust generates this driver from the C driver. Nearly every function is `unsafe`, and no person would write its "
    "lines this way."
)
UPSTREAM_NOTE = (
    "Counted at the commit whose lines the paper counted, without what not all ten languages have: virtio, register "
    "constants, and programs other than the forwarder."
)
PUBLISHED_NOTE = (
    "The paper counted with cloc, after it had removed features and register constants that not all ten languages "
    "have. The unsafe lines of the Rust driver are from its table 4, which also has 961 lines."
)


def build(data: Data) -> Section:
    """Build a table of the sums, and one of the twins file by file."""
    text = (
        "Lines of code as tokei counts them, without blank lines and comments. Tests and the generated register "
        "definitions are left out. A line is unsafe if it is in an `unsafe` block or function, including its first and "
        "last line.",
    )
    if data.code is None:
        missing = "Not counted: the folder of this run has no code.json; `triptych code` writes it."
        return Section("code", "Lines of code", text, missing=(missing,))
    revision = f"The counted sources are those of {data.code.revision}."
    return Section("code", "Lines of code", (*text, revision), (_sums(data, data.code), _twins(data.code)))


def _sums(data: Data, code: CodeSize) -> Table:
    rows, records = [], []
    for driver in (*DRIVERS, *map(Driver, code.upstream)):
        impl = driver.impl
        theirs = data.published.lines.get(PUBLISHED.get(impl, ""))
        unsafe = code.unsafe_lines(impl)
        known = data.published.unsafe_lines["ixy.rs (Linux)"] if impl in ("rust", "ixy-rs") else None
        notes = {"c": (C_NOTE,), "ixy": (C_NOTE,), "rust-unsafe": (UNSAFE_NOTE,)}.get(impl, ())
        name = Cell(driver.name, notes=(UPSTREAM_NOTE,) if impl in code.upstream else ())
        lines = code.lines(impl)
        rows.append(
            (
                name,
                Cell(str(lines)),
                Cell("" if theirs is None else str(theirs)),
                Cell(ABSENT if impl in code.upstream else str(code.lines(impl, DATA_PATH))),
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
    note = f"The data path is the parts that a packet passes through: {', '.join(DATA_PATH)}."
    return Table("code", "Lines of code per driver", columns, tuple(rows), tuple(records), note)


def _twins(code: CodeSize) -> Table:
    twins = sorted({file.twin for driver in DRIVERS for file in code.files.get(driver.impl, ())})
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
    note = "The drivers are twins, part by part: `rx.c` in C is `rx.rs` in Rust."
    return Table("code-parts", "Lines of code by part", columns, tuple(rows), tuple(records), note)
