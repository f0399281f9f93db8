"""Words, sizes, and the files that are checked."""

from collections.abc import Callable

import pytest
from triptych_lint import prose, sizes
from triptych_lint.__main__ import ROOT
from triptych_lint.repository import Repository, open_repository

PROSE = {"words": ["frob", "zonk", "a word too many"]}
SIZES = {"file_lines": 6, "pages": {"README.md": 2}}


def test_only_files_that_no_pattern_ignores_are_checked(tree: Callable[..., Repository]) -> None:
    found = tree({"a.rs": "", "b/c.rs": "", "d.md": "", "x/b/e.rs": ""}, ignored={"^b/": "generated"})
    assert found.checked_files(".rs") == ["a.rs", "x/b/e.rs"]
    files = open_repository(ROOT).checked_files()
    assert "Makefile" in files and "rust/src/driver/rx.rs" in files and "Cargo.lock" not in files


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("a.rs", "// It is Frob.\nfn names_are_frob() {}", ["a.rs:1: `Frob`", "a.rs:2: `frob`"]),
        ("a.md", "a word\ntoo many", ["a.md:1: `a word too many`"]),
        ("a.md", "We zonked an unfrob; frobs", []),
        ("zonk.sh", "", ["zonk.sh: the file name contains `zonk`: choose another word"]),
        ("a.bin", b"\xff frob", []),
    ],
)
def test_words(tree: Callable[..., Repository], file: str, text: str | bytes, found: list[str]) -> None:
    problems = prose.problems(tree({file: text}, prose=PROSE))
    assert [problem.partition(" is a word")[0] for problem in problems] == found


def test_sizes(tree: Callable[..., Repository]) -> None:
    line = "const X: u8 = 0;\n"
    tests = "#[cfg(test)]\nmod tests {\n    fn long() {\n" + "    x();\n" * 9 + "    }\n}\n"
    fits = {"a.rs": line * 6 + tests, "tests/b.rs": line * 7, "src/tests.rs": line * 7, "README.md": "a\nb\n"}
    assert sizes.problems(tree({**fits, "other.md": "a\n" * 9}, sizes=SIZES)) == []
    found = sizes.problems(tree({"a.rs": line * 7, "README.md": "a\nb\nc\n"}, sizes=SIZES))
    assert [problem.split()[:2] for problem in found] == [["a.rs:", "7"], ["README.md:", "3"]]
