"""Checks that no file imports itself by way of other files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from triptych_lint.c_imports import c_graph
from triptych_lint.graph import ImportGraph
from triptych_lint.python_imports import python_graph
from triptych_lint.rust_imports import Crate, crate_roots

C_SOURCES = ("c/src",)
PYTHON_PACKAGES = ("paper/triptych_paper", "bench/lint/triptych_lint")


def graphs(root: Path) -> list[ImportGraph]:
    """One graph for each crate of the workspace, for the C driver, and for each Python package."""
    packages = [root / manifest for manifest in _manifests(root)]
    crates = [Crate(file, root).graph() for package in packages for file in crate_roots(package.parent)]
    c_sources = [c_graph(root / folder, root) for folder in C_SOURCES]
    return crates + c_sources + [python_graph(root / package, root) for package in PYTHON_PACKAGES]


def _manifests(root: Path) -> list[str]:
    """The Cargo.toml files that git tracks or that are new, those of the fuzzers included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*Cargo.toml"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.splitlines() if name != "Cargo.toml" and (root / name).is_file()]


def problems(root: Path) -> list[str]:
    """A line for each circle: its files, each with the line that imports the next one."""
    found = []
    for graph in graphs(root):
        for group in graph.groups():
            found.append(f"{graph.name}: {len(group)} files import each other in a circle")
            found.extend(f"    {chain}" for chain in graph.chains(group))
    return found
