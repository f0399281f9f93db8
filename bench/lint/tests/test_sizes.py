from pathlib import Path

import pytest
from repository_fixture import repository
from triptych_lint import sizes

LIMITS = {"file_lines": 6, "function_lines": 3, "test_folders": ["tests"], "test_files": ["tests.rs"]}
BODY = "    x += 1;\n" * 3


def found(folder: Path, name: str, text: str, **allowed: str) -> list[str]:
    rules = {**LIMITS, "long_functions": {f"{name}:{function}": why for function, why in allowed.items()}}
    return sizes.problems(repository(folder, {name: text}, sizes=rules))


def test_a_long_file(tmp_path: Path) -> None:
    assert found(tmp_path, "a.rs", "const X: u8 = 0;\n" * 7) == [
        "a.rs: 7 lines without tests, at most 6: split the file"
    ]
    assert found(tmp_path, "a.rs", "const X: u8 = 0;\n" * 6) == []


def test_the_lines_of_test_code_do_not_count(tmp_path: Path) -> None:
    tests = "#[cfg(test)]\nmod tests {\n    fn long() {\n" + BODY * 5 + "    }\n}\n"
    assert found(tmp_path, "a.rs", "const X: u8 = 0;\n" * 6 + tests) == []


@pytest.mark.parametrize("name", ["tests/a.rs", "crate/src/part/tests.rs"])
def test_test_files_may_be_long(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, name, "const X: u8 = 0;\n" * 7) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", "\nimpl A {\nfn long<T>(x: [u8; 2]) -> T where T: Fn() {\n" + "x();\n" * 2 + "}\n}"),
        ("a.c", "#define A(x) \\\n\tb\nstatic int long(int x)\n{\n\tx++;\n}\n"),
        ("a.py", "import b\n\n\ndef long():\n    x = 1\n    y = 2\n"),
    ],
)
def test_a_long_function(tmp_path: Path, name: str, text: str) -> None:
    rules = {**LIMITS, "file_lines": 9, "function_lines": 9, "long_functions": {}}
    tree = repository(tmp_path, {name: text}, sizes=rules)
    assert sizes.problems(tree) == []
    (_, line, length), *_ = sizes.functions(name, text)
    assert line + length - 1 <= len(text.splitlines())
    rules["function_lines"] = length - 1
    (problem,) = sizes.problems(tree)
    assert problem == f"{name}:{line}: `long` has {length} lines, at most {length - 1}: split the function"


def test_a_table_may_be_long(tmp_path: Path) -> None:
    text = "fn table() {\n" + BODY + "}\n"
    assert len(found(tmp_path, "a.rs", text)) == 1
    assert found(tmp_path, "a.rs", text, table="one table") == []


def test_functions_of_c() -> None:
    text = """#include <a.h>
struct a { int (*call)(int x); };
static const struct b table[] = { { f(1) }, { 2 } };
int first(void);
/* not_this() { */
int first(void)
{
    if (x) {
        second();
    }
}
static inline struct a *second(struct a *a,
                             int b)
{
}
"""
    assert sizes.functions("a.c", text) == [("first", 6, 6), ("second", 12, 4)]
