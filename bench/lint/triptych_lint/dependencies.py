"""Checks licences, versions and locks of the Rust and Python packages, without a network.

`cargo-machete` finds the dependencies that no source uses.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

from triptych_lint.repository import RULES, Repository, read_toml

_FIX = f"replace it, or allow the licence in {RULES}"


def problems(repository: Repository) -> list[str]:
    """A line for each package that breaks a rule. It names the package, the reason and the fix."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    done = subprocess.run(command, cwd=repository.root, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[0]
        return [f"cargo cannot list the crates without a network: {reason}: run `cargo fetch --locked`"]
    metadata, rules = json.loads(done.stdout), repository.rules["dependencies"]
    return crate_problems(metadata, rules) + lock_problems(repository, metadata) + python_problems(rules)


def is_allowed(expression: str, licences: list[str]) -> bool:
    """Can a user choose a licence of `licences` under this SPDX expression? In old expressions, `/` means OR."""
    words = re.findall(r"[()]|[^\s()]+(?: WITH \S+)?", expression.replace("/", " OR "))
    python = {"(": "(", ")": ")", "OR": "or", "AND": "and"}
    try:
        # Only brackets, `and`, `or`, `True` and `False` remain.
        return bool(eval(" ".join(python.get(word) or str(word in licences) for word in words)))
    except SyntaxError:
        return False


def crate_problems(metadata: dict[str, Any], rules: dict[str, Any]) -> list[str]:
    """A line for each crate whose licence is not allowed, or that the build needs in several versions."""
    chosen = {node["id"] for node in metadata["resolve"]["nodes"]}
    versions = defaultdict(set)
    found = []
    for package in metadata["packages"]:
        if package["id"] in chosen and package["source"] is not None:
            name, licence = package["name"], package["license"] or ""
            # What determines compatibility: `1` of 1.2.3, `0.4` of 0.4.5.
            versions[name].add(re.sub(r"^(0\.\d+|[1-9]\d*).*", r"\1", package["version"]))
            if not is_allowed(licence, rules["licences"]):
                found.append(f"crate {name} has the licence `{licence or 'none'}`: {_FIX}")
    several = {name for name, releases in versions.items() if len(releases) > 1}
    listed = set(rules["several_versions"])
    found += [
        f"crate {name} appears in the versions {', '.join(sorted(versions[name]))}: list it in {RULES}"
        for name in sorted(several - listed)
    ]
    return found + [f"{RULES} lists {name}, of which there is one version" for name in sorted(listed - several)]


def lock_problems(repository: Repository, metadata: dict[str, Any]) -> list[str]:
    """A line for each crate of the workspace whose dependencies a lock of the fuzzers lacks.

    Cargo updates only the lock of the workspace, and the fuzzers build with `--locked`.
    """
    needed = {
        package["name"]: {
            one["name"] for one in package["dependencies"] if one["kind"] != "dev" and not one["optional"]
        }
        for package in metadata["packages"]
        if package["source"] is None
    }
    found = []
    for file in (file for file in repository.files if file.endswith("/Cargo.lock")):
        for package in read_toml(repository.root / file).get("package", []):
            if "source" not in package and package["name"] in needed:
                # An entry is a name, perhaps with a version.
                known = {entry.split()[0] for entry in package.get("dependencies", [])}
                if missing := ", ".join(sorted(needed[package["name"]] - known)):
                    fix = f"run `cargo metadata >/dev/null` in {Path(file).parent}"
                    found.append(f"{file}: {package['name']} depends on {missing}, which the file lacks: {fix}")
    return found


def python_problems(rules: dict[str, Any]) -> list[str]:
    """A line for each installed Python package whose licence is not allowed."""
    found = []
    for package in importlib.metadata.distributions():
        name = package.metadata["Name"].lower()
        for licence in python_licences(package.metadata):
            allowed = licence in rules["python_licences"] or is_allowed(licence, rules["licences"])
            if not allowed and name not in rules["accepted"]:
                found.append(f"Python package {name} has the licence `{licence}`: {_FIX}")
    return found


def python_licences(metadata: Any) -> list[str]:
    """The licences in a package's metadata, from the newest of the three fields that may hold them."""
    if expression := metadata.get("License-Expression"):
        return [str(expression)]
    classifiers = metadata.get_all("Classifier") or []
    named = [text.rpartition(" :: ")[2] for text in classifiers if text.startswith("License :: ")]
    return named or [str(metadata.get("License") or "none").split("\n")[0]]
