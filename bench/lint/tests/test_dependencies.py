from collections.abc import Callable

import pytest
from triptych_lint import dependencies
from triptych_lint.repository import Repository

LICENCES = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"]


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only/MIT", True),
        ("MIT AND (GPL-3.0-only OR ISC)", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("", False),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT) ISC", False),
    ],
)
def test_licences(expression: str, allowed: bool) -> None:
    crate = {"id": "new 1.0", "name": "new", "license": expression, "source": "registry"}
    metadata = {"packages": [crate], "resolve": {"nodes": [{"id": "new 1.0"}]}}
    refused = [f"crate new has the licence `{expression}`: replace it, or allow the licence in bench/lint/rules.toml"]
    assert dependencies.licence_problems(metadata, LICENCES) == ([] if allowed else refused)


def test_a_lock_that_lacks_a_dependency_is_named_with_the_fix(tree: Callable[..., Repository]) -> None:
    needed = [{"name": name, "kind": kind, "optional": False} for name, kind in (("serde", None), ("proptest", "dev"))]
    metadata = {"packages": [{"name": "apps", "source": None, "dependencies": needed}]}
    lock = '[[package]]\nname = "apps"\ndependencies = {}\n'
    files = {"Cargo.lock": lock.format("[]"), "a/Cargo.lock": lock.format('["serde 1.0.0"]')}
    files["b/fuzz/Cargo.lock"] = lock.format('["cc"]')
    assert dependencies.lock_problems(tree(files), metadata) == [
        "b/fuzz/Cargo.lock: apps depends on serde, which the file lacks: run `cargo metadata >/dev/null` in b/fuzz"
    ]
