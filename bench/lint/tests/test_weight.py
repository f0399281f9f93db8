from pathlib import Path

from repository_fixture import repository
from triptych_lint import weight


def test_both_limits(tmp_path: Path) -> None:
    rules = {"folder": "example", "bytes": 5, "lines": 2, "pages": {"README.md": 2}}
    light = repository(tmp_path, {"example/a": "a\n\n", "other": "x" * 9}, weight=rules)
    assert weight.problems(light) == []
    heavy = repository(tmp_path, {"example/a": "a\nb\n", "example/b": b"\xff\n"}, weight=rules)
    assert weight.problems(heavy) == [
        "example: 6 bytes in 2 files, at most 5",
        "example: 3 lines in 2 files, at most 2",
    ]


def test_a_page_that_is_too_long_is_named(tmp_path: Path) -> None:
    rules = {"folder": "example", "bytes": 5, "lines": 2, "pages": {"README.md": 2}}
    assert weight.problems(repository(tmp_path, {"README.md": "a\nb\n", "other.md": "a\n" * 9}, weight=rules)) == []
    assert weight.problems(repository(tmp_path, {"README.md": "a\nb\nc\n"}, weight=rules)) == [
        "README.md: 3 lines, at most 2: move details into a linked page"
    ]
