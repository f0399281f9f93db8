"""Checks the licences of crates and the locks of the fuzzers, without a network."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from triptych_lint.repository import RULES, Repository, read_toml


def problems(repository: Repository) -> list[str]:
    """A line for each package that breaks a rule. It names the package, the reason and the fix."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    done = subprocess.run(command, cwd=repository.root, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[0]
        return [f"cargo cannot list the crates without a network: {reason}: run `cargo fetch --locked`"]
    metadata = json.loads(done.stdout)
    return licence_problems(metadata, repository.rules["licences"]) + lock_problems(repository, metadata)


def is_allowed(expression: str, licences: list[str]) -> bool:
    """Can a user choose a licence of `licences` under this SPDX expression? In old expressions, `/` means OR."""
    words = re.findall(r"[()]|[^\s()]+(?: WITH \S+)?", expression.replace("/", " OR "))
    python = {"(": "(", ")": ")", "OR": "or", "AND": "and"}
    try:
        # Only brackets, `and`, `or`, `True` and `False` remain.
        return bool(eval(" ".join(python.get(word) or str(word in licences) for word in words)))
    except SyntaxError:
        return False


def licence_problems(metadata: dict[str, Any], licences: list[str]) -> list[str]:
    """A line for each crate of others whose licence is not allowed."""
    chosen = {node["id"] for node in metadata["resolve"]["nodes"]}
    return [
        f"crate {one['name']} has the licence `{one['license']}`: replace it, or allow the licence in {RULES}"
        for one in metadata["packages"]
        if one["id"] in chosen and one["source"] is not None and not is_allowed(one["license"] or "", licences)
    ]


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
