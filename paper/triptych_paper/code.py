"""Lines of code per implementation: ``code.json`` of a results folder, as ``triptych code`` writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triptych_paper.errors import DataError
from triptych_paper.published import Published
from triptych_paper.records import read_json
from triptych_paper.schema import IMPLEMENTATIONS, OURS
from triptych_paper.tables.model import ABSENT, Cell, Column, Table

FILE = "code.json"
DATA_PATH = ("rx", "tx", "mempool", "mmio", "descriptor", "buffers")


@dataclass(frozen=True)
class CodeSize:
    """The sources of all implementations."""

    files: dict[str, list[dict[str, Any]]]
    """By implementation: each source file with `path`, `twin`, `lines`, and `unsafe_lines` unless it is C."""
    upstream: dict[str, str] = field(default_factory=dict)
    """The commits of the paper's own drivers that were counted, by implementation."""

    def count(self, impl: str, metric: str = "lines", twins: tuple[str, ...] = ()) -> int:
        """Count the lines or unsafe lines of an implementation, or of some of its parts."""
        files = [file for file in self.files.get(impl, ()) if not twins or file["twin"] in twins]
        return sum(int(file[metric] or 0) for file in files)


def read_code(folder: Path) -> CodeSize | None:
    """Read the lines of code of a run; None without the file, :class:`DataError` if it is malformed."""
    path = folder / FILE
    if not path.is_file():
        return None
    document = read_json(path)
    try:
        code = CodeSize(dict(document["files"]), dict(document.get("upstream", {})))
        for impl in code.files:
            code.count(impl)
            code.count(impl, "unsafe_lines")
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is malformed: {error!r}; write it again with `make paper`") from None
    return code


def tables(code: CodeSize | None, published: Published) -> list[Table]:
    """Build a table of all implementations, and one of the parts of ours."""
    if code is None:
        return []
    rows, records = [], []
    languages = {"c": "C", "rust": "Rust", "ixy": "C", "ixy-rs": "Rust"}
    for impl in (impl for impl in IMPLEMENTATIONS if impl in code.files):
        lines, unsafe = code.count(impl), code.count(impl, "unsafe_lines")
        marked = any(file["unsafe_lines"] is not None for file in code.files[impl])
        known = published.lines.get(languages.get(impl, ""))
        cells = [str(lines), str(known or ABSENT), str(code.count(impl, twins=DATA_PATH))]
        cells += [str(unsafe), f"{100 * unsafe / lines:.1f} %"] if marked and lines else [ABSENT, ABSENT]
        rows.append((Cell(IMPLEMENTATIONS[impl]), *map(Cell, cells)))
        records.append({"impl": impl, "lines": lines, "published": known, "unsafe_lines": unsafe if marked else None})
    headings = ("lines", "paper", "in the data path", "unsafe lines", "share")
    columns = (Column("driver", numeric=False), *map(Column, headings))
    note = "Ours have features that the paper did not count: VFIO, later cards and the software card."
    found = [Table("code", "Lines of code per driver", columns, tuple(rows), tuple(records), note)]
    impls = [driver.impl for driver in OURS]
    twins = sorted({file["twin"] for impl in impls for file in code.files.get(impl, ())})
    counts = [[code.count(impl, twins=(twin,)) for impl in impls] for twin in twins]
    columns = (Column("part", numeric=False), *(Column(driver.name) for driver in OURS))
    parts = tuple((Cell(twin), *(Cell(str(n or "")) for n in row)) for twin, row in zip(twins, counts, strict=True))
    records = [{"part": twin, **dict(zip(impls, row, strict=True))} for twin, row in zip(twins, counts, strict=True)]
    return [*found, Table("code-parts", "Lines of code by part", columns, parts, tuple(records))]
