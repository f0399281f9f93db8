from collections.abc import Callable
from email.message import Message
from typing import Any

import pytest
from triptych_lint import dependencies
from triptych_lint.repository import Repository

RULES = {"licences": ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"], "several_versions": ["old"]}


def crate(name: str, version: str = "1.2.3", licence: str | None = "MIT") -> dict[str, Any]:
    return {"id": f"{name} {version}", "name": name, "version": version, "license": licence, "source": "registry"}


def problems(*crates: dict[str, Any]) -> list[str]:
    nodes = [{"id": package["id"]} for package in crates]
    return dependencies.crate_problems({"packages": crates, "resolve": {"nodes": nodes}}, RULES)


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only/MIT", True),
        ("MIT AND (GPL-3.0-only OR ISC)", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("", False),
        ("MIT AND GPL-3.0-only", False),
        ("Apache-2.0", False),
        ("(MIT) ISC", False),
    ],
)
def test_licences(expression: str, allowed: bool) -> None:
    assert dependencies.is_allowed(expression, RULES["licences"]) is allowed


def test_crates() -> None:
    old = [crate("old", "0.1.0"), crate("old", "0.2.0")]
    assert problems(*old, crate("same", "1.0.0"), crate("same", "1.9.0")) == []
    (licence, versions) = problems(*old, crate("new", "0.4.1", "GPL-3.0-only"), crate("new", "0.5.0"))
    assert licence.startswith("crate new has the licence `GPL-3.0-only`: replace it, or allow")
    assert versions.startswith("crate new appears in the versions 0.4, 0.5: ")
    assert problems(crate("old")) == ["bench/lint/rules.toml lists old, of which there is one version"]


def test_crates_that_are_not_fetched(tree: Callable[..., Repository]) -> None:
    (problem,) = dependencies.problems(tree({}, dependencies=RULES))
    assert problem.startswith("cargo cannot list the crates without a network: error: could not find `Cargo.toml`")


def test_a_lock_that_lacks_a_dependency_is_named_with_the_fix(tree: Callable[..., Repository]) -> None:
    needed = [{"name": name, "kind": kind, "optional": False} for name, kind in (("serde", None), ("proptest", "dev"))]
    metadata = {"packages": [{"name": "apps", "source": None, "dependencies": needed}]}
    lock = '[[package]]\nname = "apps"\ndependencies = {}\n'
    files = {"Cargo.lock": lock.format("[]"), "a/Cargo.lock": lock.format('["serde 1.0.0"]')}
    files["b/fuzz/Cargo.lock"] = lock.format('["cc"]')
    assert dependencies.lock_problems(tree(files), metadata) == [
        "b/fuzz/Cargo.lock: apps depends on serde, which the file lacks: run `cargo metadata >/dev/null` in b/fuzz"
    ]


def test_the_three_ways_to_declare_a_python_licence() -> None:
    package = Message()
    assert dependencies.python_licences(package) == ["none"]
    package["License"] = "Dual"
    assert dependencies.python_licences(package) == ["Dual"]
    package["Classifier"] = "License :: OSI Approved :: MIT License"
    package["Classifier"] = "Topic :: Other"
    assert dependencies.python_licences(package) == ["MIT License"]
    package["License-Expression"] = "MIT"
    assert dependencies.python_licences(package) == ["MIT"]
