"""Lines of code per implementation: ``code.json`` of a results folder, as ``triptych code`` writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from triptych_paper.records import IMPLEMENTATIONS, DataError

FILE = "code.json"


@dataclass(frozen=True)
class SourceFile:
    """A file of a driver."""

    path: str
    """From the top of the repository."""
    twin: str
    """What it is about, the same for all implementations: `rx`, `mempool`, `vfio`, …"""
    lines: int
    """Lines of code: neither blank nor only comment, nor a test."""
    unsafe_lines: int | None
    """Those inside `unsafe`; None in C, which has no word for it."""


@dataclass(frozen=True)
class CodeSize:
    """The sources of all implementations."""

    revision: str
    files: dict[str, tuple[SourceFile, ...]]
    """By implementation."""

    def lines(self, impl: str, twins: tuple[str, ...] = ()) -> int:
        """Lines of code of an implementation, or of some of its parts."""
        return sum(file.lines for file in self.files.get(impl, ()) if not twins or file.twin in twins)

    def unsafe_lines(self, impl: str, twins: tuple[str, ...] = ()) -> int | None:
        """Unsafe ones among them; None if the language has no such thing."""
        counts = [file.unsafe_lines for file in self.files.get(impl, ()) if not twins or file.twin in twins]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None


def read_code(folder: Path) -> CodeSize | None:
    """Read the lines of code of a run; None if they were not counted, :class:`DataError` if malformed."""
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
        code = CodeSize(revision=str(document["revision"]), files=files)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is malformed: {error!r}; count anew with `triptych code`") from None
    unknown = set(files) - set(IMPLEMENTATIONS)
    if unknown:
        raise DataError(f"{path}: {', '.join(sorted(unknown))} is none of {', '.join(IMPLEMENTATIONS)}")
    return code


def _file(entry: dict[str, object]) -> SourceFile:
    def count(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"{value!r} is not a count of lines")
        return value

    unsafe = entry["unsafe_lines"]
    return SourceFile(
        path=str(entry["path"]),
        twin=str(entry["twin"]),
        lines=count(entry["lines"]),
        unsafe_lines=None if unsafe is None else count(unsafe),
    )
