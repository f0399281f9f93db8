from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from repository_fixture import repository
from triptych_lint import dependencies

RULES = {"licences": ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"], "several_versions": ["old"]}


def crate(name: str, version: str = "1.2.3", licence: str | None = "MIT") -> dict[str, Any]:
    return {
        "id": f"{name} {version}",
        "name": name,
        "version": version,
        "license": licence,
        "source": "registry",
        "targets": [],
    }


def metadata(*crates: dict[str, Any]) -> dict[str, Any]:
    return {"packages": list(crates), "resolve": {"nodes": [{"id": package["id"]} for package in crates]}}


@pytest.mark.parametrize(
    "expression",
    [
        "MIT",
        "GPL-3.0-only OR MIT",
        "GPL-3.0-only/MIT",
        "MIT AND (GPL-3.0-only OR ISC)",
        "Apache-2.0 WITH LLVM-exception",
    ],
)
def test_allowed_licences(expression: str) -> None:
    assert dependencies.is_allowed(expression, RULES["licences"])


@pytest.mark.parametrize("expression", ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "Apache-2.0", "(MIT) ISC"])
def test_licences_that_are_not_allowed(expression: str) -> None:
    assert not dependencies.is_allowed(expression, RULES["licences"])


def test_a_crate_with_an_unlisted_licence_names_the_fix() -> None:
    found = dependencies.rust_licence_problems(metadata(crate("a"), crate("b", licence="GPL-3.0-only")), RULES)
    assert found == [
        "crate b 1.2.3 has the licence `GPL-3.0-only`: replace the crate, or allow the licence in bench/lint/rules.toml"
    ]
    assert "the licence `none`" in dependencies.rust_licence_problems(metadata(crate("c", licence=None)), RULES)[0]


def test_several_versions_of_a_crate() -> None:
    old = [crate("old", "0.1.0"), crate("old", "0.2.0")]
    same = [crate("same", "1.0.0"), crate("same", "1.9.0")]
    assert dependencies.duplicate_problems(metadata(*old, *same), RULES) == []
    (problem,) = dependencies.duplicate_problems(metadata(*old, crate("new", "0.4.1"), crate("new", "0.5.0")), RULES)
    assert problem.startswith("crate new appears in the versions 0.4, 0.5: ")
    (problem,) = dependencies.duplicate_problems(metadata(crate("old")), RULES)
    assert problem.endswith("lists old under several_versions, but there is only one: remove the entry")


def test_crates_that_are_not_fetched(tmp_path: Path) -> None:
    (problem,) = dependencies.problems(repository(tmp_path, {}, dependencies=RULES))
    assert problem.startswith("cargo cannot list the crates without a network: error: could not find `Cargo.toml`")
    assert problem.endswith("run `cargo fetch --locked`")


def test_a_dependency_that_no_source_mentions(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/lib.rs").write_text("use used_name::A;\n")
    target = {"name": "used_name", "kind": ["lib"], "src_path": str(tmp_path / "src/lib.rs")}
    used = {**crate("used-crate"), "targets": [target]}
    package = {
        **crate("own"),
        "source": None,
        "manifest_path": str(tmp_path / "Cargo.toml"),
        "targets": [{**target, "name": "own"}],
        "dependencies": [{"name": name, "rename": None} for name in ("used-crate", "unused")],
    }
    (problem,) = dependencies.unused_problems(metadata(package, used))
    assert problem.startswith("own does not use its dependency unused: remove it from ")


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
