"""Lines of code per implementation: ``code.json`` of a results folder, as ``triptych code`` writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from triptych_paper.errors import DataError
from triptych_paper.schema import IMPLEMENTATIONS

FILE = "code.json"


@dataclass(frozen=True)
class SourceFile:
    """A source file of a driver."""

    path: str
    """Relative to the repository."""
    twin: str
    """The part of the driver, with the same name in all implementations: `rx`, `mempool`, `vfio`, …"""
    lines: int
    """Lines of code, without blank lines, comments and tests."""
    unsafe_lines: int | None
    """Lines inside `unsafe`; None in C, which does not mark unsafe code."""


@dataclass(frozen=True)
class CodeSize:
    """The sources of all implementations."""

    revision: str
    """The git revision of this project's drivers."""
    files: dict[str, tuple[SourceFile, ...]]
    """By implementation."""
    upstream: dict[str, str] = field(default_factory=dict)
    """The commits of the paper's own drivers that were counted, by implementation."""

    def lines(self, impl: str, twins: tuple[str, ...] = ()) -> int:
        """Count the lines of an implementation, or of some of its parts."""
        return sum(file.lines for file in self.files.get(impl, ()) if not twins or file.twin in twins)

    def unsafe_lines(self, impl: str, twins: tuple[str, ...] = ()) -> int | None:
        """Count the unsafe lines among them; None if the language does not mark unsafe code."""
        counts = [file.unsafe_lines for file in self.files.get(impl, ()) if not twins or file.twin in twins]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None


def read_code(folder: Path) -> CodeSize | None:
    """Read the lines of code of a run; None without the file, :class:`DataError` if it is malformed."""
    path = folder / FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is malformed: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from None
    try:
        files = {str(impl): tuple(_file(entry) for entry in entries) for impl, entries in document["files"].items()}
        upstream = {str(impl): str(commit) for impl, commit in document.get("upstream", {}).items()}
        code = CodeSize(revision=str(document["revision"]), files=files, upstream=upstream)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is malformed: {error!r}; write it again with `make paper`") from None
    unknown = set(files) - set(IMPLEMENTATIONS)
    if unknown:
        raise DataError(
            f"{path}: {', '.join(sorted(unknown))} is unknown; the valid names are {', '.join(IMPLEMENTATIONS)}"
        )
    return code


def _file(entry: dict[str, object]) -> SourceFile:
    def count(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{value!r} is not a number of lines")
        return value

    unsafe = entry["unsafe_lines"]
    return SourceFile(
        path=str(entry["path"]),
        twin=str(entry["twin"]),
        lines=count(entry["lines"]),
        unsafe_lines=None if unsafe is None else count(unsafe),
    )
