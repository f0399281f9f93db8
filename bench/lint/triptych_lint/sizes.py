"""Checks the lengths of source files without test code, and of pages.

Clippy, clang-tidy and ruff check the lengths of functions.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from triptych_lint.repository import Repository
from triptych_lint.rust_imports import test_lines

SUFFIXES = (".rs", ".c", ".h", ".py", ".sh", ".lua")
# Test code may be longer.
TEST_FOLDERS = {"tests", "benches", "examples"}


def problems(repository: Repository) -> list[str]:
    """A line for each file that is too long."""
    rules = repository.rules["sizes"]
    limits = dict.fromkeys(repository.checked_files(*SUFFIXES), rules["file_lines"]) | rules["pages"]
    found = []
    for file, limit in limits.items():
        path = PurePosixPath(file)
        if file not in repository.files or path.name == "tests.rs" or set(path.parts[:-1]) & TEST_FOLDERS:
            continue
        text = repository.read(file)
        lines = len(text.splitlines()) - (test_lines(text) if path.suffix == ".rs" else 0)
        if lines > limit:
            found.append(f"{file}: {lines} lines without tests, at most {limit}: split the file")
    return found
