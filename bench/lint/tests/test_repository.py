from pathlib import Path

import pytest
from repository_fixture import repository
from triptych_lint.__main__ import ROOT
from triptych_lint.repository import matches, open_repository


@pytest.mark.parametrize(
    ("pattern", "file", "expected"),
    [
        ("**/Cargo.lock", "rust/fuzz/Cargo.lock", True),
        ("**/Cargo.lock", "Cargo.lock", True),
        ("paper/example/**", "paper/example/a/b.svg", True),
        ("paper/example/**", "paper/example.py", False),
        ("**/corpus/**", "rust/fuzz/corpus/target/x", True),
        ("**/corpus/**", "corpus.md", False),
        ("c/src/driver/registers.h", "c/src/driver/registers.h", True),
    ],
)
def test_patterns(pattern: str, file: str, expected: bool) -> None:
    assert matches(file, pattern) == expected


def test_ignored_files_are_not_checked(tmp_path: Path) -> None:
    tree = repository(tmp_path, {"a.rs": "", "b/c.rs": "", "d.md": ""}, ignored={"b/**": "generated"})
    assert tree.checked_files(".rs") == ["a.rs"]
    assert tree.checked_files() == ["a.rs", "d.md"]


def test_this_repository_opens() -> None:
    assert "Makefile" in open_repository(ROOT).files
