from pathlib import Path

from repository_fixture import repository
from triptych_lint import weight


def test_both_limits(tmp_path: Path) -> None:
    rules = {"folder": "example", "bytes": 5, "lines": 2}
    light = repository(tmp_path, {"example/a": "a\n\n", "other": "x" * 9}, weight=rules)
    assert weight.problems(light) == []
    heavy = repository(tmp_path, {"example/a": "a\nb\n", "example/b": b"\xff\n"}, weight=rules)
    assert weight.problems(heavy) == [
        "example: 6 bytes in 2 files, at most 5",
        "example: 3 lines in 2 files, at most 2",
    ]
