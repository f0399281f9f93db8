"""Checks the licences, versions, use and locks of the Rust and Python packages, without a network."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

from triptych_lint.locks import lock_problems
from triptych_lint.repository import RULES, Repository

_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)", re.MULTILINE)
# These packages make the environment, and no source imports them.
_TOOLS = {"pip", "setuptools", "wheel"}


def problems(repository: Repository) -> list[str]:
    """A line for each package that breaks a rule. It names the package, the reason and the fix."""
    rules = repository.rules["dependencies"]
    try:
        metadata = cargo_metadata(repository.root)
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().splitlines()[0] if error.stderr else error
        return [f"cargo cannot list the crates without a network: {reason}: run `cargo fetch --locked`"]
    return (
        rust_licence_problems(metadata, rules)
        + duplicate_problems(metadata, rules)
        + unused_problems(metadata)
        + lock_problems(repository, metadata)
        + python_problems(repository, rules)
    )


def cargo_metadata(root: Path) -> dict[str, Any]:
    """Cargo's metadata of the workspace and of all crates that it uses on Linux."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    output = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    metadata: dict[str, Any] = json.loads(output)
    return metadata


def _linked(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """The crates from registries that the resolver chose."""
    chosen = {node["id"] for node in metadata["resolve"]["nodes"]}
    return [package for package in metadata["packages"] if package["id"] in chosen and package["source"] is not None]


def rust_licence_problems(metadata: dict[str, Any], rules: dict[str, Any]) -> list[str]:
    """A line for each crate whose licence the rules do not allow."""
    return [
        f"crate {package['name']} {package['version']} has the licence `{package['license'] or 'none'}`: "
        f"replace the crate, or allow the licence in {RULES}"
        for package in _linked(metadata)
        if not is_allowed(package["license"] or "", rules["licences"])
    ]


def is_allowed(expression: str, licences: list[str]) -> bool:
    """Can a user choose a licence of `licences` under this SPDX expression? In old expressions, `/` means OR."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    if not tokens:
        return False
    value, rest = _alternatives(tokens, set(licences))
    return value and not rest


def _alternatives(tokens: list[str], licences: set[str]) -> tuple[bool, list[str]]:
    value, rest = _conjunction(tokens, licences)
    while rest and rest[0] == "OR":
        other, rest = _conjunction(rest[1:], licences)
        value = value or other
    return value, rest


def _conjunction(tokens: list[str], licences: set[str]) -> tuple[bool, list[str]]:
    value, rest = _licence(tokens, licences)
    while rest and rest[0] == "AND":
        other, rest = _licence(rest[1:], licences)
        value = value and other
    return value, rest


def _licence(tokens: list[str], licences: set[str]) -> tuple[bool, list[str]]:
    if not tokens:
        return False, []
    if tokens[0] == "(":
        value, rest = _alternatives(tokens[1:], licences)
        return value, rest[1:]
    if len(tokens) > 2 and tokens[1] == "WITH":
        return " ".join(tokens[:3]) in licences, tokens[3:]
    return tokens[0] in licences, tokens[1:]


def duplicate_problems(metadata: dict[str, Any], rules: dict[str, Any]) -> list[str]:
    """A line for each crate that the build needs in several incompatible versions, except the listed ones."""
    versions = defaultdict(set)
    for package in _linked(metadata):
        versions[package["name"]].add(_compatible(package["version"]))
    found = []
    for name, releases in sorted(versions.items()):
        if len(releases) > 1 and name not in rules["several_versions"]:
            listed = ", ".join(sorted(releases))
            found.append(
                f"crate {name} appears in the versions {listed}: "
                f"update what needs the old one, or list the crate in {RULES}"
            )
    found += [
        f"{RULES} lists {name} under several_versions, but there is only one: remove the entry"
        for name in rules["several_versions"]
        if len(versions[name]) < 2
    ]
    return found


def _compatible(version: str) -> str:
    """The part of a version that determines compatibility: `1` of 1.2.3, `0.4` of 0.4.5."""
    parts = version.split(".")
    return ".".join(parts[:2]) if parts[0] == "0" else parts[0]


def unused_problems(metadata: dict[str, Any]) -> list[str]:
    """A line for each dependency that no source file of the package mentions."""
    found = []
    libraries = {
        package["name"]: target["name"].replace("-", "_")
        for package in metadata["packages"]
        for target in package["targets"]
        if {"lib", "proc-macro", "rlib", "cdylib"} & set(target["kind"])
    }
    for package in metadata["packages"]:
        if package["source"] is not None:
            continue
        manifest = Path(package["manifest_path"])
        sources = "\n".join(
            file.read_text(encoding="utf-8")
            for folder in {manifest.parent, *(Path(target["src_path"]).parent for target in package["targets"])}
            for file in folder.rglob("*.rs")
        )
        for dependency in package["dependencies"]:
            library = libraries.get(dependency["name"], dependency["name"])
            name = (dependency["rename"] or library).replace("-", "_")
            if not re.search(rf"\b{name}\b", sources):
                found.append(
                    f"{package['name']} does not use its dependency {dependency['name']}: remove it from {manifest}"
                )
    return found


def python_problems(repository: Repository, rules: dict[str, Any]) -> list[str]:
    """A line for each installed Python package that is not pinned to its version or has an unlisted licence."""
    pinned: dict[str, set[str]] = defaultdict(set)
    for file in repository.files:
        if Path(file).name.startswith("requirements") and file.endswith(".txt"):
            for name, version in _REQUIREMENT.findall(repository.read(file) or ""):
                pinned[_normal(name)].add(version)
    found = []
    for distribution in importlib.metadata.distributions():
        name, version = _normal(distribution.metadata["Name"]), distribution.version
        if name in _TOOLS:
            continue
        if version not in pinned.get(name, set()):
            found.append(
                f"Python package {name} {version} is installed but not pinned: pin it, or make a new build/venv"
            )
        licences = python_licences(distribution.metadata)
        if name not in rules["accepted"] and not all(_is_python_licence(text, rules) for text in licences):
            listed = "; ".join(licences)
            found.append(
                f"Python package {name} has the licence `{listed}`: replace it, or allow the licence in {RULES}"
            )
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_python_licence(licence: str, rules: dict[str, Any]) -> bool:
    return licence in rules["python_licences"] or is_allowed(licence, rules["licences"])


def python_licences(metadata: Any) -> list[str]:
    """The licences in a package's metadata, from the newest of the three fields that may hold them."""
    if expression := metadata.get("License-Expression"):
        return [str(expression)]
    classifiers = metadata.get_all("Classifier") or []
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License :: ")]
    return sorted(named) or [str(metadata.get("License") or "none").split("\n")[0]]
