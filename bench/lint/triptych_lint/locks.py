"""Checks that the lock files outside of the workspace know what its crates depend on.

Cargo updates only the lock of the workspace. The fuzzers have locks of their own, and build with `--locked`.
"""

from __future__ import annotations

import sys
from pathlib import PurePosixPath
from typing import Any

from triptych_lint.repository import Repository

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def lock_problems(repository: Repository, metadata: dict[str, Any]) -> list[str]:
    """A line for each crate of the workspace whose dependencies a lock file lacks."""
    own = {package["name"]: package for package in metadata["packages"] if package["source"] is None}
    found = []
    for file in repository.files:
        path = PurePosixPath(file)
        if path.name != "Cargo.lock" or len(path.parts) == 1:
            continue
        locked = tomllib.loads((repository.root / file).read_text(encoding="utf-8")).get("package", [])
        for package in locked:
            if "source" in package or package["name"] not in own:
                continue
            # An entry is a name, perhaps with a version.
            known = {entry.split()[0] for entry in package.get("dependencies", [])}
            missing = sorted(_needed(own[package["name"]]) - known)
            if missing:
                names = ", ".join(missing)
                fix = f"run `cargo metadata >/dev/null` in {path.parent}"
                found.append(f"{file}: {package['name']} depends on {names}, which the file lacks: {fix}")
    return found


def _needed(package: dict[str, Any]) -> set[str]:
    """What a crate depends on when another one uses it: all but what its tests or features need."""
    needed = (each for each in package["dependencies"] if each["kind"] != "dev" and not each.get("optional"))
    return {dependency["name"] for dependency in needed}
